/* test_passes.c - a map between two frames as shears along one axis after the other. */
#include "fixtures/frame_fixture.h"
#include "fixtures/suite.h"
#include "frame/passes.h"
#include <check.h>
#include <stdlib.h>

/* Takes a point of y through the passes. */
static void follow(const gbees_passes *passes, const double *y, double *to)
{
    double z[GBEES_MAX_DIM];

    for (int k = 0; k < passes->n; k++)
        z[k] = y[passes->from[k]];
    for (int k = 0; k < passes->count; k++) {
        const gbees_pass *pass = &passes->pass[k];
        double value = pass->scale * z[pass->axis] + pass->shift;

        for (int j = 0; j < passes->n; j++)
            value += pass->shear[j] * z[j];
        z[pass->axis] = value;
    }
    for (int k = 0; k < passes->n; k++)
        to[passes->to[k]] = z[k];
}

static void place(const gbees_moving_frame *frame, const double *y, double *x)
{
    for (int j = 0; j < frame->n; j++) {
        x[j] = frame->m[j];
        for (int k = 0; k < frame->n; k++)
            x[j] += frame->a[j * frame->n + k] * y[k];
    }
}

START_TEST(passes_are_the_map)
{
    const int n = 1 + _i % GBEES_MAX_DIM;
    const gbees_moving_frame from = some_frame(n, 1000 + (uint64_t)_i), to = some_frame(n, 2000 + (uint64_t)_i);
    gbees_passes passes;
    gbees_error error = {0};
    uint64_t state = 3;
    double y[GBEES_MAX_DIM], moved[GBEES_MAX_DIM], x[2][GBEES_MAX_DIM];

    ck_assert_int_eq(gbees_passes_find(&from, &to, &passes, &error), GBEES_OK);
    ck_assert_int_le(passes.count, n == 1 ? 1 : 2 * n - 2);
    for (int j = 0; j < n; j++)
        y[j] = 10 * some_number(&state);
    follow(&passes, y, moved);
    place(&from, y, x[0]);
    place(&to, moved, x[1]);
    for (int j = 0; j < n; j++)
        ck_assert_double_eq_tol(x[1][j], x[0][j], 1e-10);
    ck_assert_int_eq(gbees_passes_find(&from, &from, &passes, &error), GBEES_OK);
    ck_assert_int_eq(passes.count, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("passes");
    TCase *tests = tcase_create("passes");

    tcase_add_loop_test(tests, passes_are_the_map, 0, 3 * GBEES_MAX_DIM);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
