/* box.c - scales the scene to the figure, chooses ticks, and draws the faces behind the scene and the labels in
 * front of it. */
#include "box.h"
#include <math.h>
#include <string.h>

typedef struct place {
    double x, y;
} place;

static place project(const gbees_camera *camera, const double position[3])
{
    double depth;
    place p;

    gbees_camera_project(camera, position, &p.x, &p.y, &depth);
    return p;
}

static int same_unit(const char *a, const char *b)
{
    return strcmp(*a ? a : "-", *b ? b : "-") == 0;
}

static void set_stretch(const gbees_box *box, gbees_camera *camera)
{
    double longest = 0, shortest = INFINITY;

    for (int d = 0; d < 3; d++) {
        longest = fmax(longest, box->hi[d] - box->lo[d]);
        shortest = fmin(shortest, box->hi[d] - box->lo[d]);
    }
    for (int d = 0; d < 3; d++) {
        const int is_true =
            same_unit(box->unit[0], box->unit[1]) && same_unit(box->unit[1], box->unit[2]) && longest < 4 * shortest;

        camera->stretch[d] = 1 / (is_true ? longest : box->hi[d] - box->lo[d]);
        camera->center[d] = 0.5 * (box->lo[d] + box->hi[d]);
    }
}

/* A guess, in text sizes, of the widest tick label along an axis. */
static double label_width(const gbees_box *box, int d)
{
    gbees_ticks ticks;
    size_t longest = 0;

    gbees_ticks_make(&ticks, box->lo[d], box->hi[d], 7);
    for (int k = 0; k < ticks.count; k++)
        longest = strlen(ticks.text[k]) > longest ? strlen(ticks.text[k]) : longest;
    return 0.55 * (double)longest;
}

void gbees_box_fit(const gbees_box *box, gbees_camera *camera, const double rectangle[4])
{
    const double text_size = box->text_size;
    const double margin_left = (3.1 + label_width(box, 2)) * text_size, margin_right = 1.6 * text_size,
                 margin_low = 3.7 * text_size, margin_high = 0.8 * text_size;
    double x[2] = {INFINITY, -INFINITY}, y[2] = {INFINITY, -INFINITY};
    double width, height;

    set_stretch(box, camera);
    camera->zoom = 1;
    camera->x = camera->y = 0;
    for (int k = 0; k < 8; k++) {
        const double corner[3] = {k & 1 ? box->hi[0] : box->lo[0], k & 2 ? box->hi[1] : box->lo[1],
                                  k & 4 ? box->hi[2] : box->lo[2]};
        const place p = project(camera, corner);

        x[0] = fmin(x[0], p.x);
        x[1] = fmax(x[1], p.x);
        y[0] = fmin(y[0], p.y);
        y[1] = fmax(y[1], p.y);
    }
    width = fmax(20, rectangle[2] - margin_left - margin_right);
    height = fmax(20, rectangle[3] - margin_low - margin_high);
    camera->zoom = fmin(width / (x[1] - x[0]), height / (y[1] - y[0]));
    camera->x = rectangle[0] + margin_left + 0.5 * width - 0.5 * camera->zoom * (x[0] + x[1]);
    camera->y = rectangle[1] + margin_high + 0.5 * height - 0.5 * camera->zoom * (y[0] + y[1]);
}

/* The side of the box along axis d that is in front (is_front = 1) or behind. */
static double side(const gbees_box *box, const gbees_camera *camera, int d, int is_front)
{
    return (camera->eye[d] > 0) == is_front ? box->hi[d] : box->lo[d];
}

static void line(gbees_figure *figure, const gbees_camera *camera, const double from[3], const double to[3],
                 double width, gbees_rgb color)
{
    const place a = project(camera, from), b = project(camera, to);

    gbees_figure_line(figure, a.x, a.y, b.x, b.y, width, color);
}

/* Whether neighbouring labels would touch, by a guess of their widths. */
static int is_crowded(const gbees_ticks *ticks, double across, double down, double size)
{
    double widest = 0;

    for (int k = 0; k < ticks->count; k++)
        widest = fmax(widest, 0.62 * size * (double)strlen(ticks->text[k]));
    return fabs(across) < widest && fabs(down) < 1.2 * size;
}

/* As many as the length on the page has room for. */
static void make_ticks(const gbees_box *box, const gbees_camera *camera, int d, gbees_ticks *ticks)
{
    double from[3] = {box->lo[0], box->lo[1], box->lo[2]}, to[3] = {box->lo[0], box->lo[1], box->lo[2]};
    place a, b;

    *ticks = (gbees_ticks){0};
    to[d] = box->hi[d];
    a = project(camera, from);
    b = project(camera, to);
    for (int most = (int)fmin(7, hypot(b.x - a.x, b.y - a.y) / (2 * box->text_size)); most >= 2; most--) {
        double part;

        gbees_ticks_make(ticks, box->lo[d], box->hi[d], most);
        if (ticks->count < 2)
            return;
        part = (ticks->value[1] - ticks->value[0]) / (box->hi[d] - box->lo[d]);
        if (!is_crowded(ticks, part * (b.x - a.x), part * (b.y - a.y), box->text_size))
            return;
    }
}

