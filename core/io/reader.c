/* reader.c - a results folder read back: gbees_results and gbees_snapshot of gbees/results.h. */
#include "compared.h"
#include "folder.h"
#include "record_file.h"
#include "run_files.h"
#include "verify.h"
#include <dirent.h>
#include <errno.h>
#include <gbees/gbees.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct item {
    int leg, number;
} item;

struct gbees_results {
    char *folder;
    size_t count, capacity;
    item *items;
};

/* ---- the folder -------------------------------------------------------------------------------------------------
 */

/* Reads leg<number>_record<number>.h5 and nothing else: no sign, no leading zero, no rest. */
static int parse_name(const char *name, item *found)
{
    char again[64];

    if (sscanf(name, "leg%9d_record%9d.h5", &found->leg, &found->number) != 2)
        return 0;
    (void)snprintf(again, sizeof again, "leg%d_record%d.h5", found->leg, found->number);
    return found->leg >= 0 && found->number >= 0 && strcmp(name, again) == 0;
}

static int compare_items(const void *a, const void *b)
{
    const item *x = a, *y = b;

    return x->leg != y->leg ? (x->leg > y->leg) - (x->leg < y->leg)
                            : (x->number > y->number) - (x->number < y->number);
}

static int add_item(gbees_results *results, item found)
{
    if (results->count == results->capacity) {
        size_t capacity = 2 * results->capacity + 16;
        item *grown = realloc(results->items, capacity * sizeof *grown);

        if (!grown)
            return -1;
        results->items = grown;
        results->capacity = capacity;
    }
    results->items[results->count++] = found;
    return 0;
}

static int list(gbees_results *results, gbees_error *error)
{
    DIR *folder = opendir(results->folder);
    item found;
    int bad = 0;

    if (!folder)
        return gbees_error_set(error, GBEES_EIO, "can't read the results folder %s: %s", results->folder,
                               strerror(errno));
    for (struct dirent *entry; !bad && (entry = readdir(folder));)
        if (parse_name(entry->d_name, &found))
            bad = add_item(results, found);
    (void)closedir(folder);
    if (bad)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to list %s", results->folder);
    if (results->count == 0)
        return gbees_error_set(error, GBEES_EINPUT,
                               "no records in %s: name a folder that gbees-run --output has filled (with files "
                               "leg0_record0.h5, ...)",
                               results->folder);
    qsort(results->items, results->count, sizeof *results->items, compare_items);
    return 0;
}

int gbees_results_open(const char *folder, gbees_results **results, gbees_error *error)
{
    gbees_results *opened = calloc(1, sizeof *opened);

    if (opened)
        opened->folder = strdup(folder);
    if (!opened || !opened->folder) {
        gbees_results_destroy(opened);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to read %s", folder);
    }
    int status = list(opened, error);
    if (status)
        gbees_results_destroy(opened);
    else
        *results = opened;
    return status;
}

void gbees_results_destroy(gbees_results *results)
{
    if (!results)
        return;
    free(results->items);
    free(results->folder);
    free(results);
}

size_t gbees_results_count(const gbees_results *results)
{
    return results->count;
}

/* ---- a record ---------------------------------------------------------------------------------------------------
 */

int gbees_results_read(const gbees_results *results, size_t number, gbees_snapshot **snapshot, gbees_error *error)
{
    char name[64];

    if (number >= results->count)
        return gbees_error_set(error, GBEES_EUSAGE, "there is no record number %zu in %s: it has %zu", number,
                               results->folder, results->count);
    (void)snprintf(name, sizeof name, "leg%d_record%d.h5", results->items[number].leg, results->items[number].number);
    char *path = gbees_folder_join(results->folder, name);
    int status = path ? gbees_record_file_read(path, snapshot, error)
                      : gbees_error_set(error, GBEES_ENOMEM, "not enough memory to read %s", name);
    free(path);
    return status;
}

/* ---- whether it is as it was written ---------------------------------------------------------------------------
 */

