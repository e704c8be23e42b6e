/* test_partition.c - which rank owns a brick (backends/common/ranks/partition.h), and sums without rounding
 * (exact.h).
 */
#include "common/ranks/partition.h"
#include "common/ranks/speed.h"
#include "base/exact.h"
#include "fixtures/suite.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>

enum { DIMENSION = 3, RADIUS = 20, LAYERS = 2 };

/* The bricks of an ellipsoid that is longest along axis 1: calls `each` with every key. */
static void visit_bricks(void (*each)(const int32_t *key, void *context), void *context)
{
    int32_t key[GBEES_MAX_DIM] = {0};

    for (key[0] = -RADIUS; key[0] <= RADIUS; key[0]++)
        for (key[1] = -2 * RADIUS; key[1] <= 2 * RADIUS; key[1]++)
            for (key[2] = -RADIUS; key[2] <= RADIUS; key[2]++)
                if (4 * key[0] * key[0] + key[1] * key[1] + 4 * key[2] * key[2] <= 4 * RADIUS * RADIUS)
                    each(key, context);
}

typedef struct counting {
    partition cuts;
    partition_bins bins;
    int64_t *counts;
    int64_t all, *of_rank;
} counting;

static void count_key(const int32_t *key, void *context)
{
    counting *c = context;

    partition_count(&c->cuts, &c->bins, key, c->counts);
}

static const double equal[] = {1, 1, 1, 1, 1, 1, 1, 1};

/* Cuts for ranks of these weights. */
static void cut_for(counting *c, int ranks, const double *weight)
{
    const int32_t lo[] = {-RADIUS, -2 * RADIUS, -RADIUS}, hi[] = {RADIUS, 2 * RADIUS, RADIUS};
    const int layers[] = {LAYERS, LAYERS, LAYERS};
    const size_t entries = (size_t)ranks * DIMENSION * PARTITION_BINS;

    ck_assert_int_eq(partition_create(&c->cuts, DIMENSION, ranks, layers), 0);
    partition_set_bins(&c->cuts, lo, hi, &c->bins);
    c->counts = calloc(entries, sizeof *c->counts);
    c->of_rank = calloc((size_t)ranks, sizeof *c->of_rank);
    ck_assert_ptr_nonnull(c->counts);
    ck_assert_ptr_nonnull(c->of_rank);
    while (partition_is_open(&c->cuts)) {
        memset(c->counts, 0, entries * sizeof *c->counts);
        visit_bricks(count_key, c);
        partition_cut(&c->cuts, &c->bins, c->counts, weight);
    }
    c->all = 0;
}

static void free_counting(counting *c)
{
    partition_destroy(&c->cuts);
    free(c->counts);
    free(c->of_rank);
}

/* Exactly one box has the key, that of the rank that is found. */
static void expect_one_owner(const int32_t *key, void *context)
{
    counting *c = context;
    const int owner = partition_find(&c->cuts, key);
    int owners = 0;

    for (int r = 0; r < c->cuts.ranks; r++)
        owners += partition_contains(DIMENSION, &c->cuts.part[r].box, key);
    ck_assert_int_eq(owners, 1);
    ck_assert(partition_contains(DIMENSION, &c->cuts.part[owner].box, key));
    c->of_rank[owner]++;
    c->all++;
}

START_TEST(each_brick_has_one_owner_and_ranks_have_as_many)
{
    static const int ranks[] = {1, 2, 3, 5, 8};
    counting c = {0};
    int64_t most = 0;

    cut_for(&c, ranks[_i], equal);
    visit_bricks(expect_one_owner, &c);
    for (int r = 0; r < c.cuts.ranks; r++) {
        ck_assert_int_eq(c.cuts.part[r].first, r);
        ck_assert_int_eq(c.cuts.part[r].ranks, 1);
        most = c.of_rank[r] > most ? c.of_rank[r] : most;
    }
    ck_assert_double_le((double)most * c.cuts.ranks / (double)c.all, 1.1);
    free_counting(&c);
}
END_TEST

