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

enum { SPLIT_LINE = 1024, SPLIT_REACH = 16 };

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

/* The same with Courant numbers up to `reach`: reach + 2 cells on each side.  A periodic run is bounded all the way
 * round, several times: a chain of bounds has its start at some cell where nothing comes in, or changes nothing. */
static inline void split_run_far(double *p, const double *u, int count, double lambda, int preserving, int reach,
                                 int periodic)
{
    double mass[SPLIT_LINE + 1] = {0};

    for (int f = 0; f <= count; f++)
        mass[f] = gbees_split5_far_d(p + f - 1, 1, u[f - 1], u[f], u[f + 1], lambda, reach, preserving);
    for (int turn = 0; turn < (periodic ? 3 : 1); turn++) {
        for (int i = 0; i < count; i++)
            if (mass[i + 1] > 0)
                mass[i + 1] = gbees_split5_bound_d(mass[i + 1], p[i], fmax(mass[i], 0));
        mass[0] = periodic ? mass[count] : mass[0];
        for (int i = count - 1; i >= 0; i--)
            if (mass[i] < 0)
                mass[i] = -gbees_split5_bound_d(-mass[i], p[i], fmax(-mass[i + 1], 0));
        mass[count] = periodic ? mass[0] : mass[count];
    }
    for (int i = 0; i < count; i++)
        p[i] = gbees_split5_moved_d(p[i], mass[i], mass[i + 1]);
}

/* One line of a box: each run of present cells by itself, with nothing around it; a periodic line is one run. */
static inline void split_line(dense *d, long first, int axis, double lambda, int preserving, int reach)
{
    const int size = d->size[axis];
    const long stride = d->stride[axis];
    const int pad = reach + 2;
    double p[SPLIT_LINE + 2 * (SPLIT_REACH + 2)] = {0}, u[SPLIT_LINE + 3];

    for (int i = 0; i < size;) {
        int end = i;

        while (end < size && d->present[first + end * stride])
            end++;
        if (end == i) {
            i++;
            continue;
        }
        for (int k = -pad; k < end - i + pad; k++) {
            int at = i + k, inside = d->periodic || (k >= 0 && k < end - i);

            p[k + pad] = inside ? d->p[first + (at + SPLIT_REACH * size) % size * stride] : 0;
        }
        for (int f = -1; f <= end - i + 1; f++) { /* beyond the box nothing is there to be moved */
            int at = i + f - 1;

            if (!d->periodic)
                at = at < 0 ? 0 : at < size ? at : size - 1;
            u[f + 1] = d->v[axis][first + (at + size) % size * stride];
        }
        if (reach > 1)
            split_run_far(p + pad, u + 1, end - i, lambda, preserving, reach, d->periodic);
        else
            split_run(p + pad, u + 1, end - i, lambda, preserving);
        for (int k = 0; k < end - i; k++)
            d->p[first + (i + k) * stride] = p[k + pad];
        i = end;
    }
}

static inline void split_sweep(dense *d, int axis, double step, int preserving, int reach)
{
    for (long cell = 0; cell < d->cells; cell++)
        if (dense_coordinate(d, cell, axis) == 0)
            split_line(d, cell, axis, step / d->width[axis], preserving, reach);
}

/* Step number 0, 1, ...: the axes in turn from the first on, from the second on after two steps, and so forth; every
 * second step backwards. preserving: with the monotonicity-preserving bounds; reach > 1: Courant numbers up to that.
 */
static inline void split_step_to(dense *d, uint64_t number, double step, int preserving, int reach)
{
    int order[DENSE_DIM];

    for (int k = 0; k < d->n; k++)
        order[k] = (int)((number / 2 + (uint64_t)k) % (uint64_t)d->n);
    for (int k = 0; k < d->n; k++)
        split_sweep(d, order[number % 2 ? d->n - 1 - k : k], step, preserving, reach);
}

static inline void split_step(dense *d, uint64_t number, double step, int preserving)
{
    split_step_to(d, number, step, preserving, 1);
}

#endif
