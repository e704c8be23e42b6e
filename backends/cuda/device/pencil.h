/* pencil.h - sweeps of large grids, along pencils.
 *
 * A pencil is a row of bricks along the axis, from one without a lower neighbour up to one without an upper one.  A
 * lane sweeps a line of cells through all of a pencil's bricks.  Values that neighbouring faces share stay in
 * registers: each face is computed once, and each cell is read once.  The link to the next brick, and its cells, are
 * prefetched a brick ahead.  The first bricks of a pencil, for which there are no registers, are copied to shared
 * memory while the pencil before is swept.
 *
 * If ranks share the grid, pencils include ghosts at their ends.  So the masses through faces between own bricks and
 * ghosts have the bits that they have on one GPU.  The ghosts' new P are not used.
 *
 * In most bricks all lanes flow the same way: then no lane selects between formulas for either direction, and no cell
 * flows out on both sides.
 *
 * Noise that is the same in all cells spreads in the same sweep: a mass is bounded by those through the faces beside
 * it, so a line is one velocity and one mass ahead of the brick.
 */
#ifndef GBEES_CUDA_PENCIL_H
#define GBEES_CUDA_PENCIL_H

#include "device/sweep.h"

/* The number of bricks above one that the masses through its faces depend on. */
GBEES_NUM int bricks_beyond(int axis)
{
    return (BEYOND + axis_edge(axis) - 1) / axis_edge(axis);
}

/* Whether the program has the kernels of large grids. */
enum { HAS_PENCILS = DIM > 3 && GBEES_HAS_KERNELS(GBEES_KERNELS_ADVECT) };

enum {
    PENCIL_EDGE = 4,           /* of a brick, at most: there are four axes or more */
    PENCIL_SLOTS = 2 + BEYOND, /* a brick, those above it that it depends on, and one that is prefetched */
    PENCIL_CELLS = 16,         /* cells in registers, at most */
    PENCIL_FEW = WARP_SIZE < 4 ? 1 : WARP_SIZE / 4, /* bricks of the small entries at the end of the work queue */
    PENCIL_ROUNDS = 5                               /* small entries for each warp */
};

/* Sizes of pencil_start: components of a base, and one more; pencils that a warp sweeps at once; rows of cells of
 * these. */
enum {
    PENCIL_PLACES = WARP_SIZE > GBEES_N ? WARP_SIZE : GBEES_N + 1,
    PENCIL_TOGETHER = WARP_SIZE == 1 || DIM >= 6 ? 1 : 2,
    PENCIL_ROWS = DIM >= 7   ? BEYOND + 1
                  : DIM == 6 ? 3
                             : 4
};

/* The first bricks of the pencils that a warp sweeps next, in shared memory.  On a line of it, of 128 bytes: rows
 * that are copied to another place take two lines for each, which makes Lorenz '96 in double a seventh slower. */
typedef struct pencil_start {
    alignas(128) number cells[PENCIL_ROWS * CELLS];
    position base[PENCIL_TOGETHER][PENCIL_PLACES]; /* of the first brick; [DIM]: of the second one, along the axis */
} pencil_start;

/* Bricks that a warp has taken from the work queue, one a lane. */
typedef struct pencil_set {
    uint32_t begin;               /* bit l: lane l's brick begins a pencil that is still to be swept */
    uint32_t slots[PENCIL_SLOTS]; /* the lane's brick and those above it; 0: absent */
} pencil_set;

/* A lane's line of a pencil, at the brick that is being swept, at[0], whose lower face is face 0. */
typedef struct pencil_line {
    uint32_t at[PENCIL_SLOTS];         /* the brick, those above it, and the one that is prefetched */
    number q[PENCIL_CELLS];            /* cells, from the lowest that face 1 depends on */
    number v[PENCIL_EDGE + 3];         /* velocities from face 0 on; with noise Courant numbers, and one more */
    number mass[PENCIL_EDGE + 1];      /* masses through the brick's faces */
    number whole[PENCIL_EDGE + 2];     /* with noise: the same before they are bounded, and one more */
    position x[DIM], base, base_above; /* a point of the line; bases of at[0] and at[1] along the axis */
} pencil_line;

/* Lines of a brick across an axis. */
GBEES_NUM int pencil_lines(int axis)
{
    return CELLS >> axis_bits(axis);
}

/* Lanes that sweep a pencil; a warp sweeps WARP_SIZE / pencil_lanes() pencils at once. */
GBEES_NUM int pencil_lanes(int axis)
{
    return pencil_lines(axis) < WARP_SIZE ? pencil_lines(axis) : WARP_SIZE;
}

