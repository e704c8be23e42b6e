/* record.c - statistics and cells of the present density; see record.h. */
#include "record.h"
#include "deposit.h"
#include "direction.h"
#include "targets.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The places of a record's parts may be off by so much of a cell (gbees_deposit_report); lattices that are made
 * denser for that have so many points at most. */
static const double most_misplaced = 0.05, most_points = 1e6;
/* There are parts for this total variation without an accuracy, and with one that is larger than the second. */
static const double usual_variation = 1e-3, most_variation = 1e-2;
/* What is told of cells over their distance to those of fewer parts: of 121 records of eleven runs none was off by
 * more than 1.25 times that. */
static const double variation_safety = 1.5;
/* The same of their marginals, and of how far places are off; and the part of an accuracy of marginals for that. */
static const double marginal_safety = 2, misplaced_safety = 1.5, misplaced_share = 0.1;
static const double most_cells = 3e7;
enum { ROUNDS = 5 };

/* Takes moments to the grid's axes, as the contract has them: y = R' (x - c). */
static void enter_grid(const gbees_problem *problem, gbees_statistics *statistics)
{
    const double *inverse = gbees_problem_inverse(problem);
    const int n = problem->dimension;
    double mean[GBEES_MAX_DIM], transposed[GBEES_MATRIX];

    if (!problem->rotated)
        return;
    memcpy(mean, statistics->mean, sizeof mean);
    gbees_problem_place(problem, mean, statistics->mean);
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            transposed[k * n + j] = inverse[j * n + k];
    statistics->entropy += log(fabs(gbees_matrix_determinant(n, inverse)));
    gbees_matrix_multiply(n, inverse, statistics->covariance, statistics->covariance);
    gbees_matrix_multiply(n, statistics->covariance, transposed, statistics->covariance);
}

/* Sets the peak: the largest density at a point, times a cell's volume, and the cell that the point is in. */
static void set_peak(const gbees_engine *engine, double log_norm, gbees_statistics *statistics)
{
    const gbees_problem *problem = engine->problem;
    const int n = problem->dimension;
    double most = -INFINITY, x[GBEES_MAX_DIM] = {0}, y[GBEES_MAX_DIM];

    for (int g = 0; g < engine->parts; g++) {
        const gbees_lattice *lattice = engine->set[0].lattice[g];

        for (uint32_t i = 0; lattice && i < lattice->count; i++)
            if (lattice->log_weight[i] - lattice->stretch[i] > most && isfinite(lattice->x[0][i])) {
                most = lattice->log_weight[i] - lattice->stretch[i];
                for (int j = 0; j < n; j++)
                    x[j] = lattice->x[j][i];
            }
    }
    gbees_problem_place(problem, x, y);
    for (int j = 0; j < n; j++)
        statistics->peak_index[j] = (int32_t)lround((y[j] - problem->mean[j]) / problem->width[j]);
    statistics->peak = exp(most - log_norm) *
                       gbees_matrix_cell_volume(n, problem->width, problem->rotated ? problem->rotation : NULL);
}

int gbees_engine_statistics(gbees_engine *engine, const gbees_clock *clock, gbees_statistics *statistics,
                            gbees_error *error)
{
    gbees_sums sums;
    int status = gbees_engine_all_sums(engine, &sums, error);

    (void)clock;
    if (!status) {
        const double log_mass = gbees_sums_log_mass(&sums);

        *statistics =
            (gbees_statistics){.cells = (uint64_t)sums.points,
                               .cells_above = (uint64_t)sums.points,
                               .cells_raw = (uint64_t)sums.points,
                               .mass = sums.total[0] / (sums.total[0] + sums.lost) * gbees_engine_left(engine),
                               .entropy = log_mass - sums.log_density / sums.total[0]};
        gbees_sums_moments(&sums, statistics->mean, statistics->covariance);
        if (gbees_problem_directions(engine->problem) > 0)
            status = gbees_engine_directions(engine, statistics, error);
        enter_grid(engine->problem, statistics);
        set_peak(engine, log_mass, statistics);
    }
    return status;
}

