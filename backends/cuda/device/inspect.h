/* inspect.h - initialises bricks: the directions in which probability leaves each cell, CFL rates, links to
 * neighbours.
 */
#ifndef GBEES_CUDA_INSPECT_H
#define GBEES_CUDA_INSPECT_H

#include "device/bound.h"
#include "device/noise.h"
#include "device/targets.h"

/* 1 if the program contains gbees_advect(), which may be launched with more blocks than are resident at once. */
enum { HAS_BLOCK_RANGES = GBEES_HAS_KERNELS(GBEES_KERNELS_ADVECT) };

/* The slots that a warp handles: from, from + stride, ..., up to `last`. */
typedef struct warp_slots {
    uint32_t from, last, stride;
} warp_slots;

/* The number of a warp in the launch by which it is assigned bricks. In a cluster consecutive numbers are warps of
 * different blocks, since a small grid has fewer bricks than warps, and consecutive bricks tend to grow in the same
 * step. The first warps of all blocks, whose first threads update the clock, have the last numbers. */
GBEES_NUM uint32_t warp_place(const gbees_setup *m)
{
    return m->clustered ? (BLOCK_WARPS - 1 - block_warp()) * block_count() + block_index() : warp_index();
}

/* The slots, out of 1 .. count, that a warp handles, `together` consecutive bricks at once. The warps of a launch go
 * through the grid in strides, all together. If blocks may run one after the other, each block has a range of slots
 * instead, so that bricks near each other are handled at about the same time. */
GBEES_NUM warp_slots slots_of_warp(const gbees_setup *m, uint32_t count, uint32_t together)
{
    const uint32_t length = (count + block_count() - 1) / block_count(), from = 1 + block_index() * length;
    warp_slots all = {1 + warp_place(m) * together, count, warp_count() * together};
    warp_slots own = {from + block_warp() * together, from + length - 1 < count ? from + length - 1 : count,
                      BLOCK_WARPS * together};

    return HAS_BLOCK_RANGES && (GBEES_KERNELS != GBEES_KERNELS_ALL || m->advect_apart) ? own : all;
}

/* Sets x[DIM] to the centre of face number `face`, -1 .. edge + 1, across an axis, of the row of cells that `cell` is
 * in. */
GBEES_NUM void face_point(const gbees_setup *m, const position *base, int cell, int axis, int face, position *x)
{
#pragma unroll
    for (int k = 0; k < DIM; k++)
        x[k] = base[k] + (k == axis ? face_offset(m, k, face) : cell_offset(m, k, cell_local(cell, k)));
}

/* Stores a warp's ballot as the bits first .. first + WARP_SIZE - 1 of a set of cells. */
GBEES_NUM void put_ballot(uint64_t *set, int first, uint32_t votes)
{
    if (warp_lane() != 0)
        return;
    if (WARP_SIZE == 32)
        ((uint32_t *)set)[first / 32] = votes; /* the lower half comes first */
    else
        *set = (first ? *set : 0) | (uint64_t)votes << first;
}

/* ORs a warp's ballot to these bits. */
GBEES_NUM void add_ballot(uint64_t *set, int first, uint32_t votes)
{
    if (warp_lane() != 0)
        return;
    if (WARP_SIZE == 32)
        ((uint32_t *)set)[first / 32] |= votes;
    else
        *set |= (uint64_t)votes << first;
}

/* Copies a base. */
GBEES_NUM void copy_base(const position *stored, position *base)
{
#pragma unroll
    for (int k = 0; k < DIM; k++)
        base[k] = stored[k];
}

/* Loads a brick's base. */
GBEES_NUM void load_base(const gbees_setup *m, uint32_t slot, position *base)
{
    copy_base(brick_base(m, slot), base);
}

/* A rate that goes into a maximum: one that is not a number becomes infinite, as fmax() would ignore it. */
GBEES_NUM double visible_rate(double rate)
{
    return rate < 1e300 ? rate : HUGE_VAL;
}