/* Ranks have bricks in proportion to their weights, one of which is a third of another. */
START_TEST(ranks_have_bricks_by_their_weights)
{
    static const double weight[] = {1.2, 0.4, 1.2, 1.2};
    counting c = {0};

    cut_for(&c, 4, weight);
    visit_bricks(expect_one_owner, &c);
    for (int r = 0; r < 4; r++)
        ck_assert_double_eq_tol(4 * (double)c.of_rank[r] / (double)c.all / weight[r], 1, 0.12);
    free_counting(&c);
}
END_TEST

/* ---- speeds ---- */

/* A communicator of three ranks that have measured these. */
static void gather_speeds(void *context, const void *own, size_t size, void *all)
{
    (void)own;
    memcpy(all, context, 3 * size);
}

/* Agrees on weights when the ranks have measured these; this one is rank 0. */
static void agree_on(rank_speeds *speeds, const rank_speed *measured)
{
    memcpy(speeds->parallel->context, measured, 3 * sizeof *measured);
    speeds->own = measured[0];
    speeds_agree(speeds);
}

START_TEST(slower_ranks_have_smaller_weights)
{
    static const rank_speed unequal[] = {{200, 2}, {400, 2}, {600, 2}}, alike[] = {{100, 1}, {110, 1}, {120, 1}},
                            too_short[] = {{200, 2}, {400, 0.5}, {600, 2}};
    rank_speed of_ranks[3];
    const gbees_parallel parallel = {.context = of_ranks, .ranks = 3, .gather = gather_speeds};
    rank_speeds speeds;

    ck_assert_int_eq(speeds_create(&speeds, &parallel, 1), 0);
    speeds_add(&speeds, 14, 1, 90); /* less than half of the mean */
    ck_assert_double_eq(speeds.own.seconds, 0);
    speeds_add(&speeds, 30, 1, 90);
    ck_assert_double_eq(speeds.own.bricks, 30);
    ck_assert_double_eq(speeds.own.seconds, 1);
    agree_on(&speeds, too_short);
    ck_assert_double_eq(speeds.weight[0], 1);
    ck_assert_double_eq(speeds.own.bricks, 200); /* it is measured further */
    agree_on(&speeds, unequal);
    for (int r = 0; r < 3; r++)
        ck_assert_double_eq_tol(speeds.weight[r], 0.5 * (r + 1), 1e-12);
    ck_assert_double_eq(speeds.own.bricks, 0);
    ck_assert_double_eq_tol(speeds_load(&speeds, 50), 100, 1e-9);
    agree_on(&speeds, alike);
    for (int r = 0; r < 3; r++)
        ck_assert_double_eq(speeds.weight[r], 1);
    speeds_destroy(&speeds);
}
END_TEST

/* The first cut is across the longest axis, which few bricks lie beside. */
START_TEST(a_cut_is_across_the_longest_axis)
{
    counting c = {0};

    cut_for(&c, 2, equal);
    ck_assert_int_eq(c.cuts.part[0].box.hi[1], c.cuts.part[1].box.lo[1]);
    ck_assert_int_eq(c.cuts.part[0].box.hi[0], INT32_MAX);
    ck_assert_int_ge(c.cuts.part[0].box.hi[1], -1);
    ck_assert_int_le(c.cuts.part[0].box.hi[1], 2);
    free_counting(&c);
}
END_TEST

/* Bricks that were made later lie anywhere. */
START_TEST(keys_far_away_have_an_owner)
{
    const int32_t far[][GBEES_MAX_DIM] = {{1 << 24, 0, 0}, {-(1 << 24), 1 << 24, 7}, {0, 0, -(1 << 25)}};
    counting c = {0};

    cut_for(&c, 5, equal);
    for (size_t k = 0; k < sizeof far / sizeof *far; k++)
        expect_one_owner(far[k], &c);
    free_counting(&c);
}
END_TEST

