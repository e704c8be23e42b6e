/* region.c - finds the density above which a region holds a probability, from a histogram of the cells' densities;
 * sums a line for its quantiles and mean; draws the region and the truth. */
#include "region.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values are counted in bins of equal logarithms: 1024 a factor of e, down to exp(-20) of the peak. */
enum { BINS_A_FACTOR = 1024, BINS = 20 * BINS_A_FACTOR };

const double gbees_region_part[GBEES_REGIONS] = {0.997, 0.95, 0.68, 0.40, 0.20};

static const gbees_rgb truth_color = {0.75, 0.05, 0.05};

static size_t find_bin(double fraction)
{
    const double place = -log(fraction) * BINS_A_FACTOR;

    return place <= 0 ? 0 : place >= BINS - 1 ? BINS - 1 : (size_t)place;
}

void gbees_region_levels(const gbees_density *density, size_t count, const double *part, double *level)
{
    static const double lowest = 1e-300;
    const size_t cells = gbees_density_count(density);
    double *sum = calloc(BINS, sizeof *sum), total = 0;

    for (size_t k = 0; k < count; k++)
        level[k] = sum ? 1 : exp(-0.5 * (double)((count - k) * (count - k))); /* without memory: as of a Gaussian */
    if (!sum || !(density->peak > 0)) {
        free(sum);
        return;
    }
    for (size_t i = 0; i < cells; i++)
        if (density->value[i] > lowest) {
            sum[find_bin(density->value[i] / density->peak)] += density->value[i];
            total += density->value[i];
        }
    for (size_t k = 0; k < count; k++) {
        double above = 0;
        size_t bin = 0;

        while (bin + 1 < BINS && above + sum[bin] < part[k] * total)
            above += sum[bin++];
        level[k] = exp(-(double)(bin + 1) / BINS_A_FACTOR);
    }
    free(sum);
}

void gbees_density_quantiles(const gbees_density *density, size_t count, const double *below, double *at)
{
    const double start = density->first[0] - 0.5 * density->width[0];
    double total = 0, sum = 0;
    size_t k = 0;

    for (size_t i = 0; i < density->length[0]; i++)
        total += density->value[i];
    for (size_t i = 0; i < density->length[0]; i++) {
        const double here = density->value[i];

        for (; k < count && sum + here >= below[k] * total && here > 0; k++)
            at[k] = start + density->width[0] * ((double)i + (below[k] * total - sum) / here);
        sum += here;
    }
    for (; k < count; k++) /* rounding, or a density of zeros */
        at[k] = start + density->width[0] * (double)density->length[0];
}

void gbees_density_moments(const gbees_density *density, double *mean, double *std)
{
    double total = 0, first = 0, second = 0;

    for (size_t i = 0; i < density->length[0]; i++) {
        total += density->value[i];
        first += density->value[i] * (double)i;
    }
    first /= total;
    for (size_t i = 0; i < density->length[0]; i++)
        second += density->value[i] / total * ((double)i - first) * ((double)i - first);
    *mean = density->first[0] + density->width[0] * first;
    *std = density->width[0] * sqrt(second);
}

void gbees_density_extent(const gbees_density *density, double *lo, double *hi)
{
    static const double below[2] = {0.0005, 0.9995}, level = 0.003;
    double at[2];

    gbees_density_range(density, 0, level, lo, hi);
    gbees_density_quantiles(density, 2, below, at);
    *lo = fmin(*lo, at[0]);
    *hi = fmax(*hi, at[1]);
}

/* Where the density crosses `value` between the cells i and i + 1, on the page. */
static void line_to_crossing(gbees_figure *figure, const gbees_panel *panel, const gbees_density *density, size_t i,
                             double value)
{
    const double u = (value - density->value[i]) / (density->value[i + 1] - density->value[i]);
    const double x = gbees_panel_x(panel, density->first[0] + density->width[0] * ((double)i + u));

    cairo_line_to(figure->cairo, x, gbees_panel_y(panel, value));
}

