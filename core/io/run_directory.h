/* run_directory.h - what is in run.h5, the one file of a run: a root group with a group for each leg, these with a
 * group for each record, and at the end of the run the time series. These groups are written without HDF5
 * (hdf5_group.h), and read so, too: no program is trusted to have made them. Groups of records are HDF5's own. */
#ifndef GBEES_IO_RUN_DIRECTORY_H
#define GBEES_IO_RUN_DIRECTORY_H

#include "hdf5_group.h"
#include <gbees/error.h>

typedef struct gbees_run_leg {
    int leg;
    uint64_t address;         /* of its group; 0: to be written */
    gbees_hdf5_link *records; /* in the order of their numbers; "record<number>" */
    size_t count, capacity;
} gbees_run_leg;

typedef struct gbees_run_directory {
    gbees_run_leg *legs; /* in their order */
    size_t count, capacity;
    gbees_hdf5_link *others; /* of the root, but the legs */
    size_t other_count, other_capacity;
    uint64_t root, end; /* as read: where its root is, and the bytes of the file that it and what it names take */
} gbees_run_directory;

enum {
    GBEES_RUN_SAFE = 64,   /* where the first block has the superblock as of the last sync, or zeros */
    GBEES_RUN_BLOCK = 512, /* all that is rewritten: one sector of a disk */
    GBEES_RUN_DATA = 512   /* where the rest begins */
};

void gbees_run_directory_free(gbees_run_directory *directory);

/* Adds an object, in place of one of this name: "leg<n>/record<n>", or a name of the root. 0, or 1 without memory. */
int gbees_run_directory_add(gbees_run_directory *directory, const char *name, uint64_t address);
/* Forgets all but the records. */
void gbees_run_directory_drop_others(gbees_run_directory *directory);
/* The address of an object, "leg<n>/record<n>" or a name of the root; 0: there is none. */
uint64_t gbees_run_directory_find(const gbees_run_directory *directory, const char *name);
/* The number of a record, from its link. */
int gbees_run_directory_number(const gbees_hdf5_link *record);

/* Adds the groups that have changed and the root to `bytes`, which are to be written at `address`. Returns the root's
 * address; bytes->failed without memory. */
uint64_t gbees_run_directory_write(gbees_run_directory *directory, uint64_t address, gbees_bytes *bytes);
/* Forgets groups that were not written after all, at `address` or behind it. */
void gbees_run_directory_unplace(gbees_run_directory *directory, uint64_t address);

/* Reads the directory of an open file. Where its newest superblock leads nowhere, as after a power failure, that of
 * the last sync is read. name: of an object that is wanted, whose leg is then the only one that is read; or NULL. */
int gbees_run_directory_read(int descriptor, const char *path, const char *name, gbees_run_directory *directory,
                             gbees_error *error);

/* Opens FILE/NAME for reading, FILE being a run's one file and NAME of it: the descriptor of FILE, or -1 and errno
 * where there is no such file; `name` is what follows it in `path`. */
int gbees_run_directory_open(const char *path, const char **name);

#endif
