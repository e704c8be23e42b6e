/* figure.c - draws by cairo: text, lines, and a panel with its axes, ticks and labels; saves the page as PNG, PDF or
 * SVG. */
#include "figure.h"
#include "png.h"
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cairo_surface_t *make_surface(const gbees_figure *figure, int is_vector, int pixel_width, int pixel_height)
{
    const cairo_rectangle_t page = {0, 0, figure->width, figure->height};

    return is_vector ? cairo_recording_surface_create(CAIRO_CONTENT_COLOR, &page)
                     : cairo_image_surface_create(CAIRO_FORMAT_RGB24, pixel_width, pixel_height);
}

static int create(double height, int pixel_width, int pixel_height, int is_vector, gbees_figure **figure,
                  gbees_error *error)
{
    gbees_figure *made = calloc(1, sizeof *made);

    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a figure");
    if (pixel_width <= 0)
        pixel_width = 2 * GBEES_PAGE_WIDTH;
    made->scale = (double)pixel_width / GBEES_PAGE_WIDTH;
    made->width = GBEES_PAGE_WIDTH;
    if (pixel_height <= 0)
        pixel_height = (int)ceil(height * made->scale);
    made->height = pixel_height / made->scale;
    made->surface = make_surface(made, is_vector, pixel_width, pixel_height);
    made->cairo = cairo_create(made->surface);
    if (cairo_status(made->cairo) != CAIRO_STATUS_SUCCESS) {
        const char *reason = cairo_status_to_string(cairo_status(made->cairo));

        gbees_figure_destroy(made);
        return gbees_error_set(error, GBEES_ENOMEM, "can't make a figure of %d x %d pixels: %s", pixel_width,
                               pixel_height, reason);
    }
    if (!is_vector)
        cairo_scale(made->cairo, made->scale, made->scale);
    cairo_set_source_rgb(made->cairo, 1, 1, 1);
    cairo_paint(made->cairo);
    cairo_set_line_join(made->cairo, CAIRO_LINE_JOIN_ROUND);
    *figure = made;
    return GBEES_OK;
}

int gbees_figure_create(double height, int pixel_width, int pixel_height, gbees_figure **figure, gbees_error *error)
{
    return create(height, pixel_width, pixel_height, 0, figure, error);
}

int gbees_figure_create_vector(double height, int pixel_width, int pixel_height, gbees_figure **figure,
                               gbees_error *error)
{
    return create(height, pixel_width, pixel_height, 1, figure, error);
}

void gbees_figure_destroy(gbees_figure *figure)
{
    if (!figure)
        return;
    cairo_destroy(figure->cairo);
    cairo_surface_destroy(figure->surface);
    free(figure);
}

