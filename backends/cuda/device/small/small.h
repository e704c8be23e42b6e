/* small.h - the grid of a cluster's steps (GBEES_SMALL), where a step is a chain of waits: for memory, for each
 * other, and for instructions that depend on the ones before them.
 *
 * Each block has all keys and a table of its own in its own memory, and each team what there is to know of its bricks
 * but their P.  What a team finds out that others need it sends to all blocks' memories: which bricks its own ask
 * for, and its sums.  What all need is then computed in each block by itself, from the same numbers in the same
 * order, and nothing is waited for but the next meeting. The grid's arrays in the GPU's memory are read when a launch
 * begins and written when it ends; in between only the rows are.
 *
 * For the split schemes in up to three dimensions, where bricks are as wide along all axes; without noise or bound.
 */
#ifndef GBEES_CUDA_SMALL_H
#define GBEES_CUDA_SMALL_H

#include "device/small/book.h"
#include "device/grow.h"

enum {
    SMALL_BLOCKS = 16,
    SMALL_ROUNDS = (SMALL_BLOCKS + TEAM - 1) / TEAM, /* of a team's lanes, for all blocks */
    SMALL_MAKER = BLOCK_TEAMS > 1,                   /* the team that makes bricks: one that has few of them */
    SMALL_RATER = BLOCK_TEAMS > 1 ? 2 : 0,           /* the first of those that look how fast these flow */
    SMALL_MOST = 1024,                               /* bricks; fewer if there are fewer blocks */
    SMALL_TEAMS = SMALL_BLOCKS * BLOCK_TEAMS,
    SMALL_HELD = TEAM > 1 ? (SMALL_MOST + SMALL_TEAMS - 1) / SMALL_TEAMS : SMALL_MOST, /* bricks of a team */
    SMALL_TABLE = 2 * SMALL_MOST,
    /* Bricks that a block asks for at once, at most: for all that it has, if there are as many blocks. */
    SMALL_ASKED = (TEAM > 1 ? SMALL_MOST / SMALL_BLOCKS : SMALL_HELD) * PAIRS / 2,
    SMALL_SENT = 4 /* of them, those that come with its sums */
};

/* A brick that a team has at hand. */
typedef struct small_brick {
    uint64_t flow[DIRECTIONS], active; /* the cells that probability leaves, by direction; those above p* */
    double rate;
    position base[DIM], beside[DIRECTIONS]; /* its base, and its neighbours' along the axis that they are on */
    uint32_t link[DIRECTIONS];              /* its neighbours; 0: absent */
    int32_t key[DIM];
    uint32_t absent; /* bit by bit: pairs of directions in which there is no brick */
} small_brick;

typedef struct small_key {
    int32_t at[DIM];
} small_key;

/* A pair of directions, and the cells that lie at both sides. */
typedef struct small_pair {
    uint64_t sides;
    int32_t d, f;
    small_key by; /* the way there */
} small_pair;

/* What others need of it when bricks go: a cell flows where it flowed, whatever becomes of the brick meanwhile. */
typedef struct small_past {
    uint64_t flow[DIRECTIONS], active;
    double rate;
} small_past;

/* Bricks that stay when others go: as their teams have told it, and bit by bit; and which one it was that is this one
 * now. */
typedef struct small_ranks {
    uint32_t staying[SMALL_MOST / TEAM];
    uint16_t was[SMALL_MOST + 1];
    uint8_t stays[SMALL_MOST + 1];
} small_ranks;

/* Of the state, what a prune adds to. */
typedef struct small_totals {
    uint64_t needed_count, max_cells;
    double cell_updates, pruned;
} small_totals;

/* What a block tells the others, in letters of a multiple of 16 bytes: its teams' sums ... */
typedef struct small_note {
    alignas(16) uint64_t busy; /* a rate, as bits of a double */
    int64_t mass, outflow;
#if GBEES_MOVING
    uint64_t most; /* else new bricks' rates are all that changes it */
#endif
} small_note;

/* ... how many bricks it asks for, and the first of these. */
typedef struct small_wish {
    alignas(16) uint32_t count;
    small_key asked[SMALL_SENT];
} small_wish;

/* A block's memory. */
typedef struct small_block {
    book book;
    small_totals totals;
    small_note note[2][SMALL_BLOCKS]; /* of all blocks, in turns */
    small_wish wish[2][SMALL_BLOCKS];
    uint64_t note_box[2], wish_box[2]; /* where they are counted */
    team_sums own[BLOCK_TEAMS];
    double rate[BLOCK_TEAMS];                        /* the largest of those bricks that a team has looked at */
    uint32_t before[BLOCK_TEAMS], held[BLOCK_TEAMS]; /* bricks of a team, before and after it has taken new ones */
    small_pair pair[PAIRS];
    small_brick brick[BLOCK_TEAMS][SMALL_HELD];
    small_past past[BLOCK_TEAMS][SMALL_HELD];
    small_key key[SMALL_MOST + 1];
    union { /* no one asks for bricks while some go */
        small_key asked[SMALL_ASKED];
        small_ranks ranks;
    };
    uint32_t table[SMALL_TABLE];
    uint32_t asks;               /* bricks that this block asks for */
    uint32_t count;              /* bricks, with those that this growth has made */
    uint32_t far_axis, overflow; /* of this growth */
} small_block;

