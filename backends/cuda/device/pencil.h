/* pencil.h - sweeps of large grids, along pencils: a line of cells a lane, from one end of the grid to the other.
 *
 * A pencil is a row of bricks along the axis, from one without a lower neighbour up to one without an upper one.  A
 * lane goes up its line and keeps what neighbouring faces share: each face is computed once, each cell read once.
 * Which brick comes next is known from the one before it alone, and its cells come from memory: both are asked for
 * well before they are needed.
 *
 * Mostly all lanes flow the same way.  Then nothing is chosen lane by lane, and no cell flows out on both sides.
 */
#ifndef GBEES_CUDA_PENCIL_H
#define GBEES_CUDA_PENCIL_H

#include "device/sweep.h"

/* Bricks above one whose cells the masses through its faces depend on. */
GBEES_NUM int bricks_beyond(int axis)
{
    return (BEYOND + axis_edge(axis) - 1) / axis_edge(axis);
}

/* Kernels that move the density of large grids. */
enum { HAS_PENCILS = DIM > 3 && GBEES_HAS_KERNELS(GBEES_KERNELS_ADVECT) };

enum {
    PENCIL_EDGE = 4,           /* of a brick, at most: there are four axes or more */
    PENCIL_SLOTS = 2 + BEYOND, /* a brick, those above it that it depends on, and one that is being asked for */
    PENCIL_CELLS = 16,         /* cells that are held at once, at most */
    PENCIL_FEW = WARP_SIZE < 4 ? 1 : WARP_SIZE / 4, /* bricks that a warp takes at once near the end, ... */
    PENCIL_ROUNDS = 5                               /* ... which is so many times for each warp */
};

/* What a pencil begins with, of as many as a warp sweeps at once: the cells of its first bricks, and where they are.
 * Asked for while the pencil before is swept, or each beginning would wait for memory. */
enum {
    PENCIL_PLACES = WARP_SIZE > GBEES_N ? WARP_SIZE : GBEES_N + 1,
    PENCIL_TOGETHER = WARP_SIZE == 1 || DIM >= 6 ? 1 : 2,
    PENCIL_ROWS = DIM >= 7   ? BEYOND + 1
                  : DIM == 6 ? 3
                             : 4
};

typedef struct pencil_start {
    alignas(16) number cells[PENCIL_ROWS * CELLS];
    position base[PENCIL_TOGETHER][PENCIL_PLACES]; /* [DIM]: of the second brick, along the axis */
} pencil_start;

/* Pencils of a few bricks, by lanes: the brick in which one begins and those above it. */
typedef struct pencil_set {
    uint32_t begin; /* by bits, the lanes' whose bricks begin one that is still to be swept */
    uint32_t slots[PENCIL_SLOTS];
} pencil_set;

/* Lines of a brick, by so many lanes, and how many pencils that leaves room for. */
GBEES_NUM int pencil_lines(int axis)
{
    return CELLS >> axis_bits(axis);
}

GBEES_NUM int pencil_lanes(int axis)
{
    return pencil_lines(axis) < WARP_SIZE ? pencil_lines(axis) : WARP_SIZE;
}

/* Asks for the beginnings of the next ones. */
GBEES_NUM void ask_ahead(const gbees_setup *m, const number *p, int axis, const pencil_set *set, pencil_start *start)
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
        for (int i = warp_lane(); i < PENCIL_PLACES; i += WARP_SIZE) { /* lanes that are left over go along */
            const int k = i < DIM ? i : DIM;

            lane_copy_async(&start->base[g][i], brick_base(m, k < DIM ? at[0] : at[1]) + (k < DIM ? k : axis),
                            (int)sizeof(position));
        }
        begin &= begin - 1;
    }
}

/* Bricks whose pencils a warp sweeps next: `part` of them all, larger ones first. */
typedef struct pencil_part {
    uint32_t first, bricks;
} pencil_part;

