/* export_image.h - marginals of records as images that ParaView and other programs on VTK open. */
#ifndef GBEES_COMMAND_EXPORT_EXPORT_IMAGE_H
#define GBEES_COMMAND_EXPORT_EXPORT_IMAGE_H

#include <gbees/gbees.h>
#include <stdio.h>

/* The marginal density of a record along some states, on the cells of its grid. */
typedef struct gbees_export_image {
    int rank, axes[3];     /* 2 or 3 states, in their order */
    int32_t first[3];      /* index of the first cell along each */
    size_t length[3];      /* cells along each; 1 along the third of a plane */
    double h[3], lower[3]; /* width of a cell, and the lower edge of the first, of each; 1 and 0 along the third */
    float *density;        /* the first axis is the fastest */
} gbees_export_image;

enum { GBEES_IMAGE_CELLS_MOST = 1 << 25 };

/* Whether a record has images: its grid has the axes of the states. Else *error says why. */
int gbees_export_image_applies(const gbees_snapshot *record, gbees_error *error);
/* Takes the axes after `image`'s among 2 and 3 of n: all pairs, then all triples; of an image of zeros the first.
 * Returns 0 after the last. */
int gbees_export_image_next(gbees_export_image *image, int n);
/* Sums the record's cells over all other axes. The caller frees `density`, which stays NULL if the image would have
 * more than GBEES_IMAGE_CELLS_MOST cells. */
int gbees_export_image_fill(gbees_export_image *image, const gbees_snapshot *record, gbees_error *error);
/* Writes it as VTK's XML image data: cell data `density`, the time as field data. */
void gbees_export_image_write(const gbees_export_image *image, const gbees_snapshot *record, FILE *file);

#endif
