/* export_images.h - the images of a run's records in a folder, and the lists of them. */
#ifndef GBEES_COMMAND_EXPORT_EXPORT_IMAGES_H
#define GBEES_COMMAND_EXPORT_EXPORT_IMAGES_H

#include "base/text.h"
#include "export_image.h"

/* All pairs and triples of 8 states. */
enum { GBEES_IMAGES_MOST = 28 + 56 };

/* The entries of the lists (ParaView's .pvd): one for each pair and triple of states. All zero: empty. */
typedef struct gbees_image_lists {
    gbees_text entries[GBEES_IMAGES_MOST];
    gbees_image image[GBEES_IMAGES_MOST]; /* which states; no density */
    int count;
} gbees_image_lists;

/* Writes a record's images to the folder, and notes them. What is too large to be one is told on standard error. */
int gbees_export_images(const char *folder, const gbees_snapshot *record, gbees_image_lists *lists,
                        gbees_error *error);
/* Writes the lists. */
int gbees_export_image_lists(const char *folder, const gbees_image_lists *lists, gbees_error *error);
void gbees_image_lists_free(gbees_image_lists *lists);

#endif
