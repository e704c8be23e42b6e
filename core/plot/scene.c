/* scene.c - the figure of isosurfaces: before the first measurement at the left, after it at the right; below them,
 * if that is wanted, samples of the model at the same times. */
#include "box.h"
#include "draw.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double text_size = 13.5, dot_size = 1.3;
static const double opacity[GBEES_SURFACES] = {0.14, 0.34, 0.85};
static const gbees_rgb cyan = {0.02, 0.66, 0.80}, magenta = {0.84, 0.07, 0.60};

enum { MOST_LABELS = 64 };

/* A rectangle that a label has taken, on the page. */
typedef struct taken {
    double x, y, width, height;
} taken;

typedef struct scene {
    const gbees_gallery *gallery;
    size_t first, end; /* records */
    double rectangle[4];
    gbees_box box;
    gbees_camera camera;
    cairo_surface_t *image; /* the surfaces alone */
    taken label[MOST_LABELS];
    int labels;
} scene;

static gbees_rgb shot_color(const gbees_gallery *gallery, const gbees_shot *shot)
{
    return shot->leg == gallery->shot[0].leg && shot->leg == 0 ? cyan : magenta;
}

static void find_box(const gbees_gallery *gallery, gbees_box *box)
{
    for (int d = 0; d < 3; d++) {
        double margin;

        box->name[d] = gallery->name[gallery->picture_axis[d]];
        box->unit[d] = gallery->unit[gallery->picture_axis[d]];
        box->lo[d] = INFINITY;
        box->hi[d] = -INFINITY;
        for (size_t k = 0; k < gallery->count; k++) {
            const gbees_mesh *outer = &gallery->shot[k].surface[0];

            for (size_t i = 0; i < outer->count; i++) {
                box->lo[d] = fmin(box->lo[d], (double)outer->corner[i].position[d]);
                box->hi[d] = fmax(box->hi[d], (double)outer->corner[i].position[d]);
            }
        }
        if (gallery->frame) {
            box->lo[d] = gallery->frame->lo[gallery->picture_axis[d]];
            box->hi[d] = gallery->frame->hi[gallery->picture_axis[d]];
        }
        margin = 0.04 * (box->hi[d] - box->lo[d]);
        box->lo[d] -= margin;
        box->hi[d] += margin;
    }
}

static int render_surfaces(scene *s, double scale, gbees_error *error)
{
    const gbees_gallery *gallery = s->gallery;
    gbees_layer *layer = calloc((s->end - s->first) * GBEES_SURFACES + 1, sizeof *layer);
    size_t count = 0;
    int status;

    if (!layer)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to draw the isosurfaces");
    for (size_t k = s->first; k < s->end; k++)
        for (int j = 0; j < GBEES_SURFACES; j++)
            layer[count++] =
                (gbees_layer){&gallery->shot[k].surface[j], shot_color(gallery, &gallery->shot[k]), opacity[j]};
    status = gbees_render(layer, count, &s->camera, s->rectangle, scale, &s->image, error);
    free(layer);
    return status;
}

static double nearest(double x, double lo, double length)
{
    return fmin(fmax(x, lo), lo + length);
}

/* Whether a label there would be outside of the panel, on another label, or on a surface. */
static int is_free(const scene *s, const taken *t, double scale)
{
    const unsigned char *pixels = cairo_image_surface_get_data(s->image);
    const int stride = cairo_image_surface_get_stride(s->image);
    const double x0 = t->x - s->rectangle[0], y0 = t->y - s->rectangle[1];

    if (x0 < 4 || y0 < 4 || x0 + t->width > s->rectangle[2] - 4 || y0 + t->height > s->rectangle[3] - 4)
        return 0;
    for (int k = 0; k < s->labels; k++) {
        const taken *o = &s->label[k];

        if (t->x < o->x + o->width + 4 && o->x < t->x + t->width + 4 && t->y < o->y + o->height + 4 &&
            o->y < t->y + t->height + 4)
            return 0;
    }
    for (double y = y0; y <= y0 + t->height; y += 2)
        for (double x = x0; x <= x0 + t->width; x += 2)
            if (pixels[(ptrdiff_t)(y * scale) * stride + 4 * (ptrdiff_t)(x * scale) + 3] > 8)
                return 0;
    return 1;
}

/* Whether the line from the peak at (x, y) to the label keeps clear of the other records' peaks. */
static int is_own(const scene *s, const gbees_shot *shot, double x, double y, const taken *t)
{
    const double dx = nearest(x, t->x, t->width) - x, dy = nearest(y, t->y, t->height) - y;

    for (size_t k = s->first; k < s->end; k++) {
        const gbees_shot *other = &s->gallery->shot[k];
        double px, py, depth, u;

        if (other == shot || !other->pictured)
            continue;
        gbees_camera_project(&s->camera, other->peak, &px, &py, &depth);
        u = ((px - x) * dx + (py - y) * dy) / fmax(1, dx * dx + dy * dy);
        u = fmin(1, fmax(0, u));
        if (u > 0 && hypot(x + u * dx - px, y + u * dy - py) < 14)
            return 0;
    }
    return 1;
}

