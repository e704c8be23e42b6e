/* note.c - common parts of figures: their page, and the line under them with the records' certificate. */
#include "draw.h"
#include <math.h>
#include <stdio.h>

int gbees_draw_page(const gbees_draw_options *options, double height, gbees_figure **figure, gbees_error *error)
{
    return (options->vector ? gbees_figure_create_vector : gbees_figure_create)(height, options->pixel_width,
                                                                                options->pixel_height, figure, error);
}

/* The worst of each figure of the shots first .. last that have a certificate; of one shot, its own. */
static gbees_worst find_worst(const gbees_gallery *gallery, size_t first, size_t last)
{
    gbees_worst worst = {0};

    for (size_t k = first; k <= last; k++)
        if (gallery->shot[k].certified)
            gbees_worst_add(&worst, &gallery->shot[k].certificate, gallery->dimension, gallery->shot[k].time);
    return worst;
}

void gbees_gallery_note(const gbees_gallery *gallery, size_t first, size_t last, char *text, size_t size)
{
    const gbees_worst worst = find_worst(gallery, first, last);
    const char *const reason = worst.certificate.reason;
    char bounds[GBEES_CERTIFICATE_TEXT];

    text[0] = 0;
    if (!worst.count)
        return;
    if (last > first)
        gbees_worst_text(&worst, gallery->dimension, 1, bounds, sizeof bounds);
    else
        gbees_certificate_text(&worst.certificate, gallery->dimension, 1, bounds, sizeof bounds);
    (void)snprintf(text, size, "%s%serror%s %s", gallery->own_name, gallery->own_name[0] ? ": " : "",
                   !reason[0]     ? " \u2264"
                   : last > first ? ""
                                  : ":",
                   bounds);
}

double gbees_note_height(const gbees_gallery *gallery)
{
    return find_worst(gallery, 0, gallery->count - 1).count ? 24 : 0;
}

void gbees_draw_note(gbees_figure *figure, const gbees_gallery *gallery, size_t first, size_t last,
                     const gbees_label *at, double width)
{
    gbees_label label = *at;
    char text[2 * GBEES_CERTIFICATE_TEXT];
    double needed;

    gbees_gallery_note(gallery, first, last, text, sizeof text);
    label.color = gbees_rgb_grey(0.3);
    needed = gbees_figure_text_width(figure, label.size, 0, text);
    label.size *= fmin(1, width / fmax(1, needed));
    gbees_figure_text(figure, &label, text);
}
