/* ranks_step.c - steps of a grid that several ranks share: the single GPU's, with the host between its passes; see
 * ranks.h. */
#include "common/failure.h"
#include "launch.h"
#include "numerics/fixed.h"
#include "ranks.h"
#include "stop_error.h"
#include <string.h>

/* New cuts are chosen where a rank has so many times the mean number of bricks. */
static const double MOST_LOADED = 1.1;

static double double_of(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static int gives_up(const gbees_engine *e, const gbees_error *error)
{
    exchange_abort(e->ranks->parallel, error->text);
    return error->status;
}

/* ---- before a step ---- */

/* Inserts the bricks that active cells flow into; all ranks go on with what is new. *too_small: some heap was too
 * small.
 */
static int grow(gbees_engine *e, int has_grown, int *too_small, gbees_error *error)
{
    uint64_t step = e->state->run.steps;
    void *arguments[] = {&e->setup, &e->device_state.at, &step};
    if (!has_grown)
        memset(e->state->sums, 0, sizeof e->state->sums);
    int status = has_grown ? 0 : ranks_inspect(e, e->state->run.clock.time, error);
    if (!status)
        status = engine_send_state(e, "advancing the density", error);
    if (!has_grown) {
        if (!status)
            status = engine_start(e, KERNEL_GROW, arguments, error);
        if (!status)
            status = engine_fetch_state(e, "advancing the density", error);
    }
    if (status)
        return gives_up(e, error);
    status = ranks_spread(e, step, too_small, error);
    if (!status && e->state->far_axis)
        status = failure_far(e->problem, (int)e->state->far_axis - 1, STATE_KEY_LIMIT, error);
    return status;
}

/* Largest rates of all ranks, and whether a rank has failed or is too_small. */
static int agree_on_rates(gbees_engine *e, int status, int *too_small, double *rate, gbees_error *error)
{
    gbees_state *s = e->state;
    const gbees_step_sums *sums = &s->sums[s->run.steps % STATE_SUMS];
    double most[4] = {double_of(sums->max_rate), double_of(sums->max_active_rate), *too_small, 0};

    if (!status && s->bad)
        status = engine_drift_error(e, s->bad - 1, s->run.clock.time, error);
    most[3] = status != 0;
    ranks_most(e, most, 4);
    *rate = gbees_cfl_rate(most[0], most[1]);
    *too_small = most[2] > 0;
    return most[3] > 0 ? ranks_agree(e, status, error) : 0;
}

/* As choose_step() of device/advance.h. */
static int choose_step(gbees_engine *e, double rate, gbees_error *error)
{
    const gbees_setup *m = &e->setup;
    gbees_state *s = e->state;
    gbees_step_plan *plan = &s->plan;

    s->run.step =
        gbees_step_choose(&s->run.clock, m->time_step > 0 ? m->time_step : gbees_cfl_step(m->courant, rate));
    s->stop = STOP_DONE;
    if (gbees_step_exceeds(s->run.step.size, rate, m->courant_limit)) {
        s->stop = STOP_COURANT;
        plan->courant = s->run.step.size * rate;
    } else if (gbees_step_vanishes(&s->run.clock, &s->run.step)) {
        s->stop = STOP_STEP;
    }
    plan->threshold = e->budget.threshold * s->run.ledger.mass;
    plan->prune_follows = gbees_prune_follows(&s->run.clock, m->prune_interval);
    plan->grows = !plan->prune_follows && !s->run.step.is_last && !(e->problem->model->flags & GBEES_TIME_DEPENDENT);
    return engine_stop_error(e, error);
}

/* ---- after a step ---- */

/* Enters a step into the clock and the ledger, from the sums of all ranks: as update_ledger() of device/advance.h. */
static int enter_step(gbees_engine *e, gbees_error *error)
{
    gbees_state *s = e->state;
    const gbees_step_sums *own = &s->sums[s->run.steps % STATE_SUMS];
    int64_t sums[4] = {own->mass, own->clipped, own->outflow, s->linked};
    double most = (double)s->linked;

    ranks_sum(e, sums, 4);
    ranks_most(e, &most, 1);
    e->ranks->imbalance += most * e->ranks->parallel->ranks / (double)sums[3];
    e->ranks->steps++;
    e->ranks->bricks = (uint64_t)sums[3];
    const double mass = gbees_fixed_value(sums[0]);
    if (!(mass > 0))
        return failure_mass(s->run.ledger.mass > 0 ? "zero or not finite" : "zero", s->run.clock.time,
                            s->run.step.size, error);
    const double clipped = gbees_fixed_value(sums[1]), outflow = gbees_fixed_value(sums[2]);
    gbees_mass_ledger *ledger = &s->run.ledger;
    gbees_ledger_step(ledger, mass, clipped, e->setup.sweeps ? outflow : gbees_ledger_missing(ledger, mass, clipped));
    gbees_run_step(&s->run, (uint32_t)sums[3], 64, e->setup.prune_interval);
    return 0;
}

/* Prunes all ranks' bricks, and enters that: as finish_prune() of device/shrink.h. Ghosts are gone then. */
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
    ranks_sum(e, sums, 2);
    const double mass = gbees_fixed_value(sums[0]);
    gbees_ledger_prune(&run.ledger, mass);
    gbees_work_count(&run.work, (uint64_t)sums[1]);
    s->run = run;
    s->ghosts = e->ranks->ghosts = 0;
    s->linked = s->count;
    s->stop = STOP_DONE;
    ranks_count(e);
    return mass > 0 ? 0 : failure_empty(e->setup.threshold, error);
}