static void verify_one(const gbees_results *results, const char *name, gbees_verify_kind kind,
                       gbees_file_report *report, void *context)
{
    char *path = gbees_folder_join(results->folder, name);
    gbees_error problem = {0};
    int summed = 0;

    if (path)
        (void)gbees_verify_file(path, kind, &summed, &problem);
    else
        (void)gbees_error_set(&problem, GBEES_ENOMEM, "not enough memory to read %s", name);
    report(context, name, summed, problem.status ? &problem : NULL);
    free(path);
}

/* Whether a record comes right after another, or is the first. */
static int follows(const item *before, const item *next)
{
    if (!before)
        return next->leg == 0 && next->number == 0;
    return next->leg == before->leg ? next->number == before->number + 1
                                    : next->leg == before->leg + 1 && next->number == 0;
}

/* Reports a record that its run has not written, or that comes after a gap. Returns whether it is to be read. */
static int check_place(const gbees_results *results, const gbees_run_files *files, size_t i, const char *name,
                       gbees_file_report *report, void *context)
{
    gbees_error problem = {0};
    const int strange = files && !gbees_run_files_has(files, name);

    if (strange)
        (void)gbees_error_set(&problem, GBEES_EINPUT,
                              "%s/%s is not in " GBEES_RUN_FILES ": the run has not written it", results->folder,
                              name);
    else if (!files && !follows(i ? &results->items[i - 1] : NULL, &results->items[i]))
        (void)gbees_error_set(&problem, GBEES_EINPUT, "one or more records before %s/%s are missing", results->folder,
                              name);
    if (problem.status)
        report(context, name, 0, &problem);
    return !strange;
}

/* *files is NULL if the run has no list of its files, or one that is damaged. */
static void verify_list(const gbees_results *results, gbees_run_files **files, gbees_file_report *report,
                        void *context)
{
    gbees_error problem = {0};

    if (gbees_run_files_read(results->folder, files, &problem))
        report(context, GBEES_RUN_FILES, 0, &problem);
    else if (*files)
        report(context, GBEES_RUN_FILES, 1, NULL);
    if (*files)
        gbees_run_files_verify(*files, results->folder, report, context);
}

/* The list has the checksum of what other filters have found; without a list the file's own sums are checked. */
static void verify_comparison(const gbees_results *results, const gbees_run_files *files, gbees_file_report *report,
                              void *context)
{
    char *path = gbees_folder_join(results->folder, GBEES_COMPARED_FILE);
    gbees_error problem = {0};

    if (!path || access(path, F_OK) != 0 || (files && gbees_run_files_has(files, GBEES_COMPARED_FILE))) {
        free(path);
        return;
    }
    if (!files)
        verify_one(results, GBEES_COMPARED_FILE, GBEES_VERIFY_MOMENTS, report, context);
    else {
        (void)gbees_error_set(&problem, GBEES_EINPUT, "%s is not in " GBEES_RUN_FILES ": the run has not written it",
                              path);
        report(context, GBEES_COMPARED_FILE, 0, &problem);
    }
    free(path);
}

void gbees_results_verify(const gbees_results *results, gbees_file_report *report, void *context)
{
    char *moments = gbees_folder_join(results->folder, "moments.h5");
    gbees_run_files *files = NULL;

    verify_list(results, &files, report, context);
    for (size_t i = 0; i < results->count; i++) {
        const item *record = &results->items[i];
        char name[64];

        (void)snprintf(name, sizeof name, "leg%d_record%d.h5", record->leg, record->number);
        if (check_place(results, files, i, name, report, context))
            verify_one(results, name, GBEES_VERIFY_RECORD, report, context);
    }
    if (moments && access(moments, F_OK) == 0)
        verify_one(results, "moments.h5", GBEES_VERIFY_MOMENTS, report, context);
    verify_comparison(results, files, report, context);
    gbees_run_files_free(files);
    free(moments);
}
