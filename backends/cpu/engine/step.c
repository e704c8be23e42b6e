/* step.c - one time step: grow, choose the step, two passes over the bricks, prune (paper, Fig. 1). */
#include "common/failure.h"
#include "engine.h"
#include "numerics/fixed.h"
#include "numerics/sweeps.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The same on every processor. */
static double exact_sum(const gbees_engine *e)
{
    int64_t total = 0;

#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) schedule(static) reduction(+ : total)
    for (uint32_t k = 0; k < e->g.count; k++) {
        size_t at = (size_t)e->g.used[k] * (size_t)e->cells;

        for (int cell = 0; cell < e->cells; cell++)
            total += gbees_fixed(engine_p(e, at + (size_t)cell));
    }
    return gbees_fixed_value(total);
}

/* Of used bricks [from, to) without a flag. */
static double sum_others(const gbees_engine *e, const unsigned char *but, uint32_t from, uint32_t to)
{
    double sum = 0;

    for (uint32_t k = from; k < to; k++)
        if (!but[k])
            sum += e->kernel->sum_rows(&e->context, e->p, k, k + 1);
    return sum;
}

int engine_sum(const gbees_engine *e, const unsigned char *but, double *sum, gbees_error *error)
{
    uint32_t chunks = engine_chunks(e), chunk = engine_chunk(e);

    if (e->deterministic && !but) {
        *sum = exact_sum(e);
        return 0;
    }
    double *parts = malloc((chunks + 1u) * sizeof *parts);
    if (!parts)
        return gbees_error_set(error, GBEES_ENOMEM, "out of memory for the sum over %u bricks", e->g.count);
#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) schedule(static)
    for (uint32_t at = 0; at < chunks; at++) {
        const uint32_t from = at * chunk, to = engine_chunk_end(e, at);

        parts[at] = but ? sum_others(e, but, from, to) : e->kernel->sum_rows(&e->context, e->p, from, to);
    }
    *sum = 0;
    for (uint32_t at = 0; at < chunks; at++)
        *sum += parts[at];
    free(parts);
    return 0;
}

void engine_scale(gbees_engine *e, double factor)
{
#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) schedule(static)
    for (uint32_t k = 0; k < e->g.count; k++) {
        size_t at = (size_t)e->g.used[k] * (size_t)e->cells;

        for (int cell = 0; cell < e->cells; cell++)
            engine_set_p(e, at + (size_t)cell, engine_p(e, at + (size_t)cell) * factor);
    }
}

/* The rate that limits the step: 1 / the step of Courant number 1. */
static double limiting_rate(const gbees_engine *e)
{
    double largest = 0, active = 0; /* of all bricks; of those with a cell above p* */

#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) schedule(static) reduction(max : largest, active)
    for (uint32_t k = 0; k < e->g.count; k++) {
        uint32_t slot = e->g.used[k];
        double rate = e->rate[slot];

        largest = rate > largest ? rate : largest;
        if (e->active[slot])
            active = rate > active ? rate : active;
    }
    return e->cells == 1 ? largest : gbees_cfl_rate(largest, active);
}

/* The two passes of ctu; ctu-positive looks first how much of its fluxes each cell can serve. */
static int advance_bricks(gbees_engine *e, kernel_sums *total, gbees_error *error)
{
    const uint32_t chunks = engine_chunks(e), chunk = engine_chunk(e);
    const int threads = engine_threads(e, e->g.count);
    kernel_sums *sums = malloc((chunks + 1u) * sizeof *sums);
    void (*update)(const kernel_context *, uint32_t, uint32_t, kernel_sums *) =
        e->share ? e->kernel->update_limited : e->kernel->update;

    if (!sums)
        return gbees_error_set(error, GBEES_ENOMEM, "out of memory in a step over %u bricks", e->g.count);
    team_deal(e->shares, threads, chunks);
#pragma omp parallel num_threads(threads)
    for (uint32_t at; (at = team_take(e->shares, threads, engine_thread())) < chunks;)
        e->kernel->transverse(&e->context, at * chunk, engine_chunk_end(e, at));
    team_deal(e->shares, threads, e->share ? chunks : 0);
#pragma omp parallel num_threads(threads)
    for (uint32_t at; (at = team_take(e->shares, threads, engine_thread())) < chunks;)
        e->kernel->find_limiter(&e->context, at * chunk, engine_chunk_end(e, at));
    team_deal(e->shares, threads, chunks);
#pragma omp parallel num_threads(threads)
    for (uint32_t at; (at = team_take(e->shares, threads, engine_thread())) < chunks;) {
        sums[at] = (kernel_sums){0};
        update(&e->context, at * chunk, engine_chunk_end(e, at), &sums[at]);
    }
    engine_add_sums(sums, chunks, total);
    free(sums);
    return 0;
}

