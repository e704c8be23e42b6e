/* deposit.c - divides the lattices' cells, and spreads the parts over the cells of a grid; see deposit.h. Threads
 * take groups of lattice cells, and each adds to sums of its own, which are integers and then added up. */
#include "deposit.h"
#include "base/clones.h"
#include "base/memory.h"
#include "base/workers.h"
#include "bricks.h"
#include "parts.h"
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    GROUP = 64,           /* lattice cells that a thread takes at once */
    PARTS_MOST = 4000000, /* that are made, unless parts of a third of a cell are more */
    RUN = 64,             /* parts of a batch whose cells are found at once */
    POINT_NS = 20000      /* that a lattice cell takes, in nanoseconds */
};

/* A thread's work. */
typedef struct worker {
    gbees_bricks bricks;
    gbees_parts parts;
    uint64_t count; /* parts */
    int failed;
} worker;

typedef struct deposit {
    const gbees_image *image;
    worker *workers;
    atomic_uint next;                /* the point that is taken next */
    size_t step[1 << GBEES_MAX_DIM]; /* from a cell to those around a corner, bit j: above along axis j */
} deposit;

/* ---- a batch of parts ---- */

/* The integral of the quadratic B-spline of unit knots from below to t. */
static inline double spline_below(double t)
{
    const double a = fmin(fabs(t), 1.5), rest = 1.5 - a,
                 half = a < 0.5 ? a * (0.75 - a * a / 3) : 0.5 - rest * rest * rest / 6;

    return t < 0 ? 0.5 - half : 0.5 + half;
}

/* Sets the lower of the two cells that each part is spread over along an axis, and the share of the upper one. The
 * part's mass is spread as a quadratic B-spline, of at most a cell's width in all. */
GBEES_PROCESSOR_CLONES static void share_axis(const double *place, double width, size_t batch, int32_t *lower,
                                              double *upper)
{
    const double scale = 1 / fmax(width, 1e-9);

    for (size_t t = 0; t < batch; t++) {
        const double below = floor(place[t]);

        lower[t] = (int32_t)below;
        upper[t] = spline_below((place[t] - below - 0.5) * scale);
    }
}

/* Adds the mass of a part to the 2^n cells around a corner. Returns 1 if there is no memory. */
static int add_part(gbees_bricks *bricks, const size_t *step, double mass, const int32_t *cell, const double *upper)
{
    const int n = bricks->n;
    double share[1 << GBEES_MAX_DIM];
    int64_t *sum = gbees_bricks_at(bricks, cell);

    if (!sum)
        return 1;
    share[0] = mass;
    for (int j = 0; j < n; j++)
        for (int c = 0; c < 1 << j; c++) {
            share[c + (1 << j)] = share[c] * upper[j];
            share[c] -= share[c + (1 << j)];
        }
    for (int c = 0; c < 1 << n; c++)
        sum[step[c]] += (int64_t)(share[c] + 0.5);
    return 0;
}

/* Adds parts `first` to `end` - 1 of a batch, RUN at most. Returns 1 if there is no memory. */
static int add_run(worker *w, size_t first, size_t end, const size_t *step)
{
    const gbees_parts *parts = &w->parts;
    const int n = parts->image->n;
    double above[GBEES_MAX_DIM][RUN], mass[RUN], upper[GBEES_MAX_DIM];
    int32_t lower[GBEES_MAX_DIM][RUN], cell[GBEES_MAX_DIM];

    for (int j = 0; j < n; j++)
        share_axis(parts->place[j] + first, parts->width, end - first, lower[j], above[j]);
    for (size_t t = 0; t < end - first; t++)
        mass[t] = exp(parts->log_mass[first + t]) * (parts->share * GBEES_BRICKS_ONE);
    for (size_t t = 0; t < end - first; t++) {
        for (int j = 0; j < n; j++) {
            cell[j] = lower[j][t];
            upper[j] = above[j][t];
        }
        if (mass[t] >= 0.5 && add_part(&w->bricks, step, mass[t], cell, upper))
            return 1;
    }
    return 0;
}

/* Divides the cell around a point and adds its parts. Returns 1 if there is no memory. */
static int add_point(worker *w, uint32_t point, const size_t *step)
{
    gbees_parts *parts = &w->parts;
    int failed = gbees_parts_open(parts, point);

    while (!failed && gbees_parts_next(parts)) {
        for (size_t first = 0; first < parts->batch && !failed; first += RUN)
            failed = add_run(w, first, first + RUN < parts->batch ? first + RUN : parts->batch, step);
        w->count += parts->batch;
    }
    return failed;
}

