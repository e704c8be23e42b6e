/* checkpoint_file.c - writes a checkpoint as datasets, with a list of their names, to two files in turn; reads the
 * newer one that is whole. */
#include "checkpoint_file.h"
#include "results/folder/folder.h"
#include "results/hdf5/hdf5_util.h"
#include "results/records/verify.h"
#include <errno.h>
#include <gbees/gbees.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FORMAT = 3, CHUNK = 1 << 16, PARTS_MOST = 4096 };

static const char *const names[] = {"checkpoint-A.h5", "checkpoint-B.h5"};

static hid_t type_of(size_t size)
{
    return size == 8   ? H5T_NATIVE_UINT64
           : size == 4 ? H5T_NATIVE_UINT32
           : size == 2 ? H5T_NATIVE_UINT16
                       : H5T_NATIVE_UINT8;
}

/* ---- writing ----------------------------------------------------------------------------------------------------
 */

/* A file, and the names and shapes (size and count) of the parts that have been written to it. */
typedef struct writing {
    gbees_hdf5 file;
    size_t count;
    char name[PARTS_MOST][GBEES_CHECKPOINT_NAME];
    uint64_t shape[PARTS_MOST][2];
} writing;

/* A gbees_checkpoint_sink; stops where the file has failed. */
static int write_part(void *context, const char *name, size_t size, uint64_t count, const void *data)
{
    const hsize_t chunk = CHUNK, all = count;
    writing *w = context;

    if (count == 0)
        return 0;
    if (w->count == PARTS_MOST)
        gbees_hdf5_reject(&w->file, GBEES_EUSAGE, "a checkpoint has too many parts");
    if (w->file.status)
        return 1;
    gbees_hdf5_dataset(&w->file, name, type_of(size), 1, &all, &chunk, data);
    (void)snprintf(w->name[w->count], GBEES_CHECKPOINT_NAME, "%s", name);
    w->shape[w->count][0] = size;
    w->shape[w->count][1] = count;
    w->count++;
    return w->file.status != 0;
}

/* Writes the parts that the checkpoint has, then those that its source passes. */
static void write_parts(writing *w, const gbees_checkpoint *checkpoint)
{
    gbees_error error = {0};

    for (size_t k = 0; k < checkpoint->count; k++)
        (void)write_part(w, checkpoint->part[k].name, checkpoint->part[k].size, checkpoint->part[k].count,
                         checkpoint->part[k].data);
    if (!w->file.status && checkpoint->rest && checkpoint->rest(checkpoint->rest_context, write_part, w, &error))
        gbees_hdf5_reject(&w->file, error.status, error.text);
}

/* Writes the list of the parts. */
static void write_list(writing *w)
{
    const hsize_t pairs[] = {w->count, 2};
    const char **texts = malloc((w->count + 1) * sizeof *texts);

    if (!texts) {
        gbees_hdf5_reject(&w->file, GBEES_ENOMEM, "not enough memory");
        return;
    }
    for (size_t k = 0; k < w->count; k++)
        texts[k] = w->name[k];
    gbees_hdf5_texts(&w->file, "names", w->count, texts);
    gbees_hdf5_dataset(&w->file, "shapes", H5T_NATIVE_UINT64, 2, pairs, NULL, w->shape);
    free(texts);
}

int gbees_checkpoint_file_write(const gbees_store *store, uint64_t number, const gbees_checkpoint *checkpoint,
                                int threads, gbees_error *error)
{
    writing *w = malloc(sizeof *w);
    int status = w ? gbees_hdf5_create(store, names[number % 2], &w->file, error)
                   : gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a checkpoint");

    if (!status) {
        w->count = 0;
        w->file.threads = threads;
        gbees_hdf5_attribute_text(&w->file, "/", "format", "gbees-checkpoint");
        gbees_hdf5_attribute(&w->file, "/", "format_version", H5T_NATIVE_INT, 0, NULL, &(int){FORMAT});
        gbees_hdf5_attribute_text(&w->file, "/", "gbees_version", gbees_version());
        gbees_hdf5_attribute(&w->file, "/", "number", H5T_NATIVE_UINT64, 0, NULL, &number);
        write_parts(w, checkpoint);
        write_list(w);
        status = gbees_hdf5_commit(&w->file, error);
    }
    free(w);
    return status;
}

void gbees_checkpoint_file_remove(const gbees_store *store)
{
    for (int k = 0; k < 2; k++)
        (void)unlinkat(store->descriptor, names[k], 0);
}

/* ---- reading ----------------------------------------------------------------------------------------------------
 */

static void check_format(gbees_hdf5 *file)
{
    char format[32] = "", version[64] = "", reason[200];
    int number = 0;

    gbees_hdf5_read_attribute_text(file, "format", format, sizeof format);
    gbees_hdf5_read_attribute(file, "format_version", H5T_NATIVE_INT, &number);
    gbees_hdf5_read_attribute_text(file, "gbees_version", version, sizeof version);
    if (!file->status && strcmp(format, "gbees-checkpoint") != 0)
        gbees_hdf5_reject(file, GBEES_EINPUT, "this is no checkpoint of gbees");
    if (number == FORMAT && strcmp(version, gbees_version()) == 0)
        return;
    (void)snprintf(reason, sizeof reason,
                   "it is of gbees %s, format %d, and this is gbees %s, format %d: resume with that version", version,
                   number, gbees_version(), FORMAT);
    gbees_hdf5_reject(file, GBEES_EINPUT, reason);
}