/* Fills what is below the density where it is at least `value`. The first and the last cell are 0. */
static void fill_above(gbees_figure *figure, const gbees_panel *panel, const gbees_density *density, double value)
{
    cairo_t *cairo = figure->cairo;
    double x, y;

    for (size_t i = 1; i + 1 < density->length[0]; i++) {
        if (density->value[i] < value || density->value[i - 1] >= value)
            continue;
        line_to_crossing(figure, panel, density, i - 1, value);
        cairo_get_current_point(cairo, &x, &y);
        const double start = x;
        for (; i + 1 < density->length[0] && density->value[i] >= value; i++)
            cairo_line_to(cairo, gbees_panel_x(panel, density->first[0] + density->width[0] * (double)i),
                          gbees_panel_y(panel, density->value[i]));
        if (density->value[i] < value)
            line_to_crossing(figure, panel, density, i - 1, value);
        cairo_get_current_point(cairo, &x, &y);
        cairo_line_to(cairo, x, gbees_panel_y(panel, 0));
        cairo_line_to(cairo, start, gbees_panel_y(panel, 0));
        cairo_close_path(cairo);
        cairo_new_sub_path(cairo);
    }
    cairo_fill(cairo);
}

void gbees_region_fill(gbees_figure *figure, const gbees_panel *panel, const gbees_density *density, gbees_rgb color)
{
    static const double paleness[GBEES_REGIONS_LINED] = {0.86, 0.68, 0.42};
    double level[GBEES_REGIONS_LINED];

    gbees_region_levels(density, GBEES_REGIONS_LINED, gbees_region_part, level);
    for (int k = 0; k < GBEES_REGIONS_LINED; k++) {
        gbees_figure_color(figure, gbees_rgb_mix(color, gbees_rgb_grey(1), paleness[k]), 1);
        fill_above(figure, panel, density, level[k] * density->peak);
    }
}

void gbees_region_title(gbees_figure *figure, const gbees_panel *panel, const gbees_gallery *gallery,
                        const gbees_shot *shot, int state, double text_size)
{
    char text[192];

    gbees_ticks_moments(gallery->name[state], shot->mean[state], shot->std[state], text, sizeof text);
    const double needed = gbees_figure_text_width(figure, text_size, 0, text);
    const double room = panel->width + 50, size = text_size * fmin(1, room / fmax(1, needed));
    const double wide = needed * size / text_size; /* if wider than the panel it begins where that does */
    const gbees_label label = {.x = panel->x + fmax(0, (panel->width - wide) / 2),
                               .y = panel->y - 6,
                               .size = size,
                               .ay = 1,
                               .color = gbees_rgb_grey(0.1)};
    gbees_figure_text(figure, &label, text);
}

int gbees_gallery_truth(const gbees_gallery *gallery, const gbees_shot *shot, int state, double *value)
{
    const gbees_points *truth = gallery->series ? &gallery->series->truth[state] : NULL;

    for (size_t i = 0; truth && i < truth->count; i++)
        if (fabs(truth->time[i] - shot->time) <= 1e-9 * fabs(shot->time) && isfinite(truth->value[i])) {
            *value = truth->value[i];
            return 1;
        }
    return 0;
}

void gbees_region_truth(gbees_figure *figure, const gbees_panel *panel, const gbees_gallery *gallery,
                        const gbees_shot *shot, int state, int axis)
{
    double value;

    if (!gbees_gallery_truth(gallery, shot, state, &value))
        return;
    const double at = axis ? gbees_panel_y(panel, value) : gbees_panel_x(panel, value);
    if (axis)
        gbees_figure_line(figure, panel->x, at, panel->x + panel->width, at, 1.2, truth_color);
    else
        gbees_figure_line(figure, at, panel->y, at, panel->y + panel->height, 1.2, truth_color);
}
