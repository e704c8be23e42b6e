/* test_step.c - core/numerics: clock and time step, order of sweeps, ledger, work, and the quadrature of updates. */
#include "fixtures/suite.h"
#include "numerics/likelihood.h"
#include "numerics/run_state.h"
#include "numerics/sweeps.h"
#include <check.h>
#include <stdlib.h>

static const double LONGEST = 0.3;

START_TEST(an_interval_ends_exactly)
{
    gbees_run_state run = {.clock = {.time = 2, .length = 1, .leg_step = 7, .phase = 1}};

    for (int k = 0; k < 4; k++) {
        run.step = gbees_step_choose(&run.clock, LONGEST, NULL);
        ck_assert_int_eq(run.step.is_last, k == 3);
        ck_assert_int_eq(gbees_step_vanishes(&run.clock, &run.step), 0);
        gbees_run_state_step(&run, 10, 64, 3);
        ck_assert_uint_eq(run.clock.phase, run.clock.leg_step % 3);
    }
    ck_assert_double_eq(run.clock.elapsed, 1);
    ck_assert_double_eq_tol(run.clock.time, 3, 1e-15);
    ck_assert_double_eq_tol(run.last_step, 0.1, 1e-15);
    ck_assert_uint_eq(run.steps, 4);
    ck_assert_double_eq(run.work.raw_cell_updates, 4 * 640.0);
}
END_TEST

START_TEST(a_step_without_effect_is_seen)
{
    const gbees_step_clock clock = {.elapsed = 1, .length = 2};
    const gbees_time_step none = gbees_step_choose(&clock, 1e-17, NULL),
                          last = gbees_step_choose(&clock, HUGE_VAL, NULL);

    ck_assert_int_eq(gbees_step_vanishes(&clock, &none), 1);
    ck_assert_int_eq(gbees_step_vanishes(&clock, &last), 0);
    ck_assert_double_eq(last.size, 1);
}
END_TEST

/* At most twice the step before, which the end of its interval has shortened; the first a thousandth of its interval.
 * Velocities are looked at in the middle of a step as long as the one before. */
START_TEST(steps_grow_slowly)
{
    const gbees_step_clock clock = {.elapsed = 1.9, .length = 2};
    gbees_time_step step = {0};

    ck_assert_double_eq(gbees_step_look(&clock, &step), 0);
    ck_assert_double_eq(gbees_step_choose(&clock, HUGE_VAL, &step).longest, 0.002);
    ck_assert_double_eq(gbees_step_choose(&clock, 1e-4, &step).longest, 1e-4);
    step = gbees_step_choose(&clock, 0.5, NULL);
    ck_assert_double_eq_tol(step.size, 0.1, 1e-15);
    ck_assert_double_eq(gbees_step_choose(&clock, HUGE_VAL, &step).longest, 1);
    ck_assert_double_eq(gbees_step_choose(&clock, 0.7, &step).longest, 0.7);
    ck_assert_double_eq_tol(gbees_step_look(&clock, &step), 0.05, 1e-15);
    ck_assert_double_eq(gbees_step_choose(&clock, HUGE_VAL, NULL).longest, HUGE_VAL);
}
END_TEST

/* A step as long as the limit allows, with the rounding of its rate, is not too long. */
START_TEST(a_step_beyond_the_limit_is_seen)
{
    ck_assert_int_eq(gbees_step_exceeds(0.25, 4, 1), 0);
    ck_assert_int_eq(gbees_step_exceeds(0.25 * (1 + 9e-7), 4, 1), 0);
    ck_assert_int_eq(gbees_step_exceeds(0.25 * (1 + 2e-6), 4, 1), 1);
    ck_assert_int_eq(gbees_step_exceeds(0.75, 4, 3), 0);
    ck_assert_int_eq(gbees_step_exceeds(0.76, 4, 3), 1);
    ck_assert_int_eq(gbees_step_exceeds(1e9, 0, 1), 0);
    ck_assert_int_eq(gbees_step_exceeds(1e9, 4, 0), 0);
}
END_TEST

