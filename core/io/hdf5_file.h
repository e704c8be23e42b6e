/* hdf5_file.h - an HDF5 file that is written or read at once. It keeps the first failure: later calls do nothing,
 * and gbees_hdf5_commit() or gbees_hdf5_close() reports it with the path, so that callers check once. HDF5 prints
 * nothing while a file is open. */
#ifndef GBEES_IO_HDF5_FILE_H
#define GBEES_IO_HDF5_FILE_H

#include "run_file.h"
#include <gbees/error.h>
#include <hdf5.h>

/* Closes a dataset, group, attribute, type, space or list of properties; nothing if there is none: id < 0. */
static inline void gbees_hdf5_release(hid_t id)
{
    if (id >= 0)
        (void)H5Idec_ref(id);
}

enum { GBEES_HDF5_SCALES = 24 };

/* A dimension scale that is kept open (hdf5_scale.h). */
typedef struct gbees_hdf5_open_scale {
    char name[64];
    hid_t id;
} gbees_hdf5_open_scale;

typedef struct gbees_hdf5 {
    hid_t id;
    hid_t driver; /* hdf5_driver.h */
    /* When it is written, lists of properties: of groups whose links, and of the file's root whose attributes, too,
     * are all in the object's header, which has one checksum; of datasets that are in theirs. */
    hid_t group, compact;
    char *path;
    gbees_temporary temporary; /* when it is written as a file of its own; */
    gbees_run_file *run;       /* or where it is written as a group, */
    char name[GBEES_HDF5_LINK_NAME];
    int spread;          /* 1: what is in the group gets links from the file's root, too */
    int descriptor;      /* when it is read */
    unsigned deflate;    /* the level by which chunks are compressed */
    int threads;         /* that compress them, at most */
    int failure;         /* errno of the first read or write that failed */
    gbees_status status; /* status of the first call that failed */
    char reason[256];    /* why that call failed */
    gbees_hdf5_open_scale scales[GBEES_HDF5_SCALES];
    int scale_count;
    H5E_auto2_t print; /* HDF5's error printing as it was */
    void *print_context;
} gbees_hdf5;

/* Writes NAME.tmp, readable by HDF5 1.8, whose objects have a checksum each, with their attributes, links and small
 * datasets. */
int gbees_hdf5_create(const gbees_store *store, const char *name, gbees_hdf5 *file, gbees_error *error);
/* Begins the group NAME of a run's one file: what is written to the root of `file` is in it. */
int gbees_hdf5_append(gbees_run_file *run, const char *name, gbees_hdf5 *file, gbees_error *error);
/* Closes the file, and renames it to NAME, or notes its group, if nothing has failed. */
int gbees_hdf5_commit(gbees_hdf5 *file, gbees_error *error);

/* path: of a file, or FILE/NAME for a group of a run's one file, which is then the root. */
int gbees_hdf5_open(const char *path, gbees_hdf5 *file, gbees_error *error);
int gbees_hdf5_close(gbees_hdf5 *file, gbees_error *error);

/* Whether the objects of a file that is read have checksums: those of earlier versions do not have HDF5's. */
int gbees_hdf5_is_summed(const gbees_hdf5 *file);

/* Whether the file is open and nothing has failed: functions do nothing else, so that the first failure is kept. */
static inline int gbees_hdf5_is_open(const gbees_hdf5 *file)
{
    return file->id >= 0 && file->status == GBEES_OK;
}

/* Stores HDF5's reason for a failed call. */
void gbees_hdf5_fail(gbees_hdf5 *file);
/* Notes another reason. */
void gbees_hdf5_reject(gbees_hdf5 *file, gbees_status status, const char *reason);

#endif