/* A team, and how many of its bricks there are: slots 1 + place, 1 + place + teams, ... */
typedef struct small_team {
    uint32_t place, teams, held;
    small_brick *brick;
} small_team;

/* Bricks that there is room for. */
GBEES_NUM uint32_t small_room(void)
{
    const uint32_t most = SMALL_HELD * team_count();

    return most < SMALL_MOST ? most : SMALL_MOST;
}

/* ---- keys and the table ---------------------------------------------------------------------------------------- */

/* The key of a brick's neighbour, so many times `by` away. */
GBEES_NUM small_key key_around(const int32_t *key, small_key by, int times)
{
    small_key to;

#pragma unroll
    for (int k = 0; k < DIM; k++)
        to.at[k] = key[k] + times * by.at[k];
    return to;
}

GBEES_NUM uint32_t small_place(small_key key)
{
    uint32_t hash = 0;

#pragma unroll
    for (int k = 0; k < DIM; k++)
        hash = (hash + (uint32_t)key.at[k]) * 0x9e3779b1u;
    return hash >> 16 & (SMALL_TABLE - 1);
}

/* The slot of a brick, 0 if it is absent. No one inserts meanwhile. */
GBEES_NUM uint32_t find_small(const small_block *b, small_key key)
{
    for (uint32_t at = small_place(key);; at = (at + 1) & (SMALL_TABLE - 1)) {
        const uint32_t slot = b->table[at];
        int same = 1;

#pragma unroll
        for (int k = 0; k < DIM; k++)
            same &= b->key[slot].at[k] == key.at[k];
        if (!slot || same)
            return slot;
    }
}

/* A brick that is not there. */
GBEES_NUM void enter_small(small_block *b, uint32_t slot, small_key key)
{
    uint32_t at = small_place(key);

    b->key[slot] = key;
    while (block_swap_if(&b->table[at], 0, slot))
        at = (at + 1) & (SMALL_TABLE - 1);
}

/* ---- bricks at hand -------------------------------------------------------------------------------------------- */

/* A brick that has a key; by a team, which then meets. */
GBEES_NUM void place_brick(const gbees_setup *m, const int32_t *key, small_brick *to)
{
    for (int k = team_lane(); k < DIM; k += TEAM) {
        to->key[k] = key[k];
        to->base[k] = base_along(m, k, key[k]);
    }
    for (int d = team_lane(); d < DIRECTIONS; d += TEAM)
        to->link[d] = 0;
    if (team_lane() == 0) {
        to->absent = (1u << PAIRS) - 1;
        to->active = 0;
    }
    team_sync();
}

/* Looks for the bricks around it that have been absent: links to those beside it. */
GBEES_NUM void find_around(const gbees_setup *m, const small_block *b, small_brick *brick)
{
    uint32_t absent = brick->absent;

    for (int first = 0; first < PAIRS; first += TEAM) {
        const int pair = first + team_lane();
        uint32_t slot = 0;

        if (pair < PAIRS && absent >> pair & 1) {
            const int d = b->pair[pair].d, f = b->pair[pair].f, axis = d >> 1;

            slot = find_small(b, key_around(brick->key, b->pair[pair].by, 1));
            if (slot && f == d) {
                brick->link[d] = slot;
                brick->beside[d] = base_along(m, axis, brick->key[axis] + (d & 1 ? 1 : -1));
            }
        }
        absent &= ~(team_vote(slot != 0) << first);
    }
    team_sync(); /* all have read it */
    if (team_lane() == 0)
        brick->absent = absent;
    team_sync();
}

/* How fast it flows in a cell: of inspect_brick(). */
GBEES_NUM number cell_rate(const gbees_setup *m, const position *base, int cell, double time)
{
    number rate = 0;

#pragma unroll
    for (int j = 0; j < DIM; j++) {
        position x[DIM];

        face_point(m, base, cell, j, cell_local(cell, j) + 1, x);
        const number above = velocity(m, x, j, time);
        const number here = (above < 0 ? -above : above) * (number)m->over_width[j];

        rate = here > rate ? here : rate + (here - here); /* no number stays none */
    }
    return rate;
}

