/* small_grow.h - how a cluster's grid grows: bricks ask, and each block makes the same ones by itself. */
#ifndef GBEES_CUDA_SMALL_GROW_H
#define GBEES_CUDA_SMALL_GROW_H

#include "device/small/small.h"

/* ---- what a block tells all blocks ---------------------------------------------------------------------------- */

/* For the absent bricks that cells which have risen above p* flow into: grow_brick(). */
GBEES_NUM void ask_around(small_block *b, const small_brick *brick, uint64_t risen)
{
#pragma unroll 1
    for (int first = 0; first < PAIRS; first += TEAM) {
        const int which = first + team_lane();
        const small_pair pair = b->pair[which < PAIRS ? which : 0];
        const int is_asked = which < PAIRS && brick->absent >> which & 1 &&
                             (risen & pair.sides & brick->flow[pair.d] & brick->flow[pair.f]);
        const uint32_t asked = team_vote(is_asked);
        uint32_t at = 0;

        if (!asked)
            continue;
        if (team_lane() == 0)
            at = block_take_32(&b->asks, (uint32_t)count_bits(asked));
        at = team_get(at, 0) + (uint32_t)count_bits(asked & ((1u << team_lane()) - 1));
        if (is_asked && at < SMALL_ASKED)
            b->asked[at] = key_around(brick->key, pair.by, 1);
    }
}

/* To all blocks, where letter and box are what `to` and `box` are here; by a team. */
GBEES_NUM void send_to_all(void *to, uint64_t *box, const void *letter, int bytes)
{
#pragma unroll
    for (int i = 0; i < SMALL_ROUNDS; i++) {
        const uint32_t block = (uint32_t)(i * TEAM + team_lane());

        if (block < block_count())
            send_letter(to, box, block, letter, bytes);
    }
    if (team_lane() == 0)
        expect_letters(box, block_count() * (uint32_t)bytes);
    team_sync();
}

/* What a block asks for. */
GBEES_NUM void send_wish(small_block *b, int turn)
{
    small_wish wish;

    wish.count = b->asks;
#pragma unroll
    for (int i = 0; i < SMALL_SENT; i++)
        wish.asked[i] = b->asked[i];
    send_to_all(&b->wish[turn % 2][block_index()], &b->wish_box[turn % 2], &wish, sizeof wish);
    if (team_lane() == 0)
        b->asks = 0;
}

/* A block's sums, put together by a team. */
GBEES_NUM void send_sums(small_block *b, int turn)
{
    const team_sums none = {0, 0, 0, 0}, own = team_lane() < BLOCK_TEAMS ? b->own[team_lane()] : none;
    small_note note; /* no more teams than lanes */

    note.busy = team_most_64(bits_of(own.busy));
#if GBEES_MOVING
    note.most = team_most_64(bits_of(own.most));
#endif
    note.mass = team_add(own.mass);
    note.outflow = team_any(own.outflow != 0) ? team_add(own.outflow) : 0;
    send_to_all(&b->note[turn % 2][block_index()], &b->note_box[turn % 2], &note, sizeof note);
}

/* A block's sums, for all blocks' first teams, and what it asks for, for those that make bricks: neither waits for
 * more than this. For the others it is a meeting that ends with cluster_wait(). What a team has written is on its way
 * while letters are made, or before, if it makes one. */
GBEES_NUM void send_note(small_block *b, const team_sums *sums, int turn)
{
    const int sends = block_team() == 0 || block_team() == SMALL_MAKER;
    team_sums own = *sums;

    own.mass = team_add(own.mass);
    own.outflow = team_any(own.outflow != 0) ? team_add(own.outflow) : 0;
    if (team_lane() == 0)
        b->own[block_team()] = own;
    if (sends)
        publish_to_cluster();
    block_sync();
    if (block_team() == 0)
        send_sums(b, turn);
    if (block_team() == SMALL_MAKER)
        send_wish(b, turn);
    if (!sends)
        publish_to_cluster();
    cluster_arrive();
}

