/* fields.h - functions of the start that are below 0 where a target is entered, and the parts of cells where they
 * are.
 *
 * Over a cell - of a lattice, or a part of one (cuts.h) - such a function, and the logarithm of the density, are
 * taken to be quadratics along each edge, by three points there. The part of the cell where it is below 0, and of the
 * mass, is that of a linear function of the same average over the mass (base/fraction.h). */
#ifndef GBEES_LAGRANGIAN_FIELDS_H
#define GBEES_LAGRANGIAN_FIELDS_H

#include "lattice.h"

/* Of the points of a lattice: of targets that absorb the least g on the way until now and until the last measurement,
 * which the lattice has; of those that count g at the present place. */
typedef struct gbees_fields {
    const gbees_problem *problem;
    double time;
    gbees_lattice *lattice;
    uint32_t count, capacity;       /* points, and what there is memory for, of the arrays below */
    double *own[GBEES_MAX_TARGETS]; /* of targets that count */
} gbees_fields;

/* Evaluates the functions of the points that have been added to the lattice since the last call; at first
 * {problem, time, lattice}. */
int gbees_fields_extend(gbees_fields *fields, gbees_error *error);
void gbees_fields_clear(gbees_fields *fields);
/* The logarithms of the weights that points have if nothing has entered. */
static inline const double *gbees_fields_weight(const gbees_fields *fields)
{
    return fields->lattice->is_taken_off ? fields->lattice->whole : fields->lattice->log_weight;
}

#define GBEES_FINE 0x80000000u /* set in the numbers of points of the second of two lattices */

/* A cell, by numbers of points of two lattices. */
typedef struct gbees_cell {
    const gbees_fields *of[2];
    uint32_t self; /* the point at its centre */
    uint32_t point[GBEES_MAX_DIM]
                  [3];           /* along each edge, an edge's length apart; the first or last: or GBEES_NO_POINT */
    int8_t place[GBEES_MAX_DIM]; /* -1, 0 or 1: which of them the cell is at */
    int8_t near[GBEES_MAX_DIM];  /* 1: they are half of the edge's length apart */
} gbees_cell;

/* Sets the cell of point i of a lattice whose points are linked. */
void gbees_cell_set(const gbees_fields *fields, uint32_t i, gbees_cell *cell);

/* The parts of a cell's mass. */
typedef struct gbees_mass_parts {
    /* By target: what has entered until the last measurement, and until now; of those that count: what is inside. */
    double before[GBEES_MAX_TARGETS], now[GBEES_MAX_TARGETS];
    double gone_before, gone; /* what has entered any */
    int wrong;                /* 1 + a target whose function is not a number at the centre; 0: none */
} gbees_mass_parts;

/* Finds the parts of a cell. */
void gbees_cell_parts(const gbees_cell *cell, gbees_mass_parts *parts);
/* The mass of a cell over that of its volume at the density at its centre: its average density, whose logarithm is
 * taken to be a quadratic along each edge, as that of a Gaussian is. */
double gbees_cell_average(const gbees_cell *cell);
/* The function of target k at the centre of a cell, and the most that it changes by along an edge, from one of the
 * three points there to the next. */
double gbees_cell_value(const gbees_cell *cell, int k);
double gbees_cell_step(const gbees_cell *cell, int k, int edge);
/* Sets doubt[k] to how wrong the part that is in target k may be, by how much its function bends over the cell, 0 to
 * 1; 0 where it can't change its sign there. Returns the edge along which the one of the largest doubt bends most. */
int gbees_cell_doubt(const gbees_cell *cell, double *doubt);

#endif
