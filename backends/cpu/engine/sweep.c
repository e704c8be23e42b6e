/* sweep.c - the sweeps of a step of a split scheme, divided among threads (doc/method.md, "The split scheme").
 *
 * Threads take pencils, rows of bricks along the axis, from their work queues, in batches of equal numbers of
 * pencils. If a batch had the pencils that begin in a range of bricks, batches would differ too much: in an elongated
 * density most pencils begin in a few bricks.
 */
#include "engine.h"
#include "numerics/dither.h"
#include "numerics/sweeps.h"
#include "ranks.h"
#include <stdlib.h>

enum { MOST_PENCILS = 256 }; /* of a batch */

/* A sweep along an axis. The Used List is cut into parts, one a thread. The pencils that begin in a part are listed
 * by its thread. */
typedef struct sweep_plan {
    int axis, passes, ends_step; /* as kernel_pencils has them */
    uint32_t dither;
    uint32_t *first;  /* the pencils' first bricks: a part's list begins where the part begins in the Used List */
    uint32_t *before; /* [parts + 1]: the number of pencils that begin in the parts before */
    int parts;        /* how many */
    int listed;       /* parts whose pencils have been listed */
    uint32_t batch;   /* pencils of a batch */
    uint32_t batches; /* how many */
} sweep_plan;

/* Numbers the listed pencils, cuts them into batches, and fills the work queues with these.  A batch has as many
 * pencils as begin in a chunk of bricks on average, rounded down. */
static void queue_batches(const gbees_engine *e, sweep_plan *plan)
{
    uint32_t pencils = 0;

    for (int t = 0; t < plan->parts; t++) {
        const uint32_t listed = plan->before[t + 1];

        plan->before[t] = pencils;
        pencils += listed;
    }
    plan->before[plan->parts] = pencils;
    const uint32_t batch = e->g.count ? (uint32_t)((uint64_t)pencils * engine_chunk(e) / e->g.count) : 0;
    plan->batch = batch < 1 ? 1 : batch > MOST_PENCILS ? MOST_PENCILS : batch;
    plan->batches = (pencils + plan->batch - 1) / plan->batch;
    work_queue_fill(e->workspace.queue, plan->parts, plan->batches);
}

/* Lists the pencils of part t; the thread that lists the last part fills the work queues. */
static void list_pencils(const gbees_engine *e, sweep_plan *plan, int t)
{
    const uint32_t count = e->g.count, from = team_part(count, t, plan->parts);

    plan->before[t + 1] =
        grid_pencils(&e->g, plan->axis, from, team_part(count, t + 1, plan->parts), plan->first + from);
    plan->before[t + 1] = ghosts_pick_pencils(e, plan->axis, plan->first + from, plan->before[t + 1]);
    if (__atomic_add_fetch(&plan->listed, 1, __ATOMIC_ACQ_REL) == plan->parts)
        queue_batches(e, plan);
}

/* Sets first[] to the first bricks of the pencils of the batch that begins with pencil number `from`; returns their
 * number. */
static uint32_t pick_pencils(const gbees_engine *e, const sweep_plan *plan, uint32_t from, uint32_t *first)
{
    const uint32_t rest = plan->before[plan->parts] - from, count = rest < plan->batch ? rest : plan->batch;
    uint32_t picked = 0;

    for (int t = 0; picked < count; t++) {
        const uint32_t *listed = plan->first + team_part(e->g.count, t, plan->parts);

        for (uint32_t k = from + picked; k < plan->before[t + 1] && picked < count; k++)
            first[picked++] = listed[k - plan->before[t]];
    }
    return count;
}

/* Sweeps the batches that this thread takes, and sets their sums. Returns 1 if memory ran out. */
static int sweep_batches(gbees_engine *e, const sweep_plan *plan, kernel_sums *sums)
{
    const int thread = engine_thread();
    uint32_t first[MOST_PENCILS];
    int failed = 0;

    for (uint32_t at; (at = work_queue_take(e->workspace.queue, plan->parts, thread)) < plan->batches;) {
        const kernel_pencils pencils = {plan->axis,   plan->passes, plan->ends_step,
                                        plan->dither, first,        pick_pencils(e, plan, at * plan->batch, first)};

        failed = e->kernel->sweep(&e->context, &pencils, &e->workspace.sweep[thread], &sums[at]) || failed;
    }
    return failed;
}

/* Sweeps along one axis. Returns 1 if memory ran out. */
static int sweep_along(gbees_engine *e, sweep_plan *plan, kernel_sums *sums)
{
    int failed = 0;

    plan->listed = 0;
    if (plan->parts == 1) { /* a parallel region, even of one thread, takes as long to open as a small grid's sweep */
        list_pencils(e, plan, 0);
        return sweep_batches(e, plan, sums);
    }
#pragma omp parallel num_threads(plan->parts) reduction(|| : failed)
    {
#pragma omp for schedule(static)
        for (int t = 0; t < plan->parts; t++)
            list_pencils(e, plan, t);
        failed = sweep_batches(e, plan, sums);
    }
    return failed;
}

int engine_sweep(gbees_engine *e, int ends_step, kernel_sums *total, gbees_error *error)
{
    const uint32_t count = e->g.count, chunk = engine_chunk(e) < MOST_PENCILS ? engine_chunk(e) : MOST_PENCILS;
    const int n = e->g.shape.n, threads = engine_threads(e, count);
    const int turn = gbees_sweep_turn(n, e->run.steps), is_reversed = gbees_step_is_reversed(e->run.steps);
    const size_t batches = 2 * (size_t)(count / chunk) + 2, words = count + (size_t)threads + 1;
    kernel_sums *sums = malloc(batches * sizeof *sums);
    sweep_plan plan = {.first = engine_buffer(e, words * sizeof *plan.first), .parts = threads};
    int failed = !sums || !plan.first, pass = 0;

    plan.before = failed ? NULL : plan.first + count;
    for (int sweep = 0; sweep < n; sweep++) {
        plan.axis = gbees_sweep_axis(n, turn, is_reversed, sweep);
        const int parts = e->context.noise.spread[plan.axis] > 0 ? e->context.noise.parts[plan.axis] : 1;
        const int sweeps = e->ranks ? parts : 1; /* ranks: ghosts are refreshed for each part */

        plan.passes = parts / sweeps;
        for (int k = 0; k < sweeps; k++, pass += plan.passes) {
            plan.dither = gbees_dither_of_pass(e->run.steps, pass);
            plan.ends_step = ends_step && sweep == n - 1 && k == sweeps - 1;
            ghosts_refresh(e, e->rows.p, plan.axis); /* also if this rank has failed: the others wait for its rows */
            if (failed)
                continue;
            failed = sweep_along(e, &plan, sums);
            engine_add_sums(e, sums, plan.batches, total);
        }
    }
    failed = ends_step ? ranks_end_step(e, failed, total) : ranks_any(e->ranks, failed);
    free(sums);
    return failed ? gbees_error_set(error, GBEES_ENOMEM, "out of memory for the sweeps over %u bricks", count) : 0;
}