static void swap_density(gbees_engine *e)
{
    void *p = e->p;

    e->p = e->next;
    e->next = p;
}

static void show_rows(gbees_engine *e)
{
    e->context.rows.p = e->p;
    e->context.rows.s = e->s;
    e->context.rows.next = e->next;
    e->context.rows.limiter = e->share;
    e->context.rows.active = e->active;
}

/* What the drift does in a step. */
static int carry(gbees_engine *e, int settle, kernel_sums *sums, gbees_error *error)
{
    int status = 0;

    e->context.rows.inside = settle ? e->inside : NULL; /* what is out of bound goes at the end of the step */
    if (e->paper)
        paper_step(e, e->context.step, sums);
    else
        status = e->split ? engine_sweep(e, settle, sums, error) : advance_bricks(e, sums, error);
    if (!status && !e->split)
        swap_density(e);
    show_rows(e);
    return status;
}

/* Drift, then diffusion; in the next step the other way round, as the sweeps: together of second order in time. */
static int carry_and_diffuse(gbees_engine *e, kernel_sums *sums, gbees_error *error)
{
    double steps = 0;
    int status = e->context.noise.evaluate ? engine_noise_steps(e, &steps, error) : 0;

    if (status || steps == 0)
        return status ? status : carry(e, 1, sums, error);
    if (gbees_step_is_reversed(e->run.steps)) {
        status = engine_diffuse(e, steps, 0, sums, error);
        return status ? status : carry(e, 1, sums, error);
    }
    status = carry(e, 0, sums, error);
    sums->mass = 0; /* of ctu: it is counted again */
    return status ? status : engine_diffuse(e, steps, 1, sums, error);
}

/* Chooses the step for this state of the density. */
static int choose_step(gbees_engine *e, gbees_error *error)
{
    const gbees_numerics *numerics = &e->problem->numerics;
    const double fixed = numerics->time_step;

    e->run.step = gbees_step_choose(
        &e->run.clock, fixed > 0 ? fixed : gbees_coupled_step(numerics->courant, limiting_rate(e), e->coupling));
    return gbees_step_vanishes(&e->run.clock, &e->run.step) ? failure_step(e->run.clock.time, e->run.step.size, error)
                                                            : 0;
}

/* Enters a step's sums into the ledger; normalises the density in the reference's modes. */
static int update_ledger(gbees_engine *e, const kernel_sums *sums, gbees_error *error)
{
    if (!isfinite(sums->mass) || sums->mass <= 0)
        return failure_mass(sums->mass == 0 ? "zero" : "not finite", e->run.clock.time, e->run.step.size, error);
    gbees_ledger_step(&e->run.ledger, sums->mass, sums->clipped,
                      e->split ? sums->outflow : gbees_ledger_missing(&e->run.ledger, sums->mass, sums->clipped));
    if (e->deterministic)
        e->run.ledger.mass = exact_sum(e);
    if (e->problem->numerics.mode != GBEES_MODE_DEFAULT) {
        engine_scale(e, 1 / e->run.ledger.mass);
        gbees_ledger_normalise(&e->run.ledger);
    }
    return 0;
}

int engine_step(gbees_engine *e, gbees_error *error)
{
    kernel_sums sums = {0};
    int status = 0;

    e->is_initial = 0;
    if (e->context.drift.time_dependent)
        status = engine_inspect(e, 0, e->run.clock.time, error);
    if (!status)
        status = engine_grow(e, e->run.clock.time, error);
    if (!status)
        status = choose_step(e, error);
    if (status)
        return status;
    e->context.step = e->run.step.size;
    e->context.time = e->paper ? e->run.clock.time : gbees_step_middle(&e->run.clock, &e->run.step);
    e->context.threshold = engine_threshold(e) * e->run.ledger.mass;
    show_rows(e);
    status = carry_and_diffuse(e, &sums, error);
    if (!status)
        status = update_ledger(e, &sums, error);
    if (status)
        return status;
    gbees_run_step(&e->run, e->g.count, e->cells, (uint32_t)e->problem->numerics.prune_interval);
    return e->run.clock.phase == 0 ? engine_prune(e, e->run.clock.time, error) : 0;
}
