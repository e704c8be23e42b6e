/* compare.c - the differences between a record of a grid and the density that lattices carry: of moments by sums over
 * the points, of marginals by their deposit on the grid's axes, of the joint density by that on the grid's cells or
 * on bins of them; and bounds that add by what the lattices may be off. See compare.h. */
#include "compare.h"
#include "bricks.h"
#include "certify.h"
#include "deposit.h"
#include "distance.h"
#include "sharpen.h"
#include <math.h>
#include <stdlib.h>

enum { N = GBEES_MAX_DIM, BATCH = 1024 };

/* A marginal is off by at most so many times the difference of those of two sets. */
static const double safety = 3;
/* Entries of a marginal a standard deviation; those that what is thin in it is wide, at least. A deposit smears it by
 * some .3 of one, which is taken back where it is wide. */
static const double entries = 8, least_width = 2.5;
enum { SPLIT_MOST = 8 };
/* Marginals end where they have less than this part of their largest entry. */
static const double least_entry = 1e-12;
/* The joint density is not compared where lattices misplace probability by more than this part of a bin. */
static const double most_misplaced = 0.25;
/* Lattices that misplace more of a marginal than is asked for are made denser: so often, up to so many points. */
static const double places_share = 2.5; /* of the accuracy of moments */
enum { ROUNDS = 3, POINTS_MOST = 100000 };
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
    const int status = gbees_engine_sums(c->engine, 0, &sums, error);

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

static gbees_line line_in(const gbees_marginals *of, int axis)
{
    return (gbees_line){of->first[axis], (int64_t)of->length[axis], of->line[axis]};
}

/* The record's own marginal along an axis; its length is 0 if there is none. */
static gbees_line line_of(const gbees_record *record, int axis)
{
    const gbees_projection *to = record->projection;

    if (to)
        return (gbees_line){0, (int64_t)to->length[axis], to->p[axis]};
    return record->marginals ? line_in(record->marginals, axis) : (gbees_line){0};
}

/* What takes the place of a cell along an axis: `group` cells in one entry, or `split` entries in one cell. One of
 * both is 1. */
typedef struct scale {
    int group, split;
} scale;

/* Replaces the cells of c->grid. A group has its cell of index 0 in the middle, or next to it; cell 0 begins with
 * entry 0. */
static void change_cells(comparison *c, const scale *to)
{
    for (int j = 0; j < c->grid->dimension; j++) {
        const int group = to[j].group, split = to[j].split;

        c->grid->mean[j] += c->grid->width[j] * ((group - 1) / 2.0 - group / 2 + (1.0 / split - 1) / 2);
        c->grid->width[j] *= (double)group / split;
    }
}

/* The group that a cell is in. */
static int32_t group_of(int64_t index, int size)
{
    return (int32_t)floor((double)(index + size / 2) / size);
}

/* Replaces a line of cells. Returns NULL if there is no memory; else the caller frees the new line. */
static double *change_line(gbees_line *of, scale to)
{
    const int64_t first = group_of(of->first, to.group) * (int64_t)to.split,
                  end = ((int64_t)group_of(of->first + of->length - 1, to.group) + 1) * to.split;
    double *made = calloc((size_t)(end - first), sizeof *made);

    for (int64_t i = 0; i < of->length && made; i++)
        for (int k = 0; k < to.split; k++)
            made[group_of(of->first + i, to.group) * (int64_t)to.split + k - first] += of->p[i] / to.split;
    *of = (gbees_line){first, end - first, made};
    return made;
}

/* The lattices' standard deviation along an axis, in cells. */
static double deviation_along(const comparison *c, int axis)
{
    const double *inverse = gbees_problem_inverse(c->grid);
    const int n = c->grid->dimension;
    double variance = c->grid->rotated ? 0 : c->covariance[axis * n + axis];

    for (int j = 0; j < n && c->grid->rotated; j++)
        for (int k = 0; k < n; k++)
            variance += inverse[axis * n + j] * c->covariance[j * n + k] * inverse[axis * n + k];
    return sqrt(fmax(0, variance)) / c->grid->width[axis];
}

