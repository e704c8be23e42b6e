/* dense_split.h - the split scheme on a dense box (dense.h), line by line with plain loops: what the backend's sweeps
 * along pencils of bricks are held against. */
#ifndef GBEES_TESTS_DENSE_SPLIT_H
#define GBEES_TESTS_DENSE_SPLIT_H

#include "dense.h"
#include "numerics/qualifier.h"

#define GBEES_REAL double
#define GBEES_REAL_FN(name) name##_d
#include "numerics/split.h"
#undef GBEES_REAL
#undef GBEES_REAL_FN

enum { SPLIT_LINE = 1024 };

/* The sweep along a run of cells: three cells on each side of it, two faces (faces -1 .. count + 1). */
static inline void split_run(double *p, const double *u, int count, double lambda, int preserving)
{
    double mass[SPLIT_LINE + 1];

    for (int f = 0; f <= count; f++)
        mass[f] = gbees_split5_mass_d(p[f - 3], p[f - 2], p[f - 1], p[f], p[f + 1], p[f + 2], u[f - 1], u[f],
                                      u[f + 1], lambda, 1, preserving);
    for (int i = 0; i < count; i++)
        p[i] += mass[i] - mass[i + 1];
}

/* One line of a box: each run of present cells by itself, with nothing around it; a periodic line is one run. */
static inline void split_line(dense *d, long first, int axis, double lambda, int preserving)
{
    const int size = d->size[axis];
    const long stride = d->stride[axis];
    double p[SPLIT_LINE + 6] = {0}, u[SPLIT_LINE + 3];

    for (int i = 0; i < size;) {
        int end = i;

        while (end < size && d->present[first + end * stride])
            end++;
        if (end == i) {
            i++;
            continue;
        }
        for (int k = -3; k < end - i + 3; k++) {
            int at = i + k, inside = d->periodic || (k >= 0 && k < end - i);

            p[k + 3] = inside ? d->p[first + (at + size) % size * stride] : 0;
        }
        for (int f = -1; f <= end - i + 1; f++) { /* beyond the box nothing is there to be moved */
            int at = i + f - 1;

            if (!d->periodic)
                at = at < 0 ? 0 : at < size ? at : size - 1;
            u[f + 1] = d->v[axis][first + (at + size) % size * stride];
        }
        split_run(p + 3, u + 1, end - i, lambda, preserving);
        for (int k = 0; k < end - i; k++)
            d->p[first + (i + k) * stride] = p[k + 3];
        i = end;
    }
}

static inline void split_sweep(dense *d, int axis, double step, int preserving)
{
    for (long cell = 0; cell < d->cells; cell++)
        if (dense_coordinate(d, cell, axis) == 0)
            split_line(d, cell, axis, step / d->width[axis], preserving);
}

/* Step number 0, 1, ...: the axes in turn from the first on, from the second on after two steps, and so forth; every
 * second step backwards. preserving: with the monotonicity-preserving bounds. */
static inline void split_step(dense *d, uint64_t number, double step, int preserving)
{
    int order[DENSE_DIM];

    for (int k = 0; k < d->n; k++)
        order[k] = (int)((number / 2 + (uint64_t)k) % (uint64_t)d->n);
    for (int k = 0; k < d->n; k++)
        split_sweep(d, order[number % 2 ? d->n - 1 - k : k], step, preserving);
}

#endif