/* All blocks' sums, by the first team; its first lane has them then. */
GBEES_NUM void read_sums(small_block *b, int turn)
{
    glance *seen = &b->book.seen;
    uint64_t busy = 0;
    int64_t mass = 0, outflow = 0;
#if GBEES_MOVING
    uint64_t most = 0;
#endif

    await_letters(&b->note_box[turn % 2], turn / 2);
#pragma unroll
    for (int i = 0; i < SMALL_ROUNDS; i++) {
        const uint32_t block = (uint32_t)(i * TEAM + team_lane());
        const small_note *note = &b->note[turn % 2][block];

        if (block >= block_count())
            continue;
        busy = note->busy > busy ? note->busy : busy;
        mass += note->mass;
        outflow += note->outflow;
#if GBEES_MOVING
        most = note->most > most ? note->most : most;
#endif
    }
    busy = team_most_64(busy);
    mass = team_add(mass);
    outflow = team_any(outflow != 0) ? team_add(outflow) : 0;
#if GBEES_MOVING
    most = team_most_64(most);
#endif
    if (team_lane() != 0)
        return;
#if GBEES_MOVING
    seen->most = most;
#endif
    seen->busy = busy;
    seen->mass = mass;
    seen->outflow = outflow;
    seen->clipped = 0;
}

/* ---- new bricks ------------------------------------------------------------------------------------------------ */

/* Lanes with the same key, of those that have one. */
GBEES_NUM uint32_t lanes_alike(small_key key, int has)
{
    uint32_t alike = team_vote(has);

#pragma unroll
    for (int k = 0; k < DIM; k++)
        alike &= team_match((uint32_t)key.at[k]);
    return alike;
}

/* The most bricks that a block asks for. */
GBEES_NUM uint32_t most_asked(const small_block *b, int turn)
{
    uint32_t most = 0;

#pragma unroll
    for (int i = 0; i < SMALL_ROUNDS; i++) {
        const uint32_t block = (uint32_t)(i * TEAM + team_lane());
        const uint32_t count = block < block_count() ? b->wish[turn % 2][block].count : 0;

        most = count > most ? count : most;
    }
    return team_most_32(most);
}

/* All that have been asked for, each once; or none, if there is no room for all. By one team: lanes have one each,
 * the first ones of all blocks, then the second ones, ... Returns whether it had to meet all for this. */
GBEES_NUM int make_bricks(small_block *b, uint32_t linked, int turn)
{
    const uint32_t most = most_asked(b, turn), room = small_room();
    const int has_met = most > SMALL_SENT;
    uint32_t count = linked, far_axis = 0;

    if (has_met) /* others' memory is read */
        cluster_wait();
#pragma unroll 1
    for (uint32_t first = 0; first < most * SMALL_BLOCKS && most <= SMALL_ASKED; first += TEAM) {
        const uint32_t at = first + (uint32_t)team_lane(), block = at % SMALL_BLOCKS, which = at / SMALL_BLOCKS;
        const small_wish *wish = &b->wish[turn % 2][block];
        const int has = block < block_count() && which < wish->count;
        small_key key = wish->asked[which % SMALL_SENT];

        if (has && which >= SMALL_SENT) /* where that block has them */
            key = *(const small_key *)memory_of(&b->asked[which], block);
        /* None of the first ones is there: bricks know which are absent. */
        const int is_new = has && (first == 0 || !find_small(b, key));
        const uint32_t alike = lanes_alike(key, is_new);
        team_sync(); /* all have looked for theirs */
        const int makes = is_new && lowest_bit(alike) == team_lane();
        const uint32_t made = team_vote(makes);
        const uint32_t slot = count + 1 + (uint32_t)count_bits(made & ((1u << team_lane()) - 1));

        if (makes && slot <= room)
            enter_small(b, slot, key);
#pragma unroll
        for (int k = 0; k < DIM; k++)
            far_axis =
                makes && (key.at[k] >= STATE_KEY_LIMIT || key.at[k] <= -STATE_KEY_LIMIT) ? (uint32_t)k + 1 : far_axis;
        count += (uint32_t)count_bits(made);
        team_sync();
    }
    far_axis = team_most_32(far_axis);
    if (team_lane() == 0) {
        b->overflow = count > room || most > SMALL_ASKED;
        b->count = b->overflow ? linked : count;
        b->far_axis = far_axis;
    }
    return has_met;
}

/* A block's first team has the clock meanwhile, and the next one makes bricks, for which the others wait; the first
 * one when it has time. */
