/* folder.c - see folder.h. */
#include "folder.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- folders --------------------------------------------------------------------------------------------------- */

static int make_all(char *path, gbees_error *error)
{
    for (char *slash = path + 1;; slash++) {
        if (*slash != '/' && *slash != '\0')
            continue;
        char kept = *slash;

        *slash = '\0';
        if (mkdir(path, 0777) && errno != EEXIST)
            return gbees_error_set(error, GBEES_EIO, "can't make the folder %s: %s", path, strerror(errno));
        *slash = kept;
        if (kept == '\0')
            return 0;
    }
}

static int check_empty(const char *path, gbees_error *error)
{
    DIR *folder = opendir(path);
    int entries = 0;

    if (!folder && errno == ENOTDIR)
        return gbees_error_set(error, GBEES_EIO, "%s is no folder: choose another name for the results", path);
    if (!folder)
        return gbees_error_set(error, GBEES_EIO, "can't read the folder %s: %s", path, strerror(errno));
    for (struct dirent *entry; (entry = readdir(folder));)
        entries += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    (void)closedir(folder);
    if (entries)
        return gbees_error_set(error, GBEES_EIO,
                               "the folder %s is not empty: remove it or choose another name, nothing is overwritten",
                               path);
    return 0;
}

int gbees_folder_make_all(const char *path, gbees_error *error)
{
    char *copy = strdup(path);

    if (!copy)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the name of a folder");
    if (*path == '\0') {
        free(copy);
        return gbees_error_set(error, GBEES_EUSAGE, "the name of a folder is empty");
    }
    int status = make_all(copy, error);
    free(copy);
    return status;
}

int gbees_folder_make(const char *path, gbees_error *error)
{
    int status = gbees_folder_make_all(path, error);

    return status ? status : check_empty(path, error);
}

char *gbees_folder_join(const char *folder, const char *name)
{
    size_t length = strlen(folder);
    size_t size = length + strlen(name) + 2;
    char *path = malloc(size);

    while (length > 1 && folder[length - 1] == '/')
        length--;
    if (path)
        (void)snprintf(path, size, "%.*s%s%s", (int)length, folder, length == 1 && *folder == '/' ? "" : "/", name);
    return path;
}

/* ---- files ----------------------------------------------------------------------------------------------------- */

static void forget(gbees_temporary *file)
{
    free(file->path);
    free(file->temporary);
    *file = (gbees_temporary){.descriptor = -1};
}

int gbees_temporary_create(const char *path, gbees_temporary *file, gbees_error *error)
{
    size_t size = strlen(path) + sizeof ".tmp";

    *file = (gbees_temporary){strdup(path), malloc(size), -1};
    if (!file->path || !file->temporary) {
        forget(file);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the name of a file");
    }
    (void)snprintf(file->temporary, size, "%s.tmp", path);
    file->descriptor = open(file->temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file->descriptor < 0) {
        int status =
            gbees_error_set(error, GBEES_EIO, "can't write the file %s: %s", file->temporary, strerror(errno));

        forget(file);
        return status;
    }
    return 0;
}

/* Syncs the folder of a new file, so that its name is on disk. Errors are ignored: some file systems can't sync
 * folders. */
static int sync_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = !slash ? strdup(".") : slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
    int result = -1;

    if (!folder)
        return -1;
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    if (descriptor < 0)
        return -1;
    result = fsync(descriptor);
    if (result && (errno == EINVAL || errno == ENOTSUP || errno == EROFS))
        result = 0;
    (void)close(descriptor);
    return result;
}

int gbees_temporary_commit(gbees_temporary *file, gbees_error *error)
{
    int failed = fsync(file->descriptor) && errno != EINVAL && errno != ENOTSUP;
    int reason = errno;

    if (close(file->descriptor) && !failed) {
        failed = 1;
        reason = errno;
    }
    file->descriptor = -1;
    if (!failed && (rename(file->temporary, file->path) || sync_folder_of(file->path))) {
        failed = 1;
        reason = errno;
    }
    if (failed) {
        int status = gbees_error_set(error, GBEES_EIO, "can't write the file %s: %s", file->path, strerror(reason));

        gbees_temporary_abandon(file);
        return status;
    }
    forget(file);
    return 0;
}

void gbees_temporary_abandon(gbees_temporary *file)
{
    if (!file->temporary)
        return;
    if (file->descriptor >= 0)
        (void)close(file->descriptor);
    (void)unlink(file->temporary);
    forget(file);
}

static int write_all(int descriptor, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t done = write(descriptor, text, length);

        if (done < 0 && errno != EINTR)
            return -1;
        if (done > 0) {
            text += done;
            length -= (size_t)done;
        }
    }
    return 0;
}

int gbees_folder_write(const char *folder, const char *name, const char *text, size_t length, gbees_error *error)
{
    char *path = gbees_folder_join(folder, name);
    gbees_temporary file;

    if (!path)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the name of a file");
    int status = gbees_temporary_create(path, &file, error);
    if (!status && write_all(file.descriptor, text, length)) {
        status = gbees_error_set(error, GBEES_EIO, "can't write the file %s: %s", path, strerror(errno));
        gbees_temporary_abandon(&file);
    } else if (!status) {
        status = gbees_temporary_commit(&file, error);
    }
    free(path);
    return status;
}
