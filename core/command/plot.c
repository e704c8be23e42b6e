/* plot.c - the command gbees-plot: draws the records of a results folder. */
#include "plot/draw.h"
#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    KEY_OUTPUT = 'o',
    KEY_VERSION = 'V',
    KEY_VIEW = 0x100,
    KEY_AXES,
    KEY_RECORDS,
    KEY_SIZE,
    KEY_SAMPLES,
    KEY_FORMAT
};
enum { PIXELS_LEAST = 200, PIXELS_MOST = 16384 };

enum { FORMATS = 3, MEASUREMENTS_FEW = 3 };
static const char *const format_names[FORMATS] = {"png", "pdf", "svg"};

typedef struct command {
    const char *folder, *output, *records, *axes;
    unsigned formats; /* bits, in the order of the names */
    gbees_draw_options draw;
} command;

static const struct argp_option option_table[] = {
    {"output", KEY_OUTPUT, "DIR|FILE", 0,
     "folder for the pictures (default: RUN/plots); or a file for the first of them: FILE.png, .pdf or .svg", 0},
    {"format", KEY_FORMAT, "LIST", 0, "png, pdf, svg or several of them, separated by commas (default: png)", 0},
    {"records", KEY_RECORDS, "LIST", 0,
     "records to draw: LEG, LEG:NUMBER or LEG:FIRST-LAST, separated by commas (default: all)", 0},
    {"axes", KEY_AXES, "LIST", 0,
     "two or three states, by number from 1 or by name: draw their joint density (default: all, if there are two or "
     "three)",
     0},
    {"view", KEY_VIEW, "AZ,EL", 0, "direction from which isosurfaces are seen, in degrees (default: -109,14)", 0},
    {"samples", KEY_SAMPLES, 0, 0, "below the isosurfaces, samples of the model at the same times", 0},
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

/* The format that a path's ending says; -1: none. */
static int file_format(const char *path)
{
    const char *ending = path ? strrchr(path, '.') : NULL;

    for (int k = 0; ending && k < FORMATS; k++)
        if (strcmp(ending + 1, format_names[k]) == 0)
            return k;
    return -1;
}

static void parse_formats(const char *text, command *c, struct argp_state *state)
{
    c->formats = 0;
    for (const char *word = text; word; word = strchr(word, ',') ? strchr(word, ',') + 1 : NULL) {
        const size_t length = strcspn(word, ",");
        unsigned found = 0;

        for (int k = 0; k < FORMATS; k++)
            if (length == strlen(format_names[k]) && strncmp(word, format_names[k], length) == 0)
                found = 1u << k;
        if (!found)
            argp_error(state, "--format %s: give png, pdf, svg or several of them, separated by commas", text);
        c->formats |= found;
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    command *c = state->input;

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
    case KEY_FORMAT:
        parse_formats(text, c, state);
        break;
    case KEY_SAMPLES:
        c->draw.samples = 1;
        break;
    case KEY_VERSION:
        printf("gbees-plot %s\n", gbees_version());
        exit(EXIT_SUCCESS);
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "one folder at a time: '%s' is one too many", text);
        c->folder = text;
        break;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "give the folder that gbees-run wrote");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* Makes the folder RUN/plots, or --output. The records have been read before: a call that fails leaves no folder. */
static int choose_folder(const command *c, char **folder, gbees_error *error)
{
    struct stat info;
    char *path = NULL;
    const int length = c->output ? asprintf(&path, "%s", c->output) : asprintf(&path, "%s/plots", c->folder);

    if (length < 0)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory");
    if (mkdir(path, 0777) != 0 && (errno != EEXIST || stat(path, &info) != 0 || !S_ISDIR(info.st_mode))) {
        gbees_error_set(error, GBEES_EIO, "can't make the folder %s: %s", path, strerror(errno));
        free(path);
        return GBEES_EIO;
    }
    *folder = path;
    return GBEES_OK;
}

typedef int draw_function(const gbees_gallery *gallery, const gbees_draw_options *options, gbees_figure **figure,
                          gbees_error *error);

enum { PICTURES = 5 };

/* A figure that a gallery has. */
typedef struct picture {
    const char *name;
    draw_function *draw;
} picture;

/* Lists them in the order in which they are drawn. Returns their number; *first: which of them to look at first. */
static int list_pictures(const gbees_gallery *gallery, picture list[PICTURES], int *first)
{
    const int is_filtered = gallery->series->measurements > MEASUREMENTS_FEW ||
                            gallery->shot[gallery->count - 1].leg > MEASUREMENTS_FEW; /* of an older version */
    int count = 0;

    if (is_filtered)
        list[count++] = (picture){"series", gbees_draw_series};
    list[count++] = (picture){"marginals", gbees_draw_marginals};
    if (gallery->dimension > 1)
        list[count++] = (picture){"corner", gbees_draw_corner};
    if (gallery->picture_dimension == 2)
        list[count++] = (picture){"density", gbees_draw_density};
    if (gallery->picture_dimension == 3)
        list[count++] = (picture){"isosurface", gbees_draw_isosurfaces};
    *first = is_filtered ? 0 : count - 1;
    return count;
}

/* Saves a figure and prints its path. */
static int save(const gbees_figure *figure, const char *path, gbees_error *error)
{
    int status = gbees_figure_save(figure, path, error);

    if (!status && (printf("%s\n", path) < 0 || fflush(stdout) != 0))
        status = gbees_error_set(error, GBEES_EIO, "can't write to standard output: %s", strerror(errno));
    return status;
}

static int save_in(const gbees_figure *figure, const char *folder, const char *name, const char *format,
                   gbees_error *error)
{
    char *path = NULL;

    if (asprintf(&path, "%s/%s.%s", folder, name, format) < 0)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory");
    const int status = save(figure, path, error);
    free(path);
    return status;
}

/* Draws a figure and saves it, also as picture.* if it is the one to look at first. */
static int make(const picture *p, const gbees_gallery *gallery, const command *c, const char *folder, int is_first,
                gbees_error *error)
{
    int status = GBEES_OK;

    for (int k = 0; !status && k < FORMATS; k++) {
        gbees_draw_options draw = c->draw;
        gbees_figure *figure;

        if (!(c->formats & 1u << k))
            continue;
        draw.vector = k > 0;
        status = p->draw(gallery, &draw, &figure, error);
        if (status)
            break;
        status = save_in(figure, folder, p->name, format_names[k], error);
        if (!status && is_first)
            status = save_in(figure, folder, "picture", format_names[k], error);
        gbees_figure_destroy(figure);
    }
    return status;
}

static int make_folder(const gbees_gallery *gallery, const command *c, const picture *list, int count, int first,
                       gbees_error *error)
{
    char *folder = NULL;
    int status = choose_folder(c, &folder, error);

    for (int k = 0; !status && k < count; k++)
        status = make(&list[k], gallery, c, folder, k == first, error);
    free(folder);
    return status;
}

/* The picture to look at first, as the file that --output names. */
static int make_file(const gbees_gallery *gallery, const command *c, const picture *p, gbees_error *error)
{
    gbees_draw_options draw = c->draw;
    gbees_figure *figure;

    draw.vector = file_format(c->output) > 0;
    int status = p->draw(gallery, &draw, &figure, error);
    if (status)
        return status;
    status = save(figure, c->output, error);
    gbees_figure_destroy(figure);
    return status;
}

static int plot(const command *c, gbees_error *error)
{
    gbees_gallery *gallery;
    picture list[PICTURES];
    int first, status = gbees_gallery_create(c->folder, c->records, c->axes, &gallery, error);

    if (status)
        return status;
    const int count = list_pictures(gallery, list, &first);
    status = file_format(c->output) >= 0 ? make_file(gallery, c, &list[first], error)
                                         : make_folder(gallery, c, list, count, first, error);
    gbees_gallery_destroy(gallery);
    return status;
}

int main(int argc, char **argv)
{
    static const char text[] =
        "Draw the records of RUN, a folder that gbees-run wrote, as PNG pictures, and print their paths.\v"
        "series.png     every state against time, of a run with more than three measurements\n"
        "marginals.png  1-D densities of every state, a line a record\n"
        "corner.png     every state against every other, in the last record\n"
        "density.png    joint density of two states\n"
        "isosurface.png joint density of three states, at 0.607, 0.135 and 0.011 of its maximum\n"
        "picture.png    the one of these to look at first\n\n"
        "Exit status: 0 if all is drawn, 1 if something went wrong, 2 for a wrong command line.";
    const struct argp parser = {option_table, parse_option, "RUN", text, NULL, NULL, NULL};
    command c = {.formats = 1, .draw = {.azimuth = -109, .elevation = 14}};
    gbees_error error = {0};
    int status;

    argp_err_exit_status = 2;
    argp_parse(&parser, argc, argv, 0, NULL, &c);
    status = plot(&c, &error);
    if (status)
        fprintf(stderr, "gbees-plot: %s\n", error.text);
    return status == GBEES_OK ? 0 : status == GBEES_EUSAGE ? 2 : 1;
}
