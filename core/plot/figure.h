/* figure.h - a page to draw on, its text, and a panel with two axes. Lengths are in points of the page; a page is
 * GBEES_PAGE_WIDTH points wide whatever its size in pixels. */
#ifndef GBEES_PLOT_FIGURE_H
#define GBEES_PLOT_FIGURE_H

#include "colormap.h"
#include "ticks.h"
#include <cairo.h>
#include <gbees/error.h>

enum { GBEES_PAGE_WIDTH = 1200 };

typedef struct gbees_figure {
    cairo_surface_t *surface;
    cairo_t *cairo;
    double width, height; /* points */
    double scale;         /* pixels a point */
} gbees_figure;

/* A white page. `height` in points is what the figure asks for; pixel_width and pixel_height > 0 overrule it. */
int gbees_figure_create(double height, int pixel_width, int pixel_height, gbees_figure **figure, gbees_error *error);
/* Creates a white page, as gbees_figure_create(), for a PDF or SVG: it stays vector graphics. */
int gbees_figure_create_vector(double height, int pixel_width, int pixel_height, gbees_figure **figure,
                               gbees_error *error);
void gbees_figure_destroy(gbees_figure *figure);
/* Writes a PDF or SVG if the path ends so, else a PNG. */
int gbees_figure_save(const gbees_figure *figure, const char *path, gbees_error *error);

/* Text of `size` points, (x, y) being the point at the fractions (ax, ay) of its box: 0 left/top .. 1 right/bottom.
 */
typedef struct gbees_label {
    double x, y, size, ax, ay;
    gbees_rgb color;
    int bold;
    int upright; /* 0: along the page; 1: read from below, turned by 90 degrees */
    int halo;    /* a white rim, for text on a picture */
} gbees_label;
void gbees_figure_text(gbees_figure *figure, const gbees_label *label, const char *text);
/* Width of the text in points. */
double gbees_figure_text_width(gbees_figure *figure, double size, int bold, const char *text);

void gbees_figure_line(gbees_figure *figure, double x0, double y0, double x1, double y1, double width,
                       gbees_rgb color);
/* Strokes the path. */
void gbees_figure_stroke(gbees_figure *figure, double width, gbees_rgb color);
void gbees_figure_color(gbees_figure *figure, gbees_rgb color, double alpha);

typedef struct gbees_panel {
    double x, y, width, height; /* on the page */
    double lo[2], hi[2];        /* what the horizontal and the vertical axis show */
    gbees_ticks ticks[2];       /* made by gbees_panel_ticks */
    double overhang;            /* how far tick labels may stick out sideways; 0: as they like */
} gbees_panel;

/* Whether lo .. hi is an eighth of all_lo .. all_hi or more. */
int gbees_scale_is_ample(double lo, double hi, double all_lo, double all_hi);
double gbees_panel_x(const gbees_panel *panel, double x);
double gbees_panel_y(const gbees_panel *panel, double y);
/* Chooses ticks that fit the panel's size at that size of text. */
void gbees_panel_ticks(gbees_panel *panel, double text_size);
/* Room that the labels and the title of the vertical axis need at the left of the panel. */
double gbees_panel_left(gbees_figure *figure, const gbees_panel *panel, double text_size);
/* Draws a panel's thin grid: before anything else in it. */
void gbees_panel_grid(gbees_figure *figure, const gbees_panel *panel);
/* Draws a panel's frame, ticks, tick labels and titles, after all else; NULL: no labels on that axis. */
void gbees_panel_frame(gbees_figure *figure, const gbees_panel *panel, double text_size, const char *title_x,
                       const char *title_y);
/* Confines drawing to the panel, until cairo_restore(). */
void gbees_panel_clip(gbees_figure *figure, const gbees_panel *panel);

#endif
