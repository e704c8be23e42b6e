/* deposit.c - divides the lattices' cells, and spreads the parts over the cells of a grid; see deposit.h. Threads
 * take groups of lattice cells, and each adds to sums of its own, which are integers and then added up. */
#include "deposit.h"
#include "base/memory.h"
#include "base/workers.h"
#include "distance.h"
#include "spread.h"
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Distance of parts for marginals where the density is, in cells. */
#define MARGINAL_WIDTH 0.125

enum {
    GROUP = 64, /* lattice cells that a thread takes at once */
    PARTS_MOST = 1250000,
    HALVINGS = 2,    /* of numbers of parts, to see how far off cells are */
    POINT_NS = 20000 /* that a lattice cell takes, in nanoseconds */
};

/* A thread's work. */
typedef struct worker {
    gbees_bricks bricks;
    gbees_parts parts;
    uint64_t count; /* parts */
    int failed;
} worker;

typedef struct deposit {
    int state; /* -1: cells; else the marginal of a state */
    const gbees_image *image;
    worker *workers;
    atomic_uint next; /* the point that is taken next */
} deposit;

/* ---- a lattice ---- */

/* Divides the cell around a point and adds its parts. Returns 1 if there is no memory. */
static int add_point(const deposit *d, worker *w, uint32_t point)
{
    static const int all[GBEES_MAX_DIM] = {0, 1, 2, 3, 4, 5, 6, 7};
    int failed = gbees_parts_open(&w->parts, point, d->state);

    while (!failed && gbees_parts_next(&w->parts)) {
        failed = gbees_parts_spread(&w->parts, d->state < 0 ? all : &d->state, &w->bricks);
        w->count += w->parts.batch;
    }
    return failed;
}

/* Takes groups of points until none is left. */
static void work(void *context, size_t item)
{
    deposit *d = context;
    worker *w = &d->workers[item];

    for (uint32_t first; !w->failed && (first = atomic_fetch_add(&d->next, GROUP)) < d->image->count;) {
        const uint32_t end = d->image->count - first < GROUP ? d->image->count : first + GROUP;

        for (uint32_t i = first; i < end && !w->failed; i++)
            w->failed = add_point(d, w, i);
    }
}

/* Adds up the sums of all workers in those of the first. Returns 1 if one has failed. */
static int join(worker *workers, int threads, gbees_deposit_report *report)
{
    int failed = 0;
    double bytes = 0;

    for (int k = 0; k < threads; k++) {
        bytes += gbees_bricks_bytes(&workers[k].bricks);
        failed =
            failed || workers[k].failed || (k > 0 && gbees_bricks_merge(&workers[0].bricks, &workers[k].bricks, 1));
        report->parts += workers[k].count;
    }
    report->largest_bytes = fmax(report->largest_bytes, bytes);
    return failed;
}

/* What is to be done with each image. */
typedef struct plan {
    int threads, state; /* state: as that of a deposit */
    int coarser;        /* as in divide.h */
    double bytes;       /* the most that sums may take */
    double apart;       /* parts of a marginal, in cells */
    double parts;       /* about the most parts of cells */
    /* mean squares of parts' extents along the grid's axes, of all images so far; and their mean */
    double square[GBEES_MAX_DIM], mean_square;
} plan;

/* Sets *sums to the density of an image as sums over cells; `fraction`: of the mass of all. Returns 1 if there is no
 * memory. */
static int deposit_image(const gbees_image *image, plan *how, double fraction, gbees_bricks *sums,
                         gbees_deposit_report *report)
{
    const int threads = gbees_workers_worth(how->threads, (double)image->count * POINT_NS);
    deposit d = {.state = how->state, .image = image, .workers = calloc((size_t)threads, sizeof *d.workers)};
    int failed = !d.workers, count[GBEES_MAX_DIM] = {0};
    double square[GBEES_MAX_DIM] = {1};

    if (how->state < 0)
        gbees_divide(image, how->parts * fraction, how->coarser, count, square);
    for (int j = 0; j < (how->state < 0 ? image->n : 1); j++)
        how->square[j] += fraction * square[j];
    for (int k = 0; k < threads && !failed; k++) {
        gbees_parts_prepare(&d.workers[k].parts, image, count, how->apart);
        failed = gbees_bricks_open(&d.workers[k].bricks, how->state < 0 ? image->n : 1, how->bytes / threads);
    }
    if (!failed) {
        gbees_workers_run(threads, (size_t)threads, work, &d);
        failed = join(d.workers, threads, report);
        *sums = d.workers[0].bricks;
        d.workers[0].bricks = (gbees_bricks){0};
    }
    for (int k = 0; k < threads && d.workers; k++) {
        gbees_bricks_close(&d.workers[k].bricks);
        gbees_parts_close(&d.workers[k].parts);
    }
    free(d.workers);
    return failed;
}

