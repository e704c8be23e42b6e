/* render.c - projects triangles, shades the fragments in each pixel, sorts them by depth and blends them. The image
 * is made in bands of rows at twice the resolution, so that the fragments of one band, not of the whole image, are
 * in memory. */
#include "render.h"
#include "base/array.h"
#include "base/workers.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { FINE = 2, BAND = 32 * FINE, NONE = -1, DEEPEST = 256 };

typedef struct fragment {
    float depth;
    uint8_t red, green, blue, alpha;
    int32_t next; /* of the same pixel, or NONE */
} fragment;

typedef struct point {
    float x, y, depth; /* in fine pixels */
} point;

/* The triangle whose first corner is corner `first` of a layer. */
typedef struct reference {
    size_t layer, first;
} reference;

/* Those that touch a band. */
typedef struct bin {
    reference *list;
    size_t count, capacity;
} bin;

typedef struct canvas {
    const gbees_layer *layer;
    const gbees_camera *camera;
    size_t layers;
    point **point; /* the projected corners, by layer */
    int width, height;
    int first_row; /* of the band */
    int32_t *head; /* of each pixel of the band; NULL of the whole image */
    fragment *fragment;
    size_t count, capacity;
} canvas;

void gbees_camera_turn(gbees_camera *camera, double azimuth, double elevation)
{
    const double a = azimuth * 0.017453292519943295, e = elevation * 0.017453292519943295;
    const double right[3] = {cos(a), sin(a), 0}, eye[3] = {sin(a) * cos(e), -cos(a) * cos(e), sin(e)};
    const double up[3] = {-sin(a) * sin(e), cos(a) * sin(e), cos(e)};

    for (int d = 0; d < 3; d++) {
        camera->right[d] = right[d];
        camera->up[d] = up[d];
        camera->eye[d] = eye[d];
    }
}

void gbees_camera_project(const gbees_camera *camera, const double position[3], double *x, double *y, double *depth)
{
    double a = 0, b = 0, c = 0;

    for (int d = 0; d < 3; d++) {
        const double scaled = camera->stretch[d] * (position[d] - camera->center[d]);

        a += camera->right[d] * scaled;
        b += camera->up[d] * scaled;
        c += camera->eye[d] * scaled;
    }
    *x = camera->x + camera->zoom * a;
    *y = camera->y - camera->zoom * b;
    *depth = camera->zoom * c;
}

/* A unit normal in the frame of the camera: x right, y up, z to the eye; turned to face the eye. */
static void view_normal(const gbees_camera *camera, const double normal[3], double view[3])
{
    double scaled[3], length = 0;

    for (int d = 0; d < 3; d++) {
        scaled[d] = normal[d] / camera->stretch[d];
        length += scaled[d] * scaled[d];
    }
    length = length > 0 ? sqrt(length) : 1;
    for (int k = 0; k < 3; k++)
        view[k] = 0;
    for (int d = 0; d < 3; d++) {
        view[0] += camera->right[d] * scaled[d] / length;
        view[1] += camera->up[d] * scaled[d] / length;
        view[2] += camera->eye[d] * scaled[d] / length;
    }
    if (view[2] < 0)
        for (int k = 0; k < 3; k++)
            view[k] = -view[k];
}

static uint8_t to_byte(double u)
{
    return (uint8_t)(u <= 0 ? 0 : u >= 1 ? 255 : 255 * u + 0.5);
}

