/* fuzz_record.c - a record: its checksums, its cells, and what none has. */
#include "harness.h"
#include "results/records/record_file.h"
#include "results/records/verify.h"
#include <stdlib.h>

const char fuzz_corpus[] = "record";

/* As the programs do: what crashes HDF5 is an error. */
static void read_isolated(const char *path)
{
    gbees_snapshot *snapshot = NULL;
    gbees_error error = {0};
    int summed = 0;

    if (gbees_record_file_read(path, &snapshot, &error))
        fuzz_expect(error.text[0] != '\0' && !snapshot, "a refusal has a reason, and no result");
    gbees_snapshot_destroy(snapshot);
    error = (gbees_error){0};
    if (gbees_verify_file(path, GBEES_VERIFY_RECORD, &summed, &error))
        fuzz_expect(error.text[0] != '\0', "damage has a description");
}

static void read_all(const char *path)
{
    gbees_hdf5 file;

    if (gbees_hdf5_open(path, &file, NULL))
        return;
    gbees_verify_read(&file);
    (void)gbees_hdf5_close(&file, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *path = fuzz_write("leg0_record0.h5", data, size);
    gbees_snapshot *snapshot = calloc(1, sizeof *snapshot);
    gbees_error error = {0};

    fuzz_expect(snapshot != NULL, "there is memory");
    if (fuzz_is_isolated())
        read_isolated(path);
    else if (gbees_record_file_load(path, snapshot, &error))
        fuzz_expect(error.text[0] != '\0', "a refusal has a reason");
    else {
        (void)gbees_record_file_check(path, snapshot, &error);
        read_all(path);
    }
    gbees_snapshot_destroy(snapshot);
    free(path);
    return 0;
}
