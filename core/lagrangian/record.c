/* record.c - statistics and cells of the present density; see record.h. */
#include "record.h"
#include "deposit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Takes moments to the grid's axes, as the contract has them: y = R' (x - c). */
static void enter_grid(const gbees_problem *problem, gbees_statistics *statistics)
{
    const double *inverse = gbees_problem_inverse(problem);
    const int n = problem->dimension;
    double mean[GBEES_MAX_DIM], transposed[GBEES_MATRIX];

    if (!problem->rotated)
        return;
    memcpy(mean, statistics->mean, sizeof mean);
    for (int j = 0; j < n; j++) {
        statistics->mean[j] = 0;
        for (int k = 0; k < n; k++) {
            statistics->mean[j] += inverse[j * n + k] * (mean[k] - problem->centre[k]);
            transposed[k * n + j] = inverse[j * n + k];
        }
    }
    gbees_matrix_multiply(n, inverse, statistics->covariance, statistics->covariance);
    gbees_matrix_multiply(n, statistics->covariance, transposed, statistics->covariance);
}

/* Sets the peak: the largest density at a point, times a cell's volume, and the cell that the point is in. */
static void set_peak(const gbees_engine *engine, double log_norm, gbees_statistics *statistics)
{
    const gbees_problem *problem = engine->problem;
    const double *inverse = gbees_problem_inverse(problem);
    const int n = problem->dimension;
    double most = -INFINITY, x[GBEES_MAX_DIM] = {0}, volume = 1;

    for (int g = 0; g < engine->parts; g++) {
        const gbees_lattice *lattice = engine->set[0].lattice[g];

        for (uint32_t i = 0; lattice && i < lattice->count; i++)
            if (lattice->log_weight[i] - lattice->stretch[i] > most && isfinite(lattice->x[0][i])) {
                most = lattice->log_weight[i] - lattice->stretch[i];
                for (int j = 0; j < n; j++)
                    x[j] = lattice->x[j][i];
            }
    }
    for (int j = 0; j < n; j++) {
        double y = problem->rotated ? 0 : x[j];

        for (int k = 0; k < n && problem->rotated; k++)
            y += inverse[j * n + k] * (x[k] - problem->centre[k]);
        statistics->peak_index[j] = (int32_t)lround((y - problem->mean[j]) / problem->width[j]);
        volume *= problem->width[j];
    }
    statistics->peak = exp(most - log_norm) * volume;
}

int gbees_engine_statistics(gbees_engine *engine, const gbees_clock *clock, gbees_statistics *statistics,
                            gbees_error *error)
{
    gbees_sums sums;
    const int status = gbees_engine_sums(engine, 0, &sums, error);

    (void)clock;
    if (!status) {
        const double log_mass = gbees_sums_log_mass(&sums);

        *statistics = (gbees_statistics){.cells = (uint64_t)sums.points,
                                         .cells_above = (uint64_t)sums.points,
                                         .cells_raw = (uint64_t)sums.points,
                                         .mass = sums.total[0] / (sums.total[0] + sums.lost),
                                         .entropy = log_mass - sums.log_density / sums.total[0]};
        gbees_sums_moments(&sums, sums.total, statistics->mean, statistics->covariance);
        enter_grid(engine->problem, statistics);
        set_peak(engine, log_mass, statistics);
    }
    gbees_sums_free(&sums);
    return status;
}

int gbees_engine_cells(gbees_engine *engine, double fraction, gbees_cell_visitor *visitor, void *context,
                       gbees_error *error)
{
    gbees_lattice **list = calloc((size_t)engine->parts, sizeof *list);
    gbees_initial_cells cells = {.count = 0};
    const int32_t *index[GBEES_MAX_DIM];
    int status;

    (void)fraction;
    if (!list)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the cells of a record");
    const gbees_deposit_options options = {.threads = engine->threads, .least = exp(-engine->set[0].rule.tail)};
    status = gbees_deposit_cells(engine->problem, gbees_engine_list(engine, 0, list), list, NULL, &options, &cells,
                                 NULL, error);
    for (int j = 0; j < GBEES_MAX_DIM; j++)
        index[j] = cells.index[j];
    if (!status && visitor(context, cells.count, index, cells.p))
        status = gbees_error_set(error, GBEES_ENOMEM, "the cells were not taken");
    for (int j = 0; j < GBEES_MAX_DIM; j++)
        free(cells.index[j]);
    free(cells.p);
    free(list);
    return status;
}
