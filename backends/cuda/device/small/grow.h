/* grow.h - growth of a small grid: warps request absent neighbours of their bricks, blocks exchange the requests, and
 * each block inserts the same bricks into its own copy of the keys, with the same slots.
 */
#ifndef GBEES_CUDA_SMALL_GROW_H
#define GBEES_CUDA_SMALL_GROW_H

#include "device/small/grid.h"

/* ---- reports of a block to all blocks ------------------------------------------------------------------------ */

/* Requests the absent neighbours that the cells `risen`, which have risen above p*, flow into, as grow_brick()
 * inserts them. Appends them to the block's list. By a warp. */
GBEES_NUM void request_neighbors(small_block *b, const small_brick *brick, uint64_t risen)
{
#pragma unroll 1
    for (int first = 0; first < PAIRS; first += WARP_SIZE) {
        const int which = first + warp_lane();
        const direction_pair pair = b->pair[which < PAIRS ? which : 0];
        const int requests = which < PAIRS && brick->absent >> which & 1 &&
                             (risen & pair.sides & brick->flow[pair.d] & brick->flow[pair.f]);
        const uint32_t lanes = warp_ballot(requests);
        uint32_t at = 0;

        if (!lanes)
            continue;
        if (warp_lane() == 0)
            at = block_fetch_add_32(&b->request_count, (uint32_t)count_bits(lanes));
        at = warp_shuffle(at, 0) + (uint32_t)count_bits(lanes & ((1u << warp_lane()) - 1));
        if (requests && at < SMALL_REQUESTS)
            b->request[at] = neighbor_key(brick->key, pair.offset, 1);
    }
}

/* Sends a message to all blocks, this one included: a lane a block. `to` and `mbarrier` are this block's addresses of
 * the variables that receive and count it there. By a warp. */
GBEES_NUM void broadcast(void *to, uint64_t *mbarrier, const void *message, int bytes)
{
#pragma unroll
    for (int i = 0; i < SMALL_BLOCK_ROUNDS; i++) {
        const uint32_t block = (uint32_t)(i * WARP_SIZE + warp_lane());

        if (block < block_count())
            send_message(to, mbarrier, block, message, bytes);
    }
    if (warp_lane() == 0)
        mbarrier_expect(mbarrier, block_count() * (uint32_t)bytes);
    warp_sync();
}

/* Sends the number of this block's requests and the first of them. By a warp. */
GBEES_NUM void broadcast_requests(small_block *b, int round)
{
    request_message message;

    message.count = b->request_count;
#pragma unroll
    for (int i = 0; i < SMALL_SENT_REQUESTS; i++)
        message.request[i] = b->request[i];
    broadcast(&b->requests[round % 2][block_index()], &b->requests_mbarrier[round % 2], &message, sizeof message);
    if (warp_lane() == 0)
        b->request_count = 0;
}

/* Reduces the sums of this block's warps and sends them. By a warp. */
GBEES_NUM void broadcast_sums(small_block *b, int round)
{
    const warp_sums none = {0, 0, 0, 0};
    const warp_sums own = warp_lane() < BLOCK_WARPS ? b->own[warp_lane()] : none; /* no more warps than lanes */
    sums_message message;

    message.max_active_rate = warp_max_64(bits_of(own.max_active_rate));
#if GBEES_DRIFT_TIME_DEPENDENT
    message.max_rate = warp_max_64(bits_of(own.max_rate));
#endif
    message.mass = warp_add(own.mass);
    message.outflow = warp_any(own.outflow != 0) ? warp_add(own.outflow) : 0;
    broadcast(&b->sums[round % 2][block_index()], &b->sums_mbarrier[round % 2], &message, sizeof message);
}

/* Reports a pass's sums and requests to all blocks, in two messages: warp 0 sends the sums, which the warps 0 wait
 * for, and the insert warp the requests, which the insert warps wait for. All warps arrive at the cluster barrier, at
 * which only the others wait. A warp that sends makes its writes visible before the block's barrier, while other
 * warps arrive there; the others do so afterwards, while the messages are sent. By all warps. */
