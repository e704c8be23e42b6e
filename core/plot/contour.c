/* contour.c - fills each pixel by the band that its interpolated density lies in, and draws a line where the density
 * has a band's limit, through triangles of cell centres. */
#include "contour.h"
#include "base/workers.h"
#include "region.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>

enum { LEVELS = GBEES_REGIONS, FINE = 3, PIXEL_NS = 300 /* to find the colour of a pixel takes about as long */ };

static gbees_rgb band_color(int band)
{
    return band == 0 ? gbees_rgb_grey(1) : gbees_colormap_density(0.07 + 0.75 * band / LEVELS);
}

/* Bilinear between cell centres; (i, k) in cells. */
static double value_at(const gbees_density *density, double i, double k)
{
    const double fi = floor(i), fk = floor(k), u = i - fi, v = k - fk;
    const size_t stride = density->length[1];
    const double *at;

    if (!(fi >= 0 && fk >= 0 && fi + 1 < (double)density->length[0] && fk + 1 < (double)stride))
        return 0;
    at = &density->value[(size_t)fi * stride + (size_t)fk];
    return (1 - u) * ((1 - v) * at[0] + v * at[1]) + u * ((1 - v) * at[stride] + v * at[stride + 1]);
}

static int find_band(const double level[LEVELS], double fraction)
{
    int band = 0;

    while (band < LEVELS && fraction >= level[band])
        band++;
    return band;
}

/* An image whose rows the workers fill. */
typedef struct filling {
    gbees_figure *figure;
    const gbees_panel *panel;
    const gbees_density *density;
    unsigned char *pixels;
    ptrdiff_t stride;
    int width;
    gbees_rgb color[LEVELS + 1]; /* of each band */
    const double *level;         /* [LEVELS], fractions of the peak */
} filling;

/* Where the point (x, y) of the page is in the density, in cells. */
static void find_place(const filling *f, double x, double y, double place[2])
{
    const gbees_panel *panel = f->panel;
    const double a = panel->lo[0] + (panel->hi[0] - panel->lo[0]) * (x - panel->x) / panel->width;
    const double b = panel->hi[1] - (panel->hi[1] - panel->lo[1]) * (y - panel->y) / panel->height;

    place[0] = (a - f->density->first[0]) / f->density->width[0];
    place[1] = (b - f->density->first[1]) / f->density->width[1];
}

/* The band of the whole pixel whose upper left corner is (x, y) on the page, where it lies outside of the density or
 * in one square of cell centres that are all in the same band; -1: its parts may be in several. */
static int find_common_band(const filling *f, double x, double y)
{
    const gbees_density *density = f->density;
    const double scale = f->figure->scale, rounding = 1e-9;
    const double last[2] = {(double)density->length[0] - 1, (double)density->length[1] - 1};
    const size_t stride = density->length[1];
    double from[2], to[2];

    find_place(f, x, y + 1 / scale, from);
    find_place(f, x + 1 / scale, y, to);
    if (to[0] < 0 || to[1] < 0 || from[0] > last[0] || from[1] > last[1])
        return 0;
    const double i = floor(from[0]), k = floor(from[1]);
    if (i < 0 || k < 0 || to[0] >= fmin(i + 1, last[0]) || to[1] >= fmin(k + 1, last[1]))
        return -1;
    const double *at = &density->value[(size_t)i * stride + (size_t)k];
    const double least = fmin(fmin(at[0], at[1]), fmin(at[stride], at[stride + 1])) / density->peak;
    const double most = fmax(fmax(at[0], at[1]), fmax(at[stride], at[stride + 1])) / density->peak;
    const int band = find_band(f->level, least * (1 - rounding));
    return band == find_band(f->level, most * (1 + rounding)) ? band : -1;
}

/* The mean colour of a pixel's parts, whose bands are given. */
static uint32_t mean_color(const filling *f, const int band[FINE * FINE])
{
    double red = 0, green = 0, blue = 0, alpha = 0;

    for (int s = 0; s < FINE * FINE; s++) {
        const gbees_rgb color = f->color[band[s]];

        if (band[s] == 0)
            continue;
        red += color.r;
        green += color.g;
        blue += color.b;
        alpha += 1;
    }
    return (uint32_t)(alpha * 255 / (FINE * FINE)) << 24 | (uint32_t)(red * 255 / (FINE * FINE)) << 16 |
           (uint32_t)(green * 255 / (FINE * FINE)) << 8 | (uint32_t)(blue * 255 / (FINE * FINE));
}

/* The colour of the pixel whose upper left corner is (x, y) on the page; 0: nothing there. */
static uint32_t pixel_color(const filling *f, double x, double y)
{
    const double scale = f->figure->scale;
    const int common = find_common_band(f, x, y);
    int band[FINE * FINE];
    double place[2];

    if (common == 0)
        return 0;
    for (int s = 0; s < FINE * FINE; s++) {
        band[s] = common;
        if (common > 0)
            continue;
        find_place(f, x + (s % FINE + 0.5) / FINE / scale, y + (s / FINE + 0.5) / FINE / scale, place);
        band[s] = find_band(f->level, value_at(f->density, place[0], place[1]) / f->density->peak);
    }
    return mean_color(f, band);
}

static void fill_row(void *context, size_t y)
{
    const filling *f = context;
    uint32_t *row = (void *)(f->pixels + (ptrdiff_t)y * f->stride);
    const double scale = f->figure->scale;

    for (int x = 0; x < f->width; x++)
        row[x] = pixel_color(f, f->panel->x + x / scale, f->panel->y + (double)y / scale);
}

