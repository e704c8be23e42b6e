/* test_mass.c - the ledger of mass and positive cells, whatever the problem: each step's and each prune's entry
 * against the sum of the cells. The CPU alone has bricks of one cell, and kernels of all dimensions and precisions.
 */
#include "fixtures/engine_fixture.h"
#include "fixtures/suite.h"

/* No cell is negative. The CPU, asked for cells of 0 and more, shows all that there are; elsewhere those that hold
 * something would hold more than the mass. */
static void none_is_negative(rig *r)
{
    const double threshold = r->problem.threshold;
    const int shows_all = strcmp(r->backend->name, "cpu") == 0;
    double sum = 0;

    r->problem.threshold = shows_all ? 0 : threshold;
    r->part = shows_all ? 1 : 0;
    cell_list list = rig_cells(r);
    r->problem.threshold = threshold;
    r->part = 1;
    for (size_t i = 0; i < list.count; i++) {
        ck_assert_double_ge(list.p[i], 0);
        sum += list.p[i];
    }
    ck_assert_double_eq_tol(sum, 1, 1e-12);
    if (shows_all)
        ck_assert_uint_eq(list.count, rig_statistics(r).cells_raw);
    list_free(&list);
}

/* ---- ctu ----------------------------------------------------------------------------------------------------- */

/* Each step's and prune's entry in the ledger against the sum of the cells. */
static void keep_the_ledger(rig *r, int steps)
{
    double mass = rig_statistics(r).mass;
    gbees_totals before = rig_totals(r);

    ck_assert_double_eq_tol(mass, 1 - before.mass_pruned,
                            r->problem.numerics.precision == GBEES_DOUBLE ? 1e-12 : 1e-6);
    for (int k = 0; k < steps; k++) {
        rig_steps(r, 1);
        gbees_totals t = rig_totals(r);
        double clipped = t.mass_clipped - before.mass_clipped, out = t.mass_outflow - before.mass_outflow;
        double pruned = t.mass_pruned - before.mass_pruned;

        ck_assert_double_ge(clipped, -1e-15);
        ck_assert_double_ge(pruned, -1e-15);
        mass += clipped - out - pruned;
        ck_assert_double_eq_tol(rig_statistics(r).mass, mass, 1e-12);
        before = t;
    }
}

START_TEST(mass_is_conserved_while_the_grid_grows_ahead)
{
    const char *backend = places[_i].backend;
    const int n = places[_i].n;
    rig r;

    if (!is_built(backend))
        return;
    rig_open(&r, backend, n, n <= 2 ? 6 : 2);
    for (int kind = 0; kind < 2; kind++) {
        if (!is_cpu(backend) && kind > 0)
            continue;
        r.problem.numerics.precision = kind == 1 ? GBEES_MIXED : GBEES_DOUBLE;
        rig_start(&r, 1);
        keep_the_ledger(&r, n <= 4 ? 12 : 3);
        gbees_totals t = rig_totals(&r);

        /* Not quite 0: where the flow turns, an edge of a cell is reached that its own faces don't point to. */
        ck_assert_double_lt(fabs(t.mass_outflow), 1e-6);
        ck_assert_double_eq(t.mass_pruned, 0);
    }
    rig_close(&r);
}
END_TEST

START_TEST(mass_is_conserved_to_rounding_where_nothing_turns)
{
    const char *backend = places[_i].backend;
    const int n = places[_i].n;
    rig r;

    if (!is_built(backend))
        return;
    rig_open(&r, backend, n, n <= 2 ? 6 : 2);
    rig_straighten(&r);
    for (int j = 0; j < n; j++)
        r.problem.parameters[VELOCITY + j] = j % 2 ? -0.4 : 0.7;
    rig_start(&r, 1);
    keep_the_ledger(&r, 6);
    ck_assert_double_eq_tol(rig_totals(&r).mass_outflow, 0, 1e-12);
    rig_close(&r);
}
END_TEST

START_TEST(truncation_is_counted)
{
    const char *backend = places[_i].backend;
    const int n = places[_i].n;
    rig r;

    if (!is_built(backend))
        return;
    rig_open(&r, backend, n, n <= 2 ? 6 : 2);
    r.problem.threshold = n == 1 ? 1e-2 : 1e-3;
    r.problem.numerics.prune_interval = 3;
    rig_start(&r, 1);
    keep_the_ledger(&r, 12);
    gbees_totals t = rig_totals(&r);

    if (n > 1) /* a line of 64 cells is longer than the density */
        ck_assert_double_gt(t.mass_outflow + t.mass_pruned, 1e-6);
    rig_close(&r);
}
END_TEST