/* Starts the copies of the first bricks of the pencils that the warp sweeps next. */
GBEES_NUM void prefetch_starts(const gbees_setup *m, const number *p, int axis, const pencil_set *set,
                               pencil_start *start)
{
    const int rows = bricks_beyond(axis) + 1, together = WARP_SIZE / pencil_lanes(axis);
    uint32_t begin = set->begin;

#pragma unroll
    for (int g = 0; g < together; g++) {
        const uint32_t from = begin ? (uint32_t)lowest_bit(begin) : 0;
        uint32_t at[PENCIL_SLOTS];

#pragma unroll
        for (int i = 0; i < rows; i++) {
            at[i] = warp_shuffle(set->slots[i], from);
            if (g > 0 && !begin)
                at[i] = 0;
            warp_copy_async(start->cells + (g * rows + i) * CELLS, p + (size_t)at[i] * CELLS,
                            CELLS * (int)sizeof(number));
        }
        for (int i = warp_lane(); i < PENCIL_PLACES; i += WARP_SIZE) { /* superfluous lanes copy the last one again */
            const int k = i < DIM ? i : DIM;

            lane_copy_async(&start->base[g][i], brick_base(m, k < DIM ? at[0] : at[1]) + (k < DIM ? k : axis),
                            (int)sizeof(position));
        }
        begin &= begin - 1;
    }
}

/* An entry of the work queue: bricks first .. first + bricks - 1. */
typedef struct pencil_part {
    uint32_t first, bricks;
} pencil_part;

/* Entry number `part` of the work queue over `count` bricks. Large entries come first, and small ones last, so that
 * all warps end at about the same time. */
GBEES_NUM pencil_part part_of(uint32_t part, uint32_t count)
{
    const uint32_t few = warp_count() * PENCIL_FEW * PENCIL_ROUNDS,
                   whole = count > few ? (count - few) / WARP_SIZE : 0;
    pencil_part large = {1 + part * WARP_SIZE, WARP_SIZE};
    pencil_part small = {1 + whole * WARP_SIZE + (part - whole) * PENCIL_FEW, PENCIL_FEW};

    return part < whole ? large : small;
}

/* The masses through some faces in a row.  q: from the lowest cell that the first face depends on; v: from the face
 * below the first one.  idle: the lane's pencil has ended, and the value does not matter.  Called by all lanes. */
GBEES_NUM void pencil_masses(int faces, const number *q, const number *v, number lambda, int idle, number *mass)
{
    int rising = 1, falling = 1;

#pragma unroll
    for (int i = 0; i <= faces; i++) {
        rising = rising && v[i] > 0;
        falling = falling && v[i + 1] <= 0;
    }
    if (warp_all(rising || idle)) {
#pragma unroll
        for (int i = 0; i < faces; i++)
            mass[i] = face_mass_way(q + i, v + i, lambda, 1, 0);
    } else if (warp_all(falling || idle)) {
#pragma unroll
        for (int i = 0; i < faces; i++)
            mass[i] = face_mass_way(q + i, v + i, lambda, 0, 0);
    } else {
#pragma unroll
        for (int i = 0; i < faces; i++)
            mass[i] = face_mass(q + i, v + i, lambda);
    }
}

/* Whether a warp sweeps several pencils at once: then lanes whose pencil has ended (at[0] == 0) wait for the others.
 */
GBEES_NUM int pencils_share_warp(int axis)
{
    return pencil_lines(axis) < WARP_SIZE;
}

/* Begins a line, of which `cell` is the lowest cell in each brick, from the copies in shared memory; slots: the
 * pencil's first bricks. */
GBEES_NUM void begin_line(const gbees_setup *m, int axis, const uint32_t *slots, int cell, const pencil_start *start,
                          pencil_line *line)
{
    const int edge = axis_edge(axis), beyond = bricks_beyond(axis), group = warp_lane() / pencil_lanes(axis);
    const number *cells = start->cells + group * (beyond + 1) * CELLS + cell;

#pragma unroll
    for (int i = 0; i < beyond + 2; i++)
        line->at[i] = slots[i];
#pragma unroll
    for (int i = 0; i < BEYOND - 1; i++)
        line->q[i] = 0;
#pragma unroll
    for (int i = 0; i < edge * (beyond + 1); i++)
        line->q[BEYOND - 1 + i] = cells[i / edge * CELLS + (i % edge << axis_shift(axis))];
#pragma unroll
    for (int k = 0; k < DIM; k++)
        line->x[k] = start->base[group][k] + cell_offset(m, k, cell_local(cell, k));
    line->base = start->base[group][axis];
    line->base_above = start->base[group][DIM];
}

