/* compare.c - the differences between a record of a grid and the density that lattices carry: of moments by sums over
 * the points, of marginals by those that the engine has, of the joint density by its deposit on the grid's cells or
 * on bins of them; and bounds that add by what the lattices may be off. See compare.h. */
#include "compare.h"
#include "bricks.h"
#include "certify.h"
#include "deposit.h"
#include "marginals.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = GBEES_MAX_DIM, BATCH = 1024 };

/* The joint density is not compared where lattices misplace probability by more than this part of a bin. */
static const double most_misplaced = 0.25;
/* A deposit has about so many parts a bin along each axis, each of which is spread over so many bins along each; a
 * cell update takes as long as about two of these. */
static const double parts_along = 5, spread_along = 3, spreads = 2.5;

/* A record, and what it is compared with. */
typedef struct comparison {
    gbees_engine *engine;
    const gbees_record *record;
    gbees_certificate *certificate, own;      /* own: of the lattices */
    double mean[N], covariance[GBEES_MATRIX]; /* of the lattices */
    gbees_problem *grid;                      /* the cells of the comparison at hand */
    gbees_lattice **lattice;                  /* [parts]: those of a set */
} comparison;

/* A difference in units of the lattices' deviation; and a bound of that to the truth, in units of the true one, if
 * the lattices are off by at most `own`. */
static gbees_difference add_own(double value, double own)
{
    return (gbees_difference){value, own < 1 ? (value + own) / (1 - own) : NAN};
}

/* ---- moments ---- */

static int find_moments(comparison *c, gbees_error *error)
{
    gbees_sums sums;
    const int status = gbees_engine_all_sums(c->engine, &sums, error);

    if (!status)
        gbees_sums_moments(&sums, c->mean, c->covariance);
    return status;
}

static void compare_moments(comparison *c)
{
    const gbees_statistics *now = &c->record->statistics;
    const int n = c->engine->problem->dimension;

    for (int j = 0; j < n; j++) {
        const double deviation = sqrt(c->covariance[j * n + j]);
        const double std = sqrt(fmax(0, now->covariance[j * n + j]));

        c->certificate->mean[j] = add_own(fabs(now->mean[j] - c->mean[j]) / deviation, c->own.mean[j].bound);
        c->certificate->std[j] = add_own(fabs(std / deviation - 1), c->own.std[j].bound);
    }
}

/* ---- marginals ---- */

/* The record's own marginal along an axis; its length is 0 if there is none. */
static gbees_marginal_line line_of(const gbees_record *record, int axis)
{
    const gbees_projection *to = record->projection;
    const gbees_marginals *of = record->marginals;
    const gbees_problem *grid = record->problem;

    if (to)
        return (gbees_marginal_line){to->origin[axis] - to->width[axis] / 2, to->width[axis], to->length[axis],
                                     to->p[axis]};
    return of ? (gbees_marginal_line){grid->mean[axis] + (of->first[axis] - 0.5) * grid->width[axis],
                                      grid->width[axis], of->length[axis], of->line[axis]}
              : (gbees_marginal_line){.length = 0};
}

static void compare_line(comparison *c, int axis, const gbees_own_marginals *own)
{
    const gbees_marginal_line record = line_of(c->record, axis);
    const double deviation = own->deviation[axis], least = c->own.mean[0].bound;
    const gbees_line_distance found = gbees_line_compare(&record, &own->line[axis]);

    if (record.length == 0)
        return;
    c->certificate->marginal[axis] =
        add_own(found.wasserstein / deviation, fmax(GBEES_SETS_SAFETY * own->wasserstein, least) + own->misplaced +
                                                   own->smeared[axis] * own->line[axis].width / deviation);
    c->certificate->kolmogorov[axis] = (gbees_difference){
        found.kolmogorov,
        fmin(1, found.kolmogorov + fmax(GBEES_SETS_SAFETY * own->kolmogorov, least) + own->smeared[axis])};
    c->certificate->variation_least = fmax(c->certificate->variation_least, fmax(found.kolmogorov, found.variation));
}

static int compare_marginals(comparison *c, gbees_error *error)
{
    const gbees_own_marginals *own = NULL;
    int status = GBEES_OK;

    *c->grid = *c->record->problem;
    if (c->record->projection) { /* along the states */
        c->grid->rotated = 0;
        memcpy(c->grid->width, c->record->projection->width, (size_t)c->grid->dimension * sizeof *c->grid->width);
    }
    if (c->record->projection || c->record->marginals)
        status = gbees_engine_marginals(c->engine, c->grid, &own, error);
    if (!status) /* the lattices may have changed */
        status = find_moments(c, error);
    if (!status)
        status = gbees_engine_certify(c->engine, &c->own, error);
    for (int j = 0; j < c->grid->dimension && own && !status; j++)
        compare_line(c, j, own);
    return status;
}

/* ---- the joint density ---- */

/* Chooses bins of to[n] whole cells, as narrow as the work allows for the deposit of two sets, and at most about
 * as wide as the initial standard deviations. Returns the work, or 0 if it is more than there may be. */
