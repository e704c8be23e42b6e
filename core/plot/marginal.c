/* marginal.c - the figure of 1-D marginal densities. */
#include "draw.h"
#include "other.h"
#include "region.h"
#include "sampled.h"
#include <math.h>
#include <stdio.h>

enum { MOST_LEGS = 6, MOST_NAMED = 8 }; /* legs in the figure; records named one by one in a legend */

static const double text_size = 13;

/* The records first .. first + count - 1 of the gallery, all of one leg. */
typedef struct leg {
    size_t first, count;
    int is_compared; /* 1: it is one record, beside others (other.h) */
} leg;

/* Points of the page. A block is a leg: its head, rows of panels with gaps between, room for labels, and the note. */
typedef struct layout {
    double left, legend, head, foot, note, gap_x, gap_y, width, height, block;
    int columns, rows;
} layout;

static size_t next_leg(const gbees_gallery *gallery, size_t first)
{
    size_t end = first;

    while (end < gallery->count && gallery->shot[end].leg == gallery->shot[first].leg)
        end++;
    return end;
}

static size_t count_legs(const gbees_gallery *gallery)
{
    size_t count = 0;

    for (size_t k = 0; k < gallery->count; k = next_leg(gallery, k))
        count++;
    return count;
}

static leg find_leg(const gbees_gallery *gallery, size_t number)
{
    size_t first = 0;

    while (number-- > 0)
        first = next_leg(gallery, first);
    return (leg){first, next_leg(gallery, first) - first, 0};
}

static double total_time(const gbees_gallery *gallery)
{
    return gallery->shot[gallery->count - 1].time - gallery->shot[0].time;
}

static gbees_rgb record_color(const gbees_gallery *gallery, leg l, size_t k)
{
    const double start = gallery->shot[l.first].time, length = gallery->shot[l.first + l.count - 1].time - start;

    if (l.count < 2)
        return gbees_colormap_line(0.35);
    if (!(length > 0))
        return gbees_colormap_line((double)k / (double)(l.count - 1));
    return gbees_colormap_line((gallery->shot[l.first + k].time - start) / length);
}

/* The range of a state in the records of a leg, and of its truth. */
static void find_range(const gbees_gallery *gallery, leg l, int state, double *lo, double *hi)
{
    *lo = INFINITY;
    *hi = -INFINITY;
    for (size_t k = l.first; k < l.first + l.count; k++) {
        double a, b, truth;

        gbees_density_extent(gallery->shot[k].marginal[state], &a, &b);
        if (gbees_gallery_truth(gallery, &gallery->shot[k], state, &truth)) {
            a = fmin(a, truth);
            b = fmax(b, truth);
        }
        if (l.is_compared)
            gbees_other_range(gallery, &gallery->shot[k], state, &a, &b);
        *lo = fmin(*lo, a);
        *hi = fmax(*hi, b);
    }
}

/* Whether all legs have one range, so that they can be compared. */
static int is_shared(const gbees_gallery *gallery, int scale)
{
    const leg all = {0, gallery->count, 0};

    for (int d = 0; d < gallery->dimension && scale == GBEES_SCALE_AUTO; d++) {
        double lo, hi, all_lo, all_hi;

        find_range(gallery, all, d, &all_lo, &all_hi);
        for (size_t k = 0; k < count_legs(gallery); k++) {
            find_range(gallery, find_leg(gallery, k), d, &lo, &hi);
            if (!gbees_scale_is_ample(lo, hi, all_lo, all_hi))
                return 0;
        }
    }
    return scale != GBEES_SCALE_PANEL;
}

static void draw_panel(gbees_figure *figure, const gbees_gallery *gallery, leg l, int state, gbees_panel *panel,
                       int shared, const char *title_y)
{
    const gbees_shot *last = &gallery->shot[l.first + l.count - 1];
    char title[128];
    double peak = 0;

    find_range(gallery, shared ? (leg){0, gallery->count, 0} : l, state, &panel->lo[0], &panel->hi[0]);
    for (size_t k = 0; k < l.count; k++)
        peak = fmax(peak, gallery->shot[l.first + k].marginal[state]->peak);
    if (gallery->frame) {
        panel->lo[0] = gallery->frame->lo[state];
        panel->hi[0] = gallery->frame->hi[state];
        peak = fmax(peak, gallery->frame->peak[state]);
    }
    panel->lo[1] = 0;
    panel->hi[1] = 1.07 * (l.is_compared ? gbees_other_peak(gallery, last, state, peak) : peak);
    const double margin = 0.02 * (panel->hi[0] - panel->lo[0]);
    panel->lo[0] -= margin;
    panel->hi[0] += margin;
    gbees_sampled_extend_panel(panel, last, state);
    gbees_panel_ticks(panel, text_size);
    gbees_panel_grid(figure, panel);
    gbees_panel_clip(figure, panel);
    gbees_region_fill(figure, panel, last->marginal[state], record_color(gallery, l, l.count - 1));
    for (size_t k = 0; k < l.count; k++)
        gbees_other_line(figure, panel, gallery->shot[l.first + k].marginal[state],
                         &(gbees_style){.color = record_color(gallery, l, k)}, 1.7);
    if (l.is_compared)
        gbees_other_lines(figure, panel, gallery, last, state);
    gbees_sampled_histogram(figure, panel, last, state);
    gbees_region_truth(figure, panel, gallery, last, state, 0);
    cairo_restore(figure->cairo);
    gbees_region_title(figure, panel, gallery, last, state, 0.95 * text_size);
    gbees_ticks_title(&panel->ticks[0], gallery->name[state], gallery->unit[state], title, sizeof title);
    if (panel->ticks[1].exponent) { /* densities differ from panel to panel, and so do their powers of ten */
        char power[128];

        gbees_ticks_title(&panel->ticks[1], "density", "", power, sizeof power);
        gbees_panel_frame(figure, panel, text_size, title, power);
    } else
        gbees_panel_frame(figure, panel, text_size, title, title_y);
}

