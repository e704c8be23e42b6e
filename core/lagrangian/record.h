/* record.h - what a record has of points that go with the flow: moments from their weights, cells by deposit. */
#ifndef GBEES_LAGRANGIAN_RECORD_H
#define GBEES_LAGRANGIAN_RECORD_H

#include "sets.h"

/* gbees_backend.statistics: the numbers of cells are those of points. */
int gbees_engine_statistics(gbees_engine *engine, const gbees_clock *clock, gbees_statistics *statistics,
                            gbees_error *error);
/* Adds borders to the density's lattices if measurements have made thin sheets of them. */
int gbees_engine_add_borders(gbees_engine *engine, gbees_error *error);
/* gbees_backend.cells. */
int gbees_engine_cells(gbees_engine *engine, double fraction, gbees_cell_visitor *visitor, void *context,
                       gbees_error *error);

#endif
