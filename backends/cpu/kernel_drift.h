/* kernel_drift.h - velocities at the faces of bricks.  A template: see kernel.c.
 *
 * The model is asked for one component of its drift at all points of some planes of faces across that axis.  Where it
 * takes planes as such (gbees_planes_f) it computes once what they have in common; else it is given a list of points.
 * Both have the same bits.
 */

#ifndef GBEES_CPU_DRIFT
#define GBEES_CPU_DRIFT
enum { PLANES_AT_ONCE = 16 };
#endif

enum { GBEES_REAL_FN(PLANES) = 4 * 64 }; /* edge + 3 planes of 64 / edge cells: most for an edge of 1 */

/* The centre of a brick's lowest cell. */
typedef struct GBEES_REAL_FN(base) {
    double wide[GBEES_MAX_DIM];
    GBEES_REAL narrow[GBEES_MAX_DIM];
} GBEES_REAL_FN(base);

INLINE void GBEES_REAL_FN(base_of)(const kernel_context *c, uint32_t slot, GBEES_REAL_FN(base) * base)
{
    const int32_t *key = grid_key(c->g, slot);

    for (int k = 0; k < c->n; k++) {
        base->wide[k] = c->origin[k] + c->width[k] * ((double)key[k] * c->axis[k].edge);
        base->narrow[k] = (GBEES_REAL)base->wide[k];
    }
}

/* The drift's component along an axis at some of its face points, those of a table from `offset` on. */
INLINE void GBEES_REAL_FN(face_velocities)(const kernel_context *c, int axis, const GBEES_REAL_FN(base) * base,
                                           const void *const *offset, int points, GBEES_REAL *out)
{
    const kernel_axis *a = &c->axis[axis];

    if (sizeof(GBEES_REAL) == sizeof(float) && c->wide) {
        double wide[4 * 64];

        a->component_d((size_t)points, c->time, base->wide, (const double *const *)offset, c->parameters_d, wide);
        for (int i = 0; i < points; i++)
            out[i] = (GBEES_REAL)wide[i];
    } else {
        a->COMPONENT((size_t)points, (GBEES_REAL)c->time, base->narrow, (const GBEES_REAL *const *)offset,
                     c->PARAMETERS, out);
    }
}

/* Whether the drift's component along an axis is asked for by planes. */
INLINE int GBEES_REAL_FN(has_planes)(const kernel_context *c, int axis)
{
    return sizeof(GBEES_REAL) == sizeof(float) && c->wide ? c->axis[axis].planes_d != NULL
                                                          : c->axis[axis].PLANES_OF != NULL;
}

/* Coordinates along the axis of so many of a brick's face planes, from plane `from` on, in the drift's precision:
 * `wide` or `narrow`, by c->wide.  Best with a number of planes that the compiler knows. */
INLINE void GBEES_REAL_FN(place_planes)(const kernel_context *c, int axis, const GBEES_REAL_FN(base) * base, int from,
                                        int planes, double *wide, GBEES_REAL *narrow)
{
    if (sizeof(GBEES_REAL) == sizeof(float) && c->wide)
#pragma GCC unroll 8
        for (int q = 0; q < planes; q++)
            wide[q] = base->wide[axis] + ((const double *)c->axis[axis].along)[from + 1 + q];
    else
#pragma GCC unroll 8
        for (int q = 0; q < planes; q++)
            narrow[q] = base->narrow[axis] + ((const GBEES_REAL *)c->axis[axis].along)[from + 1 + q];
}

/* At planes that place_planes() has placed, at most PLANES_AT_ONCE. */
INLINE void GBEES_REAL_FN(plane_velocities)(const kernel_context *c, int axis, const GBEES_REAL_FN(base) * base,
                                            int planes, int lanes, const double *wide, const GBEES_REAL *narrow,
                                            GBEES_REAL *out)
{
    const kernel_axis *a = &c->axis[axis];

    if (sizeof(GBEES_REAL) == sizeof(float) && c->wide) {
        double u[PLANES_AT_ONCE * 64];

        a->planes_d((size_t)planes, (size_t)lanes, c->time, base->wide, (const double *const *)a->offset, wide,
                    c->parameters_d, u);
        for (int i = 0; i < planes * lanes; i++)
            out[i] = (GBEES_REAL)u[i];
    } else {
        a->PLANES_OF((size_t)planes, (size_t)lanes, (GBEES_REAL)c->time, base->narrow,
                     (const GBEES_REAL *const *)a->offset, narrow, c->PARAMETERS, out);
    }
}

/* At so many of a brick's face planes, from plane `from` on: -1, 0 or 1. */
INLINE void GBEES_REAL_FN(velocities)(const kernel_context *c, int axis, const GBEES_REAL_FN(base) * base, int from,
                                      int planes, int lanes, GBEES_REAL *out)
{
    const kernel_axis *a = &c->axis[axis];

    if (lanes % GBEES_LANES == 0 && GBEES_REAL_FN(has_planes)(c, axis)) {
        double wide[PLANES_AT_ONCE];
        GBEES_REAL narrow[PLANES_AT_ONCE];
        const int all = 64 / lanes + 3; /* smaller bricks have no such planes */

        GBEES_REAL_FN(place_planes)(c, axis, base, -1, all, wide, narrow);
        GBEES_REAL_FN(plane_velocities)
        (c, axis, base, planes, lanes, wide + from + 1, narrow + from + 1, out);
    } else {
        const void *const *offset = from < 0 ? a->offset : from ? a->upper : a->inner;

        GBEES_REAL_FN(face_velocities)(c, axis, base, offset, planes * lanes, out);
    }
}