START_TEST(bricks_without_active_cells_may_be_a_quarter_faster)
{
    ck_assert_double_eq(gbees_cfl_step(0.5, 4), 0.125);
    ck_assert_double_eq(gbees_cfl_rate(10, 9), 9);
    ck_assert_double_eq(gbees_cfl_rate(10, 2), 8);
}
END_TEST

/* Any two consecutive steps from an even one on are each other's reverse; each axis is swept once a step. */
START_TEST(sweeps_take_turns)
{
    const int n = _i;
    int turn = gbees_sweep_turn(n, 0);

    for (uint64_t steps = 0; steps < 4 * (uint64_t)n; steps++) {
        unsigned axes = 0;

        turn = steps ? gbees_sweep_turn_after(n, turn, steps) : turn;
        ck_assert_int_eq(turn, gbees_sweep_turn(n, steps));
        for (int k = 0; k < n; k++) {
            const int axis = gbees_sweep_axis(n, turn, gbees_step_is_reversed(steps), k);
            const int mirrored = gbees_sweep_axis(n, turn, !gbees_step_is_reversed(steps), n - 1 - k);

            ck_assert_int_eq(axis, mirrored);
            axes |= 1u << axis;
        }
        ck_assert_uint_eq(axes, (1u << n) - 1);
    }
}
END_TEST

START_TEST(the_ledger_adds_up)
{
    gbees_mass_ledger ledger = {.mass = 1};

    gbees_ledger_step(&ledger, 0.875, 0.125, gbees_ledger_missing(&ledger, 0.875, 0.125), 0);
    ck_assert_double_eq(ledger.outflow, 0.25);
    gbees_ledger_prune(&ledger, 0.75);
    ck_assert_double_eq(gbees_ledger_lost(&ledger), 0.375);
    gbees_ledger_normalise(&ledger);
    const double before = gbees_ledger_before_update(&ledger);
    ledger.mass = 2; /* an update's normalisation, and its prune */
    gbees_ledger_prune(&ledger, 1.5);
    gbees_ledger_update(&ledger, before);
    ck_assert_double_eq(ledger.mass, 1 + ledger.clipped + ledger.normalised - ledger.outflow - ledger.pruned);
}
END_TEST

START_TEST(work_is_the_mean_of_two_counts)
{
    gbees_work work = {0};

    gbees_work_count(&work, 100);
    gbees_work_step(&work, 2, 64);
    gbees_work_step(&work, 2, 64);
    ck_assert_double_eq(gbees_work_cell_updates(&work), 200);
    gbees_work_count(&work, 50);
    ck_assert_double_eq(gbees_work_cell_updates(&work), 150);
    ck_assert_uint_eq(work.max_needed, 100);
}
END_TEST

/* Polynomials up to degree 2 points - 1. */
START_TEST(quadrature_is_exact_for_polynomials)
{
    const int points = _i;

    ck_assert_int_eq(gbees_gauss_points(points == 5 ? 3 : 4), points);
    for (int degree = 0; degree < 2 * points; degree++) {
        double sum = 0, exact = degree % 2 ? 0 : pow(0.5, degree) / (degree + 1);

        for (int k = 0; k < points; k++)
            sum += gbees_gauss_weight(points, k) * pow(gbees_gauss_node(points, k), degree);
        ck_assert_double_eq_tol(sum, exact, 1e-15);
    }
}
END_TEST

START_TEST(a_likelihood_varies_where_it_is_not_0)
{
    const double lowest = gbees_lowest_log_likelihood();

    ck_assert_double_eq(gbees_likelihood_change(-3, -1, -2, -1, lowest), 2);
    ck_assert_double_eq(gbees_likelihood_change(-800, -1000, -900, -800, lowest), 0);
    ck_assert_double_eq(gbees_likelihood_change(-800, -1000, -900, -2, lowest), 200);
    ck_assert_int_eq(gbees_likelihood_varies(0.0101), 1);
    ck_assert_int_eq(gbees_likelihood_varies(0.0099), 0);
}
END_TEST

static double parabola(double deviations, double peak, double place)
{
    return -0.5 * pow(deviations * (place - peak), 2);
}

