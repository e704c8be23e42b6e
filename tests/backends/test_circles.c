/* test_circles.c - states on a circle: a density that goes around once is that of a line; a phase that turns beside
 * its exact stationary density; statistics, threads. */
#include "fixtures/engine_fixture.h"
#include "fixtures/kept_run.h"
#include "fixtures/suite.h"

static const double pi = 3.14159265358979323846;

/* ---- around once ----------------------------------------------------------------------------------------------- */

/* The lowest of so many cells around a circle: that of a brick. */
static int first_of(int n, int axis, int cells)
{
    gbees_shape shape = {0};

    gbees_shape_set(&shape, n, 64);
    return -(cells / shape.edge[axis] / 2) * shape.edge[axis];
}

/* A density that moves along an axis, once around if that is a circle of `cells` cells. */
static cell_list go_around(const char *backend, int n, int axis, int cells, gbees_scheme scheme, double velocity,
                           int is_circle)
{
    rig r;

    rig_open_split(&r, backend, n, 5);
    rig_straighten(&r);
    r.problem.numerics.scheme = scheme;
    r.problem.numerics.prune_interval = 3;
    for (int j = 0; j < n; j++)
        r.problem.parameters[VELOCITY + j] = j == axis ? velocity : 0;
    for (int k = 0; k < n * n; k++) /* six standard deviations: what is cut off is less than p* */
        r.problem.covariance[k] = k % (n + 1) ? 0 : pow(r.problem.width[k % n], 2);
    if (is_circle)
        r.problem.range[axis] = (gbees_axis_range){.end = {GBEES_END_CIRCLE, GBEES_END_CIRCLE},
                                                   .first = first_of(n, axis, cells),
                                                   .last = first_of(n, axis, cells) + cells - 1};
    rig_start(&r, 1);
    rig_until(&r, cells * r.problem.width[axis] / fabs(velocity));
    cell_list list = rig_cells(&r);
    rig_close(&r);
    return list;
}

/* P of a cell. */
static double p_at(const cell_list *list, const int32_t *index)
{
    for (size_t i = 0; i < list->count; i++)
        if (memcmp(list->index[i], index, (size_t)list->n * sizeof *index) == 0)
            return list->p[i];
    return 0;
}

static const struct {
    int n, axis, cells;
    gbees_scheme scheme;
    double velocity;
} rounds[] = {{1, 0, 128, GBEES_SCHEME_SPLIT5, 0.43},   {1, 0, 192, GBEES_SCHEME_SPLIT7, -0.43},
              {2, 0, 24, GBEES_SCHEME_SPLIT5, -0.43},   {2, 1, 32, GBEES_SCHEME_SPLIT5_MP, 0.43},
              {3, 2, 24, GBEES_SCHEME_SPLIT7_MP, 0.43}, {3, 0, 24, GBEES_SCHEME_UPWIND, 0.43},
              {4, 3, 20, GBEES_SCHEME_SPLIT5, 0.43}};

START_TEST(around_once_is_as_far_along_a_line)
{
    const int axis = rounds[_i].axis, cells = rounds[_i].cells, up = rounds[_i].velocity > 0;
    cell_list line = go_around("cpu", rounds[_i].n, axis, cells, rounds[_i].scheme, rounds[_i].velocity, 0);
    cell_list ring = go_around("cpu", rounds[_i].n, axis, cells, rounds[_i].scheme, rounds[_i].velocity, 1);
    double most = 0, sum = 0;

    for (size_t i = 0; i < line.count; i++)
        most = fmax(most, line.p[i]);
    for (size_t i = 0; i < line.count; i++) {
        int32_t *index = line.index[i];

        index[axis] -= up ? cells : -cells;
        if (rounds[_i].scheme == GBEES_SCHEME_UPWIND) /* it spreads over more than a turn: what laps adds up */
            continue;
        ck_assert_msg(fabs(p_at(&ring, index) - line.p[i]) < 1e-9 * most, "round %d, cell %d: %.17g, not %.17g", _i,
                      index[axis], p_at(&ring, index), line.p[i]);
    }
    for (size_t i = 0; i < ring.count; i++) {
        ck_assert_int_ge(ring.index[i][axis], first_of(rounds[_i].n, axis, cells));
        ck_assert_int_lt(ring.index[i][axis], first_of(rounds[_i].n, axis, cells) + cells);
        sum += ring.p[i];
    }
    ck_assert_double_eq_tol(sum, 1, 1e-12);
    list_free(&line);
    list_free(&ring);
}
END_TEST

