/* engine.cu - the kernels: what the host starts. Compiled by NVRTC when a run starts, for one model, one dimension
 * and one precision; by the tests for the host.
 *
 *   GBEES_N          the dimension            GBEES_REAL    float or double: of probabilities
 *   GBEES_SPLIT      1: split5, 0: ctu        GBEES_REAL_IS_DOUBLE  1 if GBEES_REAL is double
 *   GBEES_PRESERVING 1: split5-mp             GBEES_DRIFT_F64    1: positions in double for float probabilities
 *   GBEES_DIVERGENCE 1: ctu-divergence, and ctu-positive, which has GBEES_LIMITED=1, too
 *   GBEES_DRIFT_TIME_DEPENDENT     1: the drift depends on time      GBEES_BOUNDED 1: cells out of the model's bound
 * are not made GBEES_ROTATED     1: the grid is turned GBEES_ADVECT_APART      1: gbees_advance() leaves moving the
 * density to gbees_advect(), always GBEES_SMALL      1: there is gbees_small(), for grids of three dimensions at most
 * whose blocks are one cluster GBEES_DIFFUSION  1: the model has a diagonal diffusion, 2: a full one, or any on a
 * turned grid, 0: none GBEES_WARPS      warps of a block          GBEES_BLOCKS  blocks a multiprocessor is to hold
 *   GBEES_LOW_REGISTERS       1: fewer registers, for more instructions
 *   GBEES_LIKELIHOODS      for the kernels of updates: what measurements have beside Gaussian likelihoods (state.h);
 * all, unless it is said GBEES_MEASURED   for the kernels of updates: components of a measurement, at most
 *   GBEES_KERNELS    which kernels this program contains: a value of device/kernels.h
 */
#include "device/kernels.h"
#include "device/model.h"

#include "device/advance.h"
#include "device/marginals.h"
#include "device/shrink.h"
#if GBEES_SMALL
#include "device/small/steps.h"
#endif
#include "device/update.h"

#if GBEES_HAS_KERNELS(GBEES_KERNELS_ADVANCE)

/* Until `target` steps are done, or something else is due. */
GBEES_KERNEL gbees_advance(GBEES_BY_VALUE gbees_setup m, gbees_state *s, uint64_t target)
{
    BLOCK_LOCAL step_state b;

    wait_for_launch();
    if (s->stop != STOP_AGAIN &&
        s->stop != STOP_ADVECT) /* one of several launches in a row, and none more is wanted */
        return;
    load_step_state(&b, s, target);
    if (is_grid_leader() && !b.advected)
        for (int k = 0; k < STATE_SUMS; k++)
            clear_sums(&s->sums[k]);
    grid_barrier(&m, s);
    advance(&m, s, &b);
    grid_barrier(&m, s);
    store_step_state(s, &b);
}

#endif

#if GBEES_SMALL && GBEES_HAS_KERNELS(GBEES_KERNELS_SMALL)

/* The same, of a grid whose blocks are one cluster, in up to three dimensions, with the prunes between steps.  The
 * state is a parameter, and what changes of it goes to the host's own: no copy is ahead of a launch or behind it. */
GBEES_CLUSTER_KERNEL gbees_small(GBEES_BY_VALUE gbees_setup m, GBEES_BY_VALUE gbees_state from, uint64_t target,
                                 gbees_state *s)
{
    BLOCK_LOCAL small_block b;
    small_warp warp;

    wait_for_launch();
    if (from.count > small_capacity()) {
        if (is_grid_leader()) {
            s->stop = STOP_CAPACITY;
            store_release_system(&s->ended, from.ended + 1);
        }
        return;
    }
    cluster_register_memory(&b);
    small_load(&m, &from, target, &b, &warp);
    grid_barrier(&m, s);
    const uint32_t entered = small_advance(&m, s, &b, &warp);
    if (!entered) /* there has been a prune */
        clear_table_pass(&m);
    grid_barrier(&m, s); /* and no one reaches into another one's memory from here on */
    store_step_state(s, &b.state);
    store_bricks(&m, &warp, entered);
    if (is_grid_leader())
        store_release_system(&s->ended, from.ended + 1);
}

