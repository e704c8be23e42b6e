/* draw - pictures of what tests/bench measures, from its JSON: a roofline of bench.json, time a cell of cost.json. */
#include "accuracy/decades.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_POINTS = 512, MAX_SERIES = 32, MAX_ROOFS = 8 };

typedef struct point {
    double x, y, lo, hi; /* lo and hi: of y */
    int series;
} point;

/* What can be had at most: y = slope x, and y = top. */
typedef struct roof {
    char label[96];
    double slope, top;
} roof;

typedef struct chart {
    char title[96];
    point point[MAX_POINTS];
    int count;
    char series[MAX_SERIES][96];
    int series_count;
    roof roof[MAX_ROOFS];
    int roof_count;
    int connected;
} chart;

/* ---- reading ---------------------------------------------------------------------------------------------- */

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static const char *word(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "?";
}

static int series_find(chart *of, const char *name)
{
    int k = 0;

    while (k < of->series_count && strcmp(of->series[k], name) != 0)
        k++;
    if (k == of->series_count && k < MAX_SERIES)
        (void)snprintf(of->series[of->series_count++], sizeof of->series[0], "%s", name);
    return k;
}

static void point_add(chart *of, const char *series, point new)
{
    new.series = series_find(of, series);
    if (new.x > 0 && new.y > 0 && new.lo > 0 && of->count < MAX_POINTS &&new.series < MAX_SERIES)
        of->point[of->count++] = new;
}

static void roof_add(chart *of, const char *label, const char *precision, double slope, double top)
{
    roof new = {.slope = slope, .top = top};

    if (of->roof_count == MAX_ROOFS || !(slope > 0) || !(top > 0))
        return;
    (void)snprintf(new.label, sizeof new.label, "%.64s%s", label, precision);
    of->roof[of->roof_count++] = new;
}

static int on_gpu(const json_t *run)
{
    return strcmp(word(run, "backend"), "cpu") != 0;
}

static int is_long(const json_t *run)
{
    return strcmp(word(run, "shape"), "long") == 0;
}

/* Operations a second over operations a byte; a series is a case on so many threads. */
static void read_roofline(const json_t *root, int gpu, chart *of)
{
    const json_t *list = json_object_get(json_object_get(root, "top"), gpu ? "gpus" : "ceilings"), *each;
    char name[96];
    size_t i;

    (void)snprintf(of->title, sizeof of->title, "%s",
                   gpu ? "GPU" : word(json_object_get(root, "machine"), "processor"));
    json_array_foreach(list, i, each)
    {
        const double slope = number(each, gpu ? "copy_bytes_per_s" : "in_place_bytes_per_s");

        if (gpu)
            (void)snprintf(name, sizeof name, "GPU");
        else
            (void)snprintf(name, sizeof name, "%.0f thread(s)", number(each, "threads"));
        roof_add(of, name, ", float", slope, number(each, "float_operations_per_s"));
        roof_add(of, name, ", double", slope, number(each, "double_operations_per_s"));
    }
    json_array_foreach(json_object_get(root, "runs"), i, each)
    {
        const double y = number(each, "operations_per_s"), median = number(each, "median_s");

        if (on_gpu(each) != gpu)
            continue;
        if (gpu)
            (void)snprintf(name, sizeof name, "%s, %s", word(each, "case"), word(each, "precision"));
        else
            (void)snprintf(name, sizeof name, "%s, %s, %.0f", word(each, "case"), word(each, "precision"),
                           number(each, "threads"));
        point_add(of, name,
                  (point){number(each, "operations_per_byte"), y, y * median / number(each, "most_s"),
                          y * median / number(each, "least_s"), 0});
    }
}

/* Nanoseconds a needed cell over needed cells, of balls or of what is drawn out; a series is a number of dimensions.
 */
static void read_cost(const json_t *root, int gpu, int drawn, chart *of)
{
    const json_t *each;
    char name[96];
    size_t i;

    of->connected = 1;
    json_array_foreach(json_object_get(root, "runs"), i, each)
    {
        const double work = number(each, "cell_updates") * 1e-9;

        if (on_gpu(each) != gpu || is_long(each) != drawn)
            continue;
        if (gpu)
            (void)snprintf(name, sizeof name, "GPU");
        else
            (void)snprintf(name, sizeof name, "CPU, %.0f thread(s)", number(each, "threads"));
        (void)snprintf(of->title, sizeof of->title, "%.40s, %s", name,
                       drawn ? "drawn out: at the surface is always the same part"
                             : "balls: the larger, the less is at the surface");
        (void)snprintf(name, sizeof name, "n = %.0f", number(each, "dimension"));
        point_add(of, name,
                  (point){number(each, "cells"), number(each, "median_s") / work, number(each, "least_s") / work,
                          number(each, "most_s") / work, 0});
    }
}

/* ---- drawing ---------------------------------------------------------------------------------------------- */

static void include(gbees_panel *panel, int axis, double value)
{
    panel->lo[axis] = fmin(panel->lo[axis], log10(value) - 0.15);
    panel->hi[axis] = fmax(panel->hi[axis], log10(value) + 0.15);
}

static void panel_range(const chart *of, gbees_panel *panel)
{
    for (int axis = 0; axis < 2; axis++) {
        panel->lo[axis] = INFINITY;
        panel->hi[axis] = -INFINITY;
    }
    for (int k = 0; k < of->count; k++) {
        include(panel, 0, of->point[k].x);
        include(panel, 1, of->point[k].lo);
        include(panel, 1, of->point[k].hi);
    }
    for (int k = 0; k < of->roof_count; k++) {
        include(panel, 0, of->roof[k].top / of->roof[k].slope);
        include(panel, 1, of->roof[k].top);
    }
    for (int axis = 0; axis < 2; axis++)
        gbees_decades_ticks(&panel->ticks[axis], panel->lo[axis], panel->hi[axis]);
}

