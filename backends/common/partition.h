/* partition.h - which rank owns a brick: orthogonal recursive bisection of the space of bricks.
 *
 * The space is cut in two at a key along one axis, each part again, until there is a part for each rank. Cuts are
 * chosen from histograms of the bricks along the axes, so that parts have bricks in proportion to their ranks and few
 * bricks lie beside the cuts. They depend on the histograms alone: all ranks choose the same.
 */
#ifndef GBEES_COMMON_PARTITION_H
#define GBEES_COMMON_PARTITION_H

#include <gbees/error.h>
#include <gbees/problem.h>
#include <stdint.h>

enum { PARTITION_BINS = 4096 }; /* of a histogram, at most */

/* Keys lo_j <= key_j < hi_j; outer parts have no end. */
typedef struct partition_box {
    int32_t lo[GBEES_MAX_DIM], hi[GBEES_MAX_DIM];
} partition_box;

/* A part while cuts are chosen: so many ranks from `first` on. */
typedef struct partition_part {
    int first, ranks;
    partition_box box;
} partition_part;

typedef struct partition {
    int n, ranks, parts;
    int layers[GBEES_MAX_DIM]; /* of bricks on each side of a cut that the other side needs */
    partition_part *part;      /* [ranks]; once all cuts are chosen part r is rank r's */
} partition;

/* The bins of the histograms of a part: bin b of axis j has the keys first_j + b * 2^shift_j and on. */
typedef struct partition_bins {
    int32_t first[GBEES_MAX_DIM];
    int shift[GBEES_MAX_DIM], count[GBEES_MAX_DIM];
} partition_bins;

/* Makes a partition of one part, to be cut. Returns 1 if there is no memory. */
int partition_create(partition *p, int n, int ranks, const int *layers);
void partition_destroy(partition *p);

/* Whether a key is in a box. */
int partition_contains(int n, const partition_box *box, const int32_t *key);
/* The part that a key is in. */
int partition_find(const partition *p, const int32_t *key);

/* Whether a part is still to be cut. */
int partition_is_open(const partition *p);
/* Sets bins for keys from lo to hi. */
void partition_set_bins(const partition *p, const int32_t *lo, const int32_t *hi, partition_bins *bins);
/* Adds a key to the histograms counts[part][axis][PARTITION_BINS]. */
void partition_count(const partition *p, const partition_bins *bins, const int32_t *key, int64_t *counts);
/* Cuts each part of more than one rank in two. */
void partition_cut(partition *p, const partition_bins *bins, const int64_t *counts);

#endif
