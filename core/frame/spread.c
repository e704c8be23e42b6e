/* spread.c - adds P of cells at their centres to a dense array, and convolves it with what one cell is: along each of
 * its edges the spline (a histospline, of cubic pieces) that has the average 1 over the cell and 0 over all others.
 * In frequencies that is a product, whatever the edges. */
#include "base/array.h"
#include <gbees/spread.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STATES = GBEES_SPREAD_STATES, POINTS = 4, MARGIN = 4 /* entries beyond all that cells reach */ };

/* How far splines reach, in roots of the sum of the squares of all edges, by the number of states: they become
 * smaller by 0.36 from cell to cell, and what is beyond comes in again at the other end. */
static const double reach[STATES] = {24, 8, 6};

struct gbees_spread_work {
    size_t count; /* entries in all */
    double *z;    /* [count][2]: complex numbers */
    double *row;  /* [longest][2], of the longest axis */
    size_t turns; /* its length */
    double *turn; /* [turns / 2][2]: exp(-2 pi i k / turns) */
};

/* ---- the array's shape -------------------------------------------------------------------------------------- */

/* The length along a state, through its centre, of the ellipsoid that has the edges' second moments: of a cell that
 * is thin and oblique it is less than the cell's extent. */
static double find_slice(int dimension, const gbees_spread_edges *edges, int state)
{
    double e[STATES][STATES] = {{0}};

    for (int i = 0; i < dimension; i++)
        for (int j = 0; j < dimension; j++)
            for (int k = 0; k < edges->count; k++)
                e[i][j] += edges->along[i * edges->count + k] * edges->along[j * edges->count + k];
    const double whole = e[state][state];
    for (int r = 0; r < dimension; r++)
        for (int i = 0; i < dimension && r != state && e[r][r] > 0; i++)
            for (int j = 0; j < dimension && i != r; j++)
                e[i][j] -= j == r ? 0 : e[i][r] * e[r][j] / e[r][r];
    return sqrt(fmax(e[state][state], 1e-12 * whole));
}

/* How far splines reach along a state from the cells' centres. */
static double find_reach(const gbees_spread_shape *shape, int state)
{
    const double *edge = shape->edges.along + state * shape->edges.count;
    double sum = 0;

    for (int j = 0; j < shape->edges.count; j++)
        sum += edge[j] * edge[j];
    return reach[shape->dimension - 1] * sqrt(sum);
}

/* Sets lengths and widths: powers of two, as narrow as is asked for, or as the limit allows. */
static void set_shape(const gbees_spread_shape *shape, gbees_spread *s)
{
    double range[STATES], count = 1;

    for (int d = 0; d < STATES; d++) {
        s->length[d] = 1;
        if (d >= shape->dimension)
            continue;
        range[d] = shape->most[d] - shape->least[d] + 2 * find_reach(shape, d);
        const double slice = find_slice(shape->dimension, &shape->edges, d);
        for (s->length[d] = 4 * MARGIN;
             (double)(s->length[d] - 2 * MARGIN) * slice < shape->entries * range[d] && s->length[d] < shape->limit;)
            s->length[d] *= 2;
        count *= (double)s->length[d];
    }
    while (count > (double)shape->limit) {
        int longest = 0;

        for (int d = 1; d < shape->dimension; d++)
            longest = s->length[d] > s->length[longest] ? d : longest;
        if (s->length[longest] <= 4 * MARGIN)
            break;
        s->length[longest] /= 2;
        count /= 2;
    }
    for (int d = 0; d < shape->dimension; d++) {
        s->width[d] = range[d] / (double)(s->length[d] - 2 * MARGIN);
        s->origin[d] = shape->least[d] - find_reach(shape, d) - (MARGIN - 0.5) * s->width[d];
    }
}

static int allocate(gbees_spread *s, gbees_error *error)
{
    struct gbees_spread_work *w = s->work = calloc(1, sizeof *w);

    if (w) {
        w->count = 1;
        for (int d = 0; d < STATES; d++) {
            w->count *= s->length[d];
            w->turns = s->length[d] > w->turns ? s->length[d] : w->turns;
        }
        s->p = gbees_array_create(w->count, sizeof *s->p);
        w->z = gbees_array_create(w->count, 2 * sizeof *w->z);
        w->row = malloc(2 * w->turns * sizeof *w->row);
        w->turn = malloc(w->turns * sizeof *w->turn);
    }
    if (!w || !s->p || !w->z || !w->row || !w->turn)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a marginal of a moving grid");
    memset(w->z, 0, 2 * w->count * sizeof *w->z);
    for (size_t k = 0; k < w->turns / 2; k++) {
        w->turn[2 * k] = cos(2 * M_PI * (double)k / (double)w->turns);
        w->turn[2 * k + 1] = -sin(2 * M_PI * (double)k / (double)w->turns);
    }
    return GBEES_OK;
}

int gbees_spread_create(const gbees_spread_shape *shape, gbees_spread **spread, gbees_error *error)
{
    gbees_spread *made = calloc(1, sizeof *made);

    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a marginal of a moving grid");
    made->dimension = shape->dimension;
    set_shape(shape, made);
    const int status = allocate(made, error);
    if (status)
        gbees_spread_destroy(made);
    else
        *spread = made;
    return status;
}

void gbees_spread_destroy(gbees_spread *spread)
{
    if (!spread)
        return;
    if (spread->work) {
        free(spread->work->z);
        free(spread->work->row);
        free(spread->work->turn);
    }
    free(spread->work);
    free(spread->p);
    free(spread);
}

/* ---- centres ------------------------------------------------------------------------------------------------ */