static double choose_bins(const comparison *c, double most, int *to)
{
    const gbees_problem *own = c->record->problem, *start = c->engine->problem;
    const int n = own->dimension;
    const double cells = (double)gbees_cells_count(c->record->cells),
                 each = 2 * pow(parts_along * spread_along, n) / spreads;
    int widest = 1, full[N];

    if (start->rotated && !own->rotated) /* its own problem has the deviations along its axes */
        start = own;
    for (int j = 0; j < n; j++) {
        full[j] = (int)fmin(1e4, fmax(1, round(sqrt(fmax(0, start->covariance[j * n + j])) / own->width[j])));
        widest = full[j] > widest ? full[j] : widest;
    }
    for (int along = 1; along <= widest; along++) {
        double bins = cells;

        for (int j = 0; j < n; j++) {
            to[j] = full[j] < along ? full[j] : along;
            bins /= to[j];
        }
        if (bins * each <= most)
            return bins * each;
    }
    return 0;
}

/* The bin that a cell is in: bin 0 has cell 0 in its middle, or next to it. */
static int32_t group_of(int64_t index, int size)
{
    return (int32_t)floor((double)(index + size / 2) / size);
}

/* Makes the list of the record's probabilities in bins. */
static int bin_cells(const comparison *c, const int *bins, gbees_initial_cells *to, gbees_error *error)
{
    const gbees_cells *cells = c->record->cells;
    const int n = c->grid->dimension;
    const size_t count = gbees_cells_count(cells);
    int32_t index[N][BATCH], *columns[N], bin[N] = {0};
    double p[BATCH], dropped;
    gbees_bricks sums;
    int failed = gbees_bricks_open(&sums, n, INFINITY);

    for (int j = 0; j < n; j++)
        columns[j] = index[j];
    for (size_t first = 0, batch; first < count && !failed; first += batch) {
        batch = count - first < BATCH ? count - first : BATCH;
        gbees_cells_copy(cells, first, batch, columns, p);
        for (size_t i = 0; i < batch && !failed; i++) {
            for (int j = 0; j < n; j++)
                bin[j] = group_of(index[j][i], bins[j]);
            gbees_brick_cell *const cell = gbees_bricks_at(&sums, bin);

            failed = !cell;
            if (cell)
                cell->mass += (int64_t)(p[i] * GBEES_BRICKS_ONE);
        }
    }
    failed = failed || gbees_bricks_list(&sums, 0, to, &dropped);
    gbees_bricks_close(&sums);
    return failed ? gbees_error_set(error, GBEES_ENOMEM, "not enough memory to compare the cells of a record")
                  : GBEES_OK;
}

/* Compares the record's bins with those of two sets, whose distance from each other is what either may be off. */
static int compare_bins(comparison *c, const int *bins, gbees_error *error)
{
    const gbees_deposit_options how = {.threads = c->engine->threads, .parts = 1, .misplaced = most_misplaced};
    const int n = c->grid->dimension;
    gbees_initial_cells own = {0}, set[2] = {{0}, {0}};
    int status = bin_cells(c, bins, &own, error);

    for (int s = 0; s < 2 && !status; s++)
        status = gbees_deposit_cells(c->grid, gbees_engine_list(c->engine, s, c->lattice), c->lattice, NULL, &how,
                                     &set[s], NULL, error);
    if (!status && set[0].count > 0 && set[1].count > 0) {
        const gbees_cells_distance found = gbees_cells_compare(n, &own, &set[0]),
                                   off = gbees_cells_compare(n, &set[0], &set[1]);

        c->certificate->density =
            (gbees_difference){1 - found.cosine, 1 - cos(fmin(acos(found.cosine) + acos(off.cosine), acos(0)))};
        c->certificate->variation = fmin(1, found.variation + off.variation);
        c->certificate->uncompared = 0;
    }
    gbees_initial_cells_clear(&own);
    gbees_initial_cells_clear(&set[0]);
    gbees_initial_cells_clear(&set[1]);
    return status;
}

static int compare_density(comparison *c, double *work, gbees_error *error)
{
    const gbees_cells *cells = c->record->cells;
    int bins[N];

    if (!cells || gbees_cells_count(cells) == 0 || !gbees_cells_are_whole(cells))
        return GBEES_OK;
    const double taken = choose_bins(c, *work, bins);
    if (taken == 0)
        return GBEES_OK;
    *work -= taken;
    *c->grid = *c->record->problem;
    for (int j = 0; j < c->grid->dimension; j++) {
        c->grid->mean[j] += c->grid->width[j] * ((bins[j] - 1) / 2.0 - bins[j] / 2);
        c->grid->width[j] *= bins[j];
    }
    return compare_bins(c, bins, error);
}

int gbees_engine_compare(gbees_engine *engine, const gbees_record *record, double *work,
                         gbees_certificate *certificate, gbees_error *error)
{
    comparison c = {.engine = engine,
                    .record = record,
                    .certificate = certificate,
                    .grid = malloc(sizeof *c.grid),
                    .lattice = calloc((size_t)engine->parts, sizeof *c.lattice)};
    int status = c.grid && c.lattice ? find_moments(&c, error)
                                     : gbees_error_set(error, GBEES_ENOMEM, "not enough memory to compare a record");

    if (!status)
        status = compare_marginals(&c, error);
    certificate->points = c.own.points;
    if (!status)
        compare_moments(&c);
    if (!status)
        status = compare_density(&c, work, error);
    /* The joint density is no nearer than any of its marginals. */
    if (certificate->variation > 0)
        certificate->variation = fmax(certificate->variation, certificate->variation_least);
    free(c.grid);
    free(c.lattice);
    return status;
}
