/* test_shipped.c - every model of the plugins folder: a card that a stranger understands, scenarios that are
 * complete, equations that are finite all over the initial box, and that are the same by planes. */
#include "fixtures/models_fixture.h"
#include "fixtures/suite.h"

/* How many there are: who adds one looks in here. */
enum { SHIPPED = 17 };

static const gbees_model *shipped[SHIPPED + 1];
static const char *paths[SHIPPED + 1];
static int shipped_count;

/* Those of the first folder; modules of other folders may come after them. */
static void find_all(void)
{
    const gbees_module_info *list;
    gbees_error error;
    size_t count;

    registry_open();
    ck_assert_msg(!gbees_registry_list(registry, &list, &count, &error), "%s", error.text);
    shipped_count = 0;
    for (size_t i = 0; i < count && shipped_count <= SHIPPED; i++) {
        if (!list[i].model || !strstr(list[i].path, "plugins/.libs/"))
            continue;
        shipped[shipped_count] = list[i].model;
        paths[shipped_count++] = list[i].path;
    }
    ck_assert_int_eq(shipped_count, SHIPPED);
}

START_TEST(cards)
{
    for (int i = 0; i < shipped_count; i++) {
        const gbees_model *m = shipped[i];
        const char *name = strrchr(paths[i], '/') + 1;

        ck_assert_msg(!strncmp(name, m->name, strlen(m->name)) && !strcmp(name + strlen(m->name), ".so"),
                      "%s has the model '%s'", name, m->name);
        ck_assert_msg(m->title && m->text && m->reference, "%s: a title, a text and a reference, please", m->name);
        ck_assert_msg(strstr(m->text, "dt"), "%s: its text does not have the equations", m->name);
        ck_assert_msg(strstr(m->reference, "(1") || strstr(m->reference, "(2"), "%s: a reference without a year",
                      m->name);
        for (int k = 0; k < m->measurement_count; k++)
            ck_assert_msg(m->measurements[k].components, "%s: what are the components of '%s'?", m->name,
                          m->measurements[k].name);
    }
}
END_TEST

/* A bound is the address of a quantity and a function, or neither. */
START_TEST(bounds)
{
    int count = 0;

    for (int i = 0; i < shipped_count; i++) {
        const gbees_model *m = shipped[i];

        ck_assert_msg(!m->bound == !m->functions->bound_d, "%s", m->name);
        ck_assert_msg(!m->measurement_count == !m->functions->measure_d, "%s", m->name);
        count += m->bound != NULL;
    }
    ck_assert_int_eq(count, 2);
}
END_TEST

/* Each by itself, without the keys of the default one: a user may save it to a file. The initial box is not so large
 * that a newcomer waits for it. */
START_TEST(scenarios)
{
    for (int i = 0; i < shipped_count; i++)
        for (int k = 0; k < shipped[i]->scenario_count; k++) {
            gbees_problem *problem = problem_create(shipped[i], k, NULL);
            double cells = 1;

            for (int j = 0; j < problem->dimension; j++)
                cells *= 2 * problem->extent[j] + 1;
            ck_assert_msg(cells < (k ? 1e7 : 5e6), "%s, %s: %g cells", shipped[i]->name,
                          shipped[i]->scenarios[k].name, cells);
            ck_assert_int_eq(problem->dimension, shipped[i]->dim_default);
            gbees_problem_destroy(problem);
        }
}
END_TEST

/* A scenario on a grid at rest, on which no target absorbs; one of points as it is. */
static gbees_problem *at_rest(const gbees_model *m, int k, const char *dimension)
{
    char off[80] = "frame=fixed";

    if (strstr(m->scenarios[k].text, "frame: lagrangian")) /* whose keys other frames may not take */
        return problem_changed(m, k, (setting_list){dimension});
    for (int j = 0; j < m->target_count; j++)
        (void)snprintf(off, sizeof off, "targets.%s=off", m->targets[j].name);
    return problem_changed(m, k, (setting_list){"frame=fixed", off, dimension});
}

static void check_finite(const gbees_problem *problem, double t)
{
    const gbees_functions *functions = problem->functions;
    box_points points;
    float p_f[GBEES_MAX_PARAMETERS], out_f[POINTS];
    double out[POINTS];

    box_fill(&points, problem);
    for (int k = 0; k < GBEES_MAX_PARAMETERS; k++)
        p_f[k] = (float)problem->parameters[k];
    for (int j = 0; j < problem->dimension; j++) {
        functions->component_d[j](POINTS, t, points.origin, points.column, problem->parameters, out);
        functions->component_f[j](POINTS, (float)t, points.origin_f, points.column_f, p_f, out_f);
        for (int i = 0; i < POINTS; i++)
            ck_assert_msg(isfinite(out[i]) && isfinite(out_f[i]), "%s, component %d: %g, in float %g",
                          problem->model->name, j, out[i], (double)out_f[i]);
    }
    if (functions->bound_d)
        functions->bound_d(POINTS, t, points.origin, points.column, problem->parameters, out);
    for (int i = 0; functions->bound_d && i < POINTS; i++)
        ck_assert_msg(isfinite(out[i]), "%s, bound: %g", problem->model->name, out[i]);
}

