/* partition.h - which rank owns a brick: orthogonal recursive bisection of the space of keys.
 *
 * The space is cut in two at a key along one axis, and each part again, until there is a part for each rank. Cuts are
 * chosen from histograms of the bricks along the axes, so that parts have bricks in proportion to their ranks'
 * weights, and few bricks lie beside the cuts. They depend on the histograms and the weights alone: ranks with the
 * same ones choose the same.
 *
 * Order of calls: partition_create(), partition_set_bins(); then, while partition_is_open(): partition_count() for
 * each brick, the sum of the histograms over all ranks (by the caller), partition_cut().
 */
#ifndef GBEES_COMMON_RANKS_PARTITION_H
#define GBEES_COMMON_RANKS_PARTITION_H

#include <gbees/error.h>
#include <gbees/problem.h>
#include <stdint.h>

enum { PARTITION_BINS = 4096 }; /* of a histogram, at most */

/* The keys lo_j <= key_j < hi_j; INT32_MIN and INT32_MAX: no limit. */
typedef struct partition_box {
    int32_t lo[GBEES_MAX_DIM], hi[GBEES_MAX_DIM];
} partition_box;

/* A part of the space, of the ranks first .. first + ranks - 1: it is cut until it has one rank. */
typedef struct partition_part {
    int first, ranks;
    partition_box box;
} partition_part;

/* The parts so far. */
typedef struct partition {
    int n, ranks;              /* dimensions, ranks */
    int parts;                 /* the number of parts, 1 .. ranks */
    int layers[GBEES_MAX_DIM]; /* of bricks on each side of a cut that are ghosts on the other side, by axis; 0: the
                                * axis is not cut */
    partition_part *part;      /* [ranks]; once all cuts are chosen part r is rank r's */
} partition;

/* The bins of all histograms: bin b of axis j has the 2^shift_j keys from first_j + b 2^shift_j on; b < count_j. */
typedef struct partition_bins {
    int32_t first[GBEES_MAX_DIM];
    int shift[GBEES_MAX_DIM], count[GBEES_MAX_DIM];
} partition_bins;

/* Makes a partition with one part, all keys. Returns 1 if there is no memory. */
int partition_create(partition *p, int n, int ranks, const int *layers);
void partition_destroy(partition *p);

/* Whether key[n] is in a box. */
int partition_contains(int n, const partition_box *box, const int32_t *key);
/* Whether keys within layers[n] of one box, along each axis, may be in the other one. */
int partition_are_near(int n, const partition_box *a, const partition_box *b, const int *layers);
/* The number of the part that a key is in. */
int partition_find(const partition *p, const int32_t *key);

/* Whether there are fewer parts than ranks, so that one has to be cut. */
int partition_is_open(const partition *p);
/* Sets the bins for keys lo[n] to hi[n], both included: as many as PARTITION_BINS along each axis, or one a key. */
void partition_set_bins(const partition *p, const int32_t *lo, const int32_t *hi, partition_bins *bins);
/* Adds a brick with a key within the bins to the histograms of its part: counts[parts][n][PARTITION_BINS]. */
void partition_count(const partition *p, const partition_bins *bins, const int32_t *key, int64_t *counts);
/* Cuts each part of more than one rank in two, by the histograms of all ranks' bricks. weight[ranks]: the bricks that
 * each rank should have, relative to the others. */
void partition_cut(partition *p, const partition_bins *bins, const int64_t *counts, const double *weight);

#endif