static cairo_status_t write_part(void *file, const unsigned char *data, unsigned length)
{
    return fwrite(data, 1, length, file) == length ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

/* Draws the figure on a PDF's or SVG's page: three fifths of its size in points, so that it is as wide as a sheet and
 * its text is of 8 points. */
static cairo_status_t write_vector(const gbees_figure *figure, int is_pdf, FILE *file)
{
    const double scale = 0.6, width = scale * figure->width, height = scale * figure->height;
    cairo_surface_t *page = (is_pdf ? cairo_pdf_surface_create_for_stream
                                    : cairo_svg_surface_create_for_stream)(write_part, file, width, height);
    cairo_t *cairo = cairo_create(page);

    cairo_set_source_rgb(cairo, 1, 1, 1); /* to the very edge */
    cairo_paint(cairo);
    cairo_scale(cairo, scale, scale);
    cairo_set_source_surface(cairo, figure->surface, 0, 0);
    cairo_paint(cairo);
    cairo_status_t status = cairo_status(cairo);
    cairo_destroy(cairo);
    cairo_surface_finish(page);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(page);
    cairo_surface_destroy(page);
    return status;
}

static int ends_with(const char *path, const char *ending)
{
    const size_t length = strlen(path), tail = strlen(ending);

    return length > tail && strcmp(path + length - tail, ending) == 0;
}

static cairo_status_t write_figure(const gbees_figure *figure, const char *path, FILE *file)
{
    const int is_pdf = ends_with(path, ".pdf");

    return is_pdf || ends_with(path, ".svg") ? write_vector(figure, is_pdf, file)
                                             : gbees_png_write(figure->surface, file);
}

/* cairo would open the file itself, but not say why it can't be written. */
int gbees_figure_save(const gbees_figure *figure, const char *path, gbees_error *error)
{
    FILE *file = fopen(path, "wb");
    cairo_status_t status = cairo_status(figure->cairo);
    int reason;

    if (!file)
        return gbees_error_set(error, GBEES_EIO, "can't write %s: %s", path, strerror(errno));
    errno = 0;
    if (status == CAIRO_STATUS_SUCCESS)
        status = write_figure(figure, path, file);
    reason = errno;
    if (fclose(file) && status == CAIRO_STATUS_SUCCESS) {
        status = CAIRO_STATUS_WRITE_ERROR;
        reason = errno;
    }
    if (status == CAIRO_STATUS_SUCCESS)
        return GBEES_OK;
    (void)remove(path);
    return gbees_error_set(error, GBEES_EIO, "can't write %s: %s", path,
                           status == CAIRO_STATUS_WRITE_ERROR && reason ? strerror(reason)
                                                                        : cairo_status_to_string(status));
}

/* Where fontconfig finds no font at all, cairo takes a plain one of its own, a "user font". Returns 1 if so: that
 * font has ASCII only. */
static int choose_font(gbees_figure *figure, double size, int bold)
{
    cairo_select_font_face(figure->cairo, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(figure->cairo, size);
    return cairo_scaled_font_get_type(cairo_get_scaled_font(figure->cairo)) == CAIRO_FONT_TYPE_USER;
}

static void make_ascii(const char *text, char *plain, size_t size)
{
    static const struct {
        const char *from, *to;
    } table[] = {{"\u2212", "-"}, {"10\u207b", "10^-"}, {"\u2070", "0"}, {"\u00b9", "1"},  {"\u00b2", "2"},
                 {"\u00b3", "3"}, {"\u2074", "4"},      {"\u2075", "5"}, {"\u2076", "6"},  {"\u2077", "7"},
                 {"\u2078", "8"}, {"\u2079", "9"},      {"\u00b5", "u"}, {"\u00b0", "deg"}};
    const size_t rows = sizeof table / sizeof table[0];
    size_t length = 0, k;

    while (*text && length + 5 < size) {
        for (k = 0; k < rows && strncmp(text, table[k].from, strlen(table[k].from)) != 0; k++)
            ;
        if (k < rows) {
            length += (size_t)snprintf(plain + length, size - length, "%s", table[k].to);
            text += strlen(table[k].from);
        } else {
            const unsigned char byte = (unsigned char)*text++;

            if (byte < 0x80 || byte >= 0xc0) /* one mark for each character that is missing, not for each byte */
                plain[length++] = (char)(byte < 0x80 ? byte : '?');
        }
    }
    plain[length] = '\0';
}

/* Sets the font, and gives the text in the characters that it has. */
static const char *prepare_text(gbees_figure *figure, double size, int bold, const char *text, char *plain,
                                size_t plain_size)
{
    if (!choose_font(figure, size, bold))
        return text;
    make_ascii(text, plain, plain_size);
    return plain;
}

double gbees_figure_text_width(gbees_figure *figure, double size, int bold, const char *text)
{
    cairo_text_extents_t extents;
    char plain[512];

    cairo_text_extents(figure->cairo, prepare_text(figure, size, bold, text, plain, sizeof plain), &extents);
    return extents.x_advance;
}

void gbees_figure_color(gbees_figure *figure, gbees_rgb color, double alpha)
{
    cairo_set_source_rgba(figure->cairo, color.r, color.g, color.b, alpha);
}

void gbees_figure_text(gbees_figure *figure, const gbees_label *label, const char *text)
{
    cairo_t *cairo = figure->cairo;
    const double capital = 0.73 * label->size; /* the height of the letters, the same for every text */
    char plain[512];
    double x;

    text = prepare_text(figure, label->size, label->bold, text, plain, sizeof plain);
    cairo_save(cairo);
    x = -label->ax * gbees_figure_text_width(figure, label->size, label->bold, text);
    cairo_translate(cairo, label->x, label->y);
    if (label->upright)
        cairo_rotate(cairo, -1.57079632679489662);
    cairo_move_to(cairo, x, capital * (1 - label->ay));
    if (label->halo) {
        cairo_text_path(cairo, text);
        gbees_figure_color(figure, gbees_rgb_grey(1), 0.9);
        cairo_set_line_width(cairo, 0.28 * label->size);
        cairo_stroke(cairo);
        cairo_move_to(cairo, x, capital * (1 - label->ay));
    }
    gbees_figure_color(figure, label->color, 1);
    cairo_show_text(cairo, text);
    cairo_new_path(cairo); /* else the next path would begin at the end of the text */
    cairo_restore(cairo);
}

void gbees_figure_stroke(gbees_figure *figure, double width, gbees_rgb color)
{
    gbees_figure_color(figure, color, 1);
    cairo_set_line_width(figure->cairo, width);
    cairo_stroke(figure->cairo);
}

void gbees_figure_line(gbees_figure *figure, double x0, double y0, double x1, double y1, double width,
                       gbees_rgb color)
{
    cairo_move_to(figure->cairo, x0, y0);
    cairo_line_to(figure->cairo, x1, y1);
    gbees_figure_stroke(figure, width, color);
}

int gbees_scale_is_ample(double lo, double hi, double all_lo, double all_hi)
{
    return 8 * (hi - lo) >= all_hi - all_lo;
}

double gbees_panel_x(const gbees_panel *panel, double x)
{
    return panel->x + panel->width * (x - panel->lo[0]) / (panel->hi[0] - panel->lo[0]);
}

double gbees_panel_y(const gbees_panel *panel, double y)
{
    return panel->y + panel->height * (panel->hi[1] - y) / (panel->hi[1] - panel->lo[1]);
}

/* The width of the widest label below the panel, by a guess. */
static double guess_width(const gbees_panel *panel, double text_size)
{
    const gbees_ticks *ticks = &panel->ticks[0];
    size_t longest = 0;

    for (int k = 0; k < ticks->count; k++)
        longest = strlen(ticks->text[k]) > longest ? strlen(ticks->text[k]) : longest;
    return 0.6 * text_size * (double)longest;
}

/* Whether neighbouring labels below the panel would have less than a character between them. */
static int is_crowded(const gbees_panel *panel, double text_size)
{
    const gbees_ticks *ticks = &panel->ticks[0];

    return ticks->count > 1 && gbees_panel_x(panel, ticks->value[1]) - gbees_panel_x(panel, ticks->value[0]) <
                                   guess_width(panel, text_size) + 0.6 * text_size;
}

/* Makes the ticks below the panel. If labels may not stick out, ticks that are near its ends have no place. */
static void make_across(gbees_panel *panel, double text_size, int most)
{
    const double length = panel->hi[0] - panel->lo[0];

    gbees_ticks_make(&panel->ticks[0], panel->lo[0], panel->hi[0], most);
    const double out = 0.5 * guess_width(panel, text_size) - panel->overhang;
    if (panel->overhang > 0 && out > 0 && 3 * out < panel->width)
        gbees_ticks_make(&panel->ticks[0], panel->lo[0] + length * out / panel->width,
                         panel->hi[0] - length * out / panel->width, most);
}

void gbees_panel_ticks(gbees_panel *panel, double text_size)
{
    int across = (int)(panel->width / (4.2 * text_size)), up = (int)(panel->height / (3.2 * text_size));

    across = across > 8 ? 8 : across;
    up = up > 8 ? 8 : up;
    do
        make_across(panel, text_size, across);
    while (is_crowded(panel, text_size) && --across >= 2);
    gbees_ticks_make(&panel->ticks[1], panel->lo[1], panel->hi[1], up);
}

void gbees_panel_grid(gbees_figure *figure, const gbees_panel *panel)
{
    const gbees_rgb grey = gbees_rgb_grey(0.90);

    for (int k = 0; k < panel->ticks[0].count; k++) {
        const double x = gbees_panel_x(panel, panel->ticks[0].value[k]);

        gbees_figure_line(figure, x, panel->y, x, panel->y + panel->height, 0.6, grey);
    }
    for (int k = 0; k < panel->ticks[1].count; k++) {
        const double y = gbees_panel_y(panel, panel->ticks[1].value[k]);

        gbees_figure_line(figure, panel->x, y, panel->x + panel->width, y, 0.6, grey);
    }
}

/* Whether a tick label stays clear of those of the next panel. */
static int is_within(gbees_figure *figure, const gbees_panel *panel, double x, double size, const char *text)
{
    const double half = 0.5 * gbees_figure_text_width(figure, size, 0, text);

    return panel->overhang <= 0 ||
           (x - half >= panel->x - panel->overhang && x + half <= panel->x + panel->width + panel->overhang);
}

static void draw_axis_x(gbees_figure *figure, const gbees_panel *panel, double size, const char *title)
{
    const double bottom = panel->y + panel->height;
    gbees_label label = {.size = size, .ax = 0.5, .ay = 0, .color = gbees_rgb_grey(0.15)};

    for (int k = 0; k < panel->ticks[0].count; k++) {
        label.x = gbees_panel_x(panel, panel->ticks[0].value[k]);
        label.y = bottom + 0.65 * size;
        gbees_figure_line(figure, label.x, bottom, label.x, bottom + 3.5, 0.8, gbees_rgb_grey(0.35));
        if (title && is_within(figure, panel, label.x, size, panel->ticks[0].text[k]))
            gbees_figure_text(figure, &label, panel->ticks[0].text[k]);
    }
    if (!title)
        return;
    label.x = panel->x + panel->width / 2;
    label.y = bottom + 2.2 * size;
    label.size = 1.1 * size;
    gbees_figure_text(figure, &label, title);
}

static double widest_label(gbees_figure *figure, const gbees_ticks *ticks, double size)
{
    double widest = 0;

    for (int k = 0; k < ticks->count; k++)
        widest = fmax(widest, gbees_figure_text_width(figure, size, 0, ticks->text[k]));
    return widest;
}

double gbees_panel_left(gbees_figure *figure, const gbees_panel *panel, double text_size)
{
    return widest_label(figure, &panel->ticks[1], text_size) + 2.9 * text_size;
}

static void draw_axis_y(gbees_figure *figure, const gbees_panel *panel, double size, const char *title)
{
    gbees_label label = {.size = size, .ax = 1, .ay = 0.5, .color = gbees_rgb_grey(0.15)};
    const double widest = widest_label(figure, &panel->ticks[1], size);

    for (int k = 0; k < panel->ticks[1].count; k++) {
        label.x = panel->x - 0.65 * size;
        label.y = gbees_panel_y(panel, panel->ticks[1].value[k]);
        gbees_figure_line(figure, panel->x - 3.5, label.y, panel->x, label.y, 0.8, gbees_rgb_grey(0.35));
        if (title)
            gbees_figure_text(figure, &label, panel->ticks[1].text[k]);
    }
    if (!title)
        return;
    label = (gbees_label){.x = panel->x - 1.3 * size - widest,
                          .y = panel->y + panel->height / 2,
                          .size = 1.1 * size,
                          .ax = 0.5,
                          .ay = 1,
                          .color = gbees_rgb_grey(0.15),
                          .upright = 1};
    gbees_figure_text(figure, &label, title);
}

void gbees_panel_frame(gbees_figure *figure, const gbees_panel *panel, double text_size, const char *title_x,
                       const char *title_y)
{
    draw_axis_x(figure, panel, text_size, title_x);
    draw_axis_y(figure, panel, text_size, title_y);
    cairo_rectangle(figure->cairo, panel->x, panel->y, panel->width, panel->height);
    gbees_figure_stroke(figure, 0.9, gbees_rgb_grey(0.35));
}

void gbees_panel_clip(gbees_figure *figure, const gbees_panel *panel)
{
    cairo_save(figure->cairo);
    cairo_rectangle(figure->cairo, panel->x, panel->y, panel->width, panel->height);
    cairo_clip(figure->cairo);
}