/* Reads a part to new memory. */
static void read_part(gbees_hdf5 *file, const char *name, const uint64_t shape[2], gbees_checkpoint *to)
{
    const hsize_t zero = 0, count = shape[1];
    hsize_t found = 0;

    gbees_hdf5_size(file, name, 1, &found);
    if (!file->status && (found != count || (shape[0] != 1 && shape[0] != 2 && shape[0] != 4 && shape[0] != 8)))
        gbees_hdf5_reject(file, GBEES_EINPUT, "a part has another shape than it says: the file is damaged");
    void *data = file->status ? NULL : malloc(shape[0] * count + 1);
    if (!data) {
        gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory");
        return;
    }
    gbees_hdf5_read(file, name, type_of(shape[0]), 1, &zero, &count, data);
    if (gbees_checkpoint_take(to, name, shape[0], count, data))
        gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory");
}

static void read_parts(gbees_hdf5 *file, gbees_checkpoint *to)
{
    const hsize_t zero[] = {0, 0};
    hsize_t size[2] = {0, 0};

    gbees_hdf5_size(file, "shapes", 2, size);
    if (!file->status && (size[0] > PARTS_MOST || size[1] != 2))
        gbees_hdf5_reject(file, GBEES_EINPUT, "its list of parts has the wrong shape: the file is damaged");
    if (file->status)
        return;
    char *texts = calloc(size[0] + 1, GBEES_CHECKPOINT_NAME);
    uint64_t *shapes = calloc(size[0] + 1, 2 * sizeof *shapes);
    if (!texts || !shapes)
        gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory");
    else {
        gbees_hdf5_read(file, "shapes", H5T_NATIVE_UINT64, 2, zero, size, shapes);
        gbees_hdf5_read_texts(file, "names", size[0], texts, GBEES_CHECKPOINT_NAME);
    }
    for (hsize_t k = 0; k < size[0] && !file->status; k++)
        read_part(file, texts + k * GBEES_CHECKPOINT_NAME, shapes + 2 * k, to);
    free(texts);
    free(shapes);
}

int gbees_checkpoint_file_load(const char *path, gbees_checkpoint *to, uint64_t *number, gbees_error *error)
{
    gbees_hdf5 file;
    int status = gbees_hdf5_open(path, &file, error);

    if (status)
        return status;
    check_format(&file);
    gbees_hdf5_read_attribute(&file, "number", H5T_NATIVE_UINT64, number);
    read_parts(&file, to);
    status = gbees_hdf5_close(&file, error);
    if (status)
        gbees_checkpoint_clear(to);
    return status;
}

static int read_file(const char *path, gbees_checkpoint *to, uint64_t *number, gbees_error *error)
{
    int summed = 0, status = gbees_verify_file(path, GBEES_VERIFY_MOMENTS, &summed, error);

    if (!status && !summed)
        status = gbees_error_set(error, GBEES_EINPUT, "can't read the file %s: it has no checksums of this version's",
                                 path);
    return status ? status : gbees_checkpoint_file_load(path, to, number, error);
}

/* Replaces *best by the checkpoint of a file, if there is one and it is newer. */
static int try_file(const char *folder, const char *name, gbees_checkpoint *best, uint64_t *number, gbees_error *note)
{
    char *path = gbees_folder_join(folder, name);
    gbees_checkpoint found = {0};
    gbees_error why = {0};
    uint64_t own = 0;

    if (!path)
        return GBEES_ENOMEM;
    if (access(path, F_OK) == 0 || errno != ENOENT) {
        if (read_file(path, &found, &own, &why))
            *note = why;
        else if (own > *number) {
            gbees_checkpoint_clear(best);
            *best = found;
            *number = own;
        } else
            gbees_checkpoint_clear(&found);
    }
    free(path);
    return GBEES_OK;
}

int gbees_checkpoint_read(const char *folder, gbees_checkpoint **checkpoint, gbees_error *note, gbees_error *error)
{
    gbees_checkpoint *best = calloc(1, sizeof *best);
    uint64_t number = 0;
    int status = best ? GBEES_OK : GBEES_ENOMEM;

    *note = (gbees_error){0};
    for (int k = 0; k < 2 && !status; k++)
        status = try_file(folder, names[k], best, &number, note);
    if (!status && gbees_checkpoint_add(best, "number", sizeof number, 1, &number))
        status = GBEES_ENOMEM;
    if (status)
        (void)gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the checkpoint of %s", folder);
    else if (number == 0 && note->status)
        status = gbees_error_set(error, note->status, "%s; there is no other checkpoint", note->text);
    else if (number == 0)
        status = gbees_error_set(error, GBEES_EINPUT,
                                 "there is no checkpoint in %s: its run has reached its end, made none, or has not "
                                 "been one of gbees",
                                 folder);
    if (status)
        gbees_checkpoint_destroy(best);
    else
        *checkpoint = best;
    return status;
}

void gbees_checkpoint_destroy(gbees_checkpoint *checkpoint)
{
    if (!checkpoint)
        return;
    gbees_checkpoint_clear(checkpoint);
    free(checkpoint);
}
