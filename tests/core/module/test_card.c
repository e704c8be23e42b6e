/* test_card.c - core/module/card: a card with one mistake in it is refused, with a sentence that names the mistake.
 */
#include "fixtures/suite.h"
#include "module/card.h"
#include <check.h>
#include <gbees/gbees.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a card that is right, to be spoilt ---- */

static void component_f(size_t count, float t, const float *origin, const float *const *offset, const float *p,
                        float *out)
{
    (void)count, (void)t, (void)origin, (void)offset, (void)p, (void)out;
}

static void component_d(size_t count, double t, const double *origin, const double *const *offset, const double *p,
                        double *out)
{
    (void)count, (void)t, (void)origin, (void)offset, (void)p, (void)out;
}

static void vector_f(size_t count, float t, const float *origin, const float *const *offset, const float *p,
                     float *const *out)
{
    (void)count, (void)t, (void)origin, (void)offset, (void)p, (void)out;
}

static void vector_d(size_t count, double t, const double *origin, const double *const *offset, const double *p,
                     double *const *out)
{
    (void)count, (void)t, (void)origin, (void)offset, (void)p, (void)out;
}

static void times_d(size_t count, const double *t, const double *origin, const double *const *offset, const double *p,
                    double *const *out)
{
    (void)count, (void)t, (void)origin, (void)offset, (void)p, (void)out;
}

static void log_likelihood_d(int which, size_t count, double t, const double *origin, const double *const *offset,
                             const double *p, const double *y, double *out)
{
    (void)which, (void)count, (void)t, (void)origin, (void)offset, (void)p, (void)y, (void)out;
}

static void measure_d(int which, size_t count, double t, const double *origin, const double *const *offset,
                      const double *p, double *const *out)
{
    (void)which, (void)count, (void)t, (void)origin, (void)offset, (void)p, (void)out;
}

static const char source[] = "the text";

static struct {
    gbees_model model;
    gbees_functions functions[2];
    gbees_quantity states[3], component[1], bound;
    gbees_parameter parameters[2];
    gbees_measurement_function measurements[2];
    gbees_model_scenario scenarios[2];
} my;

static void fill_parts(void)
{
    for (int i = 0; i < 3; i++)
        my.states[i] = (gbees_quantity){(const char *[]){"x", "y", "z"}[i], "-", "a state"};
    my.component[0] = (gbees_quantity){"angle", "rad", "of something"};
    my.bound = (gbees_quantity){"energy", "J", "kept"};
    my.parameters[0] = (gbees_parameter){"mass", "kg", "of it", 1, 0, INFINITY};
    my.parameters[1] = (gbees_parameter){"drift", "-", "of it", -7, 0, 0};
    my.measurements[0] = (gbees_measurement_function){"angle", "an angle", 1, my.component, NULL};
    my.measurements[1] = (gbees_measurement_function){"all", "all states", 2, NULL, NULL};
    my.scenarios[0] = (gbees_model_scenario){"default", "mean: [0]\n"};
    my.scenarios[1] = (gbees_model_scenario){"long", "end: 100\n"};
    for (int i = 0; i < 2; i++) {
        my.functions[i] = (gbees_functions){
            .n = 2 + i, .drift_f = vector_f, .drift_d = vector_d, .drift_times_d = times_d, .measure_d = measure_d};
        for (int j = 0; j < 2 + i; j++) {
            my.functions[i].component_f[j] = component_f;
            my.functions[i].component_d[j] = component_d;
        }
    }
}

static void setup(void)
{
    fill_parts();
    my.model = (gbees_model){
        .abi = GBEES_MODEL_ABI,
        .size = sizeof(gbees_model),
        .name = "mine",
        .title = "a model",
        .dim_min = 2,
        .dim_max = 3,
        .dim_default = 2,
        .states = my.states,
        .parameter_count = 2,
        .parameters = my.parameters,
        .measurement_count = 2,
        .measurements = my.measurements,
        .scenario_count = 2,
        .scenarios = my.scenarios,
        .functions = my.functions,
        .function_count = 2,
        .source = source,
        .source_end = source + sizeof source - 1,
        .source_file = "mine.c",
    };
}

static void refused(size_t size, const char *text)
{
    gbees_error error = {GBEES_OK, ""};

    ck_assert_int_eq(gbees_card_check_model(&my.model, size, &error), GBEES_EMODEL);
    ck_assert_int_eq(error.status, GBEES_EMODEL);
    ck_assert_msg(strstr(error.text, text) != NULL, "\"%s\" does not say \"%s\"", error.text, text);
}

