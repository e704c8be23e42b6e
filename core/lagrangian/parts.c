/* parts.c - interpolates along one axis of the lattice after the other. see parts.h. */
#include "parts.h"
#include "base/array.h"
#include "base/clones.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    REACH = 3,
    POINTS = 2 * REACH + 1, /* of a line, at most */
    SAMPLES = 256           /* cells from which the number of parts is estimated */
};

/* A lattice cell's parts are at least so short that weights change little: this over the root of the mean square of
 * the log weight's derivative. */
#ifndef EXTENT
#define EXTENT 0.45
#endif

void gbees_parts_prepare(gbees_parts *parts, const gbees_image *image, double width)
{
    *parts = (gbees_parts){.image = image, .width = width};
    for (int k = 0; k < image->n; k++) {
        const double wanted = ceil(sqrt(image->fisher[k]) / EXTENT);

        parts->least[k] = wanted < 1 ? 1 : wanted < 8 ? (int)wanted : 8;
    }
}

void gbees_parts_close(gbees_parts *parts)
{
    for (int k = 0; k <= GBEES_DIVIDE_MOST; k++)
        free(parts->weight[k]);
    free(parts->memory);
}

/* ---- weights of a line's points ---- */

/* How far lines reach to each side: the interpolation's cost is a power of it. */
static int reach_of(int n)
{
    return n <= 4 ? REACH : n == 5 ? 2 : 1;
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
static int line_of(const gbees_image *image, uint32_t point, int axis, uint32_t *line, int *left)
{
    const int reach = reach_of(image->n);
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

/* to[f][layer][q] = sum over r of weight[layer][r] line[r][f][q], for `layers` layers of `block` parts. */
GBEES_PROCESSOR_CLONES static void combine(const double *weight, int points, const double *line, size_t values,
                                           size_t block, size_t layers, double *to, size_t stride)
{
    for (size_t f = 0; f < values; f++)
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
        points = line_of(parts->image, point, axis, line, left);
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
    combine(weight, points, parts->line[level], values, parts->block[level - 1], (size_t)count, to,
            parts->block[level]);
    return 0;
}

/* ---- a cell ---- */

/* Chooses the numbers of parts of the cell around a point; returns that of all. */
static double divide(const gbees_image *image, uint32_t point, const int *least, double width, int *count)
{
    const int n = image->n;
    double edge[GBEES_MATRIX];

    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            edge[j * n + k] = gbees_image_slope(image, point, k)[j];
    memcpy(count, least, (size_t)n * sizeof *count);
    return gbees_divide(n, edge, width, count);
}

double gbees_parts_expect(const gbees_image *image, double width)
{
    const uint32_t step = image->count / SAMPLES + 1;
    gbees_parts parts;
    double sum = 0;

    gbees_parts_prepare(&parts, image, width);
    for (uint32_t i = 0; i < image->count; i += step)
        sum += divide(image, i, parts.least, width, parts.count);
    return sum * step;
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

int gbees_parts_open(gbees_parts *parts, uint32_t point)
{
    const gbees_image *image = parts->image;
    const int n = image->n;

    divide(image, point, parts->least, parts->width, parts->count);
    set_order(parts);
    if (set_memory(parts))
        return 1;
    parts->layer = 0;
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
    combine(weight + parts->layer * POINTS, parts->left + 1 + parts->right, parts->line[n], (size_t)n + 1, block,
            layers, parts->place[0], parts->most);
    parts->layer += layers;
    return 1;
}