START_TEST(finite_over_the_initial_box)
{
    for (int i = 0; i < shipped_count; i++)
        for (int k = 0; k < shipped[i]->scenario_count; k++) {
            gbees_problem *problem = at_rest(shipped[i], k, NULL);

            check_finite(problem, problem->start);
            check_finite(problem, problem->end);
            gbees_problem_destroy(problem);
        }
}
END_TEST

/* Component j in planes across axis j, as points and as planes: the same bits, and nothing behind them. */
static void check_planes(const gbees_problem *problem, int j, size_t planes, size_t lanes)
{
    enum { MOST = 9 * POINTS };
    const gbees_functions *functions = problem->functions;
    const size_t count = planes * lanes;
    box_points points;
    double at[8][MOST], one[MOST + 1], by_planes[MOST + 1], along[9];
    float at_f[8][MOST], one_f[MOST + 1], by_planes_f[MOST + 1], along_f[9], p_f[GBEES_MAX_PARAMETERS];
    const double zero[8] = {0}, *column[8];
    const float zero_f[8] = {0}, *column_f[8];

    box_fill(&points, problem);
    for (int k = 0; k < GBEES_MAX_PARAMETERS; k++)
        p_f[k] = (float)problem->parameters[k];
    for (size_t q = 0; q < planes; q++) {
        along[q] = points.origin[j] + ((double)q - 1.5) * problem->width[j];
        along_f[q] = (float)along[q];
    }
    for (int k = 0; k < problem->dimension; k++) {
        column[k] = at[k];
        column_f[k] = at_f[k];
        for (size_t i = 0; i < count; i++) {
            const size_t l = i % lanes;

            at[k][i] = k == j ? along[i / lanes] : points.origin[k] + points.offset[k][l];
            at_f[k][i] = k == j ? along_f[i / lanes] : points.origin_f[k] + points.offset_f[k][l];
        }
    }
    points.column[j] = NULL;
    points.column_f[j] = NULL;
    one[count] = by_planes[count] = 7;
    one_f[count] = by_planes_f[count] = 7;
    functions->component_d[j](count, 0.75, zero, column, problem->parameters, one);
    functions->component_f[j](count, 0.75f, zero_f, column_f, p_f, one_f);
    functions->planes_d[j](planes, lanes, 0.75, points.origin, points.column, along, problem->parameters, by_planes);
    functions->planes_f[j](planes, lanes, 0.75f, points.origin_f, points.column_f, along_f, p_f, by_planes_f);
    for (size_t i = 0; i <= count; i++)
        ck_assert_msg(!memcmp(&one[i], &by_planes[i], sizeof one[i]) &&
                          !memcmp(&one_f[i], &by_planes_f[i], sizeof one_f[i]),
                      "%s, component %d, plane %zu of %zu, lane %zu of %zu: %a, not %a; in float %a, not %a",
                      problem->model->name, j, i / lanes, planes, i % lanes, lanes, by_planes[i], one[i],
                      (double)by_planes_f[i], (double)one_f[i]);
}

START_TEST(planes_have_the_bits_of_points)
{
    static const size_t planes[] = {1, 2, 3, 5, 9};

    for (int i = 0; i < shipped_count; i++)
        for (int n = shipped[i]->dim_min; n <= shipped[i]->dim_max; n++) {
            char dimension[] = "dimension=0";

            dimension[sizeof dimension - 2] = (char)('0' + n);
            gbees_problem *problem = at_rest(shipped[i], 0, dimension);
            for (int j = 0; j < n; j++) {
                ck_assert_msg(!problem->functions->planes_f[j] == (n < 3) &&
                                  !problem->functions->planes_d[j] == (n < 3),
                              "%s in %d dimensions, component %d", shipped[i]->name, n, j);
                for (size_t q = 0; n >= 3 && q < sizeof planes / sizeof planes[0]; q++)
                    for (size_t lanes = GBEES_LANES; lanes <= POINTS; lanes *= 2)
                        check_planes(problem, j, planes[q], lanes);
            }
            gbees_problem_destroy(problem);
        }
}
END_TEST

/* The text that a run-time compiler is handed is the file, byte for byte, and ends in a NUL: two models may have one.
 */
START_TEST(sources_are_the_files)
{
    const char *top = getenv("GBEES_TOP_SRC");

    for (int i = 0; i < shipped_count; i++) {
        const size_t length = (size_t)(shipped[i]->source_end - shipped[i]->source);
        const char *folder = strrchr(shipped[i]->source_file, '/');
        char path[4096], *text = malloc(length + 1);

        (void)snprintf(path, sizeof path, "%s/plugins/%s", top ? top : ".",
                       folder ? folder + 1 : shipped[i]->source_file);
        FILE *file = fopen(path, "rb");
        ck_assert_msg(file != NULL, "can't open %s: set GBEES_TOP_SRC", path);
        ck_assert_ptr_nonnull(text);
        ck_assert_uint_eq(fread(text, 1, length + 1, file), length);
        ck_assert_mem_eq(text, shipped[i]->source, length);
        ck_assert_int_eq(*shipped[i]->source_end, '\0');
        (void)fclose(file);
        free(text);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shipped");
    TCase *tcase = tcase_create("shipped");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, find_all, registry_close);
    tcase_add_test(tcase, cards);
    tcase_add_test(tcase, bounds);
    tcase_add_test(tcase, scenarios);
    tcase_add_test(tcase, finite_over_the_initial_box);
    tcase_add_test(tcase, planes_have_the_bits_of_points);
    tcase_add_test(tcase, sources_are_the_files);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
