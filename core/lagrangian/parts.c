/* parts.c - interpolates along one axis of the lattice after the other. see parts.h. */
#include "parts.h"
#include "base/array.h"
#include "base/clones.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    REACH = 3,
    POINTS = 2 * REACH + 1 /* of a line, at most */
};

/* The most by which the log mass rises in a lattice cell. */
#define LOG_RISE 3
/* The narrowest that a part is spread, in cells. */
#define NARROWEST 1e-3

void gbees_parts_prepare(gbees_parts *parts, const gbees_image *image, const int *count, double apart)
{
    *parts = (gbees_parts){.image = image, .apart = apart};
    memcpy(parts->all, count, (size_t)image->n * sizeof *count);
}

void gbees_parts_close(gbees_parts *parts)
{
    for (int k = 0; k <= GBEES_DIVIDE_MOST; k++)
        free(parts->weight[k]);
    free(parts->memory);
}

/* ---- weights of a line's points ---- */

/* How far lines reach to each side: if `axes` of the lattice are divided, the interpolation's cost is this power of
 * the lines' points. */
static int reach_of(int axes)
{
    return axes <= 4 ? REACH : axes == 5 ? 2 : 1;
}

/* Lagrange's weights at u of the points -left ... right. */
static void lagrange(double u, int left, int right, double *weight)
{
    for (int i = -left; i <= right; i++) {
        weight[i + left] = 1;
        for (int k = -left; k <= right; k++)
            weight[i + left] *= k == i ? 1 : (u - k) / (i - k);
    }
}

/* The weights for so many parts of a cell, [part][POINTS], of a line with `left` and `right` points beside the
 * centre; NULL: no memory. */
static const double *weights_of(gbees_parts *parts, int count, int left, int right)
{
    enum { SIDES = REACH + 1 };
    const size_t size = (size_t)count * POINTS;

    if (!parts->weight[count]) {
        double *made = gbees_array_create(SIDES * SIDES * size, sizeof *made);

        for (size_t i = 0; made && i < SIDES * SIDES * (size_t)count; i++) {
            const size_t side = i / (size_t)count, part = i % (size_t)count;

            lagrange(((double)part + 0.5) / count - 0.5, (int)(side / SIDES), (int)(side % SIDES), made + i * POINTS);
        }
        parts->weight[count] = made;
    }
    return parts->weight[count] ? parts->weight[count] + (size_t)(left * SIDES + right) * size : NULL;
}

/* ---- interpolation ---- */

/* Finds the points of a line through a point, at most POINTS, from the lowest on; *left of them are below it. Returns
 * their number. A line that begins or ends at the point reaches less far: it would amplify what it extrapolates. */
static int line_of(const gbees_image *image, uint32_t point, int axis, int reach, uint32_t *line, int *left)
{
    uint32_t side[2][REACH];
    int length[2] = {0};

    for (int upper = 0; upper < 2; upper++)
        for (uint32_t at = point; length[upper] < reach;) {
            at = gbees_image_near(image, at, axis, upper);
            if (at == GBEES_NO_POINT)
                break;
            side[upper][length[upper]++] = at;
        }
    for (int upper = 0; upper < 2; upper++)
        if (length[!upper] == 0 && length[upper] > 2)
            length[upper] = 2;
    *left = length[0];
    for (int i = 0; i < length[0]; i++)
        line[i] = side[0][length[0] - 1 - i];
    line[length[0]] = point;
    memcpy(line + length[0] + 1, side[1], (size_t)length[1] * sizeof *line);
    return length[0] + 1 + length[1];
}

/* to[f][layer][q] = sum over r of weight[layer][r] line[r][f][q], for `layers` layers of `block` parts; of all values
 * but the last that of `state` alone if it is not below 0. */
