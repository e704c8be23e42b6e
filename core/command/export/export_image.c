/* export_image.c - fills a dense array from a record's marginal and writes it as one file. The format: "VTK File
 * Formats", XML image data with appended raw values. */
#include "export_image.h"
#include <stdlib.h>
#include <string.h>

int gbees_export_image_applies(const gbees_snapshot *record, gbees_error *error)
{
    if (record->dimension < 2)
        return gbees_error_set(error, GBEES_EUNSUPPORTED, "a density of one state has no images: take csv");
    if (record->rotated)
        return gbees_error_set(error, GBEES_EUNSUPPORTED,
                               "leg %d, record %d: the grid does not have the axes of the states, which images have: "
                               "take csv, or gbees-plot",
                               record->leg, record->number);
    return GBEES_OK;
}

int gbees_export_image_next(gbees_export_image *image, int n)
{
    int *axes = image->axes, rank = image->rank;

    if (rank == 0) {
        image->rank = 2;
        axes[0] = 0;
        axes[1] = 1;
        return n >= 2;
    }
    for (int k = rank - 1; k >= 0; k--) {
        if (axes[k] >= n - rank + k)
            continue;
        axes[k]++;
        for (int j = k + 1; j < rank; j++)
            axes[j] = axes[j - 1] + 1;
        return 1;
    }
    image->rank = 3;
    for (int k = 0; k < 3; k++)
        axes[k] = k;
    return rank == 2 && n >= 3;
}

/* Sets the range of the cells along the image's axes. */
static void set_range(gbees_export_image *image, const gbees_snapshot *record)
{
    for (int k = 0; k < 3; k++) {
        image->first[k] = 0;
        image->length[k] = 1;
        image->h[k] = 1;
        image->lower[k] = 0;
    }
    for (int k = 0; k < image->rank && record->count > 0; k++) {
        const int32_t *index = record->index[image->axes[k]];
        int32_t first = index[0], last = index[0];

        for (size_t i = 1; i < record->count; i++) {
            first = index[i] < first ? index[i] : first;
            last = index[i] > last ? index[i] : last;
        }
        image->first[k] = first;
        image->length[k] = (size_t)((int64_t)last - first + 1);
        image->h[k] = record->width[image->axes[k]];
        image->lower[k] = record->origin[image->axes[k]] + image->h[k] * (first - 0.5);
    }
}

int gbees_export_image_fill(gbees_export_image *image, const gbees_snapshot *record, gbees_error *error)
{
    image->density = NULL;
    set_range(image, record);
    const size_t *length = image->length;
    if (length[0] > GBEES_IMAGE_CELLS_MOST / length[1] / length[2])
        return GBEES_OK;
    const size_t total = length[0] * length[1] * length[2];
    double *sum = calloc(total, sizeof *sum);
    image->density = sum ? malloc(total * sizeof *image->density) : NULL;
    if (!image->density) {
        free(sum);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for an image of a record");
    }
    for (size_t i = 0; i < record->count; i++) {
        size_t at = 0;

        for (int k = image->rank; k-- > 0;)
            at = at * length[k] + (size_t)((int64_t)record->index[image->axes[k]][i] - image->first[k]);
        sum[at] += record->p[i];
    }
    const double volume = image->h[0] * image->h[1] * image->h[2];
    for (size_t i = 0; i < total; i++)
        image->density[i] = (float)(sum[i] / volume);
    free(sum);
    return GBEES_OK;
}

/* "x [m], y" as the text of a comment, in which no two '-' may follow each other. */
static void write_axes(const gbees_export_image *image, const gbees_snapshot *record, FILE *file)
{
    for (int k = 0; k < image->rank; k++) {
        const char *parts[] = {record->name[image->axes[k]], " [", record->unit[image->axes[k]], "]"};

        for (int part = 0; part < 4; part++)
            for (const char *c = parts[part]; *c; c++)
                (void)fputc(*c == '-' ? '.' : *c, file);
        (void)fputs(k + 1 < image->rank ? ", " : "", file);
    }
}

void gbees_export_image_write(const gbees_export_image *image, const gbees_snapshot *record, FILE *file)
{
    const size_t *length = image->length;
    const uint64_t bytes = length[0] * length[1] * length[2] * sizeof *image->density;
    const union {
        uint16_t number;
        unsigned char byte[2];
    } order = {1};
    char extent[96];

    (void)snprintf(extent, sizeof extent, "0 %zu 0 %zu 0 %zu", length[0], length[1],
                   image->rank == 2 ? (size_t)0 : length[2]);
    (void)fputs("<?xml version=\"1.0\"?>\n<!-- axes: ", file);
    write_axes(image, record, file);
    (void)fprintf(file,
                  " -->\n<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"%s\" header_type=\"UInt64\">\n"
                  "<ImageData WholeExtent=\"%s\" Origin=\"%.17g %.17g %.17g\" Spacing=\"%.17g %.17g %.17g\">\n"
                  "<FieldData><DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">"
                  "%.17g</DataArray></FieldData>\n"
                  "<Piece Extent=\"%s\">\n<CellData Scalars=\"density\">\n"
                  "<DataArray type=\"Float32\" Name=\"density\" format=\"appended\" offset=\"0\"/>\n"
                  "</CellData>\n</Piece>\n</ImageData>\n<AppendedData encoding=\"raw\">\n_",
                  order.byte[0] ? "LittleEndian" : "BigEndian", extent, image->lower[0], image->lower[1],
                  image->lower[2], image->h[0], image->h[1], image->h[2], record->time, extent);
    (void)fwrite(&bytes, sizeof bytes, 1, file);
    (void)fwrite(image->density, sizeof *image->density, (size_t)bytes / sizeof *image->density, file);
    (void)fputs("\n</AppendedData>\n</VTKFile>\n", file);
}
