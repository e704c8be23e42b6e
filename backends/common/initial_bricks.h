/* initial_bricks.h - the bricks that the initial density touches, in lexicographic order of their keys. */
#ifndef GBEES_COMMON_INITIAL_BRICKS_H
#define GBEES_COMMON_INITIAL_BRICKS_H

#include "numerics/brick.h"
#include <gbees/error.h>
#include <gbees/problem.h>

/* The bricks: all of a box, or for a mixture of Gaussians and for a record a list of them. */
typedef struct initial_bricks {
    int n;                                        /* dimensions */
    uint64_t count;                               /* bricks */
    int32_t lo[GBEES_MAX_DIM], hi[GBEES_MAX_DIM]; /* the least and the largest key of the box */
    int32_t (*list)[GBEES_MAX_DIM];               /* [count] keys; NULL: all bricks of the box */
    uint64_t next;                                /* of the list: the entry to be taken next */
    int32_t key[GBEES_MAX_DIM];                   /* of the box: the key to be taken next */
} initial_bricks;

/* Finds the bricks of a problem's initial density, on so many threads. Returns GBEES_ENOMEM if there are more than
 * `most` or there is no memory for the list, GBEES_ENUMERIC if a brick of a list is too far away from the origin. */
int initial_bricks_create(initial_bricks *bricks, const gbees_problem *problem, const gbees_shape *shape, double most,
                          int threads, gbees_error *error);
void initial_bricks_destroy(initial_bricks *bricks);

/* Has initial_bricks_take() begin with the first brick again. */
void initial_bricks_rewind(initial_bricks *bricks);
/* Sets key[n] to the next brick's key; called at most `count` times after a rewind. */
void initial_bricks_take(initial_bricks *bricks, int32_t *key);

/* The place of the brick key[GBEES_MAX_DIM], whose unused components are 0, in their order; UINT64_MAX: it is none.
 */
uint64_t initial_bricks_find(const initial_bricks *bricks, const int32_t *key);
/* Leaves out the bricks with keep[place] = 0, the others have 1; these become a list. Returns GBEES_ENOMEM. */
int initial_bricks_keep(initial_bricks *bricks, const unsigned char *keep, gbees_error *error);

/* An upper bound of the number of bricks, which does not list them. */
double initial_bricks_most(const gbees_problem *problem, const gbees_shape *shape);
/* An upper bound of the host's bytes for the list, and for the cells of a record. */
double initial_bricks_bytes(const gbees_problem *problem, const gbees_shape *shape);

#endif