/* One change, the refusal, and the card as it was. */
#define REFUSED(change, text)                                                                                        \
    do {                                                                                                             \
        change;                                                                                                      \
        refused(sizeof(gbees_model), text);                                                                          \
        setup();                                                                                                     \
    } while (0)

START_TEST(a_right_card_is_taken)
{
    gbees_error error;

    ck_assert_int_eq(gbees_card_check_model(&my.model, sizeof my.model, &error), GBEES_OK);
    ck_assert_int_eq(gbees_card_check_model(&my.model, 0, NULL), GBEES_OK);
    my.model.measurement_count = my.model.parameter_count = 0;
    my.model.measurements = NULL;
    my.model.parameters = NULL;
    my.functions[0].measure_d = my.functions[1].measure_d = NULL;
    my.model.flags = GBEES_TIME_DEPENDENT;
    ck_assert_int_eq(gbees_card_check_model(&my.model, 0, NULL), GBEES_OK);
}
END_TEST

START_TEST(nothing_is_read_of_another_abi)
{
    gbees_error error;
    char text[128];
    unsigned *small = malloc(2 * sizeof *small); /* so that a sanitizer sees any further read */

    small[0] = 77;
    small[1] = 8;
    ck_assert_int_eq(gbees_card_check_model((const gbees_model *)(const void *)small, 2 * sizeof *small, &error),
                     GBEES_EMODEL);
    snprintf(text, sizeof text,
             "made for model ABI 77, this gbees has ABI %d: rebuild the plugin with this gbees's headers",
             GBEES_MODEL_ABI);
    ck_assert_str_eq(error.text, text);
    ck_assert_int_eq(gbees_card_check_backend((const gbees_backend *)(const void *)small, 2 * sizeof *small, &error),
                     GBEES_EBACKEND);
    (void)snprintf(text, sizeof text,
                   "made for backend ABI 77, this gbees has ABI %d: rebuild the backend with this gbees's headers",
                   GBEES_BACKEND_ABI);
    ck_assert_str_eq(error.text, text);
    small[0] = GBEES_MODEL_ABI;
    small[1] = sizeof(gbees_model);
    ck_assert_int_eq(gbees_card_check_model((const gbees_model *)(const void *)small, 2 * sizeof *small, &error),
                     GBEES_EMODEL);
    ck_assert_ptr_nonnull(strstr(error.text, "and has 8, this gbees expects"));
    ck_assert_int_eq(gbees_card_check_model((const gbees_model *)(const void *)small, 1, &error), GBEES_EMODEL);
    ck_assert_ptr_nonnull(strstr(error.text, "not a gbees model"));
    free(small);
}
END_TEST

START_TEST(head)
{
    REFUSED(my.model.size--, "rebuild it with this gbees's headers");
    REFUSED(my.model.name = NULL, "no name to the model");
    REFUSED(my.model.name = "", "names are 1 to 63 letters");
    REFUSED(my.model.name = "my model", "the name 'my model'");
    REFUSED(my.model.name = "../x", "the name '../x'");
    REFUSED(my.model.name = "3body", "the name '3body'");
    REFUSED(my.model.title = NULL, "no .title");
    REFUSED(my.model.flags = 6, ".flags = 0x6");
    REFUSED(my.model.dim_min = 0, "dimensions 0 to 3");
    REFUSED(my.model.dim_max = 9, "dimensions 2 to 9");
    REFUSED(my.model.dim_min = 4, "dimensions 4 to 3");
    REFUSED(my.model.dim_default = 4, ".dim_default = 4, outside its dimensions 2 to 3");
}
END_TEST

START_TEST(states)
{
    REFUSED(my.model.states = NULL, "no states");
    REFUSED(my.states[2].name = NULL, "gives state 3 no name");
    REFUSED(my.states[1].name = "", "gives state 2 no name");
    REFUSED(my.states[1].unit = NULL, "gives state 'y' no unit");
    REFUSED(my.states[1].text = NULL, "gives state 'y' no text");
    REFUSED(my.states[2].name = "x", "two states named 'x'");
}
END_TEST

START_TEST(parameters)
{
    REFUSED(my.model.parameter_count = -1, "-1 parameters");
    REFUSED(my.model.parameter_count = GBEES_MAX_PARAMETERS + 1, "33 parameters");
    REFUSED(my.model.parameters = NULL, "set .parameters");
    REFUSED(my.parameters[0].name = NULL, "no name to a parameter");
    REFUSED(my.parameters[0].name = "a.b", "the name 'a.b' to a parameter");
    REFUSED(my.parameters[1].name = "mass", "two parameters named 'mass'");
    REFUSED(my.parameters[1].unit = NULL, "parameter 'drift' no unit");
    REFUSED(my.parameters[0].value = NAN, "the default nan: it must be finite");
    REFUSED(my.parameters[0].value = INFINITY, "the default inf: it must be finite");
    REFUSED(my.parameters[0].value = -1, "the default -1, outside its range 0 to inf");
    REFUSED(my.parameters[0].max = -1, "min must not be above max");
    REFUSED(my.parameters[0].min = NAN, "min must not be above max");
}
END_TEST

