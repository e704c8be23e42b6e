/* test_pencils.c - long pencils, which the CPU backend sweeps by segments and the kernels on threads brick by brick,
 * against plain loops on a dense window (dense_split.h): along each axis, whichever way the flow goes. */
#include "fixtures/split_fixture.h"
#include "fixtures/suite.h"

enum { LONG = 45 }; /* bricks: some segments */

/* The axis that a grid of n dimensions is long along: first, middle and last ones, edges of 64 to 1 cells. */
static const struct {
    int n, axis;
} grids[] = {{1, 0}, {2, 0}, {2, 1}, {3, 0}, {3, 1}, {3, 2}, {4, 0},
             {4, 2}, {4, 3}, {5, 4}, {6, 0}, {6, 3}, {6, 5}, {7, 6}};
enum { GRIDS = sizeof grids / sizeof grids[0] };

/* What the flow does along the axis: towards the middle, away from it, all up, all down. */
typedef enum flow { IN, OUT, UP, DOWN, FLOWS } flow;

static void make_long(rig *r, const char *backend, int n, int axis, flow way)
{
    gbees_problem *p = &r->problem;
    gbees_shape shape = {0};

    rig_open_split(r, backend, n, n <= 3 ? 2 : 0);
    rig_straighten(r);
    gbees_shape_set(&shape, n, 64);
    p->extent[axis] = LONG * shape.edge[axis] / 2;
    p->covariance[axis * n + axis] = pow(p->width[axis] * p->extent[axis] / 3, 2);
    for (int j = 0; j < n; j++)
        p->parameters[VELOCITY + j] = (j % 2 ? -0.31 : 0.27) + 0.02 * j;
    if (way == UP || way == DOWN)
        p->parameters[VELOCITY + axis] = way == UP ? 0.43 : -0.43;
    else
        p->parameters[RATE + axis] = way == IN ? -0.21 : 0.17;
}

/* Ways through a segment: either precision, further bounds, the other order. */
static const struct {
    gbees_scheme scheme;
    gbees_precision precision;
    double threshold, tolerance;
} kinds[] = {{GBEES_SCHEME_SPLIT5, GBEES_DOUBLE, 1e-15, 1e-12},
             {GBEES_SCHEME_SPLIT5, GBEES_MIXED, 1e-28, 1e-5},
             {GBEES_SCHEME_SPLIT5_MP, GBEES_DOUBLE, 1e-15, 1e-12},
             {GBEES_SCHEME_SPLIT7, GBEES_DOUBLE, 1e-15, 1e-12}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void compare(const char *backend, int grid, int kind)
{
    for (int way = 0; way < FLOWS; way++) {
        rig r;

        make_long(&r, backend, grids[grid].n, grids[grid].axis, (flow)way);
        r.problem.numerics.scheme = kinds[kind].scheme;
        r.problem.numerics.precision = kinds[kind].precision;
        r.problem.threshold = kinds[kind].threshold;
        steps_agree(&r, 2, kinds[kind].tolerance);
        rig_close(&r);
    }
}

START_TEST(long_pencils_equal_plain_loops)
{
    compare("cpu", _i / KINDS, _i % KINDS);
}
END_TEST

/* The kernels on threads: up to four dimensions, in the plane all kinds. */
START_TEST(long_pencils_on_threads)
{
    const int n = grids[_i / KINDS].n, kind = _i % KINDS;

    if (is_built("shim") && n <= 4 && (n == 2 || kind == 0))
        compare("shim", _i / KINDS, kind);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pencils");
    TCase *steps = tcase_create("steps"),
          *rest = add_long_case(suite, "all kinds in four dimensions and more, and the largest grids", 60);
    /* Bricks of two cells along an axis: five dimensions have them, too, and windows that are much smaller than
     * six's. */
    const int most = 5;

    tcase_set_timeout(steps, 60);
    for (int grid = 0; grid < GRIDS; grid++) {
        const int first = grid * KINDS, usual = grids[grid].n <= 3 ? KINDS : 1;
        TCase *least = grids[grid].n <= most ? steps : rest;

        tcase_add_loop_test(least, long_pencils_equal_plain_loops, first, first + usual);
        if (usual < KINDS)
            tcase_add_loop_test(rest, long_pencils_equal_plain_loops, first + usual, first + KINDS);
    }
    tcase_add_loop_test(steps, long_pencils_on_threads, 0, GRIDS * KINDS);
    suite_add_tcase(suite, steps);
    return run_suite(suite);
}