/* Returns a cell's CFL rate with one more axis, from that of the axes before: with a split scheme the largest of all
 * axes, else their sum. above: the velocity at the cell's upper face across the axis. A rate that is not a number
 * stays one. */
GBEES_NUM number rate_with_axis(const gbees_setup *m, number rate, number above, int axis)
{
    const number here = (above < 0 ? -above : above) * (number)m->over_width[axis];
    /* m->sweeps is GBEES_SPLIT. If it were a constant the compiler would contract the sum, which would have other
     * bits. */
    return !m->sweeps ? rate + here : here > rate ? here : rate + (here - here);
}

/* Evaluates the drift at the faces of the cells `first` + lane. Stores bits in flow[DIRECTIONS]: flow[2j] has the
 * cells with a velocity below 0 at the lower face across axis j, flow[2j + 1] those with one above 0 at the upper
 * face. Returns the CFL rate of this lane's cell. `base` is the brick's base in registers, `stored` the same in
 * memory: with few registers it is read anew for each axis. By a warp. */
GBEES_NUM number inspect_cells(const gbees_setup *m, position *base, const position *stored, int first, double time,
                               uint64_t *flow)
{
    const int cell = first + warp_lane();
    number rate = 0;

#pragma unroll
    for (int j = 0; j < DIM; j++) {
        position x[DIM];

        if (GBEES_LOW_REGISTERS) {
            compiler_fence();
            copy_base(stored, base);
        }
        face_point(m, base, cell, j, cell_local(cell, j), x);
        const number below = velocity(m, x, j, time);
        face_point(m, base, cell, j, cell_local(cell, j) + 1, x);
        const number above = velocity(m, x, j, time);

        rate = rate_with_axis(m, rate, above, j);
        put_ballot(&flow[2 * j], first, warp_ballot(below < 0));
        put_ballot(&flow[2 * j + 1], first, warp_ballot(above > 0));
    }
    return rate;
}

#if GBEES_MOVING

/* A lane's cells of a brick are lane, lane + WARP_SIZE, ... */
enum { LANE_CELLS = CELLS / WARP_SIZE };

/* The velocities at the centres of a lane's cells. */
typedef struct centre_values {
    number along[LANE_CELLS][DIM];
} centre_values;

/* Sets the velocities at the centres of this lane's cells. */
GBEES_NUM void centre_velocities(const gbees_setup *m, const position *base, double time, centre_values *centre)
{
#pragma unroll 1
    for (int i = 0; i < LANE_CELLS; i++) {
        position x[DIM], dxdt[DIM];

#pragma unroll
        for (int k = 0; k < DIM; k++)
            x[k] = base[k] + cell_offset(m, k, cell_local(i * WARP_SIZE + warp_lane(), k));
        GBEES_POSITION_FN(gbees_model_drift)((position)time, x, drift_parameters(m), dxdt);
#pragma unroll
        for (int k = 0; k < DIM; k++)
            centre->along[i][k] = (number)dxdt[k];
    }
}

/* Returns the velocity along an axis at the centre of a cell, which differs from this lane's cell `own` along that
 * axis at most. By a warp. */
GBEES_NUM number centre_of(const centre_values *centre, int axis, int own, int cell)
{
    const int is_near = (axis_edge(axis) << axis_shift(axis)) <= WARP_SIZE; /* it is in the same part of the brick */
    number found = 0;

#pragma unroll
    for (int i = 0; i < LANE_CELLS; i++) {
        if (is_near && i != own / WARP_SIZE) /* the same for all lanes */
            continue;
        const number there = GBEES_REAL_FN(warp_shuffle)(centre->along[i][axis], (uint32_t)(cell % WARP_SIZE));

        found = i == cell / WARP_SIZE ? there : found;
    }
    return found;
}

/* As inspect_cells(), with velocities at faces from those at centres: between two cells of the brick the mean of
 * both, at the brick's sides on the straight line through the two cells beside. In `flow` are no cells with
 * negligible velocities. On a grid that moves velocities are other ones in each step: to ask for all components at
 * each cell takes a sixth to a twelfth of the model's evaluations. */
