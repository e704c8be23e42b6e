/* grow.h - how a cluster's grid grows: bricks ask, and each block makes the same ones by itself. */
#ifndef GBEES_CUDA_SMALL_GROW_H
#define GBEES_CUDA_SMALL_GROW_H

#include "device/small/grid.h"

/* ---- what a block tells all blocks ---------------------------------------------------------------------------- */

/* For the absent bricks that cells which have risen above p* flow into: grow_brick(). */
GBEES_NUM void request_neighbors(small_block *b, const small_brick *brick, uint64_t risen)
{
#pragma unroll 1
    for (int first = 0; first < PAIRS; first += WARP_SIZE) {
        const int which = first + warp_lane();
        const direction_pair pair = b->pair[which < PAIRS ? which : 0];
        const int is_asked = which < PAIRS && brick->absent >> which & 1 &&
                             (risen & pair.sides & brick->flow[pair.d] & brick->flow[pair.f]);
        const uint32_t asked = warp_ballot(is_asked);
        uint32_t at = 0;

        if (!asked)
            continue;
        if (warp_lane() == 0)
            at = block_fetch_add_32(&b->asks, (uint32_t)count_bits(asked));
        at = warp_shuffle(at, 0) + (uint32_t)count_bits(asked & ((1u << warp_lane()) - 1));
        if (is_asked && at < SMALL_REQUESTS)
            b->asked[at] = neighbor_key(brick->key, pair.by, 1);
    }
}

/* To all blocks, where letter and box are what `to` and `box` are here; by a warp. */
GBEES_NUM void broadcast(void *to, uint64_t *box, const void *letter, int bytes)
{
#pragma unroll
    for (int i = 0; i < SMALL_BLOCK_ROUNDS; i++) {
        const uint32_t block = (uint32_t)(i * WARP_SIZE + warp_lane());

        if (block < block_count())
            send_message(to, box, block, letter, bytes);
    }
    if (warp_lane() == 0)
        mbarrier_expect(box, block_count() * (uint32_t)bytes);
    warp_sync();
}

/* What a block asks for. */
GBEES_NUM void broadcast_requests(small_block *b, int turn)
{
    request_message wish;

    wish.count = b->asks;
#pragma unroll
    for (int i = 0; i < SMALL_SENT_REQUESTS; i++)
        wish.asked[i] = b->asked[i];
    broadcast(&b->wish[turn % 2][block_index()], &b->request_mbarrier[turn % 2], &wish, sizeof wish);
    if (warp_lane() == 0)
        b->asks = 0;
}

/* A block's sums, put together by a warp. */
GBEES_NUM void broadcast_sums(small_block *b, int turn)
{
    const warp_sums none = {0, 0, 0, 0}, own = warp_lane() < BLOCK_WARPS ? b->own[warp_lane()] : none;
    sums_message note; /* no more warps than lanes */

    note.busy = warp_max_64(bits_of(own.busy));
#if GBEES_DRIFT_TIME_DEPENDENT
    note.most = warp_max_64(bits_of(own.most));
#endif
    note.mass = warp_add(own.mass);
    note.outflow = warp_any(own.outflow != 0) ? warp_add(own.outflow) : 0;
    broadcast(&b->note[turn % 2][block_index()], &b->sums_mbarrier[turn % 2], &note, sizeof note);
}

/* A block's sums, for all blocks' first warps, and what it asks for, for those that make bricks: neither waits for
 * more than this. For the others it is a meeting that ends with cluster_wait(). What a warp has written is on its way
 * while letters are made, or before, if it makes one. */
GBEES_NUM void exchange_sums_and_requests(small_block *b, const warp_sums *sums, int turn)
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
        broadcast_sums(b, turn);
    if (block_warp() == INSERT_WARP)
        broadcast_requests(b, turn);
    if (!sends)
        cluster_fence();
    cluster_arrive();
}

