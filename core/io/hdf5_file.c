/* hdf5_file.c - creates, appends to, commits, opens and closes a file or one group of it, over a driver of its own
 * (hdf5_driver.c), and stores the first failure. */
#include "hdf5_file.h"
#include "folder.h"
#include "hdf5_driver.h"
#include "record_name.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- failures -------------------------------------------------------------------------------------------------- */

void gbees_hdf5_reject(gbees_hdf5 *file, gbees_status status, const char *reason)
{
    if (file->status)
        return;
    file->status = status;
    (void)snprintf(file->reason, sizeof file->reason, "%s", reason);
    for (char *c = file->reason; *c; c++)
        if (*c == '\n' || *c == '\r' || *c == '\t')
            *c = ' ';
}

/* The innermost entry of HDF5's error stack is the one that says what happened. */
static herr_t take_innermost(unsigned number, const H5E_error2_t *entry, void *context)
{
    if (number == 0)
        gbees_hdf5_reject(context, GBEES_EIO, entry->desc ? entry->desc : "HDF5 failed");
    return 0;
}

void gbees_hdf5_fail(gbees_hdf5 *file)
{
    if (file->status)
        return;
    gbees_hdf5_has_failed();
    if (file->failure)
        gbees_hdf5_reject(file, GBEES_EIO, strerror(file->failure));
    else
        (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_innermost, file);
    gbees_hdf5_reject(file, GBEES_EIO, "HDF5 failed");
}

/* ---- opening and closing --------------------------------------------------------------------------------------- */

static void begin(gbees_hdf5 *file, const char *path)
{
    *file = (gbees_hdf5){.id = -1,
                         .driver = -1,
                         .group = -1,
                         .compact = -1,
                         .descriptor = -1,
                         .temporary.descriptor = -1,
                         .deflate = 2,
                         .threads = 1,
                         .path = strdup(path)};
    gbees_hdf5_enter();
    (void)H5Eget_auto2(H5E_DEFAULT, &file->print, &file->print_context);
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* Closes the HDF5 file: what it still held is written now. */
static void finish(gbees_hdf5 *file)
{
    while (file->scale_count > 0)
        (void)H5Dclose(file->scales[--file->scale_count].id);
    if (file->id >= 0 && H5Fclose(file->id) < 0)
        gbees_hdf5_fail(file);
    if (file->driver >= 0)
        (void)H5FDunregister(file->driver);
    gbees_hdf5_release(file->group);
    gbees_hdf5_release(file->compact);
    file->id = file->driver = file->group = file->compact = -1;
    if (file->failure) /* the driver has hidden the failure from HDF5 */
        gbees_hdf5_fail(file);
}

static void end(gbees_hdf5 *file)
{
    gbees_hdf5_leave();
    (void)H5Eset_auto2(H5E_DEFAULT, file->print, file->print_context);
    free(file->path);
    file->path = NULL;
}

static hid_t make_access(gbees_hdf5 *file, gbees_hdf5_place place)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);

    place.failure = &file->failure;
    if (access >= 0 && H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18) >= 0)
        file->driver = gbees_hdf5_driver_set(access, &place);
    if (file->driver >= 0)
        return access;
    gbees_hdf5_fail(file);
    gbees_hdf5_release(access);
    return -1;
}

/* A list of properties of a class that has groups: all links and attributes are in the header. -1: HDF5 failed. */
static hid_t keep_together(hid_t class)
{
    enum { MOST = 1000 };
    const hid_t made = H5Pcreate(class);

    if (made >= 0 && H5Pset_attr_phase_change(made, MOST, 0) >= 0 && H5Pset_link_phase_change(made, MOST, 0) >= 0)
        return made;
    gbees_hdf5_release(made);
    return -1;
}

/* Makes the HDF5 file; a failure is told at the commit. */
static void make(gbees_hdf5 *file, gbees_hdf5_place place)
{
    const hid_t access = make_access(file, place), root = access < 0 ? -1 : keep_together(H5P_FILE_CREATE);

    if (access < 0)
        return;
    file->group = keep_together(H5P_GROUP_CREATE);
    file->compact = H5Pcreate(H5P_DATASET_CREATE);
    if (root >= 0 && file->group >= 0 && file->compact >= 0 && H5Pset_layout(file->compact, H5D_COMPACT) >= 0)
        file->id = H5Fcreate(file->path, H5F_ACC_TRUNC, root, access);
    if (file->id < 0)
        gbees_hdf5_fail(file);
    gbees_hdf5_release(root);
    gbees_hdf5_release(access);
}

int gbees_hdf5_create(const gbees_store *store, const char *name, gbees_hdf5 *file, gbees_error *error)
{
    if (!gbees_hdf5_has_memory())
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to write %s/%s", store->path, name);
    char *path = gbees_folder_join(store->path, name);

    begin(file, path ? path : "");
    free(path);
    int status = file->path && *file->path
                     ? gbees_temporary_create(store, name, &file->temporary, error)
                     : gbees_error_set(error, GBEES_ENOMEM, "not enough memory to write %s", name);
    if (status) {
        end(file);
        return status;
    }
    make(file, (gbees_hdf5_place){.descriptor = file->temporary.descriptor});
    return 0;
}

