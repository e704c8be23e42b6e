/* kernel_drift.h - velocities at the faces of bricks.  A template: see kernel.c.
 *
 * The model is asked for one component of its drift at all points of some planes of faces across that axis.  Where it
 * takes planes as such (gbees_planes_f) it computes once what they have in common; else it is given a list of points.
 * Both have the same bits.
 */

#ifndef GBEES_CPU_DRIFT
#define GBEES_CPU_DRIFT
enum {
    PLANES_AT_ONCE = 8, /* of a brick: edges are 4 at most where planes are asked for as such */
    WIDE_AT_ONCE = 1024 /* points of a pencil: in double, on their way to float */
};

typedef int32_t eight_integers __attribute__((vector_size(32)));

typedef double whole_doubles __attribute__((vector_size(64), aligned(8), may_alias));

/* n numbers, and 0 behind them. */
INLINE void few_integers(const int32_t *from, int n, eight_integers *to)
{
#if defined(__AVX512VL__)
    *to = (eight_integers)_mm256_maskz_loadu_epi32((__mmask8)((1u << n) - 1), from);
#else
    *to = (eight_integers){0};
    for (int k = 0; k < n; k++)
        (*to)[k] = from[k];
#endif
}
#endif

enum { GBEES_REAL_FN(PLANES) = 4 * 64 }; /* edge + 3 planes of 64 / edge cells: most for an edge of 1 */

/* The centre of a brick's lowest cell. */
typedef struct GBEES_REAL_FN(base) {
    _Alignas(64) double wide[8];
    _Alignas(64) GBEES_REAL narrow[8];
} GBEES_REAL_FN(base);

/* The lowest cell's index times the width, in whichever order: edges are powers of 2. */
INLINE void GBEES_REAL_FN(base_of)(const kernel_context *c, uint32_t slot, GBEES_REAL_FN(base) * base)
{
    eight_integers key;

    few_integers(grid_key(c->g, slot), c->n, &key);
    const eight_doubles wide = *(const whole_doubles *)c->origin +
                               *(const whole_doubles *)c->brick_width * __builtin_convertvector(key, eight_doubles);

    *(whole_doubles *)base->wide = wide;
    for (int k = 0; k < 8; k++)
        base->narrow[k] = (GBEES_REAL)wide[k];
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

/* Number q of at[]: the coordinate along the axis of a face plane of the brick with that key, as place_planes() has
 * it.  wide: in double. */
INLINE void GBEES_REAL_FN(place_face)(const kernel_context *c, int axis, int32_t key, int face, int wide, void *at,
                                      int q)
{
    const double base = c->origin[axis] + c->brick_width[axis] * (double)key;

    if (wide)
        ((double *)at)[q] = base + ((const double *)c->axis[axis].along)[face + 1];
    else
        ((GBEES_REAL *)at)[q] = (GBEES_REAL)base + ((const GBEES_REAL *)c->axis[axis].along)[face + 1];
}

/* All of bricks [from, to) of a pencil, as pencil_velocities() has them; key: of its lowest brick. */
INLINE void GBEES_REAL_FN(place_pencil)(const kernel_context *c, int axis, int32_t key, int from, int to, int last,
                                        int edge, int wide, void *restrict at)
{
    const int first = from ? 0 : 2;

    if (first) {
        GBEES_REAL_FN(place_face)(c, axis, key, -1, wide, at, 0);
        GBEES_REAL_FN(place_face)(c, axis, key, 0, wide, at, 1);
    }
    for (int b = from; b < to; b++)
#pragma GCC unroll 4
        for (int f = 1; f <= edge; f++)
            GBEES_REAL_FN(place_face)(c, axis, key + b, f, wide, at, first + (b - from) * edge + f - 1);
    if (last)
        GBEES_REAL_FN(place_face)(c, axis, key + to - 1, edge + 1, wide, at, first + (to - from) * edge);
}

/* At so many planes across the axis that place_pencil() has placed in double: in float. */
INLINE void GBEES_REAL_FN(wide_velocities)(const kernel_context *c, int axis, const GBEES_REAL_FN(base) * base,
                                           int planes, int lanes, const double *at, GBEES_REAL *out)
{
    const kernel_axis *a = &c->axis[axis];
    const int most = WIDE_AT_ONCE / lanes;

    for (int q = 0; q < planes; q += most) {
        const int some = planes - q < most ? planes - q : most;
        _Alignas(64) double u[WIDE_AT_ONCE];

        a->planes_d((size_t)some, (size_t)lanes, c->time, base->wide, (const double *const *)a->offset, at + q,
                    c->parameters_d, u);
        for (int i = 0; i < some * lanes; i++)
            out[q * lanes + i] = (GBEES_REAL)u[i];
    }
}

/* Velocities at faces of bricks [from, to) of a pencil, the lowest of which is in `slot`: of each those above its
 * lowest plane of cells and up to the one above its highest, as a face between two bricks is the lower one's; of the
 * pencil's first brick planes -1 and 0, too, of its last one plane edge + 1.  at: room for two numbers a plane. */
INLINE void GBEES_REAL_FN(pencil_velocities)(const kernel_context *c, int axis, uint32_t slot, int from, int to,
                                             int last, int edge, int lanes, void *at, GBEES_REAL *out)
{
    const kernel_axis *a = &c->axis[axis];
    const int32_t key = grid_key(c->g, slot)[axis];
    const int wide = sizeof(GBEES_REAL) == sizeof(float) && c->wide;
    GBEES_REAL_FN(base) base;

    GBEES_REAL_FN(base_of)(c, slot, &base);
    if (lanes % GBEES_LANES == 0 && GBEES_REAL_FN(has_planes)(c, axis)) {
        const int planes = (to - from) * edge + (from ? 0 : 2) + (last ? 1 : 0);

        if (wide) {
            GBEES_REAL_FN(place_pencil)(c, axis, key, from, to, last, edge, 1, at);
            GBEES_REAL_FN(wide_velocities)(c, axis, &base, planes, lanes, at, out);
        } else {
            GBEES_REAL_FN(place_pencil)(c, axis, key, from, to, last, edge, 0, at);
            a->PLANES_OF((size_t)planes, (size_t)lanes, (GBEES_REAL)c->time, base.narrow,
                         (const GBEES_REAL *const *)a->offset, at, c->PARAMETERS, out);
        }
        return;
    }
    for (int b = from; b < to; b++) {
        const int lowest = b ? 1 : -1, planes = edge + 1 - lowest + (last && b == to - 1);

        base.wide[axis] = c->origin[axis] + c->brick_width[axis] * (double)(key + b);
        base.narrow[axis] = (GBEES_REAL)base.wide[axis];
        GBEES_REAL_FN(velocities)(c, axis, &base, lowest, planes, lanes, out);
        out += planes * lanes;
    }
}
