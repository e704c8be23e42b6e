/* test_compare.c - the figures of tests/accuracy on small records whose answers are known. */
#include "compare.h"
#include "fixtures/suite.h"
#include "report.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 33, CELLS = SIDE * SIDE };

/* A record of two axes over its own storage. */
typedef struct box {
    gbees_snapshot snapshot;
    int32_t index[2][CELLS];
    double p[CELLS];
} box;

static void standing_drift(size_t count, double t, const double *origin, const double *const *offset, const double *p,
                           double *const *out)
{
    (void)t, (void)origin, (void)offset, (void)p;
    for (int j = 0; j < 2; j++)
        memset(out[j], 0, count * sizeof *out[j]);
}

static const gbees_functions functions = {.n = 2, .drift_d = standing_drift};
static const gbees_problem problem = {.functions = &functions,
                                      .dimension = 2,
                                      .mean = {3, -1},
                                      .covariance = {1, 0.6, 0.6, 4},
                                      .width = {0.25, 0.5},
                                      .extent = {16, 16}};

/* The bivariate Gaussian of `problem`, times its cells' size, in all cells of the box. */
static box *gaussian(void)
{
    box *made = calloc(1, sizeof *made);
    const double det = 4 - 0.36;

    ck_assert_ptr_nonnull(made);
    made->snapshot = (gbees_snapshot){.dimension = 2,
                                      .origin = {3, -1},
                                      .width = {0.25, 0.5},
                                      .count = CELLS,
                                      .index = {made->index[0], made->index[1]},
                                      .p = made->p,
                                      .name = {"a", "b"}};
    for (int i = 0; i < CELLS; i++) {
        const double x = 0.25 * (i / SIDE - 16), y = 0.5 * (i % SIDE - 16);

        made->index[0][i] = i / SIDE - 16;
        made->index[1][i] = i % SIDE - 16;
        made->p[i] = 0.125 / (6.283185307179586 * sqrt(det)) * exp(-(4 * x * x - 1.2 * x * y + y * y) / (2 * det));
    }
    return made;
}

static gbees_montecarlo *draw(size_t count)
{
    const gbees_montecarlo_options options = {.count = count, .step = 1, .seed = 3, .threads = 0, .cut = 0};
    gbees_montecarlo *montecarlo = NULL;
    gbees_error error = {GBEES_OK, ""};

    ck_assert_msg(gbees_montecarlo_create(&problem, &options, &montecarlo, &error) == GBEES_OK, "%s", error.text);
    return montecarlo;
}

START_TEST(errors_in_units_of_the_truth)
{
    const gbees_sample_moments truth = {.mean = {1, 2}, .std = {2, 4}};
    const gbees_sample_moments grid = {.mean = {1.6, 0.4}, .std = {2.2, 3.2}};

    ck_assert_double_eq_tol(gbees_compare_mean(2, &grid, &truth), sqrt((0.09 + 0.16) / 2), 1e-14);
    ck_assert_double_eq_tol(gbees_compare_spread(2, &grid, &truth), sqrt((0.01 + 0.04) / 2), 1e-14);
}
END_TEST

START_TEST(binned_coefficient)
{
    box *record = gaussian();
    gbees_montecarlo *montecarlo = draw(400000);
    gbees_error error;
    double coefficient, covered;

    ck_assert_int_eq(gbees_compare_binned(&record->snapshot, montecarlo, &coefficient, &covered, &error), GBEES_OK);
    ck_assert_double_gt(coefficient, 0.9985);
    ck_assert_double_le(coefficient, 1);
    ck_assert_double_eq_tol(covered, 1, 2e-4);
    /* Samples with x < 3 are taken out: half of the truth is gone, and so is 1 - sqrt(1/2) of the coefficient. */
    for (size_t i = 0; i < montecarlo->count; i++)
        montecarlo->weight[i] = montecarlo->x[0][i] < 3.125 ? 0 : 2;
    ck_assert_int_eq(gbees_compare_binned(&record->snapshot, montecarlo, &coefficient, NULL, &error), GBEES_OK);
    ck_assert_double_eq_tol(coefficient, sqrt(0.5 * erfc(0.125 / sqrt(2))), 5e-3);
    gbees_montecarlo_destroy(montecarlo);
    free(record);
}
END_TEST

