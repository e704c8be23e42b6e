/* other.c - finds for each picture the densities of the other runs that belong to it, and draws their lines and
 * legend. */
#include "other.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STYLES = 8 };

static const double line_height = 21, stroke = 30;

static const gbees_style styles[STYLES] = {
    {{0.00, 0.00, 0.00}, 2, {7, 3.5}},
    {{0.80, 0.30, 0.02}, 2, {1.8, 2.4}},
    {{0.55, 0.10, 0.55}, 4, {10, 3, 2, 3}},
    {{0.45, 0.28, 0.08}, 2, {3.5, 3}},
    {{0.05, 0.30, 0.75}, 6, {7, 2.5, 2, 2.5, 2, 2.5}},
    {{0.75, 0.05, 0.25}, 2, {14, 4}},
    {{0.35, 0.35, 0.35}, 4, {4, 2, 1.5, 2}},
    {{0.10, 0.45, 0.45}, 2, {1.8, 5}},
};

gbees_style gbees_other_style(int k)
{
    return styles[k % STYLES];
}

/* ---- what there is ------------------------------------------------------------------------------------------ */

/* Whether shot k is the last of its leg: only those have others' densities in figures. */
static int is_last_of_leg(const gbees_gallery *gallery, size_t k)
{
    return k + 1 == gallery->count || gallery->shot[k + 1].leg != gallery->shot[k].leg;
}

/* Writes "x (km), y (km)". */
static void list_states(const gbees_gallery *gallery, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (int j = 0; j < gallery->dimension && used < size; j++) {
        const char *unit = strcmp(gallery->unit[j], "-") == 0 ? "" : gallery->unit[j];
        const int length = snprintf(text + used, size - used, "%s%s%s%s%s", j ? ", " : "", gallery->name[j],
                                    *unit ? " (" : "", unit, *unit ? ")" : "");

        used += length > 0 ? (size_t)length : 0;
    }
}

