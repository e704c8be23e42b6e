/* test_cpu_ranks.c - grids of the CPU backend that ranks share: any number of ranks has the bits of one. The ranks
 * are threads. */
#include "fixtures/engine_fixture.h"
#include "fixtures/suite.h"
#include "fixtures/thread_ranks.h"

/* What a run leaves. */
typedef struct outcome {
    gbees_statistics statistics;
    gbees_evidence evidence;
    gbees_totals totals;
    cell_list cells;
} outcome;

/* A rank but 0. */
typedef struct server {
    const rig *r;
    thread_rank *rank;
    gbees_error error;
    int status;
} server;

static void *serve(void *context)
{
    server *s = context;
    const gbees_engine_options options = {.threads = 1, .parallel = &s->rank->parallel};

    s->status = s->r->backend->serve(&s->r->problem, &options, &s->error);
    return NULL;
}

static int compare_cells(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(int32_t[GBEES_MAX_DIM]));
}

/* The cells in one order for all numbers of ranks: those with P, by the bytes of their indices. */
static void sort_cells(cell_list *list)
{
    struct entry {
        int32_t index[GBEES_MAX_DIM];
        double p;
    } *entry = malloc(list->count * sizeof *entry);

    ck_assert_ptr_nonnull(entry);
    for (size_t i = 0; i < list->count; i++) {
        memcpy(entry[i].index, list->index[i], sizeof entry[i].index);
        entry[i].p = list->p[i];
    }
    qsort(entry, list->count, sizeof *entry, compare_cells);
    for (size_t i = 0; i < list->count; i++) {
        memcpy(list->index[i], entry[i].index, sizeof entry[i].index);
        list->p[i] = entry[i].p;
    }
    free(entry);
}

/* Steps, a measurement if the model has functions for it, steps, on rank 0; the others serve. */
static void propagate(rig *r, uint64_t steps, outcome *to)
{
    const gbees_measurement measurement = {
        .function = 0, .size = 1, .value = {0.3}, .covariance = {0.05}, .likelihood = GBEES_LIKELIHOOD_GAUSSIAN};

    r->clock = (gbees_clock){.time = r->problem.start, .length = 1e9};
    rig_steps(r, steps);
    if (r->problem.functions->measure_d)
        ck_assert_msg(r->backend->update(r->engine, &r->clock, &measurement, &to->evidence, &r->error) == 0, "%s",
                      r->error.text);
    rig_steps(r, steps);
    to->statistics = rig_statistics(r);
    to->totals = rig_totals(r);
    to->cells = rig_cells(r);
    sort_cells(&to->cells);
}

static void run_on(rig *r, int ranks, uint64_t steps, outcome *to)
{
    thread_rank rank[THREAD_RANKS];
    server servers[THREAD_RANKS] = {{0}};
    pthread_t thread[THREAD_RANKS];
    rank_board board;

    ranks_open(&board, rank, ranks);
    for (int k = 1; k < ranks; k++) {
        servers[k] = (server){.r = r, .rank = &rank[k]};
        ck_assert_int_eq(pthread_create(&thread[k], NULL, serve, &servers[k]), 0);
    }
    const gbees_engine_options options = {.threads = 1, .parallel = &rank[0].parallel};
    ck_assert_msg(r->backend->create(&r->problem, &options, &r->engine, &r->error) == 0, "%s", r->error.text);
    propagate(r, steps, to);
    rig_stop(r);
    for (int k = 1; k < ranks; k++) {
        (void)pthread_join(thread[k], NULL);
        ck_assert_msg(servers[k].status == 0, "%s", servers[k].error.text);
    }
    ranks_close(&board);
}

static void expect_same(const outcome *a, const outcome *b)
{
    ck_assert_mem_eq(&a->statistics, &b->statistics, sizeof a->statistics);
    ck_assert_mem_eq(&a->evidence, &b->evidence, sizeof a->evidence);
    ck_assert(a->totals.mass_clipped == b->totals.mass_clipped);
    ck_assert(a->totals.mass_outflow == b->totals.mass_outflow);
    ck_assert(a->totals.mass_pruned == b->totals.mass_pruned);
    ck_assert(a->totals.cell_updates == b->totals.cell_updates);
    ck_assert(a->totals.raw_cell_updates == b->totals.raw_cell_updates);
    ck_assert_uint_eq(a->cells.count, b->cells.count);
    ck_assert_mem_eq(a->cells.index, b->cells.index, a->cells.count * sizeof *a->cells.index);
    ck_assert_mem_eq(a->cells.p, b->cells.p, a->cells.count * sizeof *a->cells.p);
}

/* A problem by number: dimensions, orders, precisions, a drift that depends on time, points or averages. The last one
 * begins with fewer bricks than there are ranks. */
