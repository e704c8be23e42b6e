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

/* All records have one range, so that the motion of the density shows. */
static void set_ranges(const gbees_gallery *gallery, gbees_panel *panel)
{
    for (int d = 0; d < 2; d++) {
        panel->lo[d] = INFINITY;
        panel->hi[d] = -INFINITY;
        for (size_t k = 0; k < gallery->count; k++) {
            double lo, hi;

            if (!gallery->shot[k].pictured)
                continue;
            gbees_density_range(gallery->shot[k].joint, d, 0.004, &lo, &hi);
            panel->lo[d] = fmin(panel->lo[d], lo);
            panel->hi[d] = fmax(panel->hi[d], hi);
        }
    }
    for (int d = 0; d < 2; d++) {
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
        .x = panel->x + 12, .y = panel->y + 12, .size = 15, .bold = 1, .halo = 1, .color = gbees_rgb_grey(0.1)};
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
    const double top = 74, bottom = 56 + gbees_note_height(gallery), gap = 16;
    double width = (GBEES_PAGE_WIDTH - left - 24 - (columns - 1) * gap) / columns;
    double height = fmin(0.9 * width, 760);
    gbees_label title = {.x = left, .y = 22, .size = 17, .bold = 1, .color = gbees_rgb_grey(0.1)};
    int status = gbees_draw_page(options, top + bottom + rows * height + (rows - 1) * gap, figure, error);

    if (status)
        return status;
    height = fmax(20, ((*figure)->height - top - bottom - (rows - 1) * gap) / rows);
    {
        gbees_panel first = {.width = width, .height = height};

        set_ranges(gallery, &first);
        gbees_panel_ticks(&first, text_size);
        left = fmax(left, gbees_panel_left(*figure, &first, text_size));
        width = (GBEES_PAGE_WIDTH - left - 24 - (columns - 1) * gap) / columns;
        title.x = left;
    }
    for (size_t k = 0, shown = 0; k < gallery->count && !status; k++) {
        const int column = (int)shown % columns, row = (int)shown / columns;
        gbees_panel panel = {.x = left + column * (width + gap),
                             .y = top + row * (height + gap),
                             .width = width,
                             .height = height,
                             .overhang = 0.5 * gap};

        if (!gallery->shot[k].pictured)
            continue;
        set_ranges(gallery, &panel);
        status = draw_record(*figure, gallery, &gallery->shot[k], &panel, column == 0, (int)shown + columns >= count,
                             error);
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
