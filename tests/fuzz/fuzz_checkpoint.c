/* fuzz_checkpoint.c - a checkpoint: its checksums and its parts. */
#include "harness.h"
#include "results/records/verify.h"
#include "results/run/checkpoint_file.h"
#include <gbees/gbees.h>
#include <stdlib.h>

const char fuzz_corpus[] = "checkpoint";

/* As the programs do: what crashes HDF5 is an error. */
static void read_isolated(void)
{
    gbees_checkpoint *checkpoint = NULL;
    gbees_error note = {0}, error = {0};

    if (gbees_checkpoint_read(fuzz_folder(), &checkpoint, &note, &error))
        fuzz_expect(error.text[0] != '\0' && !checkpoint, "a refusal has a reason, and no result");
    gbees_checkpoint_destroy(checkpoint);
}

static void read_all(const char *path)
{
    gbees_hdf5 file;

    if (gbees_hdf5_open(path, &file, NULL))
        return;
    gbees_verify_read(&file);
    (void)gbees_hdf5_close(&file, NULL);
}

static void read_here(const char *path)
{
    gbees_checkpoint checkpoint = {0};
    gbees_error error = {0};
    uint64_t number = 0, count = 0;

    read_all(path);
    if (gbees_checkpoint_file_load(path, &checkpoint, &number, &error))
        fuzz_expect(error.text[0] != '\0' && checkpoint.count == 0, "a refusal has a reason, and no result");
    for (size_t k = 0; k < checkpoint.count; k++)
        fuzz_expect(checkpoint.part[k].data != NULL, "a part has its numbers");
    (void)gbees_checkpoint_find(&checkpoint, "options", 1, &count);
    gbees_checkpoint_clear(&checkpoint);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *path = fuzz_write("checkpoint-A.h5", data, size);

    if (fuzz_is_isolated())
        read_isolated();
    else
        read_here(path);
    free(path);
    return 0;
}
