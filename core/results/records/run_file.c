/* run_file.c - run.h5 while it is written: HDF5 appends groups, a commit publishes them; see run_file.h. */
#include "run_file.h"
#include "base/no_memory.h"
#include "base/seconds.h"
#include "results/folder/folder.h"
#include "results/folder/record_name.h"
#include "results/hdf5/hdf5_util.h"
#include <errno.h>
#include <fcntl.h>
#include <gbees/gbees.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Commits take a twentieth of the time at most. */
static const double commit_part = 0.05;
/* What the root group has besides legs, and every commit keeps. */
static const char *const kept[] = {GBEES_RUN_FACTS, "state", "axis", "sample"};

static int refuse(gbees_error *error, const char *reason)
{
    return gbees_error_set(error, GBEES_EIO, "can't write the file " GBEES_RUN_FILE ": %s", reason);
}

/* ---- the superblock -------------------------------------------------------------------------------------------- */

/* Writes the first block in a single write of one disk sector, so that another process sees either the old or the new
 * one. 0, or -1 and errno. */
static int write_superblock(const gbees_run_file *file)
{
    unsigned char block[GBEES_RUN_BLOCK] = {0};

    memcpy(block, file->made, GBEES_HDF5_SUPERBLOCK);
    memcpy(block + GBEES_HDF5_SAFE, file->safe, GBEES_HDF5_SUPERBLOCK);
    const ssize_t wrote = pwrite(file->descriptor, block, sizeof block, 0);
    if (wrote >= 0 && wrote != (ssize_t)sizeof block)
        errno = EIO;
    return wrote == (ssize_t)sizeof block ? 0 : -1;
}

void gbees_run_file_synced(gbees_run_file *file)
{
    memcpy(file->safe, file->newest, sizeof file->safe);
}

/* ---- the file of what is not committed --------------------------------------------------------------------------
 */

/* Links what `name` is in one group into another one, unless that has something of the name. */
static herr_t take_over(hid_t from, hid_t to, const char *name)
{
    return H5Lexists(to, name, H5P_DEFAULT) > 0 ? 0 : H5Lcreate_hard(from, name, to, name, H5P_DEFAULT, H5P_DEFAULT);
}

static herr_t put_head(const gbees_run_file *file)
{
    gbees_hdf5 root = file->next;

    gbees_hdf5_attribute_text(&root, "/", "format", "gbees-run");
    gbees_hdf5_attribute(&root, "/", "format_version", H5T_NATIVE_INT, 0, NULL, &(int){1});
    gbees_hdf5_attribute_text(&root, "/", "gbees_version", gbees_version());
    return root.status ? -1 : 0;
}

/* Closes it: HDF5 writes what it still held. */
static void end_next(gbees_run_file *file)
{
    gbees_hdf5_release(file->before);
    gbees_hdf5_release(file->grid);
    file->before = file->grid = -1;
    gbees_hdf5_finish(&file->next);
}

/* Opens the root group of the last commit by its address, and takes over what stays. */
static herr_t take_kept(gbees_run_file *file)
{
    herr_t taken = 0;

    if (!file->root)
        return 0;
    file->before = H5Oopen_by_addr(file->next.id, file->root);
    for (size_t k = 0; file->before >= 0 && taken >= 0 && k < sizeof kept / sizeof *kept; k++)
        if (H5Lexists(file->before, kept[k], H5P_DEFAULT) > 0)
            taken = take_over(file->before, file->next.id, kept[k]);
    return file->before < 0 ? -1 : taken;
}

/* Has HDF5 make a file behind what there is. */
static int begin_next(gbees_run_file *file, gbees_error *error)
{
    const uint64_t start = (file->end + 7) / 8 * 8;
    struct stat facts;

    if (file->next.id >= 0)
        return GBEES_OK;
    if (fstat(file->descriptor, &facts) == 0 && (uint64_t)facts.st_size > start)
        (void)!ftruncate(file->descriptor, (off_t)start); /* a failure does no harm: the bytes are overwritten */
    int status = gbees_hdf5_make_behind(file->descriptor, start, file->made, &file->next, error);
    if (status)
        return status;
    gbees_hdf5_begin_calls(&file->next);
    if (file->next.id < 0 || put_head(file) < 0 || take_kept(file) < 0) {
        gbees_hdf5_fail(&file->next);
        status = refuse(error, file->next.reason);
        end_next(file);
    }
    gbees_hdf5_end_calls(&file->next);
    return status;
}

void gbees_run_file_abandon(gbees_run_file *file)
{
    if (file->next.id < 0)
        return;
    gbees_hdf5_begin_calls(&file->next);
    end_next(file);
    gbees_hdf5_end_calls(&file->next);
    (void)!ftruncate(file->descriptor, (off_t)file->end);
}

int gbees_run_file_is_committed(const gbees_run_file *file)
{
    return file->next.id < 0;
}

