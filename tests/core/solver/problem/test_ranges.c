/* test_ranges.c - core/solver/problem/ranges.c: the grids of circles and walls, and what they do not go with. */
#include "fixtures/suite.h"
#include "fixtures/world_fixture.h"
#include <math.h>

static const double pi = 3.14159265358979323846;

/* ---- grids ---- */

START_TEST(a_circle_is_a_whole_number_of_bricks)
{
    world w;

    world_create(&w, "phase", (setting_list){"width=[0.1]"});
    const gbees_problem *p = w.problem;
    ck_assert_int_eq(p->range[0].last - p->range[0].first + 1, 64);
    ck_assert_double_eq_tol(p->width[0], 2 * pi / 64, 1e-15);
    ck_assert_double_eq_tol(gbees_problem_period(p, 0), 2 * pi, 1e-14);
    ck_assert_int_eq(p->range[0].first % 64, 0);
    ck_assert_double_eq_tol(gbees_problem_around(p, 0, 0.25 + 8 * pi), 0.25, 1e-12);
    ck_assert_double_eq(gbees_problem_around(p, 0, 0.25), 0.25);
    world_close(&w);
}
END_TEST

START_TEST(a_gaussian_on_a_circle_has_its_images)
{
    world w;
    double weight = 0;

    world_create(&w, "phase", (setting_list){"covariance=[4]", "extent=5", "mean=[2]"});
    const gbees_problem *p = w.problem;
    ck_assert_int_gt(p->gaussian_count, 2);
    for (int g = 0; g < p->gaussian_count; g++) {
        ck_assert_int_ge(p->gaussians[g].lo[0], p->range[0].first);
        ck_assert_int_le(p->gaussians[g].hi[0], p->range[0].last);
        ck_assert_double_eq_tol(remainder(p->gaussians[g].mean[0] - 2, 2 * pi), 0, 1e-12);
        weight += p->gaussians[g].weight;
    }
    ck_assert_double_eq_tol(weight, p->gaussian_count, 1e-12);
    world_close(&w);
}
END_TEST

/* Walls are at faces of bricks, wherever the mean is. */
START_TEST(walls_are_at_faces)
{
    static const char *const states[] = {"states=[{state: x2, lower: -1}]", "states=[{state: x2, upper: 3}]",
                                         "states=[{state: x2, lower: -1, upper: 3}]"};
    world w;

    world_create_on(&w, "cpu", "walls",
                    (setting_list){states[_i], "dimension=2", "mean=[0, 0.12]", "width=[0.03, 0.031]"});
    const gbees_problem *p = w.problem;
    const gbees_axis_range *range = &p->range[1];
    if (_i != 1) {
        ck_assert_double_eq_tol(p->mean[1] + (range->first - 0.5) * p->width[1], -1, 1e-12);
        ck_assert_int_eq(range->first % 8, 0);
    }
    if (_i != 0) {
        ck_assert_double_eq_tol(p->mean[1] + (range->last + 0.5) * p->width[1], 3, 1e-12);
        ck_assert_int_eq((range->last + 1) % 8, 0);
    }
    ck_assert_double_lt(fabs(p->mean[1] - 0.12), 9 * 0.031); /* cell 0 is within a brick of the mean */
    ck_assert_int_eq(p->gaussian_count, 1);
    ck_assert_double_eq(p->gaussians[0].mean[1], 0.12);
    ck_assert_int_eq(p->range[0].end[0], GBEES_END_OPEN);
    world_close(&w);
}
END_TEST

START_TEST(a_scenario_says_more_than_the_card)
{
    world w;

    world_create(&w, "phase", (setting_list){"states=lines"});
    ck_assert_int_eq(gbees_problem_circles(w.problem), 0);
    ck_assert_int_eq(w.problem->gaussian_count, 0);
    world_close(&w);
    world_create(&w, "phase", (setting_list){"states=[{state: phase, lower: -2}]"});
    ck_assert_int_eq(gbees_problem_circles(w.problem), 0);
    ck_assert_int_eq(gbees_problem_walls(w.problem), 1);
    world_close(&w);
}
END_TEST

/* What has lines only: a circle that the model alone has is a line there. */
static const setting_list of_lines[] = {
    {"frame=moving"}, {"rotate=yes"},  {"mode=paper", "threshold=1e-6"},
    {"scheme=ctu"},   {"regrid=auto"}, {"instants=[{time: 1, value: [0, 1]}]"},
};

START_TEST(a_models_circle_is_a_line_where_it_must)
{
    world w;

    world_create(&w, "pendulum", of_lines[_i]);
    ck_assert_int_eq(gbees_problem_circles(w.problem), 0);
    ck_assert_int_eq(gbees_problem_directions(w.problem), 0);
    ck_assert_int_eq(w.problem->gaussian_count, 0);
    world_close(&w);
}
END_TEST

/* Points go on past the period: their axis is a line, and the state has a direction. */
START_TEST(points_go_on_past_the_period)
{
    static const setting_list settings[] = {
        {"frame=lagrangian"},
        {"frame=auto"},
        {"frame=lagrangian", "states=[{state: angle, period: 12.566370614359172}]"}};
    world w;

    world_create(&w, "pendulum", settings[_i]);
    ck_assert(gbees_problem_is_exact(w.problem));
    ck_assert_int_eq(gbees_problem_circles(w.problem), 0);
    ck_assert_double_eq_tol(w.problem->period[0], _i == 2 ? 4 * pi : 2 * pi, 1e-14);
    ck_assert_double_eq(w.problem->period[1], 0);
    ck_assert_double_eq(w.problem->mean[0], 3);
    world_close(&w);
}
END_TEST

