/* growth.c - which cells there are (paper, section 3.3): those above p*, and those that these flow into. Directions
 * are numbered 2j, down axis j, and 2j + 1, up axis j. */
#include "common/bound.h"
#include "common/failure.h"
#include "engine.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether probability flows out of a cell in a direction. As in the reference code, f at the upper face decides about
 * both directions along its axis. */
static int flows(const cell *c, int d)
{
    return d & 1 ? c->f[d >> 1] > 0 : c->f[d >> 1] < 0;
}

/* The number of the neighbour in a direction. */
static uint32_t beside(const cell *c, int d)
{
    return d & 1 ? c->above[d >> 1] : c->below[d >> 1];
}

/* Whether the model has noise in a cell, of which neither code knows. */
static int has_noise(const gbees_engine *e, const double *x, double time)
{
    const int entries = gbees_problem_noise(e->problem) == GBEES_FULL ? e->g.n * e->g.n : e->g.n;
    double zero = 0, Q[GBEES_MAX_DIM * GBEES_MAX_DIM], *out[GBEES_MAX_DIM * GBEES_MAX_DIM];
    const double *offset[GBEES_MAX_DIM];
    int found = 0;

    for (int k = 0; k < entries; k++)
        out[k] = &Q[k];
    for (int j = 0; j < e->g.n; j++)
        offset[j] = &zero;
    e->problem->functions->diffusion_d(1, time, x, offset, e->problem->parameters, out);
    for (int k = 0; k < entries; k++)
        found |= Q[k] != 0;
    return found;
}

int paper_velocities(gbees_engine *e, uint32_t from, double time, gbees_error *error)
{
    const gbees_problem *problem = e->problem;
    const double zero = 0, *offset[GBEES_MAX_DIM];
    const int noisy = gbees_problem_noise(problem) != 0;

    for (int j = 0; j < e->g.n; j++)
        offset[j] = &zero;
    for (uint32_t k = from; k <= e->g.count; k++) {
        cell *c = &e->g.cells[k];
        double x[GBEES_MAX_DIM];
        int finite = 1;

        paper_centre(e, c, x);
        if (noisy && has_noise(e, x, time))
            return gbees_error_set(error, GBEES_EUSAGE,
                                   "the modes 'paper' and 'legacy' have no diffusion, and %s has: remove 'mode'",
                                   problem->model->name);
        for (int j = 0; j < e->g.n; j++) {
            x[j] += problem->width[j] / 2;
            problem->functions->component_d[j](1, time, x, offset, problem->parameters, &c->f[j]);
            x[j] -= problem->width[j] / 2;
            finite = finite && isfinite(c->f[j]);
        }
        if (!finite)
            return failure_drift(problem, &e->shape, c->i, time, error);
    }
    return GBEES_OK;
}

int paper_insert(gbees_engine *e, const int32_t *i, double time, gbees_error *error)
{
    if (grid_find(&e->g, i) || !bound_cells(e->problem, &e->shape, i))
        return GBEES_OK;
    for (int j = 0; j < e->g.n; j++)
        if (abs(i[j]) >= GRID_FARTHEST)
            return failure_far(e->problem, j, GRID_FARTHEST, error);
    const int status = grid_insert(&e->g, i, error);
    return status ? status : paper_velocities(e, e->g.count, time, error);
}

/* Directional growth: inserts the face neighbour in each direction in which a cell flows, and the edge neighbour in
 * each two of them along different axes. */
static int insert_downwind(gbees_engine *e, uint32_t c, double time, gbees_error *error)
{
    int status = GBEES_OK;

    for (int d = 0; d < 2 * e->g.n && !status; d++) {
        int32_t i[GBEES_MAX_DIM];

        if (!flows(&e->g.cells[c], d))
            continue;
        memcpy(i, e->g.cells[c].i, sizeof i);
        i[d >> 1] += d & 1 ? 1 : -1;
        status = paper_insert(e, i, time, error);
        for (int f = (d | 1) + 1; f < 2 * e->g.n && !status; f++) {
            if (!flows(&e->g.cells[c], f))
                continue;
            i[f >> 1] += f & 1 ? 1 : -1;
            status = paper_insert(e, i, time, error);
            i[f >> 1] -= f & 1 ? 1 : -1;
        }
    }
    return status;
}

/* Sets i[n] to number 0 ... 3^n - 1 of a cell's neighbours and itself. */
static void neighbour(const grid *g, const cell *c, uint32_t number, int32_t *i)
{
    for (int j = 0; j < g->n; j++, number /= 3)
        i[j] = c->i[j] + (int32_t)(number % 3) - 1;
}

/* 3^n. */
static uint32_t neighbours(const grid *g)
{
    return (uint32_t)lround(pow(3, g->n));
}

/* Growth of the legacy code (Fig. 2): inserts all 3^n - 1 neighbours. */
static int insert_all(gbees_engine *e, uint32_t c, double time, gbees_error *error)
{
    int status = GBEES_OK;

    for (uint32_t k = 0; k < neighbours(&e->g) && !status; k++) {
        int32_t i[GBEES_MAX_DIM];

        neighbour(&e->g, &e->g.cells[c], k, i);
        status = paper_insert(e, i, time, error);
    }
    return status;
}