GBEES_NUM void meet_maker(void)
{
    if (BLOCK_TEAMS == 1)
        return;
    if (block_team() == SMALL_MAKER)
        part_arrive(2, 2 * TEAM);
    if (block_team() == 0)
        part_sync(2, 2 * TEAM);
    else
        part_sync(1, (BLOCK_TEAMS - 1) * TEAM);
}

/* The largest rate of bricks (linked, count], which each block needs: by most of its teams, the cells of a brick by
 * two of them. */
GBEES_NUM void rate_bricks(const gbees_setup *m, gbees_state *s, small_block *b, uint32_t linked)
{
    enum { PARTS = BLOCK_TEAMS > 1 ? 2 : 1, ROUNDS = CELLS / TEAM / PARTS };
    const uint32_t jobs = (b->count - linked) * PARTS;
    double most = 0;

#pragma unroll 1
    for (uint32_t job = block_team() - SMALL_RATER; job < jobs; job += BLOCK_TEAMS - SMALL_RATER) {
        const uint32_t slot = linked + 1 + job / PARTS; /* (the first teams' are far off) */
        const small_key key = b->key[slot];
        position base[DIM];

#pragma unroll
        for (int k = 0; k < DIM; k++)
            base[k] = base_along(m, k, key.at[k]);
#pragma unroll 1
        for (int i = 0; i < ROUNDS; i++) {
            const int cell = ((int)(job % PARTS) * ROUNDS + i) * TEAM + team_lane();
            const double rate = visible_rate((double)cell_rate(m, base, cell, b->book.time));

            most = fmax(most, rate);
            if (!(rate < 1e300))
                publish_32(&s->bad, slot + 1);
        }
    }
    most = double_of(team_most_64(bits_of(most)));
    if (team_lane() == 0)
        b->rate[block_team()] = most;
}

/* A team's bricks, before and after it has taken new ones. */
GBEES_NUM void note_held(small_block *b, uint32_t before, uint32_t held)
{
    if (team_lane() == 0) {
        b->before[block_team()] = before;
        b->held[block_team()] = held;
    }
}

/* This team's of them: nothing is known of what flows in them yet (look_at_fresh()). */
GBEES_NUM void take_bricks(const gbees_setup *m, small_block *b, small_team *team, number *p)
{
    const uint32_t before = team->held;

#pragma unroll 1
    for (uint32_t slot; (slot = 1 + team->place + team->held * team->teams) <= b->count; team->held++) {
        place_brick(m, b->key[slot].at, &team->brick[team->held]);
        for (int cell = team_lane(); cell < CELLS; cell += TEAM) /* read if no step comes after this */
            p[(size_t)slot * CELLS + (size_t)cell] = 0;
    }
    note_held(b, before, team->held);
}

/* What flows in this block's new bricks, and how fast: needed when they have been swept. By the first team, which has
 * fewer bricks than the others. */
GBEES_NUM void look_at_fresh(const gbees_setup *m, small_block *b, int from, int to)
{
    for (uint32_t first = 0; first < BLOCK_TEAMS; first += TEAM) {
        const uint32_t own = first + (uint32_t)team_lane();

        for (uint32_t has = team_vote(own < BLOCK_TEAMS && b->held[own] > b->before[own]); has; has &= has - 1) {
            const uint32_t team = first + (uint32_t)lowest_bit(has);

            for (uint32_t i = b->before[team]; i < b->held[team]; i++)
                (void)look_at(m, b->book.time, from, to, &b->brick[team][i]);
        }
    }
}

/* Links to new bricks, and theirs; `linked` are not new. */
GBEES_NUM void link_bricks(const gbees_setup *m, const small_block *b, const small_team *team, uint32_t linked)
{
    for (uint32_t i = 0; i < team->held; i++) {
        small_brick *brick = &team->brick[i];
        int is_near = 1 + team->place + i * team->teams > linked;

        for (uint32_t first = linked + 1; !is_near && first <= b->count; first += TEAM) {
            const uint32_t slot = first + (uint32_t)team_lane();
            int near = slot <= b->count;

#pragma unroll
            for (int k = 0; k < DIM && near; k++)
                near = (uint32_t)(b->key[slot].at[k] - brick->key[k] + 1) <= 2;
            is_near = team_any(near);
        }
        if (is_near)
            find_around(m, b, brick);
    }
}

#endif
