/* test_cpu_pencils.c - long pencils, which the CPU backend sweeps by segments, against plain loops on a dense window
 * (dense_split.h): along each axis, whichever way the flow goes. */
#include "split_fixture.h"

enum { LONG = 45 }; /* bricks: some segments */

/* The axis that a grid of n dimensions is long along: first, middle and last ones, edges of 64 to 1 cells. */
static const struct {
    int n, axis;
} grids[] = {{1, 0}, {2, 0}, {2, 1}, {3, 0}, {3, 1}, {3, 2}, {4, 0},
             {4, 2}, {4, 3}, {5, 4}, {6, 0}, {6, 3}, {6, 5}, {7, 6}};
enum { GRIDS = sizeof grids / sizeof grids[0] };

/* What the flow does along the axis: towards the middle, away from it, all up, all down. */
typedef enum flow { IN, OUT, UP, DOWN, FLOWS } flow;

static void make_long(rig *r, int n, int axis, flow way)
{
    gbees_problem *p = &r->problem;
    gbees_shape shape = {0};

    rig_open_split(r, n, n <= 3 ? 2 : 0);
    rig_straighten(r);
    gbees_shape_set(&shape, n, p->numerics.cells_per_brick);
    p->extent[axis] = LONG * shape.edge[axis] / 2;
    p->covariance[axis * n + axis] = pow(p->width[axis] * p->extent[axis] / 3, 2);
    for (int j = 0; j < n; j++)
        p->parameters[VELOCITY + j] = (j % 2 ? -0.31 : 0.27) + 0.02 * j;
    if (way == UP || way == DOWN)
        p->parameters[VELOCITY + axis] = way == UP ? 0.43 : -0.43;
    else
        p->parameters[RATE + axis] = way == IN ? -0.21 : 0.17;
}

static void run_all(int i, gbees_scheme scheme, gbees_precision precision, double tolerance)
{
    for (int way = 0; way < FLOWS; way++) {
        rig r;

        make_long(&r, grids[i].n, grids[i].axis, (flow)way);
        r.problem.numerics.scheme = scheme;
        r.problem.numerics.precision = precision;
        if (precision == GBEES_MIXED)
            r.problem.threshold = 1e-28;
        steps_agree(&r, 2, tolerance);
        rig_close(&r);
    }
}

START_TEST(double_pencils_equal_plain_loops)
{
    run_all(_i, GBEES_SCHEME_SPLIT5, GBEES_DOUBLE, 1e-12);
}
END_TEST

START_TEST(mixed_pencils_equal_plain_loops)
{
    run_all(_i, GBEES_SCHEME_SPLIT5, GBEES_MIXED, 1e-5);
}
END_TEST

START_TEST(bounded_pencils_equal_plain_loops)
{
    run_all(_i, GBEES_SCHEME_SPLIT5_MP, GBEES_DOUBLE, 1e-12);
}
END_TEST

START_TEST(pencils_of_seventh_order_equal_plain_loops)
{
    run_all(_i, GBEES_SCHEME_SPLIT7, GBEES_DOUBLE, 1e-12);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cpu pencils");
    TCase *steps = tcase_create("steps");
    SRunner *runner = srunner_create(suite);

    tcase_set_timeout(steps, 60);
    tcase_add_loop_test(steps, double_pencils_equal_plain_loops, 0, GRIDS);
    tcase_add_loop_test(steps, mixed_pencils_equal_plain_loops, 0, GRIDS);
    tcase_add_loop_test(steps, bounded_pencils_equal_plain_loops, 0, GRIDS);
    tcase_add_loop_test(steps, pencils_of_seventh_order_equal_plain_loops, 0, GRIDS);
    suite_add_tcase(suite, steps);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
