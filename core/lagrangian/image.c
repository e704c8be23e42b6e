/* image.c - places in cells, links between neighbours, and differences along the lattice's axes; see image.h. */
#include "image.h"
#include "base/array.h"
#include "base/workers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INDEX_MOST = 1 << 28 /* no cell's index may be as large */ };

/* What it takes to make an image. */
typedef struct making {
    const gbees_problem *problem;
    const gbees_lattice *lattice;
    gbees_image *image;
    uint32_t *point, *from; /* of a lattice's point its number in the image, or GBEES_NO_POINT; the reverse */
    double *error;          /* [count]: of an interpolated place, in cells */
} making;

void gbees_image_destroy(gbees_image *image)
{
    if (!image)
        return;
    free(image->value);
    free(image->near);
    free(image->slope);
    free(image->reach);
    free(image);
}

/* ---- points and places ---- */

/* Writes the place of a lattice's point in cells; returns 0 if it has none. */
static int place(const making *m, uint32_t i, double *y)
{
    const gbees_problem *problem = m->problem;
    double x[GBEES_MAX_DIM];
    int good = 1;

    for (int j = 0; j < problem->dimension; j++)
        x[j] = m->lattice->x[j][i];
    gbees_problem_place(problem, x, y);
    for (int j = 0; j < problem->dimension; j++) {
        y[j] = (y[j] - problem->mean[j]) / problem->width[j];
        good &= fabs(y[j]) < INDEX_MOST;
    }
    return good;
}

/* Numbers the points and sums their weights. */
static void number_points(making *m)
{
    const gbees_lattice *lattice = m->lattice;
    gbees_image *image = m->image;
    double largest = -INFINITY, sum = 0, out = 0, y[GBEES_MAX_DIM];

    for (uint32_t i = 0; i < lattice->count; i++)
        if (lattice->log_weight[i] > largest && lattice->log_weight[i] < INFINITY)
            largest = lattice->log_weight[i];
    for (uint32_t i = 0; i < lattice->count; i++) {
        const double weight = isfinite(lattice->log_weight[i]) ? exp(lattice->log_weight[i] - largest) : 0;
        const int good = weight > 0 && place(m, i, y);

        m->point[i] = good ? image->count : GBEES_NO_POINT;
        if (good)
            m->from[image->count++] = i;
        *(good ? &sum : &out) += weight;
    }
    image->mass = sum > 0 ? largest + log(sum) : -INFINITY;
    image->left_out = out > 0 ? out / (sum + out) : 0;
}

static void fill_part(void *context, size_t part)
{
    const making *m = context;
    const gbees_lattice *lattice = m->lattice;
    gbees_image *image = m->image;
    const size_t end = gbees_workers_first(image->count, part + 1);

    for (size_t i = gbees_workers_first(image->count, part); i < end; i++) {
        const uint32_t from = m->from[i];
        double *value = image->value + i * (size_t)image->values;
        gbees_site site = lattice->site[from];

        place(m, from, value);
        value[image->n] = lattice->log_weight[from] - image->mass;
        for (int k = 0; k < 2 * image->n; k++) {
            const int16_t z = site.z[k / 2];

            site.z[k / 2] = (int16_t)(z + 2 * (k % 2) - 1);
            const uint32_t found = gbees_lattice_find(lattice, &site);
            image->near[2 * i * (size_t)image->n + (size_t)k] = found == GBEES_NO_POINT ? found : m->point[found];
            site.z[k / 2] = z;
        }
    }
}

/* ---- points that are added ---- */

static uint32_t *link_of(const gbees_image *image, uint32_t point, int axis, int upper)
{
    return image->near + ((size_t)point * (size_t)image->n + (size_t)axis) * 2 + upper;
}

/* Looks for a parallelogram: a neighbour of a point that has a neighbour along an axis to the side `upper`. Returns
 * that one, and sets *beside to the first; or GBEES_NO_POINT. */
static uint32_t complete(const gbees_image *image, uint32_t point, int axis, int upper, uint32_t *beside)
{
    for (int k = 0; k < 2 * image->n; k++) {
        *beside = gbees_image_near(image, point, k / 2, k % 2);
        if (k / 2 == axis || *beside == GBEES_NO_POINT || *beside >= image->count)
            continue;
        const uint32_t corner = gbees_image_near(image, *beside, axis, upper);
        if (corner != GBEES_NO_POINT && corner < image->count)
            return corner;
    }
    return GBEES_NO_POINT;
}

