/* replay.c - the main() of a harness without libFuzzer: calls it with each file that is named, or with all files of
 * its corpus. An input named hdf5-* is one that HDF5 itself crashes on. */
#include "harness.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MOST = 1 << 24 };

static int replay(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    unsigned char *data = malloc(FILE_MOST);
    FILE *file = fopen(path, "r");

    if (!data || !file) {
        (void)fprintf(stderr, "can't read %s\n", path);
        exit(1);
    }
    const size_t size = fread(data, 1, FILE_MOST, file);
    (void)fclose(file);
    /* The memory ends where the input ends, so that a checker sees what is read behind it. */
    unsigned char *exact = realloc(data, size + !size);
    (void)fprintf(stderr, "%s\n", path);
    fuzz_set_isolated(strncmp(name, "hdf5-", 5) == 0);
    (void)LLVMFuzzerTestOneInput(exact ? exact : data, size);
    free(exact ? exact : data);
    return 1;
}

static int is_input(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int replay_corpus(const char *top)
{
    char folder[4096], path[8192];
    struct dirent **entries = NULL;

    (void)snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/%s", top, fuzz_corpus);
    const int count = scandir(folder, &entries, is_input, alphasort);
    for (int k = 0; k < count; k++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, entries[k]->d_name);
        (void)replay(path);
        free(entries[k]);
    }
    free(entries);
    return count;
}

int main(int count, char **paths)
{
    const char *top = getenv("GBEES_TOP_SRC");
    int replayed = 0;

    for (int k = 1; k < count; k++)
        replayed += replay(paths[k]);
    if (count == 1)
        replayed = replay_corpus(top ? top : ".");
    (void)printf("%s: %d inputs\n", fuzz_corpus, replayed);
    return replayed > 0 ? 0 : 1;
}
