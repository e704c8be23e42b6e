/* test_json.c - the lines of --json: exactly the keys, in order, and numbers that survive. */
#include "fixtures/suite.h"
#include "results/run/jsonl.h"
#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *parse(char *line)
{
    json_error_t why;

    ck_assert_ptr_nonnull(line);
    ck_assert_ptr_null(strchr(line, '\n'));
    json_t *object = json_loads(line, 0, &why);
    ck_assert_msg(object != NULL, "%s in %s", why.text, line);
    free(line);
    return object;
}

/* `keys` with a blank after each. */
static void check_keys(json_t *object, const char *keys)
{
    char found[512] = "";
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        ck_assert_uint_lt(strlen(found) + strlen(key) + 2, sizeof found);
        strcat(found, key);
        strcat(found, " ");
    }
    ck_assert_str_eq(found, keys);
}

static double real_of(json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static gbees_record make_record(const gbees_problem *problem)
{
    gbees_record record = {.problem = problem, .leg = 1, .number = 2, .time = .1, .wall_s = .5};

    record.statistics = (gbees_statistics){.cells = 20000, .cells_above = 9000, .mass = 1.25, .entropy = 1. / 3};
    record.statistics.mean[0] = -1.5;
    record.statistics.mean[1] = 1e300;
    record.statistics.covariance[1] = .25;
    record.statistics.covariance[3] = 4;
    record.totals = (gbees_totals){.steps = 12,
                                   .time_step = .01,
                                   .mass_clipped = .5,
                                   .mass_outflow = .25,
                                   .mass_pruned = .125,
                                   .mass_normalised = -.5,
                                   .threads = 2};
    record.since.pruned = .0625;
    return record;
}

START_TEST(record)
{
    gbees_problem problem = {.dimension = 2, .width = {.5, .125, 7}};
    gbees_record with = make_record(&problem);
    json_t *line = parse(gbees_jsonl_record(&with));
    json_t *cov = json_object_get(line, "cov"), *width = json_object_get(line, "width");

    ck_assert_uint_eq(json_array_size(width), 2);
    ck_assert_double_eq(json_number_value(json_array_get(width, 1)), .125);

    check_keys(line, "event leg record t step dt cells cells_above width mass_lost mean cov entropy wall_s mass "
                     "mass_clipped mass_outflow mass_pruned mass_normalised since error warnings ");
    check_keys(json_object_get(line, "since"), "mass_clipped mass_outflow mass_pruned mass_normalised ");
    ck_assert_double_eq(real_of(json_object_get(line, "since"), "mass_pruned"), .0625);
    ck_assert_double_eq(real_of(line, "mass_normalised"), -.5);
    ck_assert_uint_eq(json_array_size(json_object_get(line, "warnings")), 0);
    ck_assert_str_eq(json_string_value(json_object_get(line, "event")), "record");
    ck_assert_int_eq(json_integer_value(json_object_get(line, "record")), 2);
    ck_assert_int_eq(json_integer_value(json_object_get(line, "cells")), 20000);
    ck_assert_double_eq(real_of(line, "t"), .1); /* to the last bit */
    ck_assert_double_eq(real_of(line, "entropy"), 1. / 3);
    ck_assert_double_eq(real_of(line, "mass_lost"), .375);
    ck_assert_uint_eq(json_array_size(json_object_get(line, "mean")), 2);
    ck_assert_double_eq(json_real_value(json_array_get(json_object_get(line, "mean"), 1)), 1e300);
    ck_assert_uint_eq(json_array_size(cov), 2);
    ck_assert_double_eq(json_real_value(json_array_get(json_array_get(cov, 0), 1)), .25);
    ck_assert_double_eq(json_real_value(json_array_get(json_array_get(cov, 1), 1)), 4);
    json_decref(line);
}
END_TEST

START_TEST(warnings_are_texts)
{
    gbees_problem problem = {.dimension = 2, .mass_budget = .02, .end = 1};
    gbees_record with = make_record(&problem);

    with.warnings = GBEES_WARNING_MASS_LOST | GBEES_WARNING_BUDGET_SPENT;
    json_t *line = parse(gbees_jsonl_record(&with)), *list = json_object_get(line, "warnings");

    ck_assert_uint_eq(json_array_size(list), 2);
    ck_assert_str_eq(json_string_value(json_array_get(list, 0)),
                     "losses since the start add up to 37.5 % of the mass, 25 % through faces and 12.5 % by pruning: "
                     "give a smaller 'mass_budget'");
    ck_assert_str_eq(
        json_string_value(json_array_get(list, 1)),
        "the mass budget is not held: 37.5 % of the mass has been lost, of 2 % for the whole run (0.02 a "
        "unit of time); give a smaller budget, finer cells or a larger 'extent'");
    json_decref(line);
}
END_TEST

START_TEST(not_finite_is_null)
{
    gbees_problem problem = {.dimension = 2};
    gbees_record with = make_record(&problem);
    json_t *line;

    with.statistics.mean[1] = NAN;
    with.statistics.entropy = -INFINITY;
    line = parse(gbees_jsonl_record(&with));
    ck_assert(json_is_null(json_array_get(json_object_get(line, "mean"), 1)));
    ck_assert(json_is_null(json_object_get(line, "entropy")));
    json_decref(line);
}
END_TEST

START_TEST(starts_as_promised)
{
    gbees_problem problem = {.dimension = 2};
    gbees_record with = make_record(&problem);
    const char *start = "{\"event\":\"record\",\"leg\":1,\"record\":2,\"t\":0.10000000000000001,\"step\":12,";
    char *line = gbees_jsonl_record(&with);

    ck_assert_ptr_nonnull(line);
    ck_assert(strncmp(line, start, strlen(start)) == 0);
    free(line);
}
END_TEST

START_TEST(update)
{
    json_t *line =
        parse(gbees_jsonl_update(2, 1, &(gbees_evidence){.log_evidence = -7.25, .log_likelihood_max = -1}));

    check_keys(line, "event t measurement log_evidence log_likelihood_max log_evidence_sampled log_evidence_error ");
    ck_assert_double_eq(real_of(line, "log_evidence"), -7.25);
    ck_assert_double_eq(real_of(line, "log_likelihood_max"), -1);
    ck_assert_int_eq(json_integer_value(json_object_get(line, "measurement")), 2);
    json_decref(line);
}
END_TEST

START_TEST(progress)
{
    json_t *line = parse(gbees_jsonl_progress(1, .5, &(gbees_totals){.steps = 3, .max_cells = 70}));

    check_keys(line, "event t fraction step max_cells ");
    ck_assert_double_eq(real_of(line, "fraction"), .5);
    json_decref(line);
}
END_TEST

START_TEST(summary)
{
    gbees_summary with = {.totals = {.steps = 7,
                                     .cell_updates = 8e10,
                                     .raw_cell_updates = 9e10,
                                     .max_cells = 9,
                                     .peak_bytes = 1u << 31,
                                     .threads = 1},
                          .wall_s = 5,
                          .propagate_s = 4};
    json_t *line = parse(gbees_jsonl_summary("cpu", &with, NULL, NULL));

    check_keys(line, "event backend threads steps cell_updates raw_cell_updates max_cells wall_s propagate_s "
                     "cells_per_s peak_bytes log_evidence log_evidence_sampled log_evidence_error warnings ");
    ck_assert_str_eq(json_string_value(json_object_get(line, "backend")), "cpu");
    ck_assert_int_eq(json_integer_value(json_object_get(line, "cell_updates")), 80000000000);
    ck_assert_int_eq(json_integer_value(json_object_get(line, "raw_cell_updates")), 90000000000);
    ck_assert_int_eq(json_integer_value(json_object_get(line, "peak_bytes")), INT64_C(1) << 31);
    ck_assert_double_eq(real_of(line, "cells_per_s"), 2e10);
    ck_assert(json_is_null(json_object_get(line, "log_evidence")));
    json_decref(line);
    with.totals.cell_updates = with.propagate_s = 0; /* a run that failed before its first step */
    with.updates = 2;
    with.evidence = (gbees_evidence){.total = -9, .total_sampled = -8.75, .total_error = NAN};
    line = parse(gbees_jsonl_summary("cpu", &with, NULL, NULL));
    ck_assert(json_is_null(json_object_get(line, "cells_per_s")));
    ck_assert_double_eq(real_of(line, "log_evidence"), -9);
    ck_assert_double_eq(real_of(line, "log_evidence_sampled"), -8.75);
    ck_assert(json_is_null(json_object_get(line, "log_evidence_error")));
    json_decref(line);
}
END_TEST

START_TEST(failure)
{
    gbees_error error;
    json_t *line;

    (void)gbees_error_set(&error, GBEES_EINPUT, "caf\xe9.yaml:3: \"x\"\tis no number"); /* Latin-1 */
    line = parse(gbees_jsonl_error(&error));
    check_keys(line, "event status text ");
    ck_assert_str_eq(json_string_value(json_object_get(line, "status")), "input");
    ck_assert_str_eq(json_string_value(json_object_get(line, "text")), "caf?.yaml:3: \"x\"\tis no number");
    json_decref(line);
    (void)gbees_error_set(&error, GBEES_EINPUT, "caf\xc3\xa9.yaml"); /* UTF-8 */
    line = parse(gbees_jsonl_error(&error));
    ck_assert_str_eq(json_string_value(json_object_get(line, "text")), "caf\xc3\xa9.yaml");
    json_decref(line);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("json");
    TCase *tests = tcase_create("json");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, record);
    tcase_add_test(tests, warnings_are_texts);
    tcase_add_test(tests, not_finite_is_null);
    tcase_add_test(tests, starts_as_promised);
    tcase_add_test(tests, update);
    tcase_add_test(tests, progress);
    tcase_add_test(tests, summary);
    tcase_add_test(tests, failure);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
