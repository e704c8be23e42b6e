/* png.c - hands rows of pixels to libpng. cairo's own writer tries all five filters of PNG for each row, which takes
 * a quarter of the time of gbees-plot; for lines and areas of one colour the difference to the row above is as good.
 */
#include "png.h"
#include <png.h>
#include <setjmp.h>
#include <stdint.h>

enum { LEVEL = 4 }; /* of zlib's 1 to 9; half the time of its usual 6 */

/* libpng returns from an error by longjmp() to the call of setjmp() in write_image(). */
static void fail(png_structp png, const char *text)
{
    (void)text;
    png_longjmp(png, 1);
}

static void ignore(png_structp png, const char *text)
{
    (void)png;
    (void)text;
}

/* A pixel of cairo is a number of 32 bits whose highest byte means nothing. */
static void choose_layout(png_structp png)
{
    const uint32_t probe = 1;

    if (*(const unsigned char *)&probe) {
        png_set_bgr(png);
        png_set_filler(png, 0, PNG_FILLER_AFTER);
    } else
        png_set_filler(png, 0, PNG_FILLER_BEFORE);
}

/* 1 if it is written, 0 if libpng failed. */
static int write_image(png_structp png, png_infop info, cairo_surface_t *surface, FILE *file)
{
    const unsigned char *pixels = cairo_image_surface_get_data(surface);
    const int width = cairo_image_surface_get_width(surface), height = cairo_image_surface_get_height(surface);
    const ptrdiff_t stride = cairo_image_surface_get_stride(surface);

    if (setjmp(png_jmpbuf(png)))
        return 0;
    png_init_io(png, file);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_UP);
    png_set_compression_level(png, LEVEL);
    png_write_info(png, info);
    choose_layout(png);
    for (ptrdiff_t y = 0; y < height; y++)
        png_write_row(png, pixels + y * stride);
    png_write_end(png, info);
    return 1;
}

cairo_status_t gbees_png_write(cairo_surface_t *surface, FILE *file)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, fail, ignore);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    cairo_status_t status = CAIRO_STATUS_NO_MEMORY;

    cairo_surface_flush(surface);
    if (info)
        status = write_image(png, info, surface, file) ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
    png_destroy_write_struct(&png, &info);
    return status;
}
