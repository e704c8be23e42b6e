/* reader.c - a results folder read back: gbees_results and gbees_snapshot of gbees/results.h. */
#include "results/folder/folder.h"
#include "results/records/record_file.h"
#include "results/records/results_list.h"
#include "results/records/verify.h"
#include <errno.h>
#include <fcntl.h>
#include <gbees/gbees.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct gbees_results {
    char *folder;
    gbees_results_list list;
    gbees_error lost; /* what damage has taken; its status is GBEES_OK if that is nothing */
};

/* ---- the folder -------------------------------------------------------------------------------------------------
 */

/* Says what is not in the list, where run.h5 is not as it was written. */
static void tell_lost(gbees_results *results)
{
    const gbees_results_list *list = &results->list;
    char last[GBEES_RECORD_NAME] = "";

    if (!list->lost[0])
        return;
    if (list->count > 0)
        gbees_record_name_write(&list->name[list->count - 1], last);
    (void)gbees_error_set(&results->lost, GBEES_EINPUT, "%s/" GBEES_RUN_FILE " is damaged: %s: %s%s is lost",
                          results->folder, list->lost, last[0] ? "what was written after " : "all of it", last);
}

/* Lists the records. *has_moments: whether the folder has a file of a run, perhaps of moments alone. */
static int list(gbees_results *results, int *has_moments, gbees_error *error)
{
    const int folder = open(results->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (folder < 0)
        return gbees_error_set(error, GBEES_EIO, "can't read the results folder %s: %s", results->folder,
                               strerror(errno));
    const int status = gbees_results_list_read(folder, results->folder, &results->list, error);
    *has_moments = faccessat(folder, GBEES_RUN_FILE, F_OK, 0) == 0;
    (void)close(folder);
    if (!status)
        tell_lost(results);
    return status;
}

/* Refuses a folder without records; if `needs` is 0 a file of a run is enough. */
static int check_any(const gbees_results *results, int has_moments, int needs, gbees_error *error)
{
    if (results->list.count > 0)
        return GBEES_OK;
    if (results->lost.status)
        return gbees_error_set(error, results->lost.status, "%s", results->lost.text);
    if (!has_moments)
        return gbees_error_set(error, GBEES_EINPUT,
                               "no records in %s: name a folder that gbees-run --output has filled (with run.h5, or "
                               "files leg0_record0.h5, ...)",
                               results->folder);
    return needs ? gbees_error_set(error, GBEES_EINPUT,
                                   "no densities in %s: its run has kept none ('densities: none'), or ended before "
                                   "the first one",
                                   results->folder)
                 : GBEES_OK;
}

/* Opens a folder; needs: as above. */
static int open_results(const char *folder, int needs, gbees_results **results, gbees_error *error)
{
    gbees_results *opened = calloc(1, sizeof *opened);
    int has_moments = 0;

    if (opened)
        opened->folder = strdup(folder);
    int status = opened && opened->folder
                     ? list(opened, &has_moments, error)
                     : gbees_error_set(error, GBEES_ENOMEM, "not enough memory to read %s", folder);
    if (!status)
        status = check_any(opened, has_moments, needs, error);
    if (status)
        gbees_results_destroy(opened);
    else
        *results = opened;
    return status;
}

int gbees_results_open(const char *folder, gbees_results **results, gbees_error *error)
{
    return open_results(folder, 1, results, error);
}

void gbees_results_destroy(gbees_results *results)
{
    if (!results)
        return;
    free(results->list.name);
    free(results->folder);
    free(results);
}

size_t gbees_results_count(const gbees_results *results)
{
    return results->list.count;
}

const char *gbees_results_lost(const gbees_results *results)
{
    return results->lost.status ? results->lost.text : NULL;
}

/* ---- a record ---------------------------------------------------------------------------------------------------
 */

int gbees_results_read(const gbees_results *results, size_t number, gbees_snapshot **snapshot, gbees_error *error)
{
    char name[GBEES_RECORD_NAME];

    if (number >= results->list.count)
        return gbees_error_set(error, GBEES_EUSAGE, "there is no record number %zu in %s: it has %zu", number,
                               results->folder, results->list.count);
    gbees_record_name_write(&results->list.name[number], name);
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

/* Whether the folder has as many records as the run says, once it has ended, that it has written. */
static void verify_count(const gbees_results *results, gbees_file_report *report, void *context)
{
    char *path = gbees_folder_join(results->folder, "run.json");
    json_t *run = path ? json_load_file(path, 0, NULL) : NULL;
    const json_t *written = json_object_get(run, "records");
    gbees_error problem = {0};

    if (json_is_integer(written) && json_integer_value(written) != (json_int_t)results->list.count) {
        (void)gbees_error_set(&problem, GBEES_EINPUT,
                              "%s has %zu records, and its run has written %lld: give back what was taken away, or "
                              "take away what was added",
                              results->folder, results->list.count, (long long)json_integer_value(written));
        report(context, "run.json", 0, &problem);
    }
    json_decref(run);
    free(path);
}

static void verify_moments(const gbees_results *results, gbees_file_report *report, void *context)
{
    char *path = NULL;
    gbees_error problem = {0};
    int summed = 0;

    if (!gbees_results_moments(results->folder, &path, &problem) && !path)
        return;
    if (path)
        (void)gbees_verify_file(path, GBEES_VERIFY_MOMENTS, &summed, &problem);
    report(context, path && strstr(path, GBEES_RUN_MOMENTS) ? GBEES_RUN_MOMENTS : GBEES_MOMENTS_FILE, summed,
           problem.status ? &problem : NULL);
    free(path);
}

int gbees_results_verify(const char *folder, gbees_file_report *report, void *context, gbees_error *error)
{
    gbees_results *results = NULL;
    const int status = open_results(folder, 0, &results, error);

    if (status)
        return status;
    if (results->lost.status)
        report(context, GBEES_RUN_FILE, 0, &results->lost);
    verify_count(results, report, context);
    for (size_t i = 0; i < results->list.count; i++) {
        char name[GBEES_RECORD_NAME];

        gbees_record_name_write(&results->list.name[i], name);
        verify_one(results, name, GBEES_VERIFY_RECORD, report, context);
    }
    verify_moments(results, report, context);
    gbees_results_destroy(results);
    return GBEES_OK;
}