/* Against the definition, with the library's exp and matrices inverted by hand. */
START_TEST(kernel_coefficient_is_the_definition)
{
    enum { SAMPLES = 700 };
    box *record = gaussian();
    gbees_montecarlo *montecarlo = draw(2 * SAMPLES);
    gbees_sample_moments moments;
    gbees_error error;
    double coefficient, scale, c[3], det, sum = 0, total = 0, product = 0;

    for (size_t i = 0; i < montecarlo->count; i++)
        montecarlo->weight[i] = i % 3 ? 1 : 0.5;
    ck_assert_int_eq(gbees_montecarlo_measure(montecarlo, SAMPLES, &moments, &error), GBEES_OK);
    scale = moments.effective / (moments.effective - 1) * pow(moments.effective, -2. / 6);
    for (int k = 0; k < 3; k++)
        c[k] = moments.covariance[k == 2 ? 3 : k] * scale;
    det = c[0] * c[2] - c[1] * c[1];
    for (int i = 0; i < CELLS; i++) {
        double estimate = 0;

        for (size_t s = 0; s < SAMPLES; s++) {
            const double x = 3 + 0.25 * record->index[0][i] - montecarlo->x[0][s];
            const double y = -1 + 0.5 * record->index[1][i] - montecarlo->x[1][s];

            estimate += montecarlo->weight[s] * exp(-(c[2] * x * x - 2 * c[1] * x * y + c[0] * y * y) / (2 * det));
        }
        product += sqrt(record->p[i] * estimate);
        total += estimate;
        sum += record->p[i];
    }
    ck_assert_int_eq(gbees_compare_kernel(&record->snapshot, montecarlo, SAMPLES, 1e9, &coefficient, &error),
                     GBEES_OK);
    ck_assert_double_eq_tol(coefficient, product / sqrt(sum * total), 1e-9);
    ck_assert_double_gt(coefficient, 0.9);
    /* With an eleventh of the work every eleventh cell stands for all. */
    ck_assert_int_eq(
        gbees_compare_kernel(&record->snapshot, montecarlo, SAMPLES, CELLS * (SAMPLES / 10.5), &det, &error),
        GBEES_OK);
    ck_assert_double_ne(det, coefficient);
    ck_assert_double_eq_tol(det, coefficient, 0.01);
    gbees_montecarlo_destroy(montecarlo);
    free(record);
}
END_TEST

START_TEST(marginal_distance)
{
    box *record = gaussian();
    gbees_montecarlo *montecarlo = draw(400000);
    gbees_error error;
    double distance[2];

    ck_assert_int_eq(gbees_compare_marginals(&record->snapshot, montecarlo, distance, &error), GBEES_OK);
    ck_assert_double_lt(fmax(distance[0], distance[1]), 4e-3);
    record->snapshot.origin[1] += 2; /* by one standard deviation: Phi(1/2) - Phi(-1/2) */
    ck_assert_int_eq(gbees_compare_marginals(&record->snapshot, montecarlo, distance, &error), GBEES_OK);
    ck_assert_double_lt(distance[0], 4e-3);
    ck_assert_double_eq_tol(distance[1], erf(0.5 / sqrt(2)), 6e-3);
    gbees_montecarlo_destroy(montecarlo);
    free(record);
}
END_TEST

static gbees_snapshot row(size_t count, int32_t *index, double *p)
{
    return (gbees_snapshot){.dimension = 1, .width = {1}, .count = count, .index = {index}, .p = p, .leg = 3};
}

