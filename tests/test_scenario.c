/* test_scenario.c - core/io scenario, schema and YAML tree: what is refused and in which words, what wins, and that
 * text written is read back bit for bit. */
#include "io/scenario.h"
#include <check.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char lorenz63[] = "# Hanson et al., Comput. Phys. Commun. 317 (2025) 109819, section 5.1.1\n"
                               "mean: [-11.5, -10.0, 9.5]\n"
                               "covariance: [1, 1, 1]\n"
                               "threshold: 5.0e-6\n"
                               "end: 2.0\n"
                               "records: 4\n"
                               "measurements:\n"
                               "  - {time: 1.0, function: z, value: [-8], covariance: [1]}\n";

static const char lorenz96[] =
    "# Hanson et al., Comput. Phys. Commun. 317 (2025) 109819, section 5.1.2; '...' repeats up to the dimension\n"
    "mean: [4.5, 4, ...]\n"
    "covariance: [0.04, ...]\n"
    "threshold: 8.0e-9\n"
    "end: 1.3\n"
    "records: 4\n";

static gbees_scenario *make(const char *text, const char *name)
{
    gbees_scenario *scenario = NULL;
    gbees_error error = {0};

    ck_assert_msg(gbees_scenario_create(text, name, &scenario, &error) == GBEES_OK, "%s", error.text);
    ck_assert_ptr_nonnull(scenario);
    return scenario;
}

static void set(gbees_scenario *scenario, const char *assignment)
{
    gbees_error error = {0};

    ck_assert_msg(gbees_scenario_set(scenario, assignment, &error) == GBEES_OK, "%s", error.text);
}

static double number(const gbees_scenario *scenario, const char *key)
{
    const gbees_node *node = gbees_scenario_find(scenario, key);

    ck_assert_msg(node != NULL, "%s is missing", key);
    return gbees_node_number(node);
}

/* ---- refusals --------------------------------------------------------------------------------------------- */

