/* paper.c - the step and the prune of the published CPU code, cell for cell: bricks of one cell in double precision,
 * its rule at absent neighbours, its order of pruning.  Tests compare with its results (doc/paper.md, "Paper mode").
 *
 * The rule: nothing flows through a face whose lower cell is absent.  Through a face whose upper cell is absent the
 * donor cell flux and the corner terms of the lower cell flow out.  Transverse and limited terms need both cells of a
 * face.
 */
#include "engine.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GBEES_REAL double
#define GBEES_REAL_FN(name) name##_d
#include "numerics/ctu.h"

/* The velocities at a cell's upper faces, [n]. */
static const double *velocity_of(const gbees_engine *e, uint32_t slot)
{
    return e->rows.velocity + (size_t)slot * (size_t)e->g.shape.n;
}

/* The velocity at a cell's upper face decides about flow in both directions along its axis, as in the published code.
 */
void paper_inspect(gbees_engine *e, uint32_t from, double time)
{
    const gbees_problem *problem = e->problem;
    int n = e->g.shape.n;

#pragma omp parallel for num_threads(engine_threads(e, e->g.count - from)) schedule(static)
    for (uint32_t k = from; k < e->g.count; k++) {
        uint32_t slot = e->g.used[k];
        double *v = e->rows.velocity + (size_t)slot * (size_t)n, zero = 0, sum = 0;
        const double *at_origin[GBEES_MAX_DIM];
        double x[GBEES_MAX_DIM];

        engine_base(e, slot, x);
        for (int j = 0; j < n; j++)
            at_origin[j] = &zero;
        for (int j = 0; j < n; j++) {
            uint64_t *flow = e->rows.flow + (size_t)slot * (size_t)(2 * n) + 2 * j;

            x[j] += problem->width[j] / 2;
            problem->functions->component_d[j](1, time, x, at_origin, e->tables.parameters_d, &v[j]);
            x[j] -= problem->width[j] / 2;
            flow[0] = v[j] < 0;
            flow[1] = v[j] > 0;
            sum += fabs(v[j]) / problem->width[j];
        }
        e->rows.rate[slot] = sum;
    }
}

/* The transverse term of a cell along axis j. */
static double transverse(const gbees_engine *e, uint32_t slot, int j, double step)
{
    const double *p = e->rows.p;
    uint32_t below = grid_neighbor(&e->g, slot, 2 * j), above = grid_neighbor(&e->g, slot, 2 * j + 1);
    double um = below ? velocity_of(e, below)[j] : 0, u = above ? velocity_of(e, slot)[j] : 0;

    return gbees_ctu_transverse_d(p[below], p[slot], p[above], um, u, 0.5 * step / e->problem->width[j]);
}

/* The flux through the upper face of a cell; 0 for the null cell, so that nothing flows through a face whose lower
 * cell is absent. */
static double flux(const gbees_engine *e, uint32_t slot, int j, double step)
{
    const double *p = e->rows.p, *s = e->rows.s;
    double lambda = step / e->problem->width[j];

    if (!slot)
        return 0;
    uint32_t below = grid_neighbor(&e->g, slot, 2 * j), above = grid_neighbor(&e->g, slot, 2 * j + 1);
    double u = velocity_of(e, slot)[j];
    if (!above)
        return u > 0 ? u * (p[slot] - s[slot] + transverse(e, slot, j, step)) : 0;
    uint32_t above2 = grid_neighbor(&e->g, above, 2 * j + 1);
    double um = below ? velocity_of(e, below)[j] : 0, up = above2 ? velocity_of(e, above)[j] : 0;
    return gbees_ctu_flux_d(p[below], p[slot], p[above], p[above2], s[slot], s[above], um, u, up, lambda);
}

