/* ranks_sums.c - sums and counts over the bricks of all ranks; see ranks.h. A brick's sum is the same whichever rank
 * computes it, and the sums of bricks are added without rounding: so results depend neither on the cuts nor on the
 * number of ranks. */
#include "numerics/ledger.h"
#include "ranks.h"
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Whether a brick is no ghost. */
static int is_own(const gbees_engine *e, uint32_t slot)
{
    return !e->rows.ghost[slot];
}

/* Adds a thread's own[count] to sums[count] of all threads. */
static void add_thread(const exact_sum *own, exact_sum *sums, int count)
{
#pragma omp critical(gbees_ranks_sums)
    for (int k = 0; k < count; k++)
        exact_merge(&sums[k], &own[k]);
}

void ranks_sum_exactly(gbees_engine *e, exact_sum *sums, size_t count)
{
    for (size_t k = 0; k < count; k++)
        (void)exact_carry(&sums[k]);
    ranks_sum(e->ranks, sums->word, count * EXACT_WORDS);
}

void ranks_find_rates(gbees_engine *e, double *largest, double *active)
{
    if (!e->ranks)
        return;
    double most[] = {*largest, *active, speeds_load(&e->ranks->speeds, (double)e->ranks->own)};
    ranks_most(e->ranks, most, 3);
    *largest = most[0];
    *active = most[1];
    e->ranks->busiest = most[2];
}

int ranks_add_up(gbees_engine *e, const brick_numbers *of, double *sums, gbees_error *error)
{
    const int threads = engine_threads(e, e->g.count);
    const size_t count = (size_t)of->count;
    exact_sum *all = calloc(count * (size_t)(threads + 1), sizeof *all);
    double *number = malloc(count * (size_t)threads * sizeof *number);
    int64_t odd = 0; /* numbers that are not finite */
    const int status = ranks_agree(e->ranks, all && number ? 0 : ranks_no_memory(error), error);

    if (status) {
        free(all);
        free(number);
        return status;
    }
#pragma omp parallel num_threads(threads) reduction(+ : odd)
    {
        exact_sum *own = all + count * (size_t)(1 + engine_thread());
        double *brick = number + count * (size_t)engine_thread();

#pragma omp for schedule(static) nowait
        for (uint32_t k = 0; k < e->g.count; k++) {
            if (!is_own(e, e->g.used[k]))
                continue;
            memset(brick, 0, count * sizeof *brick);
            of->add(e, of->context, k, k + 1, brick);
            for (size_t i = 0; i < count; i++)
                if (!isfinite(brick[i]))
                    odd++;
                else if (brick[i] != 0)
                    exact_add(&own[i], brick[i]);
        }
        add_thread(own, all, of->count);
    }
    ranks_sum(e->ranks, &odd, 1);
    ranks_sum_exactly(e, all, count);
    for (size_t i = 0; i < count; i++)
        sums[i] = odd ? NAN : exact_value(&all[i]);
    free(all);
    free(number);
    return 0;
}

int ranks_end_step(gbees_engine *e, int failed, kernel_sums *total)
{
    enum { FAILED, INFINITE, BRICKS, COUNTS };
    if (!e->ranks)
        return failed;
    struct {
        int64_t count[COUNTS];
        exact_sum mass, clipped;
    } all = {{failed != 0}, {{0}}, {{0}}};
    int64_t infinite = 0, bricks = 0;
    const uint32_t count = failed ? 0 : e->g.count;

#pragma omp parallel num_threads(engine_threads(e, count)) reduction(+ : infinite, bricks)
    {
        exact_sum own[2] = {{{0}}};

#pragma omp for schedule(static) nowait
        for (uint32_t k = 0; k < count; k++) {
            const uint32_t slot = e->g.used[k];
            const kernel_ended ended = e->rows.ended[slot];

            if (!is_own(e, slot)) {
                e->rows.active[slot] = 0;
                continue;
            }
            infinite += !isfinite(ended.mass) || !isfinite(ended.clipped);
            bricks++;
            exact_add(&own[0], ended.mass);
            if (ended.clipped != 0) /* seldom */
                exact_add(&own[1], ended.clipped);
        }
        add_thread(own, &all.mass, 2);
    }
    all.count[INFINITE] = infinite;
    all.count[BRICKS] = bricks;
    (void)exact_carry(&all.mass);
    (void)exact_carry(&all.clipped);
    ranks_sum(e->ranks, (int64_t *)&all, sizeof all / sizeof(int64_t));
    ranks_enter_step(e->ranks, (uint64_t)bricks, (uint64_t)all.count[BRICKS]);
    total->mass = all.count[INFINITE] ? NAN : exact_value(&all.mass);
    total->clipped += exact_value(&all.clipped);
    total->outflow = gbees_ledger_missing(&e->run.ledger, total->mass, total->clipped);
    return all.count[FAILED] != 0;
}

