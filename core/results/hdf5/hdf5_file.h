/* hdf5_file.h - an HDF5 file that is written or read at once. It keeps the first failure: later calls do nothing,
 * and gbees_hdf5_commit() or gbees_hdf5_close() reports it with the path, so that callers check once. HDF5 prints
 * nothing while a file is open. */
#ifndef GBEES_RESULTS_HDF5_HDF5_FILE_H
#define GBEES_RESULTS_HDF5_HDF5_FILE_H

#include "hdf5_driver.h"
#include "results/folder/store.h"

/* Closes a dataset, group, attribute, type, space or list of properties; nothing if there is none: id < 0. */
static inline void gbees_hdf5_release(hid_t id)
{
    if (id >= 0)
        (void)H5Idec_ref(id);
}

typedef struct gbees_run_file gbees_run_file; /* run_file.h */

enum { GBEES_HDF5_SCALES = 24 };

/* A dimension scale (hdf5_scale.h): its length, and what datasets along it refer to. */
typedef struct gbees_hdf5_scale {
    char name[64];
    hsize_t length;
    hobj_ref_t object;
} gbees_hdf5_scale;

typedef struct gbees_hdf5 {
    hid_t id;     /* of the file, or of the group of it whose names are meant; negative: not open */
    hid_t whole;  /* of the file of a group that is read */
    hid_t driver; /* hdf5_driver.h */
    /* When it is written, lists of properties: of groups, and of a record's, whose attributes are all in the object's
     * header, which has one checksum; of datasets that are in theirs. The type of their lists of scales, and the
     * space of one value. */
    hid_t group, record, compact, axes, scalar;
    hid_t last; /* the dataset that was made last, which stays open: its attributes and axes come next */
    char last_name[64];
    char *path;
    gbees_temporary temporary; /* when it is written as a file of its own; */
    struct gbees_hdf5 *root;   /* or where it is written as a group: the file, which stays open, */
    gbees_run_file *run;       /* whose file that is, and how the group ends: run_file.h */
    int (*commit)(struct gbees_hdf5 *file, gbees_error *error);
    char name[64];       /* of that group */
    int spread;          /* 1: what is in the group gets links from the file's root, too */
    int descriptor;      /* when it is read */
    int is_safe;         /* whether the file's second superblock had to be taken (run_file.h); `reason` says why */
    int threads;         /* that compress them, at most */
    int failure;         /* errno of the first read or write that failed */
    gbees_status status; /* status of the first call that failed */
    char reason[256];    /* why that call failed */
    gbees_hdf5_scale scales[GBEES_HDF5_SCALES];
    int scale_count;
    H5E_auto2_t print; /* HDF5's error printing as it was */
    void *print_context;
} gbees_hdf5;

/* Around calls of HDF5 for a file that is open between them: gbees_hdf5_enter(), and HDF5 prints nothing. */
void gbees_hdf5_begin_calls(gbees_hdf5 *file);
void gbees_hdf5_end_calls(gbees_hdf5 *file);

/* Writes NAME.tmp, readable by HDF5 1.8, whose objects have a checksum each, with their attributes, links and small
 * datasets. */
int gbees_hdf5_create(const gbees_store *store, const char *name, gbees_hdf5 *file, gbees_error *error);
/* Begins a group of a file that stays open. The caller makes it, and sets file->id, run, commit and name; the file's
 * lists of properties are taken. On failure of that it calls gbees_hdf5_end_group(), else gbees_hdf5_commit(). */
int gbees_hdf5_begin_group(gbees_hdf5 *file, const char *name, gbees_error *error);
void gbees_hdf5_take_lists(gbees_hdf5 *file, gbees_hdf5 *root);
void gbees_hdf5_end_group(gbees_hdf5 *file);
/* Closes the file, and renames it to NAME, or its group, if nothing has failed. */
int gbees_hdf5_commit(gbees_hdf5 *file, gbees_error *error);

/* Makes a file behind the first `start` bytes of a descriptor's, which stay; superblock[GBEES_HDF5_SUPERBLOCK]
 * receives HDF5's when the file is closed. It stays open between calls. */
int gbees_hdf5_make_behind(int descriptor, uint64_t start, unsigned char *superblock, gbees_hdf5 *file,
                           gbees_error *error);
/* Closes such a file: HDF5 writes what it still held. A failure is in file->status. */
void gbees_hdf5_finish(gbees_hdf5 *file);

/* path: of a file, or FILE/NAME for a group of a run's one file, whose names are then meant. */
int gbees_hdf5_open(const char *path, gbees_hdf5 *file, gbees_error *error);
int gbees_hdf5_close(gbees_hdf5 *file, gbees_error *error);

/* Opens the file part of a path FILE or FILE/NAME for reading. Returns its descriptor, and sets *name to the rest of
 * the path, "" for none; or returns -1 and sets errno. */
int gbees_hdf5_open_part(const char *path, const char **name);

/* A name as seen from file->id: names from the root are allowed, and "/" is the root. */
static inline const char *gbees_hdf5_within(const char *name)
{
    return *name != '/' ? name : name[1] ? name + 1 : ".";
}

/* Opens a dataset, or takes that which was made last. Release it. */
hid_t gbees_hdf5_open_set(gbees_hdf5 *file, const char *name);

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
