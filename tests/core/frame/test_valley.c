/* test_valley.c - where a density falls apart: valleys are found between peaks, and nowhere else. */
#include "fixtures/suite.h"
#include "frame/valley.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>

enum { N = 2, SIDE = 81, HALF = SIDE / 2 };

/* Cells of a square, and their P. */
typedef struct field {
    gbees_initial_cells cells;
    int32_t index[N][SIDE * SIDE];
    double p[SIDE * SIDE];
} field;

/* Two Gaussians of `std` cells whose means are `apart` from the middle along a direction, the second of `part`. */
static field *two_peaks(double std, double apart, double turned, double part)
{
    field *made = calloc(1, sizeof *made);
    const double x = apart * cos(turned), y = apart * sin(turned);

    ck_assert_ptr_nonnull(made);
    for (int a = -HALF; a <= HALF; a++)
        for (int b = -HALF; b <= HALF; b++) {
            const double one = hypot(a - x, b - y) / std, two = hypot(a + x, b + y) / std;
            const size_t at = made->cells.count++;

            made->index[0][at] = a;
            made->index[1][at] = b;
            made->p[at] = (1 - part) * exp(-one * one / 2) + part * exp(-two * two / 2);
        }
    for (int j = 0; j < N; j++)
        made->cells.index[j] = made->index[j];
    made->cells.p = made->p;
    return made;
}

START_TEST(two_peaks_have_a_valley)
{
    const double turned = _i * 0.3;
    field *of = two_peaks(4, 20, turned, 0.3);
    gbees_valley valley;
    double sum[2] = {0}, all = 0;

    ck_assert_int_eq(gbees_valley_find(&of->cells, N, &valley), 1);
    ck_assert_double_eq_tol(fabs(valley.direction[0] * cos(turned) + valley.direction[1] * sin(turned)), 1, 1e-6);
    for (size_t i = 0; i < of->cells.count; i++) {
        sum[gbees_valley_side(&valley, &of->cells, N, i)] += of->p[i];
        all += of->p[i];
    }
    ck_assert_double_eq_tol(fmin(sum[0], sum[1]) / all, 0.3, 1e-3);
    free(of);
}
END_TEST

START_TEST(one_peak_has_none)
{
    static const struct {
        double std, apart, part;
    } cases[] = {{6, 0, 0}, {6, 8, 0.5}, {4, 20, 1e-4}, {0.3, 0, 0}};
    field *of = two_peaks(cases[_i].std, cases[_i].apart, 0.4, cases[_i].part);
    gbees_valley valley;

    ck_assert_int_eq(gbees_valley_find(&of->cells, N, &valley), 0);
    free(of);
}
END_TEST

/* Cells without mass, or with one that is no number. */
START_TEST(no_density_has_none)
{
    field *of = two_peaks(4, 20, 0, 0.5);
    gbees_valley valley;

    of->p[7] = _i ? NAN : of->p[7];
    of->cells.count = _i ? of->cells.count : 0;
    ck_assert_int_eq(gbees_valley_find(&of->cells, N, &valley), 0);
    free(of);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("valley");
    TCase *valleys = tcase_create("valleys");

    tcase_add_loop_test(valleys, two_peaks_have_a_valley, 0, 6);
    tcase_add_loop_test(valleys, one_peak_has_none, 0, 4);
    tcase_add_loop_test(valleys, no_density_has_none, 0, 2);
    suite_add_tcase(suite, valleys);
    return run_suite(suite);
}