#endif

#if GBEES_HAS_KERNELS(GBEES_KERNELS_ADVECT)

/* One of the ADVECT_PASSES passes of a step, where gbees_advance() leaves them to this kernel. */
GBEES_KERNEL gbees_advect(GBEES_BY_VALUE gbees_setup m, gbees_state *s, int pass)
{
    BLOCK_LOCAL step_state b;

    wait_for_launch();
    if (s->stop != STOP_ADVECT)
        return;
    load_step_state(&b, s, 0);
    if (is_block_leader())
        b.current = rows_after(s->current, pass);
    set_courant(&m, &b);
    advect_pass(&m, s, &b, b.current, pass);
}

#endif

#if GBEES_HAS_KERNELS(GBEES_KERNELS_ADVECT_ALL)

/* All of them, of a grid whose blocks can be there at once. */
GBEES_KERNEL gbees_advect_all(GBEES_BY_VALUE gbees_setup m, gbees_state *s)
{
    BLOCK_LOCAL step_state b;

    wait_for_launch();
    if (s->stop != STOP_ADVECT)
        return;
    load_step_state(&b, s, 0);
    if (is_block_leader())
        b.current = s->current;
    set_courant(&m, &b);
    advect_density(&m, s, &b);
}

#endif

#if GBEES_HAS_KERNELS(GBEES_KERNELS_MARK)

/* What comes after them. */
GBEES_KERNEL gbees_mark(GBEES_BY_VALUE gbees_setup m, gbees_state *s)
{
    wait_for_launch();
    if (s->stop != STOP_ADVECT)
        return;
    mark_and_grow(&m, s, s->linked, rows_after(s->current, ADVECT_PASSES), s->plan.threshold, 1, s->plan.grows,
                  sums_of(s, s->run.steps), sums_of(s, s->run.steps + 1));
}

#endif

#if GBEES_HAS_KERNELS(GBEES_KERNELS_GRID)

/* The initial density: rows and keys of bricks 1 .. count are there. */
GBEES_KERNEL gbees_start(GBEES_BY_VALUE gbees_setup m, gbees_state *s)
{
    uint32_t count = s->count;

    enter_pass(&m, count);
    grid_barrier(&m, s);
    for (uint32_t slot = 1 + warp_index(); slot <= count; slot += warp_count()) {
        set_base(&m, slot);
        link_brick(&m, slot);
#if GBEES_BOUNDED
        clear_blocked(&m, slot);
        find_inside(&m, slot);
#endif
        inspect_brick(&m, s, slot, s->run.clock.time);
    }
    scale_pass(&m, s, s->current, 1);
    grid_barrier(&m, s);
    double mass = gbees_fixed_value((int64_t)load_64((const uint64_t *)&s->marked_mass));
    mark_active_pass(&m, count, s->current, m.threshold * mass);
    if (is_grid_leader()) {
        s->run.ledger.mass = mass;
        s->linked = count;
    }
}

GBEES_KERNEL gbees_scale(GBEES_BY_VALUE gbees_setup m, gbees_findings *found)
{
    wait_for_launch();
    normalise_pass(&m, found);
}

GBEES_KERNEL gbees_statistics(GBEES_BY_VALUE gbees_setup m, gbees_findings *found)
{
    gbees_state *s = &found->state;
    int at = 0;

    moment_pass(&m, s, -1, -1, &found->moment[at++]);
    for (int j = 0; j < DIM; j++)
        moment_pass(&m, s, j, -1, &found->moment[at++]);
    for (int j = 0; j < DIM; j++)
        for (int k = j; k < DIM; k++)
            moment_pass(&m, s, j, k, &found->moment[at++]);
    entropy_pass(&m, found, &found->moment[at]);
    grid_barrier(&m, s);
    peak_pass(&m, found, 0);
    grid_barrier(&m, s);
    peak_pass(&m, found, 1);
}

GBEES_KERNEL gbees_pack(GBEES_BY_VALUE gbees_setup m, gbees_findings *found, uint32_t from, uint32_t to,
                        double threshold, uint64_t *mask, int32_t *key, number *out)
{
    pack_pass(&m, found, from, to, threshold, mask, key, out);
}