/* ---- a phase that turns ---------------------------------------------------------------------------------------- */

/* E cos and E sin of the stationary density of d phase = (1 - sin phase) dt + (2 D)^(1/2) dW: by two independent
 * methods, a Fourier series of the stationary equation and its closed form (Reimann et al., Phys. Rev. Lett. 87
 * (2001) 010602). */
static const struct {
    const char *noise;
    double cosine, sine, velocity;
} turning[] = {{"parameters.noise=0.1", 0.193273, 0.631047, 0.3689533},
               {"parameters.noise=0.5", 0.265328, 0.373477, 0.6265232}};

START_TEST(a_phase_that_turns_is_stationary)
{
    const char *backend = backend_names[_i % BACKENDS];
    const int k = _i / BACKENDS;
    const a_case c = {"phase", backend, {turning[k].noise, "end=60", is_cpu(backend) ? NULL : "precision=double"}};

    if (!is_built(backend))
        return;
    kept_run *run = run_on(&c, backend);
    const kept_record *last = &run->record[run->count - 1];
    const gbees_statistics *now = &last->record.statistics;
    const double cosine = now->resultant[0] * cos(now->direction[0]),
                 sine = now->resultant[0] * sin(now->direction[0]);

    ck_assert_msg(fabs(cosine - turning[k].cosine) < 1e-4 && fabs(sine - turning[k].sine) < 1e-4, "%.7f %.7f", cosine,
                  sine);
    /* The mean velocity follows from the sine's mean: .3689533 and .6265232. */
    ck_assert_double_eq_tol(1 - sine, turning[k].velocity, 1e-4);
    ck_assert_double_eq_tol(run->width[0] * (double)last->count, 2 * pi, 1e-12); /* one ring, however often around */
    ck_assert_double_eq(last->record.totals.mass_outflow, 0);
    ck_assert_double_eq_tol(now->mass, 1, 1e-4);
    forget(run);
}
END_TEST

/* The same along a line: the mean's velocity, and 2 D_eff, four times what the noise adds to the variance. */
START_TEST(a_phase_that_turns_drifts_and_spreads)
{
    const a_case c = {"phase", "cpu", {"states=lines", "end=60", "records=6", "threshold=1e-9"}};
    kept_run *run = run_on(&c, "cpu");
    const gbees_statistics *before = &run->record[5].record.statistics, *now = &run->record[6].record.statistics;

    ck_assert_int_eq(run->count, 7);
    ck_assert_double_eq_tol((now->mean[0] - before->mean[0]) / 10, 0.3689533, 1e-6);
    ck_assert_double_eq_tol((now->covariance[0] - before->covariance[0]) / 20, 0.411130, 1e-5);
    forget(run);
}
END_TEST

/* A normal distribution on a circle: direction and resultant are those of its characteristic function, wherever the
 * range is cut. */
START_TEST(statistics_go_around)
{
    static const char *const means[] = {"mean=[0.4]", "mean=[3.1]", "mean=[100]"};
    const a_case c = {"phase", "cpu", {means[_i], "covariance=[0.49]", "extent=6", "end=0.001", "factor=8"}};
    kept_run *run = run_on(&c, "cpu");
    const gbees_statistics *now = &run->record[0].record.statistics;
    const double mean = atof(means[_i] + 6);

    ck_assert_double_eq_tol(now->direction[0], mean, 1e-6);
    ck_assert_double_eq_tol(now->resultant[0], exp(-0.49 / 2), 1e-6);
    forget(run);
}
END_TEST

/* Points go on past the period, at a constant velocity: their direction and resultant are those of the normal
 * distribution, at a place of the period about the initial mean. */
START_TEST(points_have_a_direction)
{
    static const char *const velocities[] = {"parameters.constant=0", "parameters.constant=0.7",
                                             "parameters.constant=-1.3"};
    const double velocity = atof(velocities[_i] + 20);
    const a_case c = {"walls",
                      "cpu",
                      {"dimension=2", "states=[{state: x2, period: 1}]", "frame=lagrangian", "mean=[0, 0.45]",
                       "covariance=[0.01, 0.04]", "width=[0.1, 0.1]", velocities[_i], "end=2", "tail=40",
                       "points=2"}};
    kept_run *run = run_on(&c, "cpu");
    const gbees_statistics *now = &run->record[run->count - 1].record.statistics;
    const double at = 0.45 + 2 * velocity;

    ck_assert_double_eq_tol(now->mean[1], at, 1e-8);
    ck_assert_double_eq_tol(remainder(now->direction[1] - at, 1), 0, 1e-8);
    ck_assert(fabs(now->direction[1] - 0.45) <= 0.5 + 1e-8);
    ck_assert_double_eq_tol(now->resultant[1], exp(-0.04 * 4 * pi * pi / 2), 1e-8);
    ck_assert_double_eq(now->resultant[0], 0);
    forget(run);
}
END_TEST