void paper_step(gbees_engine *e, double step, kernel_sums *sums)
{
    int n = e->g.shape.n;
    double *s = e->rows.s, *next = e->rows.next, mass = 0, clipped = 0;
    const double *p = e->rows.p;

#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) schedule(static)
    for (uint32_t k = 0; k < e->g.count; k++) {
        s[e->g.used[k]] = 0;
        for (int j = 0; j < n; j++)
            s[e->g.used[k]] += transverse(e, e->g.used[k], j, step);
    }
#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) schedule(static)
    for (uint32_t k = 0; k < e->g.count; k++) {
        uint32_t slot = e->g.used[k];
        double value = p[slot];

        for (int j = 0; j < n; j++) {
            double out = flux(e, slot, j, step), in = flux(e, grid_neighbor(&e->g, slot, 2 * j), j, step);

            value -= step / e->problem->width[j] * (out - in);
        }
        next[slot] = value;
    }
    for (uint32_t k = 0; k < e->g.count; k++) {
        uint32_t slot = e->g.used[k];

        clipped += next[slot] < 0 ? -next[slot] : 0;
        next[slot] = next[slot] < 0 ? 0 : next[slot];
        mass += next[slot];
    }
    /* The reference normalises before it compares with p*. */
    for (uint32_t k = 0; k < e->g.count; k++)
        e->rows.active[e->g.used[k]] = next[e->g.used[k]] / mass >= engine_threshold(e);
    sums->mass = mass;
    sums->clipped = clipped;
}

/* Whether an active cell flows into this one: a face neighbour, or an edge neighbour that a face neighbour leads to.
 */
static int is_fed(const gbees_engine *e, uint32_t slot)
{
    int n = e->g.shape.n;

    for (int d = 0; d < 2 * n; d++) {
        uint32_t face = grid_neighbor(&e->g, slot, d);
        const uint64_t *flow = e->rows.flow + (size_t)face * (size_t)(2 * n);

        if (!face)
            continue;
        if (e->rows.active[face] && flow[gbees_opposite(d)])
            return 1;
        for (int f = 0; f < 2 * n; f++) {
            uint32_t edge = f >> 1 == d >> 1 ? 0 : grid_neighbor(&e->g, face, f);
            const uint64_t *from = e->rows.flow + (size_t)edge * (size_t)(2 * n);

            if (edge && e->rows.active[edge] && from[gbees_opposite(d)] && from[gbees_opposite(f)])
                return 1;
        }
    }
    return 0;
}

/* Legacy mode: whether any of the 3^n - 1 neighbours is active. */
static int has_active_neighbor(const gbees_engine *e, uint32_t slot)
{
    int n = e->g.shape.n;
    int32_t key[GBEES_MAX_DIM];
    const int32_t *centre = grid_key(&e->g, slot);
    uint32_t neighbors = 1;

    for (int j = 0; j < n; j++)
        neighbors *= 3;
    for (uint32_t number = 0; number < neighbors; number++) {
        uint32_t digits = number;

        for (int j = 0; j < n; j++, digits /= 3)
            key[j] = centre[j] + (int32_t)(digits % 3) - 1;
        if (e->rows.active[grid_find(&e->g, key)])
            return 1;
    }
    return 0;
}

/* A cell that a prune may remove. */
typedef struct candidate {
    double p;
    uint32_t at; /* in the Used List */
} candidate;

/* For qsort(): in ascending order of P, then in the order of the Used List. */
static int compare_candidates(const void *a, const void *b)
{
    const candidate *x = a, *y = b;

    return x->p < y->p ? -1 : x->p > y->p ? 1 : x->at < y->at ? -1 : x->at > y->at;
}

/* Removes cells in ascending order of P, as long as P over the mass that is left is below p*. */
int paper_keep(gbees_engine *e, unsigned char *keep, gbees_error *error)
{
    const double *p = e->rows.p;
    candidate *list = malloc((e->g.count + 1u) * sizeof *list);
    uint32_t count = 0;
    double gone = 0;
    int legacy = e->problem->numerics.growth == GBEES_GROWTH_ALL;

    if (!list)
        return gbees_error_set(error, GBEES_ENOMEM, "out of memory while pruning %u cells", e->g.count);
    for (uint32_t k = 0; k < e->g.count; k++) {
        uint32_t slot = e->g.used[k];

        keep[k] = 1;
        if (!e->rows.active[slot] && !(legacy ? has_active_neighbor(e, slot) : is_fed(e, slot)))
            list[count++] = (candidate){p[slot], k};
    }
    qsort(list, count, sizeof *list, compare_candidates);
    for (uint32_t i = 0; i < count; i++) {
        gone += list[i].p;
        if (!(list[i].p / (1 - gone) < engine_threshold(e)))
            break;
        keep[list[i].at] = 0;
    }
    free(list);
    return 0;
}