static void open_case(rig *r, int number)
{
    static const struct {
        int n, extent, beat;
        gbees_scheme scheme;
        gbees_precision precision;
        gbees_cell_values values;
        double threshold;
    } cases[] = {{2, 9, 0, GBEES_SCHEME_SPLIT5, GBEES_DOUBLE, GBEES_CELL_AVERAGES, 1e-9},
                 {3, 9, 0, GBEES_SCHEME_SPLIT5, GBEES_MIXED, GBEES_CELL_AVERAGES, 1e-7},
                 {3, 7, 1, GBEES_SCHEME_SPLIT7, GBEES_MIXED, GBEES_CELL_POINTS, 1e-7},
                 {4, 5, 0, GBEES_SCHEME_SPLIT5_MP, GBEES_MIXED, GBEES_CELL_AVERAGES, 1e-6},
                 {6, 2, 0, GBEES_SCHEME_SPLIT7, GBEES_MIXED, GBEES_CELL_AVERAGES, 1e-5},
                 {3, 7, 0, GBEES_SCHEME_UPWIND, GBEES_DOUBLE, GBEES_CELL_AVERAGES, 1e-8},
                 {2, 9, 0, GBEES_SCHEME_CTU, GBEES_DOUBLE, GBEES_CELL_POINTS, 1e-8},
                 {3, 7, 1, GBEES_SCHEME_CTU, GBEES_MIXED, GBEES_CELL_POINTS, 1e-7},
                 {4, 4, 0, GBEES_SCHEME_CTU, GBEES_MIXED, GBEES_CELL_POINTS, 1e-6},
                 {6, 2, 0, GBEES_SCHEME_CTU, GBEES_MIXED, GBEES_CELL_POINTS, 1e-4},
                 {1, 9, 0, GBEES_SCHEME_SPLIT5, GBEES_DOUBLE, GBEES_CELL_AVERAGES, 1e-9}};

    rig_open_split(r, "cpu", cases[number].n, cases[number].extent);
    r->problem.numerics.scheme = cases[number].scheme;
    r->problem.numerics.precision = cases[number].precision;
    r->problem.numerics.cell_values = cases[number].values;
    r->problem.numerics.prune_interval = 3;
    r->problem.threshold = cases[number].threshold;
    r->problem.parameters[BEAT] = cases[number].beat ? 0.7 : 0;
    r->model.flags = cases[number].beat ? GBEES_TIME_DEPENDENT : 0;
}

/* A problem with noise by number. Of the model noise: full Q that depends on state and time, with a bound in the odd
 * ones, through which density leaves. Of walls: Q that is diagonal and depends on the state, in the sweeps, which in
 * one dimension are repeated. */
static void open_noise(rig *r, int number)
{
    static const struct {
        int n, extent;
        gbees_scheme scheme;
        gbees_precision precision;
        double threshold;
        const char *model;
    } cases[] = {{2, 9, GBEES_SCHEME_SPLIT5, GBEES_DOUBLE, 1e-8, "noise"},
                 {3, 5, GBEES_SCHEME_SPLIT7, GBEES_MIXED, 1e-6, "noise"},
                 {3, 5, GBEES_SCHEME_CTU, GBEES_DOUBLE, 1e-6, "noise"},
                 {4, 2, GBEES_SCHEME_CTU, GBEES_MIXED, 1e-4, "noise"},
                 {3, 5, GBEES_SCHEME_SPLIT5, GBEES_MIXED, 1e-6, "walls"},
                 {1, 9, GBEES_SCHEME_SPLIT7, GBEES_DOUBLE, 1e-8, "walls"}};
    const int walls = strcmp(cases[number].model, "walls") == 0;
    const int n = cases[number].n;
    const gbees_model *model = NULL;
    char path[4096];

    rig_open_split(r, "cpu", n, cases[number].extent);
    snprintf(path, sizeof path, "%s/tests/.libs/%s.so", getenv("GBEES_TOP_BUILD"), cases[number].model);
    ck_assert_msg(gbees_registry_model(r->registry, path, &model, &r->error) == 0, "%s", r->error.text);
    r->model = *model;
    for (int k = 0; k < model->function_count; k++)
        if (model->functions[k].n == n)
            r->problem.functions = &r->model.functions[k];
    rig_straighten(r);
    const double parameters[2][7] = {{0.4, 0.3, 0.02, 0.002, 0.01, 0.3, 0}, {0.01, 0.02, 0.02, 0.01, 0.01, 0.3, 0}};
    memcpy(r->problem.parameters, parameters[walls], sizeof parameters[walls]);
    r->problem.parameters[BEAT] = !walls; /* not one of the model's: that Q depends on time, for rig_try() */
    r->problem.numerics.scheme = cases[number].scheme;
    r->problem.numerics.precision = cases[number].precision;
    r->problem.numerics.cell_values =
        gbees_scheme_is_split(cases[number].scheme) ? GBEES_CELL_AVERAGES : GBEES_CELL_POINTS;
    r->problem.numerics.prune_interval = 3;
    r->problem.threshold = cases[number].threshold;
    r->problem.bounded = !walls && number % 2;
    r->problem.bound_low = -0.3;
    r->problem.bound_high = 0.8;
}

