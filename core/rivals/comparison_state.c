/* comparison_state.c - saves the records that a comparison has kept to a checkpoint, and loads them from one: one
 * part, of bytes. The filters run after the last record, so that there is nothing of them. */
#include "base/checkpoint.h"
#include "base/stream.h"
#include "comparison_private.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char part[] = "comparison";

/* ---- saving ---- */

static int put_record(FILE *out, const gbees_reference *record)
{
    gbees_reference plain;
    int bad = 0;

    memcpy(&plain, record, sizeof plain); /* gaps included */
    plain.joint = NULL;
    for (int j = 0; j < record->dimension; j++)
        plain.line[j].p = NULL;
    bad |= gbees_stream_put(out, &plain, sizeof plain);
    for (int j = 0; j < record->dimension; j++)
        bad |= gbees_stream_put(out, record->line[j].p, record->line[j].length * sizeof *record->line[j].p);
    return bad | gbees_joint_save(record->joint, out);
}

int gbees_comparison_save(const gbees_comparison *comparison, gbees_checkpoint *checkpoint, gbees_error *error)
{
    const uint64_t counts[] = {comparison->count, (uint64_t)comparison->measured};
    char *data = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&data, &size);
    int bad = !out || gbees_stream_put(out, counts, sizeof counts);

    for (size_t i = 0; i < comparison->count && !bad; i++)
        bad = put_record(out, &comparison->records[i]);
    bad |= out && fclose(out) != 0;
    if (!bad)
        bad = gbees_checkpoint_take(checkpoint, part, 1, size, data);
    else
        free(data);
    return bad ? gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a checkpoint of the comparison")
               : GBEES_OK;
}

/* ---- loading ---- */

/* Reads a line's values to new memory; most: bytes that are left. */
static int get_line(FILE *in, gbees_reference_line *line, size_t most)
{
    if (line->length == 0)
        return GBEES_OK;
    if (line->length > most / sizeof *line->p)
        return GBEES_EINPUT;
    line->p = malloc(line->length * sizeof *line->p);
    if (!line->p)
        return GBEES_ENOMEM;
    return gbees_stream_get(in, line->p, line->length * sizeof *line->p) ? GBEES_EINPUT : GBEES_OK;
}

/* Reads a record; what it has got of one that fails is to be cleared. */
static int get_record(FILE *in, int dimension, size_t most, gbees_reference *record)
{
    int status = gbees_stream_get(in, record, sizeof *record) ? GBEES_EINPUT : GBEES_OK;

    if (status || record->dimension != dimension)
        *record = (gbees_reference){0};
    for (int j = 0; j < GBEES_MAX_DIM; j++)
        record->line[j].p = NULL;
    record->joint = NULL;
    if (record->dimension != dimension)
        return GBEES_EINPUT;
    for (int j = 0; j < dimension && !status; j++)
        status = get_line(in, &record->line[j], most);
    return status ? status : gbees_joint_load(in, dimension, most, &record->joint);
}

static int get_records(FILE *in, size_t most, gbees_comparison *to)
{
    uint64_t counts[2];

    if (gbees_stream_get(in, counts, sizeof counts) || counts[0] > most / sizeof *to->records ||
        counts[1] > (uint64_t)to->problem->measurement_count)
        return GBEES_EINPUT;
    to->records = calloc(counts[0] + 1, sizeof *to->records);
    if (!to->records)
        return GBEES_ENOMEM;
    to->capacity = counts[0] + 1;
    to->measured = (int)counts[1];
    int status = GBEES_OK;
    while (to->count < counts[0] && !status) /* a record that fails is counted: it is cleared with the others */
        status = get_record(in, to->problem->dimension, most, &to->records[to->count++]);
    return status;
}

int gbees_comparison_load(gbees_comparison *comparison, const gbees_checkpoint *checkpoint, gbees_error *error)
{
    uint64_t size = 0;
    const void *data = gbees_checkpoint_find((void *)(uintptr_t)checkpoint, part, 1, &size);
    FILE *in = data ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
    const int status = in ? get_records(in, size, comparison) : data ? GBEES_ENOMEM : GBEES_EINPUT;

    if (in)
        (void)fclose(in);
    if (status == GBEES_ENOMEM)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the comparison of the checkpoint");
    return status ? gbees_error_set(error, GBEES_EINPUT,
                                    "the checkpoint does not fit this run: its part '%s' is missing or damaged", part)
                  : GBEES_OK;
}
