/* refinement_state.c - a plan of runs as a part of a checkpoint, and back. */
#include "base/checkpoint.h"
#include "base/gaps.h"
#include "plan.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "plan now legs", with `which` "now" or "before" */
static const char *name_of(const char *which, const char *list, char text[GBEES_CHECKPOINT_NAME])
{
    (void)snprintf(text, GBEES_CHECKPOINT_NAME, "plan_%s_%s", which, list);
    return text;
}

/* "plan_now_12", of a record's histogram */
static const char *name_histogram(const char *which, size_t record, char text[GBEES_CHECKPOINT_NAME])
{
    (void)snprintf(text, GBEES_CHECKPOINT_NAME, "plan_%s_%zu", which, record);
    return text;
}

/* The records without pointers, and their histograms. Returns 1 if there is no memory. */
static int save_records(const run_result *run, const char *which, gbees_checkpoint *checkpoint)
{
    const size_t bytes = run->record_count * sizeof *run->records;
    record_moments *plain = malloc(bytes + 1);
    char name[GBEES_CHECKPOINT_NAME];

    if (!plain)
        return 1;
    if (bytes)
        memcpy(plain, run->records, bytes);
    int bad = 0;
    for (size_t k = 0; k < run->record_count; k++) {
        plain[k].histogram = NULL;
        GBEES_CLEAR_GAPS(&plain[k]);
        bad |= gbees_histogram_save(run->records[k].histogram, name_histogram(which, k, name), checkpoint);
    }
    bad |= gbees_checkpoint_add(checkpoint, name_of(which, "records", name), 1, bytes, plain);
    free(plain);
    return bad;
}

static int save_lists(const run_result *run, const char *which, gbees_checkpoint *checkpoint)
{
    char name[GBEES_CHECKPOINT_NAME];
    int bad = gbees_checkpoint_add(checkpoint, name_of(which, "legs", name), 1,
                                   (uint64_t)run->leg_count * sizeof *run->legs, run->legs);

    return bad | save_records(run, which, checkpoint);
}

int gbees_refinement_save(const gbees_refinement *r, gbees_checkpoint *checkpoint, gbees_error *error)
{
    gbees_refinement plain;

    memcpy(&plain, r, sizeof plain);
    plain.problem = NULL;
    plain.now.legs = plain.before.legs = NULL;
    plain.now.records = plain.before.records = NULL;
    plain.pending = NULL;
    GBEES_CLEAR_GAPS(&plain);
    int bad = gbees_checkpoint_add(checkpoint, "plan", 1, sizeof plain, &plain);
    bad |= save_lists(&r->now, "now", checkpoint);
    bad |= save_lists(&r->before, "before", checkpoint);
    return bad ? gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a checkpoint of the plan") : GBEES_OK;
}

/* A copy of a list of `bytes` bytes, with room for one item more of at most `most` bytes. */
static int load_list(const gbees_checkpoint *checkpoint, const char *name, size_t bytes, size_t most, void **list,
                     gbees_error *error)
{
    *list = calloc(bytes + most, 1);
    if (!*list)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to plan runs");
    return gbees_checkpoint_copy(checkpoint, name, 1, bytes, *list, error);
}

/* Makes the lists of a run whose counts are set. */
static int load_lists(const gbees_checkpoint *checkpoint, const char *which, run_result *run, gbees_error *error)
{
    char name[GBEES_CHECKPOINT_NAME];
    void *legs = NULL, *records = NULL;
    int status = load_list(checkpoint, name_of(which, "legs", name), (size_t)run->leg_count * sizeof *run->legs,
                           sizeof *run->legs, &legs, error);

    if (!status)
        status = load_list(checkpoint, name_of(which, "records", name), run->record_count * sizeof *run->records,
                           sizeof *run->records, &records, error);
    run->legs = legs;
    run->records = records;
    run->record_capacity = run->record_count;
    if (status)
        run->record_count = 0; /* what they point to is none of this process's */
    for (size_t k = 0; k < run->record_count; k++)
        run->records[k].histogram = NULL;
    for (size_t k = 0; k < run->record_count && !status; k++)
        status = gbees_histogram_load(checkpoint, name_histogram(which, k, name), &run->records[k].histogram, error);
    return status;
}

int gbees_refinement_load(gbees_refinement *r, const gbees_checkpoint *checkpoint, gbees_error *error)
{
    gbees_refinement loaded, old;
    int status = gbees_checkpoint_copy(checkpoint, "plan", 1, sizeof loaded, &loaded, error);

    if (status)
        return status;
    loaded.problem = r->problem;
    loaded.now.legs = loaded.before.legs = NULL;
    loaded.now.records = loaded.before.records = NULL;
    loaded.pending = NULL;
    status = load_lists(checkpoint, "now", &loaded.now, error);
    if (!status)
        status = load_lists(checkpoint, "before", &loaded.before, error);
    old = status ? loaded : *r;
    if (!status)
        *r = loaded;
    gbees_plan_free_run(&old.now);
    gbees_plan_free_run(&old.before);
    gbees_histogram_destroy(old.pending);
    return status;
}