enum { CASES = 11, NOISES = 6, SPLIT_IN_SIX = 4, CTU_IN_SIX = 9 };

static void open_any(rig *r, int number)
{
    if (number < CASES)
        open_case(r, number);
    else
        open_noise(r, number - CASES);
}

/* Each of these numbers of ranks has the outcome of one. */
static void compare_ranks(int problem, const int ranks[2])
{
    outcome one = {0};
    rig r;

    open_any(&r, problem);
    run_on(&r, 1, 8, &one);
    for (int k = 0; k < 2; k++) {
        outcome many = {0};

        run_on(&r, ranks[k], 8, &many);
        ck_assert_int_eq(many.totals.ranks, ranks[k]);
        ck_assert_double_gt(many.totals.bytes_exchanged, 0);
        ck_assert_double_ge(many.totals.imbalance, 1);
        expect_same(&one, &many);
        list_free(&many.cells);
    }
    list_free(&one.cells);
    rig_close(&r);
}

/* One of three ranks has two neighbours; eight are more than some problems have bricks. */
START_TEST(any_number_of_ranks_has_the_bits_of_one)
{
    compare_ranks(_i, (const int[]){3, 8});
}
END_TEST

/* These differ from those above in where the cuts are alone, so make check-long has them. */
START_TEST(so_has_another_number_of_ranks)
{
    compare_ranks(_i, (const int[]){2, 5});
}
END_TEST

/* Without ranks sums are rounded in another order, and the ledger counts outflow where it happens: all else is the
 * same.
 */
START_TEST(ranks_have_the_density_of_a_run_without)
{
    outcome one = {0}, without = {0};
    rig r;

    open_any(&r, _i);
    run_on(&r, 3, 8, &one);
    ck_assert_msg(rig_try(&r, 1) == 0, "%s", r.error.text);
    propagate(&r, 8, &without);
    ck_assert_int_eq(without.totals.ranks, 0);
    ck_assert_uint_eq(one.totals.steps, without.totals.steps);
    ck_assert_double_eq_tol((double)one.cells.count, (double)without.cells.count,
                            2 + 1e-3 * (double)without.cells.count);
    for (int j = 0; j < r.problem.dimension; j++)
        ck_assert_double_eq_tol(one.statistics.mean[j], without.statistics.mean[j], 1e-5);
    ck_assert_double_eq_tol(one.evidence.log_evidence, without.evidence.log_evidence, 1e-5);
    list_free(&one.cells);
    list_free(&without.cells);
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ranks");
    TCase *bits = tcase_create("bits"), *last = add_long_case(suite, "the largest", 60);

    /* The other schemes of the kind are in make check in four dimensions, and six dimensions with split7. */
    tcase_add_loop_test(last, any_number_of_ranks_has_the_bits_of_one, CTU_IN_SIX, CTU_IN_SIX + 1);
    tcase_add_loop_test(last, any_number_of_ranks_has_the_bits_of_one, CASES + NOISES - 1, CASES + NOISES);
    /* Statistics within a tolerance: what depends on the problem are the bits, which the test above has of each. */
    tcase_add_loop_test(last, ranks_have_the_density_of_a_run_without, SPLIT_IN_SIX, SPLIT_IN_SIX + 1);
    tcase_add_loop_test(last, ranks_have_the_density_of_a_run_without, CTU_IN_SIX, CTU_IN_SIX + 1);
    tcase_add_loop_test(last, ranks_have_the_density_of_a_run_without, CASES + 1, CASES + NOISES);
    tcase_add_loop_test(last, so_has_another_number_of_ranks, 0, CASES + NOISES);
    tcase_add_loop_test(bits, any_number_of_ranks_has_the_bits_of_one, 0, CTU_IN_SIX);
    tcase_add_loop_test(bits, any_number_of_ranks_has_the_bits_of_one, CTU_IN_SIX + 1, CASES + NOISES - 1);
    tcase_add_loop_test(bits, ranks_have_the_density_of_a_run_without, 0, SPLIT_IN_SIX);
    tcase_add_loop_test(bits, ranks_have_the_density_of_a_run_without, SPLIT_IN_SIX + 1, CTU_IN_SIX);
    tcase_add_loop_test(bits, ranks_have_the_density_of_a_run_without, CTU_IN_SIX + 1, CASES + 1);
    tcase_set_timeout(bits, 60);
    suite_add_tcase(suite, bits);
    return run_suite(suite);
}