/* of: the marginals of two sets, whose difference tells how far either may be off. Returns 1 if there is no memory.
 */
static int compare_line(comparison *c, int axis, scale to, gbees_marginals *const of[2])
{
    const gbees_line own = line_in(of[0], axis), other = line_in(of[1], axis);
    const double deviation = deviation_along(c, axis);
    gbees_line record = line_of(c->record, axis);
    double *made = record.length > 0 ? change_line(&record, to) : NULL;

    if (!made)
        return record.length > 0;
    const gbees_line_distance found = gbees_line_compare(&record, &own, to.split),
                              off = gbees_line_compare(&own, &other, to.split);
    c->certificate->marginal[axis] =
        add_own(found.wasserstein / deviation, fmax(safety * off.wasserstein / deviation, c->own.mean[0].bound));
    c->certificate->kolmogorov[axis] =
        (gbees_difference){found.kolmogorov, found.kolmogorov + fmax(safety * off.kolmogorov, c->own.mean[0].bound)};
    c->certificate->variation_least = fmax(c->certificate->variation_least, fmax(found.kolmogorov, found.variation));
    free(made);
    return 0;
}

/* Sets c->grid to that of the record's marginals, and then to other entries. */
static void set_grid(comparison *c, const scale *to)
{
    const gbees_projection *projection = c->record->projection;

    *c->grid = *c->record->problem;
    for (int j = 0; projection && j < c->grid->dimension; j++) {
        c->grid->rotated = 0;
        c->grid->mean[j] = projection->origin[j];
        c->grid->width[j] = projection->width[j];
    }
    change_cells(c, to);
}

/* Makes so many times as many entries of a cell, about, at most SPLIT_MOST. Returns whether they are more. */
static int refine(scale *to, double times)
{
    const scale before = *to;
    const double wanted = times * to->split / to->group;

    *to = wanted < 1 ? (scale){(int)fmin(1 / wanted, 1e6), 1} : (scale){1, (int)fmin(ceil(wanted), SPLIT_MOST)};
    return to->group < before.group || to->split > before.split;
}

/* Chooses entries for all axes: so many a deviation. */
static void choose_entries(comparison *c, scale *to)
{
    for (int j = 0; j < N; j++)
        to[j] = (scale){1, 1};
    set_grid(c, to);
    for (int j = 0; j < c->grid->dimension; j++)
        (void)refine(&to[j], entries / deviation_along(c, j));
    set_grid(c, to);
}

/* Makes entries narrower along axes where the density is thin. Returns whether it has. */
static int resolve(comparison *c, scale *to, const gbees_marginals *of)
{
    int changed = 0;

    for (int j = 0; j < c->grid->dimension; j++) {
        const gbees_line own = line_in(of, j);
        const double width = gbees_line_width(&own);

        changed |= width < least_width && refine(&to[j], least_width / width);
    }
    set_grid(c, to);
    return changed;
}

/* Deposits the marginals of a set. Nothing is made if that misplaces more than a part of the narrowest deviation; 0:
 * it may be any. */
static int deposit_marginals(comparison *c, int set, double most, gbees_marginals **marginals, double *misplaced,
                             gbees_error *error)
{
    double narrow = INFINITY;
    gbees_deposit_report done = {0};

    for (int j = 0; j < c->grid->dimension; j++)
        narrow = fmin(narrow, deviation_along(c, j));
    const gbees_deposit_options how = {.threads = c->engine->threads,
                                       .least = least_entry,
                                       .apart = fmax(0.5, 0.1 * narrow),
                                       .misplaced = most * narrow};
    const int status = gbees_deposit_marginals(c->grid, gbees_engine_list(c->engine, set, c->lattice), c->lattice,
                                               NULL, &how, marginals, &done, error);
    *misplaced = done.misplaced / narrow;
    return status;
}

