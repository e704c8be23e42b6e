/* measurement_file.c - reads such a file line by line, and makes of a folder's files the scenario's list of
 * measurements, with times summed from the legs' lengths. */
#include "measurement_file.h"
#include "base/no_memory.h"
#include "base/text.h"
#include "scenario.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- one file: lines that are not blank, cut in words ----------------------------------------------------- */

static const char blanks[] = " \t\r\v\f";

typedef struct cursor {
    const char *path;
    char *next; /* the line after this one; NULL after the last */
    char *line; /* this one */
    int number;
    gbees_error *error;
} cursor;

/* The next line that is not blank: 0 at the end of the file. */
static int advance(cursor *c)
{
    while (c->next && *c->next) {
        char *end = strchr(c->next, '\n');

        c->line = c->next + strspn(c->next, blanks);
        c->next = end ? end + 1 : NULL;
        if (end)
            *end = 0;
        c->number++;
        if (*c->line)
            return 1;
    }
    return 0;
}

static int ended(const cursor *c, const char *expected)
{
    return gbees_error_set(c->error, GBEES_EINPUT, "%s:%d: the file ends where %s should follow", c->path,
                           c->number > 0 ? c->number : 1, expected);
}

static int skip_label(cursor *c, const char *expected)
{
    char word[64];
    double number;

    if (!advance(c))
        return ended(c, expected);
    (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(c->line, blanks), c->line);
    if (gbees_number_read(word, &number))
        return gbees_error_set(c->error, GBEES_EINPUT, "%s:%d: expected %s, found the number '%s'", c->path,
                               c->number, expected, word);
    return GBEES_OK;
}

/* The line's words, all numbers, or, of a measured value (count 0), ~ for what was not measured; `count` of them
 * unless that is 0. */
static int read_numbers(cursor *c, gbees_node *parent, size_t count, const char *expected, gbees_node **list)
{
    if (!advance(c))
        return ended(c, expected);
    gbees_node *row = gbees_node_create(parent, GBEES_NODE_LIST, c->path, c->number, NULL);
    if (!row)
        return gbees_no_memory(c->error, "for the measurements");
    for (char *word = c->line; *word;) {
        size_t length = strcspn(word, blanks);
        char *rest = word + length + strspn(word + length, blanks), described[GBEES_NODE_WORDS];
        double number;

        word[length] = 0;
        gbees_node *node = gbees_node_create(row, GBEES_NODE_SCALAR, c->path, c->number, word);
        if (!node)
            return gbees_no_memory(c->error, "for the measurements");
        if (!gbees_number_read(word, &number) && !(count == 0 && gbees_node_is_null(node)))
            return gbees_node_error(node, c->error, "expected %s, found %s", expected,
                                    gbees_node_describe(node, described));
        if (row->count > GBEES_MAX_DIM)
            return gbees_node_error(row, c->error, "expected at most %d numbers", GBEES_MAX_DIM);
        word = rest;
    }
    if (count > 0 && row->count != count)
        return gbees_node_error(row, c->error, "expected %s: %zu number%s, found %zu", expected, count,
                                count == 1 ? "" : "s", row->count);
    *list = row;
    return GBEES_OK;
}

static int add_key(gbees_node *map, const char *key, gbees_error *error)
{
    return gbees_node_create(map, GBEES_NODE_SCALAR, map->source, map->line, key)
               ? GBEES_OK
               : gbees_no_memory(error, "for the measurements");
}

static int read_value(cursor *c, gbees_node *map, gbees_node **value)
{
    int status = skip_label(c, "a line of labels");

    if (!status)
        status = add_key(map, "value", c->error);
    if (!status)
        status = read_numbers(c, map, 0, "the line of values", value);
    return status;
}

static int read_covariance(cursor *c, gbees_node *map, size_t size)
{
    int status = skip_label(c, "the label 'Covariance(...)'");
    gbees_node *rows = NULL, *row;

    if (!status)
        status = add_key(map, "covariance", c->error);
    if (!status) {
        rows = gbees_node_create(map, GBEES_NODE_LIST, c->path, c->number, NULL);
        status = rows ? GBEES_OK : gbees_no_memory(c->error, "for the measurements");
    }
    for (size_t i = 0; !status && i < size; i++) {
        char expected[64];

        (void)snprintf(expected, sizeof expected, "row %zu of the covariance", i + 1);
        status = read_numbers(c, rows, size, expected, &row);
    }
    return status;
}

