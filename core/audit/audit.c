/* audit.c - compares a run's records with a reference for them (reference.h), and collects warnings: see
 * gbees/audit.h.
 */
#include "base/checkpoint.h"
#include "points.h"
#include "record/certificate.h"
#include "sampled.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gbees_audit {
    const gbees_problem *problem;
    gbees_audit_options options;
    const gbees_reference_kind *kind;
    void *reference;   /* of that kind */
    int instead;       /* 1: samples are in place of points */
    unsigned warnings; /* of all records so far */
    gbees_error lost;  /* why there is no reference any more; its status is 0 as long as there is one */
};

/* What is saved beside the reference. */
typedef struct audit_state {
    gbees_error lost;
    unsigned warnings;
} audit_state;

static int take_samples(gbees_audit *audit, gbees_error *error)
{
    gbees_sampled *made = NULL;
    const int status = gbees_sampled_create(audit->problem, &audit->options, &made, error);

    if (!status) {
        audit->kind = &gbees_sampled_kind;
        audit->reference = made;
    }
    return status;
}

/* Replaces points that have failed, or cost too much, by samples. Returns whether it has. */
static int fall_back(gbees_audit *audit)
{
    if (audit->kind != &gbees_points_kind)
        return 0;
    audit->kind->destroy(audit->reference);
    audit->reference = NULL;
    audit->kind = &gbees_sampled_kind;
    audit->lost = (gbees_error){0};
    audit->instead = 1;
    return !take_samples(audit, &audit->lost);
}

int gbees_audit_create(const gbees_problem *problem, const gbees_audit_options *options, gbees_audit **audit,
                       gbees_error *error)
{
    gbees_audit *made = calloc(1, sizeof *made);
    gbees_points_audit *points = NULL;
    gbees_error refused;
    int status = GBEES_OK;

    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for an audit");
    made->problem = problem;
    made->options = *options;
    if (gbees_problem_walls(problem) > 0) {
        (void)gbees_error_set(&made->lost, GBEES_EUNSUPPORTED, "no samples: they do not know of walls");
        *audit = made;
        return GBEES_OK;
    }
    const int by_points = gbees_points_apply(problem, options);
    if (by_points && !gbees_points_create(problem, options, &points, &refused)) {
        made->kind = &gbees_points_kind;
        made->reference = points;
    } else {
        made->instead = by_points;
        status = take_samples(made, error);
    }
    if (status)
        free(made);
    else
        *audit = made;
    return status;
}

void gbees_audit_destroy(gbees_audit *audit)
{
    if (audit && audit->reference)
        audit->kind->destroy(audit->reference);
    free(audit);
}

const gbees_sample_list *gbees_audit_samples(gbees_audit *audit)
{
    return audit->lost.status ? NULL : audit->kind->samples(audit->reference);
}

void gbees_audit_rewind(gbees_audit *audit)
{
    if (!audit->options.keep || !audit->reference)
        return;
    audit->kind->rewind(audit->reference);
    audit->warnings = 0;
    audit->lost = (gbees_error){0};
}

/* ---- evidence ---- */

/* Whether the run's log evidence certainly differs from the reference's by more than GBEES_LARGEST_SILENT; 0 if
 * either is not known. */
static int is_off(double log_evidence, double sampled, double error)
{
    return fabs(log_evidence - sampled) > GBEES_LARGEST_SILENT + 3 * error;
}

static void set_evidence(const gbees_audit *audit, gbees_evidence *evidence)
{
    if (!audit->lost.status) {
        audit->kind->evidence(audit->reference, evidence);
        return;
    }
    evidence->sampled = evidence->sampled_error = NAN;
    evidence->total_sampled = evidence->total_error = NAN;
    evidence->by_points = 0;
}

void gbees_audit_evidence(const gbees_audit *audit, gbees_evidence *evidence)
{
    gbees_evidence now;

    set_evidence(audit, &now);
    evidence->total_sampled = now.total_sampled;
    evidence->total_error = now.total_error;
    evidence->by_points = now.by_points;
}

