/* initial_bricks.h - the bricks that the initial density touches, in lexicographic order of their keys. */
#ifndef GBEES_COMMON_INITIAL_BRICKS_H
#define GBEES_COMMON_INITIAL_BRICKS_H

#include "numerics/brick.h"
#include <gbees/error.h>
#include <gbees/problem.h>

/* All bricks of a box, or, where the density is no box, a list of them. */
typedef struct initial_bricks {
    int n;
    uint64_t count;
    int32_t lo[GBEES_MAX_DIM], hi[GBEES_MAX_DIM]; /* the box's keys */
    int32_t (*list)[GBEES_MAX_DIM];               /* else NULL */
    uint64_t next;                                /* in the list */
    int32_t key[GBEES_MAX_DIM];                   /* ... in the box */
} initial_bricks;

/* GBEES_ENOMEM: there are more than `most`, or no memory for the list; GBEES_ENUMERIC: one is too far away. */
int initial_bricks_create(initial_bricks *bricks, const gbees_problem *problem, const gbees_shape *shape, double most,
                          gbees_error *error);
void initial_bricks_destroy(initial_bricks *bricks);

/* Starts again with the first brick. */
void initial_bricks_rewind(initial_bricks *bricks);
/* Sets key to the next brick's; to be called at most `count` times. */
void initial_bricks_take(initial_bricks *bricks, int32_t *key);

/* An upper bound of the number of bricks, without listing them; and of the host's bytes for the list. */
double initial_bricks_most(const gbees_problem *problem, const gbees_shape *shape);
double initial_bricks_bytes(const gbees_problem *problem, const gbees_shape *shape);

#endif
