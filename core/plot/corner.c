/* corner.c - the figure of every state against every other, for the last record. */
#include "contour.h"
#include "draw.h"
#include "other.h"
#include "region.h"
#include "sampled.h"
#include <math.h>
#include <stdio.h>

typedef struct layout {
    double left, top, side, gap; /* of the square of panels; side and gap of one panel */
    double text_size;
} layout;

static void widen(double *lo, double *hi)
{
    const double margin = 0.05 * (*hi - *lo);

    *lo -= margin;
    *hi += margin;
}

/* Where the density of a state is, and its truth. */
static void find_range(const gbees_gallery *gallery, int state, double *lo, double *hi)
{
    const gbees_shot *last = &gallery->shot[gallery->count - 1];
    double truth;

    gbees_density_extent(last->marginal[state], lo, hi);
    if (gbees_gallery_truth(gallery, last, state, &truth)) {
        *lo = fmin(*lo, truth);
        *hi = fmax(*hi, truth);
    }
    widen(lo, hi);
}

static gbees_panel place_panel(const gbees_gallery *gallery, const layout *l, int column, int row)
{
    const gbees_shot *last = &gallery->shot[gallery->count - 1];
    gbees_panel panel = {.x = l->left + column * (l->side + l->gap),
                         .y = l->top + row * (l->side + l->gap),
                         .width = l->side,
                         .height = l->side,
                         .overhang = 0.5 * l->gap};

    find_range(gallery, column, &panel.lo[0], &panel.hi[0]);
    if (column == row)
        panel.hi[1] = 1.1 * last->marginal[column]->peak;
    else
        find_range(gallery, row, &panel.lo[1], &panel.hi[1]);
    if (column == row)
        gbees_sampled_extend_panel(&panel, last, column);
    gbees_panel_ticks(&panel, l->text_size);
    return panel;
}

static void draw_diagonal(gbees_figure *figure, const gbees_panel *panel, const gbees_gallery *gallery, int state)
{
    const gbees_shot *last = &gallery->shot[gallery->count - 1];
    const gbees_density *density = last->marginal[state];
    const gbees_rgb color = gbees_colormap_density(0.62);

    gbees_panel_clip(figure, panel);
    gbees_region_fill(figure, panel, density, color);
    gbees_other_line(figure, panel, density, &(gbees_style){.color = color}, 1.7);
    gbees_sampled_histogram(figure, panel, last, state);
    cairo_restore(figure->cairo);
}

static int draw_cell(gbees_figure *figure, const gbees_gallery *gallery, const layout *l, int column, int row,
                     gbees_error *error)
{
    gbees_panel panel = place_panel(gallery, l, column, row);
    const int is_bottom = row + 1 == gallery->dimension, is_left = column == 0 && row > 0;
    char title_x[128], title_y[128];
    const gbees_shot *last = &gallery->shot[gallery->count - 1];
    int status = GBEES_OK;

    gbees_ticks_title(&panel.ticks[0], gallery->name[column], gallery->unit[column], title_x, sizeof title_x);
    gbees_ticks_title(&panel.ticks[1], gallery->name[row], gallery->unit[row], title_y, sizeof title_y);
    if (column == row)
        panel.ticks[1].count = 0; /* heights need no axis: the shape shows the marginal */
    gbees_panel_grid(figure, &panel);
    if (column == row)
        draw_diagonal(figure, &panel, gallery, row);
    else
        status = gbees_contour_draw(figure, &panel, gallery->pair[column][row], error);
    if (column != row)
        gbees_sampled_dots(figure, &panel, last, column, row);
    gbees_region_truth(figure, &panel, gallery, last, column, 0);
    if (column != row)
        gbees_region_truth(figure, &panel, gallery, last, row, 1);
    else
        gbees_region_title(figure, &panel, gallery, last, row, l->text_size);
    gbees_panel_frame(figure, &panel, l->text_size, is_bottom ? title_x : NULL, is_left ? title_y : NULL);
    return status;
}

int gbees_draw_corner(const gbees_gallery *gallery, const gbees_draw_options *options, gbees_figure **figure,
                      gbees_error *error)
{
    const int n = gallery->dimension;
    const gbees_shot *last = &gallery->shot[gallery->count - 1];
    layout l = {.left = 74, .top = 32, .gap = n <= 4 ? 14 : 9, .text_size = n <= 3 ? 14 : n <= 5 ? 12.5 : 11};
    gbees_label label = {.size = 17, .ax = 1, .bold = 1, .color = gbees_rgb_grey(0.1)};
    char time[64], text[192];
    const double right = 24, bottom = 64 + gbees_note_height(gallery), gaps = (n - 1) * l.gap;
    int status = gbees_draw_page(options, GBEES_PAGE_WIDTH - l.left - right + l.top + bottom, figure, error);

    if (status)
        return status;
    for (int pass = 0; pass < 2; pass++) { /* the panels' size, then the room for labels that depends on it */
        const double square = fmin((*figure)->width - l.left - right, (*figure)->height - l.top - bottom);

        l.side = fmax(10, (square - gaps) / n);
        for (int row = 1; row < n; row++) {
            const gbees_panel panel = place_panel(gallery, &l, 0, row);

            l.left = fmax(l.left, gbees_panel_left(*figure, &panel, l.text_size));
        }
    }
    for (int row = 0; row < n && !status; row++)
        for (int column = 0; column <= row && !status; column++)
            status = draw_cell(*figure, gallery, &l, column, row, error);
    if (status) {
        gbees_figure_destroy(*figure);
        return status;
    }
    label.x = GBEES_PAGE_WIDTH - right;
    label.y = l.top;
    gbees_ticks_time(last->time, last->time - gallery->shot[0].time, time, sizeof time);
    (void)snprintf(text, sizeof text, "%s, t = %s", gallery->model, time);
    gbees_figure_text(*figure, &label, text);
    label = (gbees_label){.x = l.left, .y = (*figure)->height - 10, .size = 13, .ay = 1};
    gbees_draw_note(*figure, gallery, gallery->count - 1, gallery->count - 1, &label,
                    GBEES_PAGE_WIDTH - right - l.left);
    label.x = GBEES_PAGE_WIDTH - right;
    if (n > 1) /* beside the first panel, nothing is drawn */
        gbees_contour_key(*figure, label.x - 330, l.top + 62, 312, 13);
    return GBEES_OK;
}
