/* animate.c - a picture of each record, one after the other, with the same axes: see animate.h. */
#include "animate.h"
#include "base/no_memory.h"
#include "region.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FRAMES_MOST = 200, WIDTH = 1000 };

/* Ranges and peaks of all records of a gallery. A peak is 0, each record's own, if they differ by more than eight. */
static void find_frame(const gbees_gallery *all, gbees_frame *frame)
{
    for (int j = 0; j < all->dimension; j++) {
        double least = INFINITY;

        frame->lo[j] = INFINITY;
        frame->hi[j] = -INFINITY;
        frame->peak[j] = 0;
        for (size_t k = 0; k < all->count; k++) {
            const gbees_density *density = all->shot[k].marginal[j];
            double lo, hi;

            gbees_density_extent(density, &lo, &hi);
            frame->lo[j] = fmin(frame->lo[j], lo);
            frame->hi[j] = fmax(frame->hi[j], hi);
            frame->peak[j] = fmax(frame->peak[j], density->peak);
            least = fmin(least, density->peak);
        }
        frame->peak[j] = frame->peak[j] <= 8 * least ? frame->peak[j] : 0;
    }
}

static int draw_record(const gbees_gallery *gallery, const gbees_draw_options *options, gbees_figure **figure,
                       gbees_error *error)
{
    return gallery->picture_dimension == 3   ? gbees_draw_isosurfaces(gallery, options, figure, error)
           : gallery->picture_dimension == 2 ? gbees_draw_density(gallery, options, figure, error)
                                             : gbees_draw_marginals(gallery, options, figure, error);
}

/* What all frames have in common. */
typedef struct film {
    const gbees_gallery *all;
    const gbees_choice *choice;
    gbees_frame frame;
} film;

/* Draws one record of the folder. */
static int make_figure(const film *f, const gbees_shot *shot, const gbees_draw_options *options,
                       gbees_figure **figure, gbees_error *error)
{
    char record[64];
    gbees_choice one = *f->choice;
    gbees_gallery *gallery;

    (void)snprintf(record, sizeof record, "%d:%d", shot->leg, shot->number);
    one.records = record;
    one.is_plain = 0;
    int status = gbees_gallery_create(f->all->folder, &one, &gallery, error);
    if (status)
        return status;
    gallery->frame = options->scale == GBEES_SCALE_PANEL ? NULL : &f->frame;
    status = draw_record(gallery, options, figure, error);
    gbees_gallery_destroy(gallery);
    return status;
}

/* Draws frame number `k`, and saves it. */
static int make_frame(const film *f, size_t k, size_t count, gbees_draw_options *draw, const char *out,
                      gbees_error *error)
{
    char *path = NULL;
    gbees_figure *figure;
    int status = make_figure(f, &f->all->shot[gbees_gallery_pick(k, count, f->all->count)], draw, &figure, error);

    if (status)
        return status;
    draw->pixel_height = cairo_image_surface_get_height(figure->surface); /* all are as high as the first */
    if (asprintf(&path, "%s/frame%03zu.png", out, k + 1) < 0)
        path = NULL;
    status = path ? gbees_figure_save(figure, path, error) : gbees_no_memory(error, "for a picture's path");
    free(path);
    gbees_figure_destroy(figure);
    return status;
}

int gbees_animate(const char *folder, const gbees_choice *choice, const gbees_draw_options *options, const char *out,
                  gbees_error *error)
{
    gbees_choice plain = *choice;
    gbees_draw_options draw = *options;
    gbees_gallery *all;

    plain.is_plain = 1;
    plain.samples = 0;
    if (!draw.pixel_width)
        draw.pixel_width = WIDTH;
    int status = gbees_gallery_create(folder, &plain, &all, error);
    if (status)
        return status;
    film f = {.all = all, .choice = choice};
    const size_t count = all->count < FRAMES_MOST ? all->count : FRAMES_MOST;
    find_frame(all, &f.frame);
    for (size_t k = 0; k < count && !status; k++)
        status = make_frame(&f, k, count, &draw, out, error);
    gbees_gallery_destroy(all);
    return status;
}
