/* engine.cu - the kernels: what the host launches.
 *
 * Compiled by NVRTC when a run starts, for one model, dimension, scheme and precision; by the tests for the host. The
 * kernels are several programs, compiled side by side (device/kernels.h).  Options, as macros; the host sets them in
 * compile/spec.c:
 *
 *   GBEES_KERNELS          the kernels of this program: a value of device/kernels.h
 *   GBEES_N                the dimension
 *   GBEES_REAL             the type of P: float or double; GBEES_REAL_IS_DOUBLE: 1 for double
 *   GBEES_DRIFT_F64        1: positions and velocities in double for float P
 *   GBEES_SPLIT            1: a split scheme, GBEES_ORDER: 5 or 7, GBEES_PRESERVING: 1: -mp; 0: ctu
 *   GBEES_DIFFUSION        0: no process noise, 1: Q is diagonal, 2: Q is full, or the grid is rotated
 *   GBEES_DRIFT_TIME_DEPENDENT  1: the drift depends on time
 *   GBEES_ABSORBS          1: targets absorb
 *   GBEES_BOUNDED          1: bricks beyond the model's bound are not made
 *   GBEES_ROTATED          1: the grid is rotated
 *   GBEES_MOVING           1: the grid's frame moves; then GBEES_ROTATED and GBEES_DRIFT_TIME_DEPENDENT are 1
 *   GBEES_ADVECT_APART     1: gbees_advance() never advects the density itself
 *   GBEES_SHARED           1: several GPUs may share the grid
 *   GBEES_LIKELIHOODS      what measurements need beside Gaussian likelihoods (state.h); GBEES_MEASURED: the largest
 *                          number of components of one
 *   GBEES_WARPS, GBEES_BLOCKS   warps of a block; blocks that a multiprocessor is to hold
 *   GBEES_LOW_REGISTERS    1: recompute values in place of keeping them in registers
 *
 * Launches: a block has 32 GBEES_WARPS threads in one dimension.  A kernel with a grid_barrier() is launched with as
 * many blocks as can be resident at once (cooperatively, or as one cluster); the others with any number of blocks.
 * All take the setup by value and the state, or the findings behind it, by address; state.stop selects the
 * kernel that goes on (device/stop.h).
 *
 * The order of the headers, each of which includes only what stands before it: kernels, stop, state, platform, cells,
 * table, bound, noise, targets, inspect, step_state, sweep, pencil, ctu, ctu_lines, cuts, diffusion, grow, advect,
 * advance, prune, shrink, ranks, update, statistics, marginals, frame, remapping, remap, integration, integrate, follow
 */
#include "device/kernels.h"
#include "device/model.h"

#include "device/advance.h"
#include "device/marginals.h"
#include "device/ranks.h"
#include "device/update.h"
#if GBEES_HAS_KERNELS(GBEES_KERNELS_FRAME)
#include "device/frame.h"
#endif
#if GBEES_HAS_KERNELS(GBEES_KERNELS_REMAP)
#include "device/remap.h"
#endif
#if GBEES_HAS_KERNELS(GBEES_KERNELS_INTEGRATE)
#include "device/integrate.h"
#endif
#if GBEES_HAS_KERNELS(GBEES_KERNELS_FOLLOW)
#include "device/follow.h"
#endif

#if GBEES_HAS_KERNELS(GBEES_KERNELS_ADVANCE)

/* Takes steps until number `target`, the end of the interval, or a reason to stop.  Goes on if stop is STOP_AGAIN, or
 * STOP_ADVECT, behind gbees_advect() or gbees_advect_all().  Reads and writes the grid and the state; n + 1 to n + 2
 * barriers a step.  Behind it: by s->stop. */
GBEES_KERNEL gbees_advance(GBEES_BY_VALUE gbees_setup m, gbees_state *s, uint64_t target)
{
    BLOCK_LOCAL step_state b;

    wait_for_launch();
    if (s->stop != STOP_AGAIN && s->stop != STOP_ADVECT)
        return;
    load_step_state(&b, s, target);
    if (is_grid_leader() && !b.advected)
        for (int k = 0; k < STATE_SUMS; k++) {
            clear_sums(&s->sums[k]);
#if GBEES_ABSORBS
            clear_entering(s, (uint64_t)k);
#endif
        }
    grid_barrier(&m, s);
    advance(&m, s, &b);
    grid_barrier(&m, s);
    store_step_state(s, &b);
}

#endif

#if GBEES_HAS_KERNELS(GBEES_KERNELS_ADVECT)

