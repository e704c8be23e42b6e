/* draw.h - the figures of gbees-plot, each from a gallery to a figure (for gbees_figure_destroy()). */
#ifndef GBEES_PLOT_DRAW_H
#define GBEES_PLOT_DRAW_H

#include "figure.h"
#include "gather.h"

/* Ranges of the axes: of all panels together, of each panel, or together unless a density would then be small. */
typedef enum gbees_scale { GBEES_SCALE_AUTO, GBEES_SCALE_SHARED, GBEES_SCALE_PANEL } gbees_scale;

typedef struct gbees_draw_options {
    int pixel_width, pixel_height; /* 0: chosen by the figure */
    double azimuth, elevation;     /* of the isosurfaces, degrees */
    int vector;                    /* 1: for PDF and SVG */
    int scale;                     /* a gbees_scale */
    int samples;                   /* 1: samples of the model are drawn below the isosurfaces */
} gbees_draw_options;

/* The page of a figure that asks for `height` points. */
int gbees_draw_page(const gbees_draw_options *options, double height, gbees_figure **figure, gbees_error *error);

/* Every state against time: mean, central bands of 68 and 95 %, measurements and truth. */
int gbees_draw_series(const gbees_gallery *gallery, const gbees_draw_options *options, gbees_figure **figure,
                      gbees_error *error);
/* 1-D densities of every state: a row of panels for each leg, a line for each record. */
int gbees_draw_marginals(const gbees_gallery *gallery, const gbees_draw_options *options, gbees_figure **figure,
                         gbees_error *error);
/* 1-D densities of every state at the last record of each leg, and over them those of filters or of other runs. */
int gbees_draw_compared(const gbees_gallery *gallery, const gbees_draw_options *options, gbees_figure **figure,
                        gbees_error *error);
/* 1-D and 2-D densities of the last record, every state against every other. */
int gbees_draw_corner(const gbees_gallery *gallery, const gbees_draw_options *options, gbees_figure **figure,
                      gbees_error *error);
/* Filled contours of the joint density of two states, a panel for each pictured record. */
int gbees_draw_density(const gbees_gallery *gallery, const gbees_draw_options *options, gbees_figure **figure,
                       gbees_error *error);
/* Isosurfaces of the joint density of three states, before and after the first measurement. */
int gbees_draw_isosurfaces(const gbees_gallery *gallery, const gbees_draw_options *options, gbees_figure **figure,
                           gbees_error *error);

/* ---- the note under a picture (note.c) ------------------------------------------------------------------------ */

/* Writes "error <= mean 0.012 std, ...", in Unicode: the certificate of the shots first .. last; of several the one
 * with the largest bound of the moments, with its time. Empty if no shot has a certificate. */
void gbees_gallery_note(const gbees_gallery *gallery, size_t first, size_t last, char *text, size_t size);
/* The height in points that a note takes: 0 if no shot has a certificate. */
double gbees_note_height(const gbees_gallery *gallery);
/* Draws the note, smaller if it would be wider than `width` points. */
void gbees_draw_note(gbees_figure *figure, const gbees_gallery *gallery, size_t first, size_t last,
                     const gbees_label *at, double width);

#endif
