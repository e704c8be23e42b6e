/* note.c - common parts of figures: their page, and the line under them with the records' certificate. */
#include "draw.h"
#include <math.h>
#include <stdio.h>

int gbees_draw_page(const gbees_draw_options *options, double height, gbees_figure **figure, gbees_error *error)
{
    return (options->vector ? gbees_figure_create_vector : gbees_figure_create)(height, options->pixel_width,
                                                                                options->pixel_height, figure, error);
}

/* Of the shots first .. last the one whose certificate has the largest bound of the moments, or none; NULL: no shot
 * has a certificate. */
static const gbees_shot *find_worst(const gbees_gallery *gallery, size_t first, size_t last)
{
    const gbees_shot *worst = NULL;
    double most = -1;

    for (size_t k = first; k <= last; k++) {
        const gbees_shot *shot = &gallery->shot[k];
        const double bound =
            gbees_certificate_error(&shot->certificate, gallery->dimension, GBEES_ACCURACY_MOMENTS).bound;

        if (shot->certified && !isnan(most) && !(bound <= most)) {
            worst = shot;
            most = bound;
        }
    }
    return worst;
}

void gbees_gallery_note(const gbees_gallery *gallery, size_t first, size_t last, char *text, size_t size)
{
    const gbees_shot *worst = find_worst(gallery, first, last);
    const double range = gallery->shot[gallery->count - 1].time - gallery->shot[0].time;
    char which[96] = "", bounds[GBEES_REASON_TEXT], time[64];
    int is_known;

    text[0] = 0;
    if (!worst)
        return;
    is_known = !worst->certificate.reason[0];
    gbees_certificate_text(&worst->certificate, gallery->dimension, 1, bounds, sizeof bounds);
    gbees_ticks_time(worst->time, range, time, sizeof time);
    if (last > first)
        (void)snprintf(which, sizeof which, " worst, at t = %s%s", time, is_known ? "," : "");
    (void)snprintf(text, size, "%s%serror%s%s%s %s", gallery->own_name, gallery->own_name[0] ? ": " : "",
                   is_known ? " \u2264" : "", which, is_known ? "" : ":", bounds);
}

double gbees_note_height(const gbees_gallery *gallery)
{
    return find_worst(gallery, 0, gallery->count - 1) ? 24 : 0;
}

void gbees_draw_note(gbees_figure *figure, const gbees_gallery *gallery, size_t first, size_t last,
                     const gbees_label *at, double width)
{
    gbees_label label = *at;
    char text[2 * GBEES_REASON_TEXT];
    double needed;

    gbees_gallery_note(gallery, first, last, text, sizeof text);
    label.color = gbees_rgb_grey(0.3);
    needed = gbees_figure_text_width(figure, label.size, 0, text);
    label.size *= fmin(1, width / fmax(1, needed));
    gbees_figure_text(figure, &label, text);
}
