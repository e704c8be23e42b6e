/* test_scenario_refusals.c - core/scenario: scenario, schema and YAML tree: what is refused, and in which words. */
#include "fixtures/scenario_fixture.h"
#include "fixtures/suite.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *text, *error;
} malformed[] = {
    {"mean: [1]\n\ntreshold: 0.1\n", "f.yaml:3:1: unknown key 'treshold': did you mean 'threshold'?"},
    {"zzzzzzzzzz: 1", "f.yaml:1:1: unknown key 'zzzzzzzzzz'"},
    {"\"a\\nb\\ncdefgh\": 1", "f.yaml:1:1: unknown key 'a?b?cdefgh'"},
    {"threshold: abc", "f.yaml:1:12: threshold: expected a number between 0 and 1, found 'abc'"},
    {"threshold: 0", "f.yaml:1:12: threshold: expected a number between 0 and 1, found '0'"},
    {"threshold: 1", "f.yaml:1:12: threshold: expected a number between 0 and 1, found '1'"},
    {"threshold: 1e-400", "f.yaml:1:12: threshold: expected a number between 0 and 1, found '1e-400'"},
    {"threshold: nan", "f.yaml:1:12: threshold: expected a number between 0 and 1, found 'nan'"},
    {"threshold: .inf", "f.yaml:1:12: threshold: expected a number between 0 and 1, found '.inf'"},
    {"threshold:", "f.yaml:1:11: threshold: expected a number between 0 and 1, found nothing"},
    {"threshold: [0.1]", "f.yaml:1:12: threshold: expected a number between 0 and 1, found a list"},
    {"threshold: {a: 1}", "f.yaml:1:12: threshold: expected a number between 0 and 1, found a map"},
    {"start: 0x10", "f.yaml:1:8: start: expected a number, found '0x10'"},
    {"start: 1e999", "f.yaml:1:8: start: expected a number, found '1e999'"},
    {"start: 1.0d3", "f.yaml:1:8: start: expected a number, found '1.0d3'"},
    {"start: 1_000", "f.yaml:1:8: start: expected a number, found '1_000'"},
    {"start: 1 2", "f.yaml:1:8: start: expected a number, found '1 2'"},
    {"start: .", "f.yaml:1:8: start: expected a number, found '.'"},
    {"start: 1e", "f.yaml:1:8: start: expected a number, found '1e'"},
    {"start: 01234567890123456789012345678901234567890123456789x",
     "f.yaml:1:8: start: expected a number, found '0123456789012345678901234567890123456789'..."},
    {"dimension: 9", "f.yaml:1:12: dimension: expected a whole number from 1 to 8, found '9'"},
    {"dimension: 2.5", "f.yaml:1:12: dimension: expected a whole number from 1 to 8, found '2.5'"},
    {"records: 0", "f.yaml:1:10: records: expected a whole number from 1 to 1000000, found '0'"},
    {"prune_interval: 1e9", "f.yaml:1:17: prune_interval: expected a whole number from 1 to 1000000, found '1e9'"},
    {"courant: 0", "f.yaml:1:10: courant: expected a number > 0, at most 1, found '0'"},
    {"courant: 1.5", "f.yaml:1:10: courant: expected a number > 0, at most 1, found '1.5'"},
    {"time_step: 0", "f.yaml:1:12: time_step: expected a number > 0, found '0'"},
    {"factor: [1, -1]", "f.yaml:1:13: factor: expected a number > 0, found '-1'"},
    {"width: abc", "f.yaml:1:8: width: expected a number > 0, found 'abc'"},
    {"factor:", "f.yaml:1:8: factor: expected a list of numbers, found nothing"},
    {"factor: 1\nwidth: 2", "f.yaml:2:1: width: can't be given beside 'factor' of line 1: they say the same"},
    {"mean: 3", "f.yaml:1:7: mean: expected a list of numbers, found '3'"},
    {"mean: []", "f.yaml:1:7: mean: expected a list of numbers, found an empty list"},
    {"mean:\n  - 1\n  - x\n", "f.yaml:3:5: mean: expected a number, found 'x'"},
    {"mean: [...]", "f.yaml:1:8: mean: '...' repeats the number before it: it must be the last of several entries"},
    {"mean: [1, ..., 2]",
     "f.yaml:1:11: mean: '...' repeats the number before it: it must be the last of several entries"},
    {"covariance: 1", "f.yaml:1:13: covariance: expected a list of variances or a list of lists, found '1'"},
    {"covariance: [1, [2]]", "f.yaml:1:17: covariance: expected a number, found a list"},
    {"covariance:\n - [1]\n - 2", "f.yaml:3:4: covariance: expected a list of numbers, found '2'"},
    {"covariance: [[1, ...]]", "f.yaml:1:18: covariance: '...' can't stand for numbers of a matrix"},
    {"parameters: [1]", "f.yaml:1:13: parameters: expected a map of numbers, found a list"},
    {"parameters: {a: b}", "f.yaml:1:17: parameters.a: expected a number, found 'b'"},
    {"parameters: {a: 1,\n a: 2}", "f.yaml:2:2: parameters: key 'a' given twice"},
    {"parameters: {\"\": 2}", "f.yaml:1:14: parameters: expected a name, found nothing"},
    {"model: []", "f.yaml:1:8: model: expected a name, found an empty list"},
    {"model: \"a\\tb\"", "f.yaml:1:8: model: expected a name, found 'a?b'"},
    {"mode: fast", "f.yaml:1:7: mode: expected 'default', 'paper' or 'legacy', found 'fast'"},
    {"brick: 1", "f.yaml:1:1: unknown key 'brick'"},
    {"scheme: [ctu]", "f.yaml:1:9: scheme: expected 'ctu', "
                      "'split5', 'split5-mp', 'split7', 'split7-mp' or 'upwind', found a list"},
    {"cell_values: mean", "f.yaml:1:14: cell_values: expected 'points' or 'averages', found 'mean'"},
    {"measurements: 1", "f.yaml:1:15: measurements: expected a list of maps, or a map with file, found '1'"},
    {"measurements: {}", "f.yaml:1:15: measurements: 'file' is missing"},
    {"measurements: {file: a, value: [1]}", "f.yaml:1:25: measurements: unknown key 'value'"},
    {"measurements:\n  - 3",
     "f.yaml:2:5: measurement 1: expected a map with time, function, value and covariance, found '3'"},
    {"measurements:\n  - {time: 1, value: [1], covariance: [1]}\n  - {tme: 1}",
     "f.yaml:3:6: measurement 2: unknown key 'tme': did you mean 'time'?"},
    {"measurements:\n  - {time: 1, value: [1]}", "f.yaml:2:5: measurement 1: 'covariance' is missing"},
    {"measurements:\n  - {time: 1, time: 2}", "f.yaml:2:15: measurement 1: key 'time' given twice"},
    {"measurements:\n  - {time: 1,\n     value: -8}",
     "f.yaml:3:13: measurement 1: value: expected a list of numbers, found '-8'"},
    {"measurements:\n  - {time: 1, value: [1], likelihood: student-t, degrees_of_freedom: 3}",
     "f.yaml:2:5: measurement 1: 'covariance' is missing"},
    {"measurements:\n  - {time: 1, value: [1], covariance: [1], likelihood: student-t}",
     "f.yaml:2:5: measurement 1: 'degrees_of_freedom' is missing"},
    {"measurements:\n  - {time: 1, value: [1], covariance: [1], likelihood: student-t,\n     degrees_of_freedom: 0}",
     "f.yaml:3:26: measurement 1: degrees_of_freedom: expected a number > 0, found '0'"},
    {"measurements:\n  - {time: 1, value: [1], covariance: [1],\n     degrees_of_freedom: 3}",
     "f.yaml:3:26: measurement 1: degrees_of_freedom: only with 'likelihood: student-t': leave it out"},
    {"measurements:\n  - {time: 1, value: [1], likelihood: model,\n     covariance: [1]}",
     "f.yaml:3:18: measurement 1: covariance: with 'likelihood: model' there is none: leave it out"},
    {"measurements:\n  - {time: 1, value: [1], covariance: [1], likelihood: cauchy}",
     "f.yaml:2:56: measurement 1: likelihood: expected 'gaussian', 'student-t' or 'model', found 'cauchy'"},
    {"measurements:\n  - {time: 1, value: [1, ~], covariance: [1, ~]}",
     "f.yaml:2:46: measurement 1: covariance: expected a number, found '~'"},
    {"regrid: 2", "f.yaml:1:9: regrid: expected 'auto' or a list of maps, found '2'"},
    {"regrid: often", "f.yaml:1:9: regrid: expected 'auto' or a list of maps, found 'often'"},
    {"regrid: {time: 1, factor: 2}", "f.yaml:1:9: regrid: expected 'auto' or a list of maps, found a map"},
    {"regrid:\n  - 2", "f.yaml:2:5: regrid 1: expected a map with time and factor, found '2'"},
    {"regrid:\n  - {time: 1, factor: 2}\n  - {factor: 2}", "f.yaml:3:5: regrid 2: 'time' is missing"},
    {"regrid:\n  - {time: 1}", "f.yaml:2:5: regrid 1: 'factor' is missing"},
    {"regrid:\n  - {time: 1, factr: 2}", "f.yaml:2:15: regrid 1: unknown key 'factr': did you mean 'factor'?"},
    {"regrid:\n  - {time: 1, time: 2, factor: 2}", "f.yaml:2:15: regrid 1: key 'time' given twice"},
    {"regrid:\n  - {time: now, factor: 2}", "f.yaml:2:12: regrid 1: time: expected a number, found 'now'"},
    {"regrid:\n  - {time: 1,\n     factor: 0}",
     "f.yaml:3:14: regrid 1: factor: expected a power of two from 1/1024 to 1024, found '0'"},
    {"regrid:\n  - {time: 1, factor: [2, -2]}",
     "f.yaml:2:27: regrid 1: factor: expected a power of two from 1/1024 to 1024, found '-2'"},
    {"regrid:\n  - {time: 1, factor: 2048}",
     "f.yaml:2:23: regrid 1: factor: expected a power of two from 1/1024 to 1024, found '2048'"},
    {"regrid:\n  - {time: 1, factor: 0.00048828125}",
     "f.yaml:2:23: regrid 1: factor: expected a power of two from 1/1024 to 1024, found '0.00048828125'"},
    {"regrid:\n  - {time: 1, factor: []}",
     "f.yaml:2:23: regrid 1: factor: expected a list of numbers, found an empty list"},
    {"output: last", "f.yaml:1:9: output: expected a map with densities, moments and files, found 'last'"},
    {"output:\n  {denisties: last}", "f.yaml:2:4: output: unknown key 'denisties': did you mean 'densities'?"},
    {"output: {densities: few}", "f.yaml:1:21: output: densities: expected 'all', 'last', 'none', 'every N' with a "
                                 "whole number from 1 to 1000000, or "
                                 "a list of times, found 'few'"},
    {"output:\n  moments: every step\n  densities: every 0",
     "f.yaml:3:14: output: densities: expected 'all', 'last', 'none', 'every N' with a whole number from 1 to "
     "1000000, "
     "or "
     "a list of times, found 'every 0'"},
    {"output: {densities: every 1.5}",
     "f.yaml:1:21: output: densities: expected 'all', 'last', 'none', 'every N' with "
     "a whole number from 1 to 1000000, or "
     "a list of times, found 'every 1.5'"},
    {"output: {densities: {at: 1}}",
     "f.yaml:1:21: output: densities: expected 'all', 'last', 'none', 'every N' with a "
     "whole number from 1 to 1000000, or "
     "a list of times, found a map"},
    {"output: {densities: []}", "f.yaml:1:21: output: densities: expected a list of numbers, found an empty list"},
    {"output:\n  densities:\n    - 1\n    - soon", "f.yaml:4:7: output: densities: expected a time, found 'soon'"},
    {"output: {moments: step}",
     "f.yaml:1:19: output: moments: expected 'every record' or 'every step', found 'step'"},
    {"output: {files: one}", "f.yaml:1:17: output: files: expected 'run' or 'records', found 'one'"},
    {"output: {files: run, files: run}", "f.yaml:1:22: output: key 'files' given twice"},
    {"mean: [1, ~]", "f.yaml:1:11: mean: expected a number, found '~'"},
    {"initial: 3",
     "f.yaml:1:10: initial: expected a list of maps with weight, mean and covariance, or a map with file, found '3'"},
    {"initial: []",
     "f.yaml:1:10: initial: expected a list of maps with weight, mean and covariance, or a map with file, "
     "found an empty list"},
    {"initial: [{mean: [1]}]", "f.yaml:1:11: initial 1: 'covariance' is missing"},
    {"initial:\n  - {mean: [1], covariance: [1]}\n  - {mean: [1], covariance: [1], weight: 0}",
     "f.yaml:3:42: initial 2: weight: expected a number > 0, found '0'"},
    {"initial:\n  - 3", "f.yaml:2:5: initial 1: expected a map with weight, mean and covariance, found '3'"},
    {"initial: {record: 1}", "f.yaml:1:10: initial: 'file' is missing"},
    {"initial: {fiel: a}", "f.yaml:1:11: initial: unknown key 'fiel': did you mean 'file'?"},
    {"initial: {file: []}", "f.yaml:1:17: initial: file: expected a path, found an empty list"},
    {"mean: [1]\ninitial: {file: a}",
     "f.yaml:2:1: initial: can't be given beside 'mean' of line 1: they say the same"},
    {"initial: {file: a}\ncovariance: [1]",
     "f.yaml:2:1: covariance: can't be given beside 'initial' of line 1: they say the same"},
    {"end: 1\nstart: 0\nend: 2", "f.yaml:3:1: key 'end' given twice, first in line 1"},
    {"end: 1\n---\nend: 2\n", "f.yaml:3:1: a second document ('---'): a scenario is one"},
    {"- 1", "f.yaml:1:1: expected lines of 'key: value', found a list"},
    {"hello", "f.yaml:1:1: expected lines of 'key: value', found 'hello'"},
    {"[a]: 1", "f.yaml:1:1: a list or a map in the place of a key"},
    {"{kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
     "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
     "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
     "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk: 1}",
     "f.yaml:1:1: a key of more than 200 bytes"},
    {"mean: &a [*a]", "f.yaml:1:7: nested too deep: no value of a scenario is"},
    {"mean: [[[[[[[[[[1]]]]]]]]]]", "f.yaml:1:14: nested too deep: no value of a scenario is"},
    {"model: \"a\\0b\"", "f.yaml:1:8: a NUL character in a value"},
    {"mean: *nobody", "f.yaml:1:7: not YAML: found undefined alias"},
    {"end: 1\nmeasurements:\n\t- {time: 1}\n",
     "f.yaml:3:1: not YAML: while scanning for the next token: found character that cannot start any token (a tab? "
     "YAML is indented with spaces)"},
    {"end: 1\nmean: [1, 2\nstart: 3\n",
     "f.yaml:3:6: not YAML: while parsing a flow sequence: did not find expected ',' or ']'"},
    {"end: 1\nmodel: \xff\xfe\n", "f.yaml:2:8: not UTF-8 text: invalid leading UTF-8 octet"},
    {"end: 1\n\x01", "f.yaml:2:1: not UTF-8 text: control characters are not allowed"},
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
    {"regrid=[{time: 1, factor: x}]", GBEES_EINPUT,
     "--set regrid 1: factor: expected a power of two from 1/1024 to 1024, found 'x'"},
    {"output.densitis=all", GBEES_EINPUT, "--set output: unknown key 'densitis': did you mean 'densities'?"},
    {"output.moments=each", GBEES_EINPUT,
     "--set output: moments: expected 'every record' or 'every step', found 'each'"},
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
    (void)snprintf(expected, sizeof expected, "%s: longer than 16 MiB: not a file of this kind", huge);
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

int main(void)
{
    Suite *suite = suite_create("scenario refusals");
    TCase *tcase = tcase_create("scenario refusals");

    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, refuses_what_is_malformed, 0, (int)(sizeof malformed / sizeof *malformed));
    tcase_add_loop_test(tcase, refuses_bad_changes, 0, (int)(sizeof bad_changes / sizeof *bad_changes));
    tcase_add_test(tcase, reads_files);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
