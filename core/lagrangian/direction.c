/* direction.c - E exp(2 pi i x / period) of states on circles, from marginals: the mass around each point is spread
 * along the unrolled line, as a density that goes around often turns by more than a radian from point to point. See
 * direction.h. */
#include "direction.h"
#include "deposit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Entries of a marginal a period at least, and a standard deviation; parts are so far apart, in entries. */
static const double period_entries = 64, entries = 8, apart = 0.5;
/* The most that places may be off, on the mean, in radians. */
static const double most_misplaced = 0.05;

/* Returns the problem with a grid along the states for the marginals; NULL: there is no memory. */
static gbees_problem *grid_of(const gbees_problem *problem, const gbees_statistics *statistics)
{
    gbees_problem *grid = malloc(sizeof *grid);
    const int n = problem->dimension;

    if (!grid)
        return NULL;
    *grid = *problem;
    grid->rotated = 0;
    memcpy(grid->mean, statistics->mean, sizeof grid->mean);
    for (int j = 0; j < n; j++) {
        grid->width[j] =
            fmax(sqrt(fmax(0, statistics->covariance[j * n + j])) / entries, 1e-14 * fabs(grid->mean[j]) + 1e-300);
        if (grid->period[j] > 0)
            grid->width[j] = fmin(grid->width[j], grid->period[j] / period_entries);
    }
    return grid;
}

/* Sets a state's, from its marginal. Averaging over entries shortens the resultant, which is undone. */
static void set_direction(const gbees_problem *grid, const gbees_marginals *marginals, int j, double centre,
                          gbees_statistics *statistics)
{
    const double turn = 2 * acos(-1) / grid->period[j], half = turn * grid->width[j] / 2;
    double even = 0, odd = 0, mass = 0;

    for (uint64_t i = 0; i < marginals->length[j]; i++) {
        const double p = marginals->line[j][i];
        const double at = grid->mean[j] + grid->width[j] * ((double)marginals->first[j] + (double)i);

        even += p * cos(turn * (at - centre));
        odd += p * sin(turn * (at - centre));
        mass += p;
    }
    statistics->direction[j] = centre + atan2(odd, even) / turn;
    statistics->resultant[j] = hypot(even, odd) / mass * half / sin(half);
}

int gbees_engine_directions(const gbees_engine *engine, gbees_statistics *statistics, gbees_error *error)
{
    const gbees_deposit_options how = {.threads = engine->threads, .least = 1e-12, .apart = apart};
    gbees_deposit_report done = {.misplaced = 0};
    gbees_lattice **list = calloc((size_t)engine->parts, sizeof *list);
    gbees_problem *grid = grid_of(engine->problem, statistics);
    gbees_marginals *marginals = NULL;
    double centre[GBEES_MAX_DIM];

    if (!list || !grid) {
        free(grid);
        free(list);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the directions of a record");
    }
    const int status =
        gbees_deposit_marginals(grid, gbees_engine_list(engine, 0, list), list, NULL, &how, &marginals, &done, error);
    gbees_problem_point(engine->problem, engine->problem->mean, centre);
    for (int j = 0; j < engine->problem->dimension && !status; j++) {
        if (!(grid->period[j] > 0))
            continue;
        set_direction(grid, marginals, j, centre[j], statistics);
        if (done.misplaced * grid->width[j] * 2 * acos(-1) > most_misplaced * grid->period[j])
            statistics->direction[j] = statistics->resultant[j] = NAN;
    }
    free(marginals);
    free(grid);
    free(list);
    return status;
}