/* Flow masks and the rate of a brick, from some cells on; returns the rate. */
GBEES_NUM double look_at(const gbees_setup *m, double time, int from, int to, small_brick *brick)
{
    double most = from ? brick->rate : 0;

#pragma unroll 1
    for (int first = from; first < to; first += TEAM) {
        const int cell = first + team_lane();

#pragma unroll
        for (int j = 0; j < DIM; j++) {
            position x[DIM];

            face_point(m, brick->base, cell, j, cell_local(cell, j), x);
            put_vote(&brick->flow[2 * j], first, team_vote(velocity(m, x, j, time) < 0));
            face_point(m, brick->base, cell, j, cell_local(cell, j) + 1, x);
            put_vote(&brick->flow[2 * j + 1], first, team_vote(velocity(m, x, j, time) > 0));
        }
        most = fmax(most, visible_rate((double)cell_rate(m, brick->base, cell, time)));
    }
    most = double_of(team_most_64(bits_of(most)));
    team_sync(); /* all have read it */
    if (team_lane() == 0)
        brick->rate = most;
    team_sync();
    return most;
}

/* ---- from the grid's arrays and back --------------------------------------------------------------------------- */

/* What a block has of the grid, and the largest rate, but for what each team has at hand; others may send to its
 * memory once all have met after this. */
GBEES_NUM void open_small(const gbees_setup *m, const gbees_state *s, uint64_t target, small_block *b,
                          small_team *team)
{
    const uint32_t thread = block_team() * TEAM + (uint32_t)team_lane(), threads = BLOCK_TEAMS * TEAM;
    const uint32_t count = s->count;
    double most = 0;

    team->place = team_place(m);
    team->teams = team_count();
    team->held = 0;
    team->brick = b->brick[block_team()];
    for (uint32_t i = thread; i < SMALL_TABLE; i += threads)
        b->table[i] = 0;
    for (uint32_t i = thread; i < PAIRS; i += threads) {
        int d, f;

        (void)split_pair((int)i, &d, &f);
        b->pair[i].sides = gbees_shape_side(&m->shape, d) & gbees_shape_side(&m->shape, f);
        b->pair[i].d = d;
        b->pair[i].f = f;
        for (int k = 0; k < DIM; k++)
            b->pair[i].by.at[k] = (d == 2 * k + 1) - (d == 2 * k) + (f != d) * ((f == 2 * k + 1) - (f == 2 * k));
    }
    if (thread == 0) {
        for (int k = 0; k < 2; k++) {
            open_box(&b->note_box[k], block_count());
            open_box(&b->wish_box[k], block_count());
        }
        b->asks = 0;
        b->totals.needed_count = s->needed_count;
        b->totals.max_cells = s->max_cells;
        b->totals.cell_updates = s->cell_updates;
        b->totals.pruned = s->pruned;
    }
    for (uint32_t slot = 1 + thread; slot <= count; slot += threads) {
        b->key[slot] = *(const small_key *)(m->grid.key + (size_t)slot * DIM);
        most = fmax(most, m->grid.rate[slot]);
    }
    most = double_of(team_most_64(bits_of(most)));
    if (team_lane() == 0)
        b->rate[block_team()] = most;
    open_book(&b->book, s, target); /* with which a block meets */
    for (uint32_t slot = 1 + thread; slot <= count; slot += threads)
        enter_small(b, slot, b->key[slot]);
    if (block_team() == 0) {
        const uint64_t rate = team_most_64(team_lane() < BLOCK_TEAMS ? bits_of(b->rate[team_lane()]) : 0);

        if (leads_block())
            b->book.seen.most = rate;
        if (team_lane() < SMALL_RATER) /* which look at none */
            b->rate[team_lane()] = 0;
    }
    if (thread == 0) {
        b->count = count;
        b->book.goes_on = 1;
    }
    block_sync();
}

GBEES_NUM void close_totals(gbees_state *s, const small_block *b)
{
    if (!is_clerk())
        return;
    s->needed_count = b->totals.needed_count;
    s->max_cells = b->totals.max_cells;
    s->cell_updates = b->totals.cell_updates;
    s->pruned = b->totals.pruned;
}

/* The grid's arrays as they are to be; bricks beyond `known` are not in its table. */
GBEES_NUM void close_small(const gbees_setup *m, const small_team *team, uint32_t known)
{
    block_sync(); /* new bricks have been looked at */
    for (uint32_t i = 0; i < team->held; i++) {
        const small_brick *brick = &team->brick[i];
        const uint32_t slot = 1 + team->place + i * team->teams;

        for (int k = team_lane(); k < DIM; k += TEAM) {
            m->grid.key[(size_t)slot * DIM + (size_t)k] = brick->key[k];
            ((position *)m->grid.base)[(size_t)slot * DIM + (size_t)k] = brick->base[k];
        }
        for (int d = team_lane(); d < DIRECTIONS; d += TEAM) {
            m->grid.neighbor[d][slot] = brick->link[d];
            m->grid.flow[(size_t)slot * DIRECTIONS + (size_t)d] = brick->flow[d];
        }
        if (team_lane() == 0) {
            const near_key key = {brick->key, -1, -1};

            m->grid.active[slot] = brick->active;
            m->grid.rate[slot] = brick->rate;
            if (slot > known)
                table_enter(m, slot, key);
        }
    }
}

#endif
