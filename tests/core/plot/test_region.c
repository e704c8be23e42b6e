/* test_region.c - credible regions, quantiles, moments and extent of a density, beside exact answers; titles. */
#include "fixtures/results_fixture.h"
#include "fixtures/suite.h"
#include "plot/region.h"
#include "plot/ticks.h"
#include <check.h>
#include <math.h>

enum { SIDE = 241 };

static const double width = 0.05;
static double value[SIDE * SIDE];

/* A density of one or two states on cells of `width` around 0, as large as `value`. */
static gbees_density on_grid(int dimension)
{
    gbees_density density = {.dimension = dimension, .axis = {0, 1}, .peak = 0, .value = value};

    for (int j = 0; j < 3; j++) {
        density.length[j] = j < dimension ? SIDE : 1;
        density.width[j] = width;
        density.first[j] = -(SIDE / 2) * width;
    }
    return density;
}

static double place(size_t i)
{
    return ((double)i - SIDE / 2) * width;
}

static void find_peak(gbees_density *density)
{
    for (size_t i = 0; i < gbees_density_count(density); i++)
        density->peak = fmax(density->peak, density->value[i]);
}

/* Of a Gaussian of two states exp(-r^2 / 2) is the probability beyond r, and the density there over its peak. */
START_TEST(levels_of_a_gaussian_of_two_states)
{
    gbees_density density = on_grid(2);
    double level[GBEES_REGIONS];

    for (size_t i = 0; i < SIDE; i++)
        for (size_t j = 0; j < SIDE; j++)
            value[i * SIDE + j] = 7 * exp(-0.5 * (place(i) * place(i) + place(j) * place(j)));
    find_peak(&density);
    gbees_region_levels(&density, GBEES_REGIONS, gbees_region_part, level);
    for (int k = 0; k < GBEES_REGIONS; k++)
        ck_assert_double_eq_tol(level[k], 1 - gbees_region_part[k], 2e-3);
}
END_TEST

/* The region of 0.95 is two intervals, one a hump; that of 0.5, within 1.3 deviations, has nothing of the
 * lower hump, whose peak is 3 / 7 of the upper one. */
START_TEST(levels_of_two_humps)
{
    static const double part[2] = {0.95, 0.5};
    gbees_density density = on_grid(1);
    double level[2], above[2] = {0, 0}, total = 0;

    for (size_t i = 0; i < SIDE; i++) {
        const double a = place(i) + 3, b = place(i) - 3;

        value[i] = 0.7 * exp(-0.5 * a * a / 0.25) + 0.3 * exp(-0.5 * b * b / 0.25);
        total += value[i];
    }
    find_peak(&density);
    gbees_region_levels(&density, 2, part, level);
    for (size_t i = 0; i < SIDE; i++)
        for (int k = 0; k < 2; k++)
            above[k] += value[i] >= level[k] * density.peak ? value[i] / total : 0;
    for (int k = 0; k < 2; k++) {
        ck_assert_double_ge(above[k], part[k]);
        ck_assert_double_le(above[k], part[k] + 4 * 0.028 * level[k]); /* a cell has 0.028 at the peak */
    }
    ck_assert_double_lt(level[0], 0.3 / 0.7);
    ck_assert_double_gt(level[1], 0.3 / 0.7);
}
END_TEST

START_TEST(nothing_has_no_region)
{
    gbees_density density = on_grid(1);
    double level[GBEES_REGIONS];

    for (size_t i = 0; i < SIDE; i++)
        value[i] = 0;
    gbees_region_levels(&density, GBEES_REGIONS, gbees_region_part, level);
    for (int k = 0; k < GBEES_REGIONS; k++)
        ck_assert_double_eq(level[k], 1);
}
END_TEST

