/* split_far.h - advects a segment at Courant numbers above 1, by whole vectors (doc/method.md, "Courant numbers above
 * 1").
 *
 * In each lane the donor cell is a different number of cells away, and reading each lane's cell by itself would use
 * no vectors.  So for each distance s in turn all faces read the cells that are s away, and add them with a weight of
 * 1 or 0.
 */
#ifndef GBEES_CPU_SPLIT_FAR_H
#define GBEES_CPU_SPLIT_FAR_H

#include "segment.h"
#include <string.h>

enum { FAR_FACES = 256 };

/* Some faces: weights, and sums over the distances so far. */
typedef struct far_faces {
    real up[FAR_FACES], down[FAR_FACES];   /* 1 where the flow is upwards, or not */
    real passed[FAR_FACES];                /* whole cells that the flow passes over */
    real rest[FAR_FACES];                  /* the part of the next one that it takes */
    real over[FAR_FACES], here[FAR_FACES]; /* 1 where the cell at distance s is passed over, or is the donor cell */
    real whole[FAR_FACES];                 /* sum of the cells passed over */
    real cell[5][FAR_FACES];               /* around the donor cell [2]; 0 and 1 upwind of it */
} far_faces;

/* Sets how far the flow through `count` faces goes, and the sums to 0. */
NOINLINE void far_distances(const real *restrict u, far_faces *restrict far, real lambda, int plane_cells, int count,
                            int reach)
{
    for (int i = 0; i < count; i++) {
        real distance = gbees_far_distance(u[i], u[i + plane_cells], u[i + 2 * plane_cells], lambda, reach);

        far->passed[i] = (real)gbees_far_passed(distance, reach);
        far->rest[i] = distance - far->passed[i];
        far->up[i] = u[i + plane_cells] > 0 ? 1 : 0;
        far->down[i] = 1 - far->up[i];
        far->whole[i] = 0;
    }
    memset(far->cell, 0, sizeof far->cell);
}

/* Sets the weights of the cells at distance s. */
NOINLINE void far_weights(far_faces *restrict far, real s, int count)
{
    for (int i = 0; i < count; i++) {
        far->over[i] = s < far->passed[i] ? 1 : 0;
        far->here[i] = s == far->passed[i] ? 1 : 0;
    }
}

/* Adds the cells at a distance: `below` for faces that flow up, `above` for faces that flow down. */
NOINLINE void far_add(const real *restrict below, const real *restrict above, far_faces *restrict far,
                      int plane_cells, int count)
{
    for (int i = 0; i < count; i++)
        far->whole[i] += far->over[i] * (far->up[i] * below[i] + far->down[i] * above[i]);
    for (int k = 0; k < 5; k++) {
        const real *b = below + (k - 2) * plane_cells, *a = above - (k - 2) * plane_cells;
        real *cell = far->cell[k];

        for (int i = 0; i < count; i++)
            cell[i] += far->here[i] * (far->up[i] * b[i] + far->down[i] * a[i]);
    }
}

/* Sets mass[count] to the masses through faces; p: the cells above them; u: the velocities one face below them. */
INLINE void far_masses(const real *restrict p, const real *restrict u, const far_faces *restrict far,
                       real *restrict mass, int plane_cells, int count, int preserving)
{
    for (int i = 0; i < count; i++)
        mass[i] = gbees_far_mass(far->whole[i], far->up[i] * p[i - plane_cells] + far->down[i] * p[i],
                                 far->cell[0][i], far->cell[1][i], far->cell[2][i], far->cell[3][i], far->cell[4][i],
                                 far->rest[i], u[i], u[i + plane_cells], u[i + 2 * plane_cells], preserving);
}

NOINLINE void far_masses_plain(const real *p, const real *u, const far_faces *far, real *mass, int plane_cells,
                               int count)
{
    far_masses(p, u, far, mass, plane_cells, count, 0);
}

NOINLINE void far_masses_preserving(const real *p, const real *u, const far_faces *far, real *mass, int plane_cells,
                                    int count)
{
    far_masses(p, u, far, mass, plane_cells, count, 1);
}

/* Sets the masses through all faces of a segment. */
static void far_cross_all(const segment *s)
{
    const int plane_cells = s->plane_cells, faces = (s->planes + 1) * plane_cells, reach = s->scheme->reach;

    for (int from = 0; from < faces; from += FAR_FACES) {
        const int rest = faces - from, count = rest < FAR_FACES ? rest : FAR_FACES;
        const real *cell = s->p + from, *u = s->u + from;
        _Alignas(64) far_faces far;

        far_distances(u, &far, s->lambda, plane_cells, count, reach);
        for (int distance = 0; distance < reach; distance++) {
            far_weights(&far, (real)distance, count);
            far_add(cell - (1 + distance) * plane_cells, cell + distance * plane_cells, &far, plane_cells, count);
        }
        if (s->scheme->preserving)
            far_masses_preserving(cell, u, &far, s->mass + from, plane_cells, count);
        else
            far_masses_plain(cell, u, &far, s->mass + from, plane_cells, count);
    }
}

/* Bounds the masses so that no cell becomes negative: plane by plane along the flow, first for upward masses, then
 * for downward ones. */
NOINLINE void far_bound_masses(const real *restrict p, real *restrict mass, int plane_cells, int count)
{
    for (int plane = 0; plane < count; plane += plane_cells)
        for (int l = plane; l < plane + plane_cells; l++) {
            real in = mass[l] > 0 ? mass[l] : 0, out = mass[l + plane_cells];
            real bounded = gbees_split5_bound(out, p[l], in);

            mass[l + plane_cells] = out > 0 ? bounded : out;
        }
    for (int plane = count - plane_cells; plane >= 0; plane -= plane_cells)
        for (int l = plane; l < plane + plane_cells; l++) {
            real in = mass[l + plane_cells] < 0 ? -mass[l + plane_cells] : 0, out = -mass[l];
            real bounded = gbees_split5_bound(out, p[l], in);

            mass[l] = out > 0 ? -bounded : mass[l];
        }
}

/* Adds to each cell the masses through its faces. */
NOINLINE void far_apply_masses(real *restrict p, const real *restrict mass, int plane_cells, int count)
{
    for (int i = 0; i < count; i++)
        p[i] = gbees_split5_moved(p[i], mass[i], mass[i + plane_cells]);
}

/* Advects the cells of a segment; sets the masses through its faces. */
INLINE void far_advect(const segment *s)
{
    const int count = s->planes * s->plane_cells;

    far_cross_all(s);
    far_bound_masses(s->p, s->mass, s->plane_cells, count);
    far_apply_masses(s->p, s->mass, s->plane_cells, count);
}

#endif