static const struct {
    const char *text, *error;
} malformed[] = {
    {"mean: [1]\n\ntreshold: 0.1\n", "f.yaml:3: unknown key 'treshold': did you mean 'threshold'?"},
    {"zzzzzzzzzz: 1", "f.yaml:1: unknown key 'zzzzzzzzzz'"},
    {"\"a\\nb\\ncdefgh\": 1", "f.yaml:1: unknown key 'a?b?cdefgh'"},
    {"threshold: abc", "f.yaml:1: threshold: expected a number between 0 and 1, found 'abc'"},
    {"threshold: 0", "f.yaml:1: threshold: expected a number between 0 and 1, found '0'"},
    {"threshold: 1", "f.yaml:1: threshold: expected a number between 0 and 1, found '1'"},
    {"threshold: 1e-400", "f.yaml:1: threshold: expected a number between 0 and 1, found '1e-400'"},
    {"threshold: nan", "f.yaml:1: threshold: expected a number between 0 and 1, found 'nan'"},
    {"threshold: .inf", "f.yaml:1: threshold: expected a number between 0 and 1, found '.inf'"},
    {"threshold:", "f.yaml:1: threshold: expected a number between 0 and 1, found nothing"},
    {"threshold: [0.1]", "f.yaml:1: threshold: expected a number between 0 and 1, found a list"},
    {"threshold: {a: 1}", "f.yaml:1: threshold: expected a number between 0 and 1, found a map"},
    {"start: 0x10", "f.yaml:1: start: expected a number, found '0x10'"},
    {"start: 1e999", "f.yaml:1: start: expected a number, found '1e999'"},
    {"start: 1.0d3", "f.yaml:1: start: expected a number, found '1.0d3'"},
    {"start: 1_000", "f.yaml:1: start: expected a number, found '1_000'"},
    {"start: 1 2", "f.yaml:1: start: expected a number, found '1 2'"},
    {"start: .", "f.yaml:1: start: expected a number, found '.'"},
    {"start: 1e", "f.yaml:1: start: expected a number, found '1e'"},
    {"start: 01234567890123456789012345678901234567890123456789x",
     "f.yaml:1: start: expected a number, found '0123456789012345678901234567890123456789'..."},
    {"dimension: 9", "f.yaml:1: dimension: expected a whole number from 1 to 8, found '9'"},
    {"dimension: 2.5", "f.yaml:1: dimension: expected a whole number from 1 to 8, found '2.5'"},
    {"records: 0", "f.yaml:1: records: expected a whole number from 1 to 1000000, found '0'"},
    {"prune_interval: 1e9", "f.yaml:1: prune_interval: expected a whole number from 1 to 1000000, found '1e9'"},
    {"courant: 0", "f.yaml:1: courant: expected a number > 0, found '0'"},
    {"time_step: 0", "f.yaml:1: time_step: expected a number > 0, found '0'"},
    {"factor: [1, -1]", "f.yaml:1: factor: expected a number > 0, found '-1'"},
    {"width: abc", "f.yaml:1: width: expected a number > 0, found 'abc'"},
    {"factor:", "f.yaml:1: factor: expected a list of numbers, found nothing"},
    {"factor: 1\nwidth: 2", "f.yaml:2: width: can't be given beside 'factor' of line 1: they say the same"},
    {"mean: 3", "f.yaml:1: mean: expected a list of numbers, found '3'"},
    {"mean: []", "f.yaml:1: mean: expected a list of numbers, found an empty list"},
    {"mean:\n  - 1\n  - x\n", "f.yaml:3: mean: expected a number, found 'x'"},
    {"mean: [...]", "f.yaml:1: mean: '...' repeats the number before it: it must be the last of several entries"},
    {"mean: [1, ..., 2]",
     "f.yaml:1: mean: '...' repeats the number before it: it must be the last of several entries"},
    {"covariance: 1", "f.yaml:1: covariance: expected a list of variances or a list of lists, found '1'"},
    {"covariance: [1, [2]]", "f.yaml:1: covariance: expected a number, found a list"},
    {"covariance:\n - [1]\n - 2", "f.yaml:3: covariance: expected a list of numbers, found '2'"},
    {"covariance: [[1, ...]]", "f.yaml:1: covariance: '...' can't stand for numbers of a matrix"},
    {"parameters: [1]", "f.yaml:1: parameters: expected a map of numbers, found a list"},
    {"parameters: {a: b}", "f.yaml:1: parameters.a: expected a number, found 'b'"},
    {"parameters: {a: 1,\n a: 2}", "f.yaml:2: parameters: key 'a' given twice"},
    {"parameters: {\"\": 2}", "f.yaml:1: parameters: expected a name, found nothing"},
    {"model: []", "f.yaml:1: model: expected a name, found an empty list"},
    {"model: \"a\\tb\"", "f.yaml:1: model: expected a name, found 'a?b'"},
    {"mode: fast", "f.yaml:1: mode: expected 'default', 'paper' or 'legacy', found 'fast'"},
    {"brick: 2", "f.yaml:1: brick: expected 'auto' or '1', found '2'"},
    {"scheme: [ctu]", "f.yaml:1: scheme: expected 'ctu', 'ctu-divergence', 'ctu-positive', "
                      "'split5', 'split5-mp', 'split7' or 'split7-mp', found a list"},
    {"cell_values: mean", "f.yaml:1: cell_values: expected 'points' or 'averages', found 'mean'"},
    {"measurements: {}", "f.yaml:1: measurements: expected a list of maps, found a map"},
    {"measurements:\n  - 3",
     "f.yaml:2: measurement 1: expected a map with time, function, value and covariance, found '3'"},
    {"measurements:\n  - {time: 1, value: [1], covariance: [1]}\n  - {tme: 1}",
     "f.yaml:3: measurement 2: unknown key 'tme': did you mean 'time'?"},
    {"measurements:\n  - {time: 1, value: [1]}", "f.yaml:2: measurement 1: 'covariance' is missing"},
    {"measurements:\n  - {time: 1, time: 2}", "f.yaml:2: measurement 1: key 'time' given twice"},
    {"measurements:\n  - {time: 1,\n     value: -8}",
     "f.yaml:3: measurement 1: value: expected a list of numbers, found '-8'"},
    {"measurements:\n  - {time: 1, value: [1], likelihood: student-t, degrees_of_freedom: 3}",
     "f.yaml:2: measurement 1: 'covariance' is missing"},
    {"measurements:\n  - {time: 1, value: [1], covariance: [1], likelihood: student-t}",
     "f.yaml:2: measurement 1: 'degrees_of_freedom' is missing"},
    {"measurements:\n  - {time: 1, value: [1], covariance: [1], likelihood: student-t,\n     degrees_of_freedom: 0}",
     "f.yaml:3: measurement 1: degrees_of_freedom: expected a number > 0, found '0'"},
    {"measurements:\n  - {time: 1, value: [1], covariance: [1],\n     degrees_of_freedom: 3}",
     "f.yaml:3: measurement 1: degrees_of_freedom: only with 'likelihood: student-t': leave it out"},
    {"measurements:\n  - {time: 1, value: [1], likelihood: model,\n     covariance: [1]}",
     "f.yaml:3: measurement 1: covariance: with 'likelihood: model' there is none: leave it out"},
    {"measurements:\n  - {time: 1, value: [1], covariance: [1], likelihood: cauchy}",
     "f.yaml:2: measurement 1: likelihood: expected 'gaussian', 'student-t' or 'model', found 'cauchy'"},
    {"measurements:\n  - {time: 1, value: [1, ~], covariance: [1, ~]}",
     "f.yaml:2: measurement 1: covariance: expected a number, found '~'"},
    {"mean: [1, ~]", "f.yaml:1: mean: expected a number, found '~'"},
    {"initial: 3",
     "f.yaml:1: initial: expected a list of maps with weight, mean and covariance, or a map with file, found '3'"},
    {"initial: []",
     "f.yaml:1: initial: expected a list of maps with weight, mean and covariance, or a map with file, "
     "found an empty list"},
    {"initial: [{mean: [1]}]", "f.yaml:1: initial 1: 'covariance' is missing"},
    {"initial:\n  - {mean: [1], covariance: [1]}\n  - {mean: [1], covariance: [1], weight: 0}",
     "f.yaml:3: initial 2: weight: expected a number > 0, found '0'"},
    {"initial:\n  - 3", "f.yaml:2: initial 1: expected a map with weight, mean and covariance, found '3'"},
    {"initial: {record: 1}", "f.yaml:1: initial: 'file' is missing"},
    {"initial: {fiel: a}", "f.yaml:1: initial: unknown key 'fiel': did you mean 'file'?"},
    {"initial: {file: []}", "f.yaml:1: initial: file: expected a path, found an empty list"},
    {"mean: [1]\ninitial: {file: a}", "f.yaml:2: initial: can't be given beside 'mean' of line 1: they say the same"},
    {"initial: {file: a}\ncovariance: [1]",
     "f.yaml:2: covariance: can't be given beside 'initial' of line 1: they say the same"},
    {"end: 1\nstart: 0\nend: 2", "f.yaml:3: key 'end' given twice, first in line 1"},
    {"end: 1\n---\nend: 2\n", "f.yaml:3: a second document ('---'): a scenario is one"},
    {"- 1", "f.yaml:1: expected lines of 'key: value', found a list"},
    {"hello", "f.yaml:1: expected lines of 'key: value', found 'hello'"},
    {"[a]: 1", "f.yaml:1: a list or a map in the place of a key"},
    {"mean: &a [*a]", "f.yaml:1: nested too deep: no value of a scenario is"},
    {"mean: [[[[[[[[[[1]]]]]]]]]]", "f.yaml:1: nested too deep: no value of a scenario is"},
    {"model: \"a\\0b\"", "f.yaml:1: a NUL character in a value"},
    {"mean: *nobody", "f.yaml:1: not YAML: found undefined alias"},
    {"end: 1\nmeasurements:\n\t- {time: 1}\n",
     "f.yaml:3: not YAML: while scanning for the next token: found character that cannot start any token (a tab? "
     "YAML is indented with spaces)"},
    {"end: 1\nmean: [1, 2\nstart: 3\n",
     "f.yaml:3: not YAML: while parsing a flow sequence: did not find expected ',' or ']'"},
    {"end: 1\nmodel: \xff\xfe\n", "f.yaml:2: not UTF-8 text: invalid leading UTF-8 octet"},
    {"end: 1\n\x01", "f.yaml:2: not UTF-8 text: control characters are not allowed"},
};