static void draw_time_bar(gbees_figure *figure, const gbees_gallery *gallery, leg l, double x, double y,
                          double height)
{
    gbees_panel bar = {.x = x, .y = y, .width = 14, .height = height, .hi[0] = 1};
    gbees_label label = {.x = x + 22, .size = text_size, .ay = 0.5, .color = gbees_rgb_grey(0.15)};

    bar.lo[1] = gallery->shot[l.first].time;
    bar.hi[1] = gallery->shot[l.first + l.count - 1].time;
    gbees_ticks_make(&bar.ticks[1], bar.lo[1], bar.hi[1], 6);
    for (int k = 0; k < 128; k++) {
        gbees_figure_color(figure, gbees_colormap_line(k / 127.0), 1);
        cairo_rectangle(figure->cairo, x, y + height * (127 - k) / 128, 14, height / 128 + 0.3);
        cairo_fill(figure->cairo);
    }
    for (int k = 0; k < bar.ticks[1].count; k++) {
        label.y = gbees_panel_y(&bar, bar.ticks[1].value[k]);
        gbees_figure_text(figure, &label, bar.ticks[1].text[k]);
    }
    label.x = x;
    label.y = y - 16;
    gbees_figure_text(figure, &label, "t");
}

/* The times of the records. */
static void draw_times(gbees_figure *figure, const gbees_gallery *gallery, leg l, double x, double y, double height)
{
    gbees_label label = {.x = x + 28, .size = text_size, .ay = 0.5, .color = gbees_rgb_grey(0.15)};
    char time[64], text[96];

    if (l.count > MOST_NAMED && gallery->shot[l.first + l.count - 1].time > gallery->shot[l.first].time) {
        draw_time_bar(figure, gallery, l, x, y + 24, height - 24);
        return;
    }
    for (size_t k = 0; k < l.count; k++) {
        label.y = y + 10 + 21 * (double)k;
        gbees_figure_line(figure, x, label.y, x + 20, label.y, 3, record_color(gallery, l, k));
        gbees_ticks_time(gallery->shot[l.first + k].time, total_time(gallery), time, sizeof time);
        (void)snprintf(text, sizeof text, "t = %s", time);
        gbees_figure_text(figure, &label, text);
    }
}

static void leg_title(const gbees_gallery *gallery, leg l, char *text, size_t size)
{
    const gbees_shot *first = &gallery->shot[l.first];
    char span[160];

    gbees_gallery_span(gallery, l.first, l.first + l.count - 1, span, sizeof span);
    if (first->leg > 0)
        (void)snprintf(text, size, "%s, after measurement %d, %s", gallery->model, first->leg, span);
    else if (gallery->shot[gallery->count - 1].leg > 0)
        (void)snprintf(text, size, "%s, before the first measurement, %s", gallery->model, span);
    else
        (void)snprintf(text, size, "%s, %s", gallery->model, span);
}

/* What the shades and the line across mean, at the right above the panels of a leg. */
static void draw_explanation(gbees_figure *figure, const gbees_gallery *gallery, leg l, double y)
{
    const gbees_shot *last = &gallery->shot[l.first + l.count - 1];
    const gbees_label label = {
        .x = GBEES_PAGE_WIDTH - 14, .y = y, .size = 0.95 * text_size, .ax = 1, .ay = 1, .color = gbees_rgb_grey(0.3)};
    double truth;
    int has_truth = 0;
    char text[192];

    for (int d = 0; d < gallery->dimension; d++)
        has_truth |= gbees_gallery_truth(gallery, last, d, &truth);
    (void)snprintf(text, sizeof text, "%smean \u00b1 standard deviation; highest 68, 95, 99.7 %% shaded%s%s",
                   l.is_compared ? "" : "last record: ", last->samples > 0 ? "; samples in steps" : "",
                   has_truth ? "; truth in red" : "");
    gbees_figure_text(figure, &label, text);
}