/* The weights of the four entries around a place, of which it is `u` behind the second: of cubic convolution, which
 * leave mean and variance as they are. */
static void weigh(double u, double weight[POINTS])
{
    weight[0] = u * (-0.5 + u * (1 - 0.5 * u));
    weight[1] = 1 + u * u * (-2.5 + 1.5 * u);
    weight[2] = u * (0.5 + u * (2 - 1.5 * u));
    weight[3] = u * u * (-0.5 + 0.5 * u);
}

void gbees_spread_add(gbees_spread *spread, size_t count, const double *const *x, const double *p)
{
    const int n = spread->dimension, points = n == 1 ? POINTS : n == 2 ? POINTS * POINTS : POINTS * POINTS * POINTS;

    for (size_t i = 0; i < count; i++) {
        double weight[STATES][POINTS];
        size_t first[STATES];
        int is_inside = 1;

        for (int d = 0; d < n; d++) {
            const double place = (x[d][i] - spread->origin[d]) / spread->width[d], below = floor(place);

            is_inside = is_inside && below >= 1 && below + 3 <= (double)spread->length[d];
            first[d] = is_inside ? (size_t)below - 1 : 0;
            weigh(place - below, weight[d]);
        }
        for (int point = 0; point < points && is_inside; point++) {
            double part = p[i];
            size_t at = 0;

            for (int d = 0, digits = point; d < n; d++, digits /= POINTS) {
                part *= weight[d][digits % POINTS];
                at = at * spread->length[d] + first[d] + (size_t)(digits % POINTS);
            }
            spread->work->z[2 * at] += part;
        }
    }
}

/* ---- frequencies -------------------------------------------------------------------------------------------- */

/* Puts the n entries of a row in the order of their reversed bits. */
static void reverse(double *row, size_t n)
{
    for (size_t i = 0, j = 0; i < n; i++) {
        if (i < j)
            for (int part = 0; part < 2; part++) {
                const double kept = row[2 * i + (size_t)part];

                row[2 * i + (size_t)part] = row[2 * j + (size_t)part];
                row[2 * j + (size_t)part] = kept;
            }
        size_t bit = n / 2;
        for (; bit > 0 && (j & bit); bit /= 2)
            j ^= bit;
        j |= bit;
    }
}

/* Transforms a row of n entries, a power of two, in place; back: the inverse, n times as large. */
static void transform(const struct gbees_spread_work *w, double *row, size_t n, int back)
{
    reverse(row, n);
    for (size_t half = 1; half < n; half *= 2)
        for (size_t k = 0; k < half; k++) {
            const double c = w->turn[2 * k * (w->turns / (2 * half))],
                         s = (back ? -1 : 1) * w->turn[2 * k * (w->turns / (2 * half)) + 1];

            for (size_t i = k; i < n; i += 2 * half) {
                double *a = row + 2 * i, *b = row + 2 * (i + half);
                const double re = b[0] * c - b[1] * s, im = b[0] * s + b[1] * c;

                b[0] = a[0] - re;
                b[1] = a[1] - im;
                a[0] += re;
                a[1] += im;
            }
        }
}

static void transform_all(const gbees_spread *spread, int back)
{
    const struct gbees_spread_work *w = spread->work;
    size_t inner = w->count;

    for (int d = 0; d < spread->dimension; d++) {
        const size_t n = spread->length[d], outer = inner;

        inner /= n;
        for (size_t row = 0; row < w->count / n; row++) {
            double *z = w->z + 2 * (row / inner * outer + row % inner);

            for (size_t k = 0; k < n; k++)
                memcpy(w->row + 2 * k, z + 2 * k * inner, 2 * sizeof *w->row);
            transform(w, w->row, n, back);
            for (size_t k = 0; k < n; k++)
                memcpy(z + 2 * k * inner, w->row + 2 * k, 2 * sizeof *w->row);
        }
    }
}

/* A cell of unit mass at a frequency. Along an edge a cubic B-spline has u^4, u = sin(h) / h with h half the phase
 * across the cell; and (96 - 80 sin^2(h) + 4 sin^4(h)) / 96 is what the averages of B-splines over cells, 230, 76 and
 * 1 of 384, have from cell to cell, by which it is to be divided. */
static double factor_at(const gbees_spread_edges *edges, int n, const double *frequency)
{
    double factor = 1;

    for (int k = 0; k < edges->count; k++) {
        double half = 0;

        for (int d = 0; d < n; d++)
            half += 0.5 * frequency[d] * edges->along[d * edges->count + k];
        const double sine = sin(half), square = sine * sine, uniform = fabs(half) > 1e-8 ? sine / half : 1;
        factor *= uniform * uniform * uniform * uniform / (1 - square * (5.0 / 6 - square / 24));
    }
    return factor;
}

void gbees_spread_finish(gbees_spread *spread, const gbees_spread_edges *edges)
{
    struct gbees_spread_work *w = spread->work;

    transform_all(spread, 0);
    for (size_t i = 0; i < w->count; i++) {
        double frequency[STATES];
        size_t rest = i;

        for (int d = spread->dimension - 1; d >= 0; d--) {
            const size_t n = spread->length[d], k = rest % n;

            frequency[d] = 2 * M_PI * ((double)k - (k > n / 2 ? (double)n : 0)) / ((double)n * spread->width[d]);
            rest /= n;
        }
        const double factor = factor_at(edges, spread->dimension, frequency) / (double)w->count;
        w->z[2 * i] *= factor;
        w->z[2 * i + 1] *= factor;
    }
    transform_all(spread, 1);
    for (size_t i = 0; i < w->count; i++)
        spread->p[i] = w->z[2 * i];
}
