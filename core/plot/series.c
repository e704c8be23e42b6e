/* series.c - the figure of every state against time: mean and central bands of its density, measurements, truth, and
 * means and deviations given all measurements. */
#include "draw.h"
#include "other.h"
#include "region.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { QUANTILES = 4 };

static const double text_size = 13;
/* The central 95 % lie between the first and the last of these, the central 68 % between the others. */
static const double quantile[QUANTILES] = {0.025, 0.16, 0.84, 0.975};

static const gbees_rgb mean_color = {0.10, 0.28, 0.56}, measured_color = {0.84, 0.32, 0.06},
                       smoothed_color = {0.00, 0.45, 0.18};
/* Dashed, so that it is told from the mean without colours. */
static const gbees_style truth_style = {{0, 0, 0}, 2, {5, 2.5}};

/* ---- a panel ----------------------------------------------------------------------------------------------- */

static void include(double value, gbees_panel *panel)
{
    panel->lo[1] = fmin(panel->lo[1], value);
    panel->hi[1] = fmax(panel->hi[1], value);
}

/* Includes the points with so many standard deviations to both sides. */
static void include_points(const gbees_points *points, double deviations, gbees_panel *panel)
{
    for (size_t i = 0; i < points->count; i++) {
        const double side = deviations > 0 ? deviations * points->std[i] : 0;

        if (points->time[i] < panel->lo[0] || points->time[i] > panel->hi[0])
            continue;
        include(points->value[i] - side, panel);
        include(points->value[i] + side, panel);
    }
}

static void include_bands(const gbees_gallery *gallery, int state, gbees_panel *panel)
{
    for (size_t k = 0; k < gallery->count; k++) {
        double at[QUANTILES];

        if (gallery->shot[k].time < panel->lo[0] || gallery->shot[k].time > panel->hi[0])
            continue;
        gbees_density_quantiles(gallery->shot[k].marginal[state], QUANTILES, quantile, at);
        include(at[0], panel);
        include(at[QUANTILES - 1], panel);
    }
}

static void set_range(const gbees_gallery *gallery, int state, gbees_panel *panel)
{
    const gbees_series *series = gallery->series;

    panel->lo[0] = gallery->shot[0].time;
    panel->hi[0] = gallery->shot[gallery->count - 1].time;
    if (!(panel->hi[0] > panel->lo[0]))
        panel->hi[0] = panel->lo[0] + 1;
    const double side = 0.008 * (panel->hi[0] - panel->lo[0]); /* so that a dot at the end is whole */
    panel->lo[0] -= side;
    panel->hi[0] += side;
    panel->lo[1] = INFINITY;
    panel->hi[1] = -INFINITY;
    include_bands(gallery, state, panel);
    for (int k = 0; k < gallery->others; k++)
        include_bands(gallery->run[k], state, panel);
    if (series) {
        include_points(&series->measured[state], 0, panel);
        include_points(&series->truth[state], 0, panel);
        include_points(&series->smoothed[state], 1, panel);
    }
    const double margin = 0.06 * (panel->hi[1] - panel->lo[1]);
    panel->lo[1] -= margin > 0 ? margin : 1;
    panel->hi[1] += margin > 0 ? margin : 1;
}

/* Fills what is between two quantiles. A record after a measurement has the time of the one before it: a step. */
static void draw_band(gbees_figure *figure, const gbees_gallery *gallery, int state, const gbees_panel *panel,
                      int low, double paleness)
{
    cairo_t *cairo = figure->cairo;
    double at[QUANTILES];

    for (size_t k = 0; k < gallery->count; k++) {
        gbees_density_quantiles(gallery->shot[k].marginal[state], QUANTILES, quantile, at);
        cairo_line_to(cairo, gbees_panel_x(panel, gallery->shot[k].time), gbees_panel_y(panel, at[low]));
    }
    for (size_t k = gallery->count; k-- > 0;) {
        gbees_density_quantiles(gallery->shot[k].marginal[state], QUANTILES, quantile, at);
        cairo_line_to(cairo, gbees_panel_x(panel, gallery->shot[k].time),
                      gbees_panel_y(panel, at[QUANTILES - 1 - low]));
    }
    cairo_close_path(cairo);
    gbees_figure_color(figure, gbees_rgb_mix(mean_color, gbees_rgb_grey(1), paleness), 1);
    cairo_fill(cairo);
}

static void draw_mean(gbees_figure *figure, const gbees_gallery *gallery, int state, const gbees_panel *panel,
                      const gbees_style *style)
{
    for (size_t k = 0; k < gallery->count; k++)
        cairo_line_to(figure->cairo, gbees_panel_x(panel, gallery->shot[k].time),
                      gbees_panel_y(panel, gallery->shot[k].mean[state]));
    gbees_style_stroke(figure, style, 1.3);
}