/* All blocks' sums, by the first warp; its first lane has them then. */
GBEES_NUM void reduce_sums(small_block *b, int turn)
{
    reduced_sums *seen = &b->state.sums;
    uint64_t busy = 0;
    int64_t mass = 0, outflow = 0;
#if GBEES_DRIFT_TIME_DEPENDENT
    uint64_t most = 0;
#endif

    mbarrier_wait(&b->sums_mbarrier[turn % 2], turn / 2);
#pragma unroll
    for (int i = 0; i < SMALL_BLOCK_ROUNDS; i++) {
        const uint32_t block = (uint32_t)(i * WARP_SIZE + warp_lane());
        const sums_message *note = &b->note[turn % 2][block];

        if (block >= block_count())
            continue;
        busy = note->busy > busy ? note->busy : busy;
        mass += note->mass;
        outflow += note->outflow;
#if GBEES_DRIFT_TIME_DEPENDENT
        most = note->most > most ? note->most : most;
#endif
    }
    busy = warp_max_64(busy);
    mass = warp_add(mass);
    outflow = warp_any(outflow != 0) ? warp_add(outflow) : 0;
#if GBEES_DRIFT_TIME_DEPENDENT
    most = warp_max_64(most);
#endif
    if (warp_lane() != 0)
        return;
#if GBEES_DRIFT_TIME_DEPENDENT
    seen->max_rate = most;
#endif
    seen->max_active_rate = busy;
    seen->mass = mass;
    seen->outflow = outflow;
    seen->clipped = 0;
}

/* ---- new bricks ------------------------------------------------------------------------------------------------ */

/* Lanes with the same key, of those that have one. */
GBEES_NUM uint32_t lanes_with_key(small_key key, int has)
{
    uint32_t alike = warp_ballot(has);

#pragma unroll
    for (int k = 0; k < DIM; k++)
        alike &= warp_match((uint32_t)key.at[k]);
    return alike;
}

/* The most bricks that a block asks for. */
GBEES_NUM uint32_t max_requests(const small_block *b, int turn)
{
    uint32_t most = 0;

#pragma unroll
    for (int i = 0; i < SMALL_BLOCK_ROUNDS; i++) {
        const uint32_t block = (uint32_t)(i * WARP_SIZE + warp_lane());
        const uint32_t count = block < block_count() ? b->wish[turn % 2][block].count : 0;

        most = count > most ? count : most;
    }
    return warp_max_32(most);
}

/* All that have been asked for, each once; or none, if there is no room for all. By one warp: lanes have one each,
 * the first ones of all blocks, then the second ones, ... Returns whether it had to meet all for this. */
GBEES_NUM int insert_requested(small_block *b, uint32_t linked, int turn)
{
    const uint32_t most = max_requests(b, turn), room = small_capacity();
    const int has_waited = most > SMALL_SENT_REQUESTS;
    uint32_t count = linked, far_axis = 0;

    if (has_waited) /* others' memory is read */
        cluster_wait();
#pragma unroll 1
    for (uint32_t first = 0; first < most * SMALL_BLOCKS && most <= SMALL_REQUESTS; first += WARP_SIZE) {
        const uint32_t at = first + (uint32_t)warp_lane(), block = at % SMALL_BLOCKS, which = at / SMALL_BLOCKS;
        const request_message *wish = &b->wish[turn % 2][block];
        const int has = block < block_count() && which < wish->count;
        small_key key = wish->asked[which % SMALL_SENT_REQUESTS];

        if (has && which >= SMALL_SENT_REQUESTS) /* where that block has them */
            key = *(const small_key *)cluster_memory_of(&b->asked[which], block);
        /* None of the first ones is there: bricks know which are absent. */
        const int is_new = has && (first == 0 || !small_find(b, key));
        const uint32_t alike = lanes_with_key(key, is_new);
        warp_sync(); /* all have looked for theirs */
        const int makes = is_new && lowest_bit(alike) == warp_lane();
        const uint32_t made = warp_ballot(makes);
        const uint32_t slot = count + 1 + (uint32_t)count_bits(made & ((1u << warp_lane()) - 1));

        if (makes && slot <= room)
            small_insert(b, slot, key);
#pragma unroll
        for (int k = 0; k < DIM; k++)
            far_axis =
                makes && (key.at[k] >= STATE_KEY_LIMIT || key.at[k] <= -STATE_KEY_LIMIT) ? (uint32_t)k + 1 : far_axis;
        count += (uint32_t)count_bits(made);
        warp_sync();
    }
    far_axis = warp_max_32(far_axis);
    if (warp_lane() == 0) {
        b->overflow = count > room || most > SMALL_REQUESTS;
        b->count = b->overflow ? linked : count;
        b->far_axis = far_axis;
    }
    return has_waited;
}

