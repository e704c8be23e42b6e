/* plot_pictures.c - lists the pictures of a results folder, draws them side by side on threads, and saves them under
 * their names. */
#include "plot_pictures.h"
#include "base/workers.h"
#include "plot_child.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FORMATS = 3, MEASUREMENTS_FEW = 3 };
static const char *const format_names[FORMATS] = {"png", "pdf", "svg"};

int gbees_plot_format(const char *name, size_t length)
{
    for (int k = 0; k < FORMATS; k++)
        if (length == strlen(format_names[k]) && strncmp(name, format_names[k], length) == 0)
            return k;
    return -1;
}

int gbees_plot_file_format(const char *path)
{
    const char *ending = path ? strrchr(path, '.') : NULL;

    return ending ? gbees_plot_format(ending + 1, strlen(ending + 1)) : -1;
}

int gbees_plot_folder(const gbees_plot_command *c, char **folder, gbees_error *error)
{
    struct stat info;
    char *path = NULL;
    const int length = c->output ? asprintf(&path, "%s", c->output) : asprintf(&path, "%s/plots", c->folder[0]);

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

enum { PICTURES = 6 };

/* A figure that a gallery has. */
typedef struct picture {
    const char *name;
    draw_function *draw;
} picture;

/* The pictures of several runs together. */
static int list_of_runs(const gbees_gallery *gallery, int is_filtered, picture list[PICTURES], int *first)
{
    int count = 0;

    list[count++] = (picture){"runs-marginals", gbees_draw_compared};
    if (gallery->count > 1)
        list[count++] = (picture){"runs-series", gbees_draw_series};
    *first = is_filtered ? count - 1 : 0;
    return count;
}

/* Lists them in the order in which they are drawn. Returns their number; *first: which of them to look at first. */
static int list_pictures(const gbees_gallery *gallery, picture list[PICTURES], int *first)
{
    const int is_filtered = gallery->series->measurements > MEASUREMENTS_FEW ||
                            gallery->shot[gallery->count - 1].leg > MEASUREMENTS_FEW; /* of an older version */
    int count = 0;

    if (gallery->others > 0)
        return list_of_runs(gallery, is_filtered, list, first);
    if (is_filtered || gallery->series->smoothed[0].count > 0)
        list[count++] = (picture){"series", gbees_draw_series};
    list[count++] = (picture){"marginals", gbees_draw_marginals};
    if (gallery->dimension > 1)
        list[count++] = (picture){"corner", gbees_draw_corner};
    if (gallery->picture_dimension == 2)
        list[count++] = (picture){"density", gbees_draw_density};
    if (gallery->picture_dimension == 3)
        list[count++] = (picture){"isosurface", gbees_draw_isosurfaces};
    *first = strcmp(list[0].name, "series") == 0 ? 0 : count - 1;
    return count;
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
    const gbees_plot_command *c;
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

/* Tells of a picture, and copies the one to look at first to picture.*. */
static int finish(const pictures *all, size_t item, int is_first, gbees_error *error)
{
    const char *format = format_names[item % FORMATS];
    char *path = path_of(all->folder, all->list[item / FORMATS].name, format);
    char *first = path_of(all->folder, "picture", format);
    int status = path && first ? GBEES_OK : gbees_error_set(error, GBEES_ENOMEM, "not enough memory");

    if (!status && all->failure[item].status)
        status = gbees_error_set(error, all->failure[item].status, "%s", all->failure[item].text);
    if (!status)
        status = gbees_plot_child_tell(all->c->descriptor, path, error);
    if (!status && is_first)
        status = copy(path, first, error);
    if (!status && is_first)
        status = gbees_plot_child_tell(all->c->descriptor, first, error);
    free(path);
    free(first);
    return status;
}

static int make_folder(const gbees_gallery *gallery, const gbees_plot_command *c, const picture *list, int count,
                       int first, gbees_error *error)
{
    pictures all = {.gallery = gallery, .c = c};
    char *folder = NULL;
    int status = gbees_plot_folder(c, &folder, error); /* the records have been read: a failure leaves none */

    all.folder = folder;
    memcpy(all.list, list, (size_t)count * sizeof *list);
    if (!status)
        gbees_workers_run(0, (size_t)count * FORMATS, make, &all);
    for (size_t item = 0; !status && item < (size_t)count * FORMATS; item++)
        if (c->formats & 1u << item % FORMATS)
            status = finish(&all, item, (int)(item / FORMATS) == first && gallery->others == 0, error);
    free(folder);
    return status;
}

/* The picture to look at first, as the file that --output names. */
static int make_file(const gbees_gallery *gallery, const gbees_plot_command *c, const picture *p, gbees_error *error)
{
    gbees_draw_options draw = c->draw;
    gbees_figure *figure;

    draw.vector = gbees_plot_file_format(c->output) > 0;
    int status = p->draw(gallery, &draw, &figure, error);
    if (status)
        return status;
    status = gbees_figure_save(figure, c->output, error);
    gbees_figure_destroy(figure);
    return status ? status : gbees_plot_child_tell(c->descriptor, c->output, error);
}

int gbees_plot_make(const gbees_gallery *gallery, const gbees_plot_command *c, gbees_error *error)
{
    picture list[PICTURES];
    int first;
    const int count = list_pictures(gallery, list, &first);

    return gbees_plot_file_format(c->output) >= 0 ? make_file(gallery, c, &list[first], error)
                                                  : make_folder(gallery, c, list, count, first, error);
}
