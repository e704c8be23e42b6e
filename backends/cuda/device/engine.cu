/* engine.cu - the kernels: what the host starts. Compiled by NVRTC when a run starts, for one model, one dimension
 * and one precision; by the tests for the host.
 *
 *   GBEES_N          the dimension            GBEES_REAL    float or double: of probabilities
 *   GBEES_SPLIT      1: split5, 0: ctu        GBEES_REAL_IS_DOUBLE  1 if GBEES_REAL is double
 *   GBEES_PRESERVING 1: split5-mp             GBEES_WIDE    1: positions in double for float probabilities
 *   GBEES_DIVERGENCE 1: ctu-divergence, and ctu-positive, which has GBEES_SHARED=1, too
 *   GBEES_MOVING     1: the drift depends on time      GBEES_BOUNDED 1: cells out of the model's bound are not made
 *   GBEES_FRAMED     1: the grid is turned
 *   GBEES_APART      1: gbees_advance() leaves moving the density to gbees_move(), always
 *   GBEES_SMALL      1: there is gbees_small(), for grids of three dimensions at most whose blocks are one cluster
 *   GBEES_DIFFUSION  1: the model has a diagonal diffusion, 2: a full one, or any on a turned grid, 0: none
 *   GBEES_TEAMS      teams of a block          GBEES_BLOCKS  blocks a multiprocessor is to hold
 *   GBEES_LEAN       1: fewer registers, for more instructions
 *   GBEES_GAINS      for parts 3 and 7: what measurements have beside Gaussian likelihoods (state.h); all, unless
 *                    it is said
 *   GBEES_MEASURED   for parts 3 and 7: components of a measurement, at most
 *   GBEES_PART       a program, compiled beside the others: 1: steps, 2: the grid and records, 3: updates,
 *                    4: moves of the density, 5: prunes, 6: marks after moves, 7: what comes before updates,
 *                    8: all moves of a step at once, 10: steps of small grids, with GBEES_SMALL=1.
 *                    0: all, 9: no engine, the model alone, for tests
 */
#include "device/model.h"

#include "device/advance.h"
#include "device/marginals.h"
#include "device/shrink.h"
#if GBEES_SMALL
#include "device/small/small_steps.h"
#endif
#include "device/update.h"

#if GBEES_PART == 0 || GBEES_PART == 1

/* Until `target` steps are done, or something else is due. */
GBEES_KERNEL gbees_advance(GBEES_BY_VALUE gbees_setup m, gbees_state *s, uint64_t target)
{
    BLOCK_LOCAL book b;

    follow_launch();
    if (s->stop != STOP_AGAIN && s->stop != STOP_MOVE) /* one of several launches in a row, and none more is wanted */
        return;
    open_book(&b, s, target);
    if (is_clerk() && !b.moved)
        for (int k = 0; k < STATE_SUMS; k++)
            clear_sums(&s->sums[k]);
    meet(&m, s);
    advance(&m, s, &b);
    meet(&m, s);
    close_book(s, &b);
}

#endif

#if GBEES_SMALL && (GBEES_PART == 0 || GBEES_PART == 10)

/* The same, of a grid whose blocks are one cluster, in up to three dimensions, with the prunes between steps.  The
 * state is a parameter, and what changes of it goes to the host's own: no copy is ahead of a launch or behind it. */
GBEES_CLUSTER_KERNEL gbees_small(GBEES_BY_VALUE gbees_setup m, GBEES_BY_VALUE gbees_state from, uint64_t target,
                                 gbees_state *s)
{
    BLOCK_LOCAL small_block b;
    small_team team;

    follow_launch();
    if (from.count > small_room()) {
        if (is_clerk()) {
            s->stop = STOP_ROOM;
            publish_to_host(&s->ended, from.ended + 1);
        }
        return;
    }
    share_memory(&b);
    open_small(&m, &from, target, &b, &team);
    meet(&m, s);
    const uint32_t entered = advance_small(&m, s, &b, &team);
    if (!entered) /* there has been a prune */
        clear_table_pass(&m);
    meet(&m, s); /* and no one reaches into another one's memory from here on */
    close_totals(s, &b);
    close_book(s, &b.book);
    close_small(&m, &team, entered);
    if (is_clerk())
        publish_to_host(&s->ended, from.ended + 1);
}

#endif

#if GBEES_PART == 0 || GBEES_PART == 4

/* One of the MOVES passes of a step, where gbees_advance() leaves them to this kernel. */
GBEES_KERNEL gbees_move(GBEES_BY_VALUE gbees_setup m, gbees_state *s, int pass)
{
    BLOCK_LOCAL book b;

    follow_launch();
    if (s->stop != STOP_MOVE)
        return;
    open_book(&b, s, 0);
    if (leads_block())
        b.current = rows_after(s->current, pass);
    set_courant(&m, &b);
    move_pass(&m, s, &b, b.current, pass);
}

