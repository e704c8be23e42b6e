/* results_list.c - lists the records among a folder's files, and among the groups of run.h5, and sorts them by leg
 * and number. */
#include "results_list.h"
#include "base/array.h"
#include "results/folder/folder.h"
#include "results/hdf5/file_child.h"
#include "results/hdf5/hdf5_util.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int add(gbees_results_list *list, gbees_record_name name)
{
    if (gbees_array_grow(&list->name, list->count, &list->capacity, sizeof *list->name))
        return -1;
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

/* ---- run.h5: a child process reads it, as it may be damaged --------------------------------------------------- */

/* What the child finds: the records, and whether there is a group of time series. */
typedef struct run_list {
    gbees_results_list records;
    int has_series;
    char leg_name[GBEES_RECORD_NAME]; /* while a leg's are listed */
} run_list;

static herr_t add_record(hid_t leg, const char *name, const H5L_info_t *info, void *context)
{
    run_list *f = context;
    char text[3 * GBEES_RECORD_NAME];
    gbees_record_name record;

    (void)leg;
    (void)snprintf(text, sizeof text, GBEES_RUN_FILE "/%.63s/%.63s", f->leg_name, name);
    if (info->type != H5L_TYPE_HARD || gbees_record_name_read(text, &record))
        return 0;
    return add(&f->records, record);
}

static herr_t add_leg(hid_t root, const char *name, const H5L_info_t *info, void *context)
{
    run_list *f = context;
    hsize_t from = 0;

    f->has_series |= strcmp(name, &GBEES_RUN_MOMENTS[strlen(GBEES_RUN_FILE "/")]) == 0;
    if (!gbees_record_name_is_leg(name) || info->type != H5L_TYPE_HARD)
        return 0;
    (void)snprintf(f->leg_name, sizeof f->leg_name, "%s", name);
    const hid_t leg = H5Gopen2(root, name, H5P_DEFAULT);
    const herr_t listed = leg < 0 ? -1 : H5Literate(leg, H5_INDEX_NAME, H5_ITER_NATIVE, &from, add_record, f);
    gbees_hdf5_release(leg);
    return listed;
}

/* Says why the newest list of records was not taken, by what HDF5 says. */
static void tell_damage(const gbees_hdf5 *file, char *text, size_t size)
{
    unsigned long long end, base, whole;

    if (sscanf(file->reason, "truncated file: eof = %llu, sblock->base_addr = %llu, stored_eof = %llu", &end, &base,
               &whole) == 3)
        (void)snprintf(text, size, "it ends at byte %llu of %llu", end, whole);
    else
        (void)snprintf(text, size, "its newest list of records can't be read (%.180s)", file->reason);
}

static int load(const char *path, void *result, gbees_error *error)
{
    run_list *f = result;
    gbees_hdf5 file;
    hsize_t from = 0;
    const int status = gbees_hdf5_open(path, &file, error);

    if (status)
        return status;
    if (file.is_safe)
        tell_damage(&file, f->records.lost, sizeof f->records.lost);
    if (gbees_hdf5_is_open(&file) && H5Literate(file.id, H5_INDEX_NAME, H5_ITER_NATIVE, &from, add_leg, f) < 0)
        gbees_hdf5_fail(&file);
    const int could_be_read = file.failure == 0;
    char why[sizeof error->text];
    const int listed = gbees_hdf5_close(&file, error);
    (void)snprintf(why, sizeof why, "%s", error->text);
    return listed && could_be_read
               ? gbees_error_set(error, GBEES_EINPUT, "%s: it is damaged, or another program has written it", why)
               : listed;
}

static int pass(gbees_file_pipe *pipe, void *result)
{
    run_list *f = result;
    gbees_record_name *name = f->records.name;
    const int bad = gbees_file_pass(pipe, f, sizeof *f);

    f->records.name = name; /* not the child's address */
    f->records.lost[sizeof f->records.lost - 1] = '\0';
    return bad ? bad : gbees_file_pass_array(pipe, &f->records.name, sizeof *name, f->records.count);
}

/* Adds the records of run.h5; *has_series says whether it has time series. */
static int list_groups(const char *path, gbees_results_list *list, int *has_series, gbees_error *error)
{
    run_list f = {0};
    const int status = gbees_file_child_read(path, load, pass, &f, error);
    int bad = 0;

    for (size_t i = 0; !status && !bad && i < f.records.count; i++) {
        const gbees_record_name *name = &f.records.name[i];

        bad = add(list, (gbees_record_name){name->leg, name->number, 1});
    }
    if (!status)
        memcpy(list->lost, f.records.lost, sizeof list->lost);
    *has_series = !status && f.has_series;
    free(f.records.name);
    return bad ? no_memory(path, error) : status;
}

/* Whether there is a regular file of that name. */
static int is_file(int folder, const char *name)
{
    struct stat facts;

    return fstatat(folder, name, &facts, 0) == 0 && S_ISREG(facts.st_mode);
}

int gbees_results_list_read(int folder, const char *path, gbees_results_list *list, gbees_error *error)
{
    char *run = gbees_folder_join(path, GBEES_RUN_FILE);
    int status = run ? list_files(folder, path, list, error) : no_memory(path, error), has_series;

    if (!status && is_file(folder, GBEES_RUN_FILE))
        status = list_groups(run, list, &has_series, error);
    free(run);
    if (list->count)
        qsort(list->name, list->count, sizeof *list->name, compare);
    return status;
}

/* Whether there is a group of time series in run.h5; a file that can't be read is an error. */
static int find_group(const char *folder, int *has_series, gbees_error *error)
{
    char *run = gbees_folder_join(folder, GBEES_RUN_FILE);
    gbees_results_list list = {0};
    int status = run ? GBEES_OK : no_memory(folder, error);

    *has_series = 0;
    if (!status && is_file(AT_FDCWD, run))
        status = list_groups(run, &list, has_series, error);
    free(list.name);
    free(run);
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
