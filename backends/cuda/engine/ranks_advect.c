/* ranks_advect.c - the passes of a step of a grid that several ranks share: before each, ghosts get the rows that it
 * reads; see ranks.h. */
#include "launch.h"
#include "numerics/diffusion.h"
#include "numerics/sweeps.h"
#include "ranks.h"
#include "stop_error.h"
#include <math.h>
#include <string.h>

static const char doing[] = "advancing the density";

/* The rows that hold the density after so many of the advection's passes, as rows_after() of device/step_state.h. */
static int rows_after(const gbees_engine *e, int passes)
{
    const int current = e->state->current, changes = e->setup.sweeps ? passes : passes / e->passes;

    return changes % 2 ? !current : current;
}

/* gbees_step_plan.parts; NULL: no sweep is repeated. */
static const int *parts_of(const gbees_engine *e)
{
    return gbees_problem_noise_in_sweeps(e->problem) ? e->state->plan.parts : NULL;
}

/* What a pass reads of the ghosts. A sweep: P of those along its axis. ctu: P, then the transverse sums (rows 2),
 * along each axis. */
static int refresh_for(gbees_engine *e, int pass, gbees_error *error)
{
    const uint64_t steps = e->state->run.steps;
    const int n = e->problem->dimension;

    if (!e->setup.sweeps)
        return ranks_refresh_classes(e, pass == 0 ? rows_after(e, 0) : 1 + pass, n - 1, error);
    return ranks_refresh(
        e, e->rows[rows_after(e, pass)].at,
        gbees_pass_axis(n, gbees_sweep_turn(n, steps), gbees_step_is_reversed(steps), parts_of(e), pass), error);
}

static int advect(gbees_engine *e, gbees_error *error)
{
    int status = 0;

    for (int pass = 0; pass < engine_planned_passes(e) && !status; pass++) {
        status = refresh_for(e, pass, error);
        if (!status)
            status = engine_launch_pass(e, KERNEL_ADVECT, pass, error);
    }
    return status;
}

/* As diffuse() of device/diffusion.h, of the density in rows `current`: explicit steps there and back. */
static int diffuse(gbees_engine *e, int current, double steps, gbees_error *error)
{
    const int last = e->problem->dimension - (gbees_problem_engine_noise(e->problem) == GBEES_FULL ? 0 : 1);
    double step = e->state->run.step.size / steps;
    int status = 0;

    for (double k = 0; k < steps && !status; k++)
        for (int half = 0; half < 2 && !status; half++) {
            int from = half ? !current : current;
            void *arguments[] = {&e->setup, &e->device_state.at, &from, &half, &step};

            status = ranks_refresh_classes(e, from, last, error);
            if (!status)
                status = engine_start(e, KERNEL_DIFFUSE, arguments, error);
        }
    return status;
}

int ranks_advance_density(gbees_engine *e, double noise_steps, gbees_error *error)
{
    gbees_state *s = e->state;
    const int moved = rows_after(e, engine_planned_passes(e)), reversed = gbees_step_is_reversed(s->run.steps);

    memset(s->sums, 0, sizeof s->sums);
    memset(s->work_queue, 0, sizeof s->work_queue);
    s->stop = STOP_ADVECT;
    e->setup.advect_apart = 1;
    int status = engine_send_state(e, doing, error);
    if (!status && noise_steps > 0 && reversed)
        status = diffuse(e, s->current, noise_steps, error);
    if (!status)
        status = advect(e, error);
    if (!status && noise_steps > 0 && !reversed)
        status = diffuse(e, moved, noise_steps, error);
    if (!status)
        status = engine_launch_pass(e, KERNEL_MARK, 0, error);
    if (!status)
        status = engine_fetch_state(e, doing, error);
    e->setup.advect_apart = 0;
    s->current = moved;
    s->stop = STOP_DONE; /* for the next kernel the density is where the state says */
    return status;
}

/* As plan_noise() of device/diffusion.h, of all ranks' sums; returns the number of explicit steps. */
static double plan_noise(gbees_engine *e, const gbees_step_sums *sums)
{
    const int n = e->problem->dimension;
    gbees_state *s = e->state;
    double all[1 + 2 * STATE_MAX_DIM];

    memcpy(&all[0], &sums->max_noise, sizeof all[0]);
    for (int j = 0; j < n; j++) {
        const uint64_t narrowest = ~sums->narrowest[j];

        memcpy(&all[1 + j], &sums->widest[j], sizeof all[0]);
        memcpy(&all[1 + n + j], &narrowest, sizeof all[0]);
        all[1 + n + j] =
            sums->narrowest[j] ? -all[1 + n + j] : -INFINITY; /* of a rank without bricks, or of full Q */
    }
    ranks_most(e->ranks, all, 1 + 2 * (size_t)n);
    const int swept = gbees_problem_noise_in_sweeps(e->problem);
    s->plan.varies = 0;
    for (int j = 0; j < n; j++)
        s->plan.varies |= swept && all[1 + j] != -all[1 + n + j];
    for (int j = 0; j < n; j++) {
        s->plan.parts[j] = gbees_sweep_parts(s->run.step.size, swept ? all[1 + j] : 0, s->plan.varies);
        s->plan.variance[j] = swept ? s->run.step.size / s->plan.parts[j] * all[1 + j] : 0;
    }
    return swept ? 0 : gbees_diffusion_steps(s->run.step.size, all[0]);
}

int ranks_choose_noise_steps(gbees_engine *e, double *steps, gbees_error *error)
{
    gbees_state *s = e->state;
    gbees_step_sums *sums = &s->sums[s->run.steps % STATE_SUMS];
    void *arguments[] = {&e->setup, &e->device_state.at};

    *steps = 0;
    if (!gbees_problem_engine_noise(e->problem))
        return 0;
    memset(s->sums, 0, sizeof s->sums);
    int status = split_run(e, KERNEL_NOISE_RATES, arguments, doing, error);
    if (!status && s->bad)
        status = engine_drift_error(e, s->bad - 1, gbees_step_middle(&s->run.clock, &s->run.step), error);
    *steps = plan_noise(e, sums);
    return ranks_agree(e->ranks, status, error);
}
