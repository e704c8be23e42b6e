/* card_cache.c - the cache's file: JSON, an object of entries by the plugins' paths; see card_cache.h. */
#include "card_cache.h"
#include "base/user_cache.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <gbees/model.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The format's version; the largest file that is read, in bytes; the most entries that are written. */
enum { FORMAT = 1, FILE_MOST = 1 << 24, NOTES_MOST = 4096 };

static const char file_name[] = "plugins.json";

struct gbees_card_cache {
    json_t *notes; /* an object: by path */
    int changed;
};

/* ---- the file -------------------------------------------------------------------------------------------------- */

/* Identifies this library's file: entries that another library has written are not used, as it may check cards
 * differently. */
static json_t *maker(void)
{
    static const char within[] = GBEES_VERSION;
    Dl_info here;
    struct stat library = {0};

    if (dladdr(within, &here) && here.dli_fname)
        (void)stat(here.dli_fname, &library);
    return json_pack("{s:i, s:s, s:i, s:i, s:I, s:I, s:I}", "format", FORMAT, "version", within, "abi",
                     GBEES_MODEL_ABI, "card", (int)sizeof(gbees_model), "size", (json_int_t)library.st_size,
                     "seconds", (json_int_t)library.st_mtim.tv_sec, "nanoseconds",
                     (json_int_t)library.st_mtim.tv_nsec);
}

static json_t *read_file(void)
{
    char *path = gbees_user_cache_path(file_name, 0);
    const int file = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    struct stat facts;
    json_t *all = NULL;

    if (file >= 0 && fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size <= FILE_MOST)
        all = json_loadfd(file, 0, NULL);
    if (file >= 0)
        (void)close(file);
    free(path);
    return all;
}

gbees_card_cache *gbees_card_cache_open(void)
{
    gbees_card_cache *cache = calloc(1, sizeof *cache);
    json_t *all = read_file(), *made_by = maker(), *notes = json_object_get(all, "plugins");

    if (cache && made_by && json_is_object(notes) && json_equal(json_object_get(all, "made_by"), made_by))
        cache->notes = json_incref(notes);
    else if (cache)
        cache->notes = json_object();
    json_decref(all);
    json_decref(made_by);
    if (cache && cache->notes)
        return cache;
    free(cache);
    return NULL;
}

/* Removes the entries of files that no longer exist, and then all entries if there are more than NOTES_MOST. */
static void tidy(json_t *notes)
{
    const char *path;
    void *next;
    json_t *note;

    json_object_foreach_safe(notes, next, path, note)
    {
        (void)note;
        if (access(path, F_OK))
            (void)json_object_del(notes, path);
    }
    if (json_object_size(notes) > NOTES_MOST)
        (void)json_object_clear(notes);
}

static void write_file(json_t *notes)
{
    json_t *made_by = maker();
    json_t *all = made_by ? json_pack("{s:O, s:O}", "made_by", made_by, "plugins", notes) : NULL;
    char *text = all ? json_dumps(all, JSON_INDENT(1)) : NULL, *path = gbees_user_cache_path(file_name, 1);

    if (text && path)
        (void)gbees_user_cache_write(path, &(struct iovec){text, strlen(text)}, 1);
    free(path);
    free(text);
    json_decref(all);
    json_decref(made_by);
}

void gbees_card_cache_close(gbees_card_cache *cache)
{
    if (!cache)
        return;
    if (cache->changed) {
        tidy(cache->notes);
        write_file(cache->notes);
    }
    json_decref(cache->notes);
    free(cache);
}

/* ---- keys ------------------------------------------------------------------------------------------------------ */

/* Reads the file and sets *key. Returns 1, or 0 if it can't be read. */
static int make_key(const char *path, gbees_card_key *key)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat facts;
    int made = 0;

    if (file < 0)
        return 0;
    if (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode)) {
        key->size = (int64_t)facts.st_size;
        key->seconds = (int64_t)facts.st_mtim.tv_sec;
        key->nanoseconds = (int64_t)facts.st_mtim.tv_nsec;
        made = gbees_sha256_file(file, key->sha256) == 0;
    }
    (void)close(file);
    return made;
}

/* Whether an entry is of the content that a key identifies. */
static int is_about(const json_t *note, const gbees_card_key *key)
{
    const char *sum = json_string_value(json_object_get(note, "sha256"));

    return sum && strcmp(sum, key->sha256) == 0 && json_integer_value(json_object_get(note, "size")) == key->size &&
           json_integer_value(json_object_get(note, "seconds")) == key->seconds &&
           json_integer_value(json_object_get(note, "nanoseconds")) == key->nanoseconds;
}

/* ---- notes ----------------------------------------------------------------------------------------------------- */

/* The text of a member that is one line, or NULL. */
static const char *line_of(const json_t *note, const char *key)
{
    const char *text = json_string_value(json_object_get(note, key));

    return text && text[0] && !strpbrk(text, "\n\r") ? text : NULL;
}

static int dimension_of(const json_t *note, const char *key)
{
    const json_int_t number = json_integer_value(json_object_get(note, key));

    return number > 0 && number <= GBEES_MAX_DIM ? (int)number : 0;
}

/* Sets *note to an entry of the file. Returns 1 if it is complete. */
static int take(const json_t *from, gbees_card_note *note)
{
    *note = (gbees_card_note){.name = line_of(from, "name"),
                              .title = line_of(from, "title"),
                              .dim_min = dimension_of(from, "dim_min"),
                              .dim_max = dimension_of(from, "dim_max"),
                              .dim_default = dimension_of(from, "dim_default"),
                              .problem = line_of(from, "problem")};
    return note->problem || (note->name && note->title && note->dim_min && note->dim_max && note->dim_default);
}

int gbees_card_cache_find(const gbees_card_cache *cache, const char *path, gbees_card_key *key, gbees_card_note *note)
{
    const json_t *kept = json_object_get(cache->notes, path);

    if (!make_key(path, key))
        return -1;
    return kept && is_about(kept, key) && take(kept, note);
}

void gbees_card_cache_add(gbees_card_cache *cache, const char *path, const gbees_card_key *key,
                          const gbees_card_note *note)
{
    json_t *made =
        json_pack("{s:s, s:I, s:I, s:I, s:i, s:i, s:i, s:s*, s:s*, s:s*}", "sha256", key->sha256, "size",
                  (json_int_t)key->size, "seconds", (json_int_t)key->seconds, "nanoseconds",
                  (json_int_t)key->nanoseconds, "dim_min", note->dim_min, "dim_max", note->dim_max, "dim_default",
                  note->dim_default, "name", note->name, "title", note->title, "problem", note->problem);

    /* It fails for a path or a text that is not UTF-8, which JSON can't hold. */
    if (made && json_object_set_new(cache->notes, path, made) == 0)
        cache->changed = 1;
}
