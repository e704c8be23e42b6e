/* gif.h - writes an animated GIF file, which repeats for ever. */
#ifndef GBEES_PLOT_GIF_H
#define GBEES_PLOT_GIF_H

#include "figure.h"

typedef struct gbees_gif gbees_gif;

/* GBEES_EUSAGE if this program is built without giflib. */
int gbees_gif_is_there(gbees_error *error);
/* Begins a file for figures of the size of the first. */
int gbees_gif_create(const char *path, const gbees_figure *first, gbees_gif **gif, gbees_error *error);
/* Adds a figure, which is shown for `hundredths` of a second. */
int gbees_gif_add(gbees_gif *gif, const gbees_figure *figure, int hundredths, gbees_error *error);
/* Ends the file, also after a failure: then the file is removed, and `status`, not 0, is returned. */
int gbees_gif_close(gbees_gif *gif, int status, gbees_error *error);

#endif