/* Pass number `pass` of the advection of a planned step (STOP_ADVECT), of a large grid.  Reads and writes rows of
 * cells, adds to the step's sums.  No barrier: any number of blocks.  Behind the last pass: gbees_mark(). */
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

/* All passes of the advection of a planned step (STOP_ADVECT), of a small grid; a barrier behind each.  Behind it:
 * gbees_advance(). */
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

/* Marks the cells after the passes of gbees_advect(), and grows the grid for the next step if that was planned.  No
 * barrier.  Behind it: gbees_advance(). */
GBEES_KERNEL gbees_mark(GBEES_BY_VALUE gbees_setup m, gbees_state *s)
{
    wait_for_launch();
    if (s->stop != STOP_ADVECT)
        return;
    mark_and_grow(&m, s, s->linked, rows_after(s->current, advect_passes(&s->plan)), s->plan.threshold, 1,
                  s->plan.grows, sums_of(s, s->run.steps), sums_of(s, s->run.steps + 1));
}

#endif

#if GBEES_HAS_KERNELS(GBEES_KERNELS_GRID)

/* Sets up the initial grid: the host has written cells and keys of bricks 1 .. count, and the mass that is in none of
 * them into the ledger.  Enters and links the bricks,
 * computes their velocities, their mass and active cells, and empties those that targets absorb.  Two barriers, or
 * three.  Behind it: gbees_prune(). */
GBEES_KERNEL gbees_start(GBEES_BY_VALUE gbees_setup m, gbees_state *s)
{
    const uint32_t count = s->count;
    const double left_out = s->run.ledger.mass;

#if GBEES_ABSORBS
    find_targets_pass(&m, &s->targets, count, s->current, s->run.clock.time, s->targets.entered);
#endif
    enter_pass(&m, count);
    grid_barrier(&m, s);
#if GBEES_ABSORBS
    if (is_grid_leader()) {
        s->targets.move = s->targets.seen;
        s->stop = s->targets.entered[STATE_TARGETS] > 0 ? STOP_TARGET : STOP_DONE;
    }
    grid_barrier(&m, s);
#endif
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
    const double mass = gbees_fixed_value((int64_t)load_64((const uint64_t *)&s->marked_mass)) + left_out;
    mark_active_pass(&m, 1, count, s->current, m.threshold * mass);
    if (is_grid_leader()) {
        s->run.ledger.mass = mass;
        s->linked = count;
    }
}

/* Divides the density that gbees_multiply() has made by its sum.  No barrier.  Behind it: gbees_prune(). */
GBEES_KERNEL gbees_scale(GBEES_BY_VALUE gbees_setup m, gbees_findings *found)
{
    wait_for_launch();
    normalise_pass(&m, found);
}

/* Moments of the density, its entropy, and where its largest P is.  Two barriers. */
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

/* Packs cells of bricks from + 1 .. to for a record: pack_pass().  No barrier. */
GBEES_KERNEL gbees_pack(GBEES_BY_VALUE gbees_setup m, gbees_findings *found, uint32_t from, uint32_t to,
                        double threshold, uint64_t *mask, int32_t *key, number *out)
{
    pack_pass(&m, found, from, to, threshold, mask, key, out);
}

/* The range of indices of cells with P >= threshold.  No barrier. */
GBEES_KERNEL gbees_range(GBEES_BY_VALUE gbees_setup m, gbees_findings *found, double threshold)
{
    range_pass(&m, found, threshold);
}

/* Marginals of these cells, into `sums`, which the host has zeroed.  No barrier. */
GBEES_KERNEL gbees_marginal_sums(GBEES_BY_VALUE gbees_setup m, gbees_state *s, GBEES_BY_VALUE gbees_histograms all,
                                 double threshold, int64_t *sums)
{
    marginals_pass(&m, s, &all, threshold, sums);
}

#endif

#if GBEES_HAS_KERNELS(GBEES_KERNELS_PRUNE)

/* Fills the hash table anew, after the heap has grown.  One barrier. */
GBEES_KERNEL gbees_rehash(GBEES_BY_VALUE gbees_setup m, gbees_state *s)
{
    clear_table_pass(&m);
    grid_barrier(&m, s);
    enter_pass(&m, s->count);
}

/* Prunes, if stop is STOP_PRUNE, or STOP_UPDATED after an update, whose density it takes over.  Six to nine barriers.
 * Behind it: gbees_advance(), if steps up to number `target` are left. */
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

/* Counts active and needed cells for a record; the steps' own marks are saved meanwhile.  Five barriers. */
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