/* A block's first warp has the clock meanwhile, and the next one makes bricks, for which the others wait; the first
 * one when it has time. */
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

/* The largest rate of bricks (linked, count], which each block needs: by most of its warps, the cells of a brick by
 * two of them. */
GBEES_NUM void rate_new_bricks(const gbees_setup *m, gbees_state *s, small_block *b, uint32_t linked)
{
    enum { PARTS = BLOCK_WARPS > 1 ? 2 : 1, ROUNDS = CELLS / WARP_SIZE / PARTS };
    const uint32_t jobs = (b->count - linked) * PARTS;
    double most = 0;

#pragma unroll 1
    for (uint32_t job = block_warp() - FIRST_RATE_WARP; job < jobs; job += BLOCK_WARPS - FIRST_RATE_WARP) {
        const uint32_t slot = linked + 1 + job / PARTS; /* (the first warps' are far off) */
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
        b->rate[block_warp()] = most;
}

/* A warp's bricks, before and after it has taken new ones. */
GBEES_NUM void store_held(small_block *b, uint32_t before, uint32_t held)
{
    if (warp_lane() == 0) {
        b->before[block_warp()] = before;
        b->held[block_warp()] = held;
    }
}

/* This warp's of them: nothing is known of what flows in them yet (inspect_new_bricks()). */
GBEES_NUM void init_new_bricks(const gbees_setup *m, small_block *b, small_warp *warp, number *p)
{
    const uint32_t before = warp->held;

#pragma unroll 1
    for (uint32_t slot; (slot = 1 + warp->place + warp->held * warp->warps) <= b->count; warp->held++) {
        init_brick(m, b->key[slot].at, &warp->brick[warp->held]);
        for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE) /* read if no step comes after this */
            p[(size_t)slot * CELLS + (size_t)cell] = 0;
    }
    store_held(b, before, warp->held);
}

/* What flows in this block's new bricks, and how fast: needed when they have been swept. By the first warp, which has
 * fewer bricks than the others. */
GBEES_NUM void inspect_new_bricks(const gbees_setup *m, small_block *b, int from, int to)
{
    for (uint32_t first = 0; first < BLOCK_WARPS; first += WARP_SIZE) {
        const uint32_t own = first + (uint32_t)warp_lane();

        for (uint32_t has = warp_ballot(own < BLOCK_WARPS && b->held[own] > b->before[own]); has; has &= has - 1) {
            const uint32_t warp = first + (uint32_t)lowest_bit(has);

            for (uint32_t i = b->before[warp]; i < b->held[warp]; i++)
                (void)inspect_small_brick(m, b->state.run.clock.time, from, to, &b->brick[warp][i]);
        }
    }
}

/* Links to new bricks, and theirs; `linked` are not new. */
GBEES_NUM void link_small_bricks(const gbees_setup *m, const small_block *b, const small_warp *warp, uint32_t linked)
{
    for (uint32_t i = 0; i < warp->held; i++) {
        small_brick *brick = &warp->brick[i];
        int is_near = 1 + warp->place + i * warp->warps > linked;

        for (uint32_t first = linked + 1; !is_near && first <= b->count; first += WARP_SIZE) {
            const uint32_t slot = first + (uint32_t)warp_lane();
            int near = slot <= b->count;

#pragma unroll
            for (int k = 0; k < DIM && near; k++)
                near = (uint32_t)(b->key[slot].at[k] - brick->key[k] + 1) <= 2;
            is_near = warp_any(near);
        }
        if (is_near)
            link_to_neighbors(m, b, brick);
    }
}

#endif
