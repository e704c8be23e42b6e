/* inspect.h - velocities at the faces of bricks' cells: where probability flows to, and how fast. */
#ifndef GBEES_CUDA_INSPECT_H
#define GBEES_CUDA_INSPECT_H

#include "device/bound.h"
#include "device/noise.h"

/* Kernels whose blocks come, or may come, one after the other. */
enum { HAS_BLOCK_RANGES = GBEES_HAS_KERNELS(GBEES_KERNELS_ADVECT) };

/* A warp's bricks, `together` at once: all warps go through the grid side by side; where blocks come one after the
 * other (gbees_advect), each has its share of it, so that what is near is worked on at about the same time.
 */
typedef struct warp_slots {
    uint32_t from, last, stride;
} warp_slots;

/* A warp's number. On a small grid the first ones are in different blocks, as there is less to do than there are
 * warps, and what is next to each other grows at the same time; a block's first warp, whose first thread has the
 * clock, comes last. */
GBEES_NUM uint32_t warp_place(const gbees_setup *m)
{
    return m->clustered ? (BLOCK_WARPS - 1 - block_warp()) * block_count() + block_index() : warp_index();
}

GBEES_NUM warp_slots slots_of_warp(const gbees_setup *m, uint32_t count, uint32_t together)
{
    const uint32_t share = (count + block_count() - 1) / block_count(), from = 1 + block_index() * share;
    warp_slots all = {1 + warp_place(m) * together, count, warp_count() * together};
    warp_slots own = {from + block_warp() * together, from + share - 1 < count ? from + share - 1 : count,
                      BLOCK_WARPS * together};

    return HAS_BLOCK_RANGES && (GBEES_KERNELS != GBEES_KERNELS_ALL || m->advect_apart) ? own : all;
}

/* The point in the middle of a face along `axis`, 0 .. edge or one beyond, across the cell. */
GBEES_NUM void face_point(const gbees_setup *m, const position *base, int cell, int axis, int face, position *x)
{
#pragma unroll
    for (int k = 0; k < DIM; k++)
        x[k] = base[k] + (k == axis ? face_offset(m, k, face) : cell_offset(m, k, cell_local(cell, k)));
}

/* A warp's votes, for cells from `first` on, into a set of cells. */
GBEES_NUM void put_ballot(uint64_t *set, int first, uint32_t votes)
{
    if (warp_lane() != 0)
        return;
    if (WARP_SIZE == 32)
        ((uint32_t *)set)[first / 32] = votes; /* the lower half comes first */
    else
        *set = (first ? *set : 0) | (uint64_t)votes << first;
}

/* ... and into one that is there already. */
GBEES_NUM void add_ballot(uint64_t *set, int first, uint32_t votes)
{
    if (warp_lane() != 0)
        return;
    if (WARP_SIZE == 32)
        ((uint32_t *)set)[first / 32] |= votes;
    else
        *set |= (uint64_t)votes << first;
}

GBEES_NUM void load_base(const gbees_setup *m, uint32_t slot, position *base)
{
#pragma unroll
    for (int k = 0; k < DIM; k++)
        base[k] = brick_base(m, slot)[k];
}

/* Larger than all numbers, as one that is not a number is to be here. */
GBEES_NUM double visible_rate(double rate)
{
    return rate < 1e300 ? rate : HUGE_VAL;
}

#if GBEES_DIFFUSION

