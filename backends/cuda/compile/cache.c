/* cache.c - reads and writes entries of the cache: a file KEY.kernel has a head with key and checksum, then the
 * image and the report. A new file is renamed to its name when it is whole, so that readers never see a part of
 * one. */
#include "cache.h"
#include "base/sha256.h"
#include "base/user_cache.h"
#include "cache_folder.h"
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The head of a file; the image and the report follow.  Numbers are in this machine's order of bytes: no other
 * machine reads the file. */
typedef struct head {
    char magic[8];
    uint32_t format, size; /* of this struct */
    uint64_t image_size, report_size;
    char key[CACHE_KEY];
    char checksum[GBEES_SHA256_HEX]; /* of what follows */
    char zero[6];
} head;

static const char magic[8] = "GBEESGPU";

int cache_key(const cache_part *parts, size_t count, char key[CACHE_KEY], gbees_error *error)
{
    size_t total = sizeof(uint64_t), used = 0;
    uint64_t number = CACHE_FORMAT;
    char *all;

    for (size_t i = 0; i < count; i++)
        total += sizeof number + parts[i].size;
    all = malloc(total);
    if (!all)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the GPU kernels' texts");
    memcpy(all, &number, sizeof number);
    used += sizeof number;
    for (size_t i = 0; i < count; i++) {
        number = parts[i].size;
        memcpy(all + used, &number, sizeof number);
        used += sizeof number;
        if (parts[i].size)
            memcpy(all + used, parts[i].data, parts[i].size);
        used += parts[i].size;
    }
    gbees_sha256(all, used, key);
    free(all);
    return GBEES_OK;
}

/* ---- reading ---- */

/* Reads `size` bytes; returns 0 if there are fewer. */
static int read_all(int file, void *data, size_t size)
{
    for (char *next = data; size > 0;) {
        ssize_t got = read(file, next, size);

        if (got <= 0)
            return 0;
        next += got;
        size -= (size_t)got;
    }
    return 1;
}

/* Reads a file's head and checks that it is the key's.  Returns what follows the head, which the caller frees; NULL:
 * it is damaged, or of another format. */
static char *read_body(int file, const char *key, head *h)
{
    struct stat now;
    uint64_t size;
    char *body = NULL;

    static const char zero[sizeof h->zero];

    if (fstat(file, &now) || !S_ISREG(now.st_mode) || !read_all(file, h, sizeof *h) ||
        memcmp(h->magic, magic, sizeof magic) != 0 || h->format != CACHE_FORMAT || h->size != sizeof *h ||
        memcmp(h->key, key, CACHE_KEY) != 0 || memcmp(h->zero, zero, sizeof zero) != 0)
        return NULL;
    size = (uint64_t)now.st_size - sizeof *h;
    if (h->image_size > size || h->report_size != size - h->image_size || size > SIZE_MAX / 2)
        return NULL;
    body = malloc((size_t)size + 1);
    if (body && !read_all(file, body, (size_t)size)) {
        free(body);
        return NULL;
    }
    return body;
}

/* Whether the body has the head's checksum. */
static int is_whole(const head *h, const char *body)
{
    char checksum[GBEES_SHA256_HEX];

    gbees_sha256(body, (size_t)(h->image_size + h->report_size), checksum);
    return memcmp(checksum, h->checksum, sizeof checksum) == 0;
}

/* Copies the body's image and report to an entry. Returns 0 if there is no memory. */
static int copy_body(const head *h, const char *body, cache_entry *entry)
{
    size_t image_size = (size_t)h->image_size, report_size = (size_t)h->report_size;
    char *image = malloc(image_size + 1), *report = malloc(report_size + 1);

    if (!image || !report) {
        free(image);
        free(report);
        return 0;
    }
    memcpy(image, body, image_size);
    memcpy(report, body + image_size, report_size);
    image[image_size] = report[report_size] = '\0';
    entry->image = image;
    entry->image_size = image_size;
    entry->report = report;
    return 1;
}

int cache_read(const char *key, cache_entry *entry)
{
    char *path = cache_folder_path(key, 0), *body = NULL;
    int file = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1, found = 0;
    head h;

    if (file >= 0) {
        body = read_body(file, key, &h);
        found = body && is_whole(&h, body) && copy_body(&h, body, entry);
        if (found)
            (void)futimens(file, NULL); /* for cache_folder_trim() */
        (void)close(file);
    }
    free(body);
    free(path);
    return found;
}

/* ---- writing ---- */

/* Writes an entry to a new file and renames it to `path`. Returns 1 if that is done. */
static int write_entry(const char *path, const char *key, const cache_entry *entry)
{
    head h = {.format = CACHE_FORMAT,
              .size = sizeof h,
              .image_size = entry->image_size,
              .report_size = strlen(entry->report)};
    size_t size = entry->image_size + strlen(entry->report);
    char *body = malloc(size + 1);

    if (!body)
        return 0;
    memcpy(body, entry->image, entry->image_size);
    memcpy(body + entry->image_size, entry->report, strlen(entry->report));
    memcpy(h.magic, magic, sizeof magic);
    memcpy(h.key, key, CACHE_KEY);
    gbees_sha256(body, size, h.checksum);
    const int done = gbees_user_cache_write(path, (struct iovec[]){{&h, sizeof h}, {body, size}}, 2);
    free(body);
    return done;
}

int cache_write(const char *key, const cache_entry *entry)
{
    char *path = cache_folder_path(key, 1);
    const int done = path && write_entry(path, key, entry);

    if (done)
        cache_folder_trim((uint64_t)CACHE_MEGABYTES << 20);
    free(path);
    return done;
}
