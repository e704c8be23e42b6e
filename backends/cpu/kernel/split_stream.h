/* split_stream.h - advects a segment in which all faces flow the same way, column by column along the flow.
 *
 * Without this way beside split_column.h Lorenz '96 would take 6 to 12 % longer.  Most segments are of this kind.  As
 * the upwind side is known, fewer differences are kept, and no lane chooses between formulas.  If all flow is down,
 * planes are taken in the opposite order: masses have the same bits.  With monotonicity-preserving bounds the
 * curvature at a face is kept for the next one.  `order`, `preserving` and `columns` are constants of the compiler.
 */
#ifndef GBEES_CPU_SPLIT_STREAM_H
#define GBEES_CPU_SPLIT_STREAM_H

#include "segment.h"

/* A segment in the order of its flow. */
typedef struct stream_path {
    real *p;       /* the first plane */
    const real *u; /* the velocities at the face before it */
    real lambda;   /* time step / cell width; negative if the flow is down */
    int stride;    /* from one plane to the next; negative if the flow is down */
    int planes;
    int before, beyond; /* 1: the pencil goes on before the first plane; beyond the last one */
} stream_path;

/* A column at a face: level[k] are differences of order k, the last one along the flow first; Courant number and mass
 * of the face. */
typedef struct stream {
    vector level[ORDER_MOST][ORDER_MOST / 2 + 1];
    vector courant, mass;
    vector curvature; /* gbees_common_curvature() of the cells on either side; preserving only */
} stream;

/* Goes on by one plane: `cell` is the last one along the flow. */
INLINE void stream_push(stream *s, vector cell, int order)
{
#pragma GCC unroll 8
    for (int k = 0; k < order; k++)
#pragma GCC unroll 8
        for (int i = order / 2; i > 0; i--)
            s->level[k][i] = s->level[k][i - 1];
    s->level[0][0] = cell;
#pragma GCC unroll 8
    for (int k = 1; k < order; k++)
        s->level[k][0] = s->level[k - 1][0] - s->level[k - 1][1];
}

/* Sets the curvature at the face that is order / 2 planes before the last one that was pushed. */
INLINE void stream_curve(stream *s, int order)
{
    s->curvature = gbees_common_curvature_vector(s->level[2][order / 2 - 1], s->level[2][order / 2 - 2]);
}

/* The mass through the face, within monotonicity-preserving bounds; d: as mass_rising() takes it; spread: time step
 * times divergence of the upwind cells; most: the largest Courant number. */
INLINE vector stream_preserving(stream *s, const vector *d, vector spread, vector most, int order)
{
    const vector behind = s->curvature, nothing = {0};
    const vector c = gbees_lowest_vector(gbees_swept_vector(s->courant, spread), most);

    stream_curve(s, order);
    vector mass = gbees_within_bounds_vector(unbounded_rising(d, c, order), d[0], s->level[1][order / 2], d[1],
                                             behind, s->curvature, c);
    return gbees_lowest_vector(gbees_highest_vector(mass, nothing), d[0]);
}

/* Goes from one face to the next, over the cells p; u: velocities at the latter face.  Returns the cells' new P. */
INLINE vector stream_step(stream *s, const real *p, const real *u, const stream_path *path, vector most, int order,
                          int preserving)
{
    vector d[ORDER_MOST], below = s->courant, before = s->mass;
    const int stride = path->stride;

    stream_push(s, load(p + order / 2 * stride), order);
    s->courant = path->lambda * load(u);
    d[0] = load(p);
#pragma GCC unroll 8
    for (int k = 1; k < order; k++)
        d[k] = s->level[k][order / 2 - (k + 1) / 2];
    s->mass = preserving ? stream_preserving(s, d, s->courant - below, most, order)
                         : mass_rising(d, s->courant, s->courant - below, most, order);
    return d[0] + (before - s->mass);
}

/* Advects the columns that begin at path.p.  It reads order / 2 + 1 planes before them and order / 2 planes beyond
 * them; at an end of the pencil these count as zeros.  At the pencil's end along the flow the first plane beyond is
 * set to the outflow. */
INLINE void stream_column(stream_path path, vector most, int order, int preserving, int columns)
{
    const int stride = path.stride, planes = path.planes;
    const real lambda = path.lambda;
    real *restrict p = path.p;
    const real *restrict u = path.u;
    stream s[2] = {0};

#pragma GCC unroll 2
    for (int w = 0; w < columns; w++) {
        const int l = w * LANES;

        if (!path.beyond)
#pragma GCC unroll 4
            for (int i = 0; i < order / 2; i++) /* the compiler would make a memset() of a loop over lanes inside */
                store(p + (planes + i) * stride + l, (vector){0});
        if (path.before) {
#pragma GCC unroll 8
            for (int i = -1 - order / 2; i < order / 2 - 1; i++)
                stream_push(&s[w], load(p + i * stride + l), order);
            s[w].courant = lambda * load(u - stride + l);
            stream_curve(&s[w], order);
            (void)stream_step(&s[w], p - stride + l, u + l, &path, most, order, preserving);
            continue;
        }
#pragma GCC unroll 4
        for (int i = 0; i < order / 2; i++)
            stream_push(&s[w], load(p + i * stride + l), order);
        s[w].courant = lambda * load(u + l);
        stream_curve(&s[w], order);
    }
    for (int at = 0; at < planes; at++, p += stride) {
        u += stride;
#pragma GCC unroll 2
        for (int w = 0; w < columns; w++) {
            const int l = w * LANES;

            store(p + l, stream_step(&s[w], p + l, u + l, &path, most, order, preserving));
        }
    }
    if (!path.beyond)
#pragma GCC unroll 2
        for (int w = 0; w < columns; w++)
            store(p + w * LANES, s[w].mass);
}

/* Advects all columns of a segment whose planes are whole vectors: two at once if there are enough registers. */
INLINE void stream_columns(const segment *s, int below, int above, int order, int preserving)
{
    const int up = s->direction > 0, lanes = s->plane_cells, first = up ? 0 : s->planes - 1;
    const vector most = 1 - (vector){0};
    stream_path path = {.p = s->p + first * lanes,
                        .u = s->u + (up ? lanes : (s->planes + 1) * lanes),
                        .lambda = up ? s->lambda : -s->lambda,
                        .stride = up ? lanes : -lanes,
                        .planes = s->planes,
                        .before = up ? below : above,
                        .beyond = up ? above : below};
    int l = 0;

#if VECTOR_BYTES == 64
    for (; l + 2 * LANES <= lanes; l += 2 * LANES, path.p += 2 * LANES, path.u += 2 * LANES)
        stream_column(path, most, order, preserving, 2);
#endif
    for (; l < lanes; l += LANES, path.p += LANES, path.u += LANES)
        stream_column(path, most, order, preserving, 1);
}

/* A whole pencil; a segment of one. */
NOINLINE void stream_pencil_5(const segment *s)
{
    stream_columns(s, 0, 0, 5, 0);
}

NOINLINE void stream_pencil_7(const segment *s)
{
    stream_columns(s, 0, 0, 7, 0);
}

NOINLINE void stream_segment_5(const segment *s)
{
    stream_columns(s, s->below, s->above, 5, 0);
}

NOINLINE void stream_segment_7(const segment *s)
{
    stream_columns(s, s->below, s->above, 7, 0);
}

/* Any segment, within monotonicity-preserving bounds. */
NOINLINE void stream_preserving_5(const segment *s)
{
    stream_columns(s, s->below, s->above, 5, 1);
}

NOINLINE void stream_preserving_7(const segment *s)
{
    stream_columns(s, s->below, s->above, 7, 1);
}

#endif
