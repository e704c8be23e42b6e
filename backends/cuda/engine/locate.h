/* locate.h - where a brick or a cell is that a kernel reports by its slot. */
#ifndef GBEES_CUDA_LOCATE_H
#define GBEES_CUDA_LOCATE_H

#include <gbees/backend.h>

/* Fetches the multi-index of the brick in a slot, key[n]. */
int engine_locate_brick(const gbees_engine *e, size_t slot, int32_t *key, gbees_error *error);

/* Fetches the index of a cell (0 .. 63) of that brick, index[n]. */
int engine_locate_cell(const gbees_engine *e, size_t slot, int cell, int32_t *index, gbees_error *error);

#endif
