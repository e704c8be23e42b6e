/* segment.h - the bricks of a pencil that a split scheme advects together. */
#ifndef GBEES_CPU_SEGMENT_H
#define GBEES_CPU_SEGMENT_H

#include "kernel.h"
#include "numerics/diffusion.h"
#include "vector.h"

enum { ORDER_MOST = 7 };

struct cut;

/* Some consecutive bricks of a pencil, as planes of cells, and the velocities at their faces.  A mass is the
 * probability that crosses a face in a sweep, positive upwards. */
typedef struct segment {
    const kernel_scheme *scheme;
    real *p; /* [planes][plane_cells]; planes_beyond() more on each side, which are zeros at an end of the pencil */
    real *u; /* velocities from face plane -1 on, [planes + 3][plane_cells] */
    real *mass;              /* scratch: masses through the faces, [planes + 1][plane_cells] */
    real *away;              /* scratch: outflow at the pencil's lower end, [plane_cells] */
    real *bounded, *carried; /* with noise: split_noise_faces.h */
    real *origin;            /* with noise that varies: split_noise_faces.h; else NULL */
    int passes;              /* over which drift and noise are repeated, each time for a part of the step */
    int clears;              /* 1: a pass ends with clear_tiny() */
    real lambda;             /* time step of a pass / cell width */
    real variance;   /* that process noise adds in a pass, in squares of a cell, at most; 0: none along this axis */
    real root;       /* of the variance */
    real lean;       /* with noise: gbees_ledger_lean() */
    uint32_t dither; /* with noise: of the lowest cell, in the first pass */
    const uint32_t *line;     /* with noise: what the dithers of the cells of a plane have more than it */
    int plane_cells, planes;  /* cells of a plane; planes of cells */
    int below, above;         /* 1: the pencil goes on there */
    unsigned char end[2];     /* what is at the ends of a closed pencil: ends.h; else GBEES_AT_NOTHING */
    int direction, diverging; /* pencil_direction() and pencil_diverges() of the bricks */
    struct cut *cuts;         /* [cut_count], of a whole pencil: cuts.h */
    int cut_count;
} segment;

/* Noise that varies along the axis, at all faces of a pencil, [planes + 1][plane_cells] each: what
 * gbees_spread_origin_varying() finds there, and the root of the variance that noise adds. They serve all passes. */
typedef struct spread_faces {
    real *distance, *variance, *third, *root;
} spread_faces;

INLINE spread_faces spread_faces_of(const segment *s)
{
    const int size = (s->planes + 1) * s->plane_cells;

    return (spread_faces){s->origin, s->origin + size, s->origin + 2 * size, s->origin + 3 * size};
}

enum { NEAR_WALL = 2 }; /* as a root: more than any other */

/* The number of planes on each side of a face on which the mass through it depends. */
INLINE int planes_beyond(const kernel_scheme *scheme)
{
    return scheme->spreads ? GBEES_SPREAD_REACH : (scheme->order + 1) / 2;
}

/* Whether a cell of the segment, or of the planes beside it, flows out on both sides. */
INLINE int segment_diverges(const segment *s)
{
    const int n = s->plane_cells, count = (s->planes + 2) * n;
    int found = 0;

    for (int i = 0; i < count; i++)
        found |= (s->u[i] < 0) & (s->u[i + n] > 0);
    return found;
}

/* The mass through a face at which all lanes flow up, before it is bounded.  d: as mass_rising() takes it; c: how
 * many cells the flow passes. */
INLINE vector unbounded_rising(const vector *d, vector c, int order)
{
    return order == 5 ? gbees_quartic_vector(d[0], d[1], d[2], d[3], d[4], c)
                      : gbees_sextic_vector(d[0], d[1], d[2], d[3], d[4], d[5], d[6], c);
}

/* The mass through a face at which all lanes flow up.  d[k]: differences of order k as gbees_quartic() and
 * gbees_sextic() take them, d[0] the upwind cells; courant: the Courant number at the face; spread: time step times
 * divergence of the upwind cells; most: the largest Courant number. */
INLINE vector mass_rising(const vector *d, vector courant, vector spread, vector most, int order)
{
    const vector nothing = {0};
    vector c = gbees_lowest_vector(gbees_swept_vector(courant, spread), most);

    return gbees_lowest_vector(gbees_highest_vector(unbounded_rising(d, c, order), nothing), d[0]);
}

/* The mass through a face at which all lanes flow down; its arguments are those of mass_rising(). */
INLINE vector mass_falling(const vector *d, vector courant, vector spread, vector most, int order)
{
    const vector nothing = {0};
    vector c = gbees_highest_vector(gbees_swept_vector(courant, spread), -most);
    vector mass = order == 5 ? gbees_quartic_falling_vector(d[0], d[1], d[2], d[3], d[4], c)
                             : gbees_sextic_falling_vector(d[0], d[1], d[2], d[3], d[4], d[5], d[6], c);

    return gbees_highest_vector(gbees_lowest_vector(mass, nothing), -d[0]);
}

#endif
