/* test_rough_times.c - the times at which a drift, a noise or a target's function changes fast: edges are found to a
 * millionth of a run, what is smooth has none, what is negligible neither. */
#include "base/rough_times.h"
#include "fixtures/suite.h"
#include <check.h>
#include <gbees/gbees.h>
#include <math.h>

/* p[0]: which; p[1]: its width; p[2]: its height. */
enum { SMOOTH, PULSE, BUMP, NOISE };

static double shape(const double *p, int kind, double t)
{
    const double off = (t - 0.4321) / p[1];

    if ((int)p[0] != kind)
        return 0;
    return p[2] * (kind == SMOOTH ? sin(20 * t) : kind == BUMP ? exp(-0.5 * off * off) : off >= 0 && off < 1);
}

static void drift(size_t count, double t, const double *origin, const double *const *offset, const double *p,
                  double *const *out)
{
    for (size_t i = 0; i < count; i++)
        out[0][i] = -offset[0][i] - origin[0] + shape(p, SMOOTH, t) + shape(p, PULSE, t) + shape(p, BUMP, t);
}

static void diffusion(size_t count, double t, const double *origin, const double *const *offset, const double *p,
                      double *const *out)
{
    (void)origin, (void)offset;
    for (size_t i = 0; i < count; i++)
        out[0][i] = (int)p[0] == NOISE ? shape(p, NOISE, t) : 0.1;
}

static void target(int which, size_t count, double t, const double *origin, const double *const *offset,
                   const double *p, double *out)
{
    (void)which, (void)origin, (void)offset;
    for (size_t i = 0; i < count; i++)
        out[i] = 3 - shape(p, (int)p[0], t);
}

static const gbees_functions functions = {.n = 1, .drift_d = drift, .diffusion_d = diffusion, .target_d = target};
static const gbees_model still = {.functions = &functions, .function_count = 1, .diffusion = GBEES_DIAGONAL};
static const gbees_model model = {
    .functions = &functions, .function_count = 1, .diffusion = GBEES_DIAGONAL, .flags = GBEES_TIME_DEPENDENT};

static gbees_rough_times find(double kind, double width, double height)
{
    const gbees_problem problem = {
        .model = &model, .functions = &functions, .dimension = 1, .end = 1, .parameters = {kind, width, height}};
    const double x[2] = {0, 1};
    const gbees_rough_look look = {.problem = &problem, .to = 1, .points = 2, .x = {x}, .scale = {1}};
    gbees_rough_times times = {0};
    gbees_error error;

    ck_assert_int_eq(gbees_rough_times_find(&look, &times, &error), GBEES_OK);
    for (size_t k = 1; k < times.count; k++)
        ck_assert_double_lt(times.time[k - 1], times.time[k]);
    return times;
}

static double nearest(const gbees_rough_times *times, double time, double side)
{
    double least = INFINITY;

    for (size_t k = 0; k < times->count; k++)
        if (side * (times->time[k] - time) >= 0)
            least = fmin(least, fabs(times->time[k] - time));
    return least;
}

START_TEST(nothing_is_rough)
{
    gbees_rough_times smooth = find(SMOOTH, 1, 1), negligible = find(PULSE, 0.01, 1e-5);

    ck_assert_uint_eq(smooth.count, 0);
    ck_assert_uint_eq(negligible.count, 0);
    ck_assert_double_eq(gbees_rough_times_next(&smooth, 2, 0, 3), 3);
}
END_TEST

/* A thousandth of the run, as a step of drift or noise: a time just before each edge, and one just after it. */
START_TEST(edges_are_found)
{
    gbees_rough_times times = find(_i ? NOISE : PULSE, 1e-3, 2e3);

    ck_assert_uint_le(times.count, 8);
    for (int edge = 0; edge < 2; edge++)
        for (int side = -1; side <= 1; side += 2)
            ck_assert_double_lt(nearest(&times, 0.4321 + 1e-3 * edge, side), 1e-6);
    ck_assert_double_eq(gbees_rough_times_next(&times, 0, 0, 1), times.time[0]);
    ck_assert_double_eq(gbees_rough_times_next(&times, 0, times.time[0], 1), times.time[1]);
    ck_assert_double_eq(gbees_rough_times_next(&times, 0, times.time[times.count - 1], 1), 1);
    gbees_rough_times_clear(&times);
}
END_TEST

/* A smooth bump is divided into parts of an eighth of its height, or, where that takes some looks, of a sixteenth. */
START_TEST(a_bump_is_divided)
{
    static const double width[] = {5e-4, 1.5e-3, 4e-3};
    gbees_rough_times times = find(BUMP, width[_i], 2e3);

    ck_assert_uint_ge(times.count, 12);
    ck_assert_uint_le(times.count, 60);
    gbees_rough_times_clear(&times);
}
END_TEST

/* How far a shape is off the straight lines between eight places in each step from stop to stop. */
static double most_off(const gbees_rough_times *times, const double *p)
{
    enum { LINES = 8, LOOKS = 50 };
    double off = 0;

    for (size_t k = 0; k <= times->count; k++) {
        const double from = k > 0 ? times->time[k - 1] : 0, to = k < times->count ? times->time[k] : 1;

        for (int i = 0; i < LINES * LOOKS; i++) {
            const double length = (to - from) / LINES, low = from + i / LOOKS * length,
                         part = (double)(i % LOOKS) / LOOKS;
            const double line = (1 - part) * shape(p, (int)p[0], low) + part * shape(p, (int)p[0], low + length);

            off = fmax(off, fabs(shape(p, (int)p[0], low + part * length) - line));
        }
    }
    return off;
}

/* A target's function, of a model whose drift does not depend on the time: eight looks in each step tell it. */
START_TEST(of_a_target)
{
    static const struct {
        int kind;
        double width;
    } shapes[] = {{BUMP, 2e-3}, {BUMP, 2e-2}, {PULSE, 1e-3}, {SMOOTH, 1}};
    gbees_problem problem = {.model = &still,
                             .functions = &functions,
                             .dimension = 1,
                             .end = 1,
                             .covariance = {1},
                             .target_count = 1,
                             .targets = {{.kind = GBEES_TARGET_COUNT}},
                             .parameters = {shapes[_i].kind, shapes[_i].width, 1}};
    gbees_rough_times times = {0};
    gbees_error error;

    ck_assert_int_eq(gbees_rough_times_of_targets(&problem, &times, &error), GBEES_OK);
    ck_assert_uint_eq(times.count, 0); /* what is counted is looked at in records */
    problem.targets[0].kind = GBEES_TARGET_ABSORB;
    ck_assert_int_eq(gbees_rough_times_of_targets(&problem, &times, &error), GBEES_OK);
    ck_assert_uint_le(times.count, 50);
    if (shapes[_i].kind == PULSE) {
        ck_assert_double_lt(nearest(&times, 0.4321, -1), 1e-6);
        ck_assert_double_lt(nearest(&times, 0.4321, 1), 1e-6);
    } else
        ck_assert_double_lt(most_off(&times, problem.parameters), 0.3);
    gbees_rough_times_clear(&times);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rough_times");
    TCase *tcase = tcase_create("rough_times");

    tcase_add_test(tcase, nothing_is_rough);
    tcase_add_loop_test(tcase, edges_are_found, 0, 2);
    tcase_add_loop_test(tcase, a_bump_is_divided, 0, 3);
    tcase_add_loop_test(tcase, of_a_target, 0, 4);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
