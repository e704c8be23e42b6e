/* pencil_velocity.h - velocities at the faces of a pencil. */
#ifndef GBEES_CPU_PENCIL_VELOCITY_H
#define GBEES_CPU_PENCIL_VELOCITY_H

#include "frame_velocity.h"

/* The faces of bricks from .. to - 1 of a pencil.  A face between two bricks belongs to the lower one: so these are
 * planes 1 .. edge of each brick, planes -1 and 0 of the pencil's first brick, and plane edge + 1 of its last one. */
typedef struct pencil_faces {
    int axis;
    uint32_t slot; /* of the pencil's first brick */
    int from, to;
    int last; /* 1: brick to - 1 is the pencil's last one */
    int edge, plane_cells;
} pencil_faces;

/* Sets at[q], a double if `f64`, else real, to the position along the axis of a face plane of the brick with that
 * key: with the bits that plane_velocities() computes. */
INLINE void place_face(const kernel_context *c, int axis, int32_t key, int face, int f64, void *at, int q)
{
    const double base = c->geometry.origin[axis] + c->geometry.brick_width[axis] * (double)key;

    if (f64)
        ((double *)at)[q] = base + ((const double *)c->drift.axis[axis].along)[face + 1];
    else
        ((real *)at)[q] = (real)base + ((const real *)c->drift.axis[axis].along)[face + 1];
}

/* Sets at[] to the positions of all faces along the axis; returns the number of planes. */
INLINE int place_faces(const kernel_context *c, pencil_faces f, int f64, void *restrict at)
{
    const int32_t key = grid_key(c->g, f.slot)[f.axis];
    const int first = f.from ? 0 : 2, planes = first + (f.to - f.from) * f.edge;

    if (first) {
        place_face(c, f.axis, key, -1, f64, at, 0);
        place_face(c, f.axis, key, 0, f64, at, 1);
    }
    for (int b = f.from; b < f.to; b++) {
        const int32_t own = gbees_key_around(&c->g->shape, f.axis, key + b);

#pragma GCC unroll 4
        for (int face = 1; face <= f.edge; face++)
            place_face(c, f.axis, own, face, f64, at, first + (b - f.from) * f.edge + face - 1);
    }
    if (f.last)
        place_face(c, f.axis, gbees_key_around(&c->g->shape, f.axis, key + f.to - 1), f.edge + 1, f64, at, planes);
    return planes + (f.last ? 1 : 0);
}

/* Sets out[planes][plane_cells] to the velocities at planes of a pencil at positions at[planes], evaluated in double
 * and rounded. */
INLINE void velocities_from_f64(const kernel_context *c, int axis, const brick_base *base, int planes,
                                int plane_cells, const double *at, real *out)
{
    const kernel_axis *a = &c->drift.axis[axis];
    const int most = F64_AT_ONCE / plane_cells;

    for (int q = 0; q < planes; q += most) {
        const int some = planes - q < most ? planes - q : most;
        _Alignas(64) double u[F64_AT_ONCE];

        a->planes_d((size_t)some, (size_t)plane_cells, c->time, base->f64, (const double *const *)a->offset, at + q,
                    c->drift.parameters_d, u);
        for (int i = 0; i < some * plane_cells; i++)
            out[q * plane_cells + i] = (real)u[i];
    }
}

/* Sets out[] to the velocities at the faces of a pencil, plane by plane.  at: scratch for two numbers a plane. */
INLINE void pencil_velocities(const kernel_context *c, pencil_faces f, void *at, real *out)
{
    const kernel_axis *a = &c->drift.axis[f.axis];
    const int32_t key = grid_key(c->g, f.slot)[f.axis];
    brick_base base;

    base_of(c, f.slot, &base);
    if (f.plane_cells % GBEES_LANES == 0 && has_planes(c, f.axis)) {
        if (drift_is_f64(c)) {
            velocities_from_f64(c, f.axis, &base, place_faces(c, f, 1, at), f.plane_cells, at, out);
        } else {
            const int planes = place_faces(c, f, 0, at);

            a->PLANES((size_t)planes, (size_t)f.plane_cells, (real)c->time, base.rounded,
                      (const real *const *)a->offset, at, c->drift.PARAMETERS, out);
        }
        return;
    }
    for (int b = f.from; b < f.to; b++) {
        const int lowest = b ? 1 : -1, planes = f.edge + 1 - lowest + (f.last && b == f.to - 1);

        const int32_t own = gbees_key_around(&c->g->shape, f.axis, key + b);

        base.f64[f.axis] = c->geometry.origin[f.axis] + c->geometry.brick_width[f.axis] * (double)own;
        base.rounded[f.axis] = (real)base.f64[f.axis];
        if (c->frame.moves)
            frame_face_velocities(c, f.axis, &base, (lowest + 1) * f.plane_cells, planes * f.plane_cells, out);
        else
            velocities(c, f.axis, &base, lowest, planes, f.plane_cells, out);
        out += planes * f.plane_cells;
    }
}

#endif
