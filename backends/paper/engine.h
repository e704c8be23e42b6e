/* engine.h - a run's grid and density, and the functions of this folder's files for each other. */
#ifndef GBEES_PAPER_ENGINE_H
#define GBEES_PAPER_ENGINE_H

#include "common/initial_grid.h"
#include "common/totals.h"
#include "grid.h"
#include <gbees/backend.h>

struct gbees_engine {
    const gbees_problem *problem;
    gbees_shape shape; /* of a box of one cell, for what backends share */
    grid g;
    gbees_run_state run;
    mass_budget budget; /* which is none: p* is the problem's */
};

/* ---- growth.c ---- */
/* Inserts a cell with P = 0, unless it is there or out of bound; sets its f. */
int paper_insert(gbees_engine *e, const int32_t *i, double time, gbees_error *error);
/* Sets f of cells from ... count to the drift at a time. An error, with the place: it is not finite. */
int paper_velocities(gbees_engine *e, uint32_t from, double time, gbees_error *error);
/* Inserts the neighbours that active cells need (section 3.3). */
int paper_grow(gbees_engine *e, double time, gbees_error *error);
/* Removes cells (section 3.3, Algorithm 3), and normalises. */
int paper_prune(gbees_engine *e, gbees_error *error);
/* Marks the cells with P >= p* as active. */
void paper_mark_active(gbees_engine *e);
/* Returns the number of cells with P >= p* and of the cells that they flow into; sets *above, unless it is NULL, to
 * that of the former. */
uint64_t paper_count(gbees_engine *e, uint64_t *above);

/* ---- step.c ---- */
/* Takes a step of Fig. 1, and prunes if that is due. */
int paper_step(gbees_engine *e, gbees_error *error);

/* ---- density.c: as the functions of gbees_backend ---- */
int paper_update(gbees_engine *e, const gbees_clock *clock, const gbees_measurement *measurement,
                 gbees_evidence *evidence, gbees_error *error);
int paper_statistics(gbees_engine *e, const gbees_clock *clock, gbees_statistics *statistics, gbees_error *error);
int paper_cells(gbees_engine *e, double fraction, gbees_cell_visitor *visitor, void *context, gbees_error *error);

/* Sets x[n] to the centre of a cell, in the axes of the grid. */
static inline void paper_centre(const gbees_engine *e, const cell *c, double *x)
{
    for (int j = 0; j < e->g.n; j++)
        x[j] = e->problem->mean[j] + e->problem->width[j] * c->i[j];
}

#endif
