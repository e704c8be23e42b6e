/* test_bound.c - cells that the model's bound leaves out: no scheme and no mode makes them, what flowed there is in
 * the ledger, and a range that holds everything changes nothing. The kernels on threads have a bounded split5-mp. */
#include "fixtures/suite.h"
#include "fixtures/world_fixture.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double bound_at(const gbees_problem *problem, const double *x)
{
    double zero = 0, value;
    const double *column[GBEES_MAX_DIM];

    for (int j = 0; j < GBEES_MAX_DIM; j++)
        column[j] = &zero;
    problem->functions->bound_d(1, 0, x, column, problem->parameters, &value);
    return value;
}

/* ---- the range ------------------------------------------------------------------------------------------------ */

START_TEST(the_range_is_that_of_the_initial_box)
{
    world w;

    world_create(&w, "pcr3bp", (setting_list){"frame=fixed", "extent=1", "factor=1"});
    const gbees_problem *problem = w.problem;
    double low = INFINITY, high = -INFINITY, x[4];
    for (int cell = 0; cell < 5 * 5 * 5 * 5; cell++) {
        for (int j = 0, digits = cell; j < 4; j++, digits /= 5)
            x[j] = problem->mean[j] + problem->width[j] * (digits % 5 - 2);
        low = fmin(low, bound_at(problem, x));
        high = fmax(high, bound_at(problem, x));
    }
    ck_assert_int_eq(problem->bounded, 1);
    ck_assert_double_le(problem->bound_low, low);
    ck_assert_double_ge(problem->bound_high, high);
    ck_assert_double_le(high - low, problem->bound_high - problem->bound_low);
    ck_assert_double_le(problem->bound_high - problem->bound_low, (high - low) * (1 + 1e-6));
    world_close(&w);
}
END_TEST

static const struct {
    const char *model;
    setting_list set;
    int bounded;
} uses[] = {
    {"pcr3bp", {"frame=fixed"}, 1},
    {"pcr3bp", {"frame=fixed", "bound=on"}, 1},
    {"pcr3bp", {"frame=fixed", "bound=off"}, 0},
    {"pcr3bp", {"frame=fixed", "bound=[2, 4]"}, 1},
    {"pcr3bp", {"frame=moving"}, 0},
    {"cr3bp", {"frame=fixed", "extent=1"}, 1},
    {"lorenz63", {NULL}, 0},
    {"lorenz63", {"bound=off"}, 0},
    {"pcr3bp", {"frame=fixed", "mode=paper"}, 1},
};

START_TEST(it_is_on_where_a_model_has_one)
{
    world w;

    world_create(&w, uses[_i].model, uses[_i].set);
    ck_assert_int_eq(w.problem->bounded, uses[_i].bounded);
    world_close(&w);
}
END_TEST

static const struct {
    const char *model;
    setting_list set;
    const char *text;
} refused[] = {
    {"lorenz63", {"bound=on"}, "bound: lorenz63 has none: remove it"},
    {"pcr3bp", {"bound=maybe"}, "bound: expected 'on', 'off' or [low, high], found 'maybe'"},
    {"pcr3bp", {"bound=[1]"}, "bound: expected 'on', 'off' or [low, high], found a list"},
    {"pcr3bp", {"bound=[3, 2]"}, "bound: expected [low, high], found [3, 2]"},
    {"pcr3bp",
     {"frame=fixed", "bound=[5, 6]"},
     "no cell of the initial box has J from 5 to 6: there it runs from 3.0000"},
    {"pcr3bp",
     {"frame=fixed", "parameters.mu=0.25", "mean=[0.75, 0, 0, 0]"},
     "bound: J of pcr3bp is not finite in the initial box, at (0.75, "},
};

START_TEST(what_can_not_be_is_an_error)
{
    world w;

    ck_assert_int_ne(world_try(&w, refused[_i].model, refused[_i].set), 0);
    ck_assert_msg(strstr(w.error.text, refused[_i].text) != NULL, "%s", w.error.text);
    world_close(&w);
}
END_TEST

/* ---- the cells ------------------------------------------------------------------------------------------------ */

typedef struct outcome {
    double low, high; /* J of all cells of all records */
    size_t cells;
    double sum;
    gbees_statistics statistics;
    gbees_totals totals;
} outcome;

static int look(void *context, const gbees_record *record, gbees_error *error)
{
    outcome *out = context;
    const gbees_problem *problem = record->problem;
    const size_t count = gbees_cells_count(record->cells);
    int32_t *index[GBEES_MAX_DIM] = {NULL};
    double *p = malloc((count + 1) * sizeof *p), x[GBEES_MAX_DIM];

    (void)error;
    for (int j = 0; j < problem->dimension; j++)
        index[j] = malloc((count + 1) * sizeof *index[j]);
    gbees_cells_copy(record->cells, 0, count, index, p);
    for (size_t i = 0; i < count; i++) {
        for (int j = 0; j < problem->dimension; j++)
            x[j] = problem->mean[j] + problem->width[j] * index[j][i];
        out->low = fmin(out->low, bound_at(problem, x));
        out->high = fmax(out->high, bound_at(problem, x));
        out->sum += p[i] * (double)(i % 7 + 1);
    }
    out->cells = count;
    out->statistics = record->statistics;
    out->totals = record->totals;
    for (int j = 0; j < problem->dimension; j++)
        free(index[j]);
    free(p);
    return 0;
}

