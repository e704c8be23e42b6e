/* shared.h - a backend around a backend, for a grid that ranks share. The solver calls rank 0's engine; the functions
 * below, which are those of gbees_backend, have the other ranks call the same function of their engines, and then
 * call it on rank 0. They know the contract (gbees/backend.h) alone. In a run of one process they only call it.
 */
#ifndef GBEES_COMMON_RANKS_SHARED_H
#define GBEES_COMMON_RANKS_SHARED_H

#include "ranks.h"
#include <gbees/backend.h>

/* The plain backend: a module that links this file defines it. Of its functions those that are named below are
 * called, by all ranks together; they return the same status on all. On ranks but 0 create() and load() may leave the
 * engine NULL for a grid that rank 0 has alone, and load() gets no source, restart() a problem without cells, save()
 * no sink. cells() visits those of a rank's own bricks. */
extern const gbees_backend shared_plain;

/* What an engine of the plain backend begins with. */
typedef struct shared_engine {
    engine_ranks *ranks; /* NULL: of one process, or rank 0 has the grid alone for the whole run */
    int is_divided;      /* 0: rank 0 has all bricks for now, and tells the others of advance() and restart() alone */
} shared_engine;

/* As the functions of gbees_backend of these names. */
int shared_create(const gbees_problem *problem, const gbees_engine_options *options, gbees_engine **engine,
                  gbees_error *error);
int shared_load(const gbees_problem *problem, const gbees_engine_options *options, gbees_state_source *source,
                void *context, gbees_engine **engine, gbees_error *error);
int shared_serve(const gbees_problem *problem, const gbees_engine_options *options, gbees_error *error);
void shared_destroy(gbees_engine *e);
int shared_restart(gbees_engine *e, const gbees_problem *problem, gbees_error *error);
int shared_advance(gbees_engine *e, gbees_clock *clock, uint64_t max_steps, gbees_error *error);
int shared_update(gbees_engine *e, const gbees_clock *clock, const gbees_measurement *measurement,
                  gbees_evidence *evidence, gbees_error *error);
int shared_statistics(gbees_engine *e, const gbees_clock *clock, gbees_statistics *statistics, gbees_error *error);
int shared_cells(gbees_engine *e, double fraction, gbees_cell_visitor *visitor, void *context, gbees_error *error);
int shared_marginals(gbees_engine *e, uint64_t most, gbees_marginals **marginals, gbees_error *error);
int shared_save(gbees_engine *e, gbees_state_sink *sink, void *context, gbees_error *error);
int shared_frame_set(gbees_engine *e, const gbees_grid_frame *frame, double time, double *rate, gbees_error *error);
int shared_frame_fit(gbees_engine *e, double time, gbees_affine_sums *sums, gbees_error *error);
int shared_frame_information(gbees_engine *e, double *information, gbees_error *error);

/* Those of every backend that ranks share: a part of its initializer. */
#define SHARED_FUNCTIONS                                                                                             \
    .create = shared_create, .destroy = shared_destroy, .serve = shared_serve, .advance = shared_advance,            \
    .update = shared_update, .statistics = shared_statistics, .cells = shared_cells, .save = shared_save,            \
    .load = shared_load, .frame_set = shared_frame_set, .frame_fit = shared_frame_fit,                               \
    .frame_information = shared_frame_information

#endif