/* Sizes that do not depend on the page's height. */
static layout make_layout(const gbees_gallery *gallery, int is_compared, gbees_figure *page)
{
    const int n = gallery->dimension, columns = n <= 4 ? n : (n + 1) / 2;
    const double others = is_compared ? gbees_other_legend_height(gallery) : 0;
    layout p = {.left = 14,
                .head = 64,
                .gap_x = 72,
                .gap_y = 82,
                .foot = 58,
                .columns = columns,
                .rows = (n + columns - 1) / columns,
                .note = gbees_note_height(gallery)};

    p.legend = is_compared ? fmin(230, fmax(120, gbees_other_legend_width(page, gallery, text_size) + 30)) : 120;
    p.width = (GBEES_PAGE_WIDTH - p.left - p.legend) / columns - p.gap_x;
    p.height = fmin(0.8 * p.width, 330);
    p.height = fmax(p.height, (others - (p.rows - 1) * p.gap_y) / p.rows); /* the legend has room */
    return p;
}

static void draw_leg(gbees_figure *figure, const gbees_gallery *gallery, leg l, const layout *p, double top,
                     int shared)
{
    gbees_label label = {.x = p->left + p->gap_x,
                         .y = top + p->head - 34,
                         .size = 15,
                         .ay = 1,
                         .bold = 1,
                         .color = gbees_rgb_grey(0.1)};
    char text[256];

    leg_title(gallery, l, text, sizeof text);
    gbees_figure_text(figure, &label, text);
    draw_explanation(figure, gallery, l, label.y);
    for (int d = 0; d < gallery->dimension; d++) {
        gbees_panel panel = {.x = p->left + p->gap_x + (d % p->columns) * (p->width + p->gap_x),
                             .y = top + p->head + (d / p->columns) * (p->height + p->gap_y),
                             .width = p->width,
                             .height = p->height};

        draw_panel(figure, gallery, l, d, &panel, shared, d % p->columns ? "" : "density");
    }
    if (l.is_compared)
        gbees_other_legend(figure, gallery, (const double[]){GBEES_PAGE_WIDTH - p->legend + 16, top + p->head},
                           p->legend - 24, record_color(gallery, l, 0), text_size);
    else
        draw_times(figure, gallery, l, GBEES_PAGE_WIDTH - p->legend + 16, top + p->head, p->height);
    label = (gbees_label){.x = p->left + p->gap_x, .y = top + p->block - p->note, .size = text_size};
    gbees_draw_note(figure, gallery, l.first, l.first + l.count - 1, &label, GBEES_PAGE_WIDTH - label.x - p->left);
}

/* Leg number k, or of a comparison its last record. */
static leg choose_leg(const gbees_gallery *gallery, size_t k, int is_compared)
{
    const leg l = find_leg(gallery, k);

    return is_compared ? (leg){l.first + l.count - 1, 1, 1} : l;
}

static int draw_legs(const gbees_gallery *gallery, const gbees_draw_options *options, int is_compared,
                     gbees_figure **figure, gbees_error *error)
{
    const size_t legs = count_legs(gallery), shown = legs < MOST_LEGS ? legs : MOST_LEGS;
    const int shared = is_compared ? options->scale == GBEES_SCALE_SHARED : is_shared(gallery, options->scale);
    gbees_figure *page; /* for the widths of texts */
    int status = gbees_figure_create(10, 0, 0, &page, error);

    if (status)
        return status;
    layout p = make_layout(gallery, is_compared, page);
    gbees_figure_destroy(page);
    p.block = p.head + p.rows * (p.height + p.gap_y) - p.gap_y + p.foot + p.note;
    status = gbees_draw_page(options, p.block * (double)shown + 10, figure, error);
    if (status)
        return status;
    p.block = ((*figure)->height - 10) / (double)shown;
    p.height = fmax(20, (p.block - p.head - p.foot - p.note + p.gap_y) / p.rows - p.gap_y);
    for (size_t k = 0; k < shown; k++)
        draw_leg(*figure, gallery, choose_leg(gallery, gbees_gallery_pick(k, shown, legs), is_compared), &p,
                 p.block * (double)k, shared);
    return GBEES_OK;
}

int gbees_draw_marginals(const gbees_gallery *gallery, const gbees_draw_options *options, gbees_figure **figure,
                         gbees_error *error)
{
    return draw_legs(gallery, options, 0, figure, error);
}

int gbees_draw_compared(const gbees_gallery *gallery, const gbees_draw_options *options, gbees_figure **figure,
                        gbees_error *error)
{
    return draw_legs(gallery, options, 1, figure, error);
}