static int read_length(cursor *c, gbees_node *map)
{
    static const char expected[] = "the length of the leg";
    gbees_node *holder = gbees_node_create(NULL, GBEES_NODE_LIST, c->path, c->number, NULL), *list = NULL;
    int status = holder ? skip_label(c, "the label 'T (...)'") : gbees_no_memory(c->error, "for the measurements");

    if (!status)
        status = read_numbers(c, holder, 1, expected, &list);
    if (!status && gbees_node_number(list->items[0]) < 0)
        status =
            gbees_node_error(list, c->error, "expected %s, at least 0, found %s", expected, list->items[0]->text);
    if (!status)
        status = add_key(map, "T", c->error);
    if (!status && !gbees_node_copy(map, list->items[0]))
        status = gbees_no_memory(c->error, "for the measurements");
    gbees_node_destroy(holder);
    return status;
}

static int read_file(cursor *c, gbees_node *map)
{
    gbees_node *value = NULL;
    int status = read_value(c, map, &value);

    if (!status)
        status = read_covariance(c, map, value->count);
    if (!status)
        status = read_length(c, map);
    if (!status && advance(c))
        status = gbees_error_set(c->error, GBEES_EINPUT, "%s:%d: expected the end of the file after the leg's length",
                                 c->path, c->number);
    return status;
}

int gbees_measurement_file_read(const char *path, gbees_node **node, gbees_error *error)
{
    char *text;
    size_t length;
    int status = gbees_input_read(path, GBEES_INPUT_BYTES, &text, &length, error);

    if (status)
        return status;
    cursor c = {.path = path, .next = text, .error = error};
    gbees_node *map = gbees_node_create(NULL, GBEES_NODE_MAP, path, 1, NULL);
    status = map ? read_file(&c, map) : gbees_no_memory(error, "for the measurements");
    free(text);
    if (status) {
        gbees_node_destroy(map);
        return status;
    }
    *node = map;
    return GBEES_OK;
}

/* ---- the folder ------------------------------------------------------------------------------------------- */

/* The number of a name measurementNUMBER.txt; -1 for any other name, -2 if the number has leading zeros. */
static long file_number(const char *name)
{
    static const char head[] = "measurement", tail[] = ".txt";

    if (strncmp(name, head, sizeof head - 1) != 0)
        return -1;
    const char *digits = name + sizeof head - 1;
    size_t count = strspn(digits, "0123456789");
    if (count == 0 || count > 6 || strcmp(digits + count, tail) != 0)
        return -1;
    return digits[0] == '0' && count > 1 ? -2 : strtol(digits, NULL, 10);
}

static char *file_path(const char *folder, size_t number)
{
    gbees_text path = {0};
    size_t length = strlen(folder);

    gbees_text_add(&path, "%s%smeasurement%zu.txt", folder, length && folder[length - 1] == '/' ? "" : "/", number);
    return gbees_text_take(&path);
}

static int missing(const char *folder, size_t last, gbees_error *error)
{
    for (size_t i = 0; i < last; i++) {
        char *path = file_path(folder, i);
        int found = path && access(path, F_OK) == 0;

        free(path);
        if (!found)
            return gbees_error_set(error, GBEES_EINPUT, "%s: has measurement%zu.txt, but no measurement%zu.txt",
                                   folder, last, i);
    }
    return GBEES_OK;
}

int gbees_measurement_folder_count(const char *folder, size_t *count, gbees_error *error)
{
    DIR *stream = opendir(folder);
    long files = 0, last = -1;
    int status = GBEES_OK;

    if (!stream)
        return gbees_error_set(error, GBEES_EIO, "%s: can't be read: %s", folder, strerror(errno));
    for (struct dirent *entry; !status && (entry = readdir(stream));) {
        long number = file_number(entry->d_name);

        if (number == -2)
            status = gbees_error_set(error, GBEES_EINPUT, "%s/%s: rename it, its number has leading zeros", folder,
                                     entry->d_name);
        files += number >= 0;
        last = number > last ? number : last;
    }
    (void)closedir(stream);
    if (status)
        return status;
    if (last < 0)
        return gbees_error_set(error, GBEES_EINPUT, "%s: has no measurement0.txt, the initial Gaussian", folder);
    /* Numbers 0 .. last are all there exactly if there are last + 1 files. */
    if (files != last + 1)
        return missing(folder, (size_t)last, error);
    *count = (size_t)files;
    return GBEES_OK;
}

