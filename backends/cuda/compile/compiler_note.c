/* compiler_note.c - writes and reads the note as a file of the cache's folder. Its key is a hash of all that decides
 * which NVRTC is opened. */
#include "compiler_note.h"
#include "base/text.h"
#include "cache.h"
#include "cuda/driver/library.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Makes the note's key, from all that decides which file library_open() finds. Returns 1 if there is no memory. */
static int make_key(const cuda_api *api, char key[CACHE_KEY])
{
    static const char *const names[] = {"GBEES_CUDA_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH"};
    enum { NAMES = sizeof names / sizeof *names };
    cache_part parts[NAMES + 3] = {{"compiler", 8}, {&api->driver_version, sizeof api->driver_version}};
    gbees_error ignored;

    for (size_t i = 0; i < NAMES; i++) {
        const char *value = getenv(names[i]);

        parts[2 + i] = (cache_part){value, value ? strlen(value) : 0};
    }
    parts[NAMES + 2] = (cache_part){library_toolkit(), strlen(library_toolkit())};
    return cache_key(parts, NAMES + 3, key, &ignored);
}

/* Appends a file's "SIZE INODE SECONDS NANOSECONDS", which change when it is replaced. Returns 0 if there is no such
 * file. */
static int add_stamp(gbees_text *text, const char *path)
{
    struct stat now;

    if (path[0] != '/' || stat(path, &now))
        return 0;
    gbees_text_add(text, "%lld %llu %lld %ld", (long long)now.st_size, (unsigned long long)now.st_ino,
                   (long long)now.st_mtim.tv_sec, now.st_mtim.tv_nsec);
    return !text->failed;
}

/* ---- a note: the file, its stamp, the version, the architectures; a line each ---------------------------------- */

/* Reads the lines of the version and of the architectures. Returns 0 if they are not valid. */
static int read_numbers(const char *line, cuda_api *api)
{
    const char *next = line;
    char *end;
    long number;
    cuda_api read = {0};

    if (sscanf(next, "%d %d", &read.compiler_major, &read.compiler_minor) != 2 || !(next = strchr(next, '\n')))
        return 0;
    while (number = strtol(next, &end, 10), end != next && read.architecture_count < CUDA_ARCHITECTURES) {
        read.architectures[read.architecture_count++] = (int)number;
        next = end;
    }
    if (!read.architecture_count)
        return 0;
    api->compiler_major = read.compiler_major;
    api->compiler_minor = read.compiler_minor;
    memcpy(api->architectures, read.architectures, sizeof api->architectures);
    api->architecture_count = read.architecture_count;
    return 1;
}

/* Whether the note's file is unchanged; sets *numbers to the lines behind its stamp. Cuts the note into lines. */
static int is_valid(char *note, const char **numbers)
{
    gbees_text stamp = {0};
    char *then = strchr(note, '\n'), *end = then ? strchr(then + 1, '\n') : NULL;
    int same = 0;

    if (end) {
        *then++ = *end++ = '\0';
        same = add_stamp(&stamp, note) && strcmp(stamp.data, then) == 0;
        *numbers = end;
    }
    gbees_text_free(&stamp);
    return same;
}

int compiler_note_read(cuda_api *api)
{
    char key[CACHE_KEY];
    const char *numbers = NULL;
    cache_entry entry = {0};
    int known;

    if (make_key(api, key) || !cache_read(key, &entry))
        return 0;
    known = is_valid(entry.image, &numbers) && read_numbers(numbers, api);
    free(entry.image);
    free(entry.report);
    return known;
}

void compiler_note_write(const cuda_api *api)
{
    char key[CACHE_KEY], nothing[] = "";
    gbees_text note = {0};
    Dl_info info;
    void *symbol;

    memcpy(&symbol, &api->nvrtcVersion, sizeof symbol);
    if (!dladdr(symbol, &info) || make_key(api, key))
        return;
    gbees_text_add(&note, "%s\n", info.dli_fname);
    if (add_stamp(&note, info.dli_fname)) {
        gbees_text_add(&note, "\n%d %d\n", api->compiler_major, api->compiler_minor);
        for (int i = 0; i < api->architecture_count; i++)
            gbees_text_add(&note, "%d ", api->architectures[i]);
        if (!note.failed)
            (void)cache_write(key, &(cache_entry){note.data, note.length, nothing});
    }
    gbees_text_free(&note);
}