void gbees_audit_update(gbees_audit *audit, int number, gbees_evidence *evidence)
{
    if (!audit->lost.status)
        audit->lost.status = (gbees_status)audit->kind->update(audit->reference, number, &audit->lost);
    if (audit->lost.status && fall_back(audit))
        audit->lost.status = (gbees_status)audit->kind->update(audit->reference, number, &audit->lost);
    set_evidence(audit, evidence);
    if (is_off(evidence->log_evidence, evidence->sampled, evidence->sampled_error) ||
        is_off(evidence->total, evidence->total_sampled, evidence->total_error))
        audit->warnings |= GBEES_WARNING_EVIDENCE;
}

/* ---- records ---- */

/* Takes the reference to a record and compares it. Sets audit->lost if the former fails; returns the status of the
 * latter. */
static int compare(gbees_audit *audit, const gbees_record *record, gbees_certificate *certificate, gbees_error *error)
{
    if (!audit->lost.status)
        audit->lost.status = (gbees_status)audit->kind->advance(audit->reference, record, &audit->lost);
    gbees_certificate_start(certificate, 0);
    certificate->instead = audit->instead;
    return audit->lost.status ? GBEES_OK : audit->kind->compare(audit->reference, record, certificate, error);
}

int gbees_audit_record(gbees_audit *audit, const gbees_record *record, gbees_certificate *certificate,
                       gbees_error *error)
{
    int status = compare(audit, record, certificate, error);

    if ((status || audit->lost.status) && fall_back(audit))
        status = compare(audit, record, certificate, error);
    if (!status && !audit->lost.status) {
        if (gbees_certificate_warns(certificate, record->problem->dimension, record->problem->accuracy))
            audit->warnings |= GBEES_WARNING_AUDIT;
    } else if (!status) { /* the run goes on: that the reference fails does not say that the grid does */
        audit->warnings |= GBEES_WARNING_AUDIT_LOST;
        (void)snprintf(certificate->reason, sizeof certificate->reason, "not certifiable: %.200s", audit->lost.text);
    }
    return status;
}

void gbees_audit_targets(gbees_audit *audit, const gbees_problem *problem, gbees_target_state *state)
{
    gbees_target_state own[GBEES_MAX_TARGETS];
    gbees_error ignored; /* what the reference can't tell is unknown */
    const int known =
        problem->target_count > 0 && !audit->lost.status && !audit->kind->targets(audit->reference, own, &ignored);

    for (int k = 0; k < problem->target_count && known; k++)
        state[k].bound = fabs(state[k].probability - own[k].probability) + own[k].bound;
}

unsigned gbees_audit_warnings(const gbees_audit *audit)
{
    return audit->warnings;
}

/* ---- checkpoints ---- */

int gbees_audit_save(const gbees_audit *audit, gbees_state_sink *sink, void *to, gbees_error *error)
{
    audit_state state;

    memset(&state, 0, sizeof state);
    state.lost = audit->lost;
    state.warnings = audit->warnings;
    if (sink(to, "audit", 1, sizeof state, &state))
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a checkpoint of the audit");
    return audit->reference ? audit->kind->save(audit->reference, sink, to, error) : GBEES_OK;
}

int gbees_audit_load(gbees_audit *audit, const gbees_checkpoint *checkpoint, gbees_error *error)
{
    audit_state state;
    int status = gbees_checkpoint_copy(checkpoint, "audit", 1, sizeof state, &state, error);

    if (!status && !gbees_points_are_in(checkpoint))
        (void)fall_back(audit);
    if (!status && audit->reference)
        status = audit->kind->load(audit->reference, checkpoint, error);
    if (!status) {
        audit->lost = state.lost;
        audit->warnings = state.warnings;
    }
    return status;
}