static void draw_roofs(gbees_figure *figure, const chart *of, const gbees_panel *panel)
{
    for (int k = 0; k < of->roof_count; k++) {
        const roof *this = &of->roof[k];
        const gbees_rgb grey = gbees_rgb_grey(0.35);
        const double ridge = log10(this->top / this->slope), top = gbees_panel_y(panel, log10(this->top));
        const double right = gbees_panel_x(panel, panel->hi[0]);
        const gbees_label label = {.x = right - 6, .y = top - 4, .size = 11, .ax = 1, .ay = 1, .color = grey};

        gbees_figure_line(figure, gbees_panel_x(panel, panel->lo[0]),
                          gbees_panel_y(panel, log10(this->slope) + panel->lo[0]), gbees_panel_x(panel, ridge), top,
                          1.6, grey);
        gbees_figure_line(figure, gbees_panel_x(panel, ridge), top, right, top, 1.6, grey);
        gbees_figure_text(figure, &label, this->label);
    }
}

static void draw_points(gbees_figure *figure, const chart *of, const gbees_panel *panel)
{
    double last_x[MAX_SERIES] = {0}, last_y[MAX_SERIES] = {0};

    for (int k = 0; k < of->count; k++) {
        const point *this = &of->point[k];
        const gbees_rgb color = gbees_decades_color(this->series);
        const double x = gbees_panel_x(panel, log10(this->x)), y = gbees_panel_y(panel, log10(this->y));

        if (of->connected && last_x[this->series] > 0)
            gbees_figure_line(figure, last_x[this->series], last_y[this->series], x, y, 1.6, color);
        gbees_figure_line(figure, x, gbees_panel_y(panel, log10(this->lo)), x, gbees_panel_y(panel, log10(this->hi)),
                          1.2, color);
        gbees_figure_color(figure, color, 1);
        cairo_arc(figure->cairo, x, y, 4, 0, 6.283185307179586);
        cairo_fill(figure->cairo);
        last_x[this->series] = x;
        last_y[this->series] = y;
    }
}

static void draw_legend(gbees_figure *figure, const chart *of, const gbees_panel *panel)
{
    gbees_label label = {.x = panel->x + panel->width + 14, .y = panel->y + 8, .size = 12, .ay = 0.5};

    for (int k = 0; k < of->series_count; k++) {
        label.color = gbees_decades_color(k);
        gbees_figure_color(figure, label.color, 1);
        cairo_arc(figure->cairo, label.x, label.y, 4, 0, 6.283185307179586);
        cairo_fill(figure->cairo);
        label.x += 10;
        gbees_figure_text(figure, &label, of->series[k]);
        label.x -= 10;
        label.y += 18;
    }
}

static void draw_chart(gbees_figure *figure, const chart *of, gbees_panel *panel, const char *const title[2])
{
    const gbees_label label = {.x = panel->x + panel->width / 2,
                               .y = panel->y - 10,
                               .size = 15,
                               .ax = 0.5,
                               .ay = 1,
                               .color = gbees_rgb_grey(0.1),
                               .bold = 1};

    panel_range(of, panel);
    gbees_panel_grid(figure, panel);
    gbees_panel_clip(figure, panel);
    draw_roofs(figure, of, panel);
    draw_points(figure, of, panel);
    cairo_restore(figure->cairo);
    gbees_panel_frame(figure, panel, 12, title[0], title[1]);
    gbees_figure_text(figure, &label, of->title);
    draw_legend(figure, of, panel);
}

/* One above the other: what ran on the CPU, and what on a GPU; of cost what is drawn out, then balls. */
static int draw(const json_t *root, const char *path, gbees_error *error)
{
    static const char *const titles[2][2] = {{"operations a byte", "operations a second"},
                                             {"needed cells", "nanoseconds a needed cell and step"}};
    const int cost = strcmp(word(root, "kind"), "cost") == 0;
    const double down = 560;
    gbees_figure *figure = NULL;
    chart *list = calloc(4, sizeof *list);
    int count = 0, status;

    if (!list)
        return gbees_error_set(error, GBEES_ENOMEM, "no memory");
    for (int k = 0; k < (cost ? 4 : 2); k++) {
        memset(&list[count], 0, sizeof *list);
        if (cost)
            read_cost(root, k % 2, k < 2, &list[count]);
        else
            read_roofline(root, k % 2, &list[count]);
        count += list[count].count > 0;
    }
    status = count ? gbees_figure_create(count * down, 0, 0, &figure, error)
                   : gbees_error_set(error, GBEES_EINPUT, "no runs of tests/bench/run or tests/bench/cost in it");
    for (int k = 0; k < count && !status; k++) {
        gbees_panel panel = {.x = 90, .y = k * down + 45, .width = 820, .height = down - 110};

        draw_chart(figure, &list[k], &panel, titles[cost]);
    }
    if (!status)
        status = gbees_figure_save(figure, path, error);
    gbees_figure_destroy(figure);
    free(list);
    return status;
}

int main(int argc, char **argv)
{
    gbees_error error;
    json_error_t reason;
    json_t *root;
    int status;

    if (argc != 3) {
        fprintf(stderr, "Usage: draw bench.json|cost.json PICTURE.png\n");
        return 2;
    }
    if (!(root = json_load_file(argv[1], 0, &reason))) {
        fprintf(stderr, "draw: %s: %s\n", argv[1], reason.text);
        return EXIT_FAILURE;
    }
    status = draw(root, argv[2], &error);
    json_decref(root);
    if (status)
        fprintf(stderr, "draw: %s: %s\n", argv[1], error.text);
    return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
