/* plot.c - the command gbees-plot: draws the records of a results folder. */
#include "base/workers.h"
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
    KEY_FORMAT,
    KEY_SCALE
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
    case KEY_SCALE:
        if (strcmp(text, "panel") != 0 && strcmp(text, "shared") != 0)
            argp_error(state, "--scale %s: give panel or shared", text);
        c->draw.scale = text[0] == 'p' ? GBEES_SCALE_PANEL : GBEES_SCALE_SHARED;
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

static int print_path(const char *path, gbees_error *error)
{
    return printf("%s\n", path) < 0 || fflush(stdout) != 0
               ? gbees_error_set(error, GBEES_EIO, "can't write to standard output: %s", strerror(errno))
               : GBEES_OK;
}

/* Where a picture goes; malloc()ed, NULL without memory. */
static char *path_of(const char *folder, const char *name, const char *format)
{
    char *path = NULL;

    return asprintf(&path, "%s/%s.%s", folder, name, format) < 0 ? NULL : path;
}

static int copy_bytes(FILE *from, FILE *to)
{
    char part[1 << 14];
    size_t count;

    while ((count = fread(part, 1, sizeof part, from)) > 0)
        if (fwrite(part, 1, count, to) != count)
            return 1;
    return ferror(from);
}

/* To compress a picture once more would take longer. */
static int copy(const char *from, const char *to, gbees_error *error)
{
    FILE *source = fopen(from, "rb"), *target = source ? fopen(to, "wb") : NULL;
    int failed = !target || copy_bytes(source, target);

    if (source)
        (void)fclose(source);
    if (target && fclose(target))
        failed = 1;
    return failed ? gbees_error_set(error, GBEES_EIO, "can't copy %s to %s: %s", from, to, strerror(errno))
                  : GBEES_OK;
}

/* The pictures of a folder, in all wanted formats. */
typedef struct pictures {
    const gbees_gallery *gallery;
    const command *c;
    const char *folder;
    picture list[PICTURES];
    gbees_error failure[PICTURES * FORMATS];
} pictures;

/* Draws a picture in a format and saves it; called by gbees_workers_run(). */
static void make(void *context, size_t item)
{
    pictures *all = context;
    const picture *p = &all->list[item / FORMATS];
    const size_t format = item % FORMATS;
    gbees_draw_options draw = all->c->draw;
    gbees_figure *figure;
    char *path;

    if (!(all->c->formats & 1u << format))
        return;
    path = path_of(all->folder, p->name, format_names[format]);
    draw.vector = format > 0;
    if (!path)
        (void)gbees_error_set(&all->failure[item], GBEES_ENOMEM, "not enough memory");
    else if (!p->draw(all->gallery, &draw, &figure, &all->failure[item])) {
        (void)gbees_figure_save(figure, path, &all->failure[item]);
        gbees_figure_destroy(figure);
    }
    free(path);
}

/* Prints the path of a picture, and copies the one to look at first to picture.*. */
static int finish(const pictures *all, size_t item, int is_first, gbees_error *error)
{
    const char *format = format_names[item % FORMATS];
    char *path = path_of(all->folder, all->list[item / FORMATS].name, format);
    char *first = path_of(all->folder, "picture", format);
    int status = path && first ? GBEES_OK : gbees_error_set(error, GBEES_ENOMEM, "not enough memory");

    if (!status && all->failure[item].status)
        status = gbees_error_set(error, all->failure[item].status, "%s", all->failure[item].text);
    if (!status)
        status = print_path(path, error);
    if (!status && is_first)
        status = copy(path, first, error);
    if (!status && is_first)
        status = print_path(first, error);
    free(path);
    free(first);
    return status;
}

static int make_folder(const gbees_gallery *gallery, const command *c, const picture *list, int count, int first,
                       gbees_error *error)
{
    pictures all = {.gallery = gallery, .c = c};
    char *folder = NULL;
    int status = choose_folder(c, &folder, error);

    all.folder = folder;
    memcpy(all.list, list, (size_t)count * sizeof *list);
    if (!status)
        gbees_workers_run(0, (size_t)count * FORMATS, make, &all);
    for (size_t item = 0; !status && item < (size_t)count * FORMATS; item++)
        if (c->formats & 1u << item % FORMATS)
            status = finish(&all, item, (int)(item / FORMATS) == first, error);
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
    status = gbees_figure_save(figure, c->output, error);
    gbees_figure_destroy(figure);
    return status ? status : print_path(c->output, error);
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
