/* sampled_state.c - saves an audit's samples to a checkpoint, and loads it from one. */
#include "base/checkpoint.h"
#include "base/gaps.h"
#include "sampled_private.h"
#include "samples.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Everything but lists. */
typedef struct audit_state {
    gbees_montecarlo samples; /* without pointers */
    gbees_sampled_place at;
} audit_state;

static const char *state_name(int axis, char text[GBEES_CHECKPOINT_NAME])
{
    (void)snprintf(text, GBEES_CHECKPOINT_NAME, "audit_x%d", axis);
    return text;
}

static void get_state(const gbees_sampled *audit, audit_state *state)
{
    gbees_montecarlo *samples = &state->samples;

    memset(state, 0, sizeof *state);
    *samples = *audit->samples;
    samples->problem = NULL;
    samples->options.offload = NULL;
    samples->options.cancelled = NULL;
    samples->options.context = NULL;
    memset(samples->x, 0, sizeof samples->x);
    samples->weight = NULL;
    samples->number = NULL;
    state->at = audit->at;
}

int gbees_sampled_save(const void *self, gbees_state_sink *sink, void *to, gbees_error *error)
{
    const gbees_sampled *audit = self;
    const gbees_montecarlo *samples = audit->samples;
    char name[GBEES_CHECKPOINT_NAME];
    audit_state state;

    get_state(audit, &state);
    GBEES_CLEAR_GAPS(&state);
    int bad = sink(to, "audit_samples", 1, sizeof state, &state);
    for (int j = 0; j < audit->problem->dimension; j++)
        bad |= sink(to, state_name(j, name), sizeof(double), samples->count, samples->x[j]);
    bad |= sink(to, "audit_weight", sizeof(double), samples->count, samples->weight);
    bad |= sink(to, "audit_number", sizeof(uint64_t), samples->number ? samples->count : 0, samples->number);
    bad |= sink(to, "audit_records", 1, audit->at.record_count * sizeof *audit->records, audit->records);
    return bad ? gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a checkpoint of the audit's samples")
               : GBEES_OK;
}

/* Copies a part of the checkpoint to new memory for `most` items. *to is NULL if the part is missing and not
 * `needed`.
 */
static int take(const gbees_checkpoint *checkpoint, const char *name, size_t count, size_t most, int needed,
                void **to, gbees_error *error)
{
    uint64_t found;
    void *copy;

    *to = NULL;
    if (!needed && !gbees_checkpoint_find((void *)(uintptr_t)checkpoint, name, 8, &found))
        return GBEES_OK;
    if (!(copy = calloc(most + 1, 8)))
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the audit's samples");
    int status = gbees_checkpoint_copy(checkpoint, name, 8, count, copy, error);
    if (status)
        free(copy);
    else
        *to = copy;
    return status;
}

/* Replaces the samples by those of the checkpoint; *samples has all but their lists. */
static int take_samples(gbees_sampled *audit, const gbees_checkpoint *checkpoint, const gbees_montecarlo *samples,
                        gbees_error *error)
{
    const size_t count = samples->count, most = count > samples->options.count ? count : samples->options.count;
    gbees_montecarlo made = *samples;
    char name[GBEES_CHECKPOINT_NAME];
    void *list;
    int status = GBEES_OK;

    made.problem = audit->problem;
    made.options.offload = audit->samples->options.offload;
    made.options.threads = audit->samples->options.threads;
    made.options.cancelled = audit->samples->options.cancelled;
    made.options.context = audit->samples->options.context;
    made.shared_x = made.shared_weight = 0;
    memset(made.x, 0, sizeof made.x); /* no pointer of a file is trusted: they are freed below on failure */
    made.weight = NULL;
    made.number = NULL;
    for (int j = 0; j < audit->problem->dimension && !status; j++) {
        status = take(checkpoint, state_name(j, name), count, most, 1, &list, error);
        made.x[j] = list;
    }
    if (!status) {
        status = take(checkpoint, "audit_weight", count, most, 1, &list, error);
        made.weight = list;
    }
    if (!status) {
        status = take(checkpoint, "audit_number", count, most, 0, &list, error);
        made.number = list;
    }
    gbees_montecarlo *old = status ? &made : audit->samples;
    gbees_samples_release_x(old);
    gbees_samples_release_weight(old);
    if (!status)
        *audit->samples = made;
    return status;
}

int gbees_sampled_load(void *self, const gbees_checkpoint *checkpoint, gbees_error *error)
{
    gbees_sampled *audit = self;
    audit_state state;
    int status = gbees_checkpoint_copy(checkpoint, "audit_samples", 1, sizeof state, &state, error);

    if (status)
        return status;
    struct passed *records = malloc((state.at.record_count + 1) * sizeof *records);
    if (!records)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the audit's records");
    status = gbees_checkpoint_copy(checkpoint, "audit_records", 1, state.at.record_count * sizeof *records, records,
                                   error);
    if (!status)
        status = take_samples(audit, checkpoint, &state.samples, error);
    if (status) {
        free(records);
        return status;
    }
    free(audit->records);
    audit->records = records;
    audit->record_capacity = state.at.record_count + 1;
    audit->at = state.at;
    return GBEES_OK;
}