static void draw_face(gbees_figure *figure, const gbees_box *box, const gbees_camera *camera, int normal)
{
    const int u = (normal + 1) % 3, v = (normal + 2) % 3;
    double corner[3];

    for (int k = 0; k < 4; k++) {
        place p;

        corner[normal] = side(box, camera, normal, 0);
        corner[u] = k == 0 || k == 3 ? box->lo[u] : box->hi[u];
        corner[v] = k < 2 ? box->lo[v] : box->hi[v];
        p = project(camera, corner);
        cairo_line_to(figure->cairo, p.x, p.y);
    }
    cairo_close_path(figure->cairo);
    gbees_figure_color(figure, gbees_rgb_grey(normal == 2 ? 0.965 : normal == 1 ? 0.985 : 0.975), 1);
    cairo_fill_preserve(figure->cairo);
    gbees_figure_stroke(figure, 0.8, gbees_rgb_grey(0.72));
}

static void draw_face_grid(gbees_figure *figure, const gbees_box *box, const gbees_camera *camera, int normal)
{
    for (int turn = 1; turn <= 2; turn++) {
        const int d = (normal + turn) % 3, other = (normal + 3 - turn) % 3;
        gbees_ticks ticks;

        make_ticks(box, camera, d, &ticks);
        for (int k = 0; k < ticks.count; k++) {
            double from[3], to[3];

            from[normal] = to[normal] = side(box, camera, normal, 0);
            from[d] = to[d] = ticks.value[k];
            from[other] = box->lo[other];
            to[other] = box->hi[other];
            line(figure, camera, from, to, 0.6, gbees_rgb_grey(0.86));
        }
    }
}

void gbees_box_back(gbees_figure *figure, const gbees_box *box, const gbees_camera *camera)
{
    for (int d = 0; d < 3; d++) {
        draw_face(figure, box, camera, d);
        draw_face_grid(figure, box, camera, d);
    }
}

/* The edge along axis d that carries its labels: at the bottom in front, or, for the vertical axis, at the left. */
static void choose_edge(const gbees_box *box, const gbees_camera *camera, int d, double from[3], double to[3])
{
    if (d < 2) {
        from[1 - d] = side(box, camera, 1 - d, 1);
        from[2] = box->lo[2];
    } else {
        double other[3] = {side(box, camera, 0, 0), side(box, camera, 1, 1), box->lo[2]};

        from[0] = side(box, camera, 0, 1);
        from[1] = side(box, camera, 1, 0);
        from[2] = box->lo[2];
        if (project(camera, other).x < project(camera, from).x)
            memcpy(from, other, sizeof other);
    }
    memcpy(to, from, 3 * sizeof *to);
    from[d] = box->lo[d];
    to[d] = box->hi[d];
}

/* The unit vector across the edge a-b on the page that leads away from the centre of the box. */
static place away(const gbees_camera *camera, place a, place b)
{
    const double length = hypot(b.x - a.x, b.y - a.y);
    place n = {-(b.y - a.y) / length, (b.x - a.x) / length};

    if (n.x * (0.5 * (a.x + b.x) - camera->x) + n.y * (0.5 * (a.y + b.y) - camera->y) < 0)
        n = (place){-n.x, -n.y};
    return n;
}

static void draw_axis(gbees_figure *figure, const gbees_box *box, const gbees_camera *camera, int d)
{
    const double size = box->text_size;
    gbees_label label = {.size = size, .color = gbees_rgb_grey(0.15)};
    double from[3], to[3], widest = 0, reach;
    gbees_ticks ticks;
    char title[128];
    place a, b, out;

    make_ticks(box, camera, d, &ticks);
    choose_edge(box, camera, d, from, to);
    a = project(camera, from);
    b = project(camera, to);
    if (hypot(b.x - a.x, b.y - a.y) < 30)
        return;
    line(figure, camera, from, to, 1.0, gbees_rgb_grey(0.3));
    out = away(camera, a, b);
    label.ax = 0.5 - 0.5 * out.x;
    label.ay = 0.5 - 0.5 * out.y;
    for (int k = 0; k < ticks.count; k++) {
        double at[3] = {from[0], from[1], from[2]};
        place p;

        at[d] = ticks.value[k];
        p = project(camera, at);
        gbees_figure_line(figure, p.x, p.y, p.x + 4 * out.x, p.y + 4 * out.y, 1.0, gbees_rgb_grey(0.3));
        label.x = p.x + 0.75 * size * out.x;
        label.y = p.y + 0.75 * size * out.y;
        gbees_figure_text(figure, &label, ticks.text[k]);
        widest = fmax(widest, gbees_figure_text_width(figure, size, 0, ticks.text[k]));
    }
    reach = 1.35 * size + widest * fabs(out.x) + size * fabs(out.y);
    gbees_ticks_title(&ticks, box->name[d], box->unit[d], title, sizeof title);
    label.x = 0.5 * (a.x + b.x) + reach * out.x;
    label.y = 0.5 * (a.y + b.y) + reach * out.y;
    label.size = 1.15 * size;
    if (d == 2 && fabs(out.x) > 0.9) { /* turned, as on a sheet of graph paper */
        label.upright = 1;
        label.ax = 0.5;
        label.ay = 1;
    }
    gbees_figure_text(figure, &label, title);
}

void gbees_box_axes(gbees_figure *figure, const gbees_box *box, const gbees_camera *camera)
{
    for (int d = 0; d < 3; d++)
        draw_axis(figure, box, camera, d);
}