START_TEST(l1_over_the_union)
{
    int32_t index_a[] = {-2, 0, 1}, index_b[] = {0, 1, 5};
    double p_a[] = {1, 1, 2}, p_b[] = {0.3, 0.1, 0.1}, distance, coefficient;
    gbees_snapshot a = row(3, index_a, p_a), b = row(3, index_b, p_b);
    gbees_error error;

    ck_assert_int_eq(gbees_compare_l1(&a, &b, &distance, &coefficient, &error), GBEES_OK);
    ck_assert_double_eq_tol(coefficient, sqrt(0.25 * 0.6) + sqrt(0.5 * 0.2), 1e-14);
    ck_assert_double_eq_tol(distance, 0.25 + 0.35 + 0.3 + 0.2, 1e-14);
    ck_assert_int_eq(gbees_compare_l1(&a, &a, &distance, &coefficient, &error), GBEES_OK);
    ck_assert_double_eq(distance, 0);
    ck_assert_double_eq_tol(coefficient, 1, 1e-14);
    b.width[0] = 2;
    ck_assert_int_eq(gbees_compare_l1(&a, &b, &distance, &coefficient, &error), GBEES_EUSAGE);
    ck_assert_ptr_nonnull(strstr(error.text, "the two grids differ"));
    b.width[0] = 1;
    index_b[2] = 1;
    ck_assert_int_eq(gbees_compare_l1(&a, &b, &distance, &coefficient, &error), GBEES_EINPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "leg 3 record 0: cells 1 and 2 are not in order"));
    p_a[0] = p_a[1] = p_a[2] = 0;
    ck_assert_int_eq(gbees_compare_l1(&a, &b, &distance, &coefficient, &error), GBEES_EINPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "no probability"));
}
END_TEST

START_TEST(coarsened)
{
    box *record = gaussian();
    gbees_snapshot *coarse = NULL;
    gbees_error error = {GBEES_OK, ""};
    double sum = 0;

    ck_assert_msg(gbees_compare_coarsen(&record->snapshot, 2, &coarse, &error) == GBEES_OK, "%s", error.text);
    ck_assert_uint_eq(coarse->count, 17 * 17); /* -16 .. 16 become -8 .. 8 */
    ck_assert_int_eq(coarse->index[0][0], -8);
    ck_assert_int_eq(coarse->index[1][16], 8);
    ck_assert_double_eq(coarse->width[1], 1);
    ck_assert_double_eq(coarse->origin[1], -0.75); /* of cells 0 and 1, at -1 and -0.5 */
    ck_assert_double_eq_tol(coarse->p[0], record->p[0] + record->p[1] + record->p[SIDE] + record->p[SIDE + 1], 1e-18);
    ck_assert_double_eq(coarse->p[16], record->p[SIDE - 1] + record->p[2 * SIDE - 1]); /* the last has no fellow */
    for (size_t i = 0; i < coarse->count; i++)
        sum += coarse->p[i];
    for (int i = 0; i < CELLS; i++)
        sum -= record->p[i];
    ck_assert_double_eq_tol(sum, 0, 1e-14);
    gbees_snapshot_destroy(coarse);
    free(record);
}
END_TEST

/* A density that is linear where both grids have cells is reproduced there; on its own grid nothing changes. */
START_TEST(transferred)
{
    int32_t index_a[] = {0, 1, 2, 3, 4, 5, 6, 7}, index_b[] = {1};
    double p_a[] = {1, 2, 3, 4, 5, 6, 7, 8}, p_b[] = {1};
    gbees_snapshot a = row(8, index_a, p_a), grid = row(1, index_b, p_b), *moved = NULL;
    gbees_error error = {GBEES_OK, ""};

    ck_assert_msg(gbees_compare_transfer(&a, &a, &moved, &error) == GBEES_OK, "%s", error.text);
    ck_assert_uint_eq(moved->count, 8);
    for (int i = 0; i < 8; i++) {
        ck_assert_int_eq(moved->index[0][i], index_a[i]);
        ck_assert_double_eq(moved->p[i], p_a[i]);
    }
    gbees_snapshot_destroy(moved);
    grid.width[0] = 1.25;
    grid.origin[0] = 0.5;
    ck_assert_int_eq(gbees_compare_transfer(&a, &grid, &moved, &error), GBEES_OK);
    for (size_t i = 0; i < moved->count; i++) {
        const double x = 0.5 + 1.25 * moved->index[0][i];

        ck_assert_double_gt(x, -1);
        ck_assert_double_lt(x, 8);
        if (x > 0 && x < 7)
            ck_assert_double_eq_tol(moved->p[i], 1.25 * (1 + x), 1e-14);
    }
    ck_assert_uint_eq(moved->count, 7); /* from -0.75 to 6.75 */
    gbees_snapshot_destroy(moved);
    grid.rotated = 1;
    ck_assert_int_eq(gbees_compare_transfer(&a, &grid, &moved, &error), GBEES_EUSAGE);
}
END_TEST

