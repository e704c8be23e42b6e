/* test_scenario.c - core/scenario: scenario, schema and YAML tree: what is accepted, what wins, and that text written
 * is read back bit for bit. */
#include "fixtures/scenario_fixture.h"
#include "fixtures/suite.h"
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char lorenz96[] =
    "# Hanson et al., Comput. Phys. Commun. 317 (2025) 109819, section 5.1.2; '...' repeats up to the dimension\n"
    "mean: [4.5, 4, ...]\n"
    "covariance: [0.04, ...]\n"
    "threshold: 8.0e-9\n"
    "end: 1.3\n"
    "records: 4\n";

static void set(gbees_scenario *scenario, const char *assignment)
{
    gbees_error error = {0};

    ck_assert_msg(gbees_scenario_set(scenario, assignment, &error) == GBEES_OK, "%s", error.text);
}

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

/* A model's accuracy gives way to what another source says of the grid, not to what the model itself says, in
 * whatever order. */
START_TEST(an_accuracy_goes_with_the_first_grid_of_its_own_source)
{
    static const char *const own[] = {"factor: 4\naccuracy: 0.1\n", "accuracy: 0.1\nfactor: 4\n"};

    for (size_t k = 0; k < 2; k++) {
        gbees_scenario *defaults = make(own[k], "defaults"), *none = make("end: 2\n", "f.yaml"),
                       *other = make("threshold: 0.5\n", "f.yaml");

        ck_assert_int_eq(gbees_scenario_merge(none, defaults, NULL), GBEES_OK);
        ck_assert(number(none, "accuracy") == 0.1 && number(none, "factor") == 4);
        ck_assert_int_eq(gbees_scenario_merge(other, defaults, NULL), GBEES_OK);
        ck_assert_ptr_null(gbees_scenario_find(other, "accuracy"));
        gbees_scenario_destroy(defaults);
        gbees_scenario_destroy(none);
        gbees_scenario_destroy(other);
    }
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

/* A model's own scenario may have a grid that moves, except where another source has what is of grids at rest. */
START_TEST(a_models_moving_grid_gives_way)
{
    static const struct {
        const char *set;
        int moves;
    } cases[] = {{"factor=2", 1},   {"end=1", 1},      {"frame=moving", 1}, {"frame=fixed", 0},  {"bound=on", 0},
                 {"rotate=yes", 0}, {"mode=paper", 0}, {"regrid=auto", 0},  {"time_step=0.1", 0}};
    static const gbees_model_scenario own[] = {{"default", "mean: [1]\ncovariance: [1]\nframe: moving\n"}};
    static const gbees_model model = {.name = "mover", .scenario_count = 1, .scenarios = own};

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        gbees_scenario *scenario = make("", "mine.yaml");

        set(scenario, cases[k].set);
        ck_assert_int_eq(gbees_scenario_merge_own(scenario, &model, NULL, NULL), GBEES_OK);
        ck_assert_msg(!strstr(gbees_scenario_text(scenario), "frame: moving") == !cases[k].moves, "%s", cases[k].set);
        gbees_scenario_destroy(scenario);
    }
}
END_TEST

/* ---- text -------------------------------------------------------------------------------------------------- */

START_TEST(writes_text)
{
    gbees_scenario *scenario = make(lorenz96, "f.yaml");

    set(scenario, "parameters.F=4.25");
    set(scenario, "courant=0.5");
    set(scenario, "model=lorenz96");
    set(scenario, "measurements=[{value: [1], covariance: [[0.1]], time: 1e-7, function: 'a \"b'}]");
    ck_assert_str_eq(gbees_scenario_text(scenario),
                     "model: lorenz96\nparameters: {F: 4.25}\nmean: [4.5, 4, ...]\ncovariance: [0.04, ...]\n"
                     "threshold: 8.0e-09\nend: 1.3\nrecords: 4\nmeasurements:\n"
                     "  - {time: 1.0e-07, function: \"a \\\"b\", value: [1], covariance: [[0.1]]}\ncourant: 0.5\n");
    set(scenario, "measurements=[]");
    set(scenario, "regrid=[{factor: [2, ...], time: 1}, {time: 0.5, factor: 0.25}]");
    ck_assert_ptr_nonnull(strstr(gbees_scenario_text(scenario),
                                 "measurements: []\nregrid:\n  - {time: 1, factor: [2, ...]}\n"
                                 "  - {time: 0.5, factor: 0.25}\ncourant: 0.5\n"));
    set(scenario, "regrid=auto");
    ck_assert_ptr_nonnull(strstr(gbees_scenario_text(scenario), "\nregrid: auto\n"));
    set(scenario, "regrid=[]");
    ck_assert_ptr_nonnull(strstr(gbees_scenario_text(scenario), "\nregrid: []\n"));
    set(scenario, "output={densities: [0.5, 2, 1]}");
    set(scenario, "output.moments=every step");
    ck_assert_ptr_nonnull(strstr(gbees_scenario_text(scenario),
                                 "\noutput: {densities: [0.5, 1], moments: every step}\n")); /* 2 is past the end */
    set(scenario, "output={densities: every 3, files: records}"); /* entries are set one by one */
    ck_assert_ptr_nonnull(strstr(gbees_scenario_text(scenario),
                                 "\noutput: {densities: every 3, moments: every step, files: records}\n"));
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
    set(scenario, "regrid=[{time: 0.1, factor: 2}, {time: 1e-7, factor: [0.5, 1024, ...]}]");
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
                               "measurements:\n  - {time: 1.0, function: \"z\", value: [-8], covariance: [[1]]}\n"
                               "regrid:\n  - {time: 1.0, factor: [2, ...]}\n  - {time: 2, factor: 0.5}\n";
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
        ck_assert_ptr_eq(gbees_schema_find(NULL, key->name), key);
        ck_assert_msg(key->text && key->text[0], "%s has no documentation", key->name);
        count++;
    }
    ck_assert_uint_eq(count, 40);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("scenario");
    TCase *tcase = tcase_create("scenario");

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, accepts_numbers_as_people_write_them);
    tcase_add_test(tcase, accepts_files_without_keys);
    tcase_add_test(tcase, accepts_anchors_and_crlf);
    tcase_add_test(tcase, bounds_aliases);
    tcase_add_test(tcase, merges);
    tcase_add_test(tcase, an_accuracy_goes_with_the_first_grid_of_its_own_source);
    tcase_add_test(tcase, drops_measurements_after_an_end_set_apart);
    tcase_add_test(tcase, a_models_moving_grid_gives_way);
    tcase_add_test(tcase, writes_text);
    tcase_add_test(tcase, text_is_read_back_bit_for_bit);
    tcase_add_test(tcase, locale_does_not_matter);
    tcase_add_test(tcase, survives_mutations);
    tcase_add_test(tcase, schema_lists_its_keys);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
