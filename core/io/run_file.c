/* run_file.c - run.h5 while it is written: objects are appended, a commit publishes them; see run_file.h. */
#include "run_file.h"
#include "record_name.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse(gbees_error *error)
{
    return gbees_error_set(error, GBEES_EIO, "can't write the file " GBEES_RUN_FILE ": %s", strerror(errno));
}

static int no_memory(gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to write " GBEES_RUN_FILE);
}

/* Writes all `size` bytes at `address`; 0, or -1 and errno. */
static int write_at(int descriptor, const void *data, size_t size, uint64_t address)
{
    for (size_t done = 0; done < size;) {
        const ssize_t wrote = pwrite(descriptor, (const char *)data + done, size - done, (off_t)(address + done));

        if (wrote < 0 && errno != EINTR)
            return -1;
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return 0;
}

/* ---- the superblock -------------------------------------------------------------------------------------------- */

/* Writes the first block: the newest superblock at 0, the safe one at GBEES_RUN_SAFE. It is a single write of one
 * disk sector, so that another process sees either the old or the new one. 0, or -1 and errno. */
static int write_superblock(const gbees_run_file *file, const unsigned char newest[GBEES_HDF5_SUPERBLOCK])
{
    unsigned char block[GBEES_RUN_BLOCK] = {0};

    memcpy(block, newest, GBEES_HDF5_SUPERBLOCK);
    memcpy(block + GBEES_RUN_SAFE, file->safe, GBEES_HDF5_SUPERBLOCK);
    return write_at(file->descriptor, block, sizeof block, 0);
}

int gbees_run_file_commit(gbees_run_file *file, int at_once, gbees_error *error)
{
    gbees_bytes list = {0};
    unsigned char newest[GBEES_HDF5_SUPERBLOCK];
    int status = GBEES_OK;

    if (!file->has_uncommitted)
        return GBEES_OK;
    const uint64_t start = (file->end + 7) / 8 * 8;
    const uint64_t root = gbees_run_directory_write(&file->directory, start, &list);
    if (list.failed)
        status = no_memory(error);
    else if (at_once || file->listed + list.length <= file->added) {
        gbees_hdf5_superblock(root, start + list.length, newest);
        if (write_at(file->descriptor, list.data, list.length, start) || write_superblock(file, newest))
            status = refuse(error);
        else {
            memcpy(file->newest, newest, sizeof newest);
            file->end = start + list.length;
            file->listed += list.length;
            file->has_uncommitted = 0;
        }
    }
    if (file->has_uncommitted)
        gbees_run_directory_unplace(&file->directory, start);
    gbees_bytes_free(&list);
    return status;
}

void gbees_run_file_synced(gbees_run_file *file)
{
    memcpy(file->safe, file->newest, sizeof file->safe);
}

/* ---- opening --------------------------------------------------------------------------------------------------- */

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
    file->end = GBEES_RUN_DATA;
    file->has_uncommitted = 1;
    status = file->descriptor < 0 ? refuse(error) : gbees_run_file_commit(file, 1, error);
    if (!status)
        status = gbees_temporary_commit(&temporary, error);
    gbees_temporary_abandon(&temporary);
    return status;
}

int gbees_run_file_create(const gbees_store *store, gbees_run_file **file, gbees_error *error)
{
    gbees_run_file *made = calloc(1, sizeof *made);

    if (!made)
        return no_memory(error);
    made->descriptor = -1;
    const int status = begin_file(store, made, error);
    if (status)
        gbees_run_file_destroy(made);
    else
        *file = made;
    return status;
}

/* Reads the directory of an open run.h5. Appending starts after its newest groups; what follows them was never
 * committed and is overwritten. */
static int take_file(gbees_run_file *file, gbees_error *error)
{
    struct stat facts;

    if (fstat(file->descriptor, &facts) || !S_ISREG(facts.st_mode))
        return gbees_error_set(error, GBEES_EIO, "can't write the file " GBEES_RUN_FILE ": it is no file");
    const int status = gbees_run_directory_read(file->descriptor, GBEES_RUN_FILE, NULL, &file->directory, error);
    if (status)
        return status;
    file->end = file->added = file->directory.end;
    gbees_hdf5_superblock(file->directory.root, file->end, file->newest);
    gbees_run_file_synced(file);
    return GBEES_OK;
}

int gbees_run_file_reopen(const gbees_store *store, gbees_run_file **file, gbees_error *error)
{
    gbees_run_file *made = calloc(1, sizeof *made);
    int status = GBEES_OK;

    *file = NULL;
    if (!made)
        return no_memory(error);
    made->descriptor = openat(store->descriptor, GBEES_RUN_FILE, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    const int none = made->descriptor < 0 && errno == ENOENT;
    if (!none)
        status = made->descriptor < 0 ? refuse(error) : take_file(made, error);
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
    if (file->descriptor >= 0)
        (void)close(file->descriptor);
    gbees_run_directory_free(&file->directory);
    free(file);
}

/* ---- objects --------------------------------------------------------------------------------------------------- */

uint64_t gbees_run_file_begin(gbees_run_file *file)
{
    const uint64_t start = (file->end + 7) / 8 * 8;
    struct stat facts;

    if (fstat(file->descriptor, &facts) == 0 && (uint64_t)facts.st_size > start)
        (void)!ftruncate(file->descriptor, (off_t)start); /* a failure does no harm: the bytes are overwritten */
    return start;
}

int gbees_run_file_add(gbees_run_file *file, const char *name, uint64_t address, uint64_t end, gbees_error *error)
{
    if (gbees_run_directory_add(&file->directory, name, address))
        return no_memory(error);
    if (end > file->end) {
        file->added += end - file->end;
        file->end = end;
    }
    file->has_uncommitted = 1;
    return GBEES_OK;
}
