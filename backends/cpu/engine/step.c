/* step.c - one time step: grow, choose the step, advect and diffuse, enter the ledger, prune (paper, Fig. 1). */
#include "engine.h"
#include "numerics/sweeps.h"
#include "ranks.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double engine_limiting_rate(gbees_engine *e)
{
    double largest = 0, active = 0; /* of all bricks; of those with active cells */

#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) schedule(static) reduction(max : largest, active)
    for (uint32_t k = 0; k < e->g.count; k++) {
        uint32_t slot = e->g.used[k];
        double rate = e->rows.rate[slot];

        largest = rate > largest ? rate : largest;
        if (e->rows.active[slot])
            active = rate > active ? rate : active;
    }
    ranks_find_rates(e, &largest, &active);
    return gbees_cfl_rate(largest, active);
}

/* One pass of a step of ctu, over `chunks` chunks of the bricks. */
static void run_pass(gbees_engine *e, void (*pass)(const kernel_context *, uint32_t, uint32_t), uint32_t chunks)
{
    const int threads = engine_threads(e, e->g.count);
    const uint32_t chunk = engine_chunk(e);

    work_queue_fill(e->workspace.queue, threads, chunks);
#pragma omp parallel num_threads(threads)
    for (uint32_t at; (at = work_queue_take(e->workspace.queue, threads, engine_thread())) < chunks;)
        pass(&e->context, at * chunk, engine_chunk_end(e, at));
}

/* A step of ctu, from rows.p to rows.next, in passes: the sums of the transverse terms, rows.s; the fluxes. Adds the
 * sums of the density to *total. */
static int step_ctu(gbees_engine *e, kernel_sums *total, gbees_error *error)
{
    const uint32_t chunks = engine_chunks(e), chunk = engine_chunk(e);
    const int threads = engine_threads(e, e->g.count);
    kernel_sums *sums = malloc((chunks + 1u) * sizeof *sums);

    int status =
        sums ? 0 : gbees_error_set(error, GBEES_ENOMEM, "out of memory in a step over %u bricks", e->g.count);
    status = ranks_agree(e->ranks, status, error);
    if (status) {
        free(sums);
        return status;
    }
    ghosts_refresh(e, e->rows.p, -1);
    run_pass(e, e->kernel->transverse, chunks);
    ghosts_refresh(e, e->rows.s, -1);
    work_queue_fill(e->workspace.queue, threads, chunks);
#pragma omp parallel num_threads(threads)
    for (uint32_t at; (at = work_queue_take(e->workspace.queue, threads, engine_thread())) < chunks;) {
        sums[at] = (kernel_sums){0};
        e->kernel->update(&e->context, at * chunk, engine_chunk_end(e, at), &sums[at]);
    }
    engine_add_sums(e, sums, chunks, total);
    (void)ranks_end_step(e, 0, total);
    free(sums);
    return 0;
}

/* Points the kernels' context to the rows. */
static void set_context_rows(gbees_engine *e)
{
    e->context.rows.p = e->rows.p;
    e->context.rows.s = e->rows.s;
    e->context.rows.next = e->rows.next;
    e->context.rows.active = e->rows.active;
    e->context.rows.ended = e->rows.ended;
}

/* Advects the density, rows.p, by a time step. With ends_step the kernels set P outside the bound to 0, sum up the
 * density and mark the active cells. */
static int advect(gbees_engine *e, int ends_step, kernel_sums *sums, gbees_error *error)
{
    int status = 0;

    e->context.rows.inside = ends_step ? e->rows.inside : NULL;
    if (e->method.split)
        status = engine_sweep(e, ends_step, sums, error);
    else
        status = step_ctu(e, sums, error);
    if (!status && !e->method.split) {
        void *p = e->rows.p;

        e->rows.p = e->rows.next;
        e->rows.next = p;
    }
    set_context_rows(e);
    return status;
}

/* Advances the density by drift, then by diffusion; in every other step in reverse order (numerics/sweeps.h). */
static int advect_and_diffuse(gbees_engine *e, kernel_sums *sums, gbees_error *error)
{
    double steps = 0;
    int status = e->context.noise.evaluate ? engine_noise_steps(e, &steps, error) : 0;

    if (status || steps == 0)
        return status ? status : advect(e, 1, sums, error);
    if (gbees_step_is_reversed(e->run.steps)) {
        status = engine_diffuse(e, steps, 0, sums, error);
        return status ? status : advect(e, 1, sums, error);
    }
    status = advect(e, 0, sums, error);
    sums->mass = 0; /* ctu has set it; the diffusion sums up the density that the step ends with */
    return status ? status : engine_diffuse(e, steps, 1, sums, error);
}