/* The free place nearest to the point, on growing rings around it. */
static int find_place(const scene *s, const gbees_shot *shot, double x, double y, double scale, taken *t)
{
    for (double radius = 24; radius < 420; radius += 8)
        for (int k = 0; k < 24; k++) {
            const double angle = -1.2 + 0.2617993877991494 * (k % 2 ? -(k + 1) / 2 : k / 2);

            t->x = x + radius * cos(angle) - t->width / 2;
            t->y = y + 0.85 * radius * sin(angle) - t->height / 2;
            if (is_free(s, t, scale) && is_own(s, shot, x, y, t))
                return 1;
        }
    return 0;
}

/* The time of a record beside its surfaces, with a thin line to its densest point. */
static void draw_label(gbees_figure *figure, scene *s, const gbees_shot *shot)
{
    const double range = s->gallery->shot[s->gallery->count - 1].time - s->gallery->shot[0].time;
    char time[64], text[96];
    double x, y, depth;
    taken t;

    gbees_ticks_time(shot->time, range, time, sizeof time);
    (void)snprintf(text, sizeof text, "t = %s", time);
    gbees_camera_project(&s->camera, shot->peak, &x, &y, &depth);
    t.width = gbees_figure_text_width(figure, text_size, 0, text) + 4;
    t.height = 1.2 * text_size;
    if (s->labels == MOST_LABELS || !find_place(s, shot, x, y, figure->scale, &t))
        return;
    s->label[s->labels++] = t;
    {
        const double end_x = nearest(x, t.x, t.width), end_y = nearest(y, t.y, t.height);
        const gbees_label label = {.x = t.x + t.width / 2,
                                   .y = t.y + t.height / 2,
                                   .size = text_size,
                                   .ax = 0.5,
                                   .ay = 0.5,
                                   .color = gbees_rgb_grey(0.05),
                                   .halo = 1};

        gbees_figure_line(figure, x, y, end_x, end_y, 0.9, gbees_rgb_grey(0.25));
        gbees_figure_text(figure, &label, text);
    }
}

/* The samples as dots, in the colours of the surfaces. */
static void draw_samples(gbees_figure *figure, scene *s)
{
    const gbees_gallery *gallery = s->gallery;

    gbees_box_fit(&s->box, &s->camera, s->rectangle);
    gbees_box_back(figure, &s->box, &s->camera);
    for (size_t k = s->first; k < s->end; k++) {
        const gbees_shot *shot = &gallery->shot[k];

        gbees_figure_color(figure, shot_color(gallery, shot), 0.5);
        for (size_t i = 0; shot->pictured && i < shot->samples; i++) {
            const int *axis = gallery->picture_axis;
            const double position[] = {shot->sample[axis[0]][i], shot->sample[axis[1]][i], shot->sample[axis[2]][i]};
            double x, y, depth;

            gbees_camera_project(&s->camera, position, &x, &y, &depth);
            cairo_rectangle(figure->cairo, x - dot_size / 2, y - dot_size / 2, dot_size, dot_size);
        }
        cairo_fill(figure->cairo);
    }
    gbees_box_axes(figure, &s->box, &s->camera);
}

static int draw_scene(gbees_figure *figure, scene *s, gbees_error *error)
{
    int status;

    gbees_box_fit(&s->box, &s->camera, s->rectangle);
    status = render_surfaces(s, figure->scale, error);
    if (status)
        return status;
    gbees_box_back(figure, &s->box, &s->camera);
    cairo_save(figure->cairo);
    cairo_translate(figure->cairo, s->rectangle[0], s->rectangle[1]);
    cairo_scale(figure->cairo, 1 / figure->scale, 1 / figure->scale);
    cairo_set_source_surface(figure->cairo, s->image, 0, 0);
    cairo_paint(figure->cairo);
    cairo_restore(figure->cairo);
    gbees_box_axes(figure, &s->box, &s->camera);
    for (size_t k = s->first; k < s->end; k++)
        if (s->gallery->shot[k].pictured)
            draw_label(figure, s, &s->gallery->shot[k]);
    cairo_surface_destroy(s->image);
    return GBEES_OK;
}

