/* probe.c - the time step of samples: a few of them go to the same time by m and by 2 m steps, and the difference
 * tells the error of either. */
#include "flow.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PROBES = 256,        /* samples that are tried */
    SCALED = 255,        /* samples that the scale is found from */
    LEFT_OUT = 32,       /* one of so many */
    DOUBT_MARGIN = 4,    /* a step is cut for a sample that has so many times the doubt of the probes */
    STEPS_MOST = 100000, /* from one record to the next */
    STEPS_MORE = 4       /* times as many with noise, which is of second order in a step, not of fourth */
};

typedef struct points {
    double x[GBEES_MAX_DIM][SAMPLES_BLOCK], doubt[SAMPLES_BLOCK];
} points;

/* Carries the first `count` samples to `time` along the drift alone. */
static void carry(const gbees_montecarlo *montecarlo, size_t count, double time, size_t steps, points *to)
{
    double *x[GBEES_MAX_DIM];

    for (int j = 0; j < montecarlo->problem->dimension; j++) {
        memcpy(to->x[j], montecarlo->x[j], count * sizeof(double));
        x[j] = to->x[j];
    }
    gbees_flow_run(montecarlo, count, (time - montecarlo->time) / (double)steps, steps, x, to->doubt);
}

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* From quartiles: few samples that are far away count for nothing. */
void gbees_samples_find_scale(gbees_montecarlo *montecarlo)
{
    const size_t count = montecarlo->count < SCALED ? montecarlo->count : SCALED;

    for (int j = 0; j < montecarlo->problem->dimension; j++) {
        double sorted[SCALED];

        memcpy(sorted, montecarlo->x[j], count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, compare_numbers);
        const double spread = (sorted[count * 3 / 4] - sorted[count / 4]) / 1.35;
        montecarlo->scale[j] = spread > 0 ? spread : 1;
    }
}

/* The error of the shorter steps along the worst axis, in the samples' spread: a fourth-order method's is a fifteenth
 * of the difference.  A few points with chaotic ways are left out.  Infinite if others are no longer finite. */
static double error_of(const gbees_montecarlo *montecarlo, size_t count, const points *by_long,
                       const points *by_short)
{
    double off[PROBES] = {0};

    for (int j = 0; j < montecarlo->problem->dimension; j++)
        for (size_t i = 0; i < count; i++) {
            const double error = fabs(by_short->x[j][i] - by_long->x[j][i]) / montecarlo->scale[j] / 15;

            off[i] = error <= off[i] ? off[i] : isfinite(error) ? error : INFINITY;
        }
    qsort(off, count, sizeof *off, compare_numbers);
    return off[count - 1 - count / LEFT_OUT];
}

int gbees_montecarlo_choose_step(gbees_montecarlo *montecarlo, double time, double tolerance, gbees_error *error)
{
    const double length = time - montecarlo->time;
    const size_t count = montecarlo->count < PROBES ? montecarlo->count : PROBES;
    const int noisy = gbees_samples_functions(montecarlo->problem)->diffusion_d != NULL;
    double off = INFINITY;
    /* It begins with half as many steps as the last time: they get longer, too. */
    double steps = fmax(1, ceil(length / montecarlo->options.step / (noisy ? 2 * STEPS_MORE : 2) - 1e-9));
    points by_long, by_short;

    if (!(length > 0))
        return GBEES_OK;
    gbees_samples_find_scale(montecarlo);
    while (steps <= STEPS_MOST) {
        carry(montecarlo, count, time, (size_t)steps, &by_long);
        carry(montecarlo, count, time, 2 * (size_t)steps, &by_short);
        off = error_of(montecarlo, count, &by_long, &by_short);
        if (off <= tolerance)
            break;
        steps = ceil(steps * fmin(16, fmax(1.5, 1.1 * pow(off / tolerance, 0.25))));
    }
    if (!(off <= tolerance))
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "samples of the model would take more than %d time steps from t = %g to %g",
                               STEPS_MOST, montecarlo->time, time);
    montecarlo->options.step = length / (noisy ? steps * STEPS_MORE : steps);
    qsort(by_long.doubt, count, sizeof *by_long.doubt, compare_numbers);
    /* Where the probes have none, as in a constant drift, what is below the tolerance is no reason to cut a step. */
    montecarlo->doubt_most = fmax(tolerance, DOUBT_MARGIN * by_long.doubt[count - 1 - count / LEFT_OUT]);
    return GBEES_OK;
}