GBEES_NUM number inspect_centres(const gbees_setup *m, const centre_values *centre, int first, uint64_t *flow)
{
    const int cell = first + warp_lane();
    const number least = (number)m->negligible;
    number rate = 0;

#pragma unroll
    for (int j = 0; j < DIM; j++) {
        const int next = axis_edge(j) > 1 ? 1 << axis_shift(j) : 0, local = cell_local(cell, j);
        const int is_lowest = local == 0, is_highest = local == axis_edge(j) - 1;
        const number here = centre->along[first / WARP_SIZE][j];
        const number lower = centre_of(centre, j, cell, is_lowest ? cell : cell - next);
        const number upper = centre_of(centre, j, cell, is_highest ? cell : cell + next);
        const number below = (number)0.5 * (here + (is_lowest ? here + here - upper : lower));
        const number above = (number)0.5 * (here + (is_highest ? here + here - lower : upper));

        rate = rate_with_axis(m, rate, above, j);
        put_ballot(&flow[2 * j], first, warp_ballot(below < -least));
        put_ballot(&flow[2 * j + 1], first, warp_ballot(above > least));
    }
    return rate;
}

#endif

#if GBEES_DIFFUSION

/* Adds the cells first + lane from which noise transports probability along each axis to flow[DIRECTIONS]. Returns
 * the rate by which noise limits the time step; infinite if Q is invalid. By a warp. */
GBEES_NUM double inspect_noise(const gbees_setup *m, const gbees_state *s, uint32_t slot, int first, double time,
                               uint64_t *flow)
{
    const int still = GBEES_ABSORBS && s->targets.move; /* targets that move are still during a step */
    double q[NOISE_ENTRIES], widest = 0;
    int bad = 0;

#pragma unroll
    for (int j = 0; j < DIM; j++) {
        if (GBEES_LOW_REGISTERS ||
            j == 0) /* evaluated for each axis anew: the compiler leaves out what this axis does not need */
            noise_at(m, slot, first + warp_lane(), NULL, time, q);
        double spread = gbees_diffusion_spread(DIM, NOISE_FULL, q, 1, m->over_width, j);
        uint32_t votes = warp_ballot(spread > 0);

        add_ballot(&flow[2 * j], first, votes);
        add_ballot(&flow[2 * j + 1], first, votes);
        bad = bad || gbees_diffusion_fault(DIM, NOISE_FULL, q, 1, m->over_width, j);
        widest = spread > widest && is_inside(m, slot, first + warp_lane()) ? spread : widest;
    }
    return bad ? HUGE_VAL : m->courant * widest / (still ? 1 : gbees_step_variance(DIM, SPREADS, m->time_step > 0));
}

#endif

/* Computes and stores a brick's flow masks and its CFL rate, the largest of its cells; returns the rate. A rate that
 * is not finite is reported in the state. By a warp. */
GBEES_NUM double inspect_brick(const gbees_setup *m, gbees_state *s, uint32_t slot, double time)
{
    uint64_t *flow = m->grid.flow + (size_t)slot * DIRECTIONS;
    position base[DIM];
    double most = 0;

    load_base(m, slot, base);
#if GBEES_MOVING
    centre_values centre;

    centre_velocities(m, base, time, &centre);
#endif
#if GBEES_DRIFT_TIME_DEPENDENT && !GBEES_MOVING /* often costly to compute, and to compile */
#pragma unroll 1
#elif GBEES_MOVING
#pragma unroll
#endif
    for (int first = 0; first < CELLS; first += WARP_SIZE) {
#if GBEES_MOVING
        const number rate = inspect_centres(m, &centre, first, flow);
#else
        const number rate = inspect_cells(m, base, brick_base(m, slot), first, time, flow);
#endif

        /* Cells outside the bound hold nothing: their rates do not count, except those that are not a number. */
        most = fmax(most, visible_rate((double)(is_inside(m, slot, first + warp_lane()) ? rate : rate - rate)));
#if GBEES_DIFFUSION
        most = fmax(most, inspect_noise(m, s, slot, first, time, flow));
#endif
    }
    most = warp_max(most);
    if (warp_lane() == 0) {
        m->grid.rate[slot] = most;
        if (!(most < 1e300))
            store_release_32(&s->bad, slot + 1);
    }
    return most;
}

