/* hdf5_file.c - creates, appends to, commits, opens and closes a file or one group of it, over a driver of its own
 * (hdf5_driver.c), and stores the first failure. */
#include "hdf5_file.h"
#include "results/folder/folder.h"
#include "results/folder/record_name.h"
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

void gbees_hdf5_begin_calls(gbees_hdf5 *file)
{
    gbees_hdf5_enter();
    (void)H5Eget_auto2(H5E_DEFAULT, &file->print, &file->print_context);
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void gbees_hdf5_end_calls(gbees_hdf5 *file)
{
    gbees_hdf5_leave();
    (void)H5Eset_auto2(H5E_DEFAULT, file->print, file->print_context);
}

static void begin(gbees_hdf5 *file, const char *path)
{
    *file = (gbees_hdf5){.id = -1,
                         .whole = -1,
                         .driver = -1,
                         .group = -1,
                         .record = -1,
                         .compact = -1,
                         .axes = -1,
                         .scalar = -1,
                         .last = -1,
                         .descriptor = -1,
                         .temporary.descriptor = -1,
                         .threads = 1,
                         .path = strdup(path)};
    gbees_hdf5_begin_calls(file);
}

/* Closes the HDF5 file: what it still held is written now. */
static void finish(gbees_hdf5 *file)
{
    gbees_hdf5_release(file->last);
    if (file->whole >= 0)
        gbees_hdf5_release(file->id);
    else
        file->whole = file->id;
    if (file->whole >= 0 && H5Fclose(file->whole) < 0)
        gbees_hdf5_fail(file);
    if (file->driver >= 0)
        (void)H5FDunregister(file->driver);
    gbees_hdf5_release(file->group);
    gbees_hdf5_release(file->record);
    gbees_hdf5_release(file->compact);
    gbees_hdf5_release(file->axes);
    gbees_hdf5_release(file->scalar);
    file->id = file->whole = file->driver = file->group = file->record = file->compact = -1;
    file->axes = file->scalar = file->last = -1;
    if (file->failure) /* the driver has hidden the failure from HDF5 */
        gbees_hdf5_fail(file);
}

static void end(gbees_hdf5 *file)
{
    gbees_hdf5_end_calls(file);
    free(file->path);
    file->path = NULL;
}

/* Gives a file that is written a small cache of objects: each is written once, and not seen again. */
static herr_t keep_cache_small(hid_t access)
{
    enum { CACHE = 1 << 17 }; /* bytes: the processor's caches hold them */
    H5AC_cache_config_t config = {.version = H5AC__CURR_CACHE_CONFIG_VERSION};

    if (H5Pget_mdc_config(access, &config) < 0)
        return -1;
    config.set_initial_size = 1;
    config.initial_size = config.min_size = config.max_size = CACHE;
    config.incr_mode = H5C_incr__off;
    config.flash_incr_mode = H5C_flash_incr__off;
    config.decr_mode = H5C_decr__off;
    return H5Pset_mdc_config(access, &config);
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

/* A list of properties of a class that has groups: all attributes are in the header, and up to so many links. -1:
 * HDF5 failed. */
static hid_t keep_together(hid_t class, unsigned links)
{
    enum { MOST = 1000 };
    const hid_t made = H5Pcreate(class);

    if (made >= 0 && H5Pset_attr_phase_change(made, MOST, 0) >= 0 && H5Pset_link_phase_change(made, links, 0) >= 0 &&
        H5Pset_obj_track_times(made, 0) >= 0)
        return made;
    gbees_hdf5_release(made);
    return -1;
}

/* The lists of properties, and the type of a dataset's list of scales. Returns whether they are there. */
static int make_lists(gbees_hdf5 *file)
{
    enum { LINKS = 40, NAME = 60, MOST = 1000 }; /* room in a record's header for its links and attributes */

    file->group = keep_together(H5P_GROUP_CREATE, MOST);
    file->record = keep_together(H5P_GROUP_CREATE, MOST);
    file->compact = H5Pcreate(H5P_DATASET_CREATE);
    file->axes = H5Tvlen_create(H5T_STD_REF_OBJ);
    file->scalar = H5Screate(H5S_SCALAR);
    return file->group >= 0 && file->record >= 0 && file->compact >= 0 && file->axes >= 0 && file->scalar >= 0 &&
           H5Pset_est_link_info(file->record, LINKS, NAME) >= 0 && H5Pset_layout(file->compact, H5D_COMPACT) >= 0 &&
           H5Pset_fill_time(file->compact, H5D_FILL_TIME_NEVER) >= 0 && H5Pset_obj_track_times(file->compact, 0) >= 0;
}

/* Makes the HDF5 file; a failure is told at the commit. */
static void make(gbees_hdf5 *file, gbees_hdf5_place place)
{
    const hid_t access = make_access(file, place),
                root = access < 0 ? -1 : keep_together(H5P_FILE_CREATE, place.start ? 8 : 1000);

    if (access < 0)
        return;
    if (make_lists(file) && root >= 0 && keep_cache_small(access) >= 0)
        file->id = H5Fcreate(file->path, H5F_ACC_TRUNC, root, access);
    if (file->id < 0)
        gbees_hdf5_fail(file);
    gbees_hdf5_release(root);
    gbees_hdf5_release(access);
}

int gbees_hdf5_make_behind(int descriptor, uint64_t start, unsigned char *superblock, gbees_hdf5 *file,
                           gbees_error *error)
{
    if (!gbees_hdf5_has_memory())
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to write " GBEES_RUN_FILE);
    begin(file, GBEES_RUN_FILE);
    if (file->path)
        make(file, (gbees_hdf5_place){.descriptor = descriptor, .start = start, .superblock = superblock});
    else
        gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory");
    gbees_hdf5_end_calls(file);
    return GBEES_OK;
}

void gbees_hdf5_finish(gbees_hdf5 *file)
{
    finish(file);
    free(file->path);
    file->path = NULL;
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

int gbees_hdf5_begin_group(gbees_hdf5 *file, const char *name, gbees_error *error)
{
    if (!gbees_hdf5_has_memory())
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to write %s", name);
    begin(file, GBEES_RUN_FILE);
    if (file->path)
        return GBEES_OK;
    end(file);
    return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to write %s", name);
}

void gbees_hdf5_take_lists(gbees_hdf5 *file, gbees_hdf5 *root)
{
    file->root = root;
    file->group = root->group;
    file->compact = root->compact;
    file->axes = root->axes;
    file->scalar = root->scalar;
}

void gbees_hdf5_end_group(gbees_hdf5 *file)
{
    end(file);
}

hid_t gbees_hdf5_open_set(gbees_hdf5 *file, const char *name)
{
    if (file->last >= 0 && strcmp(file->last_name, name) == 0 && H5Iinc_ref(file->last) > 0)
        return file->last;
    return H5Dopen2(file->id, gbees_hdf5_within(name), H5P_DEFAULT);
}

int gbees_hdf5_commit(gbees_hdf5 *file, gbees_error *error)
{
    int status;

    if (file->commit) {
        status = file->commit(file, error);
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

int gbees_hdf5_open_part(const char *path, const char **name)
{
    char *file = strdup(path);
    int descriptor = file ? open(file, O_RDONLY | O_CLOEXEC) : -1, reason = file ? errno : ENOMEM;

    *name = path + strlen(path);
    for (char *slash = file ? strrchr(file, '/') : NULL; descriptor < 0 && reason == ENOTDIR && slash && slash > file;
         slash = strrchr(file, '/')) {
        *slash = '\0';
        *name = path + (slash - file) + 1;
        descriptor = open(file, O_RDONLY | O_CLOEXEC);
        reason = errno;
    }
    free(file);
    errno = reason;
    return descriptor;
}

/* Opens the HDF5 file, and a group of it if it has a name. */
static void open_place(gbees_hdf5 *file, const char *name, int is_safe)
{
    const hid_t access = make_access(file, (gbees_hdf5_place){.descriptor = file->descriptor, .safe = is_safe});

    file->is_safe = is_safe;
    file->id = access < 0 ? -1 : H5Fopen(file->path, H5F_ACC_RDONLY, access);
    if (file->id >= 0 && *name) {
        file->whole = file->id;
        file->id = H5Gopen2(file->whole, name, H5P_DEFAULT);
    }
    if (file->id < 0)
        gbees_hdf5_fail(file);
    gbees_hdf5_release(access);
}

/* Opens the file, or, where the newest superblock leads to nothing, by that of the last sync. */
static void open_either(gbees_hdf5 *file, const char *name)
{
    char reason[sizeof file->reason];

    open_place(file, name, 0);
    if (!file->status)
        return;
    const gbees_status status = file->status;
    memcpy(reason, file->reason, sizeof reason);
    finish(file);
    file->status = GBEES_OK;
    file->failure = 0;
    open_place(file, name, 1);
    if (file->status)
        file->status = status;
    memcpy(file->reason, reason, sizeof reason);
}

int gbees_hdf5_open(const char *path, gbees_hdf5 *file, gbees_error *error)
{
    const char *name = "";
    int status = GBEES_OK;

    if (!gbees_hdf5_has_memory())
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to read %s", path);
    begin(file, path);
    if (!file->path)
        status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory to read %s", path);
    else if ((file->descriptor = gbees_hdf5_open_part(path, &name)) < 0)
        status = gbees_error_set(error, GBEES_EIO, "can't read the file %s: %s", path, strerror(errno));
    if (status)
        end(file);
    else
        open_either(file, name);
    return status;
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
