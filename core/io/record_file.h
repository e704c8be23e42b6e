/* record_file.h - one record as an HDF5 file: doc/results.md, "A record". */
#ifndef GBEES_IO_RECORD_FILE_H
#define GBEES_IO_RECORD_FILE_H

#include "provenance.h"

int gbees_record_file_write(const gbees_store *store, const char *name, const gbees_run_info *info,
                            const gbees_record *record, gbees_error *error);

/* Such a file read back. */
int gbees_record_file_read(const char *path, gbees_snapshot **snapshot, gbees_error *error);

#endif
