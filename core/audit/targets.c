/* targets.c - what samples have inside of targets; see targets.h. */
#include "targets.h"
#include "compare.h"
#include <gbees/record.h>
#include <math.h>

enum { BLOCK = 1024 };

/* The sum of the weights of samples inside of target k over that of all. */
static double share_inside(const gbees_problem *problem, const gbees_montecarlo *samples, int k)
{
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

void gbees_samples_targets(const gbees_problem *problem, const gbees_montecarlo *samples, double effective,
                           gbees_target_state *state)
{
    for (int k = 0; k < problem->target_count; k++) {
        const double part = share_inside(problem, samples, k);
        /* So that none or all inside have an error, too (A. Agresti, B. A. Coull, The American Statistician 52 (1998)
         * 119). */
        const double near = (part * effective + 2) / (effective + 4);

        state[k].probability = part;
        state[k].bound = effective >= GBEES_EFFECTIVE_LEAST ? 2 * sqrt(near * (1 - near) / (effective + 4)) : NAN;
    }
}
