/* kalman.c - prints the table of doc/measuring.md that holds the model `linear` against the Kalman filter. */
#include "fixtures/kalman.h"
#include <stdlib.h>

/* Grids for each dimension, as far as seconds and memory allow. */
static const struct {
    int n;
    double factor;
    const char *settings;
} grids[] = {
    {1, 1, "precision: double\nextent: 6\nthreshold: 1.0e-14\n"},
    {1, 2, "precision: double\nextent: 6\nthreshold: 1.0e-14\n"},
    {1, 4, "precision: double\nextent: 6\nthreshold: 1.0e-14\n"},
    {1, 8, "precision: double\nextent: 6\nthreshold: 1.0e-14\n"},
    {2, 1, "precision: double\nextent: 6\nthreshold: 1.0e-14\n"},
    {2, 2, "precision: double\nextent: 6\nthreshold: 1.0e-14\n"},
    {2, 4, "precision: double\nextent: 6\nthreshold: 1.0e-14\n"},
    {2, 8, "precision: double\nextent: 6\nthreshold: 1.0e-14\n"},
    {3, 1, "precision: double\nextent: 5\nthreshold: 1.0e-12\n"},
    {3, 2, "precision: double\nextent: 5\nthreshold: 1.0e-12\n"},
    {3, 4, "precision: double\nextent: 5\nthreshold: 1.0e-13\n"},
    {4, 0.5, "precision: double\nextent: 5\nthreshold: 1.0e-11\n"},
    {4, 1, "precision: double\nextent: 5\nthreshold: 1.0e-11\n"},
    {4, 2, "precision: double\nextent: 5\nthreshold: 1.0e-12\n"},
    {5, 0.5, "precision: double\nextent: 4.5\nthreshold: 1.0e-9\n"},
    {5, 1, "precision: double\nextent: 4.5\nthreshold: 1.0e-10\n"},
    {6, 0.5, "precision: double\nextent: 4\nthreshold: 1.0e-8\n"},
    {6, 1, "precision: double\nextent: 4\nthreshold: 1.0e-9\n"},
};

int main(int count, char **words)
{
    int most = count > 1 ? atoi(words[1]) : GBEES_MAX_DIM, threads = count > 2 ? atoi(words[2]) : 0;

    (void)printf("| n | h/σ | steps | cells | mean | covariance | mean, updated | covariance, updated | log C |\n"
                 "| --: | --: | --: | --: | --: | --: | --: | --: | --: |\n");
    for (size_t i = 0; i < sizeof grids / sizeof *grids && grids[i].n <= most; i++) {
        kalman_result r = {.steps = 0};
        gbees_error error = {GBEES_OK, ""};

        if (kalman_run(grids[i].n, grids[i].factor, grids[i].settings, threads, &r, &error)) {
            (void)fprintf(stderr, "kalman: %s\n", error.text);
            return EXIT_FAILURE;
        }
        (void)printf("| %d | 1/%g | %llu | %.3g | %.1e | %.1e | %.1e | %.1e | %.1e |\n", grids[i].n,
                     2 * grids[i].factor, (unsigned long long)r.steps, (double)r.cells, r.predicted.mean,
                     r.predicted.covariance, r.updated.mean, r.updated.covariance, r.evidence);
        (void)fflush(stdout);
    }
    return EXIT_SUCCESS;
}
