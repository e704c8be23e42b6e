/* fuzz_directory.c - run.h5's own lists: the superblocks, of which one is as of the last sync, the root's group and
 * those of the legs; and what a run that goes on adds to such a file. */
#include "harness.h"
#include "io/run_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char fuzz_corpus[] = "directory";

/* Legs and their records are in order, and each is found by its name, also where its leg alone is read. */
static void check_leg(int descriptor, const gbees_run_directory *directory, const gbees_run_leg *leg)
{
    for (size_t i = 0; i < leg->count; i++) {
        gbees_run_directory again = {0};
        char name[2 * GBEES_HDF5_LINK_NAME + 16];

        fuzz_expect(i == 0 || gbees_run_directory_number(&leg->records[i - 1]) <
                                  gbees_run_directory_number(&leg->records[i]),
                    "records are in order");
        (void)snprintf(name, sizeof name, "leg%d/%s", leg->leg, leg->records[i].name);
        fuzz_expect(gbees_run_directory_find(directory, name) == leg->records[i].address, "a record is found");
        if (i > 0)
            continue;
        /* Where a list is damaged, the whole is read as of the last sync, and a leg that is not from the newest. */
        fuzz_expect(
            gbees_run_directory_read(descriptor, "run.h5", name, &again, NULL) == GBEES_OK &&
                (again.root != directory->root || gbees_run_directory_find(&again, name) == leg->records[i].address),
            "it is found where its leg alone is read");
        gbees_run_directory_free(&again);
    }
}

static void check(int descriptor, const gbees_run_directory *directory)
{
    for (size_t k = 0; k < directory->count; k++) {
        fuzz_expect(k == 0 || directory->legs[k - 1].leg < directory->legs[k].leg, "legs are in order");
        check_leg(descriptor, directory, &directory->legs[k]);
    }
}

/* The number of records. */
static size_t count_records(const gbees_run_directory *directory)
{
    size_t count = 0;

    for (size_t k = 0; k < directory->count; k++)
        count += directory->legs[k].count;
    return count;
}

/* Adds a record, as a run that goes on does, and reads the file again. */
static void go_on(int folder)
{
    static const char added[] = "leg7/record123456789";
    const gbees_store store = {.path = (char *)(uintptr_t) "run", .descriptor = folder, .lock = -1};
    gbees_run_directory again = {0};
    gbees_run_file *file = NULL;
    gbees_error error = {0};

    if (gbees_run_file_reopen(&store, &file, &error) || !file)
        return;
    const size_t before = count_records(&file->directory);
    const int was_there = gbees_run_directory_find(&file->directory, added) != 0;
    const uint64_t start = gbees_run_file_begin(file);
    int status = gbees_run_file_add(file, added, start, start + 8, &error);
    if (!status)
        status = gbees_run_file_commit(file, 1, &error);
    if (!status) {
        status = gbees_run_directory_read(file->descriptor, "run.h5", NULL, &again, &error);
        fuzz_expect(status == GBEES_OK, "a file that has been added to can be read");
        fuzz_expect(gbees_run_directory_find(&again, added) == start, "it has what was added");
        fuzz_expect(count_records(&again) == before + !was_there, "and what it had");
        gbees_run_directory_free(&again);
    }
    gbees_run_file_destroy(file);
}

static void read_file(const uint8_t *data, size_t size)
{
    char *path = fuzz_write("run.h5", data, size);
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC),
              folder = open(fuzz_folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    gbees_run_directory directory = {0};
    gbees_error error = {0};

    fuzz_expect(descriptor >= 0 && folder >= 0, "a temporary file can be opened");
    if (gbees_run_directory_read(descriptor, path, NULL, &directory, &error))
        fuzz_expect(error.text[0] != '\0' && directory.count == 0, "a refusal has a reason, and no result");
    else
        check(descriptor, &directory);
    gbees_run_directory_free(&directory);
    go_on(folder);
    (void)close(descriptor);
    (void)close(folder);
    free(path);
}

static uint64_t decode(const uint8_t *from, size_t size)
{
    uint64_t number = 0;

    while (size-- > 0)
        number = number << 8 | from[size];
    return number;
}

/* Gives a group's header its checksum, if it ends within the data. */
static void sign_group(uint8_t *data, size_t size)
{
    enum { HEADER = 10, CHECKSUM = 4 };
    const uint64_t length = size < HEADER ? size : HEADER + decode(data + 6, 4);
    gbees_bytes bytes = {0};

    if (length + CHECKSUM > size)
        return;
    gbees_bytes_add(&bytes, data, (size_t)length);
    gbees_hdf5_group_end(&bytes, 0);
    if (!bytes.failed)
        memcpy(data, bytes.data, bytes.length);
    gbees_bytes_free(&bytes);
}

/* Gives all superblocks and headers their checksums: else few inputs would be read beyond the first. */
static void sign(uint8_t *data, size_t size)
{
    for (size_t at = 0; at <= GBEES_RUN_SAFE && at + GBEES_HDF5_SUPERBLOCK <= size; at += GBEES_RUN_SAFE)
        gbees_hdf5_superblock(decode(data + at + 36, 8), decode(data + at + 28, 8), data + at);
    for (size_t at = 0; at + 4 < size; at++)
        if (memcmp(data + at, "OHDR", 4) == 0)
            sign_group(data + at, size - at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);

    fuzz_expect(copy != NULL, "there is memory for a copy");
    memcpy(copy, data, size);
    read_file(data, size);
    sign(copy, size);
    read_file(copy, size);
    free(copy);
    return 0;
}