/* Computes the mass through the lowest face of a pencil, below which there is no brick. */
GBEES_NUM void lowest_mass(const gbees_setup *m, int axis, pencil_line *line, number lambda, double time)
{
    number far[2 * BEYOND], u[3];

#pragma unroll
    for (int i = 0; i < 2; i++) {
        line->x[axis] = line->base + face_offset(m, axis, i);
        line->v[i] = velocity(m, line->x, axis, time);
    }
    line->mass[0] = 0;
    if (!warp_any(!(line->v[0] > 0) && line->at[0]))
        return;
    line->x[axis] = line->base + face_offset(m, axis, -1);
    u[0] = velocity(m, line->x, axis, time);
    u[1] = line->v[0];
    u[2] = line->v[1];
#pragma unroll
    for (int i = 0; i < BEYOND; i++) {
        far[i] = 0;
        far[BEYOND + i] = line->q[BEYOND - 1 + i];
    }
    pencil_masses(1, far, u, lambda, pencils_share_warp(axis) && !line->at[0], line->mass);
}

/* Computes the masses through the other faces of brick at[0]. */
GBEES_NUM void brick_masses(const gbees_setup *m, int axis, pencil_line *line, number lambda, double time)
{
    const int edge = axis_edge(axis);

#pragma unroll
    for (int i = 2; i <= edge + 1; i++) {
        /* The position of a face between two bricks is computed from the lower one, so that both round it alike. */
        line->x[axis] = i <= edge     ? line->base + face_offset(m, axis, i)
                        : line->at[1] ? line->base_above + face_offset(m, axis, 1)
                                      : line->base + face_offset(m, axis, i);
        line->v[i] = velocity(m, line->x, axis, time);
    }
    pencil_masses(edge, line->q, line->v, lambda, pencils_share_warp(axis) && !line->at[0], line->mass + 1);
}

/* Whether pencils sweep an axis with process noise: if Q is the same in all cells, and a brick has the velocities
 * that the brick below it needs. */
GBEES_NUM int pencils_spread(const axis_sweep *w)
{
    return SPREADS && w->variance > 0 && !w->varies && axis_edge(w->axis) > 1;
}

/* Sets the Courant number at face i of brick at[0], or of the one above; two faces beyond the grid it is that at one,
 * as nothing depends on it. */
GBEES_NUM void spread_velocity(const gbees_setup *m, const axis_sweep *w, pencil_line *line, int i)
{
    const int edge = axis_edge(w->axis);

    line->x[w->axis] = i > edge && line->at[1] ? line->base_above + face_offset(m, w->axis, i - edge)
                                               : line->base + face_offset(m, w->axis, i <= edge ? i : edge + 1);
    line->v[i] = w->lambda * velocity(m, line->x, w->axis, w->time);
}

/* Sets the mass that crosses face i > 0, before it is bounded, from the Courant numbers round it. */
GBEES_NUM void spread_whole(const axis_sweep *w, pencil_line *line, int i)
{
    number variance = w->variance;
    const number c =
        GBEES_REAL_FN(gbees_spread_origin)(line->v[i - 1], line->v[i], line->v[i + 1], w->inside, 1, &variance);

    line->whole[i] = GBEES_REAL_FN(gbees_spread_mass)(line->q + (BEYOND - 1 - SPREAD_HALF) + i, 1, c, variance, 0, 0);
}

/* Computes the mass through the lowest face of a pencil with noise, below which there is no brick, and what the faces
 * above it need. root: the root of the variance. */
GBEES_NUM void lowest_spread(const gbees_setup *m, const axis_sweep *w, number root, pencil_line *line)
{
    number far[2 * SPREAD_HALF], variance = w->variance;

#pragma unroll
    for (int i = 0; i < 3; i++)
        spread_velocity(m, w, line, i);
    line->x[w->axis] = line->base + face_offset(m, w->axis, -1);
    const number below = w->lambda * velocity(m, line->x, w->axis, w->time);
    const number c = GBEES_REAL_FN(gbees_spread_origin)(below, line->v[0], line->v[1], w->inside, 1, &variance);

#pragma unroll
    for (int i = 0; i < SPREAD_HALF; i++) {
        far[i] = 0;
        far[SPREAD_HALF + i] = line->q[BEYOND - 1 + i];
    }
    line->whole[0] = GBEES_REAL_FN(gbees_spread_mass)(far, 1, c, variance, 0, 0);
    spread_whole(w, line, 1);
    line->mass[0] = GBEES_REAL_FN(gbees_spread_bounded)(0, line->whole[0], line->whole[1], 0, line->q[BEYOND - 1],
                                                        line->v[0], root);
}

