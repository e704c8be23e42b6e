/* png.h - writes the pixels of a figure as a PNG file. */
#ifndef GBEES_PLOT_PNG_H
#define GBEES_PLOT_PNG_H

#include <cairo.h>
#include <stdio.h>

/* Writes an image surface of CAIRO_FORMAT_RGB24 to `file`, which stays open. CAIRO_STATUS_WRITE_ERROR with errno
 * where that fails, CAIRO_STATUS_NO_MEMORY. */
cairo_status_t gbees_png_write(cairo_surface_t *surface, FILE *file);

#endif