/* Adds a neighbour to points that have none along an axis, or only counts them. */
static uint32_t add_points(gbees_image *image, int add)
{
    uint32_t all = image->count;

    for (uint32_t i = 0; i < image->count; i++)
        for (int k = 0; k < image->n; k++) {
            uint32_t beside, corner = GBEES_NO_POINT;
            int upper = 0;

            if (gbees_image_near(image, i, k, 0) != GBEES_NO_POINT ||
                gbees_image_near(image, i, k, 1) != GBEES_NO_POINT)
                continue;
            for (; upper < 2 && corner == GBEES_NO_POINT; upper++)
                corner = complete(image, i, k, upper, &beside);
            if (corner == GBEES_NO_POINT)
                continue;
            for (int f = 0; f < image->values && add; f++)
                image->value[(size_t)all * (size_t)image->values + (size_t)f] =
                    image->value[(size_t)i * (size_t)image->values + (size_t)f] +
                    image->value[(size_t)corner * (size_t)image->values + (size_t)f] -
                    image->value[(size_t)beside * (size_t)image->values + (size_t)f];
            if (add)
                *link_of(image, i, k, upper - 1) = all;
            all++;
        }
    return all;
}

/* Makes room for the points to be added, and adds them. Returns 1 if there is no memory. */
static int complete_points(gbees_image *image)
{
    const size_t values = (size_t)image->values, links = 2 * (size_t)image->n, count = image->count;
    const uint32_t all = add_points(image, 0);

    if (all > image->count) {
        double *value = realloc(image->value, all * values * sizeof *value);
        uint32_t *near = value ? realloc(image->near, all * links * sizeof *near) : NULL;

        image->value = value ? value : image->value;
        if (!near)
            return 1;
        image->near = near;
        memset(near + count * links, 0xff, (all - count) * links * sizeof *near);
        add_points(image, 1);
    }
    image->all = all;
    return 0;
}

/* ---- differences ---- */

/* The derivative of a value along an axis. */
static double difference(const gbees_image *image, const double *of, uint32_t point, int axis)
{
    const uint32_t low = gbees_image_near(image, point, axis, 0), high = gbees_image_near(image, point, axis, 1);
    const uint32_t side = high < image->all ? high : low;
    const size_t values = (size_t)image->values;
    const double sign = side == high ? 1 : -1;

    if (low < image->all && high < image->all)
        return (of[high * values] - of[low * values]) / 2;
    if (side >= image->all)
        return 0;
    const uint32_t next = gbees_image_near(image, side, axis, side == high);
    if (next >= image->all)
        return sign * (of[side * values] - of[point * values]);
    return sign * (4 * of[side * values] - of[next * values] - 3 * of[point * values]) / 2;
}

/* An estimate of the error of places that are interpolated halfway to the next point, in cells, the largest of all
 * axes and states: by the difference of the highest even order, up to the sixth, for which there are points. */
static double error_at(const gbees_image *image, uint32_t i)
{
    static const double binomial[3][4] = {{-2, 1}, {6, -4, 1}, {-20, 15, -6, 1}},
                        scale[] = {0.25 / 2, 0.5625 / 24, 3.515625 / 720};
    const size_t values = (size_t)image->values;
    double most = 0;

    for (int k = 0; k < image->n; k++) {
        uint32_t at[2][4] = {{i}, {i}};
        int reach = 0;

        for (; reach < 3; reach++) {
            for (int side = 0; side < 2; side++)
                at[side][reach + 1] = gbees_image_near(image, at[side][reach], k, side);
            if (at[0][reach + 1] >= image->all || at[1][reach + 1] >= image->all)
                break;
        }
        for (int j = 0; j < image->n && reach > 0; j++) {
            double difference = 0;

            for (int r = 0; r <= reach; r++)
                for (int side = 0; side < (r ? 2 : 1); side++)
                    difference += binomial[reach - 1][r] * image->value[at[side][r] * values + (size_t)j];
            most = fmax(most, fabs(difference) * scale[reach - 1]);
        }
    }
    return most;
}

/* How many points to each side are enough: two if the quartic's last term, one if the quadratic's next, is small in
 * cells and in log mass; three if that can't be told. */
static int reach_at(const gbees_image *image, uint32_t i)
{
    const size_t values = (size_t)image->values;
    const double small = 1e-3;
    int reach = 1;

    for (int k = 0; k < image->n && reach < 3; k++) {
        const double *at[2][4];

        for (int side = 0; side < 2; side++) {
            uint32_t next = i;

            for (int r = 0; r < 4; r++) {
                at[side][r] = next < image->all ? image->value + next * values : NULL;
                next = next < image->all ? gbees_image_near(image, next, k, side) : GBEES_NO_POINT;
            }
        }
        if (!at[0][2] || !at[1][2])
            return 3;
        for (size_t f = 0; f < values; f++) {
            const double first = at[1][1][f] - at[0][1][f], second = at[1][2][f] - at[0][2][f],
                         third = fabs(second - 2 * first) / 2 / 16;

            if (third > small && (!at[0][3] || !at[1][3]))
                return 3;
            if (third > small)
                reach = fabs(at[1][3][f] - at[0][3][f] - 4 * second + 5 * first) / 2 * 0.0117 > small ? 3
                        : reach > 2                                                                   ? reach
                                                                                                      : 2;
        }
    }
    return reach;
}

