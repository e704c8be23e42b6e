/* test_roughness.c - the sum of second differences, by which a plan tells along which axis a density is rough. */
#include "accuracy/roughness.h"
#include "fixtures/plane_cells.h"
#include <check.h>

START_TEST(roughness_is_the_sum_of_second_differences)
{
    /* Along axis 0: 1, 4, 2 in one line, 3 alone in another; along axis 1: 4 and 3 beside each other. */
    const int32_t at[][N] = {{-1, 0}, {0, 0}, {1, 0}, {0, 1}};
    const double p[] = {0.1, 0.4, 0.2, 0.3};
    gbees_cells *cells = cells_of(4, at, p);
    gbees_error error = {GBEES_OK, ""};
    double rough[N];

    ck_assert_int_eq(gbees_roughness(cells, N, rough, &error), GBEES_OK);
    ck_assert_double_eq_tol(rough[0], 0.2 + 0.5 + 0 + 0.6, 1e-15);
    ck_assert_double_eq_tol(rough[1], 0.2 + 0.5 + 0.4 + 0.2, 1e-15);
    gbees_cells_destroy(cells);
}
END_TEST

START_TEST(a_straight_line_is_smooth)
{
    int32_t at[100][N] = {{0}};
    double p[100], rough[N];
    gbees_error error = {GBEES_OK, ""};

    for (int i = 0; i < 100; i++) {
        at[i][0] = i / 10;
        at[i][1] = i % 10;
        p[i] = 1 + i / 10; /* rises along axis 0 */
    }
    gbees_cells *cells = cells_of(100, (const int32_t(*)[N])at, p);
    ck_assert_int_eq(gbees_roughness(cells, N, rough, &error), GBEES_OK);
    ck_assert_double_eq_tol(rough[0], 10 * (0 + 11), 1e-12); /* the upper end alone: 9 - 2 * 10 + 0 */
    ck_assert_double_eq_tol(rough[1], 2 * 55, 1e-12);        /* the ends of each line: |p - 2 p| */
    gbees_cells_destroy(cells);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("roughness");
    TCase *tests = tcase_create("all");

    tcase_add_test(tests, roughness_is_the_sum_of_second_differences);
    tcase_add_test(tests, a_straight_line_is_smooth);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