GBEES_KERNEL gbees_range(GBEES_BY_VALUE gbees_setup m, gbees_findings *found, double threshold)
{
    range_pass(&m, found, threshold);
}

GBEES_KERNEL gbees_marginal_sums(GBEES_BY_VALUE gbees_setup m, gbees_state *s, GBEES_BY_VALUE gbees_histograms all,
                                 double threshold, int64_t *sums)
{
    marginals_pass(&m, s, &all, threshold, sums);
}

#endif

#if GBEES_HAS_KERNELS(GBEES_KERNELS_PRUNE)

/* After the heap has grown: a table of its own size. */
GBEES_KERNEL gbees_rehash(GBEES_BY_VALUE gbees_setup m, gbees_state *s)
{
    clear_table_pass(&m);
    grid_barrier(&m, s);
    enter_pass(&m, s->count);
}

/* Where a prune is due, or after an update; after it, more steps up to `target` are. */
GBEES_KERNEL gbees_prune(GBEES_BY_VALUE gbees_setup m, gbees_findings *found, uint64_t target)
{
    BLOCK_LOCAL step_state b;
    gbees_state *s = &found->state;

    wait_for_launch();
    if (s->stop != STOP_PRUNE && s->stop != STOP_UPDATED)
        return;
    load_step_state(&b, s, target);
    if (s->stop == STOP_UPDATED && !take_over(&m, found, &b))
        return;
    prune(&m, s, &b);
    store_step_state(s, &b);
}

/* How many cells are needed now; the steps' own marks stay. */
GBEES_KERNEL gbees_count(GBEES_BY_VALUE gbees_setup m, gbees_state *s)
{
    BLOCK_LOCAL step_state b;

    load_step_state(&b, s, 0);
    save_marks_pass(&m, b.count, spare_of(b.current), 0);
    grid_barrier(&m, s);
    mark_needed(&m, s, &b);
    grid_barrier(&m, s);
    if (is_grid_leader())
        gbees_work_count(&s->run.work, s->marked_needed);
    save_marks_pass(&m, b.count, spare_of(b.current), 1);
    grid_barrier(&m, s);
    clear_null_row(&m, spare_of(b.current));
}

#endif

#if GBEES_HAS_KERNELS(GBEES_KERNELS_LIKELIHOOD)

GBEES_KERNEL gbees_find_best(GBEES_BY_VALUE gbees_setup m, GBEES_BY_VALUE gbees_update_params g,
                             gbees_findings *found)
{
    wait_for_launch();
    find_best_pass(&m, &g, found);
}

#endif

#if GBEES_HAS_KERNELS(GBEES_KERNELS_UPDATE)

GBEES_KERNEL gbees_multiply(GBEES_BY_VALUE gbees_setup m, GBEES_BY_VALUE gbees_update_params g, gbees_findings *found)
{
    wait_for_launch();
    multiply_pass(&m, &g, found);
}

#endif

#if GBEES_KERNELS == GBEES_KERNELS_MODEL

/* All that a model may have, called once: whether its text is one for a GPU takes no engine to see. */
GBEES_KERNEL gbees_try(GBEES_BY_VALUE gbees_setup m, int which, const float *x_f, const double *x_d, float *to_f,
                       double *to_d)
{
    gbees_model_drift_f((float)m.time_step, x_f, m.parameters_f, to_f);
    gbees_model_drift_d(m.time_step, x_d, m.parameters_d, to_d);
    gbees_model_measure_d(which, m.time_step, x_d, m.parameters_d, to_d + STATE_MAX_DIM);
    to_d[2 * STATE_MAX_DIM] = gbees_model_bound_d(m.time_step, x_d, m.parameters_d);
    to_d[2 * STATE_MAX_DIM + 1] = gbees_model_log_likelihood_d(which, m.time_step, x_d, m.parameters_d, to_d);
    gbees_model_diffusion_d(m.time_step, x_d, m.parameters_d, to_d + 2 * STATE_MAX_DIM + 2);
}

#endif