/* Mean and ends of the central 95 % of another run. */
static void draw_run(gbees_figure *figure, const gbees_gallery *run, int state, const gbees_panel *panel,
                     const gbees_style *style)
{
    double at[QUANTILES];

    draw_mean(figure, run, state, panel, style);
    for (int end = 0; end < QUANTILES; end += QUANTILES - 1) {
        for (size_t k = 0; k < run->count; k++) {
            gbees_density_quantiles(run->shot[k].marginal[state], QUANTILES, quantile, at);
            cairo_line_to(figure->cairo, gbees_panel_x(panel, run->shot[k].time), gbees_panel_y(panel, at[end]));
        }
        gbees_style_stroke(figure, style, 0.8);
    }
}

static void draw_truth(gbees_figure *figure, const gbees_points *truth, const gbees_panel *panel)
{
    for (size_t i = 0; i < truth->count; i++)
        cairo_line_to(figure->cairo, gbees_panel_x(panel, truth->time[i]), gbees_panel_y(panel, truth->value[i]));
    gbees_style_stroke(figure, &truth_style, 1.0);
}

/* A line of value + deviations standard deviations. */
static void draw_smoothed_line(gbees_figure *figure, const gbees_points *smoothed, const gbees_panel *panel,
                               double deviations, double width)
{
    for (size_t i = 0; i < smoothed->count; i++)
        cairo_line_to(figure->cairo, gbees_panel_x(panel, smoothed->time[i]),
                      gbees_panel_y(panel, smoothed->value[i] + deviations * smoothed->std[i]));
    gbees_figure_stroke(figure, width, smoothed_color);
}

static void draw_smoothed(gbees_figure *figure, const gbees_points *smoothed, const gbees_panel *panel)
{
    draw_smoothed_line(figure, smoothed, panel, 0, 1.3);
    for (int side = -1; side <= 1; side += 2)
        draw_smoothed_line(figure, smoothed, panel, side, 0.6);
}

static void draw_dot(gbees_figure *figure, double x, double y)
{
    cairo_arc(figure->cairo, x, y, 2.2, 0, 6.2831853071795865);
    gbees_figure_color(figure, measured_color, 1);
    cairo_fill(figure->cairo);
}

/* Bars of one standard deviation to both sides. */
static void draw_measured(gbees_figure *figure, const gbees_points *measured, const gbees_panel *panel)
{
    for (size_t i = 0; i < measured->count; i++) {
        const double x = gbees_panel_x(panel, measured->time[i]), value = measured->value[i], std = measured->std[i];

        if (isfinite(std))
            gbees_figure_line(figure, x, gbees_panel_y(panel, value - std), x, gbees_panel_y(panel, value + std), 0.8,
                              measured_color);
        draw_dot(figure, x, gbees_panel_y(panel, value));
    }
}

static void draw_panel(gbees_figure *figure, const gbees_gallery *gallery, int state, gbees_panel *panel,
                       const char *title_x)
{
    const gbees_series *series = gallery->series;
    char title[160];

    set_range(gallery, state, panel);
    gbees_panel_ticks(panel, text_size);
    gbees_panel_grid(figure, panel);
    gbees_panel_clip(figure, panel);
    draw_band(figure, gallery, state, panel, 0, 0.80);
    draw_band(figure, gallery, state, panel, 1, 0.55);
    draw_mean(figure, gallery, state, panel, &(gbees_style){.color = mean_color});
    for (int k = 0; k < gallery->others; k++) {
        const gbees_style style = gbees_other_style(k);

        draw_run(figure, gallery->run[k], state, panel, &style);
    }
    if (series)
        draw_smoothed(figure, &series->smoothed[state], panel);
    if (series)
        draw_truth(figure, &series->truth[state], panel);
    if (series)
        draw_measured(figure, &series->measured[state], panel);
    cairo_restore(figure->cairo);
    gbees_ticks_title(&panel->ticks[1], gallery->name[state], gallery->unit[state], title, sizeof title);
    gbees_panel_frame(figure, panel, text_size, title_x, title);
}

/* ---- the legend -------------------------------------------------------------------------------------------- */

static int has_points(const gbees_points *points, int n)
{
    for (int j = 0; j < n; j++)
        if (points[j].count > 0)
            return 1;
    return 0;
}

/* Writes an entry that ends at x; returns where the one before it ends. */
static double draw_entry(gbees_figure *figure, double x, double y, const char *text)
{
    const gbees_label label = {.x = x, .y = y, .size = text_size, .ax = 1, .ay = 0.5, .color = gbees_rgb_grey(0.15)};

    gbees_figure_text(figure, &label, text);
    return x - gbees_figure_text_width(figure, text_size, 0, text) - 7;
}

static double draw_swatch(gbees_figure *figure, double x, double y, double paleness)
{
    gbees_figure_color(figure, gbees_rgb_mix(mean_color, gbees_rgb_grey(1), paleness), 1);
    cairo_rectangle(figure->cairo, x - 20, y - 6, 20, 12);
    cairo_fill(figure->cairo);
    return x - 20 - 18;
}

