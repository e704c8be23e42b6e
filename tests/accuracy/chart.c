/* chart - draws curves from a text file: panels beside each other, each with series of points that lines connect.
 *
 * Lines of the file have parts that are separated by tabs:
 *     panel  TITLE  TITLE-OF-X  linear|log  TITLE-OF-Y  linear|log
 *     SERIES  X  Y [LABEL]           a point of the panel above
 *     note  TEXT                     below the legend
 * A series has one colour in all panels. Points that an axis can't show (not a number; not positive on a logarithmic
 * one) are left out. */
#include "decades.h"
#include <cairo.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_POINTS = 4096, MAX_SERIES = 16, MAX_PANELS = 12, MAX_PARTS = 6, PANELS_ACROSS = 3 };

typedef struct point {
    int panel, series;
    double at[2]; /* decimal logarithms on logarithmic axes */
    char label[24];
} point;

typedef struct chart {
    struct {
        char title[96], axis[2][64];
        int is_log[2];
    } panel[MAX_PANELS];
    char series[MAX_SERIES][48], note[256];
    point point[MAX_POINTS];
    int panels, series_count, count;
} chart;

/* ---- reading ---------------------------------------------------------------------------------------------- */

static int series_find(chart *of, const char *name)
{
    int k = 0;

    while (k < of->series_count && strcmp(of->series[k], name) != 0)
        k++;
    if (k == of->series_count && k < MAX_SERIES)
        (void)snprintf(of->series[of->series_count++], sizeof of->series[0], "%s", name);
    return k;
}

static int panel_add(chart *of, char *const *part)
{
    if (of->panels == MAX_PANELS)
        return 0;
    (void)snprintf(of->panel[of->panels].title, sizeof of->panel[0].title, "%s", part[1]);
    for (int axis = 0; axis < 2; axis++) {
        (void)snprintf(of->panel[of->panels].axis[axis], sizeof of->panel[0].axis[0], "%s", part[2 + 2 * axis]);
        of->panel[of->panels].is_log[axis] = strcmp(part[3 + 2 * axis], "log") == 0;
    }
    of->panels++;
    return 1;
}

/* A point that can't be shown is no error. */
static int point_add(chart *of, char *const *part, int parts)
{
    point new = {.panel = of->panels - 1};

    if (of->panels == 0 || of->count == MAX_POINTS || (new.series = series_find(of, part[0])) == MAX_SERIES)
        return 0;
    for (int axis = 0; axis < 2; axis++) {
        char *end;

        new.at[axis] = strtod(part[1 + axis], &end);
        if (end == part[1 + axis])
            return 1;
        if (of->panel[new.panel].is_log[axis])
            new.at[axis] = log10(new.at[axis]);
        if (!isfinite(new.at[axis]))
            return 1;
    }
    if (parts > 3)
        (void)snprintf(new.label, sizeof new.label, "%s", part[3]);
    of->point[of->count++] = new;
    return 1;
}

static int line_read(chart *of, char *line)
{
    char *part[MAX_PARTS], *rest = line;
    int parts = 0;

    line[strcspn(line, "\n")] = 0;
    while (parts < MAX_PARTS && rest)
        part[parts++] = strsep(&rest, "\t");
    if (parts == 6 && strcmp(part[0], "panel") == 0)
        return panel_add(of, part);
    if (parts == 2 && strcmp(part[0], "note") == 0)
        return snprintf(of->note, sizeof of->note, "%s", part[1]) > 0;
    return parts >= 3 && point_add(of, part, parts);
}

static int chart_read(const char *path, chart *of, gbees_error *error)
{
    FILE *file = fopen(path, "r");
    char line[1024];
    int status = GBEES_OK;

    if (!file)
        return gbees_error_set(error, GBEES_EIO, "%s: %s", path, strerror(errno));
    for (int number = 1; !status && fgets(line, sizeof line, file); number++) {
        if (!line_read(of, line))
            status = gbees_error_set(error, GBEES_EINPUT,
                                     "%s:%d: no panel, no point of one, or more than fit: see chart.c", path, number);
    }
    (void)fclose(file);
    if (!status && of->count == 0)
        status = gbees_error_set(error, GBEES_EINPUT, "%s: no points in it", path);
    return status;
}

/* ---- drawing ---------------------------------------------------------------------------------------------- */