/* ---- the scenario ------------------------------------------------------------------------------------------ */

/* The nodes that the files of a folder define; they become the scenario's. */
typedef struct gathered {
    gbees_node *mean, *covariance, *start, *end, *measurements;
    double time; /* of the next measurement */
} gathered;

static gbees_node *time_node(gbees_node *parent, const gbees_node *place, double time)
{
    char text[GBEES_NUMBER_TEXT];

    return gbees_node_create(parent, GBEES_NODE_SCALAR, place->source, place->line, gbees_number_write(time, text));
}

static int add_measurement(gathered *g, const gbees_node *file, const char *function, gbees_error *error)
{
    gbees_node *map = gbees_node_create(g->measurements, GBEES_NODE_MAP, file->source, file->line, NULL);
    int status = map ? add_key(map, "time", error) : gbees_no_memory(error, "for the measurements");

    if (!status && !gbees_node_copy(map, g->end)) /* so far: the sum of the legs before */
        status = gbees_no_memory(error, "for the measurements");
    if (!status && function) {
        status = add_key(map, "function", error);
        if (!status)
            status = add_key(map, function, error);
    }
    for (int i = 0; !status && i < 2; i++) {
        const char *key = i ? "covariance" : "value";

        status = add_key(map, key, error);
        if (!status && !gbees_node_copy(map, gbees_node_find(file, key)))
            status = gbees_no_memory(error, "for the measurements");
    }
    return status;
}

static int add_file(gathered *g, size_t number, const gbees_node *file, const char *function, gbees_error *error)
{
    const gbees_node *length = gbees_node_find(file, "T");

    if (number == 0 && gbees_node_missing(gbees_node_find(file, "value"), GBEES_MAX_DIM))
        return gbees_node_error(gbees_node_find(file, "value"), error,
                                "the initial mean: expected a number for each state, found ~");
    if (number == 0) {
        g->mean = gbees_node_copy(NULL, gbees_node_find(file, "value"));
        g->covariance = gbees_node_copy(NULL, gbees_node_find(file, "covariance"));
        g->start = time_node(NULL, file, 0);
        g->measurements = gbees_node_create(NULL, GBEES_NODE_LIST, file->source, file->line, NULL);
    } else {
        int status = add_measurement(g, file, function, error);

        if (status)
            return status;
    }
    g->time += gbees_node_number(length);
    gbees_node_destroy(g->end);
    g->end = time_node(NULL, length, g->time);
    return g->mean && g->covariance && g->start && g->measurements && g->end
               ? GBEES_OK
               : gbees_no_memory(error, "for the measurements");
}

static int gather(const char *folder, const char *function, gathered *g, gbees_error *error)
{
    size_t count = 0;
    int status = gbees_measurement_folder_count(folder, &count, error);

    for (size_t i = 0; !status && i < count; i++) {
        gbees_node *file = NULL;
        char *path = file_path(folder, i);

        status =
            path ? gbees_measurement_file_read(path, &file, error) : gbees_no_memory(error, "for the measurements");
        if (!status)
            status = add_file(g, i, file, function, error);
        gbees_node_destroy(file);
        free(path);
    }
    return status;
}

int gbees_measurement_folder_read(struct gbees_scenario *scenario, const char *folder, const char *function,
                                  gbees_error *error)
{
    static const char *const keys[] = {"mean", "covariance", "start", "end", "measurements"};
    gathered g = {0};
    int status = gather(folder, function, &g, error);
    if (!status)
        status = gbees_schema_check(gbees_schema_find(NULL, "measurements"), g.measurements, "measurements", error);
    gbees_node *values[] = {g.mean, g.covariance, g.start, g.end, g.measurements};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (status) {
            gbees_node_destroy(values[i]);
            continue;
        }
        status = gbees_scenario_put(scenario, keys[i], values[i], error);
    }
    return status;
}