/* Sets e->run.step, and refuses a fixed step that is too long. A fixed step without a limit needs no CFL rate. */
static int choose_step(gbees_engine *e, gbees_error *error)
{
    const gbees_numerics *numerics = &e->problem->numerics;
    const double fixed = numerics->time_step, limit = e->method.courant_limit;
    const double rate = fixed > 0 && limit == 0 ? 0 : engine_limiting_rate(e);
    const gbees_step_clock *clock = &e->run.clock;
    const double longest = fixed > 0 ? fixed : gbees_cfl_step(numerics->courant, rate);

    e->run.step = gbees_step_choose(
        clock, e->problem->moving ? fmin(longest, e->longest_step) : longest,
        gbees_step_follows(e->context.drift.time_dependent, fixed, e->problem->moving, &e->run.step) ? &e->run.step
                                                                                                     : NULL);
    const double size = e->run.step.size;
    if (gbees_step_exceeds(size, rate, limit))
        return failure_courant(clock->time, size, size * rate, limit, error);
    return gbees_step_vanishes(clock, &e->run.step) ? failure_step(clock->time, size, error) : 0;
}

/* Enters a step's sums into the ledger. */
static int update_ledger(gbees_engine *e, const kernel_sums *sums, gbees_error *error)
{
    if (!isfinite(sums->mass) || sums->mass < 0 || (sums->mass == 0 && !e->context.targets.count))
        return failure_mass(sums->mass == 0 ? "zero" : "not finite", e->run.clock.time, e->run.step.size, error);
    const double mass = e->method.deterministic ? engine_exact_sum(e) : sums->mass;
    double entered = 0;
    for (int k = 0; k < e->context.targets.count; k++)
        entered += sums->entered[k];
    gbees_ledger_step(&e->run.ledger, mass, sums->clipped,
                      e->method.split ? sums->outflow : gbees_ledger_missing(&e->run.ledger, mass, sums->clipped),
                      entered);
    return e->context.targets.count ? engine_enter(e, sums->entered, error) : 0;
}

int engine_step(gbees_engine *e, gbees_error *error)
{
    kernel_sums sums = {0};
    double now = e->run.clock.time;
    int status = 0;

    e->is_initial = 0;
    if (e->problem->moving) /* inspected by engine_frame_set(), for this step's velocities */
        now = e->inspected;
    else if (e->context.drift.time_dependent) {
        now = gbees_step_look(&e->run.clock, &e->run.step);
        status = engine_inspect(e, 0, now, error);
    }
    if (e->context.drift.time_dependent)
        status = ranks_agree(e->ranks, status, error);
    if (!status)
        status = engine_grow(e, now, error);
    if (!status)
        status = choose_step(e, error);
    if (status)
        return status;
    e->context.step = e->run.step.size;
    e->context.time = gbees_step_middle(&e->run.clock, &e->run.step);
    e->context.threshold = engine_threshold(e) * e->run.ledger.mass;
    e->context.lean = gbees_ledger_lean(&e->run.ledger);
    if (e->context.targets.count) /* which may take all */
        e->context.threshold = fmax(e->context.threshold, FLT_MIN);
    if (e->targets.changes)
        status = engine_find_targets(e, 0, e->context.time, error);
    if (status)
        return status;
    set_context_rows(e);
    const double began = ranks_own_seconds(e->ranks);
    status = advect_and_diffuse(e, &sums, error);
    ranks_enter_speed(e->ranks, began);
    if (!status)
        status = update_ledger(e, &sums, error);
    if (status)
        return status;
    gbees_run_state_step(&e->run, (uint32_t)engine_bricks(e), e->cells,
                         (uint32_t)e->problem->numerics.prune_interval);
    if (e->targets.changes)
        status = engine_find_targets(e, 0, e->run.clock.time, error);
    if (status || e->run.ledger.mass == 0) /* targets have taken all: nothing is left to choose bricks by */
        return status;
    if (e->run.clock.phase == 0)
        return engine_prune(e, e->run.clock.time, 0, error);
    return balance_step(e, error);
}

int engine_advance(gbees_engine *e, gbees_clock *clock, uint64_t max_steps, gbees_error *error)
{
    int status = 0;

    e->run.clock = step_clock_load(clock, (uint32_t)e->problem->numerics.prune_interval);
    for (uint64_t k = 0; k < max_steps && e->run.clock.elapsed < e->run.clock.length && !status; k++)
        status = engine_step(e, error);
    step_clock_store(&e->run.clock, clock);
    ranks_report(e->ranks, e->g.peak_bytes + e->workspace.buffer_size);
    return status;
}