START_TEST(refuses_what_is_malformed)
{
    gbees_scenario *scenario = NULL;
    gbees_error error = {0};

    ck_assert_int_eq(gbees_scenario_create(malformed[_i].text, "f.yaml", &scenario, &error), GBEES_EINPUT);
    ck_assert_str_eq(error.text, malformed[_i].error);
    ck_assert_int_eq(error.status, GBEES_EINPUT);
    ck_assert_ptr_null(scenario);
    ck_assert_int_eq(gbees_scenario_create(malformed[_i].text, "f.yaml", &scenario, NULL), GBEES_EINPUT);
}
END_TEST

static const struct {
    const char *assignment;
    int status;
    const char *error;
} bad_changes[] = {
    {"threshold", GBEES_EUSAGE, "--set 'threshold': expected KEY=VALUE"},
    {"=3", GBEES_EUSAGE, "--set '=3': expected KEY=VALUE"},
    {"treshold=0.1", GBEES_EINPUT, "--set treshold: unknown key: did you mean 'threshold'?"},
    {"parameters.=1", GBEES_EINPUT, "--set parameters.: unknown key: did you mean 'parameters'?"},
    {"threshold=2", GBEES_EINPUT, "--set threshold: expected a number between 0 and 1, found '2'"},
    {"threshold=", GBEES_EINPUT, "--set threshold: expected a number between 0 and 1, found nothing"},
    {"parameters.a=[1]", GBEES_EINPUT, "--set parameters.a: expected a number, found a list"},
    {"parameters.a\tb=1", GBEES_EINPUT, "--set parameters: expected a name, found 'a?b'"},
    {"mean=[1, 2", GBEES_EINPUT,
     "--set mean: not YAML: while parsing a flow sequence: did not find expected ',' or ']'"},
    {"measurements=[{time: x}]", GBEES_EINPUT, "--set measurement 1: time: expected a number, found 'x'"},
};

