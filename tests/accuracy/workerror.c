/* workerror - draws the error of the mean against the time that a run took, from the rows of `accuracy --row`. */
#include "decades.h"
#include <cairo.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 256, MAX_NAMES = 16, PANELS_ACROSS = 3 };

typedef struct row {
    char scheme[32], model[64];
    double t, eta, seconds, error;
} row;

typedef struct table {
    row row[MAX_ROWS];
    int count;
    char scheme[MAX_NAMES][32];
    int schemes;
    int first[MAX_NAMES]; /* the first row of each panel: of a model at a time */
    int panels;
} table;

/* ---- reading ---------------------------------------------------------------------------------------------- */

static int same_panel(const row *a, const row *b)
{
    return strcmp(a->model, b->model) == 0 && fabs(a->t - b->t) < 1e-9 * (1 + fabs(a->t));
}

static int scheme_find(table *rows, const char *name)
{
    int k = 0;

    while (k < rows->schemes && strcmp(rows->scheme[k], name) != 0)
        k++;
    if (k == rows->schemes && k < MAX_NAMES) {
        (void)snprintf(rows->scheme[k], sizeof rows->scheme[k], "%s", name);
        rows->schemes++;
    }
    return k;
}

static void table_add(table *rows, const row *new)
{
    int k = 0;

    while (k < rows->panels && !same_panel(&rows->row[rows->first[k]], new))
        k++;
    if (rows->count == MAX_ROWS || k == MAX_NAMES || scheme_find(rows, new->scheme) == MAX_NAMES)
        return;
    if (k == rows->panels)
        rows->first[rows->panels++] = rows->count;
    rows->row[rows->count++] = *new;
}

static int table_read(FILE *file, table *rows)
{
    char line[1024];

    while (fgets(line, sizeof line, file)) {
        row new = {.t = 0};

        /* scheme model t eta threshold steps updates cells seconds threads e_m ...; the head does not fit */
        if (sscanf(line, "%31[^\t]\t%63[^\t]\t%lf\t%lf\t%*f\t%*f\t%*f\t%*f\t%lf\t%*d\t%lf", new.scheme, new.model,
                   &new.t, &new.eta, &new.seconds, &new.error) == 6 &&
            new.seconds > 0 && new.error > 0)
            table_add(rows, &new);
    }
    return rows->count;
}

/* ---- drawing: both axes are decimal logarithms ------------------------------------------------------------ */

static void panel_range(const table *rows, const row *first, gbees_panel *panel)
{
    for (int axis = 0; axis < 2; axis++) {
        panel->lo[axis] = INFINITY;
        panel->hi[axis] = -INFINITY;
    }
    for (int k = 0; k < rows->count; k++) {
        const double at[2] = {log10(rows->row[k].seconds), log10(rows->row[k].error)};

        for (int axis = 0; axis < 2 && same_panel(&rows->row[k], first); axis++) {
            panel->lo[axis] = fmin(panel->lo[axis], at[axis] - 0.25);
            panel->hi[axis] = fmax(panel->hi[axis], at[axis] + 0.25);
        }
    }
    for (int axis = 0; axis < 2; axis++)
        gbees_decades_ticks(&panel->ticks[axis], panel->lo[axis], panel->hi[axis]);
}

static void draw_points(gbees_figure *figure, const gbees_panel *panel, const table *rows, const row *first,
                        int scheme)
{
    const gbees_rgb color = gbees_decades_color(scheme);
    double last_x = NAN, last_y = NAN;

    for (int k = 0; k < rows->count; k++) {
        const row *this = &rows->row[k];
        const double x = gbees_panel_x(panel, log10(this->seconds)), y = gbees_panel_y(panel, log10(this->error));
        gbees_label label = {.x = x + 7, .y = y - 4, .size = 11, .ax = 0, .ay = 1, .color = color, .halo = 1};
        char text[32];

        if (!same_panel(this, first) || strcmp(this->scheme, rows->scheme[scheme]) != 0)
            continue;
        if (!isnan(last_x))
            gbees_figure_line(figure, last_x, last_y, x, y, 1.6, color);
        gbees_figure_color(figure, color, 1);
        cairo_arc(figure->cairo, x, y, 4, 0, 6.283185307179586);
        cairo_fill(figure->cairo);
        (void)snprintf(text, sizeof text, "%.3g", this->eta);
        gbees_figure_text(figure, &label, text);
        last_x = x;
        last_y = y;
    }
}