void ranks_count_cells(gbees_engine *e, uint64_t *needed, uint64_t *active)
{
    int64_t counts[2] = {0};

    if (!e->ranks)
        return;
    for (uint32_t k = 0; k < e->g.count; k++) {
        const uint32_t slot = e->g.used[k];

        if (is_own(e, slot)) {
            counts[0] += __builtin_popcountll(e->rows.needed[slot]);
            counts[1] += __builtin_popcountll(e->rows.active[slot]);
        } else {
            e->rows.active[slot] = 0;
        }
    }
    ranks_sum(e->ranks, counts, 2);
    *needed = (uint64_t)counts[0];
    *active = (uint64_t)counts[1];
}

/* The cell with the largest P of a rank, or of several; p < 0: there is none. */
typedef struct rank_peak {
    double p;
    int32_t key[GBEES_MAX_DIM]; /* of its brick */
    int cell;                   /* of the brick */
} rank_peak;

/* Whether key a[n] comes before key b[n], in lexicographic order. */
static int precedes(int n, const int32_t *a, const int32_t *b)
{
    int j = 0;

    while (j < n - 1 && a[j] == b[j])
        j++;
    return a[j] < b[j];
}

/* Replaces *peak by the other cell if that has a larger P, or the same P and is in a brick that comes before. */
static void take_higher(int n, const rank_peak *other, rank_peak *peak)
{
    if (other->p > peak->p || (other->p == peak->p && precedes(n, other->key, peak->key)))
        *peak = *other;
}

/* The sums among a brick's moments: all that is before the peak. */
enum { SUMS = 2 + 3 * GBEES_MAX_DIM + KERNEL_SECONDS };
_Static_assert(offsetof(kernel_moments, peak) == SUMS * sizeof(double), "sums without gaps");

/* Adds the moments of used brick k to the sums, and its cell with the largest P to *peak. */
static void add_moments_of(const gbees_engine *e, uint32_t k, exact_sum *sums, rank_peak *peak)
{
    const int32_t *key = grid_key(&e->g, e->g.used[k]);
    kernel_moments brick;

    engine_moments(e, k, k + 1, &brick);
    double number[SUMS];
    memcpy(number, &brick, sizeof number);
    for (int i = 0; i < SUMS; i++)
        if (number[i] != 0)
            exact_add(&sums[i], number[i]);
    rank_peak here = {.p = brick.peak, .cell = brick.peak_cell};
    for (int j = 0; j < e->g.shape.n; j++)
        here.key[j] = key[j];
    take_higher(e->g.shape.n, &here, peak);
}

void ranks_moments(gbees_engine *e, kernel_moments *total, int32_t *peak_key)
{
    const gbees_parallel *p = e->ranks->parallel;
    const int n = e->g.shape.n;
    exact_sum sums[SUMS] = {{{0}}};
    rank_peak peak = {.p = -1}, all = {.p = -1}, *each = calloc((size_t)p->ranks, sizeof *each);

    if (!each)
        ranks_abort(e->ranks, "out of memory for the highest cells of all ranks");
#pragma omp parallel num_threads(engine_threads(e, e->g.count))
    {
        exact_sum own[SUMS] = {{{0}}};
        rank_peak highest = {.p = -1};

#pragma omp for schedule(static) nowait
        for (uint32_t k = 0; k < e->g.count; k++)
            if (is_own(e, e->g.used[k]))
                add_moments_of(e, k, own, &highest);
        add_thread(own, sums, SUMS);
#pragma omp critical(gbees_ranks_peak)
        take_higher(n, &highest, &peak);
    }
    ranks_sum_exactly(e, sums, SUMS);
    p->gather(p->context, &peak, sizeof peak, each);
    for (int r = 0; r < p->ranks; r++)
        take_higher(n, &each[r], &all);
    free(each);
    *total = (kernel_moments){.peak = all.p, .peak_cell = all.cell};
    double number[SUMS];
    for (int i = 0; i < SUMS; i++)
        number[i] = exact_value(&sums[i]);
    memcpy(total, number, sizeof number);
    memcpy(peak_key, all.key, sizeof all.key);
}