int gbees_other_add_run(gbees_gallery *gallery, gbees_gallery *run, gbees_error *error)
{
    int differ = run->dimension != gallery->dimension, common = 0;
    char own[400], others[400];

    gallery->run[gallery->others++] = run;
    for (int j = 0; j < gallery->dimension && !differ; j++)
        differ = strcmp(run->name[j], gallery->name[j]) != 0 || strcmp(run->unit[j], gallery->unit[j]) != 0;
    list_states(gallery, own, sizeof own);
    list_states(run, others, sizeof others);
    if (differ)
        return gbees_error_set(error, GBEES_EINPUT,
                               "%s has the states %s, and %s the states %s: give runs of the same model",
                               gallery->folder, own, run->folder, others);
    for (size_t k = 0; k < gallery->count; k++)
        common |= is_last_of_leg(gallery, k) &&
                  gbees_other_marginal(gallery, &gallery->shot[k], gallery->others - 1, 0) != NULL;
    return common ? GBEES_OK
                  : gbees_error_set(error, GBEES_EINPUT,
                                    "%s has no record at the end of a leg of %s, at t = %g: choose records that both "
                                    "have (--records)",
                                    run->folder, gallery->folder, gallery->shot[gallery->count - 1].time);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

void gbees_other_name_runs(gbees_gallery *gallery, char *const *folders)
{
    int are_short = 1;

    for (int k = 0; k <= gallery->others; k++) {
        are_short = are_short && *last_part(folders[k]) && strcmp(last_part(folders[k]), ".") != 0;
        for (int l = 0; l < k; l++)
            are_short = are_short && strcmp(last_part(folders[k]), last_part(folders[l])) != 0;
    }
    for (int k = 0; k <= gallery->others; k++) {
        char *to = k ? gallery->other_name[k - 1] : gallery->own_name;

        (void)snprintf(to, sizeof gallery->own_name, "%s", are_short ? last_part(folders[k]) : folders[k]);
    }
}

const gbees_density *gbees_other_marginal(const gbees_gallery *gallery, const gbees_shot *shot, int k, int state)
{
    const gbees_gallery *run = gallery->run[k];

    for (size_t i = 0; i < run->count; i++)
        if (run->shot[i].leg == shot->leg && fabs(run->shot[i].time - shot->time) <= 1e-6 * fabs(shot->time) + 1e-12)
            return run->shot[i].marginal[state];
    return NULL;
}

void gbees_other_range(const gbees_gallery *gallery, const gbees_shot *shot, int state, double *lo, double *hi)
{
    const double most_added = 0.25 * (*hi - *lo), least = *lo - most_added, most = *hi + most_added;

    for (int k = 0; k < gallery->others; k++) {
        const gbees_density *density = gbees_other_marginal(gallery, shot, k, state);
        double a, b;

        if (!density)
            continue;
        gbees_density_range(density, 0, 0.01, &a, &b);
        *lo = fmin(*lo, fmax(a, least));
        *hi = fmax(*hi, fmin(b, most));
    }
}

double gbees_other_peak(const gbees_gallery *gallery, const gbees_shot *shot, int state, double peak)
{
    double most = peak;

    for (int k = 0; k < gallery->others; k++) {
        const gbees_density *density = gbees_other_marginal(gallery, shot, k, state);

        most = density ? fmax(most, fmin(density->peak, 2 * peak)) : most;
    }
    return most;
}

/* ---- drawing ------------------------------------------------------------------------------------------------ */

void gbees_style_stroke(gbees_figure *figure, const gbees_style *style, double width)
{
    cairo_set_dash(figure->cairo, style->dash, style->count, 0);
    gbees_figure_stroke(figure, width, style->color);
    cairo_set_dash(figure->cairo, NULL, 0, 0);
}

void gbees_other_line(gbees_figure *figure, const gbees_panel *panel, const gbees_density *density,
                      const gbees_style *style, double width)
{
    for (size_t i = 0; i < density->length[0]; i++)
        cairo_line_to(figure->cairo, gbees_panel_x(panel, density->first[0] + density->width[0] * (double)i),
                      gbees_panel_y(panel, density->value[i]));
    gbees_style_stroke(figure, style, width);
}

void gbees_other_lines(gbees_figure *figure, const gbees_panel *panel, const gbees_gallery *gallery,
                       const gbees_shot *shot, int state)
{
    for (int k = 0; k < gallery->others; k++) {
        const gbees_density *density = gbees_other_marginal(gallery, shot, k, state);
        const gbees_style style = gbees_other_style(k);

        if (density)
            gbees_other_line(figure, panel, density, &style, 1.5);
    }
}

/* ---- the legend --------------------------------------------------------------------------------------------- */

double gbees_other_legend_height(const gbees_gallery *gallery)
{
    return gallery->others ? line_height * (gallery->others + 2) : 0;
}

double gbees_other_legend_width(gbees_figure *figure, const gbees_gallery *gallery, double text_size)
{
    double widest = gbees_figure_text_width(figure, text_size, 0, gallery->own_name);

    for (int k = 0; k < gallery->others; k++)
        widest = fmax(widest, gbees_figure_text_width(figure, text_size, 0, gallery->other_name[k]));
    return gallery->others ? stroke + 8 + widest : 0;
}

static void write_entry(gbees_figure *figure, double x, double y, double width, double text_size, const char *text)
{
    const double room = width - stroke - 8, needed = gbees_figure_text_width(figure, text_size, 0, text);
    const gbees_label label = {.x = x + stroke + 8,
                               .y = y,
                               .size = text_size * fmin(1, room / fmax(1, needed)),
                               .ay = 0.5,
                               .color = gbees_rgb_grey(0.15)};

    gbees_figure_text(figure, &label, text);
}

void gbees_other_legend(gbees_figure *figure, const gbees_gallery *gallery, const double at[2], double width,
                        gbees_rgb own, double text_size)
{
    double y = at[1] + 0.5 * line_height;
    const gbees_label title = {.x = at[0], .y = y, .size = text_size, .ay = 0.5, .color = gbees_rgb_grey(0.15)};

    if (!gallery->others)
        return;
    gbees_figure_text(figure, &title, "density of");
    y += line_height;
    gbees_figure_line(figure, at[0], y, at[0] + stroke, y, 3, own);
    write_entry(figure, at[0], y, width, text_size, gallery->own_name);
    y += line_height;
    for (int k = 0; k < gallery->others; k++, y += line_height) {
        const gbees_style style = gbees_other_style(k);

        cairo_move_to(figure->cairo, at[0], y);
        cairo_line_to(figure->cairo, at[0] + stroke, y);
        gbees_style_stroke(figure, &style, 1.6);
        write_entry(figure, at[0], y, width, text_size, gallery->other_name[k]);
    }
}