GBEES_PROCESSOR_CLONES static void combine(const double *weight, int points, const double *line, size_t values,
                                           int state, size_t block, size_t layers, double *to, size_t stride)
{
    for (size_t f = state < 0 ? 0 : (size_t)state; f < values; f = state < 0 || f + 1 == values ? f + 1 : values - 1)
        for (size_t p = 0; p < layers; p++) {
            double *row = to + f * stride + p * block;

            for (size_t q = 0; q < block; q++) {
                double sum = 0;

                for (int r = 0; r < points; r++)
                    sum += weight[p * POINTS + (size_t)r] * line[((size_t)r * values + f) * block + q];
                row[q] = sum;
            }
        }
}

/* Writes the values of the parts of the first `level` axes at a point, [value][block]. Returns 1 if there is no
 * memory. */
static int interpolate(gbees_parts *parts, uint32_t point, int level, double *to);

/* Writes the values at the points of a line, from which those of a level are made. Returns their number, 0 if there
 * is no memory. */
static int make_line(gbees_parts *parts, uint32_t point, int level, int *left)
{
    const size_t values = (size_t)parts->image->n + 1;
    const int axis = parts->order[level - 1];
    uint32_t line[POINTS] = {point};
    int points = 1;

    *left = 0;
    if (parts->count[axis] > 1)
        points = line_of(parts->image, point, axis, parts->reach, line, left);
    for (int r = 0; r < points; r++)
        if (interpolate(parts, line[r], level - 1, parts->line[level] + (size_t)r * values * parts->block[level - 1]))
            return 0;
    return points;
}

static int interpolate(gbees_parts *parts, uint32_t point, int level, double *to)
{
    const gbees_image *image = parts->image;
    const size_t values = (size_t)image->n + 1;
    int left;

    if (level == 0) {
        memcpy(to, image->value + (size_t)point * (size_t)image->values, values * sizeof *to);
        return 0;
    }
    const int count = parts->count[parts->order[level - 1]];
    if (count == 1)
        return interpolate(parts, point, level - 1, to);
    const int points = make_line(parts, point, level, &left);
    const double *weight = points ? weights_of(parts, count, left, points - 1 - left) : NULL;
    if (!weight)
        return 1;
    combine(weight, points, parts->line[level], values, parts->state, parts->block[level - 1], (size_t)count, to,
            parts->block[level]);
    return 0;
}

/* ---- a cell ---- */

/* Divides the cell around a point for cells of the grid. A quadratic B-spline has the variance of three uniform
 * distributions between its knots: that of one over a part's extent if this is the root of three times wider. */
static void divide_all(gbees_parts *parts, uint32_t point)
{
    const gbees_image *image = parts->image;

    gbees_divide_point(image, point, parts->all, parts->count);
    gbees_divide_extents(image, point, parts->count, parts->width);
    for (int j = 0; j < image->n; j++)
        parts->width[j] = fmin(fmax(parts->width[j] / sqrt(3), NARROWEST), GBEES_PARTS_WIDEST);
}

/* Divides the cell around a point along the axis across which state j changes most. */
static void divide_along(gbees_parts *parts, uint32_t point, int j)
{
    const int n = parts->image->n;
    double most = 0;
    int axis = 0;

    for (int k = 0; k < n; k++) {
        const double change = fabs(gbees_image_slope(parts->image, point, k)[j]);

        parts->count[k] = 1;
        axis = change > most ? k : axis;
        most = fmax(most, change);
    }
    const double distance = parts->apart, wanted = ceil(most / distance);

    parts->count[axis] = wanted < 1 ? 1 : wanted < GBEES_DIVIDE_MOST ? (int)wanted : GBEES_DIVIDE_MOST;
    parts->width[j] = fmin(fmax(distance, most / parts->count[axis]), GBEES_PARTS_WIDEST);
}

/* The largest log mass that the cell around a point may have: where weights differ by many orders, polynomials
 * through their logarithms swing. Each axis adds half the difference to the larger neighbour, or of what it would be
 * if it is missing, and what a logarithm that is as curved as a Gaussian's may exceed that by. */
