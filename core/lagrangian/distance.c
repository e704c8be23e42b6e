/* distance.c - see distance.h. */
#include "distance.h"
#include <math.h>
#include <stdlib.h>

/* ---- marginals ---- */

/* The probability below edge k of a smooth line, which may lie outside of it. */
static double below_edge(const gbees_smooth_line *smooth, double k)
{
    return k <= 0 ? 0 : k >= (double)smooth->length ? 1 : smooth->below[(size_t)k];
}

/* The probability below a place: Lagrange's polynomial through the six edges next to it. */
static double below_place(const gbees_smooth_line *smooth, double place)
{
    const double at = (place - smooth->low) / smooth->width, first = floor(at) - 2, u = at - first;
    double sum = 0;

    if (!(at > 0) || at >= (double)smooth->length)
        return at > 0;
    for (int i = 0; i < 6; i++) {
        double weight = 1;

        for (int k = 0; k < 6; k++)
            weight *= k == i ? 1 : (u - k) / (i - k);
        sum += weight * below_edge(smooth, first + i);
    }
    return sum;
}

/* The integral of the absolute value of a linear function with these values at the ends. */
static double area_between(double from, double to, double length)
{
    return length * (from * to >= 0 ? fabs(from + to) / 2 : (from * from + to * to) / (2 * (fabs(from) + fabs(to))));
}

/* Both distribution functions are followed over the edges of both lines in their order. */
gbees_line_distance gbees_line_compare(const gbees_marginal_line *line, const gbees_smooth_line *smooth)
{
    gbees_line_distance found = {0};
    double sum = 0, below = 0, apart = 0, apart_edge = 0, last = fmin(line->low, smooth->low);
    size_t i = 0, k = 0;

    for (size_t entry = 0; entry < line->length; entry++)
        sum += line->p[entry];
    while (i <= line->length || k <= smooth->length) {
        const double edge = i <= line->length ? line->low + (double)i * line->width : INFINITY,
                     other = k <= smooth->length ? smooth->low + (double)k * smooth->width : INFINITY,
                     place = fmin(edge, other), inside = (place - line->low) / line->width - ((double)i - 1),
                     own = i == 0             ? 0
                           : i > line->length ? 1
                                              : below + line->p[i - 1] / sum * fmin(fmax(inside, 0), 1),
                     now = own - (other <= edge ? smooth->below[k] : below_place(smooth, place));

        found.wasserstein += area_between(apart, now, place - last);
        last = place;
        apart = now;
        k += other <= edge;
        if (edge > other)
            continue;
        found.kolmogorov = fmax(found.kolmogorov, fabs(now));
        found.variation += fabs(now - apart_edge) / 2;
        apart_edge = now;
        below = own;
        i++;
    }
    found.variation += fabs(apart_edge) / 2; /* what is beyond the last edge */
    return found;
}

double gbees_line_thinness(const gbees_marginal_line *of)
{
    double information = 0, sum = 0, low = 0;

    for (size_t i = 0; i <= of->length; i++) {
        const double high = i < of->length ? fmax(of->p[i], 0) : 0, root = sqrt(high) - sqrt(low);

        information += 4 * root * root;
        sum += high;
        low = high;
    }
    return sqrt(sum / information);
}

/* ---- joint densities ---- */

/* The order of two cells: below 0, 0, or above. */
static int order_of(int n, const gbees_initial_cells *a, size_t i, const gbees_initial_cells *b, size_t k)
{
    for (int j = 0; j < n; j++)
        if (a->index[j][i] != b->index[j][k])
            return a->index[j][i] < b->index[j][k] ? -1 : 1;
    return 0;
}

gbees_cells_distance gbees_cells_compare(int n, const gbees_initial_cells *a, const gbees_initial_cells *b)
{
    double aa = 0, ab = 0, bb = 0, apart = 0;

    for (size_t i = 0, k = 0; i < a->count || k < b->count;) {
        const int order = i == a->count ? 1 : k == b->count ? -1 : order_of(n, a, i, b, k);
        const double p = order <= 0 ? a->p[i++] : 0, q = order >= 0 ? b->p[k++] : 0;

        aa += p * p;
        ab += p * q;
        bb += q * q;
        apart += fabs(p - q);
    }
    return (gbees_cells_distance){fmin(1, ab / sqrt(aa * bb)), fmin(1, apart / 2)};
}

/* Widens [*lo, *hi] to the indices of cells along an axis. */
static void widen(const gbees_initial_cells *cells, int axis, int32_t *lo, int32_t *hi)
{
    for (size_t i = 0; i < cells->count; i++) {
        *lo = cells->index[axis][i] < *lo ? cells->index[axis][i] : *lo;
        *hi = cells->index[axis][i] > *hi ? cells->index[axis][i] : *hi;
    }
}

int gbees_cells_compare_along(int n, const gbees_initial_cells *a, const gbees_initial_cells *b, double *wasserstein,
                              double *kolmogorov)
{
    for (int j = 0; j < n; j++) {
        int32_t lo = INT32_MAX, hi = INT32_MIN;
        double apart = 0;

        wasserstein[j] = kolmogorov[j] = 0;
        widen(a, j, &lo, &hi);
        widen(b, j, &lo, &hi);
        double *more = lo <= hi ? calloc((size_t)((int64_t)hi - lo) + 1, sizeof *more) : NULL;
        if (!more)
            return lo <= hi;
        for (size_t i = 0; i < a->count; i++)
            more[(int64_t)a->index[j][i] - lo] += a->p[i];
        for (size_t i = 0; i < b->count; i++)
            more[(int64_t)b->index[j][i] - lo] -= b->p[i];
        for (int64_t k = 0; k <= (int64_t)hi - lo; k++) {
            apart += more[k];
            wasserstein[j] += fabs(apart);
            kolmogorov[j] = fmax(kolmogorov[j], fabs(apart));
        }
        free(more);
    }
    return 0;
}
