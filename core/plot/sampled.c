/* sampled.c - counts the samples in bins of a panel, as wide as Scott's rule has it, or draws each as a dot. */
#include "sampled.h"
#include <math.h>

enum { BINS = 200 };

static const gbees_rgb dot_color = {0.80, 0.30, 0.02};
static const double dot_size = 1.6;

/* The number of samples in each of so many bins of the panel. */
static void count_samples(const gbees_panel *panel, const gbees_shot *shot, int state, int bins, size_t count[BINS])
{
    for (int b = 0; b < bins; b++)
        count[b] = 0;
    for (size_t i = 0; i < shot->samples; i++) {
        const double place = bins * ((double)shot->sample[state][i] - panel->lo[0]) / (panel->hi[0] - panel->lo[0]);

        if (place >= 0 && place < bins)
            count[(int)place]++;
    }
}

/* How many bins the panel gets: Scott's width for the Gaussian that has the same integral of the density's square. */
static int choose_bins(const gbees_panel *panel, const gbees_shot *shot, int state)
{
    const double samples = (double)shot->samples;
    size_t count[BINS];
    double squares = 0;

    count_samples(panel, shot, state, BINS, count);
    for (int b = 0; b < BINS; b++)
        squares += (double)count[b] * (double)count[b] / (samples * samples);
    squares = fmax(squares - 1 / samples, 1.0 / BINS); /* less its bias by a finite number of samples */
    const double bins = ceil(BINS * squares * 2 * 1.77245385 * cbrt(samples) / 3.5);
    return bins < BINS ? (int)bins : BINS;
}

void gbees_sampled_extend_panel(gbees_panel *panel, const gbees_shot *shot, int state)
{
    size_t count[BINS], most = 0;

    if (shot->samples == 0)
        return;
    const int bins = choose_bins(panel, shot, state);
    count_samples(panel, shot, state, bins, count);
    for (int b = 0; b < bins; b++)
        most = count[b] > most ? count[b] : most;
    const double peak = (double)most / (double)shot->samples * bins / (panel->hi[0] - panel->lo[0]);
    panel->hi[1] = fmax(panel->hi[1], fmin(1.05 * peak, 2 * panel->hi[1]));
}

void gbees_sampled_histogram(gbees_figure *figure, const gbees_panel *panel, const gbees_shot *shot, int state)
{
    size_t count[BINS];

    if (shot->samples == 0)
        return;
    const int bins = choose_bins(panel, shot, state);
    const double width = (panel->hi[0] - panel->lo[0]) / bins;
    count_samples(panel, shot, state, bins, count);
    for (int b = 0; b < bins; b++) {
        const double y = gbees_panel_y(panel, (double)count[b] / ((double)shot->samples * width));

        cairo_line_to(figure->cairo, gbees_panel_x(panel, panel->lo[0] + width * b), y);
        cairo_line_to(figure->cairo, gbees_panel_x(panel, panel->lo[0] + width * (b + 1)), y);
    }
    gbees_figure_stroke(figure, 1.1, dot_color);
}

void gbees_sampled_dots(gbees_figure *figure, const gbees_panel *panel, const gbees_shot *shot, int across, int up)
{
    gbees_panel_clip(figure, panel);
    gbees_figure_color(figure, dot_color, 0.55);
    for (size_t i = 0; i < shot->samples; i++) {
        const double x = gbees_panel_x(panel, (double)shot->sample[across][i]);
        const double y = gbees_panel_y(panel, (double)shot->sample[up][i]);

        cairo_rectangle(figure->cairo, x - dot_size / 2, y - dot_size / 2, dot_size, dot_size);
    }
    cairo_fill(figure->cairo);
    cairo_restore(figure->cairo);
}
