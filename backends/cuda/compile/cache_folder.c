/* cache_folder.c - finds the folder of the cache, and removes the entries that were used longest ago until the
 * others are below the limit. */
#include "cache_folder.h"
#include "base/text.h"
#include "base/user_cache.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char ending[] = ".kernel";
enum { STALE_S = 3600 }; /* seconds after which a temporary file counts as left by an interrupted writer */

/* A file of the cache. */
typedef struct item {
    char *path;
    uint64_t bytes;
    struct timespec used; /* when it was last read or written */
} item;

char *cache_folder_path(const char *key, int make)
{
    gbees_text name = {0};

    gbees_text_add(&name, "%s%s", key, ending);
    char *path = name.failed ? NULL : gbees_user_cache_path(name.data, make);
    gbees_text_free(&name);
    return path;
}

/* ---- size ---- */

/* Whether time a is after time b. */
static int is_later(struct timespec a, struct timespec b)
{
    return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

/* For qsort(): the file that was used longest ago comes first. */
static int compare(const void *a, const void *b)
{
    return is_later(((const item *)a)->used, ((const item *)b)->used) -
           is_later(((const item *)b)->used, ((const item *)a)->used);
}

/* Sets *out to the file `name` of folder `in` and returns 1 if it is KEY.kernel; the caller frees out->path.  Returns
 * 0 for any other file, and removes KEY.kernel.XXXXXX, which a writer has left, if it is stale. */
static int take_item(const char *in, const char *name, item *out)
{
    const char *end = strstr(name, ending);
    gbees_text path = {0};
    struct stat now;

    if (!end)
        return 0;
    gbees_text_add(&path, "%s/%s", in, name);
    if (path.failed || lstat(path.data, &now) || !S_ISREG(now.st_mode)) {
        gbees_text_free(&path);
        return 0;
    }
    if (end[sizeof ending - 1]) {
        if (time(NULL) - now.st_mtim.tv_sec > STALE_S)
            (void)unlink(path.data);
        gbees_text_free(&path);
        return 0;
    }
    *out = (item){path.data, (uint64_t)now.st_size, now.st_mtim};
    return 1;
}

/* Lists the entries of a folder: *count of them. The caller frees the list and their paths. */
static item *list_items(const char *in, size_t *count)
{
    DIR *dir = opendir(in);
    item *list = NULL;

    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        item *grown = realloc(list, (*count + 1) * sizeof *list);

        if (!grown)
            break;
        list = grown;
        *count += (size_t)take_item(in, entry->d_name, &list[*count]);
    }
    if (dir)
        (void)closedir(dir);
    return list;
}

void cache_folder_trim(uint64_t bytes)
{
    char *in = gbees_user_cache_folder(0);
    size_t count = 0;
    item *list = in ? list_items(in, &count) : NULL;
    uint64_t total = 0;

    if (list)
        qsort(list, count, sizeof *list, compare);
    for (size_t i = 0; list && i < count; i++)
        total += list[i].bytes;
    for (size_t i = 0; list && i < count; i++) {
        if (total > bytes) {
            (void)unlink(list[i].path);
            total -= list[i].bytes;
        }
        free(list[i].path);
    }
    free(list);
    free(in);
}
