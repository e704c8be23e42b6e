/* test_initial.c - initial densities that are mixtures, cell by cell. */
#include "fixtures/initial_fixture.h"
#include "fixtures/suite.h"

#define TWO                                                                                                          \
    "initial:\n  - {weight: 3, mean: [-11.5, -10, 9.5], covariance: [1, 1, 1]}\n"                                    \
    "  - {mean: [-3.7, -9, 8], covariance: [0.25, 0.49, 1]}\n"

START_TEST(moments_and_boxes_of_a_mixture)
{
    gbees_problem *problem = problem_of(TWO "width: 0.5");
    const gbees_gaussian *g = problem->gaussians;
    double off[] = {7.8, 1, -1.5};

    ck_assert_int_eq(problem->gaussian_count, 2);
    ck_assert_double_eq(g[0].weight, 0.75);
    ck_assert_double_eq(g[1].weight, 0.25);
    for (int j = 0; j < 3; j++) {
        ck_assert_double_eq_tol(problem->mean[j], g[0].mean[j] + 0.25 * off[j], 1e-14);
        for (int k = 0; k < 3; k++)
            ck_assert_double_eq_tol(problem->covariance[3 * j + k],
                                    0.75 * g[0].covariance[3 * j + k] + 0.25 * g[1].covariance[3 * j + k] +
                                        0.75 * 0.25 * off[j] * off[k],
                                    1e-13);
    }
    /* Along x from the mean, in cells: -3.9 - 6 .. -3.9 + 6, and 11.7 - 3 .. 11.7 + 3. */
    ck_assert(g[0].lo[0] == -10 && g[0].hi[0] == 2);
    ck_assert(g[1].lo[0] == 9 && g[1].hi[0] == 15);
    ck_assert_int_eq(problem->extent[0], 15);
    gbees_problem_destroy(problem);
    /* Without a width the mixture's deviations say it. */
    problem = problem_of(TWO);
    for (int j = 0; j < 3; j++)
        ck_assert_double_eq_tol(problem->width[j], sqrt(problem->covariance[4 * j]) / 2, 1e-14);
    gbees_problem_destroy(problem);
}
END_TEST

static double share(const gbees_problem *problem, const gbees_gaussian *g, int axis, int index)
{
    double x = problem->mean[axis] + problem->width[axis] * index - g->mean[axis], half = problem->width[axis] / 2;
    double scale = sqrt(2 * g->covariance[4 * axis]);

    return 0.5 * (erf((x + half) / scale) - erf((x - half) / scale));
}

/* The mixture's mass in a cell, if that is in one of the boxes. */
static double mass_of(const gbees_problem *problem, const int *index)
{
    double mass = 0;
    int inside = 0;

    for (int k = 0; k < problem->gaussian_count; k++) {
        const gbees_gaussian *g = &problem->gaussians[k];
        double product = g->weight;
        int in = 1;

        for (int j = 0; j < 3; j++) {
            product *= share(problem, g, j, index[j]);
            in = in && g->lo[j] <= index[j] && index[j] <= g->hi[j];
        }
        mass += product;
        inside |= in;
    }
    return inside ? mass : 0;
}

START_TEST(cells_of_a_mixture_hold_its_mass)
{
    static const char text[] = TWO "width: [0.5, 0.6, 0.7]\nprecision: double\nthreshold: 1.0e-12\nend: 0.001\n"
                                   "records: 1\nmeasurements: []";
    gbees_problem *problem = problem_of(text);
    run r = run_text(text, NULL);
    const kept *first = &r.record[0];
    double sum = 0;
    size_t found = 0;
    int index[3];

    for (int pass = 0; pass < 2; pass++) /* the sum over the union of the boxes, then each cell */
        for (index[0] = -problem->extent[0]; index[0] <= problem->extent[0]; index[0]++)
            for (index[1] = -problem->extent[1]; index[1] <= problem->extent[1]; index[1]++)
                for (index[2] = -problem->extent[2]; index[2] <= problem->extent[2]; index[2]++) {
                    double mass = mass_of(problem, index);

                    sum += pass ? 0 : mass;
                    if (!pass || mass / sum < 1e-11)
                        continue;
                    while (found < first->count &&
                           (first->index[0][found] != index[0] || first->index[1][found] != index[1] ||
                            first->index[2][found] != index[2]))
                        ck_assert_double_lt(first->p[found++], 1e-11);
                    ck_assert_uint_lt(found, first->count);
                    ck_assert_double_eq_tol(first->p[found++], mass / sum, 1e-13);
                }
    ck_assert_double_gt(sum, 0.97); /* what three deviations hold, along three axes */
    forget(&r);
    gbees_problem_destroy(problem);
}
END_TEST