GBEES_NUM void report_pass(small_block *b, const warp_sums *sums, int round)
{
    const int sends = block_warp() == 0 || block_warp() == INSERT_WARP;
    warp_sums own = *sums;

    own.mass = warp_add(own.mass);
    own.outflow = warp_any(own.outflow != 0) ? warp_add(own.outflow) : 0;
    if (warp_lane() == 0)
        b->own[block_warp()] = own;
    if (sends)
        cluster_fence();
    block_sync();
    if (block_warp() == 0)
        broadcast_sums(b, round);
    if (block_warp() == INSERT_WARP)
        broadcast_requests(b, round);
    if (!sends)
        cluster_fence();
    cluster_arrive();
}

/* Waits for the sums of all blocks and reduces them to b->state.sums, which lane 0 writes. By warp 0. */
GBEES_NUM void reduce_sums(small_block *b, int round)
{
    reduced_sums *to = &b->state.sums;
    uint64_t max_active_rate = 0;
    int64_t mass = 0, outflow = 0;
#if GBEES_DRIFT_TIME_DEPENDENT
    uint64_t max_rate = 0;
#endif

    mbarrier_wait(&b->sums_mbarrier[round % 2], round / 2);
#pragma unroll
    for (int i = 0; i < SMALL_BLOCK_ROUNDS; i++) {
        const uint32_t block = (uint32_t)(i * WARP_SIZE + warp_lane());
        const sums_message *from = &b->sums[round % 2][block];

        if (block >= block_count())
            continue;
        max_active_rate = from->max_active_rate > max_active_rate ? from->max_active_rate : max_active_rate;
        mass += from->mass;
        outflow += from->outflow;
#if GBEES_DRIFT_TIME_DEPENDENT
        max_rate = from->max_rate > max_rate ? from->max_rate : max_rate;
#endif
    }
    max_active_rate = warp_max_64(max_active_rate);
    mass = warp_add(mass);
    outflow = warp_any(outflow != 0) ? warp_add(outflow) : 0;
#if GBEES_DRIFT_TIME_DEPENDENT
    max_rate = warp_max_64(max_rate);
#endif
    if (warp_lane() != 0)
        return;
#if GBEES_DRIFT_TIME_DEPENDENT
    to->max_rate = max_rate;
#endif
    to->max_active_rate = max_active_rate;
    to->mass = mass;
    to->outflow = outflow;
    to->clipped = 0;
}

/* ---- insertion of new bricks ----------------------------------------------------------------------------------- */

/* The lanes that have the same key as this one, out of those for which `has_key` is true. */
GBEES_NUM uint32_t lanes_with_key(small_key key, int has_key)
{
    uint32_t lanes = warp_ballot(has_key);

#pragma unroll
    for (int k = 0; k < DIM; k++)
        lanes &= warp_match((uint32_t)key.at[k]);
    return lanes;
}

/* The number of requests of the block that has most. By a warp. */
GBEES_NUM uint32_t max_requests(const small_block *b, int round)
{
    uint32_t most = 0;

#pragma unroll
    for (int i = 0; i < SMALL_BLOCK_ROUNDS; i++) {
        const uint32_t block = (uint32_t)(i * WARP_SIZE + warp_lane());
        const uint32_t count = block < block_count() ? b->requests[round % 2][block].count : 0;

        most = count > most ? count : most;
    }
    return warp_max_32(most);
}

/* Inserts all requested bricks, each once, into this block's keys and hash table; b->count, b->overflow and
 * b->far_axis have the result. Bricks 1 .. linked are there already. If the capacity is exceeded, b->count remains
 * `linked`.
 *
 * Lanes take a request each, in an order that is the same in all blocks: the first requests of blocks 0, 1, ..., then
 * the second ones, and so on. Requests beyond those in the messages are read from the blocks' memory, after waiting
 * at the cluster barrier. Returns whether that was so. By the insert warp. */
