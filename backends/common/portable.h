/* portable.h - what the states that engines of the CPU and of a GPU save have in common, by which one continues from
 * the other's: bricks with their cells, the clock, p*, the ledger. What else an engine has follows from these. */
#ifndef GBEES_COMMON_PORTABLE_H
#define GBEES_COMMON_PORTABLE_H

#include "budget.h"
#include "numerics/run_state.h"

/* Where a list of a state is among the state's parts. */
typedef struct portable_list {
    char name[16]; /* of the part */
    uint64_t item; /* bytes of an item, as it was saved */
} portable_list;

/* Saved as the part "portable", as plain data. */
typedef struct portable_state {
    gbees_run_state run;
    mass_budget budget; /* without its problem */
    double parameters[GBEES_TABLES_AT];
    double entered[GBEES_MAX_TARGETS]; /* what each target that absorbs has taken */
    int32_t dimension, real_size;      /* bytes of a probability */
    int32_t deterministic;             /* 1: sums are exact, and products and sums are rounded one by one */
    uint64_t bricks, skipped;          /* bricks; items of each list before those of the first brick */
    portable_list key, p, active;
} portable_state;

/* A state that has been found: lists of bricks, in the order of the engine that saved it. */
typedef struct portable_bricks {
    portable_state state;
    const int32_t *key;     /* [bricks][n] */
    const void *p;          /* [bricks][64]: floats or doubles */
    const uint64_t *active; /* [bricks]: the cells with P >= p* */
} portable_bricks;

/* Returns GBEES_EINPUT unless all of p[count], floats or doubles, are finite and not negative: a state whose checksum
 * is right may come from a stranger. */
int portable_check_density(const void *p, size_t real_size, uint64_t count, gbees_error *error);

/* Passes the part "portable" to a sink; returns the sink's status. */
int portable_save(const portable_state *state, gbees_state_sink *sink, void *context);
/* Sets *found to the state of the other kind of engine in a source, whose memory stays the source's. Returns
 * GBEES_EINPUT if there is none, if it is of another problem or of a grid that moves, or if its run was not begun
 * with --deterministic, without which the results would have other bits. */
int portable_find(const gbees_problem *problem, size_t real_size, gbees_state_source *source, void *context,
                  portable_bricks *found, gbees_error *error);

#endif
