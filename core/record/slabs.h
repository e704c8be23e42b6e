/* slabs.h - the cells of a record that are too many to be in memory together: slabs across axis 0, of which one at a
 * time is fetched from the backend. In their order the slabs are the cells of the whole record, sorted. The engine
 * must not change while they are used, and all calls are made by the thread that calls the backend.
 */
#ifndef GBEES_RECORD_SLABS_H
#define GBEES_RECORD_SLABS_H

#include <gbees/gbees.h>

typedef struct gbees_slabs gbees_slabs;

/* Where the cells come from. */
typedef struct gbees_slab_source {
    const gbees_backend *backend;
    gbees_engine *engine;
    double fraction; /* of p*, that cells must have, as gbees_backend's cells() takes it */
    int dimension;
    int threads; /* that sort a slab, at most */
    size_t most; /* cells of a slab, unless those of one index along axis 0 are more */
} gbees_slab_source;

/* Counts the cells along axis 0 and chooses the slabs; none is fetched yet. *cells is a gbees_cells that has them
 * all: gbees_cells_hold() fetches the slab of a cell. gbees_cells_destroy() frees it. */
int gbees_slabs_create(const gbees_slab_source *from, gbees_cells **cells, gbees_error *error);

/* ---- for cells_read.c ---- */

/* The slab in memory, of which cell 0 is cell *first of all. NULL: none is. */
const gbees_cells *gbees_slabs_held(const gbees_slabs *slabs, size_t *first);
/* Fetches the slab of a cell, unless it is in memory. *end receives the number of the first cell behind it. */
int gbees_slabs_hold(gbees_slabs *slabs, size_t cell, size_t *end, gbees_error *error);
void gbees_slabs_destroy(gbees_slabs *slabs);

#endif
