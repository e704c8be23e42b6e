/* xdmf.h - writes XDMF files beside records, for ParaView: the cells as points coloured by P. A record in a file of
 * its own has one of its own; those of run.h5 have one together. */
#ifndef GBEES_RESULTS_RECORDS_XDMF_H
#define GBEES_RESULTS_RECORDS_XDMF_H

#include "base/text.h"
#include "results/folder/record_name.h"
#include "results/folder/store.h"
#include <gbees/gbees.h>

#define GBEES_XDMF_RUN "run.xdmf"

/* Whether records of so many states get one. */
int gbees_xdmf_applies(int dimension);

/* Removes a record, and all after that, which are to come again, from the text of the grids of a sidecar. */
void gbees_xdmf_cut(gbees_text *grids, const gbees_record_name *name);
/* Adds a record of `count` cells to it. */
void gbees_xdmf_add(gbees_text *grids, const gbees_record_name *name, const gbees_record *record, size_t count);

/* Writes the sidecar of one record. */
int gbees_xdmf_write(const gbees_store *store, const gbees_record_name *name, const gbees_record *record,
                     size_t count, gbees_error *error);

/* That of all records of run.h5; and reads its grids back, none if it is not there. */
int gbees_xdmf_write_run(const gbees_store *store, const gbees_text *grids, gbees_error *error);
int gbees_xdmf_read_run(const gbees_store *store, gbees_text *grids, gbees_error *error);

#endif