int paper_grow(gbees_engine *e, double time, gbees_error *error)
{
    const int legacy = e->problem->numerics.mode == GBEES_MODE_LEGACY;
    const uint32_t before = e->g.count;
    int status = GBEES_OK;

    for (uint32_t c = 1; c <= before && !status; c++)
        if (e->g.cells[c].is_active)
            status = legacy ? insert_all(e, c, time, error) : insert_downwind(e, c, time, error);
    if (!status && e->g.count > before)
        grid_link(&e->g);
    return status;
}

/* Whether an active cell flows into this one: a face neighbour, or an edge neighbour that a face neighbour leads to.
 */
static int is_fed(const grid *g, const cell *c)
{
    for (int d = 0; d < 2 * g->n; d++) {
        const cell *face = &g->cells[beside(c, d)];

        if (face->is_active && flows(face, d ^ 1))
            return 1;
        for (int f = 0; f < 2 * g->n; f++) {
            const cell *edge = &g->cells[f >> 1 == d >> 1 ? 0 : beside(face, f)];

            if (edge->is_active && flows(edge, d ^ 1) && flows(edge, f ^ 1))
                return 1;
        }
    }
    return 0;
}

/* The legacy code: whether any of the 3^n - 1 neighbours is active (Fig. 3). */
static int has_active_neighbour(const grid *g, const cell *c)
{
    for (uint32_t k = 0; k < neighbours(g); k++) {
        int32_t i[GBEES_MAX_DIM];

        neighbour(g, c, k, i);
        if (g->cells[grid_find(g, i)].is_active)
            return 1;
    }
    return 0;
}

/* A cell that a prune may remove. */
typedef struct candidate {
    double P;
    uint32_t c;
} candidate;

/* For qsort(): in ascending order of P, then of the number. */
static int compare(const void *a, const void *b)
{
    const candidate *x = a, *y = b;

    return x->P < y->P ? -1 : x->P > y->P ? 1 : x->c < y->c ? -1 : x->c > y->c;
}

/* Marks the cells that go: neither above p* nor a neighbour of such a cell (Algorithm 3). The reference code takes
 * them in ascending order of P, as long as P over the mass that is left is below p*. Returns their mass in *gone. */
static int mark_negligible(gbees_engine *e, double *gone, gbees_error *error)
{
    const int legacy = e->problem->numerics.mode == GBEES_MODE_LEGACY;
    candidate *list = malloc((e->g.count + 1u) * sizeof *list);
    uint32_t count = 0;

    if (!list)
        return gbees_error_set(error, GBEES_ENOMEM, "out of memory while pruning %u cells", e->g.count);
    for (uint32_t c = 1; c <= e->g.count; c++) {
        cell *at = &e->g.cells[c];

        at->is_marked = 0;
        if (!at->is_active && !(legacy ? has_active_neighbour(&e->g, at) : is_fed(&e->g, at)))
            list[count++] = (candidate){at->P, c};
    }
    qsort(list, count, sizeof *list, compare);
    *gone = 0;
    for (uint32_t k = 0; k < count && list[k].P / (1 - (*gone + list[k].P)) < e->problem->threshold; k++) {
        *gone += list[k].P;
        e->g.cells[list[k].c].is_marked = 1;
    }
    free(list);
    return GBEES_OK;
}

void paper_mark_active(gbees_engine *e)
{
    for (uint32_t c = 1; c <= e->g.count; c++)
        e->g.cells[c].is_active = e->g.cells[c].P >= e->problem->threshold * e->run.ledger.mass;
}

int paper_prune(gbees_engine *e, gbees_error *error)
{
    const uint64_t needed = paper_count(e, NULL);
    double gone = 0;

    paper_mark_active(e);
    const int status = mark_negligible(e, &gone, error);
    if (status)
        return status;
    grid_compact(&e->g);
    const double mass = e->g.count > 0 ? e->run.ledger.mass - gone : 0;
    gbees_ledger_prune(&e->run.ledger, mass);
    if (!(mass > 0))
        return failure_empty(e->problem->threshold, error);
    gbees_work_count(&e->run.work, needed);
    grid_scale(&e->g, 1 / mass);
    gbees_ledger_normalise(&e->run.ledger);
    paper_mark_active(e);
    return GBEES_OK;
}

/* Marks a cell as needed; returns whether it was not. */
static int mark(grid *g, uint32_t c)
{
    const int before = g->cells[c].is_marked;

    g->cells[c].is_marked = c != 0;
    return c != 0 && !before;
}

uint64_t paper_count(gbees_engine *e, uint64_t *above)
{
    const double least = e->problem->threshold * e->run.ledger.mass;
    uint64_t needed = 0, active = 0;

    for (uint32_t c = 1; c <= e->g.count; c++)
        e->g.cells[c].is_marked = 0;
    for (uint32_t c = 1; c <= e->g.count; c++) {
        const cell *i = &e->g.cells[c];

        if (!(i->P >= least))
            continue;
        active++;
        needed += (uint64_t)mark(&e->g, c);
        for (int d = 0; d < 2 * e->g.n; d++) {
            needed += flows(i, d) ? (uint64_t)mark(&e->g, beside(i, d)) : 0;
            for (int f = (d | 1) + 1; f < 2 * e->g.n && flows(i, d); f++)
                needed += flows(i, f) ? (uint64_t)mark(&e->g, beside(&e->g.cells[beside(i, d)], f)) : 0;
        }
    }
    if (above)
        *above = active;
    return needed;
}
