/* run_directory.h - the names and addresses of the objects in run.h5, the one HDF5 file of a run.
 *
 * The root group has a group "leg<n>" for each leg, and the time series once the run has ended; a leg's group has a
 * group "record<n>" for each record. The root's and the legs' groups are encoded and decoded here, without the HDF5
 * library (hdf5_group.h): run_file.h needs control over where they are written, and a damaged list must be refused by
 * one line, where the library may crash. The records' groups are written by the HDF5 library. */
#ifndef GBEES_IO_RUN_DIRECTORY_H
#define GBEES_IO_RUN_DIRECTORY_H

#include "hdf5_group.h"
#include <gbees/error.h>

/* Addresses and sizes are in bytes, from the beginning of the file. */
typedef struct gbees_run_leg {
    int leg;                  /* its number, from 0 */
    uint64_t address;         /* of its group in the file; 0: not written since a record was added */
    gbees_hdf5_link *records; /* [count], named "record<number>", sorted by number; owned */
    size_t count, capacity;
} gbees_run_leg;

/* All zero: an empty directory. */
typedef struct gbees_run_directory {
    gbees_run_leg *legs; /* [count], sorted by number; owned */
    size_t count, capacity;
    gbees_hdf5_link *others; /* [other_count]: objects of the root group that are no legs; owned */
    size_t other_count, other_capacity;
    uint64_t root, end; /* set by a read: address of the root group, size of the file according to its superblock */
} gbees_run_directory;

/* The first block of run.h5; it is the only part that is ever rewritten. */
enum {
    GBEES_RUN_SAFE = 64,   /* address of a copy of the superblock as of the last fsync, or of zeros */
    GBEES_RUN_BLOCK = 512, /* size of the block: one disk sector, which is written as a whole or not at all */
    GBEES_RUN_DATA = 512   /* address of the first object */
};

/* Frees the lists, not the struct, and leaves an empty directory. */
void gbees_run_directory_free(gbees_run_directory *directory);

/* Adds the object at `address`, or replaces the one of the same name. name: "leg<n>/record<n>", or a name in the root
 * group. Returns 0, or 1 if there is not enough memory. */
int gbees_run_directory_add(gbees_run_directory *directory, const char *name, uint64_t address);
/* Removes the root group's objects that are no legs, but for the one of this name. */
void gbees_run_directory_drop_others(gbees_run_directory *directory, const char *kept);
/* Returns the address of an object, named as for gbees_run_directory_add(), or 0 if there is none. */
uint64_t gbees_run_directory_find(const gbees_run_directory *directory, const char *name);
/* Returns the number n of a link named "record<n>". */
int gbees_run_directory_number(const gbees_hdf5_link *record);

/* Appends the encoded groups of the legs that have changed, and then the root group, to `bytes`, which the caller is
 * to write to the file at `address`, a multiple of 8. Returns the root group's address in the file; bytes->failed is
 * set if there is not enough memory. */
uint64_t gbees_run_directory_write(gbees_run_directory *directory, uint64_t address, gbees_bytes *bytes);
/* To be called if that write did not take place: marks the groups from `address` on as not written. */
void gbees_run_directory_unplace(gbees_run_directory *directory, uint64_t address);

/* Reads the directory of an open run.h5 into an empty one. If the newest superblock does not lead to valid groups, as
 * may happen after a power failure, it reads those of the last fsync. name: of the one object that the caller wants;
 * then only its leg is read; NULL: all legs. path: for the text of an error.
 * GBEES_EINPUT: the file has no valid list; GBEES_ENOMEM. The directory is then empty. */
int gbees_run_directory_read(int descriptor, const char *path, const char *name, gbees_run_directory *directory,
                             gbees_error *error);

/* Opens the file part of a path "DIR/run.h5/leg<n>/record<n>" for reading. Returns its descriptor, which the caller
 * closes, and sets *name to the rest of `path` ("leg<n>/record<n>"); or returns -1 and sets errno, ENOENT or ENOTDIR
 * if no part of the path is a file. */
int gbees_run_directory_open(const char *path, const char **name);

#endif
