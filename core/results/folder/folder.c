/* folder.c - makes a folder and those above it, and joins a folder and a name to a path. */
#include "folder.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int make_all(char *path, gbees_error *error)
{
    for (char *slash = path + 1;; slash++) {
        if (*slash != '/' && *slash != '\0')
            continue;
        char kept = *slash;

        *slash = '\0';
        if (mkdir(path, kept ? 0777 : 0755) && errno != EEXIST)
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
