/* output.c - the folder for the results, found before anything is computed; see command.h. */
#include "base/text.h"
#include "command.h"
#include "results/folder/store.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 100000 };

static const char results[] = "results"; /* the folder of folders whose names nobody has given */

static int is_empty(const char *path)
{
    DIR *folder = opendir(path);
    int entries = 0;

    if (!folder)
        return 0;
    for (const struct dirent *entry; entries < 3 && (entry = readdir(folder));)
        entries += !gbees_store_is_leftover(entry->d_name);
    (void)closedir(folder);
    return entries < 3; /* "." and ".." */
}

/* Whether a folder can be made below the nearest part of the path that is there. */
static int check_parent(const char *path, gbees_error *error)
{
    char *part = strdup(path);
    struct stat there;
    char *slash;

    if (!part)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the name of the output folder");
    do {
        slash = strrchr(part, '/');
        if (slash == part)
            part[1] = '\0';
        else if (slash)
            *slash = '\0';
        else {
            part[0] = '.'; /* fits: no path here is empty */
            part[1] = '\0';
        }
    } while (slash && slash != part && stat(part, &there) && errno == ENOENT);

    int status = GBEES_OK;
    if (stat(part, &there))
        status = gbees_error_set(error, GBEES_EIO, "the output folder %s can't be made: %s: %s", path, part,
                                 strerror(errno));
    else if (!S_ISDIR(there.st_mode))
        status = gbees_error_set(error, GBEES_EIO, "the output folder %s can't be made: %s is no folder", path, part);
    else if (access(part, W_OK | X_OK))
        status = gbees_error_set(error, GBEES_EIO, "the output folder %s can't be made: %s can't be written: %s",
                                 path, part, strerror(errno));
    free(part);
    return status;
}

static int check(const char *path, gbees_error *error)
{
    struct stat there;

    if (stat(path, &there)) {
        if (errno != ENOENT)
            return gbees_error_set(error, GBEES_EIO, "the output folder %s can't be made: %s", path, strerror(errno));
        return check_parent(path, error);
    }
    if (!S_ISDIR(there.st_mode))
        return gbees_error_set(error, GBEES_EIO, "the output folder %s is a file; give another name", path);
    if (access(path, R_OK | W_OK | X_OK))
        return gbees_error_set(error, GBEES_EIO, "the output folder %s can't be written: %s", path, strerror(errno));
    if (gbees_store_check(path, error))
        return GBEES_EIO;
    if (!is_empty(path))
        return gbees_error_set(error, GBEES_EIO, "the output folder %s is not empty; remove it or give another name",
                               path);
    return GBEES_OK;
}

/* "DIR.runs", of several runs for an accuracy (search.h); NULL: no memory. */
static char *name_runs(const char *path)
{
    gbees_text text = {0};

    gbees_text_add(&text, "%s.runs", path);
    return gbees_text_take(&text);
}

/* Refuses a name beside which the runs of an accuracy are. */
static int check_runs(const char *path, gbees_error *error)
{
    char *runs = name_runs(path);
    struct stat there;
    int status = GBEES_OK;

    if (!runs)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the name of the output folder");
    if (lstat(runs, &there) == 0 && (!S_ISDIR(there.st_mode) || !is_empty(runs)))
        status =
            gbees_error_set(error, GBEES_EIO,
                            "%s has the runs of a search for an accuracy that goes on or was killed: remove it or "
                            "give another name",
                            runs);
    free(runs);
    return status;
}

static char *numbered(const char *model, int number)
{
    gbees_text text = {0};

    gbees_text_add(&text, "%s/%s", results, model);
    if (number > 1)
        gbees_text_add(&text, "-%d", number);
    return gbees_text_take(&text);
}

static int is_free(const char *path)
{
    struct stat there;
    char *runs = name_runs(path);
    const int is_missing = lstat(path, &there) != 0 && errno != EACCES && runs && lstat(runs, &there) != 0;

    free(runs);
    return is_missing;
}

/* Whether the name is free, and makes the folder `results`/MODEL... under it, as another run may look for a name at
 * the same time. A folder that can't be made counts as free: check() says why. */
static int take(const char *path)
{
    (void)mkdir(results, 0777);
    if (!is_free(path) || (mkdir(path, 0777) && errno == EEXIST))
        return 0;

    char *runs = name_runs(path);
    struct stat there;
    const int is_taken = runs && lstat(runs, &there) == 0; /* meanwhile, by a run that had made this folder before */

    free(runs);
    if (is_taken)
        (void)rmdir(path);
    return !is_taken;
}

int gbees_output_choose(const char *wanted, const char *model, int taken, char **folder, gbees_error *error)
{
    char *path = wanted ? strdup(wanted) : numbered(model, 1);
    int status;

    for (int number = 2; path && !wanted && number < TRIES && !(taken ? take(path) : is_free(path)); number++) {
        free(path);
        path = numbered(model, number);
    }
    if (!path)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the name of the output folder");
    for (size_t length = strlen(path); length > 1 && path[length - 1] == '/';)
        path[--length] = '\0';
    status = check(path, error);
    if (!status)
        status = check_runs(path, error);
    if (status)
        free(path);
    else
        *folder = path;
    return status;
}