/* Of a box with keys 0 .. 3 and 0 .. 3, and two layers along axis 0, one along axis 1. */
START_TEST(boxes_are_near_if_layers_of_one_reach_the_other)
{
    static const struct {
        partition_box box;
        int is_near;
    } cases[] = {
        {{{5, 0}, {9, 4}}, 1},                  /* one key between them: the second layer is in the box */
        {{{6, 0}, {9, 4}}, 0},                  /* two keys between them */
        {{{0, 4}, {4, 9}}, 1},                  /* beside each other along axis 1 */
        {{{0, 5}, {4, 9}}, 0},                  /* one key between them */
        {{{-9, -9}, {-1, 0}}, 1},               /* at a corner */
        {{{-9, -9}, {-2, 0}}, 0},               /* near along axis 1 only */
        {{{INT32_MIN, 4}, {INT32_MAX, 9}}, 1},  /* without limits along axis 0 */
        {{{4, INT32_MIN}, {INT32_MAX, -1}}, 0}, /* without limits, but too far along axis 1 */
    };
    static const partition_box box = {{0, 0}, {4, 4}};
    static const int layers[] = {2, 1};

    ck_assert_int_eq(partition_are_near(2, &box, &cases[_i].box, layers), cases[_i].is_near);
    ck_assert_int_eq(partition_are_near(2, &cases[_i].box, &box, layers), cases[_i].is_near);
}
END_TEST

/* One brick can't be divided: some ranks have nothing, and no rank has it twice. */
START_TEST(one_brick_has_one_owner)
{
    const int32_t key[GBEES_MAX_DIM] = {3, 4, 5};
    const int layers[] = {LAYERS, LAYERS, LAYERS};
    counting c = {0};
    int64_t of_rank[4] = {0};

    ck_assert_int_eq(partition_create(&c.cuts, DIMENSION, 4, layers), 0);
    partition_set_bins(&c.cuts, key, key, &c.bins);
    c.counts = calloc((size_t)4 * DIMENSION * PARTITION_BINS, sizeof *c.counts);
    ck_assert_ptr_nonnull(c.counts);
    c.of_rank = of_rank;
    while (partition_is_open(&c.cuts)) {
        memset(c.counts, 0, (size_t)4 * DIMENSION * PARTITION_BINS * sizeof *c.counts);
        partition_count(&c.cuts, &c.bins, key, c.counts);
        partition_cut(&c.cuts, &c.bins, c.counts, equal);
    }
    expect_one_owner(key, &c);
    c.of_rank = NULL;
    free_counting(&c);
}
END_TEST

/* ---- sums ---- */

START_TEST(sums_do_not_depend_on_order_or_share)
{
    const double values[] = {1e300, 3.5, -1e300, 1e-300, -2.25, 4.9e-324, 1e16, 1, -1e16, 0, -0.0};
    const int count = (int)(sizeof values / sizeof *values);
    exact_sum forwards = {{0}}, backwards = {{0}}, part[2] = {{{0}}};

    for (int k = 0; k < count; k++) {
        exact_add(&forwards, values[k]);
        exact_add(&backwards, values[count - 1 - k]);
        exact_add(&part[k % 2], values[k]);
    }
    for (int k = 0; k < 2; k++)
        (void)exact_carry(&part[k]);
    for (int w = 0; w < EXACT_WORDS; w++)
        part[0].word[w] += part[1].word[w];
    ck_assert(exact_value(&forwards) == 2.25);
    ck_assert(exact_value(&backwards) == exact_value(&forwards));
    ck_assert(exact_value(&part[0]) == exact_value(&forwards));
}
END_TEST

START_TEST(a_single_number_is_itself)
{
    const double values[] = {0.1, -0.1, 4.9e-324, -2.3e-308, 1.7976931348623157e308, 1 / 3.0, -12345.678};

    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        exact_sum sum = {{0}};

        exact_add(&sum, values[k]);
        ck_assert(exact_value(&sum) == values[k]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("partition");
    TCase *cuts = tcase_create("cuts"), *sums = tcase_create("sums");

    tcase_add_loop_test(cuts, each_brick_has_one_owner_and_ranks_have_as_many, 0, 5);
    tcase_add_test(cuts, ranks_have_bricks_by_their_weights);
    tcase_add_test(cuts, slower_ranks_have_smaller_weights);
    tcase_add_test(cuts, a_cut_is_across_the_longest_axis);
    tcase_add_test(cuts, keys_far_away_have_an_owner);
    tcase_add_test(cuts, one_brick_has_one_owner);
    tcase_add_loop_test(cuts, boxes_are_near_if_layers_of_one_reach_the_other, 0, 8);
    suite_add_tcase(suite, cuts);
    tcase_add_test(sums, sums_do_not_depend_on_order_or_share);
    tcase_add_test(sums, a_single_number_is_itself);
    suite_add_tcase(suite, sums);
    return run_suite(suite);
}