/* ---- cells ---- */

/* Lattices that a record's cells are made of: the engine's, or denser ones. */
typedef struct source_lattices {
    int count;
    gbees_lattice **lattice; /* [parts] */
    int own;                 /* 1: they are to be destroyed */
} source_lattices;

static void drop_lattices(source_lattices *from)
{
    for (int k = 0; k < from->count && from->own; k++)
        gbees_lattice_destroy(from->lattice[k]);
    from->count = from->own = 0;
}

/* Without memory for it a lattice has no border. */
static int add_border(const gbees_engine *engine, int part, gbees_lattice *lattice, gbees_error *error)
{
    if (engine->past.measured == 0 || engine->smoothed || lattice->border > 0)
        return GBEES_OK;
    const int is_taken_off = lattice->is_taken_off;
    gbees_entered ignored = {.most = 0};

    gbees_entered_put_back(lattice);
    int status = gbees_flood_border(&engine->past, &engine->source[part], lattice, error);
    if (status == GBEES_ENOMEM)
        status = GBEES_OK;
    return status || !is_taken_off
               ? status
               : gbees_entered_take_off(&engine->past, &engine->source[part], lattice, &ignored, error);
}

int gbees_engine_add_borders(gbees_engine *engine, gbees_error *error)
{
    int status = GBEES_OK;

    for (int g = 0; g < engine->parts && !status; g++)
        if (engine->set[0].lattice[g])
            status = add_border(engine, g, engine->set[0].lattice[g], error);
    return status;
}

/* Replaces the lattices by denser ones. Without memory for these, or if there are too many points, they stay, and
 * *done is 0. */
static int make_denser(const gbees_engine *engine, double times, source_lattices *from, int *done, gbees_error *error)
{
    gbees_lattice **made = calloc((size_t)engine->parts, sizeof *made);
    source_lattices denser = {.lattice = made, .own = 1};
    gbees_entered ignored = {.most = 0};
    double points = 0;
    int status = GBEES_OK, part = 0;

    for (int k = 0; k < from->count; k++)
        points += from->lattice[k]->count * pow(times, engine->problem->dimension);
    *done = made && points < most_points && !engine->smoothed;
    for (int k = 0; k < from->count && *done && !status; k++, part++) {
        while (!engine->set[0].lattice[part])
            part++;
        status = gbees_flood_denser(&engine->past, &engine->source[part], &engine->set[0].rule, from->lattice[k],
                                    times, &made[k], error);
        denser.count += status == GBEES_OK;
        if (!status && from->lattice[k]->is_taken_off)
            status = gbees_entered_take_off(&engine->past, &engine->source[part], made[k], &ignored, error);
        if (!status)
            status = add_border(engine, part, made[k], error);
    }
    if (!*done || status) {
        drop_lattices(&denser);
        free(made);
        *done = 0;
        return status == GBEES_ENOMEM ? GBEES_OK : status;
    }
    drop_lattices(from);
    memcpy(from->lattice, made, (size_t)engine->parts * sizeof *made);
    from->count = denser.count;
    from->own = 1;
    free(made);
    return GBEES_OK;
}

/* Sets *most to how far places of parts may be off: less where marginals are to be accurate. */
static int find_misplaced(gbees_engine *engine, double *most, gbees_error *error)
{
    const gbees_problem *problem = engine->problem;
    double mean[GBEES_MAX_DIM], covariance[GBEES_MATRIX], edge[GBEES_MAX_DIM];
    gbees_sums sums;

    *most = most_misplaced;
    if (!(problem->accuracy > 0) || problem->accuracy_of != GBEES_ACCURACY_MARGINALS)
        return GBEES_OK;
    const int status = gbees_engine_all_sums(engine, &sums, error);
    if (status)
        return status;
    gbees_sums_moments(&sums, mean, covariance);
    for (int j = 0; j < problem->dimension; j++)
        *most = fmin(*most, misplaced_share * problem->accuracy * sqrt(covariance[j * problem->dimension + j]) /
                                gbees_problem_edges(problem, j, edge));
    return GBEES_OK;
}