START_TEST(refuses_bad_changes)
{
    gbees_scenario *scenario = make(lorenz63, "f.yaml");
    gbees_error error = {0};

    ck_assert_int_eq(gbees_scenario_set(scenario, bad_changes[_i].assignment, &error), bad_changes[_i].status);
    ck_assert_str_eq(error.text, bad_changes[_i].error);
    ck_assert(number(scenario, "threshold") == 5e-6);
    gbees_scenario_destroy(scenario);
}
END_TEST

static char *write_file(char *path, const void *data, size_t size)
{
    int fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    FILE *file = fdopen(fd, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(data, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
    return path;
}

START_TEST(reads_files)
{
    char path[] = "/tmp/gbees-test-XXXXXX", nul[] = "/tmp/gbees-test-XXXXXX", huge[] = "/tmp/gbees-test-XXXXXX";
    char expected[128];
    gbees_scenario *scenario = NULL;
    gbees_error error = {0};

    ck_assert_int_eq(gbees_scenario_read("/nowhere/f.yaml", &scenario, &error), GBEES_EIO);
    ck_assert_str_eq(error.text, "/nowhere/f.yaml: can't be read: No such file or directory");
    ck_assert_int_eq(gbees_scenario_read("/tmp", &scenario, &error), GBEES_EIO);
    ck_assert_str_eq(error.text, "/tmp: can't be read: Is a directory");

    ck_assert_int_eq(gbees_scenario_read(write_file(nul, "end: 1\nstart:\0 2", 16), &scenario, &error), GBEES_EINPUT);
    (void)snprintf(expected, sizeof expected, "%s:2: a NUL byte: not a text file", nul);
    ck_assert_str_eq(error.text, expected);

    char *big = malloc((size_t)GBEES_INPUT_BYTES + 1);
    ck_assert_ptr_nonnull(big);
    memset(big, '#', (size_t)GBEES_INPUT_BYTES + 1);
    ck_assert_int_eq(gbees_scenario_read(write_file(huge, big, (size_t)GBEES_INPUT_BYTES + 1), &scenario, &error),
                     GBEES_EINPUT);
    (void)snprintf(expected, sizeof expected, "%s: longer than 1 MiB: not a file of this kind", huge);
    ck_assert_str_eq(error.text, expected);
    ck_assert_ptr_null(scenario);
    free(big);

    ck_assert_int_eq(gbees_scenario_read(write_file(path, lorenz63, sizeof lorenz63 - 1), &scenario, &error),
                     GBEES_OK);
    ck_assert_str_eq(gbees_scenario_find(scenario, "end")->source, path);
    ck_assert_int_eq(gbees_scenario_find(scenario, "end")->line, 5);
    gbees_scenario_destroy(scenario);
    (void)unlink(path), (void)unlink(nul), (void)unlink(huge);
}
END_TEST

/* ---- what is accepted ------------------------------------------------------------------------------------- */

START_TEST(accepts_numbers_as_people_write_them)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {{"5.0e-6", 5e-6},
                {"1e-9", 1e-9},
                {".5", .5},
                {"-8", -8},
                {"+3.", 3},
                {"1E+2", 100},
                {"'7'", 7},
                {"010", 10},
                {"-0", -0.0},
                {"4.9e-324", 4.9e-324},
                {"1.7976931348623157e308", 1.7976931348623157e308}};

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char text[64];

        (void)snprintf(text, sizeof text, "start: %s", good[i].text);
        gbees_scenario *scenario = make(text, "f.yaml");
        double value = number(scenario, "start");
        ck_assert_msg(memcmp(&value, &good[i].value, sizeof value) == 0, "%s", good[i].text);
        gbees_scenario_destroy(scenario);
    }
}
END_TEST

