/* plot.c - the command gbees-plot: draws the records of a results folder. */
#include "command/crash.h"
#include "plot/animate.h"
#include "plot/other.h"
#include "plot_child.h"
#include "plot_pictures.h"
#include "results/hdf5/hdf5_driver.h"
#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_OUTPUT = 'o',
    KEY_VERSION = 'V',
    KEY_VIEW = 0x100,
    KEY_AXES,
    KEY_RECORDS,
    KEY_SIZE,
    KEY_SAMPLES,
    KEY_FORMAT,
    KEY_FRAMES,
    KEY_SCALE
};
enum { PIXELS_LEAST = 200, PIXELS_MOST = 16384 };

static const struct argp_option option_table[] = {
    {"output", KEY_OUTPUT, "DIR|FILE", 0,
     "folder for the pictures (default: RUN/plots); or a file for the first of them: FILE.png, .pdf or .svg", 0},
    {"frames", KEY_FRAMES, 0, 0,
     "in place of the pictures, a PNG of each record, or of 200 of them, with the same axes: frames of a film", 0},
    {"format", KEY_FORMAT, "LIST", 0, "png, pdf, svg or several of them, separated by commas (default: png)", 0},
    {"records", KEY_RECORDS, "LIST", 0,
     "records to draw: LEG, LEG:NUMBER or LEG:FIRST-LAST, separated by commas (default: all)", 0},
    {"axes", KEY_AXES, "LIST", 0,
     "two or three states, by number from 1 or by name: draw their joint density (default: all, if there are two or "
     "three)",
     0},
    {"view", KEY_VIEW, "AZ,EL", 0, "direction from which isosurfaces are seen, in degrees (default: -109,14)", 0},
    {"samples", KEY_SAMPLES, 0, 0, "samples of the model at the same times, over densities and below isosurfaces", 0},
    {"scale", KEY_SCALE, "panel|shared", 0,
     "axes of each panel's own range, or of one range for all panels (default: shared, unless a density would fill "
     "less than an eighth of its panel)",
     0},
    {"size", KEY_SIZE, "WIDTHxHEIGHT", 0, "pixels of each picture (default: 2400 wide, as high as needed)", 0},
    {"version", KEY_VERSION, 0, 0, "print the version", -1},
    {0},
};

static void parse_view(const char *text, gbees_draw_options *draw, struct argp_state *state)
{
    char *end;

    draw->azimuth = strtod(text, &end);
    if (end != text && *end == ',') {
        const char *second = end + 1;

        draw->elevation = strtod(second, &end);
        if (end != second && !*end && isfinite(draw->azimuth) && fabs(draw->elevation) <= 90)
            return;
    }
    argp_error(state, "--view %s: give two angles in degrees, the second from -90 to 90, for example -109,14", text);
}

static void parse_size(const char *text, gbees_draw_options *draw, struct argp_state *state)
{
    char *end;
    const long width = strtol(text, &end, 10), height = *end == 'x' ? strtol(end + 1, &end, 10) : 0;

    if (*end || width < PIXELS_LEAST || width > PIXELS_MOST || height < PIXELS_LEAST || height > PIXELS_MOST) {
        argp_error(state, "--size %s: give WIDTHxHEIGHT in pixels from %d to %d, for example 2400x1400", text,
                   PIXELS_LEAST, PIXELS_MOST);
        return;
    }
    draw->pixel_width = (int)width;
    draw->pixel_height = (int)height;
}

