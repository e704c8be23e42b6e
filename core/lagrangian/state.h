/* state.h - saves and loads an engine. */
#ifndef GBEES_LAGRANGIAN_STATE_H
#define GBEES_LAGRANGIAN_STATE_H

#include "sets.h"

/* gbees_backend.save and load. */
int gbees_engine_save(gbees_engine *engine, gbees_state_sink *sink, void *context, gbees_error *error);
int gbees_engine_load(const gbees_problem *problem, const gbees_engine_options *options, gbees_state_source *source,
                      void *context, gbees_engine **engine, gbees_error *error);

#endif
