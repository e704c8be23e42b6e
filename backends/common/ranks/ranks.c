/* ranks.c - calls the communicator, measures how long each call takes, and counts the bytes of messages; loads and
 * totals of ranks. See ranks.h. */
#include "ranks.h"
#include "base/seconds.h"
#include "numerics/diffusion.h"
#include <stdlib.h>
#include <string.h>

int ranks_no_memory(gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENOMEM, "out of memory while bricks were shared among ranks");
}

/* Sets the layers of ghosts along each axis: sweeps read (order + 1) / 2 cells beyond the box, or those that they
 * need with noise, ctu two; growth and prunes need one brick, which is the least that this gives. A circle has none:
 * it is not cut, so that whole rings belong to a rank. */
static void set_layers(const gbees_problem *problem, const gbees_shape *shape, int *layers)
{
    const gbees_scheme scheme = problem->numerics.scheme;
    const int cells = gbees_problem_noise_in_sweeps(problem) ? GBEES_SPREAD_REACH
                      : gbees_scheme_is_split(scheme)        ? (gbees_scheme_get(scheme)->order + 1) / 2
                                                             : 2;

    for (int j = 0; j < shape->n; j++)
        layers[j] = gbees_problem_is_circle(problem, j) ? 0 : (cells + shape->edge[j] - 1) / shape->edge[j];
}

int ranks_create(engine_ranks **ranks, const gbees_parallel *parallel, const gbees_problem *problem,
                 const gbees_shape *shape, double least_s, gbees_error *error)
{
    const size_t count = (size_t)parallel->ranks;
    engine_ranks *r = *ranks = calloc(1, sizeof *r);

    if (!r)
        return ranks_no_memory(error);
    r->parallel = parallel;
    r->n = shape->n;
    set_layers(problem, shape, r->layers);
    r->partner = calloc(count, sizeof *r->partner);
    r->out = calloc(count, sizeof *r->out);
    r->in = calloc(count, sizeof *r->in);
    r->each = calloc(count, sizeof *r->each);
    const int failed = speeds_create(&r->speeds, parallel, least_s);
    return failed || !r->partner || !r->out || !r->in || !r->each ? ranks_no_memory(error) : 0;
}

void ranks_destroy(engine_ranks *ranks)
{
    if (!ranks)
        return;
    for (int p = 0; p < ranks->parallel->ranks && ranks->partner; p++) {
        free(ranks->partner[p].out.key);
        free(ranks->partner[p].in.key);
    }
    free(ranks->partner);
    free(ranks->out);
    free(ranks->in);
    free(ranks->each);
    speeds_destroy(&ranks->speeds);
    partition_destroy(&ranks->cuts);
    free(ranks);
}

void ranks_restart(engine_ranks *ranks)
{
    partition_destroy(&ranks->cuts);
    ranks->sent = ranks->seconds = ranks->all_sent = ranks->most_wait = 0;
    ranks->imbalance = ranks->steps = ranks->own_bricks = 0;
}

/* ---- the communicator ---- */

void ranks_sum(engine_ranks *ranks, int64_t *values, size_t count)
{
    if (!ranks)
        return;
    const double began = gbees_seconds_now();
    ranks->parallel->sum(ranks->parallel->context, values, count);
    ranks->seconds += gbees_seconds_now() - began;
}

void ranks_most(engine_ranks *ranks, double *values, size_t count)
{
    if (!ranks)
        return;
    const double began = gbees_seconds_now();
    ranks->parallel->most(ranks->parallel->context, values, count);
    ranks->seconds += gbees_seconds_now() - began;
}

int ranks_any(engine_ranks *ranks, int here)
{
    int64_t count = here != 0;

    ranks_sum(ranks, &count, 1);
    return count != 0;
}

int ranks_agree(engine_ranks *ranks, int status, gbees_error *error)
{
    if (!ranks)
        return status;
    const double began = gbees_seconds_now();
    status = gbees_parallel_agree(ranks->parallel, status, error);
    ranks->seconds += gbees_seconds_now() - began;
    return status;
}

