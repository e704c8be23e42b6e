/* jsonl.c - makes a JSON object of each event and dumps it as one line. */
#include "jsonl.h"
#include "json_util.h"
#include <math.h>

static json_t *start(const char *event)
{
    return json_pack("{s:s}", "event", event);
}

static char *finish(json_t *object, int bad)
{
    char *line = bad ? NULL : json_dumps(object, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17));

    json_decref(object);
    return line;
}

static json_t *json_ledger(const gbees_ledger *ledger)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "mass_clipped", gbees_json_real(ledger->clipped), "mass_outflow",
                     gbees_json_real(ledger->outflow), "mass_pruned", gbees_json_real(ledger->pruned),
                     "mass_normalised", gbees_json_real(ledger->normalised));
}

/* {"value": ..., "bound": ...}; both null where they are not known. */
static json_t *json_difference(gbees_difference difference)
{
    return json_pack("{s:o, s:o}", "value", gbees_json_real(difference.value), "bound",
                     gbees_json_real(difference.bound));
}

/* Whether the certificate is within the accuracy that was asked for; null: none was, or it can't be told. */
static json_t *json_met(const gbees_problem *problem, const gbees_certificate *c)
{
    const double bound = gbees_certificate_error(c, problem->dimension, problem->accuracy_of).bound;

    return problem->accuracy > 0 && !isnan(bound) ? json_boolean(bound <= problem->accuracy) : json_null();
}

/* The bounds, worst axis; and values and bounds along each. */
static json_t *json_certificate(const gbees_record *record)
{
    const gbees_certificate *c = record->certificate;
    const gbees_problem *problem = record->problem;
    const int n = problem->dimension;
    json_t *axes = json_array();
    int bad = !axes;

    if (!c) {
        json_decref(axes);
        return json_null();
    }
    for (int j = 0; j < n; j++)
        bad |= json_array_append_new(axes, json_pack("{s:o, s:o, s:o, s:o}", "mean", json_difference(c->mean[j]),
                                                     "std", json_difference(c->std[j]), "marginal",
                                                     json_difference(c->marginal[j]), "kolmogorov",
                                                     json_difference(c->kolmogorov[j])));
    json_t *object = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "mean",
                               gbees_json_real(gbees_certificate_worst(c->mean, n, NULL).bound), "std",
                               gbees_json_real(gbees_certificate_worst(c->std, n, NULL).bound), "marginal",
                               gbees_json_real(gbees_certificate_worst(c->marginal, n, NULL).bound), "kolmogorov",
                               gbees_json_real(gbees_certificate_worst(c->kolmogorov, n, NULL).bound), "density",
                               gbees_json_real(c->density.bound), "samples", gbees_json_unsigned(c->samples),
                               "effective", gbees_json_real(c->effective), "asked",
                               problem->accuracy > 0 ? gbees_json_real(problem->accuracy) : json_null(), "met",
                               json_met(problem, c), "axes", axes);
    if (!bad && object && c->points > 0)
        bad |= json_object_set_new(object, "points", gbees_json_unsigned(c->points));
    if (!bad && object && !isnan(c->estimate))
        bad |= json_object_set_new(object, "estimate", gbees_json_real(c->estimate));
    if (!bad && object && c->variation > 0)
        bad |= json_object_set_new(object, "variation_estimate", gbees_json_real(c->variation));
    if (!bad && object && c->uncompared > 0)
        bad |= json_object_set_new(object, "uncompared", gbees_json_unsigned(c->uncompared));
    if (!bad && object && c->reason[0])
        bad |= json_object_set_new(object, "reason", gbees_json_text(c->reason));
    return gbees_json_whole(object, bad);
}

/* NULL if there is no memory. */
static json_t *json_frame(const gbees_record *record)
{
    const gbees_record_frame *frame = &record->frame;

    return json_pack("{s:o, s:o, s:i, s:i, s:o, s:o}", "bend", gbees_json_real(frame->bend), "growth",
                     gbees_json_real(frame->growth), "limited", frame->limited, "replaced", frame->replaced, "rate",
                     gbees_json_real(frame->rate), "rate_at_rest", gbees_json_real(frame->rate_at_rest));
}

/* {"moon": {"kind": "absorb", "probability": ..., "bound": ..., "rate": ..., "mass_entered": ...}} */
static json_t *json_targets(const gbees_record *record)
{
    const gbees_problem *problem = record->problem;
    json_t *object = json_object();

    for (int k = 0; k < problem->target_count; k++) {
        const gbees_target_state *state = &record->targets[k];
        json_t *target = json_pack("{s:s, s:o, s:o, s:o}", "kind", gbees_problem_target_word(problem, k),
                                   "probability", gbees_json_real(state->probability), "bound",
                                   gbees_json_real(state->bound), "rate", gbees_json_real(state->rate));

        if (problem->targets[k].kind == GBEES_TARGET_ABSORB)
            (void)json_object_set_new(target, "mass_entered", gbees_json_real(record->totals.mass_entered[k]));
        (void)json_object_set_new(object, gbees_problem_target_name(problem, k), target);
    }
    return object;
}

/* Numbers of the states that are on a circle; null for the others. */
static json_t *json_around(const gbees_record *record, const double *x)
{
    const int n = record->problem->dimension;
    double known[GBEES_MAX_DIM];

    for (int j = 0; j < n; j++)
        known[j] = record->problem->period[j] > 0 ? x[j] : NAN;
    return gbees_json_vector(n, known);
}