START_TEST(accepts_files_without_keys)
{
    static const char *const empty[] = {"", "# nothing\n", "---\n", "---\n...\n", "{}", "\xef\xbb\xbf"};
    size_t count;

    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        gbees_scenario *scenario = make(empty[i], "f.yaml");

        (void)gbees_scenario_entries(scenario, &count);
        ck_assert_uint_eq(count, 0);
        ck_assert_str_eq(gbees_scenario_text(scenario), "");
        gbees_scenario_destroy(scenario);
    }
}
END_TEST

START_TEST(accepts_anchors_and_crlf)
{
    gbees_scenario *scenario = make("mean: &m [1, 2]\r\nfactor: *m\r\nparameters: {a: &p 3, b: *p}\r\n", "f.yaml");
    double factor[2];
    const gbees_node *node = gbees_scenario_find(scenario, "factor");

    ck_assert_int_eq(gbees_node_numbers(node, "factor", 2, "dimension 2", factor, NULL), GBEES_OK);
    ck_assert(factor[0] == 1 && factor[1] == 2);
    ck_assert(number(scenario, "parameters.b") == 3);
    gbees_scenario_destroy(scenario);
}
END_TEST

/* 10^8 numbers in 300 bytes. */
START_TEST(bounds_aliases)
{
    static const char bomb[] =
        "mean: &a [1,1,1,1,1,1,1,1,1,1]\nfactor: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
        "width: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nextent: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
        "start: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nend: [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n";
    gbees_scenario *scenario = NULL;
    gbees_error error = {0};

    ck_assert_int_eq(gbees_scenario_create(bomb, "f.yaml", &scenario, &error), GBEES_EINPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "too many values: a scenario holds at most 100000"));
}
END_TEST

/* ---- changes ----------------------------------------------------------------------------------------------- */

START_TEST(merges)
{
    gbees_scenario *scenario = make("threshold: 0.5\nwidth: 2\nparameters: {sigma: 3}\n", "f.yaml");
    gbees_scenario *defaults = make("threshold: 0.1\nend: 2\nfactor: 4\nparameters: {sigma: 4, b: 1}\n", "defaults");

    ck_assert_int_eq(gbees_scenario_merge(scenario, defaults, NULL), GBEES_OK);
    gbees_scenario_destroy(defaults);
    ck_assert(number(scenario, "threshold") == 0.5);
    ck_assert(number(scenario, "end") == 2);
    ck_assert_str_eq(gbees_scenario_find(scenario, "end")->source, "defaults");
    ck_assert(number(scenario, "width") == 2);
    ck_assert_ptr_null(gbees_scenario_find(scenario, "factor"));
    ck_assert(number(scenario, "parameters.sigma") == 3);
    ck_assert(number(scenario, "parameters.b") == 1);

    set(scenario, " factor = [1, ...]");
    ck_assert_ptr_null(gbees_scenario_find(scenario, "width"));
    set(scenario, "width=0.5");
    ck_assert_ptr_null(gbees_scenario_find(scenario, "factor"));
    set(scenario, "parameters.b=7");
    set(scenario, "parameters={r: 1e3}");
    ck_assert(number(scenario, "parameters.b") == 7);
    ck_assert(number(scenario, "parameters.r") == 1000);
    ck_assert_int_eq(gbees_scenario_find(scenario, "parameters.r")->line, 0);
    gbees_scenario_destroy(scenario);
}
END_TEST

