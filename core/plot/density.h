/* density.h - the marginal density of one, two or three states of a record, on a dense grid. */
#ifndef GBEES_PLOT_DENSITY_H
#define GBEES_PLOT_DENSITY_H

#include <gbees/gbees.h>

typedef struct gbees_density {
    int dimension; /* 1..3 */
    int axis[3];   /* states of the record */
    size_t length[3];
    double first[3], width[3]; /* x = first + width * index, a cell's centre */
    double peak;               /* the largest value */
    double *value;             /* row-major, axis 0 slowest; at least two cells of 0 at every border. On a grid that
                                * is not along the states it may be slightly below 0 */
} gbees_density;

/* Which density. */
typedef struct gbees_density_choice {
    int dimension;
    int axis[3]; /* states */
    int factor;  /* cells of the picture for one of a grid along the states, along each axis */
    size_t most; /* cells of the picture; larger ones are made of wider cells */
} gbees_density_choice;

/* A grid along the states is refined by cubic (Catmull-Rom) interpolation of the density's root; the cells of another
 * are spread (gbees/spread.h). */
int gbees_density_create(const gbees_snapshot *snapshot, const gbees_density_choice *choice, gbees_density **density,
                         gbees_error *error);
void gbees_density_destroy(gbees_density *density);

size_t gbees_density_count(const gbees_density *density);
/* The range along one axis where the density is above `level` times its peak, plus half a cell on both sides. */
void gbees_density_range(const gbees_density *density, int axis, double level, double *lo, double *hi);

#endif