GBEES_NUM pencil_part part_of(uint32_t part, uint32_t count)
{
    const uint32_t few = warp_count() * PENCIL_FEW * PENCIL_ROUNDS,
                   whole = count > few ? (count - few) / WARP_SIZE : 0;
    pencil_part large = {1 + part * WARP_SIZE, WARP_SIZE};
    pencil_part small = {1 + whole * WARP_SIZE + (part - whole) * PENCIL_FEW, PENCIL_FEW};

    return part < whole ? large : small;
}

/* The masses through some faces in a row; q: from the lowest cell that these depend on, v: from the face below the
 * first one.  `idle`: the lane is at the end of its pencil already, and goes along. */
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

/* Sweeps a line of a pencil, `cell` its lowest one in each brick; slots: the pencil's first ones, 0 if there is none.
 * When what is in `start` has been read, those of `further` are asked for, if there are any.  Returns what flowed out
 * at the grid's ends. */
GBEES_NUM number sweep_pencil(const gbees_setup *m, const number *rows, number *rows_next, int axis,
                              const uint32_t *slots, int cell, pencil_start *start, const pencil_set *further,
                              number lambda, double time)
{
    const number *p = (const number *)opaque_global(rows + cell);
    number *next = (number *)opaque_global(rows_next + cell);
    const int group = warp_lane() / pencil_lanes(axis);
    const number *cells = start->cells + group * (bricks_beyond(axis) + 1) * CELLS + cell;
    const int edge = axis_edge(axis), beyond = bricks_beyond(axis), held = BEYOND - 1 + edge * (beyond + 1);
    const int shared = (CELLS >> axis_bits(axis)) < WARP_SIZE; /* several pencils a warp, one longer than the other */
    const uint32_t *above = m->grid.neighbor[2 * axis + 1];
    uint32_t at[PENCIL_SLOTS];
    number q[PENCIL_CELLS], v[PENCIL_EDGE + 2], mass[PENCIL_EDGE + 1], outflow = 0;
    position x[DIM], base, base_above;

#pragma unroll
    for (int i = 0; i < beyond + 2; i++)
        at[i] = slots[i];
#pragma unroll
    for (int i = 0; i < BEYOND - 1; i++)
        q[i] = 0;
#pragma unroll
    for (int i = 0; i < edge * (beyond + 1); i++)
        q[BEYOND - 1 + i] = cells[i / edge * CELLS + (i % edge << axis_shift(axis))];
#pragma unroll
    for (int k = 0; k < DIM; k++)
        x[k] = start->base[group][k] + cell_offset(m, k, cell_local(cell, k));
    base = start->base[group][axis];
    base_above = start->base[group][DIM];
    warp_sync();
    if (further && further->begin)
        ask_ahead(m, rows, axis, further, start);
#pragma unroll
    for (int i = 0; i < 2; i++) {
        x[axis] = base + face_offset(m, axis, i);
        v[i] = velocity(m, x, axis, time);
    }
    mass[0] = 0;
    if (warp_any(!(v[0] > 0) && at[0])) { /* nothing comes in */
        number far[2 * BEYOND], u[3] = {0, v[0], v[1]};

        x[axis] = base + face_offset(m, axis, -1);
        u[0] = velocity(m, x, axis, time);
#pragma unroll
        for (int i = 0; i < BEYOND; i++) {
            far[i] = 0;
            far[BEYOND + i] = q[BEYOND - 1 + i];
        }
        pencil_masses(1, far, u, lambda, shared && !at[0], mass);
        if (mass[0] < 0)
            outflow = -mass[0];
    }
    do {
        const uint32_t above_that = above[at[beyond + 1]];
        number fresh[PENCIL_EDGE], *row = next + (size_t)at[0] * CELLS;
        position base_next = brick_base(m, at[2])[axis];

#pragma unroll
        for (int i = 0; i < edge; i++)
            fresh[i] = p[(size_t)at[beyond + 1] * CELLS + (size_t)(i << axis_shift(axis))];
#pragma unroll
        for (int i = 2; i <= edge + 1; i++) {
            /* A face between two bricks is the lower one's: rounded once, the same for both. */
            x[axis] = i <= edge ? base + face_offset(m, axis, i)
                      : at[1]   ? base_above + face_offset(m, axis, 1)
                                : base + face_offset(m, axis, i);
            v[i] = velocity(m, x, axis, time);
        }
        pencil_masses(edge, q, v, lambda, shared && !at[0], mass + 1);
#pragma unroll
        for (int i = 0; i < edge; i++)
            if (!shared || at[0])
                row[i << axis_shift(axis)] = q[BEYOND - 1 + i] + (mass[i] - mass[i + 1]);
        if (shared && at[0] && !at[1] && mass[edge] > 0)
            outflow += mass[edge];
        /* The cells that were asked for are said to depend on the masses, which are numbers: so the compiler does
         * not wait for them before these are there. */
        const int now = warp_any(mass[edge] < (number)1e30);
#pragma unroll
        for (int i = 0; i + edge < held; i++)
            q[i] = q[i + edge];
#pragma unroll
        for (int i = 0; i < edge; i++)
            q[held - edge + i] = now ? fresh[i] : 0;
        v[0] = v[edge];
        v[1] = v[edge + 1];
        mass[0] = mass[edge];
        base = base_above;
        base_above = now ? base_next : 0;
#pragma unroll
        for (int i = 0; i < beyond + 1; i++)
            at[i] = at[i + 1];
        at[beyond + 1] = now ? above_that : 0;
    } while (shared ? warp_any(at[0] != 0) : at[0] != 0);
    return !shared && mass[0] > 0 ? outflow + mass[0] : outflow;
}

