/* temporary.c - files that take their names when they are whole; see store.h. */
#include "base/write_all.h"
#include "store.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int refuse(const gbees_store *store, const char *name, int reason, gbees_error *error)
{
    return gbees_error_set(error, GBEES_EIO, "can't write the file %s/%s: %s", store->path, name, strerror(reason));
}

int gbees_temporary_create(const gbees_store *store, const char *name, gbees_temporary *file, gbees_error *error)
{
    *file = (gbees_temporary){.store = store, .descriptor = -1};
    if (strlen(name) >= sizeof file->name)
        return gbees_error_set(error, GBEES_EUSAGE, "the name of the file %s is too long", name);
    (void)snprintf(file->name, sizeof file->name, "%s", name);
    (void)snprintf(file->temporary, sizeof file->temporary, "%s.tmp", name);
    file->descriptor =
        openat(store->descriptor, file->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file->descriptor >= 0)
        return GBEES_OK;
    int status = errno == EEXIST ? gbees_error_set(error, GBEES_EIO,
                                                   "can't write the file %s/%s: it is there already, and not this "
                                                   "run's: remove it",
                                                   store->path, file->temporary)
                                 : refuse(store, file->temporary, errno, error);
    file->store = NULL;
    return status;
}

/* Syncs the folder of a new file, so that its name is on disk. Some file systems can't sync folders. */
static int sync_folder(const gbees_store *store)
{
    int result = fsync(store->descriptor);

    return result && errno != EINVAL && errno != ENOTSUP && errno != EROFS ? -1 : 0;
}

int gbees_temporary_commit(gbees_temporary *file, gbees_error *error)
{
    const gbees_store *store = file->store;
    int failed = !file->unsynced && fsync(file->descriptor) && errno != EINVAL && errno != ENOTSUP;
    int reason = errno;

    if (close(file->descriptor) && !failed) {
        failed = 1;
        reason = errno;
    }
    file->descriptor = -1;
    if (!failed && (renameat(store->descriptor, file->temporary, store->descriptor, file->name) ||
                    (!file->unsynced && sync_folder(store)))) {
        failed = 1;
        reason = errno;
    }
    if (failed) {
        int status = refuse(store, file->name, reason, error);

        gbees_temporary_abandon(file);
        return status;
    }
    file->store = NULL;
    return GBEES_OK;
}

void gbees_temporary_abandon(gbees_temporary *file)
{
    if (!file->store)
        return;
    if (file->descriptor >= 0)
        (void)close(file->descriptor);
    (void)unlinkat(file->store->descriptor, file->temporary, 0);
    file->store = NULL;
    file->descriptor = -1;
}

static int write_text(const gbees_store *store, const char *name, const char *text, size_t length, int unsynced,
                      gbees_error *error)
{
    gbees_temporary file;
    int status = gbees_temporary_create(store, name, &file, error);

    if (status)
        return status;
    file.unsynced = unsynced;
    if (gbees_write_all(file.descriptor, text, length) == 0)
        return gbees_temporary_commit(&file, error);
    status = refuse(store, name, errno, error);
    gbees_temporary_abandon(&file);
    return status;
}

int gbees_store_write(const gbees_store *store, const char *name, const char *text, size_t length, gbees_error *error)
{
    return write_text(store, name, text, length, 0, error);
}

int gbees_store_write_unsynced(const gbees_store *store, const char *name, const char *text, size_t length,
                               gbees_error *error)
{
    return write_text(store, name, text, length, 1, error);
}

/* One call for all files: to sync hundreds of small ones each by itself takes seconds. */
int gbees_store_sync(const gbees_store *store, gbees_error *error)
{
    if (syncfs(store->descriptor) == 0 || errno == EINVAL || errno == ENOTSUP || errno == ENOSYS || errno == EROFS)
        return GBEES_OK;
    return gbees_error_set(error, GBEES_EIO, "can't write to the folder %s: %s", store->path, strerror(errno));
}