static outcome run(world *w, int threads)
{
    outcome out = {.low = INFINITY, .high = -INFINITY};

    ck_assert_msg(!world_run(w, threads, &(gbees_observer){.context = &out, .record = look}, NULL), "%s",
                  w->error.text);
    return out;
}

#define COARSE "frame=fixed", "measurements=[]", "factor=0.5", "records=2", "threshold=1e-7"

enum { ON_THREADS = 2 }; /* the run that shim has kernels for */

static const struct {
    setting_list set, unbounded; /* whose J is to leave the range: such cells are made without */
} runs[] = {
    {{COARSE, "end=0.06"}, {COARSE, "end=0.06", "bound=off"}},
    {{COARSE, "end=0.06", "precision=double"}, {COARSE, "end=0.06", "precision=double", "bound=off"}},
    {{COARSE, "end=0.06", "scheme=split5-mp"}, {COARSE, "end=0.06", "scheme=split5-mp", "bound=off"}},
    {{COARSE, "end=0.06", "scheme=ctu"}, {COARSE, "end=0.06", "scheme=ctu", "bound=off"}},
    {{COARSE, "end=0.06", "mode=paper"}, {COARSE, "end=0.06", "mode=paper", "bound=off"}},
    {{COARSE, "end=0.02", "mode=legacy", "time_step=0.0005"},
     {COARSE, "end=0.02", "mode=legacy", "time_step=0.0005", "bound=off"}},
    {{COARSE, "end=0.06", "bound=[3.00007, 3.00009]"}, {COARSE, "end=0.06", "bound=off"}},
};

START_TEST(no_cell_out_of_bound_is_made)
{
    const int number = _i / BACKENDS;
    const char *backend = backend_names[_i % BACKENDS];
    world w, without;

    if (!is_built(backend) || (!is_cpu(backend) && number != ON_THREADS))
        return;
    world_create_on(&w, backend, "pcr3bp", runs[number].set);
    world_create(&without, "pcr3bp", runs[number].unbounded);
    const outcome bounded = run(&w, 1), open = run(&without, 1);
    const gbees_totals *t = &bounded.totals;
    double low = w.problem->bound_low, high = w.problem->bound_high;

    ck_assert_double_ge(bounded.low, low);
    ck_assert_double_le(bounded.high, high);
    ck_assert_msg(open.low < low || open.high > high, "%g ... %g", open.low - low, open.high - high);
    ck_assert_uint_lt(bounded.statistics.cells, open.statistics.cells);
    double closed = 1 + t->mass_clipped + t->mass_normalised - t->mass_outflow - t->mass_pruned;
    ck_assert_double_eq_tol(bounded.statistics.mass, closed, 1e-5);
    world_close(&w);
    world_close(&without);
}
END_TEST

START_TEST(a_range_with_everything_in_it_changes_nothing)
{
    static const char *const schemes[] = {"scheme=split5", "scheme=ctu", "mode=paper"};
    world wide, off;

    world_create(&wide, "pcr3bp", (setting_list){COARSE, "end=0.03", schemes[_i], "bound=[-1e9, 1e9]"});
    world_create(&off, "pcr3bp", (setting_list){COARSE, "end=0.03", schemes[_i], "bound=off"});
    const outcome a = run(&wide, 1), b = run(&off, 1);
    ck_assert_uint_eq(a.cells, b.cells);
    ck_assert(a.sum == b.sum && a.low == b.low && a.high == b.high);
    ck_assert(a.totals.mass_outflow == b.totals.mass_outflow && a.totals.steps == b.totals.steps);
    world_close(&wide);
    world_close(&off);
}
END_TEST

START_TEST(the_same_for_any_number_of_threads)
{
    world w;

    world_create(&w, "pcr3bp", (setting_list){"frame=fixed", "measurements=[]", "records=1", "end=0.01"});
    const outcome one = run(&w, 1), three = run(&w, 3);
    ck_assert_uint_eq(one.cells, three.cells);
    ck_assert(one.sum == three.sum && one.totals.mass_outflow == three.totals.mass_outflow);
    world_close(&w);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("bound");
    TCase *c = tcase_create("bound");

    tcase_set_timeout(c, 120);
    suite_add_tcase(s, c);
    tcase_add_test(c, the_range_is_that_of_the_initial_box);
    tcase_add_loop_test(c, it_is_on_where_a_model_has_one, 0, sizeof uses / sizeof *uses);
    tcase_add_loop_test(c, what_can_not_be_is_an_error, 0, sizeof refused / sizeof *refused);
    tcase_add_loop_test(c, no_cell_out_of_bound_is_made, 0, (int)(BACKENDS * (sizeof runs / sizeof *runs)));
    tcase_add_loop_test(c, a_range_with_everything_in_it_changes_nothing, 0, 3);
    tcase_add_test(c, the_same_for_any_number_of_threads);
    return run_suite(s);
}
