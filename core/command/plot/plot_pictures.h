/* plot_pictures.h - which pictures gbees-plot draws, and their files. */
#ifndef GBEES_COMMAND_PLOT_PLOT_PICTURES_H
#define GBEES_COMMAND_PLOT_PLOT_PICTURES_H

#include "plot/draw.h"

enum { GBEES_PLOT_RUNS = GBEES_OTHERS_MOST + 1 };

/* What the command line of gbees-plot says. */
typedef struct gbees_plot_command {
    char *folder[GBEES_PLOT_RUNS]; /* of results */
    int folders;
    const char *output, *records, *axes;
    unsigned formats; /* bits, in the order of the formats */
    int frames;       /* 1: of a film, in place of the pictures */
    gbees_draw_options draw;
    int descriptor; /* for gbees_plot_child_tell() */
} gbees_plot_command;

/* The number of a format, by its name of `length` characters or by the ending of a path; -1: there is none. */
int gbees_plot_format(const char *name, size_t length);
int gbees_plot_file_format(const char *path);

/* Makes the folder RUN/plots, or --output; the caller frees its path. */
int gbees_plot_folder(const gbees_plot_command *c, char **folder, gbees_error *error);

/* Draws the pictures of a gallery, saves them and tells of their paths. */
int gbees_plot_make(const gbees_gallery *gallery, const gbees_plot_command *c, gbees_error *error);

#endif