/* One lamp from the upper left, a weak one from the right, some light from everywhere, and a highlight. */
static void shade(const gbees_layer *layer, const double n[3], fragment *f)
{
    const double lamp[3] = {-0.43, 0.58, 0.69}, fill[3] = {0.80, -0.10, 0.59}, half[3] = {-0.234, 0.316, 0.919};
    const double main_light = fmax(0, n[0] * lamp[0] + n[1] * lamp[1] + n[2] * lamp[2]);
    const double fill_light = fmax(0, n[0] * fill[0] + n[1] * fill[1] + n[2] * fill[2]);
    const double mirror = fmax(0, n[0] * half[0] + n[1] * half[1] + n[2] * half[2]);
    const double mirror4 = mirror * mirror * mirror * mirror, mirror12 = mirror4 * mirror4 * mirror4;
    const double light = 0.56 + 0.46 * main_light + 0.14 * fill_light, gloss = 0.28 * mirror12 * mirror12 * mirror12;
    const double slant = 1 / fmax(n[2], 0.22);

    f->red = to_byte(layer->color.r * light + gloss);
    f->green = to_byte(layer->color.g * light + gloss);
    f->blue = to_byte(layer->color.b * light + gloss);
    f->alpha = to_byte(1 - pow(1 - layer->alpha, slant));
}

static int add_fragment(canvas *c, int x, int y, fragment f, gbees_error *error)
{
    int32_t *head = &c->head[(size_t)(y - c->first_row) * (size_t)c->width + (size_t)x];

    if (c->count == INT32_MAX || gbees_array_grow(&c->fragment, c->count, &c->capacity, sizeof *c->fragment))
        return gbees_error_set(error, GBEES_ENOMEM,
                               "not enough memory to draw the isosurfaces: draw fewer "
                               "records (--records) or a smaller picture (--size)");
    f.next = *head;
    *head = (int32_t)c->count;
    c->fragment[c->count++] = f;
    return GBEES_OK;
}

static float least(const float a, const float b, const float c)
{
    const float least = a < b ? a : b;

    return least < c ? least : c;
}

static float greatest(const float a, const float b, const float c)
{
    const float greatest = a > b ? a : b;

    return greatest > c ? greatest : c;
}

/* A corner's barycentric weight at a point (x, y) of a triangle: value + x * along[0] + y * along[1]. */
typedef struct weight {
    double value, along[2];
} weight;

static weight weight_of(const point *zero, const point *other, double area)
{
    const double x = ((double)other->y - (double)zero->y) / area, y = -((double)other->x - (double)zero->x) / area;

    return (weight){-((double)zero->x * x + (double)zero->y * y), {x, y}};
}

/* The fragment at the point of a triangle with the barycentric weights 1 - u - v, u and v of its corners. */
static fragment make_fragment(const canvas *c, reference from, double u, double v)
{
    const gbees_layer *layer = &c->layer[from.layer];
    const gbees_corner *corner = &layer->mesh->corner[from.first];
    const point *p = &c->point[from.layer][from.first];
    double normal[3], view[3];
    fragment f;

    for (int d = 0; d < 3; d++)
        normal[d] = (1 - u - v) * (double)corner[0].normal[d] + u * (double)corner[1].normal[d] +
                    v * (double)corner[2].normal[d];
    view_normal(c->camera, normal, view);
    shade(layer, view, &f);
    f.depth = (float)((1 - u - v) * (double)p[0].depth + u * (double)p[1].depth + v * (double)p[2].depth);
    return f;
}

static int draw_triangle(canvas *c, reference from, gbees_error *error)
{
    const point *p = &c->point[from.layer][from.first];
    const float low_y = least(p[0].y, p[1].y, p[2].y), high_y = greatest(p[0].y, p[1].y, p[2].y);
    const float low_x = least(p[0].x, p[1].x, p[2].x), high_x = greatest(p[0].x, p[1].x, p[2].x);
    const int end_row = c->first_row + BAND < c->height ? c->first_row + BAND : c->height;
    const double area =
        ((double)p[1].x - p[0].x) * ((double)p[2].y - p[0].y) - ((double)p[1].y - p[0].y) * ((double)p[2].x - p[0].x);

    if (high_x < 0 || low_x > (float)c->width || area == 0)
        return GBEES_OK;
    const weight second = weight_of(&p[0], &p[2], area), third = weight_of(&p[0], &p[1], -area);
    for (int y = low_y > (float)c->first_row ? (int)low_y : c->first_row; y < end_row && (float)y <= high_y; y++)
        for (int x = low_x > 0 ? (int)low_x : 0; x < c->width && (float)x <= high_x; x++) {
            const double px = x + 0.5013, py = y + 0.5007; /* off every edge that grid and pixels may share */
            const double u = second.value + px * second.along[0] + py * second.along[1];
            const double v = third.value + px * third.along[0] + py * third.along[1];

            if (u >= 0 && v >= 0 && u + v <= 1 && add_fragment(c, x, y, make_fragment(c, from, u, v), error))
                return GBEES_ENOMEM;
        }
    return GBEES_OK;
}

