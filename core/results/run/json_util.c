/* json_util.c - makes JSON values: null for what is not finite, '?' for bytes of text that is not UTF-8; and the
 * objects that several files have: summary, run, scores. */
#include "json_util.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *gbees_json_real(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

json_t *gbees_json_count(double x)
{
    if (fabs(x) < 9007199254740992.0 && x == floor(x)) /* 2^53 */
        return json_integer((json_int_t)x);
    return gbees_json_real(x);
}

json_t *gbees_json_unsigned(uint64_t x)
{
    return x <= INT64_MAX ? json_integer((json_int_t)x) : json_real((double)x);
}

json_t *gbees_json_text(const char *text)
{
    if (!text)
        return json_null();
    json_t *value = json_string(text);
    char *copy = value ? NULL : strdup(text);

    if (!copy)
        return value;
    for (char *c = copy; *c; c++)
        if (*c & 0x80)
            *c = '?';
    value = json_string(copy);
    free(copy);
    return value;
}

json_t *gbees_json_whole(json_t *made, int bad)
{
    if (!bad)
        return made;
    json_decref(made);
    return NULL;
}

json_t *gbees_json_vector(int n, const double *x)
{
    json_t *list = json_array();
    int bad = 0;

    for (int j = 0; j < n; j++)
        bad |= json_array_append_new(list, gbees_json_real(x[j]));
    return gbees_json_whole(list, bad);
}

json_t *gbees_json_matrix(int n, const double *x)
{
    json_t *list = json_array();
    int bad = 0;

    for (int j = 0; j < n; j++)
        bad |= json_array_append_new(list, gbees_json_vector(n, x + (size_t)j * (size_t)n));
    return gbees_json_whole(list, bad);
}

json_t *gbees_json_warnings(unsigned warnings, const gbees_problem *problem, const gbees_totals *totals)
{
    json_t *list = json_array();
    char text[GBEES_WARNING_TEXT];
    int bad = 0;

    for (int k = 0; k < GBEES_WARNING_COUNT; k++) {
        if (!(warnings & 1u << k))
            continue;
        gbees_warning_text((gbees_warning)(1 << k), problem, totals, text, sizeof text);
        bad |= json_array_append_new(list, json_string(text));
    }
    return gbees_json_whole(list, bad);
}

/* One object for each rank; NULL: out of memory. */
static json_t *list_ranks(const gbees_summary *summary)
{
    json_t *list = json_array();
    int bad = 0;

    for (int r = 0; r < summary->ranks_listed; r++) {
        const gbees_rank_totals *rank = &summary->rank[r];

        bad |= json_array_append_new(list, json_pack("{s:i, s:o, s:o, s:o, s:o}", "rank", r, "bricks",
                                                     gbees_json_real(rank->bricks), "bytes_sent",
                                                     gbees_json_count(rank->bytes_sent), "waited_s",
                                                     gbees_json_real(rank->seconds_waited), "peak_bytes",
                                                     gbees_json_unsigned(rank->peak_bytes)));
    }
    return gbees_json_whole(list, bad);
}