/* A mixture of one is that one; of two halves, too. */
START_TEST(a_mixture_of_one_is_a_gaussian)
{
    static const char *const covariances[] = {"[1, 1, 1]", "[[1, 0.5, 0], [0.5, 1, 0.2], [0, 0.2, 1]]"};
    static const char rest[] = "precision: double\nthreshold: 1.0e-9\nend: 0.01\nrecords: 1\nmeasurements: []\n";
    const char *c = covariances[_i / 2], *values = _i % 2 ? "points" : "averages";
    char text[3][1024];

    (void)snprintf(text[0], sizeof text[0], "mean: [-11.5, -10, 9.5]\ncovariance: %s\ncell_values: %s\n%s", c, values,
                   rest);
    (void)snprintf(text[1], sizeof text[1],
                   "initial: [{weight: 0.2, mean: [-11.5, -10, 9.5], covariance: %s}]\ncell_values: %s\n%s", c,
                   values, rest);
    (void)snprintf(text[2], sizeof text[2],
                   "initial: [{mean: [-11.5, -10, 9.5], covariance: %s}, {mean: [-11.5, -10, 9.5], covariance: "
                   "%s}]\ncell_values: %s\n%s",
                   c, c, values, rest);
    run plain = run_text(text[0], NULL);
    for (int k = 1; k < 3; k++) {
        run mixed = run_text(text[k], NULL);

        ck_assert_int_eq(mixed.count, plain.count);
        for (int i = 0; i < plain.count; i++) {
            ck_assert_uint_eq(mixed.record[i].count, plain.record[i].count);
            ck_assert_double_lt(distance(&mixed.record[i], &plain.record[i]), 1e-11);
        }
        forget(&mixed);
    }
    forget(&plain);
}
END_TEST

/* What lies between two Gaussians takes no memory, and the estimate knows. */
START_TEST(boxes_far_apart)
{
    gbees_problem *near = problem_of("initial: [{mean: [0, 0, 0], covariance: [1, 1, 1]}, {mean: [1, 1, 1], "
                                     "covariance: [1, 1, 1]}]\nwidth: 0.5"),
                  *far = problem_of("initial: [{mean: [0, 0, 0], covariance: [1, 1, 1]}, {mean: [4000, 4000, 4000], "
                                    "covariance: [1, 1, 1]}]\nwidth: 0.5");
    const gbees_backend *cpu = NULL;
    gbees_engine *engine = NULL;
    gbees_totals totals;
    gbees_error error = {0};

    ck_assert_int_eq(gbees_registry_backend(registry, "cpu", &cpu, &error), 0);
    ck_assert_double_lt(cpu->estimate(far, 0), 4 * cpu->estimate(near, 0));
    ck_assert_msg(cpu->create(far, &(gbees_engine_options){.threads = 1}, &engine, &error) == 0, "%s", error.text);
    cpu->totals(engine, &totals);
    ck_assert_double_le((double)totals.peak_bytes, cpu->estimate(far, 0));
    cpu->destroy(engine);
    ck_assert_uint_eq(gbees_warnings(near, NULL), 0);
    gbees_problem_destroy(near);
    gbees_problem_destroy(far);
    near = problem_of("initial: [{mean: [0, 0, 0], covariance: [1, 1, 1]}, {mean: [9, 0, 0], covariance: [0.01, 1, "
                      "1]}]\nwidth: 0.5\nextent: 2");
    ck_assert_uint_eq(gbees_warnings(near, NULL), GBEES_WARNING_BOX | GBEES_WARNING_WIDTH);
    gbees_problem_destroy(near);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("initial");
    TCase *all = tcase_create("all");

    tcase_set_timeout(all, 120);
    tcase_add_checked_fixture(all, open_model, close_model);
    tcase_add_test(all, moments_and_boxes_of_a_mixture);
    tcase_add_test(all, cells_of_a_mixture_hold_its_mass);
    tcase_add_loop_test(all, a_mixture_of_one_is_a_gaussian, 0, 4);
    tcase_add_test(all, boxes_far_apart);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}
