/* ranks_step.c - steps of a split grid. Each rank's GPU computes the passes of a step (device/advance.h) on its own
 * bricks. Between them the hosts exchange rows of ghosts and requests for bricks, and each computes the clock, the
 * step and the ledger from the sums of all ranks: the same on all. See ranks.h. */
#include "common/failure.h"
#include "launch.h"
#include "numerics/fixed.h"
#include "ranks.h"
#include "stop_error.h"
#include <string.h>

/* New cuts are chosen if a rank has more than so many times the mean number of bricks. */
static const double MOST_LOADED = 1.1;

/* A double from its bits, as kernels store maxima. */
static double double_of(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Ends all ranks with an error of this one: the others wait for its messages, and can't agree with it on an error. */
static int gives_up(const gbees_engine *e, const gbees_error *error)
{
    ranks_abort(e->ranks, error->text);
    return (int)error->status;
}

/* ---- before a step ---- */

/* All ranks: inserts the bricks that active cells flow into, on their owners and as ghosts, and links them.
 * has_grown: the last step has inserted them on this rank. Sets *too_small as ranks_spread() does. */
static int grow(gbees_engine *e, int has_grown, int *too_small, gbees_error *error)
{
    uint64_t step = e->state->run.steps;
    void *arguments[] = {&e->setup, &e->device_state.at, &step};
    if (!has_grown)
        memset(e->state->sums, 0, sizeof e->state->sums);
    int status = has_grown ? 0 : ranks_inspect(e, engine_look_time(e), error);
    if (!status)
        status = has_grown ? engine_send_state(e, "advancing the density", error)
                           : split_run(e, KERNEL_GROW, arguments, "advancing the density", error);
    if (status)
        return gives_up(e, error);
    status = ranks_spread(e, step, too_small, error);
    if (!status && e->state->far_axis)
        status = failure_far(e->problem, (int)e->state->far_axis - 1, STATE_KEY_LIMIT, error);
    return status;
}

/* All ranks: sets *rate to the CFL rate of the whole grid, and *too_small to whether any rank's heap is. Returns the
 * error of a rank whose `status` is one, or which has found an invalid velocity. */
static int agree_on_rates(gbees_engine *e, int status, int *too_small, double *rate, gbees_error *error)
{
    gbees_state *s = e->state;
    const gbees_step_sums *sums = &s->sums[s->run.steps % STATE_SUMS];
    double most[4] = {double_of(sums->max_rate), double_of(sums->max_active_rate), *too_small, 0};

    if (!status && s->bad)
        status = engine_drift_error(e, s->bad - 1, engine_look_time(e), error);
    most[3] = status != 0;
    ranks_most(e->ranks, most, 4);
    *rate = gbees_cfl_rate(most[0], most[1]);
    *too_small = most[2] > 0;
    return most[3] > 0 ? ranks_agree(e->ranks, status, error) : 0;
}

/* Chooses and plans the step, as choose_step() of device/advance.h does. Returns an error if it is refused. */
static int choose_step(gbees_engine *e, double rate, gbees_error *error)
{
    const gbees_setup *m = &e->setup;
    gbees_state *s = e->state;
    gbees_step_plan *plan = &s->plan;
    const int is_time_dependent = (e->problem->model->flags & GBEES_TIME_DEPENDENT) != 0;
    const double longest = m->time_step > 0 ? m->time_step : gbees_cfl_step(m->courant, rate);

    s->run.step = gbees_step_choose(
        &s->run.clock, longest,
        gbees_step_follows(is_time_dependent, m->time_step, e->problem->moving, &s->run.step) ? &s->run.step : NULL);
    s->stop = STOP_DONE;
    if (gbees_step_exceeds(s->run.step.size, rate, m->courant_limit)) {
        s->stop = STOP_COURANT;
        plan->courant = s->run.step.size * rate;
    } else if (gbees_step_vanishes(&s->run.clock, &s->run.step)) {
        s->stop = STOP_STEP;
    }
    plan->threshold = e->budget.threshold * s->run.ledger.mass;
    plan->prune_follows = gbees_prune_follows(&s->run.clock, m->prune_interval);
    plan->grows = !plan->prune_follows && !s->run.step.is_last && !is_time_dependent;
    return engine_stop_error(e, error);
}

/* ---- after a step ---- */

/* All ranks: enters a step into the clock, the ledger and the work, from the sums of all ranks, as update_ledger() of
 * device/advance.h does. */
static int enter_step(gbees_engine *e, gbees_error *error)
{
    gbees_state *s = e->state;
    const gbees_step_sums *own = &s->sums[s->run.steps % STATE_SUMS];
    int64_t sums[4] = {own->mass, own->clipped, own->outflow, s->linked};

    ranks_sum(e->ranks, sums, 4);
    e->ranks->busiest = speeds_load(&e->ranks->speeds, (double)s->linked);
    ranks_most(e->ranks, &e->ranks->busiest, 1);
    ranks_enter_step(e->ranks, s->linked, (uint64_t)sums[3]);
    const double mass = gbees_fixed_value(sums[0]);
    if (!(mass > 0))
        return failure_mass(s->run.ledger.mass > 0 ? "zero or not finite" : "zero", s->run.clock.time,
                            s->run.step.size, error);
    const double clipped = gbees_fixed_value(sums[1]), outflow = gbees_fixed_value(sums[2]);
    gbees_mass_ledger *ledger = &s->run.ledger;
    gbees_ledger_step(ledger, mass, clipped, e->setup.sweeps ? outflow : gbees_ledger_missing(ledger, mass, clipped),
                      0);
    gbees_run_state_step(&s->run, (uint32_t)sums[3], 64, e->setup.prune_interval);
    return 0;
}

/* All ranks: prunes the grid, and enters that into the ledger and the work, as finish_prune() of device/shrink.h
 * does. No ghosts are left. */
static int prune(gbees_engine *e, gbees_error *error)
{
    gbees_state *s = e->state;
    gbees_run_state run = s->run;
    int status = ranks_refresh_classes(e, s->current, e->problem->dimension, error);

    s->stop = STOP_PRUNE;
    if (!status)
        status = engine_launch_prune(e, error);
    if (status)
        return gives_up(e, error);
    int64_t sums[2] = {s->marked_mass, (int64_t)s->marked_needed};
    ranks_sum(e->ranks, sums, 2);
    const double mass = gbees_fixed_value(sums[0]);
    gbees_ledger_prune(&run.ledger, mass);
    gbees_work_count(&run.work, (uint64_t)sums[1]);
    s->run = run;
    s->ghosts = e->split->ghosts = 0;
    s->linked = s->count;
    s->stop = STOP_DONE;
    (void)ranks_count(e->ranks, s->count);
    return mass > 0 ? 0 : failure_empty(e->setup.threshold, error);
}

/* All ranks: with a mass budget, sets p* for the steps to come, from the bricks of all ranks. */
static void steer(gbees_engine *e)
{
    const gbees_state *s = e->state;
    double is_short = engine_is_short(e);

    if (!e->setup.stop_at_prunes)
        return;
    ranks_most(e->ranks, &is_short, 1);
    mass_budget_steer(&e->budget, s->run.clock.time, &s->run.ledger, 64.0 * (double)e->ranks->bricks, is_short > 0);
}

int ranks_shrink(gbees_engine *e, gbees_error *error)
{
    engine_ranks *ranks = e->ranks;

    int status = prune(e, error);

    if (status)
        return status;
    steer(e);
    if (ranks->bricks < e->split_from / 2)
        return ranks_collect(e, error);
    if (ranks_load(ranks) > MOST_LOADED) {
        status = ranks_cut(e, error);
        return status ? status : ranks_renew(e, 1, error);
    }
    return ranks_renew(e, 1, error);
}

/* All ranks: takes one step. Growth is repeated with a larger heap if some rank's was too small. */
static int take_step(gbees_engine *e, gbees_error *error)
{
    double rate = 0, noise_steps = 0;
    int too_small = 1, grown = e->split->has_grown, status = 0;

    e->split->has_grown = 0;

    while (too_small && !status) {
        too_small = 0;
        status = grow(e, grown, &too_small, error);
        status = agree_on_rates(e, status, &too_small, &rate, error);
        if (!status && too_small)
            status = ranks_renew(e, 0, error);
        grown = 0;
    }
    if (!status)
        status = choose_step(e, rate, error);
    if (!status)
        status = ranks_choose_noise_steps(e, &noise_steps, error);
    if (status)
        return status;
    if (ranks_advance_density(e, noise_steps, error))
        return gives_up(e, error);
    e->split->has_grown = e->state->plan.grows;
    status = enter_step(e, error);
    return status || !e->state->plan.prune_follows ? status : ranks_shrink(e, error);
}

int ranks_link_inserted(gbees_engine *e, gbees_error *error)
{
    double rate;
    int too_small = 0, status;

    if (!engine_is_split(e) || !e->split->has_grown)
        return 0;
    e->split->has_grown = 0;
    status = grow(e, 1, &too_small, error);
    status = agree_on_rates(e, status, &too_small, &rate, error);
    return status || !too_small ? status : ranks_renew(e, 0, error);
}

int ranks_steps(gbees_engine *e, uint64_t target, gbees_error *error)
{
    const gbees_run_state *run = &e->state->run;
    int status = 0;

    while (!status && engine_is_split(e) && run->steps < target && run->clock.elapsed < run->clock.length)
        status = take_step(e, error);
    ranks_report(e->ranks, e->memory.peak);
    return status;
}