char *gbees_jsonl_record(const gbees_record *record)
{
    const gbees_statistics *now = &record->statistics;
    const gbees_totals *totals = &record->totals;
    int n = record->problem->dimension, bad = 0;
    json_t *object = start(record->smoothed ? "smoothed" : "record");

    bad |= json_object_set_new(object, "leg", json_integer(record->leg));
    bad |= json_object_set_new(object, "record", json_integer(record->number));
    bad |= json_object_set_new(object, "t", gbees_json_real(record->time));
    bad |= json_object_set_new(object, "step", gbees_json_unsigned(totals->steps));
    bad |= json_object_set_new(object, "dt", gbees_json_real(totals->time_step));
    bad |= json_object_set_new(object, "cells", gbees_json_unsigned(now->cells));
    bad |= json_object_set_new(object, "cells_above", gbees_json_unsigned(now->cells_above));
    if (gbees_problem_is_exact(record->problem))
        bad |= json_object_set_new(object, "points", gbees_json_unsigned(totals->points));
    bad |= json_object_set_new(object, "width", gbees_json_vector(n, record->problem->width));
    if (record->problem->moving)
        bad |= json_object_set_new(object, "frame", json_frame(record));
    bad |= json_object_set_new(object, "mass_lost", gbees_json_real(totals->mass_outflow + totals->mass_pruned));
    bad |= json_object_set_new(object, "mean", gbees_json_vector(n, now->mean));
    bad |= json_object_set_new(object, "cov", gbees_json_matrix(n, now->covariance));
    if (gbees_problem_directions(record->problem) > 0) {
        bad |= json_object_set_new(object, "direction", json_around(record, now->direction));
        bad |= json_object_set_new(object, "resultant", json_around(record, now->resultant));
    }
    bad |= json_object_set_new(object, "entropy", gbees_json_real(now->entropy));
    bad |= json_object_set_new(object, "wall_s", gbees_json_real(record->wall_s));
    bad |= json_object_set_new(object, "mass", gbees_json_real(now->mass));
    bad |= json_object_set_new(object, "mass_clipped", gbees_json_real(totals->mass_clipped));
    bad |= json_object_set_new(object, "mass_outflow", gbees_json_real(totals->mass_outflow));
    bad |= json_object_set_new(object, "mass_pruned", gbees_json_real(totals->mass_pruned));
    bad |= json_object_set_new(object, "mass_normalised", gbees_json_real(totals->mass_normalised));
    bad |= json_object_set_new(object, "since", json_ledger(&record->since));
    bad |= json_object_set_new(object, "error", json_certificate(record));
    if (record->problem->target_count > 0)
        bad |= json_object_set_new(object, "targets", json_targets(record));
    if (record->score)
        bad |= json_object_set_new(object, "truth", gbees_json_score(n, record->score));
    bad |= json_object_set_new(object, "warnings", gbees_json_warnings(record->warnings, record->problem, totals));
    return finish(object, bad);
}

char *gbees_jsonl_update(int number, double time, const gbees_evidence *evidence)
{
    return finish(json_pack("{s:s, s:o, s:i, s:o, s:o, s:o, s:o}", "event", "update", "t", gbees_json_real(time),
                            "measurement", number, "log_evidence", gbees_json_real(evidence->log_evidence),
                            "log_likelihood_max", gbees_json_real(evidence->log_likelihood_max),
                            "log_evidence_sampled", gbees_json_real(evidence->sampled), "log_evidence_error",
                            gbees_json_real(evidence->sampled_error)),
                  0);
}

char *gbees_jsonl_jump(const gbees_problem *problem, int number, double time)
{
    const gbees_instant *instant = &problem->instants[number - 1];

    return finish(json_pack("{s:s, s:o, s:i, s:o, s:o}", "event", "jump", "t", gbees_json_real(time), "instant",
                            number, "jump", gbees_json_text(gbees_instant_name(problem, instant)), "value",
                            gbees_json_vector(instant->size, instant->value)),
                  0);
}

char *gbees_jsonl_progress(double time, double fraction, const gbees_totals *totals)
{
    return finish(json_pack("{s:s, s:o, s:o, s:o, s:o}", "event", "progress", "t", gbees_json_real(time), "fraction",
                            gbees_json_real(fraction), "step", gbees_json_unsigned(totals->steps), "max_cells",
                            gbees_json_unsigned(totals->max_cells)),
                  0);
}

char *gbees_jsonl_summary(const char *backend, const gbees_summary *summary, const gbees_scores *scores,
                          const gbees_comparison *comparison)
{
    json_t *object = start("summary"), *truth = gbees_json_scores(scores);
    int bad = object ? gbees_json_add_summary(object, backend, summary) : 0;

    if (object && truth)
        bad |= json_object_set(object, "truth", truth);
    if (object && comparison)
        bad |= json_object_set_new(object, "compare", gbees_json_comparison(comparison));
    json_decref(truth);
    return object ? finish(object, bad) : NULL;
}

char *gbees_jsonl_run(const gbees_refinement_step *step)
{
    json_t *object = start("run");

    return object ? finish(object, gbees_json_add_run(object, step)) : NULL;
}

char *gbees_jsonl_error(const gbees_error *error)
{
    return finish(json_pack("{s:s, s:s, s:o}", "event", "error", "status", gbees_status_name(error->status), "text",
                            gbees_json_text(error->text)),
                  0);
}