/* The fragments of one pixel over one another, from the farthest to the nearest: adds premultiplied RGBA. */
static void blend(const canvas *c, int32_t head, double sum[4])
{
    fragment stack[DEEPEST];
    double out[4] = {0};
    int count = 0;

    for (; head != NONE && count < DEEPEST; head = c->fragment[head].next) {
        const fragment f = c->fragment[head];
        int k = count++;

        for (; k > 0 && stack[k - 1].depth > f.depth; k--)
            stack[k] = stack[k - 1];
        stack[k] = f;
    }
    for (int k = 0; k < count; k++) {
        const double alpha = stack[k].alpha / 255.0;

        out[0] += alpha * (stack[k].red / 255.0 - out[0]);
        out[1] += alpha * (stack[k].green / 255.0 - out[1]);
        out[2] += alpha * (stack[k].blue / 255.0 - out[2]);
        out[3] += alpha * (1 - out[3]);
    }
    for (int k = 0; k < 4; k++)
        sum[k] += out[k];
}

static void resolve_band(const canvas *c, unsigned char *pixels, int stride)
{
    for (int y = 0; y < BAND && c->first_row + y < c->height; y += FINE)
        for (int x = 0; x < c->width; x += FINE) {
            unsigned char *row = pixels + (size_t)((c->first_row + y) / FINE) * (size_t)stride;
            double sum[4] = {0};

            for (int k = 0; k < FINE * FINE; k++)
                blend(c, c->head[(size_t)(y + k / FINE) * (size_t)c->width + (size_t)(x + k % FINE)], sum);
            for (int k = 0; k < 4; k++)
                sum[k] /= FINE * FINE;
            ((uint32_t *)(void *)row)[x / FINE] = (uint32_t)to_byte(sum[3]) << 24 | (uint32_t)to_byte(sum[0]) << 16 |
                                                  (uint32_t)to_byte(sum[1]) << 8 | (uint32_t)to_byte(sum[2]);
        }
}

static int project_layers(canvas *c, const double rectangle[4], double fine_scale)
{
    for (size_t k = 0; k < c->layers; k++) {
        const gbees_mesh *mesh = c->layer[k].mesh;

        c->point[k] = malloc((mesh->count + 1) * sizeof *c->point[k]);
        if (!c->point[k])
            return GBEES_ENOMEM;
        for (size_t i = 0; i < mesh->count; i++) {
            const float *at = mesh->corner[i].position;
            const double position[3] = {(double)at[0], (double)at[1], (double)at[2]};
            double x, y, depth;

            gbees_camera_project(c->camera, position, &x, &y, &depth);
            c->point[k][i] = (point){(float)((x - rectangle[0]) * fine_scale),
                                     (float)((y - rectangle[1]) * fine_scale), (float)depth};
        }
    }
    return GBEES_OK;
}

static int add_reference(bin *to, reference triangle)
{
    if (gbees_array_grow(&to->list, to->count, &to->capacity, sizeof *to->list))
        return GBEES_ENOMEM;
    to->list[to->count++] = triangle;
    return GBEES_OK;
}

