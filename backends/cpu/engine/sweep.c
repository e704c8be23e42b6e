/* sweep.c - the sweeps of a step of the split scheme, shared among threads.
 *
 * Pencils are dealt out, not bricks: in a density that is drawn out most pencils along it begin within a few bricks.
 */
#include "engine.h"
#include "numerics/sweeps.h"
#include <stdlib.h>

enum { MOST_TOGETHER = 256 }; /* pencils */

/* The pencils of a sweep: each part of the bricks lists those that begin there. */
typedef struct sweep_plan {
    uint32_t *first;        /* bricks; a part's from where its bricks begin in the Used List on */
    uint32_t *before;       /* [parts + 1]: pencils that begin in the parts before */
    int parts, done;        /* as many as threads; those that are listed */
    uint32_t share, chunks; /* pencils that a thread takes together; how many times */
} sweep_plan;

/* As many pencils together as begin, on average, in a chunk of bricks: rounded down it is half of that or more. */
static void deal_pencils(const gbees_engine *e, sweep_plan *plan)
{
    uint32_t pencils = 0;

    for (int t = 0; t < plan->parts; t++) {
        const uint32_t listed = plan->before[t + 1];

        plan->before[t] = pencils;
        pencils += listed;
    }
    plan->before[plan->parts] = pencils;
    const uint32_t share = (uint32_t)((uint64_t)pencils * engine_chunk(e) / e->g.count);
    plan->share = share < 1 ? 1 : share > MOST_TOGETHER ? MOST_TOGETHER : share;
    plan->chunks = (pencils + plan->share - 1) / plan->share;
    team_deal(e->shares, plan->parts, plan->chunks);
}

/* Lists the pencils of part t; after the last one they are dealt. */
static void list_pencils(const gbees_engine *e, int axis, sweep_plan *plan, int t)
{
    const uint32_t count = e->g.count, from = team_part(count, t, plan->parts);

    plan->before[t + 1] = grid_pencils(&e->g, axis, from, team_part(count, t + 1, plan->parts), plan->first + from);
    if (__atomic_add_fetch(&plan->done, 1, __ATOMIC_ACQ_REL) == plan->parts)
        deal_pencils(e, plan);
}

/* The first bricks of the pencils from number `from` on, that come together; returns how many. */
static uint32_t pick_pencils(const gbees_engine *e, const sweep_plan *plan, uint32_t from, uint32_t *first)
{
    const uint32_t rest = plan->before[plan->parts] - from, count = rest < plan->share ? rest : plan->share;
    uint32_t picked = 0;

    for (int t = 0; picked < count; t++) {
        const uint32_t *listed = plan->first + team_part(e->g.count, t, plan->parts);

        for (uint32_t k = from + picked; k < plan->before[t + 1] && picked < count; k++)
            first[picked++] = listed[k - plan->before[t]];
    }
    return count;
}

/* What a thread gets of them. 1 if memory ran out. */
static int sweep_shares(gbees_engine *e, int axis, int last_axis, const sweep_plan *plan, kernel_sums *sums)
{
    const int thread = engine_thread();
    uint32_t first[MOST_TOGETHER];
    int failed = 0;

    for (uint32_t at; (at = team_take(e->shares, plan->parts, thread)) < plan->chunks;) {
        const kernel_pencils pencils = {axis, last_axis, first, pick_pencils(e, plan, at * plan->share, first)};

        failed = e->kernel->sweep(&e->context, &pencils, &e->scratch[thread], &sums[at]) || failed;
    }
    return failed;
}

/* One axis. 1 if memory ran out. */
static int sweep_along(gbees_engine *e, int axis, int last_axis, sweep_plan *plan, kernel_sums *sums)
{
    int failed = 0;

    plan->done = 0;
    if (plan->parts == 1) { /* small grids' sweeps take as long as it takes to make a team of one */
        list_pencils(e, axis, plan, 0);
        return sweep_shares(e, axis, last_axis, plan, sums);
    }
#pragma omp parallel num_threads(plan->parts) reduction(|| : failed)
    {
#pragma omp for schedule(static)
        for (int t = 0; t < plan->parts; t++)
            list_pencils(e, axis, plan, t);
        failed = sweep_shares(e, axis, last_axis, plan, sums);
    }
    return failed;
}

int engine_sweep(gbees_engine *e, int settle, kernel_sums *total, gbees_error *error)
{
    const uint32_t count = e->g.count, chunk = engine_chunk(e) < MOST_TOGETHER ? engine_chunk(e) : MOST_TOGETHER;
    const int n = e->g.shape.n, threads = engine_threads(e, count);
    const int turn = gbees_sweep_turn(n, e->run.steps), is_reversed = gbees_step_is_reversed(e->run.steps);
    const size_t chunks = 2 * (size_t)(count / chunk) + 2, words = count + (size_t)threads + 1;
    kernel_sums *sums = malloc(chunks * sizeof *sums);
    sweep_plan plan = {.first = engine_room(e, words * sizeof *plan.first), .parts = threads};
    int failed = !sums || !plan.first;

    plan.before = plan.first + (failed ? 0 : count);
    for (int sweep = 0; sweep < n && !failed; sweep++) {
        const int axis = gbees_sweep_axis(n, turn, is_reversed, sweep);

        failed = sweep_along(e, axis, settle && sweep == n - 1, &plan, sums);
        engine_add_sums(sums, plan.chunks, total);
    }
    free(sums);
    return failed ? gbees_error_set(error, GBEES_ENOMEM, "out of memory for the sweeps over %u bricks", count) : 0;
}