static void parse_formats(const char *text, gbees_plot_command *c, struct argp_state *state)
{
    c->formats = 0;
    for (const char *word = text; word; word = strchr(word, ',') ? strchr(word, ',') + 1 : NULL) {
        const size_t length = strcspn(word, ",");
        const int found = gbees_plot_format(word, length);

        if (found < 0)
            argp_error(state, "--format %s: give png, pdf, svg or several of them, separated by commas", text);
        c->formats |= 1u << (found > 0 ? found : 0);
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    gbees_plot_command *c = state->input;

    switch (key) {
    case KEY_OUTPUT:
        c->output = text;
        break;
    case KEY_RECORDS:
        c->records = text;
        if (!gbees_selection_valid(text))
            argp_error(state, "--records %s: give LEG, LEG:NUMBER or LEG:FIRST-LAST, separated by commas", text);
        break;
    case KEY_AXES:
        c->axes = text;
        break;
    case KEY_VIEW:
        parse_view(text, &c->draw, state);
        break;
    case KEY_SIZE:
        parse_size(text, &c->draw, state);
        break;
    case KEY_SCALE:
        if (strcmp(text, "panel") != 0 && strcmp(text, "shared") != 0)
            argp_error(state, "--scale %s: give panel or shared", text);
        c->draw.scale = text[0] == 'p' ? GBEES_SCALE_PANEL : GBEES_SCALE_SHARED;
        break;
    case KEY_FORMAT:
        parse_formats(text, c, state);
        break;
    case KEY_FRAMES:
        c->frames = 1;
        break;
    case KEY_SAMPLES:
        c->draw.samples = 1;
        break;
    case KEY_VERSION:
        printf("gbees-plot %s\n", gbees_version());
        exit(EXIT_SUCCESS);
    case ARGP_KEY_ARG:
        if (c->folders == GBEES_PLOT_RUNS)
            argp_error(state, "at most %d folders: '%s' is one too many", GBEES_PLOT_RUNS, text);
        c->folder[c->folders++] = text;
        break;
    case ARGP_KEY_END:
        if (c->folders > 1 && c->axes)
            argp_error(state, "--axes goes with one folder: of several there are marginals and time series");
        if (c->frames && (c->folders > 1 || gbees_plot_file_format(c->output) >= 0))
            argp_error(state, "--frames: give one folder of results, and a folder, if any, as --output");
        break;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "give the folder that gbees-run wrote");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* Reads the first folder, and the densities to be drawn over its own: of the other folders. */
static int read_runs(const gbees_plot_command *c, gbees_gallery **gallery, gbees_error *error)
{
    const gbees_choice choice = {
        .records = c->records, .states = c->axes, .samples = c->draw.samples, .is_plain = c->folders > 1};
    int status = gbees_gallery_create(c->folder[0], &choice, gallery, error);

    for (int k = 1; k < c->folders && !status; k++) {
        gbees_gallery *run;

        status = gbees_gallery_create(c->folder[k], &choice, &run, error);
        if (!status)
            status = gbees_other_add_run(*gallery, run, error);
    }
    if (!status && c->folders > 1)
        gbees_other_name_runs(*gallery, c->folder);
    return status;
}

static int animate(const gbees_plot_command *c, gbees_error *error)
{
    const gbees_choice choice = {.records = c->records, .states = c->axes, .samples = c->draw.samples};
    char *folder = NULL;
    int status = gbees_plot_folder(c, &folder, error);

    if (!status)
        status = gbees_animate(c->folder[0], &choice, &c->draw, folder, error);
    if (!status)
        status = gbees_plot_child_tell(c->descriptor, folder, error);
    free(folder);
    return status;
}

static int plot(void *context, int descriptor, gbees_error *error)
{
    gbees_plot_command *c = context;
    gbees_gallery *gallery = NULL;

    c->descriptor = descriptor;
    if (c->frames)
        return animate(c, error);
    int status = read_runs(c, &gallery, error);
    if (!status)
        status = gbees_plot_make(gallery, c, error);
    gbees_gallery_destroy(gallery);
    return status;
}

/* Says what damage has taken from the folders; here, as the child that draws has no standard error. */
static int warn_of_damage(const gbees_plot_command *c, gbees_error *error)
{
    int status = GBEES_OK;

    for (int k = 0; k < c->folders && !status; k++) {
        gbees_results *results = NULL;

        status = gbees_results_open(c->folder[k], &results, error);
        if (!status && gbees_results_lost(results))
            (void)fprintf(stderr, "gbees-plot: warning: %s\n", gbees_results_lost(results));
        gbees_results_destroy(results);
    }
    return status;
}

int main(int argc, char **argv)
{
    static const char text[] =
        "Draw the records of RUN, a folder that gbees-run wrote, as PNG pictures, and print their paths. Of several "
        "runs the densities of each state and its time series are drawn over each other.\v"
        "series.png     every state against time, of a run with more than three measurements\n"
        "marginals.png  1-D densities of every state, a line a record\n"
        "corner.png     every state against every other, in the last record\n"
        "density.png    joint density of two states\n"
        "isosurface.png joint density of three states, at 0.607, 0.135 and 0.011 of its maximum\n"
        "picture.png    the one of these to look at first\n"
        "runs-*.png     marginals and series of several runs together\n\n"
        "Exit status: 0 if all is drawn, 1 if something went wrong, 2 for a wrong command line.";
    static const gbees_crash_texts texts = {
        .crash = "gbees-plot: the program crashed, in a library perhaps, for lack of memory\n",
        .hdf5 = "gbees-plot: HDF5 crashed, as it does for lack of memory\n"};
    const struct argp parser = {option_table, parse_option, "RUN [RUN...]", text, NULL, NULL, NULL};
    gbees_plot_command c = {.formats = 1, .draw = {.azimuth = -109, .elevation = 14}};
    gbees_error error = {0};
    int status;

    argp_err_exit_status = 2;
    if (argp_parse(&parser, argc, argv, 0, NULL, &c))
        status = gbees_error_set(&error, GBEES_ENOMEM, "not enough memory for the command line");
    else {
        gbees_crash_explain(&texts);
        status = gbees_hdf5_start(&error);
    }
    if (!status)
        status = warn_of_damage(&c, &error);
    if (!status)
        status = gbees_plot_child_run(plot, &c, &error);
    if (status)
        fprintf(stderr, "gbees-plot: %s\n", error.text);
    return status == GBEES_OK ? 0 : status == GBEES_EUSAGE ? 2 : 1;
}