#if GBEES_HAS_KERNELS(GBEES_KERNELS_RANKS) && GBEES_SHARED

/* Drops the bricks that gbees_stay() has not marked, and all ghosts, and moves the others together.  Six to eight
 * barriers. */
GBEES_KERNEL gbees_keep(GBEES_BY_VALUE gbees_setup m, gbees_state *s)
{
    BLOCK_LOCAL step_state b;

    wait_for_launch();
    load_step_state(&b, s, 0);
    compact(&m, s, &b);
    if (is_block_leader()) {
        b.count = b.linked = b.fresh;
        b.current = spare_of(b.current);
    }
    block_sync();
    store_step_state(s, &b);
}

/* Inserts the bricks that active cells flow into, own ones and ghosts; adds the largest rates to the sums of step
 * `step`.  No barrier.  Behind it: gbees_link(). */
GBEES_KERNEL gbees_grow(GBEES_BY_VALUE gbees_setup m, gbees_state *s, uint64_t step)
{
    wait_for_launch();
    mark_and_grow(&m, s, s->linked, s->current, 0, 0, 1, sums_of(s, step), sums_of(s, step));
}

/* Links, clears and inspects own bricks behind own_linked and ghosts behind the first ghosts_linked ones.  Does
 * nothing if a brick got no slot: then the counts go beyond the arrays, and the host takes the new bricks back.  No
 * barrier. */
GBEES_KERNEL gbees_link(GBEES_BY_VALUE gbees_setup m, gbees_state *s, uint32_t own_linked, uint32_t ghosts_linked,
                        uint64_t step)
{
    wait_for_launch();
    if (s->overflow)
        return;
    link_new(&m, s, own_linked, s->count, s->current, s->run.clock.time, sums_of(s, step));
    link_new(&m, s, m.first_ghost + ghosts_linked - 1, m.first_ghost + s->ghosts - 1, s->current, s->run.clock.time,
             sums_of(s, step));
}

/* Links all own bricks to each other, and to no ghost: the hash table has none.  No barrier. */
GBEES_KERNEL gbees_relink(GBEES_BY_VALUE gbees_setup m, gbees_state *s)
{
    wait_for_launch();
    relink_pass(&m, s->count);
}

/* Of a drift that depends on time: flow and rates of own bricks and ghosts.  No barrier. */
GBEES_KERNEL gbees_inspect(GBEES_BY_VALUE gbees_setup m, gbees_state *s, double time)
{
    wait_for_launch();
    inspect_all(&m, s, 1, s->linked, time);
    if (s->ghosts)
        inspect_all(&m, s, m.first_ghost, m.first_ghost + s->ghosts - 1, time);
}

/* With process noise: the largest rate at which own cells give mass, to the planned step's sums.  No barrier. */
GBEES_KERNEL gbees_noise_rates(GBEES_BY_VALUE gbees_setup m, gbees_state *s)
{
    wait_for_launch();
#if GBEES_DIFFUSION
    noise_rates_pass(&m, s, s->linked, gbees_step_middle(&s->run.clock, &s->run.step), sums_of(s, s->run.steps));
#else
    (void)m, (void)s;
#endif
}

/* Half `half` of an explicit step of diffusion of length `step`, from rows `from` to the spare ones, in the middle of
 * the planned step.  No barrier: the ghosts of rows `from` are exchanged before. */
GBEES_KERNEL gbees_diffuse(GBEES_BY_VALUE gbees_setup m, gbees_state *s, int from, int half, double step)
{
    wait_for_launch();
#if GBEES_DIFFUSION
    const int64_t lost = warp_add(diffuse_pass(&m, rows_of(&m, from), rows_of(&m, spare_of(from)), half, s->linked,
                                               step, gbees_step_middle(&s->run.clock, &s->run.step)));

    if (warp_lane() == 0 && lost)
        atomic_add_64(&sums_of(s, s->run.steps)->outflow, lost);
#else
    (void)m, (void)s, (void)from, (void)half, (void)step;
#endif
}

/* The passes of ranks.h.  No barriers.  This one selects no brick if one got no slot, as gbees_link() links none. */
GBEES_KERNEL gbees_select(GBEES_BY_VALUE gbees_setup m, gbees_state *s, GBEES_BY_VALUE gbees_key_box box,
                          GBEES_BY_VALUE gbees_slot_lists lists, uint32_t from, uint32_t *used)
{
    wait_for_launch();
    if (!s->overflow)
        select_pass(&m, s, &box, &lists, from, used);
}

