/* targets.c - what samples have inside of targets; see targets.h. */
#include "targets.h"
#include "compare.h"
#include "islands.h"
#include <gbees/record.h>
#include <math.h>

enum { BLOCK = 1024 };

/* The sum of the weights of samples inside of target k over that of all. */
static double share_inside(const gbees_montecarlo *samples, int k)
{
    const gbees_problem *problem = samples->problem;
    double g[BLOCK], inside = 0, all = 0;

    for (size_t first = 0; first < samples->count; first += BLOCK) {
        const size_t count = samples->count - first < BLOCK ? samples->count - first : BLOCK;
        const double *x[GBEES_MAX_DIM] = {NULL};

        for (int j = 0; j < problem->dimension; j++)
            x[j] = samples->x[j] + first;
        gbees_target_values(problem, k, samples->time, count, x, g);
        for (size_t i = 0; i < count; i++) {
            all += samples->weight[first + i];
            inside += g[i] < 0 ? samples->weight[first + i] : 0;
        }
    }
    return inside / all;
}

/* What target k has taken of all weight since the last update. *error: the standard error of this ratio of sums over
 * islands, which are independent; NAN: too few of them have weight. */
static double share_entered(const gbees_montecarlo *samples, int k, double *error)
{
    const gbees_sample_entries *entries = &samples->entries;
    double all = 0, entered = 0, square = 0;

    for (int b = 0; b < GBEES_ISLANDS; b++) {
        all += entries->before[b];
        entered += entries->entered[k][b];
    }
    for (int b = 0; b < GBEES_ISLANDS; b++)
        square += pow(entries->entered[k][b] - entries->before[b] * entered / all, 2);
    const double many = fmax(gbees_islands_effective(entries->before), 1 + 1e-9);
    *error = samples->resampled && many < GBEES_ISLANDS_LEAST ? NAN : sqrt(square * many / (many - 1)) / all;
    return entered / all;
}

void gbees_samples_targets(const gbees_montecarlo *samples, double effective, gbees_target_state *state)
{
    for (int k = 0; k < samples->problem->target_count; k++) {
        const int absorbs = samples->problem->targets[k].kind == GBEES_TARGET_ABSORB;
        const double many = absorbs ? samples->entries.effective : effective;
        double error = 0;
        const double part = absorbs ? share_entered(samples, k, &error) : share_inside(samples, k);
        /* So that none or all inside have an error, too (A. Agresti, B. A. Coull, The American Statistician 52 (1998)
         * 119). */
        const double near = (part * many + 2) / (many + 4);

        state[k].probability = part;
        state[k].bound = many >= GBEES_EFFECTIVE_LEAST && !isnan(error)
                             ? 2 * fmax(error, sqrt(near * (1 - near) / (many + 4)))
                             : NAN;
    }
}