/* Makes all lattices denser as long as the marginals of the first set are misplaced by more than is asked for, if
 * that does not make too many points. Sets *marginals to those of the first set. */
static int place(comparison *c, gbees_marginals **marginals, gbees_error *error)
{
    double most = places_share * c->engine->problem->accuracy, misplaced;

    for (int round = 0;; round++) {
        const int status = deposit_marginals(c, 0, round < ROUNDS ? most : 0, marginals, &misplaced, error);

        if (status || *marginals)
            return status;
        const double times = fmin(pow(misplaced / most, 0.25) * 1.1, 2);

        if ((double)c->engine->totals.points * pow(times, c->grid->dimension) > POINTS_MOST ||
            gbees_engine_make_denser(c->engine, times, 0, error)) /* what there is will do */
            round = ROUNDS - 1;
        gbees_engine_count(c->engine);
    }
}

/* Deposits the marginals of the first set on entries that resolve them. */
static int deposit_resolved(comparison *c, scale *to, gbees_marginals **marginals, gbees_error *error)
{
    int status = place(c, marginals, error);
    double misplaced;

    for (int round = 0; round < ROUNDS && !status && resolve(c, to, *marginals); round++) {
        free(*marginals);
        *marginals = NULL;
        status = deposit_marginals(c, 0, 0, marginals, &misplaced, error);
    }
    return status;
}

static int compare_marginals(comparison *c, gbees_error *error)
{
    gbees_marginals *of[2] = {NULL, NULL};
    double misplaced;
    scale to[N];
    const int has = c->record->projection || c->record->marginals;
    int status = GBEES_OK;

    choose_entries(c, to);
    if (has)
        status = deposit_resolved(c, to, &of[0], error);
    if (!status && has)
        status = deposit_marginals(c, 1, 0, &of[1], &misplaced, error);
    if (!status) /* the lattices may have changed */
        status = find_moments(c, error);
    if (!status)
        status = gbees_engine_certify(c->engine, &c->own, error);
    for (int j = 0; j < c->grid->dimension && has && !status; j++)
        if (compare_line(c, j, to[j], of))
            status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory to compare a record");
    free(of[0]);
    free(of[1]);
    return status;
}

/* ---- the joint density ---- */

/* Chooses bins of whole cells, to[n], as narrow as the work allows for the deposit of two sets, and at most about
 * as wide as the initial standard deviations. Returns the work, or 0 if it is more than there may be. */
static double choose_bins(const comparison *c, double most, scale *to)
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
            to[j] = (scale){full[j] < along ? full[j] : along, 1};
            bins /= to[j].group;
        }
        if (bins * each <= most)
            return bins * each;
    }
    return 0;
}

static void clear(gbees_initial_cells *cells)
{
    for (int j = 0; j < N; j++)
        free(cells->index[j]);
    free(cells->p);
}

/* Makes the list of the record's probabilities in bins. */
static int bin_cells(const comparison *c, const scale *bins, gbees_initial_cells *to, gbees_error *error)
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
                bin[j] = group_of(index[j][i], bins[j].group);
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
static int compare_bins(comparison *c, const scale *bins, gbees_error *error)
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
    clear(&own);
    clear(&set[0]);
    clear(&set[1]);
    return status;
}

static int compare_density(comparison *c, double *work, gbees_error *error)
{
    const gbees_cells *cells = c->record->cells;
    scale bins[N];

    if (!cells || gbees_cells_count(cells) == 0 || !gbees_cells_are_whole(cells))
        return GBEES_OK;
    const double taken = choose_bins(c, *work, bins);
    if (taken == 0)
        return GBEES_OK;
    *work -= taken;
    *c->grid = *c->record->problem;
    change_cells(c, bins);
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
