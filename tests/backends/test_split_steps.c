/* test_split_steps.c - sweeps of the split schemes along pencils of bricks against plain loops on a dense window
 * (dense_split.h), cell by cell, and mirrored problems beside each other. The CPU alone has bricks of one cell, and
 * kernels of all dimensions and precisions; the kernels on threads have the other schemes in the plane. */
#include "fixtures/split_fixture.h"
#include "fixtures/suite.h"

static int extent_of(int n)
{
    return n == 1 ? 20 : n == 2 ? 7 : n == 3 ? 4 : n == 4 ? 2 : n <= 6 ? 1 : 0;
}

/* At least one step backwards; the first axis changes with the third. */
static int steps_of(int n)
{
    return n <= 3 ? 7 : n == 4 ? 5 : n <= 7 ? 3 : 2;
}

START_TEST(double_bricks_equal_plain_loops)
{
    const char *backend = places[_i].backend;
    const int n = places[_i].n;
    rig r;

    if (!is_built(backend))
        return;
    rig_open_split(&r, backend, n, extent_of(n));
    steps_agree(&r, steps_of(n), 1e-12);
    if (n >= 7) { /* more than one cell, but one step */
        for (int j = 0; j < n; j++)
            r.problem.extent[j] = 1;
        steps_agree(&r, 1, 1e-12);
    }
    rig_close(&r);
}
END_TEST

START_TEST(mixed_equals_plain_loops)
{
    const char *backend = places[_i].backend;
    const int n = places[_i].n;
    rig r;

    if (!is_built(backend) || !is_planar(&places[_i]))
        return;
    rig_open_split(&r, backend, n, extent_of(n));
    r.problem.numerics.precision = GBEES_MIXED;
    r.problem.threshold = 1e-28;
    steps_agree(&r, steps_of(n), 1e-5);
    rig_close(&r);
}
END_TEST

START_TEST(bounded_fluxes_equal_plain_loops)
{
    const char *backend = places[_i].backend;
    const int n = places[_i].n;
    rig r;

    if (!is_built(backend) || !is_planar(&places[_i]))
        return;
    rig_open_split(&r, backend, n, extent_of(n));
    r.problem.numerics.scheme = GBEES_SCHEME_SPLIT5_MP;
    steps_agree(&r, steps_of(n), 1e-12);
    r.problem.numerics.precision = GBEES_MIXED;
    r.problem.threshold = 1e-28;
    if (is_cpu(backend))
        steps_agree(&r, steps_of(n), 1e-5);
    rig_close(&r);
}
END_TEST

/* In double precision; on the CPU in mixed precision, too. */
static void scheme_agrees(rig *r, gbees_scheme scheme, int steps)
{
    const double level = r->problem.threshold;

    r->problem.numerics.scheme = scheme;
    r->problem.numerics.precision = GBEES_DOUBLE;
    steps_agree(r, steps, 1e-12);
    if (is_cpu(r->backend->name)) {
        r->problem.numerics.precision = GBEES_MIXED;
        r->problem.threshold = 1e-28;
        steps_agree(r, steps, 1e-5);
        r->problem.threshold = level;
    }
}

START_TEST(seventh_order_equals_plain_loops)
{
    const char *backend = places[_i].backend;
    const int n = places[_i].n;
    rig r;

    if (!is_built(backend) || !is_planar(&places[_i]))
        return;
    rig_open_split(&r, backend, n, extent_of(n));
    scheme_agrees(&r, GBEES_SCHEME_SPLIT7, steps_of(n));
    if (is_cpu(backend))
        scheme_agrees(&r, GBEES_SCHEME_SPLIT7_MP, steps_of(n));
    rig_close(&r);
}
END_TEST

START_TEST(first_order_equals_plain_loops)
{
    const char *backend = places[_i].backend;
    const int n = places[_i].n;
    rig r;

    if (!is_built(backend) || !is_planar(&places[_i]))
        return;
    rig_open_split(&r, backend, n, extent_of(n));
    scheme_agrees(&r, GBEES_SCHEME_UPWIND, steps_of(n));
    rig_close(&r);
}
END_TEST

/* Velocities of the middle of the step; half the Courant number. */
START_TEST(time_is_that_of_the_middle)
{
    const char *backend = places[_i].backend;
    const int n = places[_i].n;
    rig r;

    if (!is_built(backend) || !is_planar(&places[_i]))
        return;
    rig_open_split(&r, backend, n, extent_of(n));
    r.problem.parameters[BEAT] = 1.3;
    r.problem.start = 0.4;
    r.problem.numerics.courant = 0.5;
    steps_agree(&r, 4, 1e-12);
    rig_close(&r);
}
END_TEST

/* What is absent reads as 0 and takes what flows out; a pencil may have holes. */
START_TEST(truncated_grids_equal_plain_loops)
{
    const char *backend = places[_i].backend;
    const int n = places[_i].n;
    rig r;

    if (!is_built(backend))
        return;
    rig_open_split(&r, backend, n, n == 1 ? 8 : 6 - n);
    r.problem.threshold = n == 1 ? 0.02 : n == 2 ? 3e-3 : n == 3 ? 1e-3 : 1e-4;
    dense d;
    double level = rig_begin(&r, &d, 6);
    for (int k = 0; k < 5; k++)
        level = step_both(&r, &d, level);
    gbees_statistics s = rig_statistics(&r);
    cell_list list = rig_cells(&r);
    double sum = dense_sum(&d);
    for (size_t k = 0; k < list.count; k++)
        ck_assert_double_eq_tol(list.p[k], d.p[dense_cell(&d, list.index[k])] / sum, 1e-13);
    ck_assert_double_eq_tol(s.mass, sum, 1e-12);
    list_free(&list);
    dense_destroy(&d);
    rig_close(&r);
}
END_TEST

