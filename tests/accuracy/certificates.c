/* certificates.c - are certificates true?  One run of a model, compared with audits with many seeds, and against one
 * with many more samples in place of the truth.
 *
 *     certificates MODEL [SEEDS [SAMPLES [TRUTH [KEY=VALUE...]]]]
 *
 * A line a figure, separated by tabs: how many pairs of a bound and a true error there are, in how many the bound is
 * below the true error, and the least bound over true error of the pairs whose true error is above three standard
 * errors of the truth. */
#include "fixtures/world.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SEEDS_MOST = 100, FIGURES = 5 };
static const char *const names[FIGURES] = {"mean", "std", "marginal", "kolmogorov", "density"};

typedef struct tally {
    int pairs, below, halved; /* below the true error, and below half of it */
    double least;             /* bound / true error */
} tally;

typedef struct study {
    int seeds;
    gbees_audit *audit[SEEDS_MOST], *truth;
    tally figure[FIGURES];
    int uncertified;
} study;

static void compare(tally *to, gbees_difference found, gbees_difference truth)
{
    const double error = (truth.bound - truth.value) / 2; /* of the truth, one standard error */

    if (isnan(found.bound) || isnan(truth.value))
        return;
    to->pairs++;
    to->below += found.bound < truth.value - error;
    if (truth.value > 3 * error) {
        to->least = fmin(to->least, found.bound / truth.value);
        to->halved += found.bound < truth.value / 2;
    }
}

static int on_record(void *context, const gbees_record *record, gbees_error *error)
{
    study *s = context;
    const int n = record->problem->dimension;
    gbees_certificate truth, found;
    int status = gbees_audit_record(s->truth, record, &truth, error);

    for (int k = 0; k < s->seeds && !status; k++) {
        status = gbees_audit_record(s->audit[k], record, &found, error);
        if (status || found.reason[0] || truth.reason[0]) {
            s->uncertified++;
            continue;
        }
        for (int j = 0; j < n; j++) {
            compare(&s->figure[0], found.mean[j], truth.mean[j]);
            compare(&s->figure[1], found.std[j], truth.std[j]);
            compare(&s->figure[2], found.marginal[j], truth.marginal[j]);
            compare(&s->figure[3], found.kolmogorov[j], truth.kolmogorov[j]);
        }
        compare(&s->figure[4], found.density, truth.density);
    }
    return status;
}

static int make_audits(study *s, const gbees_problem *problem, size_t samples, size_t many, gbees_error *error)
{
    gbees_audit_options how = {.samples = many, .seed = 1000003};
    int status = gbees_audit_create(problem, &how, &s->truth, error);

    for (int k = 0; k < s->seeds && !status; k++) {
        how = (gbees_audit_options){.samples = samples, .seed = (uint64_t)k + 1};
        status = gbees_audit_create(problem, &how, &s->audit[k], error);
    }
    return status;
}

static void print(const study *s, const char *name)
{
    for (int k = 0; k < FIGURES; k++)
        printf("%s\t%s\t%d\t%d\t%d\t%.3g\n", name, names[k], s->figure[k].pairs, s->figure[k].below,
               s->figure[k].halved, s->figure[k].least);
    printf("%s\tnot certified\t%d\n", name, s->uncertified);
}

int main(int argc, char **argv)
{
    const long seeds = argc > 2 ? strtol(argv[2], NULL, 10) : 20;
    const long samples = argc > 3 ? strtol(argv[3], NULL, 10) : 10000;
    const long many = argc > 4 ? strtol(argv[4], NULL, 10) : 1000000;
    const char *const *settings = (const char *const *)argv + (argc > 5 ? 5 : argc);
    world w;
    study s = {.seeds = (int)seeds};
    int status;

    if (argc < 2 || seeds < 1 || seeds > SEEDS_MOST || samples < 1000 || many < 1000) {
        (void)fprintf(stderr, "usage: certificates MODEL [SEEDS [SAMPLES [TRUTH [KEY=VALUE...]]]]\n");
        return 2;
    }
    for (int k = 0; k < FIGURES; k++)
        s.figure[k].least = INFINITY;
    status = world_open(&w, NULL, argv[1], "cpu");
    if (!status)
        status = world_make(&w, &(scenario_source){.settings = settings});
    if (!status)
        status = make_audits(&s, w.problem, (size_t)samples, (size_t)many, &w.error);
    if (!status)
        status = world_run(&w, 0, &(gbees_observer){.context = &s, .record = on_record}, NULL);
    if (status)
        (void)fprintf(stderr, "certificates: %s\n", w.error.text);
    else
        print(&s, argv[1]);
    for (int k = 0; k < s.seeds; k++)
        gbees_audit_destroy(s.audit[k]);
    gbees_audit_destroy(s.truth);
    world_close(&w);
    return status ? 1 : 0;
}