/* ---- a ring ---------------------------------------------------------------------------------------------------- */

/* Turning over and over, at rates that differ: on a circle the cells are one ring, whose number depends on the rates
 * alone; along a line they are more and more. */
START_TEST(a_full_ring_is_one_ring)
{
    const a_case c = {"pendulum",
                      "cpu",
                      {_i ? "states=lines" : "factor=2", "measurements=[]", "parameters.torque=2",
                       "parameters.damping=0.05", "covariance=[0.04, 1]", "threshold=1e-7", "factor=2", "end=24",
                       "records=4", "accuracy=0"}};
    kept_run *run = run_on(&c, "cpu");
    const double early = (double)run->record[2].count, late = (double)run->record[4].count;

    ck_assert_int_eq(run->count, 5);
    if (_i)
        ck_assert_msg(late > 1.3 * early, "%g cells, then %g", early, late);
    else
        ck_assert_msg(late < 1.05 * early, "%g cells, then %g", early, late);
    forget(run);
}
END_TEST

/* ---- backends -----------------------------------------------------------------------------------------------------
 */

/* Around a circle, with noise, until it is full: in one dimension a ring of one brick, in two of several. */
START_TEST(backends_agree)
{
    static const char *const settings[2][4] = {
        {"dimension=1", "states=[{state: x1, period: 1}]", "mean=[0.45]", "width=[0.02]"},
        {"dimension=2", "states=[{state: x2, period: 1}]", "mean=[0, 0.45]", "width=[0.1, 0.04]"}};
    const a_case c = {"walls",
                      "shim",
                      {settings[_i][0], settings[_i][1], settings[_i][2], settings[_i][3], "parameters.constant=0.7",
                       "parameters.own=0.1", "precision=double", "end=1.5", "threshold=1e-10"}};

    if (!is_built("shim"))
        return;
    kept_run *cpu = run_on(&c, "cpu"), *shim = run_on(&c, "shim");

    compare(shim, cpu, &(bounds){.p = 1e-11, .moments = 1e-11, .ledger = 1e-12});
    check_ledger(cpu);
    for (int k = 0; k < cpu->count; k++) {
        const gbees_statistics *a = &cpu->record[k].record.statistics, *b = &shim->record[k].record.statistics;

        ck_assert_double_eq_tol(a->direction[_i], b->direction[_i], 1e-8); /* of a GPU: of cells from p* on */
        ck_assert_double_eq_tol(a->resultant[_i], b->resultant[_i], 1e-7);
    }
    forget(cpu);
    forget(shim);
}
END_TEST

/* ---- bits ------------------------------------------------------------------------------------------------------ */

START_TEST(threads_and_runs_have_the_same_bits)
{
    const a_case c = {
        "pendulum", "cpu", {"parameters.torque=2", "end=4", "threshold=1e-9", "factor=6", "accuracy=0"}};
    kept_run *one = run_with(&c, "cpu", 1, 0), *again = run_with(&c, "cpu", 1, 0), *two = run_with(&c, "cpu", 2, 0);

    compare_bits(again, one);
    compare_bits(two, one);
    forget(one);
    forget(again);
    forget(two);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("circles");
    TCase *circles = tcase_create("circles");

    tcase_set_timeout(circles, 120);
    tcase_add_loop_test(circles, around_once_is_as_far_along_a_line, 0, sizeof rounds / sizeof rounds[0]);
    tcase_add_loop_test(circles, a_phase_that_turns_is_stationary, 0, 2 * BACKENDS);
    tcase_add_test(circles, a_phase_that_turns_drifts_and_spreads);
    tcase_add_loop_test(circles, statistics_go_around, 0, 3);
    tcase_add_loop_test(circles, points_have_a_direction, 0, 3);
    tcase_add_loop_test(circles, a_full_ring_is_one_ring, 0, 2);
    tcase_add_loop_test(circles, backends_agree, 0, 2);
    tcase_add_test(circles, threads_and_runs_have_the_same_bits);
    suite_add_tcase(suite, circles);
    return run_suite(suite);
}
