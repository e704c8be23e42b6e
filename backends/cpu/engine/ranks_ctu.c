/* ranks_ctu.c - a step of ctu among ranks: before each pass, what it reads of ghosts is copied from their owners; see
 * ranks.h. */
#include "ranks.h"

/* A pass of ctu over all bricks and ghosts, by all threads. */
static void run_pass(gbees_engine *e, void (*pass)(const kernel_context *, uint32_t, uint32_t))
{
    const uint32_t chunks = engine_chunks(e), chunk = engine_chunk(e);

#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) schedule(dynamic, 1)
    for (uint32_t at = 0; at < chunks; at++)
        pass(&e->context, at * chunk, engine_chunk_end(e, at));
}

/* The last pass, over own bricks alone: ghosts in the outermost layer lack neighbours. */
static void update_own(gbees_engine *e)
{
    void (*update)(const kernel_context *, uint32_t, uint32_t, kernel_sums *) =
        e->rows.limiter ? e->kernel->update_limited : e->kernel->update;
    const uint32_t chunks = engine_chunks(e), chunk = engine_chunk(e);

#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) schedule(dynamic, 1)
    for (uint32_t at = 0; at < chunks; at++) {
        const uint32_t end = engine_chunk_end(e, at);
        kernel_sums sums; /* not used: the pass leaves each brick's sums in rows.ended */

        for (uint32_t from = at * chunk, to; from < end; from = to + 1) {
            for (to = from; to < end && !e->rows.ghost[e->g.used[to]];)
                to++;
            if (to > from)
                update(&e->context, from, to, &sums);
        }
    }
}

void ranks_step_ctu(gbees_engine *e, kernel_sums *total)
{
    ghosts_refresh(e, e->rows.p, -1);
    run_pass(e, e->kernel->transverse);
    ghosts_refresh(e, e->rows.s, -1);
    if (e->rows.limiter) {
        run_pass(e, e->kernel->find_limiter);
        ghosts_refresh(e, e->rows.limiter, -1);
    }
    update_own(e);
    (void)ranks_end_step(e, 0, total);
}
