/* hdf5_file.c - see hdf5_file.h. */
#include "hdf5_file.h"
#include "folder.h"
#include "hdf5_driver.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
                         .descriptor = -1,
                         .temporary.descriptor = -1,
                         .deflate = 4,
                         .threads = 1,
                         .path = strdup(path)};
    (void)H5Eget_auto2(H5E_DEFAULT, &file->print, &file->print_context);
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* Closes the HDF5 file: what it still held is written now. */
static void finish(gbees_hdf5 *file)
{
    if (file->id >= 0 && H5Fclose(file->id) < 0)
        gbees_hdf5_fail(file);
    if (file->driver >= 0)
        (void)H5FDunregister(file->driver);
    file->id = file->driver = -1;
    if (file->failure) /* the driver has hidden the failure from HDF5 */
        gbees_hdf5_fail(file);
}

static void end(gbees_hdf5 *file)
{
    (void)H5Eset_auto2(H5E_DEFAULT, file->print, file->print_context);
    free(file->path);
    file->path = NULL;
}

static hid_t make_access(gbees_hdf5 *file, int descriptor)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);

    if (access >= 0 && H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18) >= 0)
        file->driver = gbees_hdf5_driver_set(access, descriptor, &file->failure);
    if (file->driver >= 0)
        return access;
    gbees_hdf5_fail(file);
    if (access >= 0)
        (void)H5Pclose(access);
    return -1;
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
    hid_t access = make_access(file, file->temporary.descriptor);
    if (access < 0)
        return 0; /* told at the commit */
    file->id = H5Fcreate(file->path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    if (file->id < 0)
        gbees_hdf5_fail(file);
    (void)H5Pclose(access);
    return 0;
}

int gbees_hdf5_commit(gbees_hdf5 *file, gbees_error *error)
{
    int status;

    finish(file);
    if (file->status)
        status = gbees_error_set(error, file->status, "can't write the file %s: %s", file->path, file->reason);
    else
        status = gbees_temporary_commit(&file->temporary, error);
    gbees_temporary_abandon(&file->temporary);
    end(file);
    return status;
}

int gbees_hdf5_open(const char *path, gbees_hdf5 *file, gbees_error *error)
{
    if (!gbees_hdf5_has_memory())
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to read %s", path);
    begin(file, path);
    if (file->path)
        file->descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (file->descriptor < 0) {
        int status = file->path
                         ? gbees_error_set(error, GBEES_EIO, "can't read the file %s: %s", path, strerror(errno))
                         : gbees_error_set(error, GBEES_ENOMEM, "not enough memory to read %s", path);

        end(file);
        return status;
    }
    hid_t access = make_access(file, file->descriptor);
    if (access < 0)
        return 0;
    file->id = H5Fopen(path, H5F_ACC_RDONLY, access);
    if (file->id < 0)
        gbees_hdf5_fail(file);
    (void)H5Pclose(access);
    return 0;
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
