/* store.c - opens a results folder: checks its owner, locks it, and checks and clears its content; see store.h. */
#include "store.h"
#include "folder.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 10, PAGE = 4096, RESERVED = 4 * PAGE };

static const char lock_name[] = ".gbees.lock";

/* ---- owner ----------------------------------------------------------------------------------------------------- */

/* Whether users other than its owner may write to a folder. A group of the same number as its user is the user's own.
 */
static int is_open_to_others(const struct stat *folder)
{
    return (folder->st_mode & S_IWOTH) || ((folder->st_mode & S_IWGRP) && folder->st_gid != folder->st_uid);
}

/* Whether what the user makes in a folder has the folder's owner: file systems may map owners. */
static int maps_to_owner(const gbees_store *store, uid_t owner)
{
    static const char name[] = ".gbees.owner";
    int file = openat(store->descriptor, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    struct stat made;

    if (file < 0)
        return 0;
    int same = fstat(file, &made) == 0 && made.st_uid == owner;
    (void)unlinkat(store->descriptor, name, 0);
    (void)close(file);
    return same;
}

static int check_owner(const gbees_store *store, gbees_error *error)
{
    struct stat folder;

    if (fstat(store->descriptor, &folder))
        return gbees_error_set(error, GBEES_EIO, "can't read the folder %s: %s", store->path, strerror(errno));
    if (folder.st_uid != geteuid() && !maps_to_owner(store, folder.st_uid))
        return gbees_error_set(error, GBEES_EIO,
                               "the folder %s belongs to another user (number %lu): give the name of a new folder",
                               store->path, (unsigned long)folder.st_uid);
    if (is_open_to_others(&folder))
        return gbees_error_set(
            error, GBEES_EIO,
            "others may write to the folder %s (mode %04o): forbid it, as with chmod go-w, or give "
            "the name of a new folder",
            store->path, (unsigned)folder.st_mode & 07777);
    return GBEES_OK;
}

/* ---- lock ------------------------------------------------------------------------------------------------------ */

static void let_go(gbees_store *store)
{
    if (store->lock < 0)
        return;
    (void)unlinkat(store->descriptor, lock_name, 0);
    (void)close(store->lock);
    store->lock = -1;
}

/* Names the process that has the lock, as that process wrote it. */
static int busy(gbees_store *store, gbees_error *error)
{
    char text[128];
    ssize_t length = pread(store->lock, text, sizeof text - 1, 0);

    text[length > 0 ? length : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    (void)close(store->lock);
    store->lock = -1;
    return gbees_error_set(error, GBEES_EIO, "another run is writing to the folder %s%s%s: give another name",
                           store->path, text[0] ? ": " : "", text);
}

static void sign(const gbees_store *store)
{
    char host[64] = "", text[128];

    (void)gethostname(host, sizeof host - 1);
    int length = snprintf(text, sizeof text, "process %ld on %s\n", (long)getpid(), host);
    if (ftruncate(store->lock, 0) == 0)
        (void)!pwrite(store->lock, text, (size_t)length, 0); /* for messages alone */
}

/* Takes space behind the lock file's text; a file system that can't do so has none. */
static void reserve(const gbees_store *store)
{
    if (store->lock >= 0)
        (void)!fallocate(store->lock, FALLOC_FL_KEEP_SIZE, PAGE, RESERVED);
}

void gbees_store_use_reserve(const gbees_store *store)
{
    if (store->lock >= 0)
        (void)!fallocate(store->lock, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, PAGE, RESERVED);
}

/* Locks the file of that name, which must still be in the folder then. A file system without locks has none. */
static int take_lock(gbees_store *store, gbees_error *error)
{
    for (int k = 0; k < TRIES; k++) {
        struct stat held, named;

        store->lock = openat(store->descriptor, lock_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
        if (store->lock < 0)
            return gbees_error_set(error, GBEES_EIO, "can't write to the folder %s: %s: %s", store->path, lock_name,
                                   strerror(errno));
        if (flock(store->lock, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
            return busy(store, error);
        if (fstat(store->lock, &held) == 0 &&
            fstatat(store->descriptor, lock_name, &named, AT_SYMLINK_NOFOLLOW) == 0 && held.st_ino == named.st_ino &&
            held.st_dev == named.st_dev)
            return GBEES_OK;
        (void)close(store->lock); /* its owner removed it meanwhile */
        store->lock = -1;
    }
    return gbees_error_set(error, GBEES_EIO, "the folder %s is being written by several runs: give another name",
                           store->path);
}

int gbees_store_check(const char *path, gbees_error *error)
{
    char *copy = strdup(path), *name = copy ? gbees_folder_join(copy, lock_name) : NULL;
    gbees_store store = {copy, -1, name ? open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1};
    int status = GBEES_OK;

    if (!name)
        status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the name of a folder");
    else if (store.lock >= 0 && flock(store.lock, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK)
        status = busy(&store, error);
    if (store.lock >= 0)
        (void)close(store.lock);
    free(name);
    free(copy);
    return status;
}

/* ---- content --------------------------------------------------------------------------------------------------- */

int gbees_store_is_leftover(const char *name)
{
    static const char *const files[] = {"run.json",   "scenario.yaml",   "run.h5",          "run.xdmf",  "moments.h5",
                                        "compare.h5", "checkpoint-A.h5", "checkpoint-B.h5", "SHA256SUMS"};
    const size_t length = strlen(name);
    int leg, record, end = 0;

    if (strcmp(name, lock_name) == 0)
        return 1;
    if (length < 5 || strcmp(name + length - 4, ".tmp") != 0)
        return 0;
    for (size_t k = 0; k < sizeof files / sizeof *files; k++)
        if (length == strlen(files[k]) + 4 && strncmp(name, files[k], length - 4) == 0)
            return 1;
    return sscanf(name, "leg%9d_record%9d%n", &leg, &record, &end) == 2 &&
           (strcmp(name + end, ".h5.tmp") == 0 || strcmp(name + end, ".xdmf.tmp") == 0);
}

/* Removes leftovers; refuses a folder that has other files, unless they may stay. */
static int tidy(const gbees_store *store, int may_stay, gbees_error *error)
{
    int copy = openat(store->descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), others = 0;
    DIR *folder = copy < 0 ? NULL : fdopendir(copy);

    if (!folder) {
        int status = gbees_error_set(error, GBEES_EIO, "can't read the folder %s: %s", store->path, strerror(errno));

        if (copy >= 0)
            (void)close(copy);
        return status;
    }
    for (const struct dirent *entry; (entry = readdir(folder));) {
        const char *name = entry->d_name;
        struct stat file;

        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, lock_name) == 0)
            continue;
        if (!gbees_store_is_leftover(name) || fstatat(store->descriptor, name, &file, AT_SYMLINK_NOFOLLOW) ||
            !S_ISREG(file.st_mode) || unlinkat(store->descriptor, name, 0))
            others++;
    }
    (void)closedir(folder);
    return others && !may_stay
               ? gbees_error_set(
                     error, GBEES_EIO,
                     "the folder %s is not empty: remove it or choose another name, nothing is overwritten",
                     store->path)
               : GBEES_OK;
}

/* ---- all of it ------------------------------------------------------------------------------------------------- */

static int open_folder(gbees_store *store, gbees_error *error)
{
    int status = gbees_folder_make_all(store->path, error);

    if (status)
        return status;
    store->descriptor = open(store->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (store->descriptor < 0 && errno == ENOTDIR)
        return gbees_error_set(error, GBEES_EIO, "%s is no folder: choose another name for the results", store->path);
    if (store->descriptor < 0)
        return gbees_error_set(error, GBEES_EIO, "can't read the folder %s: %s", store->path, strerror(errno));
    return check_owner(store, error);
}

static int open_store(const char *path, int may_stay, gbees_store *store, gbees_error *error)
{
    gbees_store made = {strdup(path), -1, -1};

    if (!made.path)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the name of a folder");
    int status = open_folder(&made, error);
    if (!status)
        status = take_lock(&made, error);
    if (!status)
        status = tidy(&made, may_stay, error);
    if (status) {
        gbees_store_close(&made);
        return status;
    }
    sign(&made);
    reserve(&made);
    *store = made;
    return GBEES_OK;
}

int gbees_store_open(const char *path, gbees_store *store, gbees_error *error)
{
    return open_store(path, 0, store, error);
}

int gbees_store_reopen(const char *path, gbees_store *store, gbees_error *error)
{
    return open_store(path, 1, store, error);
}

void gbees_store_close(gbees_store *store)
{
    if (!store->path)
        return;
    let_go(store);
    if (store->descriptor >= 0)
        (void)close(store->descriptor);
    free(store->path);
    *store = (gbees_store){0};
}