/* Computes the masses through the other faces of brick at[0] with noise. */
GBEES_NUM void brick_spread(const gbees_setup *m, const axis_sweep *w, number root, pencil_line *line)
{
    const int edge = axis_edge(w->axis);

#pragma unroll
    for (int i = 2; i <= edge + 1; i++) {
        spread_velocity(m, w, line, i + 1);
        spread_whole(w, line, i);
    }
#pragma unroll
    for (int i = 1; i <= edge; i++)
        line->mass[i] =
            GBEES_REAL_FN(gbees_spread_bounded)(line->whole[i - 1], line->whole[i], line->whole[i + 1],
                                                line->q[BEYOND - 2 + i], line->q[BEYOND - 1 + i], line->v[i], root);
}

/* Goes on to the brick above; fresh[edge], base_next and next_slot have been prefetched. */
GBEES_NUM void next_brick(int axis, const number *fresh, position base_next, uint32_t next_slot, pencil_line *line)
{
    const int edge = axis_edge(axis), beyond = bricks_beyond(axis), held = BEYOND - 1 + edge * (beyond + 1);
    /* Always true. As it depends on the masses, the compiler does not wait for prefetched values before it has
     * computed these. */
    const int done = warp_any(line->mass[edge] < (number)1e30);

#pragma unroll
    for (int i = 0; i + edge < held; i++)
        line->q[i] = line->q[i + edge];
#pragma unroll
    for (int i = 0; i < edge; i++)
        line->q[held - edge + i] = done ? fresh[i] : 0;
    line->v[0] = line->v[edge];
    line->v[1] = line->v[edge + 1];
    line->v[2] = line->v[edge + 2];
    line->whole[0] = line->whole[edge];
    line->whole[1] = line->whole[edge + 1];
    line->mass[0] = line->mass[edge];
    line->base = line->base_above;
    line->base_above = done ? base_next : 0;
#pragma unroll
    for (int i = 0; i < beyond + 1; i++)
        line->at[i] = line->at[i + 1];
    line->at[beyond + 1] = done ? next_slot : 0;
}

/* Sweeps a line of a pencil; slots, cell, start: as begin_line() takes them; spreads: with noise, a constant of the
 * compiler.  Prefetches the pencils of `further`, if there are any, once `start` has been read.  Adds the mass that
 * flows out at the pencil's ends to *outflow. */
GBEES_NUM void sweep_pencil(const gbees_setup *m, const axis_sweep *w, int spreads, const uint32_t *slots, int cell,
                            pencil_start *start, const pencil_set *further, int64_t *outflow)
{
    const number *p = (const number *)opaque_global(w->p + cell);
    number *next = (number *)opaque_global(w->next + cell);
    const int axis = w->axis, edge = axis_edge(axis), beyond = bricks_beyond(axis), shared = pencils_share_warp(axis);
    const uint32_t *above = m->grid.neighbor[2 * axis + 1];
    const number root = SPREADS ? (number)sqrt((double)w->variance) : 0;
    uint32_t swept = 0, dither = spreads ? dither_of_line(m, w, slots[0], cell, 0) : 0;
    pencil_line line;

    begin_line(m, axis, slots, cell, start, &line);
    warp_sync();
    if (further && further->begin)
        prefetch_starts(m, w->p, axis, further, start);
    if (spreads)
        lowest_spread(m, w, root, &line);
    else
        lowest_mass(m, axis, &line, w->lambda, w->time);
    if (line.at[0] < m->first_ghost)
        add_outflow(-line.mass[0], outflow);
    do {
        const uint32_t next_slot = above[line.at[beyond + 1]];
        number fresh[PENCIL_EDGE], *row = next + (size_t)line.at[0] * CELLS;
        position base_next = brick_base(m, line.at[2])[axis];

#pragma unroll
        for (int i = 0; i < edge; i++)
            fresh[i] = p[(size_t)line.at[beyond + 1] * CELLS + (size_t)(i << axis_shift(axis))];
        if (spreads)
            brick_spread(m, w, root, &line);
        else
            brick_masses(m, axis, &line, w->lambda, w->time);
#pragma unroll
        for (int i = 0; i < edge; i++)
            if (!shared || line.at[0])
                row[i << axis_shift(axis)] =
                    spreads ? spread_cell(w, line.q[BEYOND - 1 + i], line.mass[i] - line.mass[i + 1], dither, i)
                            : line.q[BEYOND - 1 + i] + (line.mass[i] - line.mass[i + 1]);
        dither += CELLS * GBEES_DITHER_CELL;
        if (shared && line.at[0] && !line.at[1] && line.at[0] < m->first_ghost)
            add_outflow(line.mass[edge], outflow);
        swept = line.at[0];
        next_brick(axis, fresh, base_next, next_slot, &line);
    } while (shared ? warp_any(line.at[0] != 0) : line.at[0] != 0);
    if (!shared && swept < m->first_ghost)
        add_outflow(line.mass[0], outflow);
}