static void panel_range(const chart *of, int number, gbees_panel *panel)
{
    for (int axis = 0; axis < 2; axis++) {
        const int is_log = of->panel[number].is_log[axis];
        double margin = 0.25;

        panel->lo[axis] = INFINITY;
        panel->hi[axis] = -INFINITY;
        for (int k = 0; k < of->count; k++) {
            if (of->point[k].panel != number)
                continue;
            panel->lo[axis] = fmin(panel->lo[axis], of->point[k].at[axis]);
            panel->hi[axis] = fmax(panel->hi[axis], of->point[k].at[axis]);
        }
        if (!(panel->lo[axis] <= panel->hi[axis])) /* a panel without points */
            panel->lo[axis] = panel->hi[axis] = 0;
        if (!is_log)
            margin = fmax(0.03 * (panel->hi[axis] - panel->lo[axis]), 1e-9);
        panel->lo[axis] -= margin;
        panel->hi[axis] += margin;
        if (is_log)
            gbees_decades_ticks(&panel->ticks[axis], panel->lo[axis], panel->hi[axis]);
        else
            gbees_ticks_make(&panel->ticks[axis], panel->lo[axis], panel->hi[axis], 6);
    }
}

static void draw_series(gbees_figure *figure, const gbees_panel *panel, const chart *of, int number, int series)
{
    const gbees_rgb color = gbees_decades_color(series);
    double last_x = NAN, last_y = NAN;

    for (int k = 0; k < of->count; k++) {
        const point *this = &of->point[k];
        const double x = gbees_panel_x(panel, this->at[0]), y = gbees_panel_y(panel, this->at[1]);
        const gbees_label label = {.x = x + 7, .y = y - 4, .size = 11, .ax = 0, .ay = 1, .color = color, .halo = 1};

        if (this->panel != number || this->series != series)
            continue;
        if (!isnan(last_x))
            gbees_figure_line(figure, last_x, last_y, x, y, 1.6, color);
        gbees_figure_color(figure, color, 1);
        cairo_arc(figure->cairo, x, y, this->label[0] ? 4 : 2, 0, 6.283185307179586);
        cairo_fill(figure->cairo);
        gbees_figure_text(figure, &label, this->label);
        last_x = x;
        last_y = y;
    }
}

static void draw_panel(gbees_figure *figure, const chart *of, int number, gbees_panel *panel)
{
    gbees_label label = {.x = panel->x + panel->width / 2,
                         .y = panel->y - 10,
                         .size = 15,
                         .ax = 0.5,
                         .ay = 1,
                         .color = gbees_rgb_grey(0.1),
                         .bold = 1};
    char title[2][96];

    panel_range(of, number, panel);
    gbees_panel_grid(figure, panel);
    for (int series = 0; series < of->series_count; series++)
        draw_series(figure, panel, of, number, series);
    for (int axis = 0; axis < 2; axis++)
        gbees_ticks_title(&panel->ticks[axis], of->panel[number].axis[axis], "", title[axis], sizeof title[axis]);
    gbees_panel_frame(figure, panel, 12, title[0], title[1]);
    gbees_figure_text(figure, &label, of->panel[number].title);
}

static void draw_legend(gbees_figure *figure, const chart *of, double y)
{
    gbees_label label = {.x = 80, .y = y, .size = 13, .ay = 0.5};

    for (int k = 0; k < of->series_count; k++) {
        const double width = gbees_figure_text_width(figure, label.size, 0, of->series[k]);

        if (label.x + 36 + width > GBEES_PAGE_WIDTH - 20) {
            label.x = 80;
            label.y += 20;
        }
        label.color = gbees_decades_color(k);
        gbees_figure_line(figure, label.x, label.y, label.x + 28, label.y, 2.5, label.color);
        label.x += 36;
        gbees_figure_text(figure, &label, of->series[k]);
        label.x += width + 32;
    }
    label.x = 80;
    label.y += 24;
    label.color = gbees_rgb_grey(0.3);
    gbees_figure_text(figure, &label, of->note);
}

static int draw(const chart *of, const char *path, gbees_error *error)
{
    const int columns = of->panels < PANELS_ACROSS ? of->panels : PANELS_ACROSS;
    const int lines = (of->panels + columns - 1) / columns;
    const double across = (GBEES_PAGE_WIDTH - 20.0) / columns, down = 420;
    gbees_figure *figure;
    int status = gbees_figure_create(lines * down + 86, 0, 0, &figure, error);

    if (status)
        return status;
    for (int k = 0; k < of->panels; k++) {
        gbees_panel panel = {.x = k % columns * across + 78,
                             .y = k / columns * down + 45.0,
                             .width = across - 90,
                             .height = down - 110};

        draw_panel(figure, of, k, &panel);
    }
    draw_legend(figure, of, lines * down + 15);
    status = gbees_figure_save(figure, path, error);
    gbees_figure_destroy(figure);
    return status;
}

int main(int argc, char **argv)
{
    chart *of = calloc(1, sizeof *of);
    gbees_error error;
    int status;

    if (argc != 3 || !of) {
        fprintf(stderr, of ? "Usage: chart CURVES.tsv PICTURE.png\n" : "chart: no memory\n");
        free(of);
        return 2;
    }
    status = chart_read(argv[1], of, &error);
    if (!status)
        status = draw(of, argv[2], &error);
    free(of);
    if (status)
        fprintf(stderr, "chart: %s\n", error.text);
    return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