/* ---- all lattices ---- */

/* Adds the densities of all images, each with its fraction of the mass. Returns 1 if there is no memory. */
static int deposit_all(const gbees_images *images, plan *how, gbees_bricks *all, gbees_deposit_report *report)
{
    int failed = images->count > 1 && gbees_bricks_open(all, how->state < 0 ? images->image[0]->n : 1, how->bytes);
    double ratio[GBEES_MAX_DIM];

    memset(how->square, 0, sizeof how->square);
    how->mean_square = 0;
    for (int l = 0; l < images->count && !failed; l++) {
        gbees_bricks one = {0}, *const sums = images->count == 1 ? all : &one;

        if (!(images->fraction[l] > 0))
            continue;
        failed = deposit_image(images->image[l], how, images->fraction[l], sums, report);
        if (!failed && images->count > 1)
            failed = gbees_bricks_merge(all, &one, images->fraction[l] / gbees_bricks_total(&one));
        gbees_bricks_close(&one);
    }
    for (int j = 0; j < all->n; j++)
        how->mean_square += how->square[j] / all->n;
    for (int j = 0; j < all->n; j++)
        ratio[j] = how->mean_square > 0 ? how->square[j] / how->mean_square : 1;
    return failed || gbees_bricks_sharpen(all, ratio, how->threads);
}

/* ---- cells ---- */

static plan plan_of(const gbees_deposit_options *options)
{
    return (plan){.threads = options->threads,
                  .apart = options->apart > 0 ? options->apart : MARGINAL_WIDTH,
                  .parts = options->parts > 0 ? options->parts : PARTS_MOST,
                  .bytes = (options->bytes > 0 ? options->bytes : gbees_memory_available() / 2) / 2};
}

/* Makes the list of cells; `coarser`: as in divide.h. Sets *width to the mean one of parts, in cells. */
static int list_cells(const gbees_images *images, const gbees_deposit_options *options, int coarser,
                      gbees_initial_cells *cells, double *width, gbees_deposit_report *report, gbees_error *error)
{
    plan how = plan_of(options);
    gbees_bricks sums = {0};
    int status = GBEES_OK;

    how.state = -1;
    how.coarser = coarser;
    if (deposit_all(images, &how, &sums, report) || gbees_bricks_list(&sums, options->least, cells, &report->dropped))
        status = gbees_error_set(error, GBEES_ENOMEM,
                                 "not enough memory for the cells of a density: give wider ones, or allow for more "
                                 "memory");
    gbees_bricks_close(&sums);
    *width = sqrt(how.mean_square);
    return status;
}

/* Compares cells with those of fewer parts; width: that of parts, in cells, if these are as many, or 0. */
static int compare(int n, const gbees_initial_cells *cells, const gbees_initial_cells *fewer, double width,
                   gbees_deposit_report *report, gbees_error *error)
{
    report->variation = width > 0 ? fmin(width, 1) : gbees_cells_compare(n, cells, fewer).variation;
    if (width == 0 && gbees_cells_compare_along(n, cells, fewer, report->wasserstein, report->kolmogorov))
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the marginals of a record's cells");
    for (int j = 0; j < n && width > 0; j++)
        report->wasserstein[j] = report->kolmogorov[j] = report->variation;
    return GBEES_OK;
}

/* The same from a sixteenth of the parts, from a quarter, and from all, until the report's `variation` is small
 * enough. Where lattice cells are so small that they are not divided it is the width of the parts. */
static int list_better(const gbees_images *images, const gbees_deposit_options *options, gbees_initial_cells *cells,
                       gbees_deposit_report *report, gbees_error *error)
{
    double width;
    int coarser = options->variation > 0 ? 2 * HALVINGS : HALVINGS,
        status = list_cells(images, options, coarser, cells, &width, report, error);

    do {
        gbees_initial_cells fewer = *cells;
        const uint64_t parts = report->parts;

        *cells = (gbees_initial_cells){0};
        *report = (gbees_deposit_report){0};
        coarser -= HALVINGS;
        if (!status)
            status = list_cells(images, options, coarser, cells, &width, report, error);
        if (!status)
            status = compare(images->image[0]->n, cells, &fewer, report->parts == parts ? width : 0, report, error);
        gbees_initial_cells_clear(&fewer);
    } while (!status && coarser > 0 && report->variation > options->variation);
    return status;
}

