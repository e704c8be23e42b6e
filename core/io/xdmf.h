/* xdmf.h - the XDMF 3 sidecar of a record: its cells as points, for ParaView. */
#ifndef GBEES_IO_XDMF_H
#define GBEES_IO_XDMF_H

#include "store.h"
#include <gbees/gbees.h>

/* Whether a record of this dimension has one: 2 or 3. It reads /pdf/x of the record's file. */
int gbees_xdmf_applies(int dimension);

/* Writes the file `name` for the record in the file `record_name` of the same folder, which has `count` cells. */
int gbees_xdmf_write(const gbees_store *store, const char *name, const char *record_name, const gbees_record *record,
                     size_t count, gbees_error *error);

#endif