/* Makes a group, in place of an older one, and its leg's if there is none. */
static hid_t make_group(const gbees_hdf5 *root, const char *name)
{
    const char *slash = strchr(name, '/');
    char leg[GBEES_RECORD_NAME] = "";

    if (slash)
        memcpy(leg, name, (size_t)(slash - name) < sizeof leg ? (size_t)(slash - name) : 0);
    const int has_leg = !slash || H5Lexists(root->id, leg, H5P_DEFAULT) > 0;
    if (has_leg && H5Lexists(root->id, name, H5P_DEFAULT) > 0)
        (void)H5Ldelete(root->id, name, H5P_DEFAULT);
    if (!has_leg)
        gbees_hdf5_release(H5Gcreate2(root->id, leg, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    return H5Gcreate2(root->id, name, H5P_DEFAULT, slash ? root->record : root->group, H5P_DEFAULT);
}

/* Gives an object of the group a link from the file's root, too. */
static herr_t spread(hid_t group, const char *name, const H5L_info_t *info, void *context)
{
    const gbees_hdf5 *root = context;

    (void)info;
    return take_over(group, root->id, name);
}

/* Closes the group. One that is not whole is given up. */
static int commit_group(gbees_hdf5 *group, gbees_error *error)
{
    gbees_hdf5 *root = group->root;
    hsize_t from = 0;

    if (group->spread && gbees_hdf5_is_open(group) &&
        H5Literate(group->id, H5_INDEX_NAME, H5_ITER_INC, &from, spread, root) < 0)
        gbees_hdf5_fail(group);
    gbees_hdf5_release(group->last);
    gbees_hdf5_release(group->id);
    group->id = group->last = -1;
    if (root->failure) { /* the driver has hidden it from HDF5 */
        group->failure = root->failure;
        gbees_hdf5_fail(group);
        gbees_run_file_abandon(group->run);
    } else if (group->status)
        (void)H5Ldelete(root->id, group->name, H5P_DEFAULT);
    return group->status
               ? gbees_error_set(error, group->status, "can't write the file %s: %s", group->path, group->reason)
               : GBEES_OK;
}

int gbees_run_file_append(gbees_run_file *file, const char *name, gbees_hdf5 *group, gbees_error *error)
{
    int status = gbees_hdf5_begin_group(group, name, error);

    if (status)
        return status;
    status = begin_next(file, error);
    if (!status && (group->id = make_group(&file->next, name)) < 0) {
        gbees_hdf5_fail(group);
        status = refuse(error, group->reason);
    }
    if (status) {
        gbees_hdf5_end_group(group);
        return status;
    }
    gbees_hdf5_take_lists(group, &file->next);
    group->run = file;
    group->commit = commit_group;
    (void)snprintf(group->name, sizeof group->name, "%s", name);
    return GBEES_OK;
}

int gbees_run_file_share_grid(gbees_run_file *file, hid_t record, const double *numbers, size_t count)
{
    return file->grid >= 0 && memcmp(file->numbers, numbers, count * sizeof *numbers) == 0 &&
           H5Olink(file->grid, record, "grid", H5P_DEFAULT, H5P_DEFAULT) >= 0;
}

void gbees_run_file_keep_grid(gbees_run_file *file, hid_t record, const double *numbers, size_t count)
{
    gbees_hdf5_release(file->grid);
    file->grid = H5Gopen2(record, "grid", H5P_DEFAULT);
    memcpy(file->numbers, numbers, count * sizeof *numbers);
}

/* ---- commits ----------------------------------------------------------------------------------------------------
 */

/* The two root groups, while legs are taken over; a leg's groups, while its records are. */
typedef struct two_groups {
    hid_t from, to;
} two_groups;

static herr_t take_record(hid_t leg, const char *name, const H5L_info_t *info, void *context)
{
    const two_groups *groups = context;

    (void)info;
    return take_over(leg, groups->to, name);
}

/* Takes over a leg as it is, or its records, if there are new ones. */
static herr_t take_leg(hid_t root, const char *name, const H5L_info_t *info, void *context)
{
    const two_groups *groups = context;
    hsize_t from = 0;

    (void)info;
    if (!gbees_record_name_is_leg(name))
        return 0;
    if (H5Lexists(groups->to, name, H5P_DEFAULT) <= 0)
        return H5Lcreate_hard(root, name, groups->to, name, H5P_DEFAULT, H5P_DEFAULT);
    two_groups legs = {H5Gopen2(root, name, H5P_DEFAULT), H5Gopen2(groups->to, name, H5P_DEFAULT)};
    const herr_t taken = legs.from < 0 || legs.to < 0
                             ? -1
                             : H5Literate(legs.from, H5_INDEX_NAME, H5_ITER_NATIVE, &from, take_record, &legs);
    gbees_hdf5_release(legs.from);
    gbees_hdf5_release(legs.to);
    return taken;
}

/* Closes the file, which has all legs and records, and publishes its root group. */
static int publish(gbees_run_file *file, gbees_error *error)
{
    gbees_hdf5 *next = &file->next;
    two_groups roots = {file->before, next->id};
    H5O_info_t root = {0};
    struct stat facts;
    hsize_t from = 0;

    if ((file->root && H5Literate(roots.from, H5_INDEX_NAME, H5_ITER_NATIVE, &from, take_leg, &roots) < 0) ||
        H5Oget_info(next->id, &root) < 0)
        gbees_hdf5_fail(next);
    end_next(file);
    if (!next->status && (fstat(file->descriptor, &facts) || write_superblock(file)))
        gbees_hdf5_reject(next, GBEES_EIO, strerror(errno));
    if (next->status) {
        (void)!ftruncate(file->descriptor, (off_t)file->end);
        return refuse(error, next->reason);
    }
    memcpy(file->newest, file->made, sizeof file->newest);
    file->root = root.addr;
    file->end = (uint64_t)facts.st_size;
    return GBEES_OK;
}

int gbees_run_file_commit(gbees_run_file *file, int at_once, gbees_error *error)
{
    const double start = gbees_seconds_now();

    if (gbees_run_file_is_committed(file) || (!at_once && (start - file->committed_s) * commit_part < file->took_s))
        return GBEES_OK;
    gbees_hdf5_begin_calls(&file->next);
    const int status = publish(file, error);
    gbees_hdf5_end_calls(&file->next);
    file->committed_s = gbees_seconds_now();
    file->took_s = file->committed_s - start;
    return status;
}

/* ---- opening --------------------------------------------------------------------------------------------------- */

static gbees_run_file *allocate(void)
{
    gbees_run_file *made = calloc(1, sizeof *made);

    if (made) {
        made->descriptor = -1;
        made->before = made->grid = made->next.id = -1;
        made->end = GBEES_RUN_BLOCK;
    }
    return made;
}

/* Creates the file with an empty list under a temporary name and renames it, so that run.h5 is never seen without a
 * superblock. */
static int begin_file(const gbees_store *store, gbees_run_file *file, gbees_error *error)
{
    gbees_temporary temporary;
    int status = gbees_temporary_create(store, GBEES_RUN_FILE, &temporary, error);

    if (status)
        return status;
    temporary.unsynced = 1;
    file->descriptor = fcntl(temporary.descriptor, F_DUPFD_CLOEXEC, 0);
    status = file->descriptor < 0 ? refuse(error, strerror(errno)) : begin_next(file, error);
    if (!status)
        status = gbees_run_file_commit(file, 1, error);
    if (!status)
        status = gbees_temporary_commit(&temporary, error);
    gbees_temporary_abandon(&temporary);
    return status;
}

int gbees_run_file_create(const gbees_store *store, gbees_run_file **file, gbees_error *error)
{
    gbees_run_file *made = allocate();

    if (!made)
        return gbees_no_memory(error, "to write " GBEES_RUN_FILE);
    const int status = begin_file(store, made, error);
    if (status)
        gbees_run_file_destroy(made);
    else
        *file = made;
    return status;
}

/* Appending starts behind what there is, of which the last may not have been committed. */
static int take_file(const gbees_store *store, gbees_run_file *file, gbees_error *error)
{
    gbees_hdf5 held;
    H5O_info_t root = {0};
    struct stat facts = {0};
    char *path = gbees_folder_join(store->path, GBEES_RUN_FILE);

    int status = path ? gbees_hdf5_open(path, &held, error) : gbees_no_memory(error, "to write " GBEES_RUN_FILE);
    free(path);
    if (status)
        return status;
    if (!held.status && (H5Oget_info(held.id, &root) < 0 || fstat(file->descriptor, &facts) ||
                         pread(held.descriptor, file->newest, sizeof file->newest,
                               held.is_safe ? GBEES_HDF5_SAFE : 0) != sizeof file->newest))
        gbees_hdf5_fail(&held);
    status = gbees_hdf5_close(&held, error);
    if (status)
        return status;
    file->root = root.addr;
    file->end = (uint64_t)facts.st_size;
    gbees_run_file_synced(file);
    return GBEES_OK;
}

int gbees_run_file_reopen(const gbees_store *store, gbees_run_file **file, gbees_error *error)
{
    gbees_run_file *made = allocate();
    int status = GBEES_OK;

    *file = NULL;
    if (!made)
        return gbees_no_memory(error, "to write " GBEES_RUN_FILE);
    made->descriptor = openat(store->descriptor, GBEES_RUN_FILE, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const int none = made->descriptor < 0 && errno == ENOENT;
    if (!none)
        status = made->descriptor < 0 ? refuse(error, strerror(errno)) : take_file(store, made, error);
    if (status || none)
        gbees_run_file_destroy(made);
    else
        *file = made;
    return status;
}

void gbees_run_file_destroy(gbees_run_file *file)
{
    if (!file)
        return;
    gbees_run_file_abandon(file);
    if (file->descriptor >= 0)
        (void)close(file->descriptor);
    free(file);
}