/* Finds the face neighbours of a new brick and stores the links in both directions. Another new brick's warp may
 * store the same link at the same time. By lanes 0 .. lanes - 1 of a part of a warp. */
GBEES_NUM void link_by(const gbees_setup *m, uint32_t slot, int lane, int lanes)
{
    for (int d = lane; d < DIRECTIONS; d += lanes) {
        const int at_wall =
            GBEES_CLOSED && gbees_is_at_wall(&m->shape, m->grid.key[(size_t)slot * DIM + (size_t)(d >> 1)], d);
        uint32_t neighbor = at_wall ? 0 : table_find(m, key_near(m, slot, d, -1));

        store_32(&m->grid.neighbor[d][slot], neighbor);
        if (neighbor)
            store_32(&m->grid.neighbor[gbees_opposite(d)][neighbor], slot);
    }
}

/* Links a new brick to its face neighbours, by a warp: see link_by(). */
GBEES_NUM void link_brick(const gbees_setup *m, uint32_t slot)
{
    link_by(m, slot, warp_lane(), WARP_SIZE);
}

/* Sets a new brick's P, its active cells and its blocked neighbours to 0. By lanes 0 .. lanes - 1 of a part of a
 * warp. */
GBEES_NUM void clear_brick(const gbees_setup *m, uint32_t slot, number *p, int lane, int lanes)
{
    for (int cell = lane; cell < CELLS; cell += lanes)
        p[(size_t)slot * CELLS + (size_t)cell] = 0;
    if (lane == 0)
        m->grid.active[slot] = 0;
#if GBEES_BOUNDED
    for (int d = lane; d < DIRECTIONS; d += lanes)
        m->grid.blocked[(size_t)slot * DIRECTIONS + (size_t)d] = 0;
#endif
}

/* Initialises the new bricks, in slots linked + 1 .. count: links, zeros, base, bound, flow and rate; updates the
 * step's largest rate. The work is a list of jobs for all warps: each of the first jobs links as many bricks as a
 * warp has groups of lanes, each of the others inspects one brick, so that all warps have about as much to do. */
GBEES_NUM void link_new(const gbees_setup *m, gbees_state *s, uint32_t linked, uint32_t count, int current,
                        double time, gbees_step_sums *sums)
{
    const int lanes = WARP_SIZE < 2 * STATE_MAX_DIM ? WARP_SIZE : 2 * STATE_MAX_DIM;
    const uint32_t fresh = count - linked, together = (uint32_t)(WARP_SIZE / lanes);
    const uint32_t links = (fresh + together - 1) / together;
    double most = 0;

    for (uint32_t at = warp_place(m); at < links + fresh; at += warp_count()) {
        if (at < links) {
            const uint32_t slot = linked + 1 + at * together + (uint32_t)(warp_lane() / lanes);

            if (slot <= count) {
                link_by(m, slot, warp_lane() % lanes, lanes);
                clear_brick(m, slot, rows_of(m, current), warp_lane() % lanes, lanes);
            }
        } else {
            const uint32_t slot = linked + 1 + at - links;

            set_base(m, slot);
#if GBEES_BOUNDED
            find_inside(m, slot);
#endif
#if GBEES_ABSORBS
            find_targets(m, &s->targets, slot, NULL, time, NULL);
#endif
            most = fmax(most, inspect_brick(m, s, slot, time));
        }
    }
    if (most > 0 && warp_lane() == 0)
        atomic_max_64(&sums->max_rate, bits_of(most));
}

/* Inspects the bricks first .. last again, for a drift that depends on time. */
GBEES_NUM void inspect_all(const gbees_setup *m, gbees_state *s, uint32_t first, uint32_t last, double time)
{
    for (uint32_t slot = first + warp_index(); slot <= last; slot += warp_count())
        inspect_brick(m, s, slot, time);
}

#endif