/* "(a) before the measurement, t = 0 to 1"; of samples "(c) samples, ...". */
static void draw_title(gbees_figure *figure, const scene *s, int panel, int panels, int row)
{
    const gbees_gallery *gallery = s->gallery;
    const int is_one = gallery->shot[gallery->count - 1].leg <= gallery->shot[0].leg + 1;
    const gbees_label label = {.x = s->rectangle[0] + s->rectangle[2] / 2,
                               .y = s->rectangle[1] - 18,
                               .size = 16,
                               .ax = 0.5,
                               .bold = 1,
                               .color = gbees_rgb_grey(0.1)};
    const char *what = !panel   ? "before the measurement"
                       : is_one ? "after the measurement"
                                : "after the first measurement";
    char span[160], text[256];

    gbees_gallery_span(gallery, s->first, s->end - 1, span, sizeof span);
    if (panels == 1)
        (void)snprintf(text, sizeof text, "%s%s, %s", gallery->model, row ? ": samples" : "", span);
    else
        (void)snprintf(text, sizeof text, "(%c) %s%s, %s", "abcd"[2 * row + panel], row ? "samples, " : "", what,
                       span);
    gbees_figure_text(figure, &label, text);
}

/* Patches of the three surfaces in the colours in use, each as it looks in front of white. */
static void draw_key(gbees_figure *figure, const gbees_gallery *gallery, int panels, double y)
{
    static const char *const name[GBEES_SURFACES] = {"0.011", "0.135", "0.607"};
    const char *const intro = "isosurfaces at these fractions of each maximum density:";
    const double patch = 22, step = 92 + 10 * panels;
    double x = gbees_figure_text_width(figure, text_size, 0, intro);
    gbees_label label = {.y = y, .size = text_size, .ay = 0.5, .color = gbees_rgb_grey(0.15)};

    label.x = (GBEES_PAGE_WIDTH - x - 18 - GBEES_SURFACES * step + 20) / 2;
    gbees_figure_text(figure, &label, intro);
    x += label.x + 18;
    for (int k = 0; k < GBEES_SURFACES; k++) {
        for (int p = 0; p < panels; p++) {
            const gbees_shot *shot = p == 0 ? &gallery->shot[0] : &gallery->shot[gallery->count - 1];

            gbees_figure_color(figure, shot_color(gallery, shot), fmin(1, 0.06 + 1.05 * opacity[k]));
            cairo_rectangle(figure->cairo, x, y - 7, patch, 14);
            cairo_fill(figure->cairo);
            x += patch;
        }
        label.x = x + 7;
        gbees_figure_text(figure, &label, name[k]);
        x += step - patch * panels;
    }
}

static int has_samples(const gbees_gallery *gallery)
{
    for (size_t k = 0; k < gallery->count; k++)
        if (gallery->shot[k].samples > 0)
            return 1;
    return 0;
}

/* Draws the panels of a row: 0, the surfaces; 1, the samples. `height` is that of a row with its title. */
static int draw_row(gbees_figure *figure, const scene *base, int row, int panels, size_t middle, double height,
                    gbees_error *error)
{
    const double head = 44;
    int status = GBEES_OK;

    for (int k = 0; k < panels && !status; k++) {
        scene s = *base;

        s.rectangle[0] = k * GBEES_PAGE_WIDTH / panels;
        s.rectangle[1] = row * height + head;
        s.rectangle[2] = GBEES_PAGE_WIDTH / panels;
        s.rectangle[3] = fmax(60, height - head);
        if (panels == 2) {
            s.first = k ? middle : 0;
            s.end = k ? s.end : middle;
        }
        draw_title(figure, &s, k, panels, row);
        if (row)
            draw_samples(figure, &s);
        else
            status = draw_scene(figure, &s, error);
    }
    return status;
}

int gbees_draw_isosurfaces(const gbees_gallery *gallery, const gbees_draw_options *options, gbees_figure **figure,
                           gbees_error *error)
{
    const double foot = 46 + gbees_note_height(gallery);
    scene base = {.gallery = gallery, .end = gallery->count, .box.text_size = text_size};
    const int rows = options->samples && has_samples(gallery) ? 2 : 1;
    size_t middle = 0;
    int panels, status;

    while (middle < gallery->count && gallery->shot[middle].leg == gallery->shot[0].leg)
        middle++;
    panels = middle < gallery->count ? 2 : 1;
    status = gbees_draw_page(options, rows * (panels == 2 ? 606 : 914) + foot, figure, error);
    if (status)
        return status;
    find_box(gallery, &base.box);
    gbees_camera_turn(&base.camera, options->azimuth, options->elevation);
    for (int row = 0; row < rows && !status; row++)
        status = draw_row(*figure, &base, row, panels, middle, ((*figure)->height - foot) / rows, error);
    if (status) {
        gbees_figure_destroy(*figure);
        return status;
    }
    for (int k = 0; k < panels; k++) {
        const double width = GBEES_PAGE_WIDTH / panels;
        const size_t first = k ? middle : 0, end = panels == 2 && !k ? middle : gallery->count;

        gbees_draw_note(
            *figure, gallery, first, end - 1,
            &(gbees_label){.x = (k + 0.5) * width, .y = (*figure)->height - foot + 4, .size = text_size, .ax = 0.5},
            width - 40);
    }
    draw_key(*figure, gallery, panels, (*figure)->height - 24);
    return GBEES_OK;
}