int gbees_json_add_summary(json_t *object, const char *backend, const gbees_summary *summary)
{
    const gbees_totals *totals = &summary->totals;
    int bad = 0;

    bad |= json_object_set_new(object, "backend", gbees_json_text(backend));
    bad |= json_object_set_new(object, "threads", json_integer(totals->threads));
    if (totals->ranks > 0) {
        bad |= json_object_set_new(object, "ranks", json_integer(totals->ranks));
        bad |= json_object_set_new(object, "imbalance", gbees_json_real(totals->imbalance));
        bad |= json_object_set_new(object, "bytes_exchanged", gbees_json_count(totals->bytes_exchanged));
        bad |= json_object_set_new(object, "waited_s", gbees_json_real(totals->seconds_waited));
        bad |= json_object_set_new(object, "per_rank", list_ranks(summary));
    }
    bad |= json_object_set_new(object, "steps", gbees_json_unsigned(totals->steps));
    bad |= json_object_set_new(object, "cell_updates", gbees_json_count(totals->cell_updates));
    bad |= json_object_set_new(object, "raw_cell_updates", gbees_json_count(totals->raw_cell_updates));
    bad |= json_object_set_new(object, "max_cells", gbees_json_unsigned(totals->max_cells));
    if (summary->problem && gbees_problem_is_exact(summary->problem)) {
        bad |= json_object_set_new(object, "points", gbees_json_unsigned(totals->points));
        bad |= json_object_set_new(object, "refinements", gbees_json_unsigned(totals->refinements));
        bad |= json_object_set_new(object, "drift_evaluations", gbees_json_count(totals->cell_updates));
    }
    bad |= json_object_set_new(object, "wall_s", gbees_json_real(summary->wall_s));
    bad |= json_object_set_new(object, "propagate_s", gbees_json_real(summary->propagate_s));
    bad |= json_object_set_new(object, "cells_per_s",
                               gbees_json_real(totals->cell_updates / summary->propagate_s)); /* null before a step */
    bad |= json_object_set_new(object, "peak_bytes", gbees_json_unsigned(totals->peak_bytes));
    bad |= json_object_set_new(object, "log_evidence",
                               summary->updates ? gbees_json_real(summary->evidence.total) : json_null());
    bad |= json_object_set_new(object, "log_evidence_sampled",
                               summary->updates ? gbees_json_real(summary->evidence.total_sampled) : json_null());
    bad |= json_object_set_new(object, "log_evidence_error",
                               summary->updates ? gbees_json_real(summary->evidence.total_error) : json_null());
    bad |= json_object_set_new(object, "warnings", gbees_json_warnings(summary->warnings, summary->problem, totals));
    return bad ? -1 : 0;
}

int gbees_json_add_run(json_t *object, const gbees_refinement_step *step)
{
    int bad = 0;

    bad |= json_object_set_new(object, "run", json_integer(step->run));
    bad |= json_object_set_new(object, "met", step->met < 0 ? json_null() : json_boolean(step->met));
    bad |= json_object_set_new(object, "error", gbees_json_real(step->error));
    bad |= json_object_set_new(object, "t", gbees_json_real(step->time));
    bad |= json_object_set_new(object, "updates", gbees_json_count(step->updates));
    if (!isnan(step->estimate))
        bad |= json_object_set_new(object, "estimate", gbees_json_real(step->estimate));
    if (!isnan(step->evidence_estimate))
        bad |= json_object_set_new(object, "log_evidence_estimate", gbees_json_real(step->evidence_estimate));
    bad |= json_object_set_new(object, "seconds", gbees_json_real(step->seconds));
    bad |= json_object_set_new(object, "samples", gbees_json_unsigned(step->samples));
    bad |= json_object_set_new(object, "next", json_boolean(step->next));
    bad |=
        json_object_set_new(object, "next_updates", step->next ? gbees_json_count(step->next_updates) : json_null());
    bad |=
        json_object_set_new(object, "next_seconds", step->next ? gbees_json_real(step->next_seconds) : json_null());
    return bad ? -1 : 0;
}

/* ---- beside a truth ---------------------------------------------------------------------------------------- */

json_t *gbees_json_score(int n, const gbees_score *score)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "state", gbees_json_vector(n, score->state), "off",
                     gbees_json_vector(n, score->off), "rmse", gbees_json_real(score->rmse), "nees",
                     gbees_json_real(score->nees), "rank", gbees_json_vector(n, score->rank));
}

static json_t *json_bounded(const gbees_bounded *bounded)
{
    return json_pack("{s:o, s:o, s:o}", "mean", gbees_json_real(bounded->value), "low", gbees_json_real(bounded->low),
                     "high", gbees_json_real(bounded->high));
}

json_t *gbees_json_scores(const gbees_scores *scores)
{
    gbees_score_summary summary;
    json_t *ranks;
    int bad = 0;

    if (!scores || !gbees_scores_summary(scores, &summary))
        return NULL;
    ranks = json_array();
    for (int j = 0; j < scores->dimension; j++)
        bad |= json_array_append_new(ranks, json_bounded(&summary.rank[j]));
    return json_pack("{s:o, s:b, s:o, s:o, s:o}", "records", gbees_json_unsigned(summary.records),
                     "after_measurements_only", summary.updates_only, "rmse", json_bounded(&summary.rmse), "nees",
                     json_bounded(&summary.nees), "rank", gbees_json_whole(ranks, bad));
}
