/* run_files.c - sums all files of a run but its records, writes the list, reads and checks it. A line of the list is
 * that of sha256sum for a text, "# record NAME" for a record; the last is the checksum of the lines before it. */
#include "run_files.h"
#include "base/sha256.h"
#include "base/text.h"
#include "results/folder/folder.h"
#include "results/records/results_list.h"
#include "results/records/xdmf.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEX = GBEES_SHA256_HEX - 1, LIST_MOST = 1 << 28 };

static const char head_text[] = "# Files of a run of gbees; sha256sum -c reads it.\n";
static const char record_mark[] = "# record ";
static const char last_mark[] = "# lines above ";

typedef struct entry {
    char name[GBEES_STORE_NAME];
    char hex[GBEES_SHA256_HEX]; /* of a text; empty for a record */
} entry;

struct gbees_run_files {
    entry *entry; /* in the order of their names */
    size_t count, capacity;
};

/* ---- names ----------------------------------------------------------------------------------------------------- */

/* leg<number>_record<number> and the ending. */
static int is_numbered(const char *name, const char *ending)
{
    int leg = 0, record = 0;
    char again[64];

    if (sscanf(name, "leg%9d_record%9d", &leg, &record) != 2)
        return 0;
    (void)snprintf(again, sizeof again, "leg%d_record%d%s", leg, record, ending);
    return strcmp(name, again) == 0;
}

static int is_record(const char *name)
{
    gbees_record_name read;

    return gbees_record_name_read(name, &read) == 0;
}

static int is_sidecar(const char *name)
{
    return is_numbered(name, ".xdmf") || strcmp(name, GBEES_XDMF_RUN) == 0;
}

/* Whether a file is listed with its checksum; a record is listed by its name, as it has checksums of its own. */
static int is_whole(const char *name)
{
    return strcmp(name, "run.json") == 0 || strcmp(name, "scenario.yaml") == 0 ||
           strcmp(name, "compare.h5") == 0 /* of older versions */ || is_sidecar(name);
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->name, ((const entry *)b)->name);
}

static const entry *find(const gbees_run_files *files, const char *name)
{
    entry wanted = {0};

    (void)snprintf(wanted.name, sizeof wanted.name, "%.*s", GBEES_STORE_NAME - 1, name);
    return files->count ? bsearch(&wanted, files->entry, files->count, sizeof wanted, compare) : NULL;
}

int gbees_run_files_has(const gbees_run_files *files, const char *name)
{
    return find(files, name) != NULL;
}

void gbees_run_files_free(gbees_run_files *files)
{
    if (!files)
        return;
    free(files->entry);
    free(files);
}

/* Adds an entry at the end, or returns NULL. */
static entry *append(gbees_run_files *files, const char *name)
{
    if (files->count == files->capacity) {
        const size_t capacity = 2 * files->capacity + 64;
        entry *grown = realloc(files->entry, capacity * sizeof *grown);

        if (!grown)
            return NULL;
        files->entry = grown;
        files->capacity = capacity;
    }
    entry *added = &files->entry[files->count++];
    *added = (entry){0};
    (void)snprintf(added->name, sizeof added->name, "%.*s", GBEES_STORE_NAME - 1, name);
    return added;
}

/* ---- files ----------------------------------------------------------------------------------------------------- */

/* Opens a regular file for reading; -1 and errno if there is none. */
static int open_regular(int folder, const char *name, struct stat *facts)
{
    const int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (file < 0)
        return -1;
    if (fstat(file, facts) == 0 && S_ISREG(facts->st_mode))
        return file;
    (void)close(file);
    errno = EINVAL;
    return -1;
}

/* Reads up to `size` bytes, less at the end of the file; -1 and errno on failure. */
static ssize_t read_some(int file, void *data, size_t size)
{
    size_t done = 0;

    while (done < size) {
        const ssize_t got = read(file, (char *)data + done, size - done);

        if (got == 0)
            break;
        if (got < 0 && errno != EINTR)
            return -1;
        done += got > 0 ? (size_t)got : 0;
    }
    return (ssize_t)done;
}

