/* split_fixture.h - for the tests of the CPU backend's split scheme: its steps against plain loops on a dense window.
 */
#ifndef GBEES_TESTS_SPLIT_FIXTURE_H
#define GBEES_TESTS_SPLIT_FIXTURE_H

#include "dense_split.h"
#include "engine_fixture.h"

/* The largest rate of a present cell: 1 / the step of Courant number 1. */
static inline double fastest(const dense *d)
{
    double most = 0;

    for (long i = 0; i < d->cells; i++)
        for (int j = 0; j < d->n && d->present[i]; j++)
            most = fmax(most, fabs(d->v[j][i]) / d->width[j]);
    return most;
}

/* One step of both; `level` is what counts as active before it. Returns the level after it. */
static inline double step_both(rig *r, dense *d, double level)
{
    const gbees_numerics *how = &r->problem.numerics;
    const uint64_t number = rig_totals(r).steps;
    const double before = dense_sum(d), time = r->clock.time;

    rig_velocities(r, d, time);
    dense_grow(d, level);
    rig_steps(r, 1);
    double step = rig_totals(r).time_step, courant = step * fastest(d) / how->courant;
    if (how->cells_per_brick == 1)
        ck_assert_double_eq_tol(courant, 1, how->precision == GBEES_DOUBLE ? 1e-12 : 1e-5);
    else /* bricks below p* may be a little faster */
        ck_assert_double_lt(courant, 1.2501);
    rig_velocities(r, d, time + step / 2);
    split_step(d, number, step, split_form(how->scheme));
    return r->problem.threshold * before;
}

/* Some steps of the rig's problem, compared after each; a threshold that shows all that matters. */
static inline void steps_agree(rig *r, int steps, double tolerance)
{
    dense d;
    double level = rig_begin(r, &d, steps);

    for (int k = 0; k < steps; k++) {
        level = step_both(r, &d, level);
        rig_compare(r, &d, 0, tolerance);
    }
    dense_destroy(&d);
    rig_stop(r);
}

#endif