/* Samples of a density, in bins, are that density as far as there are samples. */
START_TEST(samples_in_bins)
{
    box *record = gaussian();
    gbees_montecarlo *few = draw(2000), *many = draw(400000);
    gbees_snapshot *binned[2] = {NULL, NULL};
    gbees_error error = {GBEES_OK, ""};
    double distance[2], coefficient[2], sum = 0;

    ck_assert_msg(gbees_compare_bin(&record->snapshot, few, &binned[0], &error) == GBEES_OK, "%s", error.text);
    ck_assert_msg(gbees_compare_bin(&record->snapshot, many, &binned[1], &error) == GBEES_OK, "%s", error.text);
    for (size_t i = 0; i < binned[0]->count; i++)
        sum += binned[0]->p[i];
    ck_assert_double_eq_tol(sum, 1, 1e-12);
    for (int k = 0; k < 2; k++)
        ck_assert_int_eq(gbees_compare_l1(&record->snapshot, binned[k], &distance[k], &coefficient[k], &error),
                         GBEES_OK);
    ck_assert_double_gt(distance[0], 4 * distance[1]);
    ck_assert_double_gt(coefficient[1], 0.998);
    ck_assert_double_lt(coefficient[0], 0.98);
    gbees_snapshot_destroy(binned[0]);
    gbees_snapshot_destroy(binned[1]);
    gbees_montecarlo_destroy(few);
    gbees_montecarlo_destroy(many);
    free(record);
}
END_TEST

START_TEST(tables_in_markdown)
{
    box *record = gaussian();
    gbees_montecarlo *montecarlo = draw(50000);
    const gbees_sample_moments moments = {.mean = {3, -1}, .std = {1, 2}};
    gbees_accuracy accuracy;
    gbees_error error;
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    ck_assert_ptr_nonnull(file);
    record->snapshot.time = 0.25;
    ck_assert_int_eq(gbees_accuracy_measure(&record->snapshot, &moments, montecarlo, 0, 1, &accuracy, &error),
                     GBEES_OK);
    ck_assert(isnan(accuracy.kernel));
    gbees_accuracy_print(file, &accuracy, 1);
    gbees_accuracy_print_moments(file, &accuracy, 1);
    fclose(file);
    ck_assert_ptr_nonnull(strstr(text, "\n| 0 | 0 | 0.25 | 1089 | 0.0"));
    ck_assert_ptr_nonnull(strstr(text, " | - | "));
    ck_assert_ptr_nonnull(strstr(text, "\n| 0 | 0 | 0.25 | b | -1.0000 | "));
    free(text);
    gbees_montecarlo_destroy(montecarlo);
    free(record);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("compare");
    TCase *figures = tcase_create("figures");

    tcase_set_timeout(figures, 60);
    tcase_add_test(figures, errors_in_units_of_the_truth);
    tcase_add_test(figures, binned_coefficient);
    tcase_add_test(figures, kernel_coefficient_is_the_definition);
    tcase_add_test(figures, marginal_distance);
    tcase_add_test(figures, l1_over_the_union);
    tcase_add_test(figures, coarsened);
    tcase_add_test(figures, transferred);
    tcase_add_test(figures, samples_in_bins);
    tcase_add_test(figures, tables_in_markdown);
    suite_add_tcase(suite, figures);
    return run_suite(suite);
}