/* 0, or -1 and errno. */
static int hash_file(int folder, const char *name, char hex[GBEES_SHA256_HEX])
{
    struct stat facts;
    const int file = open_regular(folder, name, &facts);

    if (file < 0)
        return -1;
    const int failed = gbees_sha256_file(file, hex), reason = errno;
    (void)close(file);
    errno = reason;
    return failed;
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

static int no_memory(const char *folder, gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the list of the files in %s", folder);
}

static int unreadable(const char *folder, const char *name, gbees_error *error)
{
    return gbees_error_set(error, GBEES_EIO, "can't read %s%s%s: %s", folder, *name ? "/" : "", name,
                           strerror(errno));
}

/* A handle of the folder's list of names; NULL and errno on failure. */
static DIR *open_list(int folder)
{
    const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = copy < 0 ? NULL : fdopendir(copy);

    if (!list && copy >= 0)
        (void)close(copy);
    return list;
}

static int list_texts(const gbees_store *store, gbees_run_files *files, gbees_error *error)
{
    DIR *list = open_list(store->descriptor);
    int status = list ? GBEES_OK : unreadable(store->path, "", error);

    for (const struct dirent *found; list && !status && (found = readdir(list));) {
        if (!is_whole(found->d_name))
            continue;
        entry *added = append(files, found->d_name);
        if (!added)
            status = no_memory(store->path, error);
        else if (hash_file(store->descriptor, added->name, added->hex))
            status = unreadable(store->path, added->name, error);
    }
    if (list)
        (void)closedir(list);
    return status;
}

static int list_folder(const gbees_store *store, gbees_run_files *files, gbees_error *error)
{
    gbees_results_list records = {0};
    int status = list_texts(store, files, error);

    if (!status)
        status = gbees_results_list_read(store->descriptor, store->path, &records, error);
    for (size_t i = 0; !status && i < records.count; i++) {
        char name[GBEES_RECORD_NAME];

        gbees_record_name_write(&records.name[i], name);
        if (!append(files, name))
            status = no_memory(store->path, error);
    }
    free(records.name);
    if (files->count)
        qsort(files->entry, files->count, sizeof *files->entry, compare);
    return status;
}

int gbees_run_files_write(const gbees_store *store, gbees_error *error)
{
    gbees_run_files files = {0};
    gbees_text text = {0};
    char hex[GBEES_SHA256_HEX];
    int status = list_folder(store, &files, error);

    gbees_text_add(&text, "%s", head_text);
    for (size_t i = 0; i < files.count && !status; i++)
        if (files.entry[i].hex[0])
            gbees_text_add(&text, "%s  %s\n", files.entry[i].hex, files.entry[i].name);
        else
            gbees_text_add(&text, "%s%s\n", record_mark, files.entry[i].name);
    if (!text.failed)
        gbees_sha256(text.data, text.length, hex);
    gbees_text_add(&text, "%s%s\n", last_mark, hex);
    if (!status && text.failed)
        status = no_memory(store->path, error);
    if (!status)
        status = gbees_store_write(store, GBEES_RUN_FILES, text.data, text.length, error);
    gbees_text_free(&text);
    free(files.entry);
    return status;
}

void gbees_run_files_remove(const gbees_store *store)
{
    (void)unlinkat(store->descriptor, GBEES_RUN_FILES, 0);
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

static int damaged(const char *folder, gbees_error *error)
{
    return gbees_error_set(error, GBEES_EINPUT,
                           "%s/" GBEES_RUN_FILES " does not have the checksum that it was written with", folder);
}

/* Returns the lines before the last, whose checksum this is; NULL if the text is not such a list. */
static char *without_last(char *text, size_t length)
{
    const size_t mark = strlen(last_mark), tail = mark + HEX + 1;
    char hex[GBEES_SHA256_HEX];

    if (length < tail || text[length - 1] != '\n' || memcmp(text + length - tail, last_mark, mark) != 0)
        return NULL;
    gbees_sha256(text, length - tail, hex);
    if (memcmp(hex, text + length - HEX - 1, HEX) != 0)
        return NULL;
    text[length - tail] = '\0';
    return text;
}

/* A line without its end; 0, or 1: it is none of such a list, 2: no memory. */
static int take_line(gbees_run_files *files, const char *line)
{
    const size_t mark = strlen(record_mark), length = strlen(line);
    const int record = strncmp(line, record_mark, mark) == 0;

    if (!record && line[0] == '#')
        return 0;
    if (!record && (length < HEX + 3 || strspn(line, "0123456789abcdef") != HEX || memcmp(line + HEX, "  ", 2) != 0))
        return 1;
    const char *name = record ? line + mark : line + HEX + 2;
    if (strlen(name) >= GBEES_STORE_NAME || !(record ? is_record(name) : is_whole(name)))
        return 1;
    entry *added = append(files, name);
    if (added && !record)
        memcpy(added->hex, line, HEX);
    return added ? 0 : 2;
}

static int parse(const char *folder, char *text, gbees_run_files *files, gbees_error *error)
{
    char *rest = NULL;
    int bad = 0;

    for (char *line = strtok_r(text, "\n", &rest); line && !bad; line = strtok_r(NULL, "\n", &rest))
        bad = take_line(files, line);
    if (bad)
        return bad == 1 ? damaged(folder, error) : no_memory(folder, error);
    if (files->count)
        qsort(files->entry, files->count, sizeof *files->entry, compare);
    return GBEES_OK;
}

/* *text is malloc()ed, with a NUL at its end. */
static int read_text(const char *folder, int handle, char **text, size_t *length, gbees_error *error)
{
    struct stat facts;
    const int file = open_regular(handle, GBEES_RUN_FILES, &facts);

    if (file < 0)
        return unreadable(folder, GBEES_RUN_FILES, error);
    if (facts.st_size > LIST_MOST) {
        (void)close(file);
        return gbees_error_set(error, GBEES_EINPUT,
                               "can't read %s/" GBEES_RUN_FILES
                               ": it has %lld bytes, and a list of a run's files has "
                               "at most %d: it is damaged, or another program has written it",
                               folder, (long long)facts.st_size, LIST_MOST);
    }
    char *data = malloc((size_t)facts.st_size + 1);
    const ssize_t got = data ? read_some(file, data, (size_t)facts.st_size) : -1;
    int status = GBEES_OK;
    if (!data)
        status = no_memory(folder, error);
    else if (got < 0)
        status = unreadable(folder, GBEES_RUN_FILES, error);
    (void)close(file);
    if (status) {
        free(data);
        return status;
    }
    *length = got > 0 ? (size_t)got : 0;
    data[*length] = '\0';
    *text = data;
    return GBEES_OK;
}

/* Whether run.json says that the run has a list. */
static int is_named(const char *folder)
{
    char *path = gbees_folder_join(folder, "run.json");
    json_t *run = path ? json_load_file(path, 0, NULL) : NULL;
    const char *name = json_string_value(json_object_get(run, "checksums"));
    const int named = name && strcmp(name, GBEES_RUN_FILES) == 0;

    json_decref(run);
    free(path);
    return named;
}

static int read_list(const char *folder, int handle, gbees_run_files *files, gbees_error *error)
{
    char *text = NULL, *lines = NULL;
    size_t length = 0;
    int status = read_text(folder, handle, &text, &length, error);

    if (!status)
        lines = without_last(text, length);
    if (!status)
        status = lines ? parse(folder, lines, files, error) : damaged(folder, error);
    free(text);
    return status;
}

int gbees_run_files_read(const char *folder, gbees_run_files **files, gbees_error *error)
{
    gbees_run_files *made = calloc(1, sizeof *made);
    const int handle = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int status = GBEES_OK, none = 0;

    *files = NULL;
    if (!made)
        status = no_memory(folder, error);
    else if (handle < 0)
        status = unreadable(folder, "", error);
    else if (faccessat(handle, GBEES_RUN_FILES, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        status = read_list(folder, handle, made, error);
    else if (!(none = !is_named(folder)))
        status =
            gbees_error_set(error, GBEES_EINPUT,
                            "%s/" GBEES_RUN_FILES " is missing: run.json says that the run has written it", folder);
    if (handle >= 0)
        (void)close(handle);
    if (status || none)
        gbees_run_files_free(made);
    else
        *files = made;
    return status;
}

/* ---- verifying ------------------------------------------------------------------------------------------------- */

static int is_there(const gbees_results_list *records, const entry *listed)
{
    gbees_record_name name;

    for (size_t low = 0, high = gbees_record_name_read(listed->name, &name) ? 0 : records->count; low < high;) {
        const size_t middle = (low + high) / 2;
        const int order = gbees_record_name_compare(&name, &records->name[middle]);

        if (order == 0)
            return 1;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return 0;
}

/* What is wrong with an entry's file or group: 1, or 0 if it is as it was written. */
static int is_wrong(const entry *listed, const char *folder, int handle, const gbees_results_list *records,
                    gbees_error *problem)
{
    char hex[GBEES_SHA256_HEX];

    if (listed->hex[0] ? faccessat(handle, listed->name, F_OK, AT_SYMLINK_NOFOLLOW) : !is_there(records, listed))
        (void)gbees_error_set(problem, GBEES_EINPUT, "%s/%s is missing", folder, listed->name);
    else if (listed->hex[0] && hash_file(handle, listed->name, hex))
        (void)unreadable(folder, listed->name, problem);
    else if (listed->hex[0] && strcmp(hex, listed->hex) != 0)
        (void)gbees_error_set(problem, GBEES_EINPUT, "%s/%s does not have the checksum that it was written with",
                              folder, listed->name);
    else
        return 0;
    return 1;
}

static void report_strangers(const gbees_run_files *files, const char *folder, int handle, gbees_file_report *report,
                             void *context)
{
    DIR *list = open_list(handle);

    for (const struct dirent *found; list && (found = readdir(list));) {
        gbees_error problem = {0};

        if (!is_sidecar(found->d_name) || gbees_run_files_has(files, found->d_name))
            continue;
        (void)gbees_error_set(&problem, GBEES_EINPUT,
                              "%s/%s is not in " GBEES_RUN_FILES ": the run has not written it", folder,
                              found->d_name);
        report(context, found->d_name, 0, &problem);
    }
    if (list)
        (void)closedir(list);
}

void gbees_run_files_verify(const gbees_run_files *files, const char *folder, gbees_file_report *report,
                            void *context)
{
    const int handle = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    gbees_results_list records = {0};

    if (handle >= 0)
        (void)gbees_results_list_read(handle, folder, &records, NULL);
    for (size_t i = 0; i < files->count; i++) {
        const entry *listed = &files->entry[i];
        gbees_error problem = {0};

        if (is_wrong(listed, folder, handle, &records, &problem))
            report(context, listed->name, 0, &problem);
        else if (listed->hex[0])
            report(context, listed->name, 1, NULL);
    }
    free(records.name);
    report_strangers(files, folder, handle, report, context);
    if (handle >= 0)
        (void)close(handle);
}