static double log_limit(const gbees_image *image, uint32_t point)
{
    const double *value = image->value + image->n;
    const size_t values = (size_t)image->values;
    const double own = value[(size_t)point * values];
    double more = 0;

    for (int k = 0; k < image->n; k++) {
        double rise[2] = {0, 0};
        int there[2];

        for (int upper = 0; upper < 2; upper++) {
            const uint32_t near = gbees_image_near(image, point, k, upper);

            there[upper] = near != GBEES_NO_POINT;
            rise[upper] = there[upper] ? value[(size_t)near * values] - own : 0;
        }
        for (int upper = 0; upper < 2; upper++)
            rise[upper] = there[upper] ? rise[upper] : -rise[!upper];
        more += fmax(0, fmax(rise[0], rise[1])) / 2;
    }
    return own + fmin(more, LOG_RISE) + 0.25 * image->n;
}

/* Sorts the axes by their numbers of parts, so that the first levels, whose lines are the most, are the smallest. */
static void set_order(gbees_parts *parts)
{
    const int n = parts->image->n;

    for (int k = 0; k < n; k++) {
        int at = k;

        for (; at > 0 && parts->count[parts->order[at - 1]] > parts->count[k]; at--)
            parts->order[at] = parts->order[at - 1];
        parts->order[at] = k;
    }
    parts->block[0] = 1;
    for (int k = 0; k < n; k++)
        parts->block[k + 1] = parts->block[k] * (size_t)parts->count[parts->order[k]];
}

/* Divides the memory among lines and a batch. Returns 1 if there is none. */
static int set_memory(gbees_parts *parts)
{
    const int n = parts->image->n;
    const size_t values = (size_t)n + 1, layer = parts->block[n - 1];
    size_t size = 0, at[GBEES_MAX_DIM + 1];

    parts->most = layer > GBEES_PARTS_BATCH ? layer : GBEES_PARTS_BATCH / layer * layer;
    for (int k = 1; k <= n; k++) {
        at[k] = size;
        size += POINTS * values * parts->block[k - 1];
    }
    size += values * parts->most;
    if (size > parts->capacity) {
        free(parts->memory);
        parts->memory = gbees_array_create(size, sizeof *parts->memory);
        parts->capacity = parts->memory ? size : 0;
    }
    if (!parts->memory)
        return 1;
    for (int k = 1; k <= n; k++)
        parts->line[k] = parts->memory + at[k];
    double *next = parts->line[n] + POINTS * values * layer;
    for (int j = 0; j < n; j++, next += parts->most)
        parts->place[j] = next;
    parts->log_mass = next;
    return 0;
}

int gbees_parts_open(gbees_parts *parts, uint32_t point, int state)
{
    const int n = parts->image->n;
    int axes = 0;

    parts->state = state;
    if (state < 0)
        divide_all(parts, point);
    else
        divide_along(parts, point, state);
    for (int k = 0; k < n; k++)
        axes += parts->count[k] > 1;
    parts->reach = reach_of(axes);
    parts->reach = parts->reach < parts->image->reach[point] ? parts->reach : parts->image->reach[point];
    set_order(parts);
    if (set_memory(parts))
        return 1;
    parts->layer = 0;
    parts->log_most = log_limit(parts->image, point);
    parts->share = 1 / (double)parts->block[n];
    const int points = make_line(parts, point, n, &parts->left);
    parts->right = points - 1 - parts->left;
    return points == 0 || !weights_of(parts, parts->count[parts->order[n - 1]], parts->left, parts->right);
}

/* ---- a batch ---- */

int gbees_parts_next(gbees_parts *parts)
{
    const int n = parts->image->n, axis = parts->order[n - 1], count = parts->count[axis];
    const size_t block = parts->block[n - 1], left = (size_t)count - parts->layer,
                 layers = left < parts->most / block ? left : parts->most / block;
    const double *weight = weights_of(parts, count, parts->left, parts->right);

    if (layers == 0)
        return 0;
    parts->batch = layers * block;
    combine(weight + parts->layer * POINTS, parts->left + 1 + parts->right, parts->line[n], (size_t)n + 1,
            parts->state, block, layers, parts->place[0], parts->most);
    for (size_t t = 0; t < parts->batch; t++)
        parts->log_mass[t] = parts->log_mass[t] < parts->log_most ? parts->log_mass[t] : parts->log_most;
    parts->layer += layers;
    return 1;
}
