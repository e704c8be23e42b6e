/* lattice.h - a sparse lattice of points in the coordinates of the start, which go with the flow
 * (doc/lagrangian.md).
 *
 * A point z, a multi-index, starts at x0 = origin + axes z, in the model's axes. It has the place x(t) to which the
 * drift has taken it, and the logarithm of a weight: of the initial density at x0 times the likelihoods of all
 * measurements so far at its places. An integral over the density is the sum of exp(log_weight) g(x) times the volume
 * of a lattice cell, |det axes|.
 */
#ifndef GBEES_LAGRANGIAN_LATTICE_H
#define GBEES_LAGRANGIAN_LATTICE_H

#include "frame/matrix.h"
#include <gbees/error.h>
#include <gbees/problem.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* A point's multi-index; entries n and beyond are 0. */
typedef struct gbees_site {
    int16_t z[GBEES_MAX_DIM];
} gbees_site;

/* The square root of a prime, by its number: multiples of those of all axes, modulo 1, fill a cube evenly. */
static inline double gbees_root_of_prime(int number)
{
    static const double prime[GBEES_MAX_DIM] = {2, 3, 5, 7, 11, 13, 17, 19};

    return sqrt(prime[number]);
}

enum { GBEES_SITE_BLOCK = 8 /* points of a block */ };

/* Points whose sites differ in the last three bits of the last index alone: look-ups of neighbours hit few blocks. */
typedef struct gbees_site_block {
    gbees_site key;                   /* the site, its last index divided by GBEES_SITE_BLOCK */
    uint32_t point[GBEES_SITE_BLOCK]; /* or GBEES_NO_POINT */
} gbees_site_block;

#define GBEES_NO_POINT UINT32_MAX          /* of gbees_lattice_find(): there is no such point */
#define GBEES_LIGHT_POINT (UINT32_MAX - 1) /* the same, and it is known to be too light to be kept */

/* The site below (side 2 k) or above (2 k + 1) another along index k. */
static inline gbees_site gbees_site_beside(const gbees_site *site, int side)
{
    gbees_site beside = *site;

    beside.z[side / 2] = (int16_t)(beside.z[side / 2] + (side & 1 ? 1 : -1));
    return beside;
}

/* A site whose point was evaluated and is not kept. */
typedef struct gbees_light_site {
    gbees_site site;
    double most; /* what its log weight is, at most */
} gbees_light_site;

typedef struct gbees_lattice {
    int n;
    double origin[GBEES_MAX_DIM]; /* x0 of z = 0 */
    double axes[GBEES_MATRIX];    /* [n][n]: the columns are the edges of a lattice cell */
    double log_volume;            /* log |det axes| */
    uint32_t count, capacity;     /* points */
    uint32_t border;          /* the last so many, beyond the tail: only there to interpolate between the others */
    gbees_site *site;         /* [count] */
    double *x[GBEES_MAX_DIM]; /* x[j][count]: present places; not finite: the point has left every bound */
    double *log_weight;       /* [count] */
    double *gain;             /* [count]: log-likelihood of the measurement that is being applied, else 0 */
    double *stretch; /* [count]: log weight less the logarithm of the density at x: log |det dx/dx0|, which is
                      * the integral of div f along the trajectory, and gbees_source_log_share() */
    /* Of targets that absorb; NULL: of others, and before gbees_lattice_watch(). */
    double *lowest[GBEES_MAX_TARGETS];  /* lowest[k][count]: how far the point has come into target k (watch.h), */
    double *settled[GBEES_MAX_TARGETS]; /* and how far until the last measurement; INFINITY before the first */
    double *whole; /* [count]: log_weight if nothing had entered targets, where that is taken off (entered.h) */
    int is_taken_off;
    /* beside[2 k][i], beside[2 k + 1][i]: the points below and above point i along index k, or GBEES_NO_POINT; NULL:
     * not found yet */
    uint32_t *beside[2 * GBEES_MAX_DIM];
    /* The hash table: blocks of points that are neighbours along the last index. */
    gbees_site_block *block; /* [block_count]; NULL: there is no table yet */
    uint32_t block_count, block_capacity;
    uint32_t *slot; /* [slot_mask + 1]: numbers of blocks, or GBEES_NO_POINT */
    uint32_t slot_mask;
    double *reach; /* [count]: the largest log-likelihood of the measurement that is being applied at a point and
                    * on the edges to its neighbours (crossings.h); NULL: not known, or not asked for */
    struct gbees_crossing *crossing; /* [crossing_count] */
    size_t crossing_count, crossing_capacity;
    double steepest;         /* the largest second derivative of minus the log-likelihood at a peak between points */
    gbees_light_site *light; /* [light_count], of this lattice until it has been replaced (light.h) */
    size_t light_count, light_capacity;
    int has_edges; /* 1: measurements are impossible in places, so that some of them have no weight at all */
} gbees_lattice;