START_TEST(drops_measurements_after_an_end_set_apart)
{
    gbees_scenario *scenario = make(lorenz63, "f.yaml");

    ck_assert_ptr_nonnull(strstr(gbees_scenario_text(scenario), "time: 1,"));
    set(scenario, "end=1");
    ck_assert_ptr_nonnull(strstr(gbees_scenario_text(scenario), "time: 1,"));
    set(scenario, "end=0.5");
    ck_assert_ptr_nonnull(strstr(gbees_scenario_text(scenario), "measurements: []\n"));
    gbees_scenario_destroy(scenario);

    scenario = make("end: 0.5", "mine.yaml");
    gbees_scenario *defaults = make(lorenz63, "the default scenario of lorenz63");
    ck_assert_int_eq(gbees_scenario_merge(scenario, defaults, NULL), GBEES_OK);
    ck_assert_ptr_nonnull(strstr(gbees_scenario_text(scenario), "measurements: []\n"));
    gbees_scenario_destroy(defaults);
    gbees_scenario_destroy(scenario);
}
END_TEST

/* ---- text -------------------------------------------------------------------------------------------------- */

START_TEST(writes_text)
{
    gbees_scenario *scenario = make(lorenz96, "f.yaml");

    set(scenario, "parameters.F=4.25");
    set(scenario, "brick=1");
    set(scenario, "model=lorenz96");
    set(scenario, "measurements=[{value: [1], covariance: [[0.1]], time: 1e-7, function: 'a \"b'}]");
    ck_assert_str_eq(gbees_scenario_text(scenario),
                     "model: lorenz96\nparameters: {F: 4.25}\nmean: [4.5, 4, ...]\ncovariance: [0.04, ...]\n"
                     "threshold: 8.0e-09\nend: 1.3\nrecords: 4\nmeasurements:\n"
                     "  - {time: 1.0e-07, function: \"a \\\"b\", value: [1], covariance: [[0.1]]}\nbrick: 1\n");
    gbees_scenario_destroy(scenario);
}
END_TEST

static int same_values(const gbees_node *a, const gbees_node *b)
{
    double x = 0, y = 0;

    if (a->kind != b->kind || a->count != b->count)
        return 0;
    if (a->kind == GBEES_NODE_SCALAR && gbees_number_read(a->text, &x))
        return gbees_number_read(b->text, &y) && memcmp(&x, &y, sizeof x) == 0;
    if (a->kind == GBEES_NODE_SCALAR)
        return strcmp(a->text, b->text) == 0;
    for (size_t i = 0; i < a->count; i++) {
        if (!same_values(a->items[i], b->items[i]))
            return 0;
    }
    return 1;
}

static void round_trip(gbees_scenario *scenario)
{
    const char *text = gbees_scenario_text(scenario);
    gbees_scenario *again = make(text, "again");
    size_t count, count_again;
    const gbees_entry *entries = gbees_scenario_entries(scenario, &count);

    (void)gbees_scenario_entries(again, &count_again);
    ck_assert_uint_eq(count, count_again);
    for (size_t i = 0; i < count; i++) {
        const gbees_node *twin = gbees_scenario_find(again, entries[i].key);

        ck_assert_msg(twin && same_values(entries[i].value, twin), "%s in:\n%s", entries[i].key, text);
    }
    ck_assert_str_eq(gbees_scenario_text(again), text);
    gbees_scenario_destroy(again);
}

