/* other.h - densities of other runs that figures draw over those of a run. */
#ifndef GBEES_PLOT_OTHER_H
#define GBEES_PLOT_OTHER_H

#include "figure.h"
#include "gather.h"

/* How the lines of one look: each in a colour and dashes of its own, to be told apart in black and white, too. */
typedef struct gbees_style {
    gbees_rgb color;
    int count; /* of the dashes */
    double dash[6];
} gbees_style;

gbees_style gbees_other_style(int k);

/* Adds another run, which the gallery owns then, also after a failure. GBEES_EINPUT if its states are others. */
int gbees_other_add_run(gbees_gallery *gallery, gbees_gallery *run, gbees_error *error);
/* Gives the runs of a gallery, itself first, the names of their folders: without the path before, if they differ so.
 */
void gbees_other_name_runs(gbees_gallery *gallery, char *const *folders);

/* The density of a state at a shot's time; NULL: not known. */
const gbees_density *gbees_other_marginal(const gbees_gallery *gallery, const gbees_shot *shot, int k, int state);

/* Draws a density of one state as a line. */
void gbees_other_line(gbees_figure *figure, const gbees_panel *panel, const gbees_density *density,
                      const gbees_style *style, double width);
/* Draws the known densities of all others at a shot as lines. */
void gbees_other_lines(gbees_figure *figure, const gbees_panel *panel, const gbees_gallery *gallery,
                       const gbees_shot *shot, int state);
void gbees_style_stroke(gbees_figure *figure, const gbees_style *style, double width);

/* The legend: a line an entry, with a line above them. Its height and width in points, 0 if there are none. */
double gbees_other_legend_height(const gbees_gallery *gallery);
double gbees_other_legend_width(gbees_figure *figure, const gbees_gallery *gallery, double text_size);
/* Draws it; text is made smaller to be no wider than `width`. own: the colour of the run itself. */
void gbees_other_legend(gbees_figure *figure, const gbees_gallery *gallery, const double at[2], double width,
                        gbees_rgb own, double text_size);

/* Widens lo .. hi, the range of a shot's density, to those of the others: by a quarter of its length at most on
 * each side. */
void gbees_other_range(const gbees_gallery *gallery, const gbees_shot *shot, int state, double *lo, double *hi);
/* The largest value of the others, at most twice `peak`; at least `peak`. */
double gbees_other_peak(const gbees_gallery *gallery, const gbees_shot *shot, int state, double peak);

#endif
