/* json_compare.c - filters beside a run's records, as JSON: see gbees_json_comparison() in json_util.h. */
#include "json_util.h"

static json_t *json_record(const gbees_comparison *comparison, size_t i, const gbees_rival_error *found)
{
    int leg, number;
    double time;

    gbees_comparison_when(comparison, i, &leg, &number, &time);
    return json_pack("{s:i, s:i, s:o, s:o, s:o, s:o, s:o}", "leg", leg, "record", number, "t", gbees_json_real(time),
                     "e_m", gbees_json_real(found->mean), "e_s", gbees_json_real(found->std), "kolmogorov",
                     gbees_json_real(found->kolmogorov), "bc", gbees_json_real(found->bc));
}

/* Negative when out of memory. */
static int add_records(const gbees_comparison *comparison, const gbees_rival_result *result, json_t *method)
{
    json_t *records = json_array();
    int bad = !records;

    for (size_t i = 0; i < result->count && !bad; i++)
        bad = json_array_append_new(records, json_record(comparison, i, &result->records[i]));
    return json_object_set_new(method, "records", records) || bad ? -1 : 0;
}

static json_t *json_result(const gbees_comparison *comparison, const gbees_rival_result *result)
{
    const int failed = result->failure.status != GBEES_OK;
    json_t *truth = gbees_json_scores(&result->scores);
    json_t *method = json_pack("{s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "method",
                               gbees_rival_name(result->rival), "samples", (json_int_t)result->samples, "seconds",
                               gbees_json_real(result->seconds), "e_m", gbees_json_real(result->worst.mean), "e_s",
                               gbees_json_real(result->worst.std), "kolmogorov",
                               gbees_json_real(result->worst.kolmogorov), "bc", gbees_json_real(result->worst.bc),
                               "ratio", gbees_json_real(result->ratio), "t", gbees_json_real(result->ratio_time),
                               "log_evidence", gbees_json_real(result->log_evidence), "log_evidence_error",
                               gbees_json_real(result->log_evidence_error), "enough", !failed && result->ratio <= 1);
    int bad = !method;

    if (!bad && truth)
        bad |= json_object_set(method, "truth", truth);
    if (!bad && failed)
        bad |= json_object_set_new(method, "failure", gbees_json_text(result->failure.text));
    if (!bad)
        bad |= add_records(comparison, result, method);
    json_decref(truth);
    return gbees_json_whole(method, bad);
}

json_t *gbees_json_comparison(const gbees_comparison *comparison)
{
    json_t *methods = json_array();
    char answer[GBEES_ANSWER_TEXT];
    int bad = !methods;

    gbees_comparison_answer(comparison, answer, sizeof answer);
    for (int k = 0; k < gbees_comparison_count(comparison) && !bad; k++)
        bad = json_array_append_new(methods, json_result(comparison, gbees_comparison_result(comparison, k)));
    return json_pack("{s:o, s:s, s:o}", "grid_seconds", gbees_json_real(gbees_comparison_grid_seconds(comparison)),
                     "answer", answer, "methods", gbees_json_whole(methods, bad));
}