/* Of a Gaussian, so many of whose deviations make up a cell, the three values say where it has its peak, and into how
 * many parts a cell is to be cut, wherever it lies; of Student's t they say it of the Gaussian it is made of. */
START_TEST(three_values_find_a_narrow_peak)
{
    static const struct {
        double deviations;
        int parts;
    } cases[] = {{0.1, 1}, {3.99, 1}, {4.01, 2}, {10, 3}, {99, 25}, {999, 250}, {1e6, 255}};
    const double deviations = cases[_i].deviations;

    for (double peak = -0.45; peak < 0.5; peak += 0.1) {
        const double low = parabola(deviations, peak, -0.5), centre = parabola(deviations, peak, 0),
                     high = parabola(deviations, peak, 0.5);
        const double student = gbees_student_exponent(low, 2, 3);

        ck_assert_double_eq_tol(centre + gbees_likelihood_rise(low, centre, high), 0, 1e-9 * deviations * deviations);
        ck_assert_int_eq(gbees_likelihood_parts(gbees_likelihood_bend(low, centre, high)), cases[_i].parts);
        ck_assert_double_eq_tol(gbees_student_gaussian(student, 2, 3), low, 1e-9 * deviations * deviations);
    }
    /* A peak beyond a face is highest at this face. */
    ck_assert_double_eq_tol(gbees_likelihood_rise(-9, -4, -1), 3, 1e-15);
    ck_assert_int_eq(gbees_likelihood_parts(gbees_likelihood_bend(-INFINITY, 0, 0)), 1);
    ck_assert_int_eq(gbees_likelihood_parts(gbees_likelihood_bend(-INFINITY, -INFINITY, -INFINITY)), 1);
}
END_TEST

/* The parts together are Gauss's rule on each, and their number is limited along the axes of the most. */
START_TEST(parts_of_a_cell)
{
    const uint64_t parts = UINT64_C(255) | (uint64_t)3 << 16 | (uint64_t)40 << 56;

    for (int along = 1; along < 9; along += 7) {
        double sum = 0;

        for (int k = 0; k < 5 * along; k++) {
            sum += gbees_cell_weight(5, along, k) * pow(gbees_cell_node(5, along, k), 10);
            ck_assert(k == 0 || gbees_cell_node(5, along, k) > gbees_cell_node(5, along, k - 1));
        }
        ck_assert_double_eq_tol(sum, pow(0.5, 10) / 11, along == 1 ? 1e-4 : 1e-12);
    }
    ck_assert_int_eq(gbees_parts_axes(parts), 3);
    ck_assert_double_eq(gbees_parts_points(parts), 125.0 * 255 * 3 * 40);
    const uint64_t fewer = gbees_parts_limited(parts);
    ck_assert_double_le(gbees_parts_points(fewer), 32768);
    ck_assert_double_gt(gbees_parts_points(fewer), 32768 / 8);
    ck_assert_int_eq(gbees_parts_along(fewer, 2), 3);
    ck_assert_int_eq(gbees_parts_along(fewer, 1), 0);
    ck_assert_uint_eq(gbees_parts_limited(fewer), fewer);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("step");
    TCase *all = tcase_create("all");
    tcase_add_test(all, an_interval_ends_exactly);
    tcase_add_test(all, a_step_without_effect_is_seen);
    tcase_add_test(all, steps_grow_slowly);
    tcase_add_test(all, a_step_beyond_the_limit_is_seen);
    tcase_add_test(all, bricks_without_active_cells_may_be_a_quarter_faster);
    tcase_add_loop_test(all, sweeps_take_turns, 1, 9);
    tcase_add_test(all, the_ledger_adds_up);
    tcase_add_test(all, work_is_the_mean_of_two_counts);
    for (int points = 3; points <= 5; points += 2)
        tcase_add_loop_test(all, quadrature_is_exact_for_polynomials, points, points + 1);
    tcase_add_test(all, a_likelihood_varies_where_it_is_not_0);
    tcase_add_loop_test(all, three_values_find_a_narrow_peak, 0, 7);
    tcase_add_test(all, parts_of_a_cell);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}
