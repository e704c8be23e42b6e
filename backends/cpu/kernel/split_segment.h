/* split_segment.h - advects a segment's planes (segment.h) along their axis, by the fastest way that the scheme and
 * the velocities allow. */
#ifndef GBEES_CPU_SPLIT_SEGMENT_H
#define GBEES_CPU_SPLIT_SEGMENT_H

#include "cells.h"
#include "cuts.h"
#include "ends.h"
#include "noise.h"
#include "split_column.h"
#include "split_faces.h"
#include "split_noise_faces.h"
#include "split_stream.h"

/* Advects a segment in two loops: the masses through all faces, then the cells. Adds what enters targets. */
INLINE void advect_faces(const segment *s, double *entered)
{
    const int plane_cells = s->plane_cells, count = s->planes * plane_cells, below = s->below, above = s->above;
    const real *restrict mass = s->mass;
    real *restrict p = s->p;

    cross_by_order(s);
    if (s->cut_count) {
        cross_cuts(s);
        close_masses(s);
    }
    apply_masses(s, mass);
    if (s->cut_count)
        enter_targets(s, mass, entered);
    for (int l = 0; l < plane_cells && !below; l++)
        p[l - plane_cells] = -mass[l];
    for (int l = 0; l < plane_cells && !above; l++)
        p[l + count] = mass[l + count];
}

/* Adds the mass that flows out of the pencil's ends, which is in the planes beyond them.  That of the lower end is
 * kept in s->away until the segment at the upper end is done. */
INLINE void add_outflow(const segment *s, double8 *sum)
{
    const real *below = s->p - s->plane_cells, *above = s->p + s->planes * s->plane_cells;
    real *away = s->away;

    for (int l = 0; l < s->plane_cells && !s->below; l++)
        away[l] = s->direction <= 0 && below[l] > 0 ? below[l] : 0;
    if (s->above)
        return;
    for (int l = 0; l < s->plane_cells && s->direction >= 0; l++)
        away[l] += above[l] > 0 ? above[l] : 0;
    add_in_units(away, s->plane_cells, sum);
}

/* Advects a segment in which all faces flow the same way. */
INLINE void advect_stream(const segment *s, double8 *outflow)
{
    const int plane_cells = s->plane_cells, whole = !s->below && !s->above;

    if (s->scheme->preserving && s->scheme->order == 7)
        stream_preserving_7(s);
    else if (s->scheme->preserving)
        stream_preserving_5(s);
    else if (s->scheme->order == 7 && whole)
        stream_pencil_7(s);
    else if (s->scheme->order == 7)
        stream_segment_7(s);
    else if (whole)
        stream_pencil_5(s);
    else
        stream_segment_5(s);
    if (whole)
        add_in_units(s->direction > 0 ? s->p + s->planes * plane_cells : s->p - plane_cells, plane_cells, outflow);
    else
        add_outflow(s, outflow);
}

/* Advects a segment by the fastest of three ways that it allows, which all have the same bits. */
INLINE void advect_segment(segment *s, brick_totals *totals)
{
    double8 *outflow = &totals->outflow;
    const kernel_scheme *scheme = s->scheme;
    const int plane_cells = s->plane_cells, end = planes_beyond(scheme) * plane_cells;
    const int whole_vectors = !(plane_cells % LANES || scheme->order < 5 || s->diverging || s->cut_count);
    const int noisy = s->variance > 0, by_columns = whole_vectors && !scheme->preserving && !noisy;

    if (whole_vectors && s->direction) {
        advect_stream(s, outflow);
        return;
    }
    if (!s->below && !by_columns)
        memset(s->p - end, 0, (size_t)end * sizeof *s->p);
    if (!s->above)
        memset(s->p + s->planes * plane_cells, 0, (size_t)end * sizeof *s->p);
    if (noisy) {
        advect_with_noise(s, totals);
        return;
    }
    if (!by_columns)
        advect_faces(s, totals->entered);
    else if (scheme->order == 7)
        sweep_columns_7(s);
    else
        sweep_columns_5(s);
    add_outflow(s, outflow);
}

#endif
