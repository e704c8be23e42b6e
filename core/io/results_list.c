/* results_list.c - lists the records among a folder's files, and among the groups of run.h5, and sorts them by leg
 * and number. */
#include "results_list.h"
#include "folder.h"
#include "run_directory.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int add(gbees_results_list *list, gbees_record_name name)
{
    if (list->count == list->capacity) {
        const size_t capacity = 2 * list->capacity + 16;
        gbees_record_name *grown = realloc(list->name, capacity * sizeof *grown);

        if (!grown)
            return -1;
        list->name = grown;
        list->capacity = capacity;
    }
    list->name[list->count++] = name;
    return 0;
}

static int compare(const void *a, const void *b)
{
    return gbees_record_name_compare(a, b);
}

static int no_memory(const char *path, gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to list %s", path);
}

static int list_files(int folder, const char *path, gbees_results_list *list, gbees_error *error)
{
    const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = copy < 0 ? NULL : fdopendir(copy);
    gbees_record_name found;
    int bad = 0;

    if (!names) {
        const int status =
            gbees_error_set(error, GBEES_EIO, "can't read the results folder %s: %s", path, strerror(errno));

        if (copy >= 0)
            (void)close(copy);
        return status;
    }
    for (struct dirent *entry; !bad && (entry = readdir(names));)
        if (gbees_record_name_read(entry->d_name, &found) == 0)
            bad = add(list, found);
    (void)closedir(names);
    return bad ? no_memory(path, error) : GBEES_OK;
}

static int list_groups(int file, const char *path, gbees_results_list *list, gbees_error *error)
{
    gbees_run_directory directory = {0};
    int status = gbees_run_directory_read(file, path, NULL, &directory, error), bad = 0;

    for (size_t i = 0; !status && !bad && i < directory.count; i++)
        for (size_t k = 0; !bad && k < directory.legs[i].count; k++)
            bad = add(list, (gbees_record_name){directory.legs[i].leg,
                                                gbees_run_directory_number(&directory.legs[i].records[k]), 1});
    gbees_run_directory_free(&directory);
    return bad ? no_memory(path, error) : status;
}

/* A descriptor of the folder's run.h5; -1 if it has none. */
static int open_run_file(int folder)
{
    const int file = openat(folder, GBEES_RUN_FILE, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat facts;

    if (file < 0 || (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode)))
        return file;
    (void)close(file);
    return -1;
}

int gbees_results_list_read(int folder, const char *path, gbees_results_list *list, gbees_error *error)
{
    char *run = gbees_folder_join(path, GBEES_RUN_FILE);
    const int file = open_run_file(folder);
    int status = run ? list_files(folder, path, list, error) : no_memory(path, error);

    if (!status && file >= 0)
        status = list_groups(file, run, list, error);
    if (file >= 0)
        (void)close(file);
    free(run);
    if (list->count)
        qsort(list->name, list->count, sizeof *list->name, compare);
    return status;
}

/* Whether there is a group of time series in run.h5; a file that can't be read is an error. */
static int find_group(const char *folder, int *found, gbees_error *error)
{
    const int handle = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int file = handle < 0 ? -1 : open_run_file(handle);
    gbees_run_directory directory = {0};
    int status = GBEES_OK;

    if (file >= 0)
        status = gbees_run_directory_read(file, folder, "moments", &directory, error);
    *found = !status && file >= 0 && gbees_run_directory_find(&directory, "moments");
    gbees_run_directory_free(&directory);
    if (file >= 0)
        (void)close(file);
    if (handle >= 0)
        (void)close(handle);
    return status;
}

int gbees_results_moments(const char *folder, char **file, gbees_error *error)
{
    char *path = gbees_folder_join(folder, GBEES_MOMENTS_FILE);
    int found = path && access(path, F_OK) == 0, status = path ? GBEES_OK : no_memory(folder, error);

    if (!status && !found) {
        free(path);
        path = gbees_folder_join(folder, GBEES_RUN_MOMENTS);
        status = path ? find_group(folder, &found, error) : no_memory(folder, error);
    }
    if (status || !found) {
        free(path);
        path = NULL;
    }
    *file = path;
    return status;
}
