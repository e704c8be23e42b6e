/* speed.h - how fast ranks advance their bricks: slower ones get fewer. */
#ifndef GBEES_COMMON_SPEED_H
#define GBEES_COMMON_SPEED_H

#include <gbees/parallel.h>

/* Weights that say that all ranks are equally fast; NULL: no memory. The caller frees them. */
double *speed_equal_weights(int ranks);

/* What a rank has advanced since speeds were last agreed on. */
typedef struct rank_speed {
    double bricks;  /* advanced, summed over steps */
    double seconds; /* that this has taken, without waiting for other ranks */
} rank_speed;

/* Adds what a rank has done. Of a rank with less than half of the mean it does not count: what a step takes at least
 * would make it seem slow, so that it would get fewer bricks yet. `all`: the bricks of all ranks. */
void speed_add(rank_speed *speed, double bricks, double seconds, double all, int ranks);

/* All ranks: sets weight[ranks], the bricks that each rank should have over the mean, by the speeds of all, and
 * begins to measure anew. Speeds that differ by less than a quarter count as equal: all weights are 1. Until each
 * rank has been measured for `least_s` seconds, the weights stay as they are. `all` is memory for [ranks]. */
void speed_agree(const gbees_parallel *parallel, double least_s, rank_speed *own, rank_speed *all, double *weight);

#endif