GBEES_KERNEL gbees_keys(GBEES_BY_VALUE gbees_setup m, const uint32_t *list, uint32_t count, int32_t *keys)
{
    wait_for_launch();
    keys_pass(&m, list, count, keys);
}

GBEES_KERNEL gbees_sample(GBEES_BY_VALUE gbees_setup m, gbees_state *s, uint32_t stride, int32_t *keys)
{
    wait_for_launch();
    sample_pass(&m, s, stride, keys);
}

GBEES_KERNEL gbees_insert(GBEES_BY_VALUE gbees_setup m, gbees_state *s, const int32_t *keys, uint32_t count,
                          uint32_t *slots)
{
    wait_for_launch();
    insert_pass(&m, s, keys, count, slots);
}

GBEES_KERNEL gbees_copy_rows(number *rows, const uint32_t *list, uint32_t count, number *buffer, int to_slots)
{
    wait_for_launch();
    copy_rows_pass(rows, list, count, buffer, to_slots);
}

GBEES_KERNEL gbees_copy_marks(GBEES_BY_VALUE gbees_setup m, const uint32_t *list, uint32_t count, uint64_t *buffer,
                              int to_slots)
{
    wait_for_launch();
    copy_marks_pass(&m, list, count, buffer, to_slots);
}

GBEES_KERNEL gbees_stay(GBEES_BY_VALUE gbees_setup m, gbees_state *s, GBEES_BY_VALUE gbees_key_box own)
{
    wait_for_launch();
    stay_pass(&m, &own, s->count);
}

#endif

#if GBEES_HAS_KERNELS(GBEES_KERNELS_LIKELIHOOD)

/* First kernel of an update: the largest log-likelihoods.  No barrier.  Behind it: gbees_multiply(). */
GBEES_KERNEL gbees_find_best(GBEES_BY_VALUE gbees_setup m, GBEES_BY_VALUE gbees_update_params u,
                             gbees_findings *found)
{
    wait_for_launch();
    find_best_pass(&m, &u, found);
}

#endif

#if GBEES_HAS_KERNELS(GBEES_KERNELS_UPDATE)

/* Second kernel of an update: P times its likelihood.  No barrier.  Behind it: gbees_scale(). */
GBEES_KERNEL gbees_multiply(GBEES_BY_VALUE gbees_setup m, GBEES_BY_VALUE gbees_update_params u, gbees_findings *found)
{
    wait_for_launch();
    multiply_pass(&m, &u, found);
}

#endif

#if GBEES_HAS_KERNELS(GBEES_KERNELS_INTEGRATE)

/* Carries samples of the model's equations. Knows nothing of a grid; any number of blocks. */
GBEES_KERNEL gbees_integrate(GBEES_BY_VALUE gbees_samples c)
{
    integrate_pass(&c);
}

#endif

#if GBEES_HAS_KERNELS(GBEES_KERNELS_FOLLOW)

/* Takes samples along the model's drift, each by steps of its own. Knows nothing of a grid; any number of blocks. */
GBEES_KERNEL gbees_follow(GBEES_BY_VALUE gbees_samples c)
{
    follow_pass(&c);
}

#endif

#if GBEES_HAS_KERNELS(GBEES_KERNELS_FRAME) && GBEES_MOVING

/* One of the passes before the step of a grid that moves (FRAME_...): to found->peak and found->peak_brick, or
 * found->moment. No barrier. */
GBEES_KERNEL gbees_frame(GBEES_BY_VALUE gbees_setup m, gbees_findings *found, int pass, double time)
{
    if (pass == FRAME_RATE)
        frame_rate_pass(&m, found, time);
    else if (pass == FRAME_FIT)
        frame_fit_pass(&m, found, time);
    else
        frame_information_pass(&m, found);
}

#endif

#if GBEES_HAS_KERNELS(GBEES_KERNELS_REMAP) && GBEES_MOVING

/* One of the passes that take the density to the cells of another frame (REMAP_...). No barrier. */
GBEES_KERNEL gbees_remap(GBEES_BY_VALUE gbees_remapping r, int pass)
{
    BLOCK_LOCAL uint32_t digits[BLOCK_WARPS * REMAP_DIGITS];

    wait_for_launch();
    remap_pass(&r, pass, digits + block_warp() * REMAP_DIGITS);
}

#endif

#if GBEES_KERNELS == GBEES_KERNELS_MODEL

/* Calls all functions that a model may have: whether its text compiles for a GPU can be tested without the engine. */
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