GBEES_NUM int insert_requested(small_block *b, uint32_t linked, int round)
{
    const uint32_t most = max_requests(b, round), capacity = small_capacity();
    const int has_waited = most > SMALL_SENT_REQUESTS;
    uint32_t count = linked, far_axis = 0;

    if (has_waited)
        cluster_wait();
#pragma unroll 1
    for (uint32_t first = 0; first < most * SMALL_BLOCKS && most <= SMALL_REQUESTS; first += WARP_SIZE) {
        const uint32_t at = first + (uint32_t)warp_lane(), block = at % SMALL_BLOCKS, which = at / SMALL_BLOCKS;
        const request_message *from = &b->requests[round % 2][block];
        const int has_key = block < block_count() && which < from->count;
        small_key key = from->request[which % SMALL_SENT_REQUESTS];

        if (has_key && which >= SMALL_SENT_REQUESTS)
            key = *(const small_key *)cluster_memory_of(&b->request[which], block);
        /* Requested bricks are absent, unless an earlier round has inserted them. */
        const int is_new = has_key && (first == 0 || !small_find(b, key));
        const uint32_t lanes = lanes_with_key(key, is_new);
        warp_sync(); /* all lanes have looked up their keys */
        const int inserts = is_new && lowest_bit(lanes) == warp_lane();
        const uint32_t inserted = warp_ballot(inserts);
        const uint32_t slot = count + 1 + (uint32_t)count_bits(inserted & ((1u << warp_lane()) - 1));

        if (inserts && slot <= capacity)
            small_insert(b, slot, key);
#pragma unroll
        for (int k = 0; k < DIM; k++)
            far_axis = inserts && (key.at[k] >= STATE_KEY_LIMIT || key.at[k] <= -STATE_KEY_LIMIT) ? (uint32_t)k + 1
                                                                                                  : far_axis;
        count += (uint32_t)count_bits(inserted);
        warp_sync();
    }
    far_axis = warp_max_32(far_axis);
    if (warp_lane() == 0) {
        b->overflow = count > capacity || most > SMALL_REQUESTS;
        b->count = b->overflow ? linked : count;
        b->far_axis = far_axis;
    }
    return has_waited;
}

/* All warps of a block wait until its insert warp has inserted the new bricks. The insert warp does not wait for warp
 * 0, which updates the clock meanwhile: named barrier 1 has all warps but warp 0, barrier 2 the insert warp, which
 * only arrives there, and warp 0. */
GBEES_NUM void wait_for_insertion(void)
{
    if (BLOCK_WARPS == 1)
        return;
    if (block_warp() == INSERT_WARP)
        named_barrier_arrive(2, 2 * WARP_SIZE);
    if (block_warp() == 0)
        named_barrier_sync(2, 2 * WARP_SIZE);
    else
        named_barrier_sync(1, (BLOCK_WARPS - 1) * WARP_SIZE);
}

/* ---- new bricks ------------------------------------------------------------------------------------------------ */

/* Computes the largest CFL rate of the new bricks, in slots linked + 1 .. b->count, from their keys: each block needs
 * it, and only one of them has the brick. Sets b->new_rate to the largest rate that each warp has found, and s->bad
 * if one is not finite. Two warps share a brick's cells. By the warps from FIRST_RATE_WARP on. */