static void differ_part(void *context, size_t part)
{
    const making *m = context;
    gbees_image *image = m->image;
    const int n = image->n;
    const size_t values = (size_t)image->values, end = gbees_workers_first(image->count, part + 1);

    for (size_t i = gbees_workers_first(image->count, part); i < end; i++) {
        for (int k = 0; k < n; k++) {
            double *slope = image->slope + (i * (size_t)n + (size_t)k) * values;

            for (size_t f = 0; f < values; f++)
                slope[f] = difference(image, image->value + f, (uint32_t)i, k);
        }
        m->error[i] = error_at(image, (uint32_t)i);
        image->reach[i] = (unsigned char)reach_at(image, (uint32_t)i);
    }
}

static void set_means(const making *m)
{
    gbees_image *image = m->image;

    for (uint32_t i = 0; i < image->count; i++) {
        const double log_mass = image->value[(size_t)i * (size_t)image->values + (size_t)image->n],
                     mass = exp(log_mass);

        for (int k = 0; k < image->n; k++) {
            const double slope = gbees_image_slope(image, i, k)[image->n];

            image->fisher[k] += mass * slope * slope;
        }
        image->misplaced += mass * m->error[i];
        image->typical += mass * log_mass;
    }
}

static int make(making *m, int threads, gbees_error *error)
{
    const gbees_lattice *lattice = m->lattice;
    gbees_image *image = m->image;
    const size_t n = (size_t)image->n;

    number_points(m);
    image->value = gbees_array_create(image->count * (n + 1), sizeof *image->value);
    image->near = gbees_array_create(image->count * 2 * n, sizeof *image->near);
    image->reach = gbees_array_create(image->count, 1);
    image->slope = gbees_array_create(image->count * n * (n + 1), sizeof *image->slope);
    m->error = gbees_array_create(image->count, sizeof *m->error);
    if (image->value && image->near && image->reach && image->slope && m->error) {
        gbees_workers_run(threads, GBEES_WORKERS_PARTS, fill_part, m);
        if (!complete_points(image)) {
            gbees_workers_run(threads, GBEES_WORKERS_PARTS, differ_part, m);
            set_means(m);
            return GBEES_OK;
        }
    }
    return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the density of a lattice of %u points",
                           lattice->count);
}

int gbees_image_create(const gbees_problem *problem, gbees_lattice *lattice, int threads, gbees_image **image,
                       gbees_error *error)
{
    making m = {.problem = problem, .lattice = lattice, .image = calloc(1, sizeof *m.image)};
    int status = gbees_lattice_index(lattice, error);

    m.point = gbees_array_create(lattice->count, sizeof *m.point);
    m.from = gbees_array_create(lattice->count, sizeof *m.from);
    if (!status && m.image && m.point && m.from) {
        m.image->n = problem->dimension;
        m.image->values = problem->dimension + 1;
        status = make(&m, threads, error);
    } else if (!status)
        status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the density of a lattice of %u points",
                                 lattice->count);
    free(m.point);
    free(m.from);
    free(m.error);
    if (status)
        gbees_image_destroy(m.image);
    else
        *image = m.image;
    return status;
}

/* ---- several lattices ---- */

/* Sets the fractions of the mass that images have, and the means over all; log_factor as in gbees_images_create().
 * Returns 1 if none has mass. */
static int set_fractions(gbees_images *images, gbees_lattice *const *lattice, const double *log_factor)
{
    double largest = -INFINITY, sum = 0, *const fraction = images->fraction;

    for (int l = 0; l < images->count; l++) {
        fraction[l] = images->image[l]->mass + (log_factor ? log_factor[l] : lattice[l]->log_volume);
        largest = fmax(largest, fraction[l]);
    }
    if (!isfinite(largest))
        return 1;
    for (int l = 0; l < images->count; l++)
        sum += fraction[l] = exp(fraction[l] - largest);
    for (int l = 0; l < images->count; l++) {
        fraction[l] /= sum;
        images->left_out += fraction[l] * images->image[l]->left_out;
        images->misplaced += fraction[l] * images->image[l]->misplaced;
    }
    return 0;
}

int gbees_images_create(gbees_images *images, const gbees_problem *problem, int count, gbees_lattice *const *lattice,
                        const double *log_factor, int threads, gbees_error *error)
{
    int status = GBEES_OK;

    *images = (gbees_images){.image = calloc((size_t)count, sizeof *images->image),
                             .fraction = calloc((size_t)count, sizeof *images->fraction)};
    if (!images->image || !images->fraction)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the densities of %d lattices", count);
    for (; images->count < count && !status; images->count++)
        status = gbees_image_create(problem, lattice[images->count], threads, &images->image[images->count], error);
    if (!status && set_fractions(images, lattice, log_factor))
        status =
            gbees_error_set(error, GBEES_ENUMERIC,
                            "no point of the density has a weight above 0 and a place that a cell's 32-bit index "
                            "can tell: give wider cells ('width', 'factor'), or write none: 'output: {densities: "
                            "none}'");
    return status;
}

void gbees_images_destroy(gbees_images *images)
{
    for (int l = 0; l < images->count; l++)
        gbees_image_destroy(images->image[l]);
    free(images->image);
    free(images->fraction);
}