int gbees_hdf5_append(gbees_run_file *run, const char *name, gbees_hdf5 *file, gbees_error *error)
{
    if (!gbees_hdf5_has_memory())
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to write %s", name);
    begin(file, GBEES_RUN_FILE);
    if (!file->path) {
        end(file);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to write %s", name);
    }
    file->run = run;
    (void)snprintf(file->name, sizeof file->name, "%s", name);
    make(file, (gbees_hdf5_place){.descriptor = run->descriptor, .start = gbees_run_file_begin(run)});
    return 0;
}

/* ---- a group ----------------------------------------------------------------------------------------------------
 */

/* Notes a link from the file's root to an object of the group, which then has two. */
static herr_t spread(hid_t group, const char *name, const H5L_info_t *info, void *context)
{
    gbees_hdf5 *file = context;
    H5O_info_t facts;
    const hid_t object = H5Oopen(group, name, H5P_DEFAULT);
    gbees_error problem = {0};

    (void)info;
    if (object < 0 || H5Oget_info(object, &facts) < 0 || H5Oincr_refcount(object) < 0)
        gbees_hdf5_fail(file);
    else if (gbees_run_file_add(file->run, name, facts.addr, 0, &problem))
        gbees_hdf5_reject(file, problem.status, problem.text);
    gbees_hdf5_release(object);
    return file->status ? -1 : 0;
}

/* Closes the group, which ends where the file now does, and notes it. */
static int commit_group(gbees_hdf5 *file, gbees_error *error)
{
    H5O_info_t root = {0};
    struct stat facts = {0};
    hsize_t from = 0;

    if (file->id >= 0 && H5Oget_info(file->id, &root) < 0)
        gbees_hdf5_fail(file);
    if (file->spread && gbees_hdf5_is_open(file) &&
        H5Literate(file->id, H5_INDEX_NAME, H5_ITER_INC, &from, spread, file) < 0)
        gbees_hdf5_fail(file);
    finish(file);
    if (!file->status && fstat(file->run->descriptor, &facts))
        gbees_hdf5_reject(file, GBEES_EIO, strerror(errno));
    if (file->status)
        return gbees_error_set(error, file->status, "can't write the file %s: %s", file->path, file->reason);
    return gbees_run_file_add(file->run, file->name, root.addr, (uint64_t)facts.st_size, error);
}

int gbees_hdf5_commit(gbees_hdf5 *file, gbees_error *error)
{
    int status;

    if (file->run) {
        status = commit_group(file, error);
        end(file);
        return status;
    }
    finish(file);
    if (file->status)
        status = gbees_error_set(error, file->status, "can't write the file %s: %s", file->path, file->reason);
    else
        status = gbees_temporary_commit(&file->temporary, error);
    gbees_temporary_abandon(&file->temporary);
    end(file);
    return status;
}

/* ---- reading ----------------------------------------------------------------------------------------------------
 */

/* Opens path, or FILE/NAME as the place of a group. */
static int open_place(const char *path, gbees_hdf5_place *place, gbees_error *error)
{
    gbees_run_directory directory = {0};
    const char *name;

    place->descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (place->descriptor >= 0)
        return GBEES_OK;
    if (errno == ENOTDIR)
        place->descriptor = gbees_run_directory_open(path, &name);
    if (place->descriptor < 0)
        return gbees_error_set(error, GBEES_EIO, "can't read the file %s: %s", path, strerror(errno));
    int status = gbees_run_directory_read(place->descriptor, path, name, &directory, error);
    place->root = status ? 0 : gbees_run_directory_find(&directory, name);
    place->end = directory.end;
    gbees_run_directory_free(&directory);
    if (!status && !place->root)
        status = gbees_error_set(error, GBEES_EINPUT, "can't read %s: there is no %s in the file", path, name);
    if (status)
        (void)close(place->descriptor);
    return status;
}

int gbees_hdf5_open(const char *path, gbees_hdf5 *file, gbees_error *error)
{
    if (!gbees_hdf5_has_memory())
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to read %s", path);
    gbees_hdf5_place place = {0};
    begin(file, path);
    const int status = file->path ? open_place(path, &place, error)
                                  : gbees_error_set(error, GBEES_ENOMEM, "not enough memory to read %s", path);
    if (status) {
        end(file);
        return status;
    }
    file->descriptor = place.descriptor;
    hid_t access = make_access(file, place);
    if (access < 0)
        return 0;
    file->id = H5Fopen(path, H5F_ACC_RDONLY, access);
    if (file->id < 0)
        gbees_hdf5_fail(file);
    (void)H5Pclose(access);
    return 0;
}

int gbees_hdf5_is_summed(const gbees_hdf5 *file)
{
    H5O_info_t root;

    return gbees_hdf5_is_open(file) && H5Oget_info(file->id, &root) >= 0 && root.hdr.version > 1;
}

int gbees_hdf5_close(gbees_hdf5 *file, gbees_error *error)
{
    int status = 0;

    finish(file);
    (void)close(file->descriptor);
    if (file->status)
        status = gbees_error_set(error, file->status, "can't read the file %s: %s", file->path, file->reason);
    end(file);
    return status;
}
