/* palette.h - chooses at most 256 colours for an image. */
#ifndef GBEES_PLOT_PALETTE_H
#define GBEES_PLOT_PALETTE_H

#include <stddef.h>
#include <stdint.h>

enum { GBEES_PALETTE_COLORS = 256, GBEES_PALETTE_KINDS = 32 * 32 * 32 };

typedef struct gbees_palette {
    int count;
    unsigned char color[GBEES_PALETTE_COLORS][3]; /* red, green, blue */
    unsigned char of_kind[GBEES_PALETTE_KINDS];   /* the colour of each kind of pixel: gbees_palette_color() */
} gbees_palette;

/* The colour of a pixel, 0xRRGGBB: white is itself; of others all that have the same 5 upper bits of red, green and
 * blue have one. */
unsigned char gbees_palette_color(const gbees_palette *palette, uint32_t pixel);
/* Chooses the colours: kinds that occur are divided until there are enough groups, at each time the group whose
 * colours differ most, and a group's colour is the mean of its pixels. Returns 0 without memory. */
int gbees_palette_make(gbees_palette *palette, size_t count, const uint32_t *pixel);

#endif
