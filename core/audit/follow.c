/* follow.c - takes samples to a time by steps that are chosen on the way: piece by piece, from one fast change of the
 * equations to the next (base/rough_times.h). See montecarlo.h. */
#include "base/rough_times.h"
#include "samples.h"
#include <math.h>

/* Pieces that have become shorter than this part of the longest would never end, as where trajectories do. */
static const double shortest_piece = 1e-5;

/* Looks at the equations where the samples are. */
static int find_rough_times(gbees_montecarlo *montecarlo, double time, gbees_rough_times *times, gbees_error *error)
{
    double x[GBEES_MAX_DIM][GBEES_ROUGH_POINTS];
    gbees_rough_look look = {
        .problem = montecarlo->problem, .from = montecarlo->time, .to = time, .points = GBEES_ROUGH_POINTS};

    gbees_samples_find_scale(montecarlo);
    for (int j = 0; j < montecarlo->problem->dimension; j++) {
        for (int i = 0; i < GBEES_ROUGH_POINTS; i++)
            x[j][i] = montecarlo->x[j][montecarlo->probe[GBEES_MONTECARLO_PROBES / GBEES_ROUGH_POINTS * i]];
        look.x[j] = x[j];
        look.scale[j] = montecarlo->scale[j];
    }
    return gbees_rough_times_find(&look, times, error);
}

int gbees_montecarlo_follow(gbees_montecarlo *montecarlo, double time, double tolerance, gbees_error *error)
{
    gbees_rough_times times = {0};
    double longest = 0;

    if (!isfinite(time))
        return gbees_error_set(error, GBEES_ENUMERIC, "samples can't be taken from t = %g to %g", montecarlo->time,
                               time);
    int status = montecarlo->count > 0 ? find_rough_times(montecarlo, time, &times, error) : GBEES_OK;

    while (!status && montecarlo->time < time && montecarlo->count > 0) {
        const double from = montecarlo->time, step = montecarlo->options.step;
        const double wanted = gbees_rough_times_next(&times, 0, from, time);
        double to = wanted;

        status = gbees_montecarlo_choose_step(montecarlo, &to, tolerance, error);
        longest = fmax(longest, to - from);
        if (!status && to < wanted && to - from < shortest_piece * longest)
            status = gbees_error_set(error, GBEES_ENUMERIC,
                                     "from t = %g on samples of the model would take ever shorter steps", from);
        if (!status)
            status = gbees_montecarlo_advance(montecarlo, to, error);
        if (times.count > 0) /* the steps of a pulse say nothing of those after it */
            montecarlo->options.step = fmax(montecarlo->options.step, step);
    }
    if (!status && montecarlo->count == 0) /* targets have taken all */
        montecarlo->time = fmax(montecarlo->time, time);
    gbees_rough_times_clear(&times);
    return status;
}
