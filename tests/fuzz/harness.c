/* harness.c - see harness.h. */
#include "harness.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[4096];
static pid_t owner; /* a child process leaves the folder to it */
static int isolated;

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)kind, (void)walk;
    return remove(path);
}

static void remove_folder(void)
{
    if (getpid() == owner)
        (void)nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *fuzz_folder(void)
{
    const char *place = getenv("TMPDIR");

    if (*folder)
        return folder;
    (void)snprintf(folder, sizeof folder, "%s/gbees-fuzz-XXXXXX", place ? place : "/tmp");
    fuzz_expect(mkdtemp(folder) != NULL, "there is a folder for temporary files");
    owner = getpid();
    fuzz_expect(atexit(remove_folder) == 0, "it can be removed");
    return folder;
}

char *fuzz_write(const char *name, const void *data, size_t size)
{
    char *path = NULL;

    fuzz_expect(asprintf(&path, "%s/%s", fuzz_folder(), name) > 0, "there is memory for a path");
    FILE *file = fopen(path, "w");
    fuzz_expect(file && fwrite(data, 1, size, file) == size && fclose(file) == 0, "a temporary file can be written");
    return path;
}

void fuzz_expect(int holds, const char *rule)
{
    if (holds)
        return;
    (void)fprintf(stderr, "%s: this does not hold: %s\n", fuzz_corpus, rule);
    abort();
}

int fuzz_is_isolated(void)
{
    return isolated;
}

void fuzz_set_isolated(int now)
{
    isolated = now;
}
