/* step.c - one time step: grow, choose the step, two passes over the bricks, prune (paper, Fig. 1). */
#include "common/failure.h"
#include "engine.h"
#include "numerics/fixed.h"
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

double engine_rate(const gbees_engine *e)
{
    double most = 0, busy = 0;

#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) schedule(static) reduction(max : most, busy)
    for (uint32_t k = 0; k < e->g.count; k++) {
        uint32_t slot = e->g.used[k];
        double rate = e->rate[slot];

        most = rate > most ? rate : most;
        if (e->active[slot])
            busy = rate > busy ? rate : busy;
    }
    /* Bricks without a cell above p* lie around the others and would cost a tenth more steps; what little they hold
     * may go at a Courant number of up to 1.25. */
    if (e->cells == 1)
        return most;
    return busy < 0.8 * most ? 0.8 * most : busy;
}

void engine_count(gbees_engine *e, uint64_t needed)
{
    e->totals.cell_updates += e->needed_steps * 0.5 * ((double)e->needed_count + (double)needed);
    e->needed_steps = 0;
    e->needed_count = needed;
    if (needed > e->totals.max_cells)
        e->totals.max_cells = needed;
}

/* The two passes of ctu; ctu-positive looks first how much of its fluxes each cell can serve. */
static int advance_bricks(gbees_engine *e, kernel_sums *total, gbees_error *error)
{
    const uint32_t chunks = engine_chunks(e), chunk = engine_chunk(e);
    const int threads = engine_threads(e, e->g.count);
    kernel_sums *sums = malloc((chunks + 1u) * sizeof *sums);
    void (*update)(const kernel_context *, uint32_t, uint32_t, kernel_sums *) =
        e->share ? e->kernel->update_shared : e->kernel->update;

    if (!sums)
        return gbees_error_set(error, GBEES_ENOMEM, "out of memory in a step over %u bricks", e->g.count);
    team_deal(e->shares, threads, chunks);
#pragma omp parallel num_threads(threads)
    for (uint32_t at; (at = team_take(e->shares, threads, engine_thread())) < chunks;)
        e->kernel->transverse(&e->context, at * chunk, engine_chunk_end(e, at));
    team_deal(e->shares, threads, e->share ? chunks : 0);
#pragma omp parallel num_threads(threads)
    for (uint32_t at; (at = team_take(e->shares, threads, engine_thread())) < chunks;)
        e->kernel->share(&e->context, at * chunk, engine_chunk_end(e, at));
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
    e->context.p = e->p;
    e->context.s = e->s;
    e->context.next = e->next;
    e->context.share = e->share;
    e->context.active = e->active;
    e->context.density = e->p;
}

/* What the drift does in a step. */
static int carry(gbees_engine *e, int settle, kernel_sums *sums, gbees_error *error)
{
    int status = 0;

    e->context.inside = settle ? e->inside : NULL; /* what is out of bound goes at the end of the step */
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
    uint64_t taken = e->problem->steps_before + e->totals.steps;
    int status = e->context.noise ? engine_noise_steps(e, &steps, error) : 0;

    if (status || steps == 0)
        return status ? status : carry(e, 1, sums, error);
    if (taken % 2) {
        status = engine_diffuse(e, steps, 0, sums, error);
        return status ? status : carry(e, 1, sums, error);
    }
    status = carry(e, 0, sums, error);
    sums->mass = 0; /* of ctu: it is counted again */
    return status ? status : engine_diffuse(e, steps, 1, sums, error);
}

/* Above Courant number 1 sweeps that disturb each other are what limits a step; at 1 that may be. */
static double largest_step(const gbees_engine *e)
{
    double courant = e->problem->numerics.courant, rate = engine_rate(e); /* no flow: infinite */

    return courant > 1 ? fmin(courant / rate, fmax(1 / rate, 0.1 / e->totals.coupling)) : courant / rate;
}

/* The step for this state of the density, and whether it reaches the end of the interval. */
static int choose_step(const gbees_engine *e, const gbees_clock *clock, double *step, int *last, gbees_error *error)
{
    const gbees_numerics *numerics = &e->problem->numerics;
    double rest = clock->length - clock->elapsed;

    *step = numerics->time_step > 0 ? numerics->time_step : largest_step(e);
    *last = !(*step < rest);
    if (*last)
        *step = rest;
    if (!*last && clock->elapsed + *step == clock->elapsed)
        return failure_step(clock->time, *step, error);
    return 0;
}

/* The ledger: sum of P = 1 + clipped + normalised - outflow - pruned. */
static int settle_mass(gbees_engine *e, const gbees_clock *clock, const kernel_sums *sums, gbees_error *error)
{
    double before = e->mass;

    if (!isfinite(sums->mass) || sums->mass <= 0)
        return failure_mass(sums->mass == 0 ? "zero" : "not finite", clock->time, e->context.step, error);
    e->totals.mass_clipped += sums->clipped;
    e->totals.mass_outflow += e->split ? sums->outflow : before + sums->clipped - sums->mass;
    e->mass = e->deterministic ? exact_sum(e) : sums->mass;
    if (e->problem->numerics.mode != GBEES_MODE_DEFAULT) {
        engine_scale(e, 1 / e->mass);
        e->totals.mass_normalised += 1 - e->mass;
        e->mass = 1;
    }
    return 0;
}

static int pruning_due(const gbees_engine *e, const gbees_clock *clock)
{
    return clock->leg_step % (uint64_t)e->problem->numerics.prune_interval == 0;
}

int engine_step(gbees_engine *e, gbees_clock *clock, gbees_error *error)
{
    int moving = (e->problem->model->flags & GBEES_TIME_DEPENDENT) != 0, last, status = 0;
    kernel_sums sums = {0};
    double step;

    e->untouched = 0;
    if (moving)
        status = engine_inspect(e, 0, clock->time, error);
    if (!status)
        status = engine_grow(e, clock->time, error);
    if (!status)
        status = choose_step(e, clock, &step, &last, error);
    if (status)
        return status;
    e->context.step = step;
    e->context.time = clock->time + (e->paper ? 0 : step / 2);
    e->context.threshold = engine_threshold(e) * e->mass;
    show_rows(e);
    status = carry_and_diffuse(e, &sums, error);
    if (!status)
        status = settle_mass(e, clock, &sums, error);
    if (status)
        return status;
    clock->time += step;
    clock->elapsed = last ? clock->length : clock->elapsed + step;
    clock->leg_step++;
    e->totals.steps++;
    e->totals.time_step = step;
    e->needed_steps++;
    e->totals.raw_cell_updates += (double)e->g.count * e->cells;
    return pruning_due(e, clock) ? engine_prune(e, clock->time, error) : 0;
}