/* ---- a lattice ---- */

/* Takes groups of points until none is left. */
static void work(void *context, size_t item)
{
    deposit *d = context;
    worker *w = &d->workers[item];

    for (uint32_t first; !w->failed && (first = atomic_fetch_add(&d->next, GROUP)) < d->image->count;) {
        const uint32_t end = d->image->count - first < GROUP ? d->image->count : first + GROUP;

        for (uint32_t i = first; i < end && !w->failed; i++)
            w->failed = add_point(w, i, d->step);
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

/* Sets *sums to the density of an image as sums over cells. Returns 1 if there is no memory. */
static int deposit_image(const gbees_image *image, const gbees_deposit_options *options, double bytes, double width,
                         gbees_bricks *sums, gbees_deposit_report *report)
{
    const int threads = gbees_workers_worth(options->threads, (double)image->count * POINT_NS);
    deposit d = {.image = image, .workers = calloc((size_t)threads, sizeof *d.workers)};
    int failed = !d.workers;

    for (int k = 0; k < threads && !failed; k++) {
        gbees_parts_prepare(&d.workers[k].parts, image, width);
        failed = gbees_bricks_open(&d.workers[k].bricks, image->n, bytes / threads);
    }
    for (int c = 0; c < 1 << image->n && !failed; c++)
        for (int j = 0; j < image->n; j++)
            d.step[c] += c >> j & 1 ? d.workers[0].bricks.step[j] : 0;
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

/* The width of parts: the narrowest with which there are not too many. */
static double choose_width(const gbees_images *images)
{
    static const double per_cell[] = {3, 4, 5, 6, 8, 10, 12, 14, 16};
    size_t k = 0;

    for (size_t next = 1; next < sizeof per_cell / sizeof *per_cell; k = next++) {
        double parts = 0;

        for (int l = 0; l < images->count; l++)
            parts += gbees_parts_expect(images->image[l], 1 / per_cell[next]);
        if (parts > PARTS_MOST)
            break;
    }
    return 1 / per_cell[k];
}

/* Adds the densities of all images, each with its fraction of the mass. Returns 1 if there is no memory. */
static int deposit_all(gbees_images *images, const gbees_deposit_options *options, gbees_bricks *all,
                       gbees_deposit_report *report)
{
    const double bytes = (options->bytes > 0 ? options->bytes : gbees_memory_available() / 2) / 2;
    const double width = choose_width(images);
    int failed = images->count > 1 && gbees_bricks_open(all, images->image[0]->n, bytes);

    for (int l = 0; l < images->count && !failed; l++) {
        gbees_bricks one = {0}, *const sums = images->count == 1 ? all : &one;

        failed = deposit_image(images->image[l], options, bytes, width, sums, report);
        gbees_images_release(images, l);
        if (!failed && images->count > 1 && images->fraction[l] > 0)
            failed = gbees_bricks_merge(all, &one, images->fraction[l] / gbees_bricks_total(&one));
        gbees_bricks_close(&one);
    }
    for (int j = 0; j < all->n && !failed; j++)
        failed = gbees_bricks_sharpen(all, j, width);
    return failed;
}

int gbees_deposit_cells(const gbees_problem *problem, int lattices, gbees_lattice *const *lattice,
                        const double *log_factor, const gbees_deposit_options *options, gbees_initial_cells *cells,
                        gbees_deposit_report *report, gbees_error *error)
{
    gbees_deposit_report done = {0};
    gbees_images images;
    gbees_bricks sums = {0};
    int status = gbees_images_create(&images, problem, lattices, lattice, log_factor, options->threads, error);

    if (!status && (deposit_all(&images, options, &sums, &done) ||
                    gbees_bricks_list(&sums, options->least, cells, &done.dropped)))
        status = gbees_error_set(error, GBEES_ENOMEM,
                                 "not enough memory for the cells of a density: give wider ones, or allow for more "
                                 "memory");
    done.left_out = images.left_out;
    done.misplaced = images.misplaced;
    gbees_images_destroy(&images);
    gbees_bricks_close(&sums);
    cells->mass = 1;
    if (report && !status)
        *report = done;
    return status;
}
