/* fuzz_cache.c - an entry of the cache of compiled kernels. */
#include "base/sha256.h"
#include "cuda/compile/cache.h"
#include "harness.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char fuzz_corpus[] = "cache";

/* The head of an entry: where its checksum is, and where what the checksum is of (backends/cuda/compile/cache.c). */
enum { CHECKSUM = 97, HEAD = 168 };
static const char key[CACHE_KEY] = "00000000000000000000000000000000"
                                   "00000000000000000000000000000000";

static void make_folder(void)
{
    char path[4200];

    (void)snprintf(path, sizeof path, "%s/gbees", fuzz_folder());
    (void)mkdir(path, 0700);
    fuzz_expect(setenv("XDG_CACHE_HOME", fuzz_folder(), 1) == 0 && unsetenv("GBEES_CACHE") == 0,
                "the folder can be named");
}

/* What has been read is written and read again. */
static void check_entry(const cache_entry *entry, size_t size)
{
    cache_entry again = {0};
    const char *image = entry->image;

    fuzz_expect(entry->image_size <= size - HEAD && image[entry->image_size] == '\0', "an image is in its file");
    fuzz_expect(cache_write(key, entry) && cache_read(key, &again), "an entry can be written and read");
    fuzz_expect(again.image_size == entry->image_size && memcmp(again.image, image, entry->image_size) == 0 &&
                    strcmp(again.report, entry->report) == 0,
                "and is the same");
    free(again.image);
    free(again.report);
}

static void read_entry(const uint8_t *data, size_t size)
{
    cache_entry entry = {0};
    char name[CACHE_KEY + 32];

    (void)snprintf(name, sizeof name, "gbees/%s.kernel", key);
    free(fuzz_write(name, data, size));
    if (cache_read(key, &entry))
        check_entry(&entry, size);
    free(entry.image);
    free(entry.report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    make_folder();
    read_entry(data, size);
    if (size < HEAD)
        return 0;
    /* Again, with the checksum that the file should have. */
    uint8_t *right = malloc(size);
    fuzz_expect(right != NULL, "there is memory");
    char hex[GBEES_SHA256_HEX];
    memcpy(right, data, size);
    gbees_sha256(data + HEAD, size - HEAD, hex);
    memcpy(right + CHECKSUM, hex, sizeof hex);
    read_entry(right, size);
    free(right);
    return 0;
}
