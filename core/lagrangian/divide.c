/* divide.c - divides along the axis by which most is won, and reduces the edges of what results, as lattices are
 * reduced; see divide.h. */
#include "divide.h"
#include "base/clones.h"
#include <math.h>
#include <string.h>

enum { ROUNDS = 8 /* of reductions, at most */ };

/* The edges of a part: their images over the width of a part, and their own coordinates over the longest that these
 * may be. */
typedef struct reduced {
    int n;
    double edge[GBEES_MAX_DIM][2 * GBEES_MAX_DIM];
} reduced;

static inline double product(int size, const double *a, const double *b)
{
    double sum = 0;

    for (int j = 0; j < size; j++)
        sum += a[j] * b[j];
    return sum;
}

/* Subtracts whole multiples of the edges from each other until none becomes shorter. */
static inline void reduce(reduced *r)
{
    const int n = r->n;
    int changed = 1;

    for (int round = 0; round < ROUNDS && changed; round++) {
        changed = 0;
        for (int k = 0; k < n; k++) {
            const double square = product(2 * n, r->edge[k], r->edge[k]);

            for (int i = 0; i < n; i++) {
                const double times = i == k ? 0 : rint(product(2 * n, r->edge[i], r->edge[k]) / square);

                for (int j = 0; j < 2 * n && times != 0; j++)
                    r->edge[i][j] -= times * r->edge[k][j];
                changed |= times != 0;
            }
        }
    }
}

/* Reduces the cell with so many parts. Sets *widest to the largest extent of a part over `width`; returns the sum of
 * their squares. */
GBEES_PROCESSOR_CLONES static double extents(int n, const double *edge, const double *length, double width,
                                             const int *count, double *widest)
{
    reduced r = {.n = n};
    double sum = 0, most = 0;

    for (int k = 0; k < n; k++) {
        for (int j = 0; j < n; j++)
            r.edge[k][j] = edge[j * n + k] / (width * count[k]);
        r.edge[k][n + k] = 1 / (length[k] * count[k]);
    }
    reduce(&r);
    for (int j = 0; j < n; j++) {
        double square = 0;

        for (int k = 0; k < n; k++)
            square += r.edge[k][j] * r.edge[k][j];
        most = fmax(most, square);
        sum += square;
    }
    *widest = sqrt(most);
    return sum;
}

/* The next larger number of parts along an axis that is used, the double if there is `far` to go; or the same if
 * there is none. */
static int next_count(int count, int far)
{
    const int step = far ? count : count < 8 ? 1 : count < 16 ? 2 : count < 32 ? 4 : 8;

    return count + step > GBEES_DIVIDE_MOST ? count : count + step;
}

/* Divides once more along the axis by which the parts become smallest. Returns 0 if there are as many as may be. */
static int divide_more(int n, const double *edge, const double *length, double width, int *count, double *widest)
{
    double best = INFINITY, all = 1;
    const int far = *widest > 3;
    int axis = -1;

    for (int k = 0; k < n; k++)
        all *= count[k];
    for (int k = 0; k < n; k++) {
        const int before = count[k];
        double tried = 0;

        count[k] = next_count(before, far);
        const double sum =
            count[k] > before && all / before * count[k] <= GBEES_DIVIDE_ALL
                ? extents(n, edge, length, width, count, &tried) * pow((double)count[k] / before, 1. / n)
                : INFINITY;
        if (sum < 0.98 * best) { /* not by a hair: neighbouring cells would differ by rounding, and that shows */
            best = sum;
            axis = k;
            *widest = tried;
        }
        count[k] = before;
    }
    if (axis >= 0)
        count[axis] = next_count(count[axis], far);
    return axis >= 0;
}

double gbees_divide(int n, const double *edge, const double *length, double width, int *count)
{
    double widest, all = 1;

    extents(n, edge, length, width, count, &widest);
    while (widest > 1 && divide_more(n, edge, length, width, count, &widest))
        ;
    for (int k = 0; k < n; k++)
        all *= count[k];
    return all;
}
