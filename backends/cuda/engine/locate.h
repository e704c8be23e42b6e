/* locate.h - the multi-index of a brick or of a cell that a kernel has reported by its slot. */
#ifndef GBEES_CUDA_LOCATE_H
#define GBEES_CUDA_LOCATE_H

#include <gbees/backend.h>

/* Sets key[n] to the key of the brick in a slot. */
int engine_locate_brick(const gbees_engine *e, size_t slot, int32_t *key, gbees_error *error);

/* Sets index[n] to the multi-index of cell 0 .. 63 of the brick in a slot. */
int engine_locate_cell(const gbees_engine *e, size_t slot, int cell, int32_t *index, gbees_error *error);

#endif