static int fill_bands(gbees_figure *figure, const gbees_panel *panel, const gbees_density *density,
                      const double level[LEVELS], gbees_error *error)
{
    const int width = (int)ceil(panel->width * figure->scale), height = (int)ceil(panel->height * figure->scale);
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height);

    if (cairo_surface_status(image) != CAIRO_STATUS_SUCCESS) {
        cairo_surface_destroy(image);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a figure");
    }
    cairo_surface_flush(image);
    filling f = {
        figure, panel,       density, cairo_image_surface_get_data(image), cairo_image_surface_get_stride(image),
        width,  {{0, 0, 0}}, level};
    for (int band = 0; band <= LEVELS; band++)
        f.color[band] = band_color(band);
    gbees_workers_run(gbees_workers_worth(0, (double)width * height * PIXEL_NS), (size_t)height, fill_row, &f);
    cairo_surface_mark_dirty(image);
    cairo_save(figure->cairo);
    cairo_translate(figure->cairo, panel->x, panel->y);
    cairo_scale(figure->cairo, 1 / figure->scale, 1 / figure->scale);
    cairo_set_source_surface(figure->cairo, image, 0, 0);
    cairo_paint(figure->cairo);
    cairo_restore(figure->cairo);
    cairo_surface_destroy(image);
    return GBEES_OK;
}

/* The segment of the line value = wanted in one triangle of cell centres; corner: {x, y, value} on the page. */
static void cut_triangle(cairo_t *cairo, double corner[3][3], double wanted)
{
    double end[3][2];
    int ends = 0;

    for (int k = 0; k < 3; k++) {
        const double *a = corner[k], *b = corner[(k + 1) % 3];
        const double u = (wanted - a[2]) / (b[2] - a[2]);

        if ((a[2] >= wanted) == (b[2] >= wanted))
            continue;
        end[ends][0] = a[0] + u * (b[0] - a[0]);
        end[ends++][1] = a[1] + u * (b[1] - a[1]);
    }
    if (ends == 2) {
        cairo_move_to(cairo, end[0][0], end[0][1]);
        cairo_line_to(cairo, end[1][0], end[1][1]);
    }
}

/* Whether the line value = wanted passes between four neighbouring cells. */
static int is_crossed(const gbees_density *density, size_t i, size_t k, double wanted)
{
    const double *v = &density->value[i * density->length[1] + k], *w = v + density->length[1];
    const int above = (v[0] >= wanted) + (v[1] >= wanted) + (w[0] >= wanted) + (w[1] >= wanted);

    return above > 0 && above < 4;
}

static void draw_line(gbees_figure *figure, const gbees_panel *panel, const gbees_density *density, double wanted)
{
    static const int triangle[2][3][2] = {{{0, 0}, {1, 0}, {1, 1}}, {{0, 0}, {1, 1}, {0, 1}}};

    for (size_t i = 0; i + 1 < density->length[0]; i++)
        for (size_t k = 0; k + 1 < density->length[1]; k++)
            for (int t = 0; t < 2 && is_crossed(density, i, k, wanted); t++) {
                double corner[3][3];

                for (int c = 0; c < 3; c++) {
                    const size_t a = i + (size_t)triangle[t][c][0], b = k + (size_t)triangle[t][c][1];

                    corner[c][0] = gbees_panel_x(panel, density->first[0] + density->width[0] * (double)a);
                    corner[c][1] = gbees_panel_y(panel, density->first[1] + density->width[1] * (double)b);
                    corner[c][2] = density->value[a * density->length[1] + b];
                }
                cut_triangle(figure->cairo, corner, wanted);
            }
    cairo_stroke(figure->cairo);
}

int gbees_contour_draw(gbees_figure *figure, const gbees_panel *panel, const gbees_density *density,
                       gbees_error *error)
{
    double level[LEVELS];
    int status;

    gbees_region_levels(density, LEVELS, gbees_region_part, level);
    gbees_panel_clip(figure, panel);
    status = fill_bands(figure, panel, density, level, error);
    cairo_set_line_width(figure->cairo, 0.7);
    gbees_figure_color(figure, gbees_rgb_grey(0.15), 0.75);
    for (int k = 0; k < GBEES_REGIONS_LINED && !status; k++)
        draw_line(figure, panel, density, level[k] * density->peak);
    cairo_restore(figure->cairo);
    return status;
}

void gbees_contour_key(gbees_figure *figure, double x, double y, double width, double text_size)
{
    const double block = width / LEVELS, height = 1.1 * text_size;
    gbees_label label = {.size = text_size, .ax = 0.5, .color = gbees_rgb_grey(0.15)};
    char text[32];

    for (int k = 0; k < LEVELS; k++) {
        gbees_figure_color(figure, band_color(k + 1), 1);
        cairo_rectangle(figure->cairo, x + k * block, y, block, height);
        cairo_fill(figure->cairo);
    }
    for (int k = 0; k < LEVELS; k++) {
        (void)snprintf(text, sizeof text, "%.3g %%", 100 * gbees_region_part[k]);
        label.x = x + k * block;
        label.y = y + height + 0.55 * text_size;
        gbees_figure_line(figure, label.x, y, label.x, y + height + 3, k < GBEES_REGIONS_LINED ? 0.8 : 0,
                          gbees_rgb_grey(0.25));
        gbees_figure_text(figure, &label, text);
    }
    cairo_rectangle(figure->cairo, x, y, width, height);
    gbees_figure_stroke(figure, 0.8, gbees_rgb_grey(0.25));
    label =
        (gbees_label){.x = x, .y = y - 0.6 * text_size, .size = text_size, .ay = 1, .color = gbees_rgb_grey(0.15)};
    gbees_figure_text(figure, &label, "regions of highest density with this probability");
}