GBEES_NUM void rate_new_bricks(const gbees_setup *m, gbees_state *s, small_block *b, uint32_t linked)
{
    enum { PARTS = BLOCK_WARPS > 1 ? 2 : 1, ROUNDS = CELLS / WARP_SIZE / PARTS };
    const uint32_t jobs = (b->count - linked) * PARTS;
    double most = 0;

#pragma unroll 1
    for (uint32_t job = block_warp() - FIRST_RATE_WARP; job < jobs; job += BLOCK_WARPS - FIRST_RATE_WARP) {
        const uint32_t slot = linked + 1 + job / PARTS;
        const small_key key = b->key[slot];
        position base[DIM];

#pragma unroll
        for (int k = 0; k < DIM; k++)
            base[k] = base_along(m, k, key.at[k]);
#pragma unroll 1
        for (int i = 0; i < ROUNDS; i++) {
            const int cell = ((int)(job % PARTS) * ROUNDS + i) * WARP_SIZE + warp_lane();
            const double rate = visible_rate((double)cell_rate(m, base, cell, b->state.run.clock.time));

            most = fmax(most, rate);
            if (!(rate < 1e300))
                store_release_32(&s->bad, slot + 1);
        }
    }
    most = double_of(warp_max_64(bits_of(most)));
    if (warp_lane() == 0)
        b->new_rate[block_warp()] = most;
}

/* Stores the numbers of this warp's bricks before and after growth. */
GBEES_NUM void store_held(small_block *b, uint32_t before, uint32_t held)
{
    if (warp_lane() == 0) {
        b->held_before[block_warp()] = before;
        b->held[block_warp()] = held;
    }
}

/* Initialises this warp's new bricks, and sets their cells in p to 0, as these are read if the launch ends before a
 * step. Flow is computed later, by inspect_new_bricks(). By each warp. */
GBEES_NUM void init_new_bricks(const gbees_setup *m, small_block *b, small_warp *warp, number *p)
{
    const uint32_t before = warp->held;

#pragma unroll 1
    for (uint32_t slot; (slot = slot_of(warp, warp->held)) <= b->count; warp->held++) {
        init_brick(m, b->key[slot].at, &warp->brick[warp->held]);
        for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE)
            p[(size_t)slot * CELLS + (size_t)cell] = 0;
    }
    store_held(b, before, warp->held);
}

/* Computes flow and rates of the new bricks of all of this block's warps, for the cells from .. to - 1: needed from
 * the marks of the next step on. By warp 0, which has the fewest bricks. */
GBEES_NUM void inspect_new_bricks(const gbees_setup *m, small_block *b, int from, int to)
{
    for (uint32_t first = 0; first < BLOCK_WARPS; first += WARP_SIZE) {
        const uint32_t own = first + (uint32_t)warp_lane();
        uint32_t warps = warp_ballot(own < BLOCK_WARPS && b->held[own] > b->held_before[own]);

        for (; warps; warps &= warps - 1) {
            const uint32_t warp = first + (uint32_t)lowest_bit(warps);

            for (uint32_t i = b->held_before[warp]; i < b->held[warp]; i++)
                (void)inspect_small_brick(m, b->state.run.clock.time, from, to, &b->brick[warp][i]);
        }
    }
}

/* Whether any of the new bricks, in slots linked + 1 .. b->count, touches a brick. By a warp. */
GBEES_NUM int is_near_new_bricks(const small_block *b, const small_brick *brick, uint32_t linked)
{
    int is_near = 0;

    for (uint32_t first = linked + 1; !is_near && first <= b->count; first += WARP_SIZE) {
        const uint32_t slot = first + (uint32_t)warp_lane();
        int touches = slot <= b->count;

#pragma unroll
        for (int k = 0; k < DIM && touches; k++)
            touches = (uint32_t)(b->key[slot].at[k] - brick->key[k] + 1) <= 2;
        is_near = warp_any(touches);
    }
    return is_near;
}

/* Updates the links of this warp's bricks that are new, or that touch a new one. By each warp. */
GBEES_NUM void link_small_bricks(const gbees_setup *m, const small_block *b, const small_warp *warp, uint32_t linked)
{
    for (uint32_t i = 0; i < warp->held; i++)
        if (slot_of(warp, i) > linked || is_near_new_bricks(b, &warp->brick[i], linked))
            link_to_neighbors(m, b, &warp->brick[i]);
}

#endif