/* Adds each triangle to the bands that it touches. */
static int fill_bins(const canvas *c, size_t bands, bin *to)
{
    for (size_t k = 0; k < c->layers; k++)
        for (size_t i = 0; i + 2 < c->layer[k].mesh->count; i += 3) {
            const point *p = &c->point[k][i];
            const float low = least(p[0].y, p[1].y, p[2].y), high = greatest(p[0].y, p[1].y, p[2].y);
            const size_t first = low > 0 ? (size_t)low / BAND : 0;

            for (size_t band = first; band < bands && (float)(band * BAND) <= high; band++)
                if (add_reference(&to[band], (reference){k, i}))
                    return GBEES_ENOMEM;
        }
    return GBEES_OK;
}

/* The bands of an image, which threads draw side by side. */
typedef struct bands {
    const canvas *whole;
    unsigned char *pixels;
    int stride;
    size_t count;
    bin *triangles;       /* of each band */
    gbees_error *failure; /* of each band */
} bands;

static void draw_band(void *context, size_t band)
{
    const bands *b = context;
    const bin *triangles = &b->triangles[band];
    canvas c = *b->whole;
    gbees_error *error = &b->failure[band];
    const size_t pixels = (size_t)c.width * BAND;

    c.first_row = (int)band * BAND;
    c.head = malloc(pixels * sizeof *c.head);
    if (!c.head)
        (void)gbees_error_set(error, GBEES_ENOMEM, "not enough memory to draw the isosurfaces");
    for (size_t i = 0; i < pixels && c.head; i++)
        c.head[i] = NONE;
    for (size_t i = 0; i < triangles->count && !error->status; i++)
        (void)draw_triangle(&c, triangles->list[i], error);
    if (!error->status)
        resolve_band(&c, b->pixels, b->stride);
    free(c.head);
    free(c.fragment);
}

static int draw_all(bands *b, gbees_error *error)
{
    int status = GBEES_OK;

    if (!b->triangles || !b->failure || fill_bins(b->whole, b->count, b->triangles))
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to draw the isosurfaces");
    gbees_workers_run(0, b->count, draw_band, b);
    for (size_t k = 0; k < b->count && !status; k++)
        if (b->failure[k].status)
            status = gbees_error_set(error, b->failure[k].status, "%s", b->failure[k].text);
    return status;
}

static int draw_bands(const canvas *c, cairo_surface_t *image, gbees_error *error)
{
    const size_t count = (size_t)((c->height + BAND - 1) / BAND);
    bands b = {.whole = c,
               .pixels = cairo_image_surface_get_data(image),
               .stride = cairo_image_surface_get_stride(image),
               .count = count,
               .triangles = calloc(count + 1, sizeof *b.triangles),
               .failure = calloc(count + 1, sizeof *b.failure)};
    const int status = draw_all(&b, error);

    for (size_t k = 0; k < count && b.triangles; k++)
        free(b.triangles[k].list);
    free(b.triangles);
    free(b.failure);
    return status;
}

int gbees_render(const gbees_layer *layer, size_t count, const gbees_camera *camera, const double rectangle[4],
                 double scale, cairo_surface_t **image, gbees_error *error)
{
    const int width = (int)ceil(rectangle[2] * scale), height = (int)ceil(rectangle[3] * scale);
    canvas c = {.layer = layer, .layers = count, .camera = camera, .width = width * FINE, .height = height * FINE};
    cairo_surface_t *made = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height);
    int status = GBEES_OK;

    c.point = calloc(count + 1, sizeof *c.point);
    if (!c.point || cairo_surface_status(made) != CAIRO_STATUS_SUCCESS || project_layers(&c, rectangle, FINE * scale))
        status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory to draw the isosurfaces");
    else {
        cairo_surface_flush(made);
        status = draw_bands(&c, made, error);
        cairo_surface_mark_dirty(made);
    }
    for (size_t k = 0; c.point && k < count; k++)
        free(c.point[k]);
    free(c.point);
    if (status)
        cairo_surface_destroy(made);
    else
        *image = made;
    return status;
}
