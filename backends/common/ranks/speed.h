/* speed.h - how fast ranks advance their bricks: slower ones get fewer. */
#ifndef GBEES_COMMON_RANKS_SPEED_H
#define GBEES_COMMON_RANKS_SPEED_H

#include <gbees/parallel.h>

/* What a rank has advanced since speeds were last agreed on. */
typedef struct rank_speed {
    double bricks;  /* advanced, summed over steps */
    double seconds; /* that this has taken, without waiting for other ranks */
} rank_speed;

/* The speeds that a rank knows. */
typedef struct rank_speeds {
    const gbees_parallel *parallel;
    double least_s;  /* each rank is measured for so many seconds before its speed counts */
    rank_speed own;  /* of this rank */
    rank_speed *all; /* [ranks]: memory for those of all */
    double *weight;  /* [ranks]: the bricks that each rank should have over the mean; 1 at first */
} rank_speeds;

/* Returns 1 if there is no memory. The caller destroys it in any case. */
int speeds_create(rank_speeds *speeds, const gbees_parallel *parallel, double least_s);
void speeds_destroy(rank_speeds *speeds);

/* Adds what this rank has done in a step. With less than half of the mean's bricks it does not count: what a step
 * takes at least would make the rank seem slow, so that it would get fewer bricks yet. all: the bricks of all ranks.
 */
void speeds_add(rank_speeds *speeds, double bricks, double seconds, double all);

/* All ranks: sets the weights by the speeds of all, and begins to measure anew. Speeds that differ by less than a
 * quarter count as equal: all weights are 1. Until each rank has been measured for long enough, the weights stay as
 * they are. */
void speeds_agree(rank_speeds *speeds);

/* This rank's bricks over its weight: the largest of all ranks is what a step waits for. */
double speeds_load(const rank_speeds *speeds, double bricks);

#endif
