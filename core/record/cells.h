/* cells.h - makes a gbees_cells (gbees/record.h): the cells of one record, packed and sorted.
 *
 *     gbees_cells_create -> backend->cells(engine, gbees_cells_add, cells, error) -> gbees_cells_finish
 *
 * A cell takes 24 bytes: its index along all axes in 128 bits, 128/n bits an axis (at most 32), and P.  So for
 * n = 8 an index lies within +-32767, for n = 6 within a million.
 */
#ifndef GBEES_RECORD_CELLS_H
#define GBEES_RECORD_CELLS_H

#include <gbees/gbees.h>

/* NULL when there is no memory. */
gbees_cells *gbees_cells_create(int dimension);
void gbees_cells_destroy(gbees_cells *cells);

/* A gbees_cell_visitor whose context is the gbees_cells. When it returns non-zero, gbees_cells_finish() says why. */
int gbees_cells_add(void *cells, size_t count, const int32_t *const *index, const double *p);

/* Reserves memory for so many cells in all, in huge pages, where there is memory; more of them can be added. Call it
 * before the first are. */
void gbees_cells_expect(gbees_cells *cells, size_t count);

/* Has up to so many threads pack the cells that are added from now on, where they are many enough at a time. */
void gbees_cells_use_threads(gbees_cells *cells, int threads);

/* Sorts by index, axis 0 slowest, on up to so many threads, and gives back spare memory. Call it once, also when
 * adding failed: it returns that failure. A cell that was added twice is an error. */
int gbees_cells_finish(gbees_cells *cells, int threads, gbees_error *error);

/* Makes a list, still unsorted, of the cells with P >= fraction * p* of a backend's engine: `count` of them, 0 if
 * that is not known. `what` it is for is named if there is no memory. */
int gbees_cells_collect(const gbees_backend *backend, gbees_engine *engine, double fraction, int dimension,
                        uint64_t count, const char *what, gbees_cells **cells, gbees_error *error);

/* As gbees_cells_list(), on up to so many threads (0: as many as this process may use). */
int gbees_cells_list_by(const gbees_cells *cells, int threads, gbees_initial_cells *list, gbees_error *error);

#endif