#endif

#if GBEES_PART == 0 || GBEES_PART == 8

/* All of them, of a grid whose blocks can be there at once. */
GBEES_KERNEL gbees_move_all(GBEES_BY_VALUE gbees_setup m, gbees_state *s)
{
    BLOCK_LOCAL book b;

    follow_launch();
    if (s->stop != STOP_MOVE)
        return;
    open_book(&b, s, 0);
    if (leads_block())
        b.current = s->current;
    set_courant(&m, &b);
    move_density(&m, s, &b);
}

#endif

#if GBEES_PART == 0 || GBEES_PART == 6

/* What comes after them. */
GBEES_KERNEL gbees_mark(GBEES_BY_VALUE gbees_setup m, gbees_state *s)
{
    follow_launch();
    if (s->stop != STOP_MOVE)
        return;
    mark_and_grow(&m, s, s->linked, rows_after(s->current, MOVES), s->step_threshold, 1, s->step_is_grown,
                  sums_of(s, s->steps), sums_of(s, s->steps + 1));
}

#endif

#if GBEES_PART == 0 || GBEES_PART == 2

/* The initial density: rows and keys of bricks 1 .. count are there. */
GBEES_KERNEL gbees_start(GBEES_BY_VALUE gbees_setup m, gbees_state *s)
{
    uint32_t count = s->count;

    enter_pass(&m, count);
    meet(&m, s);
    for (uint32_t slot = 1 + team_index(); slot <= count; slot += team_count()) {
        set_base(&m, slot);
        link_brick(&m, slot);
#if GBEES_BOUNDED
        unbar(&m, slot);
        find_inside(&m, slot);
#endif
        inspect_brick(&m, s, slot, s->time);
    }
    scale_pass(&m, s, s->current, 1);
    meet(&m, s);
    double mass = gbees_fixed_value((int64_t)fresh_64((const uint64_t *)&s->marked_mass));
    mark_active_pass(&m, count, s->current, m.threshold * mass);
    if (is_clerk()) {
        s->mass = mass;
        s->linked = count;
    }
}

GBEES_KERNEL gbees_scale(GBEES_BY_VALUE gbees_setup m, gbees_findings *found)
{
    follow_launch();
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
    meet(&m, s);
    peak_pass(&m, found, 0);
    meet(&m, s);
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

#if GBEES_PART == 0 || GBEES_PART == 5

/* After the heap has grown: a table of its own size. */
GBEES_KERNEL gbees_rehash(GBEES_BY_VALUE gbees_setup m, gbees_state *s)
{
    clear_table_pass(&m);
    meet(&m, s);
    enter_pass(&m, s->count);
}

/* Where a prune is due, or after an update; after it, more steps up to `target` are. */
GBEES_KERNEL gbees_prune(GBEES_BY_VALUE gbees_setup m, gbees_findings *found, uint64_t target)
{
    BLOCK_LOCAL book b;
    gbees_state *s = &found->state;

    follow_launch();
    if (s->stop != STOP_PRUNE && s->stop != STOP_UPDATED)
        return;
    open_book(&b, s, target);
    if (s->stop == STOP_UPDATED && !take_over(&m, found, &b))
        return;
    prune(&m, s, &b);
    close_book(s, &b);
}

/* How many cells are needed now; the steps' own marks stay. */
GBEES_KERNEL gbees_count(GBEES_BY_VALUE gbees_setup m, gbees_state *s)
{
    BLOCK_LOCAL book b;

    open_book(&b, s, 0);
    save_marks_pass(&m, b.count, spare_of(b.current), 0);
    meet(&m, s);
    mark_needed(&m, s, &b);
    meet(&m, s);
    count_updates(s, s->marked_needed);
    save_marks_pass(&m, b.count, spare_of(b.current), 1);
    meet(&m, s);
    clear_null_row(&m, spare_of(b.current));
}

#endif

#if GBEES_PART == 0 || GBEES_PART == 7

GBEES_KERNEL gbees_find_best(GBEES_BY_VALUE gbees_setup m, GBEES_BY_VALUE gbees_gain g, gbees_findings *found)
{
    follow_launch();
    find_best_pass(&m, &g, found);
}

#endif

#if GBEES_PART == 0 || GBEES_PART == 3

GBEES_KERNEL gbees_multiply(GBEES_BY_VALUE gbees_setup m, GBEES_BY_VALUE gbees_gain g, gbees_findings *found)
{
    follow_launch();
    multiply_pass(&m, &g, found);
}

#endif

#if GBEES_PART == 9

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