int gbees_deposit_cells(const gbees_problem *problem, int lattices, gbees_lattice *const *lattice,
                        const double *log_factor, const gbees_deposit_options *options, gbees_initial_cells *cells,
                        gbees_deposit_report *report, gbees_error *error)
{
    gbees_deposit_report done = {0};
    gbees_images images;
    double width;
    int status = gbees_images_create(&images, problem, lattices, lattice, log_factor, options->threads, error);

    const int makes = !(options->misplaced > 0) || images.misplaced <= options->misplaced;
    if (!status && makes)
        status = report ? list_better(&images, options, cells, &done, error)
                        : list_cells(&images, options, 0, cells, &width, &done, error);
    done.left_out = images.left_out;
    done.misplaced = images.misplaced;
    gbees_images_destroy(&images);
    if (!status && makes)
        cells->mass = 1;
    if (report && !status)
        *report = done;
    return status;
}

/* ---- marginals ---- */

/* Cuts off the ends of a line of cells where they hold less than `least` of the largest, and scales the rest to sum
 * to
 * 1. Returns the mass that was cut off. */
static double cut_ends(gbees_initial_cells *line, double least)
{
    size_t first = 0, end = line->count;
    double most = 0, sum = 0;

    for (size_t i = 0; i < line->count; i++)
        most = fmax(most, line->p[i]);
    while (line->p[first] < least * most)
        first++;
    while (line->p[end - 1] < least * most)
        end--;
    for (size_t i = first; i < end; i++)
        sum += line->p[i];
    for (size_t i = first; i < end; i++) {
        line->index[0][i - first] = line->index[0][i];
        line->p[i - first] = line->p[i] / sum;
    }
    line->count = end - first;
    return 1 - sum;
}

static void clear_line(gbees_initial_cells *line)
{
    free(line->index[0]);
    free(line->p);
}

/* Puts lines of cells, one for each of n states, into one block. NULL: no memory. */
static gbees_marginals *join_lines(int n, const gbees_initial_cells *line)
{
    gbees_marginals *made;
    uint64_t entries = 0, length[GBEES_MAX_DIM];

    for (int j = 0; j < n; j++) {
        length[j] = (uint64_t)(line[j].index[0][line[j].count - 1] - line[j].index[0][0]) + 1;
        entries += length[j];
    }
    made = calloc(1, sizeof *made + entries * sizeof(double));
    if (!made)
        return NULL;
    double *sums = (double *)(void *)(made + 1);
    for (int j = 0; j < n; j++) {
        made->first[j] = line[j].index[0][0];
        made->length[j] = length[j];
        made->line[j] = sums;
        for (size_t i = 0; i < line[j].count; i++)
            sums[line[j].index[0][i] - made->first[j]] = line[j].p[i];
        sums += length[j];
    }
    return made;
}

int gbees_deposit_marginals(const gbees_problem *problem, int lattices, gbees_lattice *const *lattice,
                            const double *log_factor, const gbees_deposit_options *options,
                            gbees_marginals **marginals, gbees_deposit_report *report, gbees_error *error)
{
    const int n = problem->dimension;
    gbees_deposit_report done = {0};
    gbees_initial_cells line[GBEES_MAX_DIM] = {{0}};
    gbees_marginals *made = NULL;
    gbees_images images;
    plan how = plan_of(options);
    int failed = 0,
        status = gbees_images_create(&images, problem, lattices, lattice, log_factor, options->threads, error);

    const int makes = !(options->misplaced > 0) || images.misplaced <= options->misplaced;
    for (how.state = 0; how.state < n && makes && !status && !failed; how.state++) {
        gbees_initial_cells *to = &line[how.state];
        gbees_bricks sums = {0};
        double dropped = 0;

        failed = deposit_all(&images, &how, &sums, &done) || gbees_bricks_list(&sums, 0, to, &dropped);
        if (!failed)
            done.dropped = fmax(done.dropped, cut_ends(to, options->least));
        gbees_bricks_close(&sums);
    }
    if (!status && makes && (failed || !(made = join_lines(n, line))))
        status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the marginals of a density");
    done.left_out = images.left_out;
    done.misplaced = images.misplaced;
    gbees_images_destroy(&images);
    for (int j = 0; j < n; j++)
        clear_line(&line[j]);
    if (!status)
        *marginals = made;
    if (report && !status)
        *report = done;
    return status;
}