static void draw_panel(gbees_figure *figure, const table *rows, int number, gbees_panel *panel)
{
    const row *first = &rows->row[rows->first[number]];
    gbees_label label = {.x = panel->x + panel->width / 2,
                         .y = panel->y - 10,
                         .size = 15,
                         .ax = 0.5,
                         .ay = 1,
                         .color = gbees_rgb_grey(0.1),
                         .bold = 1};
    char text[128];

    panel_range(rows, first, panel);
    gbees_panel_grid(figure, panel);
    for (int scheme = 0; scheme < rows->schemes; scheme++)
        draw_points(figure, panel, rows, first, scheme);
    gbees_panel_frame(figure, panel, 12, "time to propagate (s)", number % PANELS_ACROSS ? "" : "error of the mean");
    (void)snprintf(text, sizeof text, "%s, t = %.4g", first->model, first->t);
    gbees_figure_text(figure, &label, text);
}

static void draw_legend(gbees_figure *figure, const table *rows, double y)
{
    gbees_label label = {.x = 80, .y = y, .size = 13, .ay = 0.5};

    for (int k = 0; k < rows->schemes; k++) {
        label.color = gbees_decades_color(k);
        gbees_figure_line(figure, label.x, y, label.x + 28, y, 2.5, label.color);
        label.x += 36;
        gbees_figure_text(figure, &label, rows->scheme[k]);
        label.x += gbees_figure_text_width(figure, label.size, 0, rows->scheme[k]) + 32;
    }
    label.x = 80;
    label.y += 26;
    label.color = gbees_rgb_grey(0.3);
    gbees_figure_text(figure, &label,
                      "Numbers: width of a cell over half a standard deviation of the initial density");
}

static int draw(const table *rows, const char *path, gbees_error *error)
{
    const int lines = (rows->panels + PANELS_ACROSS - 1) / PANELS_ACROSS;
    const double across = (GBEES_PAGE_WIDTH - 20.0) / PANELS_ACROSS, down = 420;
    gbees_figure *figure;
    int status = gbees_figure_create(lines * down + 66, 0, 0, &figure, error);

    if (status)
        return status;
    for (int k = 0; k < rows->panels; k++) {
        gbees_panel panel = {.x = k % PANELS_ACROSS * across + 78,
                             .y = k / PANELS_ACROSS * down + 45.0,
                             .width = across - 90,
                             .height = down - 110};

        draw_panel(figure, rows, k, &panel);
    }
    draw_legend(figure, rows, lines * down + 15);
    status = gbees_figure_save(figure, path, error);
    gbees_figure_destroy(figure);
    return status;
}

int main(int argc, char **argv)
{
    gbees_error error;
    table *rows;
    FILE *file;
    int count, status;

    if (argc != 3) {
        fprintf(stderr, "Usage: workerror ROWS PICTURE.png\n");
        return 2;
    }
    if (!(file = fopen(argv[1], "r")) || !(rows = calloc(1, sizeof *rows))) {
        fprintf(stderr, "workerror: can't read %s: %s\n", argv[1], strerror(errno));
        return EXIT_FAILURE;
    }
    count = table_read(file, rows);
    (void)fclose(file);
    status = count ? draw(rows, argv[2], &error)
                   : gbees_error_set(&error, GBEES_EINPUT, "%s: no rows of 'accuracy --row' in it", argv[1]);
    if (status)
        fprintf(stderr, "workerror: %s\n", error.text);
    free(rows);
    return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
