/* dense_split.h - the split scheme on a dense box (dense.h), line by line with plain loops: what the backend's sweeps
 * along pencils of bricks are held against. */
#ifndef GBEES_TESTS_DENSE_SPLIT_H
#define GBEES_TESTS_DENSE_SPLIT_H

#include "dense.h"
#include "gbees/problem.h"
#include "numerics/qualifier.h"

#define GBEES_REAL double
#define GBEES_REAL_FN(name) name##_d
#include "numerics/split.h"

#include "numerics/split7.h"
#undef GBEES_REAL
#undef GBEES_REAL_FN

enum { SPLIT_LINE = 4096, SPLIT_REACH = 16 };

/* A scheme's form: bits. */
enum { SPLIT_PRESERVING = 1, SPLIT_SEVENTH = 2 };

static inline int split_form(gbees_scheme scheme)
{
    return (gbees_scheme_is_preserving(scheme) ? SPLIT_PRESERVING : 0) |
           (gbees_scheme_order(scheme) == 7 ? SPLIT_SEVENTH : 0);
}

/* The mass through face f, with both sides' shares. */
static inline double split_mass(const double *p, const double *u, double lambda, int diverging, int form)
{
    int preserving = form & SPLIT_PRESERVING;

    return form & SPLIT_SEVENTH ? gbees_split7_mass_d(p[-4], p[-3], p[-2], p[-1], p[0], p[1], p[2], p[3], u[-1], u[0],
                                                      u[1], lambda, diverging, preserving)
                                : gbees_split5_mass_d(p[-3], p[-2], p[-1], p[0], p[1], p[2], u[-1], u[0], u[1],
                                                      lambda, diverging, preserving);
}

/* The sweep along a run of cells: four cells on each side of it, two faces (faces -1 .. count + 1). */
static inline void split_run(double *p, const double *u, int count, double lambda, int form)
{
    double mass[SPLIT_LINE + 1];

    for (int f = 0; f <= count; f++)
        mass[f] = split_mass(p + f, u + f, lambda, 1, form);
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
static inline void split_line(dense *d, long first, int axis, double lambda, int form, int reach)
{
    const int size = d->size[axis];
    const long stride = d->stride[axis];
    const int pad = reach + 3;
    double p[SPLIT_LINE + 2 * (SPLIT_REACH + 3)] = {0}, u[SPLIT_LINE + 3];

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
            split_run_far(p + pad, u + 1, end - i, lambda, form & SPLIT_PRESERVING, reach, d->periodic);
        else
            split_run(p + pad, u + 1, end - i, lambda, form);
        for (int k = 0; k < end - i; k++)
            d->p[first + (i + k) * stride] = p[k + pad];
        i = end;
    }
}

static inline void split_sweep(dense *d, int axis, double step, int form, int reach)
{
    for (long cell = 0; cell < d->cells; cell++)
        if (dense_coordinate(d, cell, axis) == 0)
            split_line(d, cell, axis, step / d->width[axis], form, reach);
}

/* Step number 0, 1, ...: the axes in turn from the first on, from the second on after two steps, and so forth; every
 * second step backwards. form: of the scheme; reach > 1: Courant numbers up to that.
 */
static inline void split_step_to(dense *d, uint64_t number, double step, int form, int reach)
{
    int order[DENSE_DIM];

    for (int k = 0; k < d->n; k++)
        order[k] = (int)((number / 2 + (uint64_t)k) % (uint64_t)d->n);
    for (int k = 0; k < d->n; k++)
        split_sweep(d, order[number % 2 ? d->n - 1 - k : k], step, form, reach);
}

static inline void split_step(dense *d, uint64_t number, double step, int form)
{
    split_step_to(d, number, step, form, 1);
}

#endif