/* Uniform on 100 cells: quantiles lie inside of cells, as far as the part says. */
START_TEST(quantiles_of_a_uniform_density)
{
    static const double below[] = {0.025, 0.16, 0.5, 0.8399, 0.975};
    gbees_density density = on_grid(1);
    const double start = place(60) - 0.5 * width;
    double at[5], mean, std;

    for (size_t i = 0; i < SIDE; i++)
        value[i] = i >= 60 && i < 160 ? 2 : 0;
    find_peak(&density);
    gbees_density_quantiles(&density, 5, below, at);
    for (int k = 0; k < 5; k++)
        ck_assert_double_eq_tol(at[k], start + 100 * width * below[k], 1e-12);
    gbees_density_moments(&density, &mean, &std);
    ck_assert_double_eq_tol(mean, start + 50 * width, 1e-12);
    ck_assert_double_eq_tol(std, width * sqrt((100 * 100 - 1) / 12.0), 1e-12);
}
END_TEST

/* A Gaussian beyond its 0.003 of the peak: 3.41 deviations; the central 99.9 % end at 3.29. */
START_TEST(extent_of_a_gaussian)
{
    gbees_density density = on_grid(1);
    double lo, hi;

    for (size_t i = 0; i < SIDE; i++)
        value[i] = exp(-0.5 * place(i) * place(i));
    find_peak(&density);
    gbees_density_extent(&density, &lo, &hi);
    ck_assert_double_eq_tol(hi, sqrt(-2 * log(0.003)), width);
    ck_assert_double_eq_tol(lo, -hi, 1e-9);
}
END_TEST

/* ---- titles ------------------------------------------------------------------------------------------------- */

START_TEST(moments_as_text)
{
    static const struct {
        double mean, std;
        const char *text;
    } cases[] = {{0.99866, 0.000536, "x = 0.99866 \u00b1 0.00054"},
                 {-1.909, 6.031, "x = \u22121.9 \u00b1 6.0"},
                 {4.788e-3, 6.8e-5, "x = (4.788 \u00b1 0.068) 10\u207b\u00b3"},
                 {0, 0, "x = 0.000 \u00b1 0.000"}};
    char text[192];

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        gbees_ticks_moments("x", cases[k].mean, cases[k].std, text, sizeof text);
        ck_assert_str_eq(text, cases[k].text);
    }
}
END_TEST

/* The record's own, which its cells need not have: those below p* are not in the file, and no cell's h^2/12 is. Of a
 * file without them, those of what is drawn. */
START_TEST(titles_have_the_moments_of_the_record)
{
    const gbees_choice all = {.is_plain = 1};
    gbees_problem problem = make_problem(2);
    gbees_gallery *gallery = NULL;
    gbees_error error = {0};

    set_up();
    gbees_writer *writer = start(&problem);
    put(writer, &problem, 100, 0, 1);
    gbees_writer_destroy(writer);
    ck_assert_msg(gbees_gallery_create(folder, &all, &gallery, &error) == 0, "%s", error.text);
    ck_assert_double_eq(gallery->shot[0].mean[1], 2);
    ck_assert_double_eq_tol(gallery->shot[0].std[1], sqrt(2), 1e-15);
    gbees_gallery_destroy(gallery);
    char *path = in_folder("leg0_record1.h5");
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    ck_assert(H5Adelete(file, "mean") >= 0 && H5Fclose(file) >= 0);
    free(path);
    ck_assert_msg(gbees_gallery_create(folder, &all, &gallery, &error) == 0, "%s", error.text);
    ck_assert_double_eq_tol(gallery->shot[0].mean[1], problem.mean[1], problem.width[1]);
    ck_assert_double_gt(gallery->shot[0].std[1], 5 * problem.width[1]);
    gbees_gallery_destroy(gallery);
    tear_down();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("region");
    TCase *tests = tcase_create("region");

    tcase_add_test(tests, levels_of_a_gaussian_of_two_states);
    tcase_add_test(tests, levels_of_two_humps);
    tcase_add_test(tests, nothing_has_no_region);
    tcase_add_test(tests, quantiles_of_a_uniform_density);
    tcase_add_test(tests, extent_of_a_gaussian);
    tcase_add_test(tests, moments_as_text);
    tcase_add_test(tests, titles_have_the_moments_of_the_record);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
