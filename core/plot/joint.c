/* joint.c - the figure of the joint density of two states: filled contours, a panel for each record. */
#include "contour.h"
#include "draw.h"
#include <math.h>
#include <stdio.h>

static const double text_size = 14;

static size_t count_pictured(const gbees_gallery *gallery)
{
    size_t count = 0;

    for (size_t k = 0; k < gallery->count; k++)
        count += gallery->shot[k].pictured != 0;
    return count;
}

/* The range of the densities of the shots first .. last along the axis d. */
static void find_range(const gbees_gallery *gallery, size_t first, size_t last, int d, double *lo, double *hi)
{
    *lo = INFINITY;
    *hi = -INFINITY;
    for (size_t k = first; k <= last; k++) {
        double a, b;

        if (!gallery->shot[k].pictured)
            continue;
        gbees_density_range(gallery->shot[k].joint, d, 0.004, &a, &b);
        *lo = fmin(*lo, a);
        *hi = fmax(*hi, b);
    }
}

/* Whether all records have one range, so that the motion of the density shows. */
static int is_shared(const gbees_gallery *gallery, int scale)
{
    for (int d = 0; d < 2 && scale == GBEES_SCALE_AUTO; d++) {
        double lo, hi, all_lo, all_hi;

        find_range(gallery, 0, gallery->count - 1, d, &all_lo, &all_hi);
        for (size_t k = 0; k < gallery->count; k++) {
            find_range(gallery, k, k, d, &lo, &hi);
            if (gallery->shot[k].pictured && !gbees_scale_is_ample(lo, hi, all_lo, all_hi))
                return 0;
        }
    }
    return scale != GBEES_SCALE_PANEL;
}

static void set_ranges(const gbees_gallery *gallery, size_t first, size_t last, gbees_panel *panel)
{
    for (int d = 0; d < 2; d++) {
        find_range(gallery, first, last, d, &panel->lo[d], &panel->hi[d]);
        if (gallery->frame) {
            panel->lo[d] = gallery->frame->lo[gallery->picture_axis[d]];
            panel->hi[d] = gallery->frame->hi[gallery->picture_axis[d]];
        }
        const double margin = 0.04 * (panel->hi[d] - panel->lo[d]);

        panel->lo[d] -= margin;
        panel->hi[d] += margin;
    }
}

static int draw_record(gbees_figure *figure, const gbees_gallery *gallery, const gbees_shot *shot, gbees_panel *panel,
                       int is_left, int is_bottom, gbees_error *error)
{
    const double range = gallery->shot[gallery->count - 1].time - gallery->shot[0].time;
    gbees_label label = {
        .x = panel->x, .y = panel->y - 8, .size = 14, .ay = 1, .bold = 1, .color = gbees_rgb_grey(0.1)};
    char title[2][128], time[64], text[96];
    int status;

    gbees_panel_ticks(panel, text_size);
    for (int d = 0; d < 2; d++) {
        const int axis = gallery->picture_axis[d];

        gbees_ticks_title(&panel->ticks[d], gallery->name[axis], gallery->unit[axis], title[d], sizeof title[d]);
    }
    gbees_panel_grid(figure, panel);
    status = gbees_contour_draw(figure, panel, shot->joint, error);
    gbees_panel_frame(figure, panel, text_size, is_bottom ? title[0] : NULL, is_left ? title[1] : NULL);
    gbees_ticks_time(shot->time, range, time, sizeof time);
    (void)snprintf(text, sizeof text, "t = %s%s", time, shot->leg > 0 && shot->number == 0 ? " (measured)" : "");
    gbees_figure_text(figure, &label, text);
    return status;
}

static int choose_columns(int count)
{
    if (count <= 3)
        return count > 0 ? count : 1;
    return count <= 4 ? 2 : count <= 9 ? 3 : 4;
}

int gbees_draw_density(const gbees_gallery *gallery, const gbees_draw_options *options, gbees_figure **figure,
                       gbees_error *error)
{
    const int count = (int)count_pictured(gallery), columns = choose_columns(count);
    const int rows = (count + columns - 1) / columns;
    double left = 84;
    const int shared = is_shared(gallery, options->scale);
    const double top = 100, bottom = 56 + gbees_note_height(gallery), head = shared ? 36 : 84;
    double gap = 16;
    double width = (GBEES_PAGE_WIDTH - left - 24 - (columns - 1) * gap) / columns;
    double height = fmin(0.9 * width, 760);
    gbees_label title = {.x = left, .y = 22, .size = 17, .bold = 1, .color = gbees_rgb_grey(0.1)};
    int status = gbees_draw_page(options, top + bottom + rows * height + (rows - 1) * head, figure, error);

    if (status)
        return status;
    height = fmax(20, ((*figure)->height - top - bottom - (rows - 1) * head) / rows);
    {
        gbees_panel first = {.width = width, .height = height};

        set_ranges(gallery, 0, gallery->count - 1, &first);
        gbees_panel_ticks(&first, text_size);
        left = fmax(left, gbees_panel_left(*figure, &first, text_size));
        gap = shared ? gap : left;
        width = (GBEES_PAGE_WIDTH - left - 24 - (columns - 1) * gap) / columns;
        title.x = left;
    }
    for (size_t k = 0, shown = 0; k < gallery->count && !status; k++) {
        const int column = (int)shown % columns, row = (int)shown / columns;
        gbees_panel panel = {.x = left + column * (width + gap),
                             .y = top + row * (height + head),
                             .width = width,
                             .height = height,
                             .overhang = 0.5 * gap};

        if (!gallery->shot[k].pictured)
            continue;
        set_ranges(gallery, shared ? 0 : k, shared ? gallery->count - 1 : k, &panel);
        status = draw_record(*figure, gallery, &gallery->shot[k], &panel, !shared || column == 0,
                             !shared || (int)shown + columns >= count, error);
        shown++;
    }
    if (status) {
        gbees_figure_destroy(*figure);
        return status;
    }
    gbees_figure_text(*figure, &title, gallery->model);
    title = (gbees_label){.x = left, .y = (*figure)->height - 10, .size = text_size, .ay = 1};
    gbees_draw_note(*figure, gallery, 0, gallery->count - 1, &title, GBEES_PAGE_WIDTH - 24 - left);
    gbees_contour_key(*figure, GBEES_PAGE_WIDTH - 24 - 330, 26, 330, 12);
    return GBEES_OK;
}
