/* export_images.c - writes an image of each marginal and record, and a list (.pvd) of each marginal's images with
 * their times. */
#include "base/text.h"
#include "export_file.h"
#include "export_formats.h"
#include "export_image.h"
#include "results/folder/folder.h"
#include <stdlib.h>

enum { NAME = 96, IMAGES_MOST = 28 + 56 /* all pairs and triples of 8 states */ };

/* The entries of the lists (ParaView's .pvd): one for each pair and triple of states. All zero: empty. */
typedef struct image_lists {
    gbees_text entries[IMAGES_MOST];
    gbees_export_image image[IMAGES_MOST]; /* which states; no density */
    int count;
} image_lists;

/* "_0_2" of the states 0 and 2. */
static void write_states(const gbees_export_image *image, char text[NAME])
{
    int length = 0;

    for (int k = 0; k < image->rank; k++)
        length += snprintf(text + length, NAME - (size_t)length, "_%d", image->axes[k]);
}

static int write_image(const char *folder, const char *name, const gbees_export_image *image,
                       const gbees_snapshot *record, gbees_error *error)
{
    char *path = gbees_folder_join(folder, name);
    FILE *file = path ? gbees_export_open(path, error) : NULL;
    int status = path ? GBEES_EIO : gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the name of a file");

    if (file) {
        gbees_export_image_write(image, record, file);
        status = gbees_export_close(file, path, error);
    }
    free(path);
    return status;
}

/* Writes an image, unless it is too large, and adds it to its list. */
static int export_image(const char *folder, gbees_export_image *image, const gbees_snapshot *record,
                        gbees_text *entries, gbees_error *error)
{
    char states[NAME], name[2 * NAME];
    int status = gbees_export_image_fill(image, record, error);

    write_states(image, states);
    (void)snprintf(name, sizeof name, "leg%d_record%d%s.vti", record->leg, record->number, states);
    if (status)
        return status;
    if (!image->density) {
        (void)fprintf(stderr, "gbees-export: %s: left out, as it would have more than %d cells\n", name,
                      GBEES_IMAGE_CELLS_MOST);
        return GBEES_OK;
    }
    status = write_image(folder, name, image, record, error);
    free(image->density);
    image->density = NULL;
    gbees_text_add(entries, "<DataSet timestep=\"%.17g\" file=\"%s\"/>\n", record->time, name);
    return status;
}

/* Writes a record's images, and notes them. What is too large to be one is told on standard error. */
static int export_images(const char *folder, const gbees_snapshot *record, image_lists *lists, gbees_error *error)
{
    gbees_export_image image = {0};
    int status = gbees_export_image_applies(record, error), count = 0;

    for (; !status && count < IMAGES_MOST && gbees_export_image_next(&image, record->dimension); count++) {
        lists->image[count] = image;
        status = export_image(folder, &image, record, &lists->entries[count], error);
    }
    lists->count = count;
    return status;
}

static int write_lists(const char *folder, const image_lists *lists, gbees_error *error)
{
    int status = GBEES_OK;

    for (int k = 0; k < lists->count && !status; k++) {
        char states[NAME], name[2 * NAME];

        write_states(&lists->image[k], states);
        (void)snprintf(name, sizeof name, "states%s.pvd", states);
        char *path = lists->entries[k].failed ? NULL : gbees_folder_join(folder, name);
        FILE *file = path ? gbees_export_open(path, error) : NULL;
        status = path ? GBEES_EIO : gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a list of images");
        if (file) {
            (void)fprintf(file,
                          "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n"
                          "%s</Collection>\n</VTKFile>\n",
                          lists->entries[k].data ? lists->entries[k].data : "");
            status = gbees_export_close(file, path, error);
        }
        free(path);
    }
    return status;
}

int gbees_export_vti(const char *out, const gbees_results *results, gbees_error *error)
{
    image_lists lists = {0};
    int status = GBEES_OK;

    for (size_t i = 0; i < gbees_results_count(results) && !status; i++) {
        gbees_snapshot *record;

        status = gbees_results_read(results, i, &record, error);
        if (status)
            break;
        status = export_images(out, record, &lists, error);
        gbees_snapshot_destroy(record);
    }
    if (!status)
        status = write_lists(out, &lists, error);
    for (int k = 0; k < IMAGES_MOST; k++)
        gbees_text_free(&lists.entries[k]);
    return status;
}