/* ---- refusals ---- */

#define PHASE "states=[{state: phase, period: 6.283185307179586}]"
#define CIRCLE "states=[{state: angle, period: 6.283185307179586}]"
#define WALL "states=[{state: x1, lower: 0}]"
static const struct {
    const char *model;
    setting_list settings;
    const char *error; /* at the end */
} refused[] = {
    {"phase", {"states=[{state: phase, period: 0}]"}, "period: expected a number > 0, found '0'"},
    {"phase", {"states=[{state: phase, period: -1}]"}, "period: expected a number > 0, found '-1'"},
    {"phase", {"states=[{state: phse, period: 1}]"}, "phase has no state 'phse': did you mean 'phase'?"},
    {"phase", {"states=[{period: 1}]"}, "states 1: 'state' is missing"},
    {"phase", {"states=circles"}, "states: expected 'lines' or a list of maps, found 'circles'"},
    {"phase", {"states=[{state: phase, period: 1, lower: 0}]"}, "phase: it has a period or walls, not both"},
    {"phase", {"states=[{state: phase, at_lower: absorb}]"}, "give 'lower', the place of the wall, too"},
    {"phase",
     {"states=[{state: phase, period: 5}]"},
     "the drift is another one a period further: phase is on a circle: give the drift's period, or 'states: lines'"},
    {"phase",
     {PHASE, "frame=moving"},
     "only a grid at rest along the states has circles and walls: phase is on a circle: "
     "remove it, or 'states: lines'"},
    {"phase",
     {PHASE, "regrid=auto"},
     "cells keep their width there: phase is on a circle: remove it, or 'states: lines'"},
    {"phase",
     {PHASE, "scheme=upwind"},
     "process noise goes around circles and ends at walls by sweeps only: phase is on a circle: give a diagonal Q "
     "and "
     "'scheme: split5', or 'states: lines'"},
    {"pendulum",
     {CIRCLE, "scheme=ctu"},
     "ctu has lines only: angle is on a circle: give 'scheme: split5', or 'states: lines'"},
    {"pendulum",
     {CIRCLE, "mode=paper", "threshold=1e-6"},
     "paper and legacy mode have lines only: angle is on a "
     "circle: remove it, or 'states: lines'"},
    {"pendulum", {CIRCLE, "rotate=yes"}, "remove it, or 'states: lines'"},
    {"pendulum",
     {"frame=lagrangian", "states=[{state: angle, period: 6}]"},
     "the drift is another one a period further: angle is on a circle: give the drift's period, or 'states: lines'"},
    {"conjunction",
     {"frame=fixed", "states=[{state: transverse, period: 1e4}]"},
     "a target is another one a period further: transverse is on a circle: give it the period, or 'states: lines'"},
    {"walls", {WALL, "frame=lagrangian"}, "x1 is between walls: remove it, or 'states: lines'"},
    {"phase",
     {"covariance=[1e12]", "width=[0.1]", "extent=3"},
     "the initial density goes around phase too often: give a smaller 'extent'"},
    {"walls", {"states=[{state: x1, lower: 2, upper: 1}]"}, "the lower wall, 2, is not below the upper one, 1"},
    {"walls", {WALL, "mean=[-1]"}, "x1 = -1 is outside of the state's lower wall, 0: give one inside"},
    {"walls",
     {"states=[{state: x1, lower: 0, upper: 0.5}]"},
     "x1 = 1 is outside of the state's upper wall, 0.5: give one inside"},
    {"walls", {WALL, "regrid=[{time: 0.5, factor: 2}]"}, "x1 is between walls: remove it, or 'states: lines'"},
};

START_TEST(what_does_not_fit_is_refused)
{
    world w;
    ck_assert_int_eq(world_open(&w, open_registry(), refused[_i].model, "cpu"), 0);
    const scenario_source source = {.text = "records: 2\n", .settings = refused[_i].settings, .over_default = 1};
    const int status = world_make(&w, &source);
    const size_t length = strlen(w.error.text), tail = strlen(refused[_i].error);

    ck_assert_int_ne(status, 0);
    ck_assert_msg(length >= tail && strcmp(w.error.text + length - tail, refused[_i].error) == 0, "'%s', not '%s'",
                  w.error.text, refused[_i].error);
    world_close(&w);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ranges");
    TCase *ranges = tcase_create("ranges");

    tcase_add_test(ranges, a_circle_is_a_whole_number_of_bricks);
    tcase_add_test(ranges, a_gaussian_on_a_circle_has_its_images);
    tcase_add_loop_test(ranges, walls_are_at_faces, 0, 3);
    tcase_add_test(ranges, a_scenario_says_more_than_the_card);
    tcase_add_loop_test(ranges, a_models_circle_is_a_line_where_it_must, 0, sizeof of_lines / sizeof of_lines[0]);
    tcase_add_loop_test(ranges, points_go_on_past_the_period, 0, 3);
    tcase_add_loop_test(ranges, what_does_not_fit_is_refused, 0, sizeof refused / sizeof refused[0]);
    suite_add_tcase(suite, ranges);
    return run_suite(suite);
}
