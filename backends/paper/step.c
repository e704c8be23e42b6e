/* step.c - one time step, as the paper's Fig. 1 has it: grow the grid, choose the step, fluxes, normalise, prune.
 *
 * The reference code's rule at the border: a face whose lower cell is absent is a wall. Through a face whose upper
 * cell is absent probability flows out, as the donor cell and its corner terms say, and nothing flows in; the terms
 * that need the difference of both cells are left out there. */
#include "common/failure.h"
#include "engine.h"
#include <math.h>

/* Eq. (7): the donor cell upwind fluxes. */
static void donor_cell_upwind(grid *g)
{
    for (uint32_t c = 1; c <= g->count; c++) {
        cell *i = &g->cells[c];

        for (int j = 0; j < g->n; j++)
            i->F[j] = fmax(i->f[j], 0) * i->P + fmin(i->f[j], 0) * g->cells[i->above[j]].P;
    }
}

/* Subtracts a corner term from the flux through a cell's upper face, unless the cell is absent. */
static void correct(cell *cells, uint32_t c, int l, double term)
{
    if (c)
        cells[c].F[l] -= term;
}

/* Algorithm 1: what crosses the interface between the cells i and m = i - e_j changes the fluxes along all other
 * axes, by which it leaves these two cells in the same step. Lines 5 to 8 are the four calls. */
static void corner_transport_upwind(grid *g, const double *h, double dt)
{
    for (uint32_t c = 1; c <= g->count; c++)
        for (int j = 0; j < g->n; j++) {
            const cell *i = &g->cells[c], *m = &g->cells[i->below[j]];
            const double rising = fmax(m->f[j], 0), falling = fmin(m->f[j], 0);
            const double F_star = dt / (2 * h[j]) * (i->P - m->P);

            for (int l = 0; l < g->n && i->below[j]; l++) {
                if (l == j)
                    continue;
                correct(g->cells, c, l, rising * fmax(i->f[l], 0) * F_star);
                correct(g->cells, i->below[l], l, rising * fmin(g->cells[i->below[l]].f[l], 0) * F_star);
                correct(g->cells, i->below[j], l, falling * fmax(m->f[l], 0) * F_star);
                correct(g->cells, m->below[l], l, falling * fmin(g->cells[m->below[l]].f[l], 0) * F_star);
            }
        }
}

/* The monotonised-central limiter (T. Bewley, A. Sharma, Automatica 48 (2012) 1286). */
static double limiter(double theta)
{
    return fmax(0, fmin(fmin((1 + theta) / 2, 2), 2 * theta));
}

/* The high-resolution correction of that reference: the second-order term, limited by the ratio theta of the upwind
 * difference to the one across the face. */
static void high_resolution(grid *g, const double *h, double dt)
{
    for (uint32_t c = 1; c <= g->count; c++)
        for (int j = 0; j < g->n; j++) {
            cell *i = &g->cells[c];
            const cell *above = &g->cells[i->above[j]];
            const double f = i->f[j], difference = above->P - i->P;
            const double upwind = f > 0 ? i->P - g->cells[i->below[j]].P : g->cells[above->above[j]].P - above->P;

            if (i->above[j] && difference != 0)
                i->F[j] += fabs(f) / 2 * (1 - fabs(f) * dt / h[j]) * limiter(upwind / difference) * difference;
        }
}

/* Eq. (3), integrated over the cell and the step; a P below 0 becomes 0. Returns what that adds. */
static double apply_fluxes(grid *g, const double *h, double dt)
{
    double clipped = 0;

    for (uint32_t c = 1; c <= g->count; c++) {
        cell *i = &g->cells[c];

        for (int j = 0; j < g->n; j++)
            i->P -= dt / h[j] * (i->F[j] - g->cells[i->below[j]].F[j]);
        clipped += i->P < 0 ? -i->P : 0;
        i->P = i->P < 0 ? 0 : i->P;
    }
    return clipped;
}

/* Eq. (8): the largest step that the CFL condition allows, over epsilon; or the fixed step of the legacy code. */
static double longest_step(const gbees_engine *e)
{
    const gbees_numerics *numerics = &e->problem->numerics;
    double most = 0;

    for (uint32_t c = 1; c <= e->g.count; c++) {
        double sum = 0;

        for (int j = 0; j < e->g.n; j++)
            sum += fabs(e->g.cells[c].f[j]) / e->problem->width[j];
        most = fmax(most, sum);
    }
    return numerics->time_step > 0 ? numerics->time_step : gbees_cfl_step(numerics->courant, most);
}

/* Divides P by their sum, which enters the ledger, and marks the cells with P >= p* as active. */
static int normalise(gbees_engine *e, double clipped, gbees_error *error)
{
    const double mass = grid_sum(&e->g);

    if (!isfinite(mass) || mass <= 0)
        return failure_mass(mass == 0 ? "zero" : "not finite", e->run.clock.time, e->run.step.size, error);
    gbees_ledger_step(&e->run.ledger, mass, clipped, gbees_ledger_missing(&e->run.ledger, mass, clipped), 0);
    for (uint32_t c = 1; c <= e->g.count; c++)
        e->g.cells[c].is_active = e->g.cells[c].P / mass >= e->problem->threshold;
    grid_scale(&e->g, 1 / mass);
    gbees_ledger_normalise(&e->run.ledger);
    return GBEES_OK;
}

int paper_step(gbees_engine *e, gbees_error *error)
{
    const double now = e->run.clock.time, *h = e->problem->width;
    int status = GBEES_OK;

    if (e->problem->model->flags & GBEES_TIME_DEPENDENT)
        status = paper_velocities(e, 1, now, error);
    if (!status)
        status = paper_grow(e, now, error);
    if (status)
        return status;
    e->run.step = gbees_step_choose(&e->run.clock, longest_step(e), NULL);
    const double dt = e->run.step.size;
    if (gbees_step_vanishes(&e->run.clock, &e->run.step))
        return failure_step(now, dt, error);
    donor_cell_upwind(&e->g);
    corner_transport_upwind(&e->g, h, dt);
    high_resolution(&e->g, h, dt);
    status = normalise(e, apply_fluxes(&e->g, h, dt), error);
    if (status)
        return status;
    gbees_run_state_step(&e->run, e->g.count, 1, (uint32_t)e->problem->numerics.prune_interval);
    return e->run.clock.phase == 0 ? paper_prune(e, error) : GBEES_OK;
}