/* Creates an empty lattice. */
int gbees_lattice_create(int n, const double *origin, const double *axes, gbees_lattice **lattice,
                         gbees_error *error);
void gbees_lattice_destroy(gbees_lattice *lattice);

/* Returns the number of the point at a site, or GBEES_NO_POINT, or GBEES_LIGHT_POINT. The hash table is made at the
 * first call of gbees_lattice_index(), which must come before; then any number of threads may find points. */
uint32_t gbees_lattice_find(const gbees_lattice *lattice, const gbees_site *site);
/* Forgets the neighbours, as points are added or in another order; and also where each point is found. */
void gbees_lattice_unlink(gbees_lattice *lattice);
void gbees_lattice_forget(gbees_lattice *lattice);
/* Forgets what is between points, likewise. */
void gbees_lattice_uncross(gbees_lattice *lattice);
/* Finds the neighbours of all points, if that has not been done since the last change: of sorted ones without a
 * table. */
int gbees_lattice_link(gbees_lattice *lattice, int threads, gbees_error *error);
/* Makes the hash table, if there is none. */
int gbees_lattice_index(gbees_lattice *lattice, gbees_error *error);
/* Enters a site that has no point into the table: it will be found as GBEES_LIGHT_POINT. Returns 1 if there is no
 * memory. */
int gbees_lattice_enter_light(gbees_lattice *lattice, const gbees_site *site);

/* Allocates memory for so many points. */
int gbees_lattice_reserve(gbees_lattice *lattice, uint64_t capacity, gbees_error *error);
/* The bytes that a point takes, with its part of the hash table. */
uint64_t gbees_lattice_point_bytes(int n);
enum { GBEES_LATTICE_COLUMNS = 4 + 2 * GBEES_MAX_TARGETS };
/* Lists the lattice's arrays of doubles beside the places, list[GBEES_LATTICE_COLUMNS]: log_weight, gain, stretch,
 * and those of targets. Returns how many there are. */
int gbees_lattice_columns(gbees_lattice *lattice, double ***list);
/* Gives an empty lattice the arrays of the targets of a problem that absorb. */
int gbees_lattice_watch(gbees_lattice *lattice, const gbees_problem *problem, gbees_error *error);
/* Adds a point without looking for it, at x = x0, with log_weight, gain and stretch 0. */
int gbees_lattice_append(gbees_lattice *lattice, const gbees_site *site, gbees_error *error);
/* The same for a point that starts at x0[n], between sites. A lattice with such points has no neighbours. */
int gbees_lattice_append_between(gbees_lattice *lattice, const double *x0, gbees_error *error);
/* Puts the points into the lexicographic order of their sites. */
int gbees_lattice_sort(gbees_lattice *lattice, gbees_error *error);
/* The points that are no border. */
static inline uint32_t gbees_lattice_inner(const gbees_lattice *lattice)
{
    return lattice->count - lattice->border;
}
/* The largest log weight, with beta times the gain, of the points from number `first` to end - 1. */
double gbees_lattice_most(const gbees_lattice *lattice, uint32_t first, uint32_t end, double beta);
void gbees_lattice_drop_border(gbees_lattice *lattice);
/* Removes the points with keep[i] = 0; the others stay in their order. */
void gbees_lattice_keep(gbees_lattice *lattice, const unsigned char *keep);
/* Sets x0[n] to where a site starts. */
void gbees_lattice_start(const gbees_lattice *lattice, const gbees_site *site, double *x0);

#endif