static const double negative[] = {6.28, -1}, infinite[] = {INFINITY};

START_TEST(measurements)
{
    REFUSED(my.model.measurement_count = -2, "-2 measurements");
    REFUSED(my.model.measurements = NULL, "set .measurements");
    REFUSED(my.measurements[0].name = NULL, "no name to a measurement");
    REFUSED(my.measurements[1].name = "angle", "two measurements named 'angle'");
    REFUSED(my.measurements[0].text = NULL, "measurement 'angle' no text");
    REFUSED(my.measurements[1].size = 0, "measurement 'all' the size 0");
    REFUSED(my.measurements[1].size = 9, "measurement 'all' the size 9");
    REFUSED(my.component[0].name = NULL, "measurement component 1 no name");
    REFUSED(my.functions[1].measure_d = NULL, "#define GBEES_HAS_MEASURE 1");
    REFUSED(my.measurements[1].period = negative, "component 2 of measurement 'all' the period -1");
    REFUSED(my.measurements[0].period = infinite, "component 1 of measurement 'angle' the period inf");
    REFUSED((my.model.measurement_count = 0, my.functions[0].log_likelihood_d = log_likelihood_d),
            "has no measurements, but the model has a log_likelihood()");
}
END_TEST

START_TEST(bound)
{
    REFUSED(my.model.bound = &my.bound, "#define GBEES_HAS_BOUND 1");
    REFUSED((my.model.bound = &my.bound, my.bound.unit = NULL), "bound 'energy' no unit");
    REFUSED(my.functions[0].bound_d = component_d, "has no .bound");
    my.model.bound = &my.bound;
    my.functions[0].bound_d = my.functions[1].bound_d = component_d;
    ck_assert_int_eq(gbees_card_check_model(&my.model, 0, NULL), GBEES_OK);
}
END_TEST

static void target_d(int which, size_t count, double t, const double *origin, const double *const *offset,
                     const double *p, double *out)
{
    (void)which, (void)t, (void)origin, (void)offset, (void)p;
    for (size_t i = 0; i < count; i++)
        out[i] = 1;
}

START_TEST(targets)
{
    gbees_quantity list[] = {{"moon", "m", "the surface"}, {"moon", "m", "again"}};

    REFUSED(my.model.target_count = GBEES_MAX_TARGETS + 1, "9 targets: at most 8 are possible");
    REFUSED(my.model.target_count = 1, "says that there are targets but has none: set .targets");
    REFUSED((my.model.target_count = 1, my.model.targets = list), "#define GBEES_HAS_TARGET 1");
    REFUSED((my.model.target_count = 2, my.model.targets = list), "two targets named 'moon'");
    REFUSED(my.functions[1].target_d = target_d, "has no .targets");
    my.model.target_count = 1;
    my.model.targets = list;
    my.functions[0].target_d = my.functions[1].target_d = target_d;
    ck_assert_int_eq(gbees_card_check_model(&my.model, 0, NULL), GBEES_OK);
}
END_TEST

START_TEST(scenarios)
{
    REFUSED(my.model.scenario_count = 0, "no scenario");
    REFUSED(my.model.scenarios = NULL, "no scenario");
    REFUSED(my.scenarios[0].name = NULL, "no name to a scenario");
    REFUSED(my.scenarios[0].text = NULL, "scenario 'default' no text");
    REFUSED(my.scenarios[1].name = "default", "two scenarios named 'default'");
}
END_TEST

START_TEST(functions_and_source)
{
    REFUSED(my.model.functions = NULL, "functions for 0 dimensions where 2 are needed");
    REFUSED(my.model.function_count = 1, "functions for 1 dimensions where 2 are needed");
    REFUSED(my.functions[1].n = 5, "for dimension 3");
    REFUSED(my.functions[1].component_f[2] = NULL, "for dimension 3");
    REFUSED(my.functions[0].component_d[0] = NULL, "for dimension 2");
    REFUSED(my.functions[0].drift_f = NULL, "for dimension 2");
    REFUSED(my.functions[1].drift_times_d = NULL, "for dimension 3");
    REFUSED(my.functions[1].drift_d = NULL, "begin the card with GBEES_MODEL_HEAD");
    REFUSED(my.model.diffusion = GBEES_DIAGONAL, "does not say which diffusion the model has");
    REFUSED(my.functions[1].diffusion_d = vector_d, "does not say which diffusion the model has");
    REFUSED(my.model.source = NULL, "plugin's text");
    REFUSED(my.model.source_end = NULL, "plugin's text");
    REFUSED(my.model.source_file = NULL, "plugin's text");
    REFUSED(my.model.source = my.model.source_end + 1, "plugin's text");
}
END_TEST