START_TEST(cells_are_never_negative)
{
    const char *backend = places[_i].backend;
    const int n = places[_i].n;
    rig r;

    if (!is_built(backend))
        return;
    rig_open(&r, backend, n, n <= 2 ? 6 : 2);
    r.problem.threshold = 1e-6;
    r.problem.parameters[ROTATION] = 5; /* a swirl inside a few cells: what makes the scheme undershoot */
    for (int kind = 0; kind < 2; kind++) {
        if (!is_cpu(backend) && kind > 0)
            continue;
        r.problem.numerics.precision = kind ? GBEES_MIXED : GBEES_DOUBLE;
        rig_start(&r, 1);
        rig_steps(&r, 8);
        ck_assert(n == 1 || rig_totals(&r).mass_clipped > 0);
        none_is_negative(&r);
    }
    rig_close(&r);
}
END_TEST

/* ---- the split schemes ---------------------------------------------------------------------------------------- */

/* What is there, and what the totals say has gone. */
static void keep_the_split_ledger(rig *r, int steps)
{
    gbees_totals before = rig_totals(r), t = before;

    for (int k = 0; k < steps; k++) {
        rig_steps(r, 1);
        t = rig_totals(r);
        ck_assert_double_ge(t.mass_outflow, before.mass_outflow);
        ck_assert_double_ge(t.mass_pruned, before.mass_pruned - 1e-15);
        ck_assert_double_eq_tol(rig_statistics(r).mass, 1 + t.mass_clipped - t.mass_outflow - t.mass_pruned, 1e-12);
        before = t;
    }
    ck_assert_double_lt(fabs(t.mass_clipped), 1e-15);
    ck_assert_double_gt(t.mass_outflow, 1e-9); /* there was something to count */
    ck_assert_double_lt(t.mass_outflow + t.mass_pruned, 0.9);
}

START_TEST(split_ledgers_close)
{
    const char *backend = places[_i].backend;
    const int n = places[_i].n;
    rig r;

    if (!is_built(backend))
        return;
    rig_open_split(&r, backend, n, n == 1 ? 40 : n == 2 ? 6 : n == 3 ? 4 : 2); /* in one dimension bricks are long */
    r.problem.threshold = n == 1 ? 1e-3 : n <= 3 ? 1e-6 : 1e-7;
    r.problem.numerics.prune_interval = 5;
    rig_start(&r, 1);
    keep_the_split_ledger(&r, 50);
    rig_close(&r);
}
END_TEST

START_TEST(split_cells_are_never_negative)
{
    const char *backend = places[_i].backend;
    const int n = places[_i].n;
    rig r;

    if (!is_built(backend))
        return;
    rig_open_split(&r, backend, n, n <= 2 ? 6 : 2);
    r.problem.parameters[ROTATION] = 5; /* a swirl inside a few cells */
    for (int kind = 0; kind < 2; kind++) {
        if (!is_cpu(backend) && kind > 0)
            continue;
        r.problem.numerics.precision = kind & 1 ? GBEES_MIXED : GBEES_DOUBLE;
        rig_start(&r, 1);
        rig_steps(&r, 4);
        ck_assert_double_lt(fabs(rig_totals(&r).mass_clipped), kind & 1 ? 1e-7 : 1e-15);
        none_is_negative(&r);
    }
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mass");
    TCase *mass = tcase_create("mass");

    tcase_set_timeout(mass, 60);
    tcase_add_loop_test(mass, mass_is_conserved_while_the_grid_grows_ahead, 0, places_to(5));
    tcase_add_loop_test(mass, mass_is_conserved_to_rounding_where_nothing_turns, 0, places_to(4));
    tcase_add_loop_test(mass, truncation_is_counted, 0, places_to(4));
    tcase_add_loop_test(mass, cells_are_never_negative, 0, places_to(5));
    tcase_add_loop_test(mass, split_ledgers_close, 0, places_to(4));
    tcase_add_loop_test(mass, split_cells_are_never_negative, 0, places_to(4));
    suite_add_tcase(suite, mass);
    return run_suite(suite);
}
