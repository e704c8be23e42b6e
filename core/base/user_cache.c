/* user_cache.c - finds, checks and creates the cache folder, and writes files to it; see user_cache.h. */
#include "user_cache.h"
#include "text.h"
#include "write_all.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the folder ------------------------------------------------------------------------------------------------ */

/* Whether a folder exists. Asked for the home, which is never created: package builders and services are often users
 * without one. */
static int is_there(const char *path)
{
    struct stat now;

    return stat(path, &now) == 0 && S_ISDIR(now.st_mode);
}

/* Variables have no effect in a set-user-ID program: its caller must not choose the kernels that it loads. */
static char *folder_path(void)
{
    const char *off = secure_getenv("GBEES_CACHE"), *cache = secure_getenv("XDG_CACHE_HOME"),
               *home = secure_getenv("HOME");
    gbees_text path = {0};

    if (off && strcmp(off, "off") == 0)
        return NULL;
    if (cache && cache[0] == '/')
        gbees_text_add(&path, "%s/gbees", cache);
    else if (home && home[0] == '/' && is_there(home))
        gbees_text_add(&path, "%s/.cache/gbees", home);
    else
        return NULL;
    return gbees_text_take(&path);
}

/* Creates the folder and its missing parents with mode 0700. Overwrites `path` meanwhile. */
static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    (void)mkdir(path, 0700);
}

/* Whether the path is a folder of this user that nobody else can write to: files in it are trusted, and compiled
 * kernels among them are executed. */
static int is_own(const char *path)
{
    struct stat now;

    return lstat(path, &now) == 0 && S_ISDIR(now.st_mode) && now.st_uid == geteuid() && !(now.st_mode & 022);
}

char *gbees_user_cache_folder(int make)
{
    char *path = folder_path();

    if (path && make)
        make_folders(path);
    if (path && is_own(path))
        return path;
    free(path);
    return NULL;
}

char *gbees_user_cache_path(const char *name, int make)
{
    char *folder = gbees_user_cache_folder(make);
    gbees_text path = {0};

    if (!folder)
        return NULL;
    gbees_text_add(&path, "%s/%s", folder, name);
    free(folder);
    return gbees_text_take(&path);
}

/* ---- files ----------------------------------------------------------------------------------------------------- */

int gbees_user_cache_write(const char *path, const struct iovec *part, int count)
{
    gbees_text temporary = {0};
    int done = 0;

    gbees_text_add(&temporary, "%s.XXXXXX", path);
    const int file = temporary.failed ? -1 : mkostemp(temporary.data, O_CLOEXEC);
    if (file >= 0) {
        done = 1;
        for (int k = 0; k < count && done; k++)
            done = gbees_write_all(file, part[k].iov_base, part[k].iov_len) == 0;
        done = close(file) == 0 && done;
        done = done && rename(temporary.data, path) == 0;
        if (!done)
            (void)unlink(temporary.data);
    }
    gbees_text_free(&temporary);
    return done;
}