/* P beside a cell, along an axis; 0 beyond the window. */
static double beside(const dense *d, long cell, int axis, int step)
{
    const int at = dense_coordinate(d, cell, axis) + step;

    return at < 0 || at >= d->size[axis] ? 0 : d->p[cell + step * d->stride[axis]];
}

/* The likelihood of `last` = 0.3, times a density that is a straight line inside each cell, parallel to that through
 * the cells beside it and nowhere below 0: the integral of the product. */
static void measure_last(dense *d, const rig *r, double variance)
{
    const int axis = d->n - 1;
    const double scale = 1 / sqrt(2 * variance), h = d->width[axis];
    double *p = malloc((size_t)d->cells * sizeof *p);

    ck_assert_ptr_nonnull(p);
    for (long i = 0; i < d->cells; i++) {
        const double off = r->problem.mean[axis] + h * (d->lo[axis] + dense_coordinate(d, i, axis)) - 0.3;
        const double low = (off - h / 2) * scale, high = (off + h / 2) * scale;
        const double whole = sqrt(acos(-1) / 2 * variance) * (erf(high) - erf(low));
        const double first = variance * (exp(-low * low) - exp(-high * high)) - off * whole;
        const double slope = (beside(d, i, axis, 1) - beside(d, i, axis, -1)) / 2;

        p[i] = d->p[i] * whole + fmin(fmax(slope, -2 * d->p[i]), 2 * d->p[i]) * first / h;
    }
    memcpy(d->p, p, (size_t)d->cells * sizeof *p);
    free(p);
    dense_scale(d, 1 / dense_sum(d));
}

START_TEST(updates_and_prunes_in_between)
{
    const char *backend = places[_i].backend;
    const int n = places[_i].n;
    const gbees_measurement m = {.function = 0, .size = 1, .value = {0.3}, .covariance = {0.05}};
    gbees_evidence evidence;
    rig r;
    dense d;

    if (!is_built(backend))
        return;
    rig_open_split(&r, backend, n, extent_of(n));
    r.problem.numerics.prune_interval = 2;
    double level = rig_begin(&r, &d, 6);
    for (int k = 0; k < 3; k++)
        level = step_both(&r, &d, level);
    ck_assert_int_eq(r.backend->update(r.engine, &r.clock, &m, &evidence, &r.error), 0);
    measure_last(&d, &r, 0.05);
    rig_compare(&r, &d, 0, 1e-8); /* the backend averages with a quadrature */
    rig_collect(&r, &d, d.p);
    level = r.problem.threshold;
    for (int k = 0; k < 3; k++) {
        level = step_both(&r, &d, level);
        rig_compare(&r, &d, 0, 1e-12);
    }
    dense_destroy(&d);
    rig_close(&r);
}
END_TEST

/* The asymmetry in units of the largest cell. */
static double asymmetry(rig *r, int steps)
{
    double largest;
    const double off = rig_asymmetry(r, steps, &largest);

    return off / largest;
}

/* Bricks do not lie symmetrically: results are equal once the density is well inside of them. */
START_TEST(mirrored_problems_have_mirrored_results)
{
    const char *backend = places[_i].backend;
    const int n = places[_i].n;
    rig r;

    if (!is_built(backend))
        return;
    rig_open_split(&r, backend, n, n == 1 ? 8 : 6 - n);
    r.problem.numerics.time_step = n == 1 ? 0.004 : 0.02; /* up to Courant number 1 */
    r.problem.threshold = 1e-15;
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            r.problem.covariance[j * n + k] = j == k ? 0.02 : 0;
    ck_assert_double_lt(asymmetry(&r, 5), 1e-13);
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("split steps");
    TCase *steps = tcase_create("steps"), *many = add_long_case(suite, "many", 60);

    tcase_set_timeout(steps, 60);
    tcase_add_loop_test(steps, double_bricks_equal_plain_loops, 0, places_to(6));
    tcase_add_loop_test(steps, mixed_equals_plain_loops, 0, places_to(5));
    tcase_add_loop_test(steps, bounded_fluxes_equal_plain_loops, 0, places_to(4));
    tcase_add_loop_test(steps, seventh_order_equals_plain_loops, 0, places_to(4));
    tcase_add_loop_test(steps, first_order_equals_plain_loops, 0, places_to(3));
    tcase_add_loop_test(steps, time_is_that_of_the_middle, 0, places_to(4));
    tcase_add_loop_test(steps, truncated_grids_equal_plain_loops, 0, places_to(4));
    tcase_add_loop_test(steps, updates_and_prunes_in_between, 0, places_to(4));
    tcase_add_loop_test(steps, mirrored_problems_have_mirrored_results, 0, places_to(4));
    tcase_add_loop_test(many, double_bricks_equal_plain_loops, places_to(6), places_to(8));
    tcase_add_loop_test(many, mixed_equals_plain_loops, places_to(5), places_to(8));
    tcase_add_loop_test(many, bounded_fluxes_equal_plain_loops, places_to(4), places_to(6));
    tcase_add_loop_test(many, seventh_order_equals_plain_loops, places_to(4), places_to(6));
    suite_add_tcase(suite, steps);
    return run_suite(suite);
}
