/* stop_error.c - turns the reason for which a kernel has stopped, and its place, into an error of common/failure.h.
 * */
#include "stop_error.h"
#include "common/failure.h"
#include "engine.h"
#include "locate.h"

int engine_drift_error(const gbees_engine *e, uint32_t slot, double time, gbees_error *error)
{
    int32_t key[GBEES_MAX_DIM];
    gbees_error ignored;
    const int is_located = engine_locate_brick(e, slot, key, &ignored) == 0;

    return failure_drift(e->problem, &e->setup.shape, is_located ? key : NULL, time, error);
}

double engine_look_time(const gbees_engine *e)
{
    const gbees_state *s = e->state;
    const int is_timed = (e->problem->model->flags & GBEES_TIME_DEPENDENT) != 0 && !e->problem->moving;

    return is_timed ? gbees_step_look(&s->run.clock, &s->run.step) : s->run.clock.time;
}

int engine_stop_error(const gbees_engine *e, gbees_error *error)
{
    const gbees_state *s = e->state;

    if (s->bad && s->stop != STOP_NOISE)
        return engine_drift_error(e, s->bad - 1, engine_look_time(e), error);
    switch (s->stop) {
    case STOP_DRIFT:
        return engine_drift_error(e, s->where, engine_look_time(e), error);
    case STOP_NOISE:
        return engine_drift_error(e, s->where, gbees_step_middle(&s->run.clock, &s->run.step), error);
    case STOP_FAR:
        return failure_far(e->problem, (int)s->where, STATE_KEY_LIMIT, error);
    case STOP_TARGET:
        return failure_target(e->problem, s->run.clock.time, error);
    case STOP_MASS:
        return failure_mass(s->run.ledger.mass > 0 ? "zero or not finite" : "zero", s->run.clock.time,
                            s->run.step.size, error);
    case STOP_STEP:
        return failure_step(s->run.clock.time, s->run.step.size, error);
    case STOP_COURANT:
        return failure_courant(s->run.clock.time, s->run.step.size, s->plan.courant, e->setup.courant_limit, error);
    case STOP_EMPTY:
        return failure_empty(e->setup.threshold, error);
    default:
        return 0;
    }
}