/* Whether the first bricks of the lane's pencil include an own one, so that it has to be swept. */
GBEES_NUM int reaches_own(const gbees_setup *m, int axis, const pencil_set *set)
{
    int is_own = set->slots[0] < m->first_ghost;

#pragma unroll
    for (int i = 1; i < bricks_beyond(axis) + 1; i++)
        is_own |= set->slots[i] && set->slots[i] < m->first_ghost;
    return is_own;
}

/* Takes the next entry of the work queue, which has own bricks, then ghosts, and sets the pencils that begin in its
 * bricks. Returns 0 if there is none left. */
GBEES_NUM int take_pencils(const gbees_setup *m, int axis, uint32_t own, uint32_t ghosts, uint32_t *work_queue,
                           pencil_set *set)
{
    const uint32_t count = own + ghosts;
    uint32_t mine_next = 0;

    if (warp_lane() == 0)
        mine_next = atomic_fetch_add_32(work_queue, 1);
    const pencil_part part = part_of(warp_shuffle(mine_next, 0), count);

    if (part.first > count)
        return 0;
    const uint32_t at = part.first + (uint32_t)warp_lane();
    set->slots[0] = at <= own ? at : m->first_ghost + (at - own - 1);
    set->begin = warp_ballot((uint32_t)warp_lane() < part.bricks && at <= count &&
                             gbees_begins_pencil(m->grid.neighbor[2 * axis][set->slots[0]]));
#pragma unroll
    for (int i = 1; i < bricks_beyond(axis) + 2; i++)
        set->slots[i] = set->begin >> warp_lane() & 1 ? m->grid.neighbor[2 * axis + 1][set->slots[i - 1]] : 0;
    if (ghosts)
        set->begin &= warp_ballot(reaches_own(m, axis, set));
    return 1;
}

/* Takes as many pencils of a set as the warp sweeps at once, and sets slots[] to the first bricks of the lane's one;
 * 0: it has none. */
GBEES_NUM void next_pencils(int axis, pencil_set *set, uint32_t *slots)
{
    const int lanes = pencil_lanes(axis), together = WARP_SIZE / lanes;
    uint32_t from = WARP_SIZE;

#pragma unroll
    for (int g = 0; g < together; g++) {
        if (warp_lane() / lanes == g && set->begin)
            from = (uint32_t)lowest_bit(set->begin);
        set->begin &= set->begin - 1;
    }
#pragma unroll
    for (int i = 0; i < bricks_beyond(axis) + 2; i++) {
        slots[i] = warp_shuffle(set->slots[i], from % WARP_SIZE);
        if (together > 1 && from == WARP_SIZE)
            slots[i] = 0;
    }
}

/* Sweeps all pencils along an axis; spreads: as sweep_pencil() takes it.  A warp takes entries from the work queue,
 * and sweeps the pencils that begin in their bricks, several at once if bricks have few lines.  Adds the mass that
 * flows out to the lane's *outflow, in units of 2^-60. */
GBEES_NUM void sweep_pencils(const gbees_setup *m, const axis_sweep *w, int spreads, uint32_t count, uint32_t ghosts,
                             uint32_t *work_queue, int64_t *outflow)
{
    BLOCK_LOCAL pencil_start starts[BLOCK_WARPS];
    const int axis = w->axis, lines = pencil_lines(axis), lanes = pencil_lanes(axis);
    pencil_start *start = &starts[block_warp()];
    pencil_set set;

    while (take_pencils(m, axis, count, ghosts, work_queue, &set)) {
        if (set.begin)
            prefetch_starts(m, w->p, axis, &set, start);
        while (set.begin) {
            uint32_t slots[PENCIL_SLOTS];

            next_pencils(axis, &set, slots);
            copy_async_wait();
#pragma unroll
            for (int line = 0; line < lines; line += lanes)
                sweep_pencil(m, w, spreads, slots, line_cell(axis, line + warp_lane() % lanes), start,
                             line + lanes < lines ? NULL : &set, outflow);
        }
    }
}

#endif
