/* trust.c - checks the owner and the permissions of a file and of its folder; see trust.h. The loader opens the file
 * once more, by its path: so whoever could put another file there in between must be trusted, too. */
#include "trust.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a user owns this library, and can so already make its users run any code. */
static int owns_library(uid_t user)
{
    static const char within[] = "libgbees";
    Dl_info here;
    struct stat library;

    return dladdr(within, &here) && here.dli_fname && stat(here.dli_fname, &library) == 0 && library.st_uid == user;
}

/* Whether a group other than root's and the user's own can write to the file. A group with the owner's number is
 * taken as the owner's own. */
static int is_open_to_group(const struct stat *file)
{
    return (file->st_mode & S_IWGRP) && file->st_gid != 0 && file->st_gid != getegid() &&
           file->st_gid != file->st_uid;
}

static int is_trusted(uid_t user)
{
    return user == 0 || user == geteuid() || owns_library(user);
}

/* Refuses a file in whose folder others may replace it. A path without a folder, and a folder that is not there, are
 * accepted. */
static int check_folder(const char *path, gbees_status status, gbees_error *error)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : NULL;
    struct stat facts;
    const int found = folder && stat(folder, &facts) == 0;

    free(folder);
    if (slash && !folder)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to check who may replace it");
    if (found && !is_trusted(facts.st_uid))
        return gbees_error_set(error, status,
                               "not loaded: its folder belongs to another user (number %lu), who may replace it; "
                               "--trust loads it all the same",
                               (unsigned long)facts.st_uid);
    if (!found || (facts.st_mode & S_ISVTX))
        return GBEES_OK;
    if (facts.st_mode & S_IWOTH)
        return gbees_error_set(error, status,
                               "not loaded: anybody may replace it, as all may write to its folder; forbid that "
                               "(chmod o-w), or give --trust");
    if (is_open_to_group(&facts))
        return gbees_error_set(error, status,
                               "not loaded: a group (number %lu) may replace it, as it may write to its folder; "
                               "forbid that (chmod g-w), or give --trust",
                               (unsigned long)facts.st_gid);
    return GBEES_OK;
}

int gbees_trust_check(const char *path, gbees_status status, gbees_error *error)
{
    struct stat file;

    if (stat(path, &file))
        return GBEES_OK;
    if (!is_trusted(file.st_uid))
        return gbees_error_set(error, status,
                               "not loaded: it belongs to another user (number %lu); --trust loads it all the same",
                               (unsigned long)file.st_uid);
    if ((file.st_mode & S_IWOTH) || is_open_to_group(&file))
        return gbees_error_set(error, status,
                               "not loaded: others may write to it (mode %04o); forbid that (chmod go-w), or give "
                               "--trust",
                               (unsigned)file.st_mode & 07777);
    return check_folder(path, status, error);
}