/* Deposits the density, of lattices as dense as their places can be interpolated between points, if there may be so
 * many. */
static int deposit(gbees_engine *engine, source_lattices *from, gbees_initial_cells *cells, gbees_error *error)
{
    const double accuracy = engine->problem->accuracy;
    gbees_deposit_options options = {.threads = engine->threads,
                                     .least = exp(-engine->set[0].rule.tail),
                                     .variation = accuracy > 0 ? fmin(accuracy, most_variation) : usual_variation,
                                     .misplaced = most_misplaced};
    gbees_deposit_report report;
    int status = find_misplaced(engine, &options.misplaced, error);
    const double most = options.misplaced;

    if (status)
        return status;
    for (int round = 0, more = 1;; round++) {
        if (round == ROUNDS || !more)
            options.misplaced = 0;
        status =
            gbees_deposit_cells(engine->problem, from->count, from->lattice, NULL, &options, cells, &report, error);
        if (status || options.misplaced == 0 || report.misplaced <= most)
            break;
        status = make_denser(engine, fmin(pow(report.misplaced / most, 0.25) * 1.1, 2), from, &more, error);
        if (status)
            break;
    }
    if (!status)
        engine->variation =
            fmin(1, variation_safety * report.variation + report.misplaced + report.dropped + report.left_out);
    for (int j = 0; j < engine->problem->dimension && !status; j++) {
        engine->off[j] = marginal_safety * report.wasserstein[j] + misplaced_safety * report.misplaced;
        engine->off_edge[j] = marginal_safety * report.kolmogorov[j] + misplaced_safety * report.misplaced;
    }
    return status;
}

/* Refuses to make so many cells that they would take minutes: as many as cover a Gaussian of the density's entropy.
 */
static int check_cells(gbees_engine *engine, gbees_error *error)
{
    const int n = engine->problem->dimension;
    const double tail = engine->set[0].rule.tail;
    gbees_statistics now;
    const int status = gbees_engine_statistics(engine, NULL, &now, error);
    double log_cells = now.entropy - 0.5 * n + 0.5 * n * log(tail) - lgamma(0.5 * n + 1);

    for (int j = 0; j < n; j++)
        log_cells -= log(engine->problem->width[j]);
    if (status || log_cells < log(most_cells))
        return status;
    return gbees_error_set(
        error, GBEES_ENOMEM,
        "the density of a record would take some %.2g cells: give wider ones ('width', 'factor'), or "
        "write none: 'output: {densities: none}'",
        exp(log_cells));
}

int gbees_engine_cells(gbees_engine *engine, double fraction, gbees_cell_visitor *visitor, void *context,
                       gbees_error *error)
{
    source_lattices from = {.lattice = calloc((size_t)engine->parts, sizeof *from.lattice)};
    gbees_initial_cells cells = {.count = 0};
    const int32_t *index[GBEES_MAX_DIM];
    int status;

    (void)fraction;
    if (!from.lattice)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the cells of a record");
    from.count = gbees_engine_list(engine, 0, from.lattice);
    status = check_cells(engine, error);
    if (!status)
        status = gbees_engine_add_borders(engine, error);
    if (!status)
        status = deposit(engine, &from, &cells, error);
    for (int j = 0; j < GBEES_MAX_DIM; j++)
        index[j] = cells.index[j];
    if (!status && visitor(context, cells.count, index, cells.p))
        status = gbees_error_set(error, GBEES_ENOMEM, "the cells were not taken");
    gbees_initial_cells_clear(&cells);
    drop_lattices(&from);
    free(from.lattice);
    return status;
}