void ranks_exchange(engine_ranks *ranks, const gbees_message *out, int outs, const gbees_message *in, int ins)
{
    const double began = gbees_seconds_now();

    ranks->parallel->exchange(ranks->parallel->context, out, outs, in, ins);
    ranks->seconds += gbees_seconds_now() - began;
    for (int k = 0; k < outs; k++)
        ranks->sent += out[k].rank == ranks->parallel->rank ? 0 : (double)out[k].size;
}

_Noreturn void ranks_abort(engine_ranks *ranks, const char *why)
{
    ranks->parallel->abort(ranks->parallel->context, EXIT_FAILURE, why);
    abort(); /* a communicator that returns */
}

uint64_t ranks_count_moves(engine_ranks *ranks, const uint64_t *sent, uint64_t *arriving)
{
    const size_t all = (size_t)ranks->parallel->ranks;
    uint64_t *counts = malloc(all * all * sizeof *counts), sum = 0;

    if (!counts)
        ranks_abort(ranks, "out of memory for the numbers of bricks that move");
    ranks->parallel->gather(ranks->parallel->context, sent, all * sizeof *sent, counts);
    for (size_t r = 0; r < all; r++) {
        arriving[r] = counts[r * all + (size_t)ranks->parallel->rank];
        sum += arriving[r];
    }
    free(counts);
    return sum;
}

/* ---- loads, and what a summary says ---- */

double ranks_own_seconds(const engine_ranks *ranks)
{
    return ranks ? gbees_seconds_now() - ranks->seconds : 0;
}

void ranks_enter_speed(engine_ranks *ranks, double began)
{
    if (ranks)
        speeds_add(&ranks->speeds, (double)ranks->own, ranks_own_seconds(ranks) - began, (double)ranks->bricks);
}

double ranks_load(const engine_ranks *ranks)
{
    return ranks->bricks ? ranks->busiest * ranks->parallel->ranks / (double)ranks->bricks : 1;
}

double ranks_count(engine_ranks *ranks, uint64_t own)
{
    int64_t bricks = (int64_t)own;

    ranks->own = own;
    ranks->busiest = speeds_load(&ranks->speeds, (double)own);
    ranks_sum(ranks, &bricks, 1);
    ranks_most(ranks, &ranks->busiest, 1);
    ranks->bricks = (uint64_t)bricks;
    return ranks_load(ranks);
}

void ranks_enter_step(engine_ranks *ranks, uint64_t own, uint64_t bricks)
{
    ranks->own = own;
    ranks->bricks = bricks;
    ranks->imbalance += ranks_load(ranks);
    ranks->own_bricks += (double)own;
    ranks->steps++;
}

void ranks_report(engine_ranks *ranks, uint64_t peak_bytes)
{
    gbees_rank_totals own;

    if (!ranks)
        return;
    const gbees_parallel *p = ranks->parallel;
    const double began = gbees_seconds_now();
    memset(&own, 0, sizeof own); /* gaps included: it is sent as bytes */
    own.bricks = ranks->steps > 0 ? ranks->own_bricks / ranks->steps : (double)ranks->own;
    own.peak_bytes = peak_bytes;
    own.bytes_sent = ranks->sent;
    own.seconds_waited = ranks->seconds;
    p->gather(p->context, &own, sizeof own, ranks->each);
    ranks->seconds += gbees_seconds_now() - began;
    ranks->all_sent = ranks->most_wait = 0;
    ranks->peak_bytes = 0;
    for (int r = 0; r < p->ranks; r++) {
        const double waited = ranks->each[r].seconds_waited;

        ranks->all_sent += ranks->each[r].bytes_sent;
        ranks->peak_bytes += ranks->each[r].peak_bytes;
        ranks->most_wait = waited > ranks->most_wait ? waited : ranks->most_wait;
    }
}

void ranks_get_each(const engine_ranks *ranks, int most, gbees_rank_totals *all)
{
    for (int r = 0; ranks && r < ranks->parallel->ranks && r < most; r++)
        all[r] = ranks->each[r];
}

void ranks_get_totals(const engine_ranks *ranks, gbees_totals *totals)
{
    if (!ranks)
        return;
    totals->peak_bytes = ranks->peak_bytes;
    totals->ranks = ranks->parallel->ranks;
    totals->imbalance = ranks->steps > 0 ? ranks->imbalance / ranks->steps : 1;
    totals->bytes_exchanged = ranks->all_sent;
    totals->seconds_waited = ranks->most_wait;
}