/* p* of a mass budget, from the bricks of all ranks. */
static void steer(gbees_engine *e)
{
    const gbees_state *s = e->state;
    double is_short = engine_is_short(e);

    if (!e->setup.stop_at_prunes)
        return;
    ranks_most(e, &is_short, 1);
    mass_budget_steer(&e->budget, s->run.clock.time, gbees_ledger_lost(&s->run.ledger),
                      64.0 * (double)e->ranks->bricks, is_short > 0);
}

int ranks_shrink(gbees_engine *e, gbees_error *error)
{
    struct engine_ranks *ranks = e->ranks;
    int status = prune(e, error);

    if (status)
        return status;
    steer(e);
    if (ranks->bricks < ranks->split_from / 2)
        return ranks_collect(e, error);
    if (ranks->busiest * ranks->parallel->ranks > MOST_LOADED * (double)ranks->bricks) {
        status = ranks_cut(e, error);
        return status ? status : ranks_renew(e, 1, error);
    }
    return ranks_renew(e, 1, error);
}

/* Takes one step. */
static int take_step(gbees_engine *e, gbees_error *error)
{
    double rate = 0, noise_steps = 0;
    int too_small = 1, grown = e->ranks->has_grown, status = 0;

    e->ranks->has_grown = 0;

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
    e->ranks->has_grown = e->state->plan.grows;
    status = enter_step(e, error);
    return status || !e->state->plan.prune_follows ? status : ranks_shrink(e, error);
}

int ranks_settle(gbees_engine *e, gbees_error *error)
{
    double rate;
    int too_small = 0, status;

    if (!e->ranks->has_grown)
        return 0;
    e->ranks->has_grown = 0;
    status = grow(e, 1, &too_small, error);
    status = agree_on_rates(e, status, &too_small, &rate, error);
    return status || !too_small ? status : ranks_renew(e, 0, error);
}

int ranks_steps(gbees_engine *e, uint64_t target, gbees_error *error)
{
    const gbees_run_state *run = &e->state->run;
    int status = 0;

    while (!status && e->ranks->is_split && run->steps < target && run->clock.elapsed < run->clock.length)
        status = take_step(e, error);
    ranks_report(e);
    return status;
}