/* All pencils along an axis.  A warp takes a few bricks after the other, and sweeps the pencils that begin in them,
 * several at once if their bricks have few lines.  What flows out is added to the lane's own sum. */
GBEES_NUM void sweep_pencils(const gbees_setup *m, const number *p, number *next, int axis, uint32_t count,
                             number lambda, double time, uint32_t *work_queue, int64_t *outflow)
{
    BLOCK_LOCAL pencil_start starts[BLOCK_WARPS];
    const int lines = pencil_lines(axis), lanes = pencil_lanes(axis), together = WARP_SIZE / lanes;
    pencil_start *start = &starts[block_warp()];
    pencil_set set;

    for (;;) {
        uint32_t mine_next = 0;

        if (warp_lane() == 0)
            mine_next = atomic_fetch_add_32(work_queue, 1);
        const pencil_part part = part_of(warp_shuffle(mine_next, 0), count);

        if (part.first > count)
            break;
        set.slots[0] = part.first + (uint32_t)warp_lane();
        set.begin = warp_ballot((uint32_t)warp_lane() < part.bricks && set.slots[0] <= count &&
                                !m->grid.neighbor[2 * axis][set.slots[0]]);
#pragma unroll
        for (int i = 1; i < bricks_beyond(axis) + 2; i++)
            set.slots[i] = set.begin >> warp_lane() & 1 ? m->grid.neighbor[2 * axis + 1][set.slots[i - 1]] : 0;
        if (set.begin)
            ask_ahead(m, p, axis, &set, start);
        while (set.begin) {
            uint32_t from = WARP_SIZE, mine[PENCIL_SLOTS];

#pragma unroll
            for (int g = 0; g < together; g++) {
                if (warp_lane() / lanes == g && set.begin)
                    from = (uint32_t)lowest_bit(set.begin);
                set.begin &= set.begin - 1;
            }
#pragma unroll
            for (int i = 0; i < bricks_beyond(axis) + 2; i++) {
                mine[i] = warp_shuffle(set.slots[i], from % WARP_SIZE);
                if (together > 1 && from == WARP_SIZE)
                    mine[i] = 0;
            }
            copy_async_wait();
#pragma unroll
            for (int line = 0; line < lines; line += lanes) {
                number out = sweep_pencil(m, p, next, axis, mine, line_cell(axis, line + warp_lane() % lanes), start,
                                          line + lanes < lines ? NULL : &set, lambda, time);

                if (out > 0)
                    *outflow += gbees_fixed((double)out);
            }
        }
    }
}

#endif