/* Draws the legend from right to left, ending at x. */
static void draw_legend(gbees_figure *figure, const gbees_gallery *gallery, double x, double y)
{
    const gbees_series *series = gallery->series;

    if (series && has_points(series->truth, gallery->dimension)) {
        x = draw_entry(figure, x, y, "truth");
        cairo_move_to(figure->cairo, x - 20, y);
        cairo_line_to(figure->cairo, x, y);
        gbees_style_stroke(figure, &truth_style, 1.0);
        x -= 20 + 18;
    }
    if (series && has_points(series->measured, gallery->dimension)) {
        x = draw_entry(figure, x, y, "measured, one standard deviation");
        gbees_figure_line(figure, x - 4, y - 8, x - 4, y + 8, 0.8, measured_color);
        draw_dot(figure, x - 4, y);
        x -= 8 + 18;
    }
    if (series && has_points(series->smoothed, gallery->dimension)) {
        x = draw_entry(figure, x, y, "smoothed");
        gbees_figure_line(figure, x - 20, y, x, y, 1.3, smoothed_color);
        for (int side = -1; side <= 1; side += 2)
            gbees_figure_line(figure, x - 20, y + 5 * side, x, y + 5 * side, 0.6, smoothed_color);
        x -= 20 + 18;
    }
    x = draw_swatch(figure, draw_entry(figure, x, y, "95 %"), y, 0.80);
    x = draw_swatch(figure, draw_entry(figure, x, y, "central 68 %"), y, 0.55);
    x = draw_entry(figure, x, y, "mean");
    gbees_figure_line(figure, x - 20, y, x, y, 1.3, mean_color);
}

/* The height of the names of runs above the panels. */
static double names_height(const gbees_gallery *gallery)
{
    return gallery->others > 0 ? 24 : 0;
}

/* The names of the runs in a row: that of the filled one, then of the others, whose lines are the mean and the ends
 * of the central 95 %. */
static void draw_names(gbees_figure *figure, const gbees_gallery *gallery, double x, double y, double width)
{
    const double part = width / (gallery->others + 1), stroke = 30;

    for (int k = -1; k < gallery->others; k++, x += part) {
        const gbees_style own = {.color = mean_color}, style = k < 0 ? own : gbees_other_style(k);
        const char *name = k < 0 ? gallery->own_name : gallery->other_name[k];
        char text[GBEES_OTHER_NAME + 32];

        (void)snprintf(text, sizeof text, "%s%s", name, k < 0 ? "" : ": mean, central 95 %");
        const double needed = gbees_figure_text_width(figure, text_size, 0, text);
        const gbees_label label = {.x = x + stroke + 7,
                                   .y = y,
                                   .size = text_size * fmin(1, (part - stroke - 25) / needed),
                                   .ay = 0.5,
                                   .color = gbees_rgb_grey(0.15)};
        cairo_move_to(figure->cairo, x, y);
        cairo_line_to(figure->cairo, x + stroke, y);
        gbees_style_stroke(figure, &style, 1.3);
        gbees_figure_text(figure, &label, text);
    }
}

int gbees_draw_series(const gbees_gallery *gallery, const gbees_draw_options *options, gbees_figure **figure,
                      gbees_error *error)
{
    const int n = gallery->dimension;
    const double left = 92, right = 18, names = names_height(gallery), head = 46 + names,
                 foot = 48 + gbees_note_height(gallery), gap = 14;
    double height = n <= 2 ? 250 : n <= 4 ? 190 : 140;
    int status = gbees_draw_page(options, head + n * height + (n - 1) * gap + foot, figure, error);

    if (status)
        return status;
    height = fmax(20, ((*figure)->height - head - foot - (n - 1) * gap) / n);
    gbees_label label = {
        .x = left, .y = head - names - 14, .size = 15, .ay = 1, .bold = 1, .color = gbees_rgb_grey(0.1)};
    gbees_figure_text(*figure, &label, gallery->model);
    draw_legend(*figure, gallery, GBEES_PAGE_WIDTH - right, head - names - 20);
    if (names > 0)
        draw_names(*figure, gallery, left, head - 18, GBEES_PAGE_WIDTH - left - right);
    for (int j = 0; j < n; j++) {
        gbees_panel panel = {.x = left,
                             .y = head + j * (height + gap),
                             .width = GBEES_PAGE_WIDTH - left - right,
                             .height = height,
                             .overhang = right};

        draw_panel(*figure, gallery, j, &panel, j + 1 < n ? NULL : "t");
    }
    label = (gbees_label){.x = left, .y = (*figure)->height - gbees_note_height(gallery), .size = text_size};
    gbees_draw_note(*figure, gallery, 0, gallery->count - 1, &label, GBEES_PAGE_WIDTH - left - right);
    return GBEES_OK;
}