static void no_integrator(gbees_integrator *integrator)
{
    (void)integrator;
}

static void no_release(gbees_hold *hold)
{
    (void)hold;
}

static int no_information(gbees_engine *engine, double *information, gbees_error *error)
{
    (void)engine, (void)information, (void)error;
    return 0;
}

static int no_save(gbees_engine *engine, gbees_state_sink *sink, void *context, gbees_error *error)
{
    (void)engine, (void)sink, (void)context, (void)error;
    return 0;
}

static int no_capture(gbees_engine *engine, gbees_capture **capture, gbees_error *error)
{
    (void)engine, (void)capture, (void)error;
    return 0;
}

/* Those of the fake backend, and what belongs together. */
START_TEST(half_a_capture)
{
    gbees_registry *registry = NULL;
    const gbees_backend *fake = NULL;
    gbees_error error;
    char folder[4096];
    const char *top = getenv("GBEES_TOP_BUILD");

    (void)snprintf(folder, sizeof folder, "%s/tests/.libs/fake_backend.so", top ? top : ".");
    ck_assert_int_eq(gbees_registry_create(NULL, &registry, &error), GBEES_OK);
    ck_assert_int_eq(gbees_registry_backend(registry, folder, &fake, &error), GBEES_OK);
    gbees_backend card = *fake;
    ck_assert_int_eq(gbees_card_check_backend(&card, sizeof card, &error), GBEES_OK);
    card.capture = no_capture;
    ck_assert_int_eq(gbees_card_check_backend(&card, sizeof card, &error), GBEES_EBACKEND);
    ck_assert_str_eq(error.text, "its card has one of capture, capture_cells and capture_free, but not all three");
    card = *fake;
    card.integrator_destroy = no_integrator;
    ck_assert_int_eq(gbees_card_check_backend(&card, sizeof card, &error), GBEES_EBACKEND);
    ck_assert_str_eq(
        error.text,
        "its card has one of integrator_create, integrator_run and integrator_destroy, but not all three");
    card = *fake;
    card.release = no_release;
    ck_assert_int_eq(gbees_card_check_backend(&card, sizeof card, &error), GBEES_EBACKEND);
    ck_assert_str_eq(error.text, "its card has one of hold and release, but not both");
    card = *fake;
    card.save = no_save;
    ck_assert_int_eq(gbees_card_check_backend(&card, sizeof card, &error), GBEES_EBACKEND);
    ck_assert_str_eq(error.text, "its card has one of save and load, but not both");
    card = *fake;
    card.frame_information = no_information;
    ck_assert_int_eq(gbees_card_check_backend(&card, sizeof card, &error), GBEES_EBACKEND);
    ck_assert_str_eq(error.text, "its card has one of frame_set, frame_fit and frame_information, but not all three");
    gbees_registry_destroy(registry);
}
END_TEST

START_TEST(empty_backend)
{
    gbees_backend card = {.abi = GBEES_BACKEND_ABI, .size = sizeof card};
    gbees_error error;

    ck_assert_int_eq(gbees_card_check_backend(&card, sizeof card, &error), GBEES_EBACKEND);
    ck_assert_ptr_nonnull(strstr(error.text, "no name"));
    card.name = "fake";
    card.title = "a fake";
    ck_assert_int_eq(gbees_card_check_backend(&card, sizeof card, &error), GBEES_EBACKEND);
    ck_assert_ptr_nonnull(strstr(error.text, "lacks a function"));
    card.size = 8;
    ck_assert_int_eq(gbees_card_check_backend(&card, sizeof card, &error), GBEES_EBACKEND);
    ck_assert_ptr_nonnull(strstr(error.text, "says 8 bytes"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("card");
    TCase *tcase = tcase_create("card");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_test(tcase, a_right_card_is_taken);
    tcase_add_test(tcase, nothing_is_read_of_another_abi);
    tcase_add_test(tcase, head);
    tcase_add_test(tcase, states);
    tcase_add_test(tcase, parameters);
    tcase_add_test(tcase, measurements);
    tcase_add_test(tcase, bound);
    tcase_add_test(tcase, targets);
    tcase_add_test(tcase, scenarios);
    tcase_add_test(tcase, functions_and_source);
    tcase_add_test(tcase, empty_backend);
    tcase_add_test(tcase, half_a_capture);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