START_TEST(text_is_read_back_bit_for_bit)
{
    uint64_t bits = 88172645463325252u;
    gbees_scenario *scenario = make(lorenz63, "f.yaml");

    round_trip(scenario);
    set(scenario, "covariance=[[1, 0.9, 0.1], [0.9, 1, 1e-17], [0.1, 1e-17, 1]]");
    set(scenario, "parameters={sigma: 4, 'a b': 1, \"c\\\\d'\": 2, '1e5': 3, ...: 4}");
    set(scenario, "model='10'");
    set(scenario, "mode=paper");
    set(scenario, "factor=3");
    round_trip(scenario);
    for (int i = 0; i < 2000; i++) {
        double value;
        char change[64];

        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        (void)snprintf(change, sizeof change, "start=%.17g", value);
        set(scenario, change);
        ck_assert(number(scenario, "start") == value);
        round_trip(scenario);
    }
    gbees_scenario_destroy(scenario);
    scenario = make(lorenz96, "f.yaml");
    round_trip(scenario);
    gbees_scenario_destroy(scenario);
}
END_TEST

/* An application may have set a locale whose decimal point is a comma; skipped where there is none. */
START_TEST(locale_does_not_matter)
{
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8"))
        return;
    gbees_scenario *scenario = make("start: 1.5", "f.yaml");
    ck_assert_str_eq(gbees_scenario_text(scenario), "start: 1.5\n");
    gbees_scenario_destroy(scenario);
    (void)setlocale(LC_NUMERIC, "C");
}
END_TEST

/* ---- anything at all --------------------------------------------------------------------------------------- */

/* One line that says where, and no scenario; or a scenario that can be written and read. */
static void try_text(const char *text)
{
    gbees_scenario *scenario = NULL;
    gbees_error error = {0};

    if (gbees_scenario_create(text, "f.yaml", &scenario, &error)) {
        ck_assert_ptr_null(scenario);
        ck_assert_msg(strncmp(error.text, "f.yaml:", 7) == 0 && !strchr(error.text, '\n'), "%s", error.text);
        return;
    }
    round_trip(scenario);
    gbees_scenario_destroy(scenario);
}

START_TEST(survives_mutations)
{
    static const char full[] = "model: lorenz63\ndimension: 3\nparameters: {sigma: 4, b: 1.5e-3}\n"
                               "mean: &m [-11.5, ...]\ncovariance:\n  - [1, 0.9]\n  - [0.9, 1]\nfactor: *m\n"
                               "measurements:\n  - {time: 1.0, function: \"z\", value: [-8], covariance: [[1]]}\n";
    static const char bytes[] = "[]{}:-,.&*!|>'\"%@`#?\n\t \\\r0e\x80\xc3\x01~<=";
    char text[sizeof full];
    uint32_t state = 2463534242u;

    for (size_t length = 0; length < sizeof full; length++) {
        memcpy(text, full, sizeof full);
        text[length] = 0;
        try_text(text);
    }
    for (int i = 0; i < 5000; i++) {
        memcpy(text, full, sizeof full);
        for (int j = 0; j <= i % 4; j++) {
            state ^= state << 13, state ^= state >> 17, state ^= state << 5;
            text[state % (sizeof full - 1)] = bytes[(state >> 16) % (sizeof bytes - 1)];
        }
        try_text(text);
    }
}
END_TEST

START_TEST(schema_lists_its_keys)
{
    size_t count = 0;

    for (const gbees_schema_key *key = gbees_schema_next(NULL); key; key = gbees_schema_next(key)) {
        ck_assert_ptr_eq(gbees_schema_find(key->name), key);
        ck_assert_msg(key->text && key->text[0], "%s has no documentation", key->name);
        count++;
    }
    ck_assert_uint_eq(count, 27);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("scenario");
    TCase *tcase = tcase_create("scenario");

    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, refuses_what_is_malformed, 0, (int)(sizeof malformed / sizeof *malformed));
    tcase_add_loop_test(tcase, refuses_bad_changes, 0, (int)(sizeof bad_changes / sizeof *bad_changes));
    tcase_add_test(tcase, reads_files);
    tcase_add_test(tcase, accepts_numbers_as_people_write_them);
    tcase_add_test(tcase, accepts_files_without_keys);
    tcase_add_test(tcase, accepts_anchors_and_crlf);
    tcase_add_test(tcase, bounds_aliases);
    tcase_add_test(tcase, merges);
    tcase_add_test(tcase, drops_measurements_after_an_end_set_apart);
    tcase_add_test(tcase, writes_text);
    tcase_add_test(tcase, text_is_read_back_bit_for_bit);
    tcase_add_test(tcase, locale_does_not_matter);
    tcase_add_test(tcase, survives_mutations);
    tcase_add_test(tcase, schema_lists_its_keys);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