/* Where noise takes probability to: the cells from `first` on; and the rate for the time step. */
GBEES_NUM double inspect_noise(const gbees_setup *m, uint32_t slot, int first, double time, uint64_t *flow)
{
    double q[NOISE_ENTRIES], widest = 0;
    int bad = 0;

#pragma unroll
    for (int j = 0; j < DIM; j++) {
        if (GBEES_LOW_REGISTERS || j == 0) /* lean: of all that it computes only what this axis needs */
            noise_at(m, slot, first + warp_lane(), NULL, time, q);
        double spread = gbees_diffusion_spread(DIM, NOISE_FULL, q, 1, m->over_width, j);
        uint32_t votes = warp_ballot(spread > 0);

        add_ballot(&flow[2 * j], first, votes);
        add_ballot(&flow[2 * j + 1], first, votes);
        bad = bad || gbees_diffusion_fault(DIM, NOISE_FULL, q, 1, m->over_width, j);
        widest = spread > widest && is_inside(m, slot, first + warp_lane()) ? spread : widest;
    }
    return bad ? HUGE_VAL : gbees_diffusion_step_rate(m->courant, widest);
}

#endif

/* Flow masks and the rate of a brick, by a warp; returns the rate. */
GBEES_NUM double inspect_brick(const gbees_setup *m, gbees_state *s, uint32_t slot, double time)
{
    uint64_t *flow = m->grid.flow + (size_t)slot * DIRECTIONS;
    position base[DIM];
    double most = 0;

    load_base(m, slot, base);
#if GBEES_DRIFT_TIME_DEPENDENT /* likely to have a costly function of the time: for the compiler, too */
#pragma unroll 1
#endif
    for (int first = 0; first < CELLS; first += WARP_SIZE) {
        int cell = first + warp_lane();
        number rate = 0;

#pragma unroll
        for (int j = 0; j < DIM; j++) {
            position x[DIM];

            if (GBEES_LOW_REGISTERS) {
                compiler_fence();
                load_base(m, slot, base);
            }
            face_point(m, base, cell, j, cell_local(cell, j), x);
            number below = velocity(m, x, j, time);
            face_point(m, base, cell, j, cell_local(cell, j) + 1, x);
            number above = velocity(m, x, j, time);
            number here = (above < 0 ? -above : above) * (number)m->over_width[j];

            /* A velocity that is not a number stays visible. */
            rate = !m->sweeps ? rate + here : here > rate ? here : rate + (here - here);
            put_ballot(&flow[2 * j], first, warp_ballot(below < 0));
            put_ballot(&flow[2 * j + 1], first, warp_ballot(above > 0));
        }
        /* Cells out of bound hold nothing and set no step, unless a velocity is no number. */
        most = fmax(most, visible_rate((double)(is_inside(m, slot, cell) ? rate : rate - rate)));
#if GBEES_DIFFUSION
        most = fmax(most, inspect_noise(m, slot, first, time, flow));
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

/* The neighbours of a new brick, and it as theirs; by some lanes of a warp. */
GBEES_NUM void link_by(const gbees_setup *m, uint32_t slot, int lane, int lanes)
{
    for (int d = lane; d < DIRECTIONS; d += lanes) {
        uint32_t neighbor = table_find(m, key_near(m, slot, d, -1));

        store_32(&m->grid.neighbor[d][slot], neighbor);
        if (neighbor) /* another new one's warp does the same */
            store_32(&m->grid.neighbor[d ^ 1][neighbor], slot);
    }
}

GBEES_NUM void link_brick(const gbees_setup *m, uint32_t slot)
{
    link_by(m, slot, warp_lane(), WARP_SIZE);
}

/* A brick that nothing is in, and of whose neighbours nothing is known; by some lanes of a warp. */
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

/* Bricks (linked, count]: neighbours, velocities, and nothing in them.  A warp links two at once, or looks at one:
 * first the one, then the other, so that all warps have about as much to do. */
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
            most = fmax(most, inspect_brick(m, s, slot, time));
        }
    }
    if (most > 0 && warp_lane() == 0)
        atomic_max_64(&sums->max_rate, bits_of(most));
}

/* All bricks again, for a drift that depends on time. */
GBEES_NUM void inspect_all(const gbees_setup *m, gbees_state *s, uint32_t count, double time)
{
    for (uint32_t slot = 1 + warp_index(); slot <= count; slot += warp_count())
        inspect_brick(m, s, slot, time);
}

#endif
