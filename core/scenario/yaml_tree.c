/* yaml_tree.c - has libyaml build a document, and copies it to nodes that know their lines, after a first pass that
 * bounds its depth. */
#include "yaml_tree.h"
#include "base/array.h"
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* ---- nodes ------------------------------------------------------------------------------------------------ */

/* A key without its value can be left in a map when memory runs out: the map is destroyed then. */
static int append(gbees_node *parent, gbees_node *child)
{
    if (gbees_array_grow(&parent->items, parent->count, &parent->capacity, sizeof *parent->items))
        return 0;
    parent->items[parent->count++] = child;
    return 1;
}

static void destroy(gbees_node *node, const char *parent_source)
{
    if (!node)
        return;
    for (size_t i = 0; i < node->count; i++)
        destroy(node->items[i], node->source);
    if (node->source != parent_source)
        free(node->source);
    free(node->items);
    free(node->text);
    free(node);
}

void gbees_node_destroy(gbees_node *node)
{
    destroy(node, NULL);
}

gbees_node *gbees_node_create(gbees_node *parent, gbees_node_kind kind, const char *source, int line,
                              const char *text)
{
    char *parent_source = parent ? parent->source : NULL;
    gbees_node *node = calloc(1, sizeof *node);

    if (!node)
        return NULL;
    node->kind = kind;
    node->line = line;
    node->source = parent_source && strcmp(parent_source, source) == 0 ? parent_source : strdup(source);
    node->text = text ? strdup(text) : NULL;
    if (!node->source || (text && !node->text) || (parent && !append(parent, node))) {
        destroy(node, parent_source);
        return NULL;
    }
    return node;
}

gbees_node *gbees_node_copy(gbees_node *parent, const gbees_node *node)
{
    gbees_node *twin = gbees_node_create(parent, node->kind, node->source, node->line, node->text);

    if (twin)
        twin->column = node->column;
    for (size_t i = 0; twin && i < node->count; i++) {
        if (!gbees_node_copy(twin, node->items[i])) {
            if (!parent)
                gbees_node_destroy(twin);
            return NULL;
        }
    }
    return twin;
}

int gbees_node_error(const gbees_node *node, gbees_error *error, const char *format, ...)
{
    char text[GBEES_ERROR_TEXT];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (node->column > 0)
        return gbees_error_set(error, GBEES_EINPUT, "%s:%d:%d: %s", node->source, node->line, node->column, text);
    if (node->line > 0)
        return gbees_error_set(error, GBEES_EINPUT, "%s:%d: %s", node->source, node->line, text);
    return gbees_error_set(error, GBEES_EINPUT, "%s %s", node->source, text);
}

const char *gbees_node_describe(const gbees_node *node, char words[GBEES_NODE_WORDS])
{
    enum { SHOWN = 40 };

    if (node->kind != GBEES_NODE_SCALAR || !node->text[0]) {
        const char *word = node->kind == GBEES_NODE_LIST  ? "a list"
                           : node->kind == GBEES_NODE_MAP ? "a map"
                                                          : "nothing";

        (void)snprintf(words, GBEES_NODE_WORDS, "%s",
                       node->kind == GBEES_NODE_LIST && !node->count ? "an empty list" : word);
        return words;
    }
    size_t length = strlen(node->text), shown = length < SHOWN ? length : SHOWN;
    /* An error is one line of whole characters. */
    while (shown < length && ((unsigned char)node->text[shown] & 0xC0) == 0x80)
        shown--;
    (void)snprintf(words, GBEES_NODE_WORDS, "'%.*s'%s", (int)shown, node->text, shown < length ? "..." : "");
    for (char *c = words; *c; c++) {
        if (iscntrl((unsigned char)*c))
            *c = '?';
    }
    return words;
}

/* ---- numbers ---------------------------------------------------------------------------------------------- */

static const char *skip_digits(const char *c)
{
    while (*c >= '0' && *c <= '9')
        c++;
    return c;
}

/* [+-] digits [. digits] [e [+-] digits], with a digit before or after the point: what strtod takes, less hex,
 * inf and nan. */
static int is_decimal(const char *c)
{
    c += *c == '+' || *c == '-';
    const char *whole = c, *point = skip_digits(c);
    ptrdiff_t digits = point - whole;

    c = point;
    if (*c == '.') {
        c = skip_digits(point + 1);
        digits += c - point - 1;
    }
    if (digits > 0 && (*c == 'e' || *c == 'E')) {
        c++;
        c += *c == '+' || *c == '-';
        const char *exponent = c;
        c = skip_digits(c);
        digits = c - exponent;
    }
    return digits > 0 && !*c;
}

int gbees_number_read(const char *text, double *value)
{
    if (!is_decimal(text))
        return 0;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain)
        return 0;
    double number = strtod_l(text, NULL, plain);
    freelocale(plain);
    if (!isfinite(number))
        return 0;
    *value = number;
    return 1;
}

const char *gbees_number_write(double value, char text[GBEES_NUMBER_TEXT])
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = plain ? uselocale(plain) : (locale_t)0;

    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, GBEES_NUMBER_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    if (plain) {
        (void)uselocale(before);
        freelocale(plain);
    }
    /* YAML 1.1 takes 1e-06 for a string, 1.0e-06 for a number. */
    char *e = strchr(text, 'e');
    if (e && !strchr(text, '.')) {
        memmove(e + 2, e, strlen(e) + 1);
        e[0] = '.';
        e[1] = '0';
    }
    return text;
}

/* ---- files ------------------------------------------------------------------------------------------------ */

static int line_of(const char *text, size_t offset)
{
    int line = 1;

    for (size_t i = 0; i < offset; i++)
        line += text[i] == '\n';
    return line;
}

enum { FIRST_BYTES = 1 << 16 };

/* Reads at most `most` bytes into memory that grows with them; NULL if there is not enough. Of a shorter file one
 * byte of that memory at least is left. */
static char *read_bytes(FILE *file, size_t most, size_t *count)
{
    size_t capacity = most < FIRST_BYTES ? most : FIRST_BYTES;
    char *data = malloc(capacity);

    *count = 0;
    while (data) {
        *count += fread(data + *count, 1, capacity - *count, file);
        if (*count < capacity || capacity == most)
            return data;
        capacity = capacity < most / 2 ? 2 * capacity : most;
        char *more = realloc(data, capacity);
        if (!more)
            free(data);
        data = more;
    }
    return NULL;
}

int gbees_input_read(const char *path, size_t most, char **text, size_t *length, gbees_error *error)
{
    FILE *file = fopen(path, "re");

    if (!file)
        return gbees_error_set(error, GBEES_EIO, "%s: can't be read: %s", path, strerror(errno));
    errno = 0;
    size_t count = 0;
    char *data = read_bytes(file, most + 1, &count);
    if (!data) {
        (void)fclose(file);
        return gbees_error_set(error, GBEES_ENOMEM, "%s: not enough memory to read it", path);
    }
    int status = GBEES_OK, reason = errno;
    const char *nul = memchr(data, 0, count);

    if (ferror(file))
        status = gbees_error_set(error, GBEES_EIO, "%s: can't be read: %s", path, strerror(reason));
    else if (count > most)
        status = gbees_error_set(error, GBEES_EINPUT, "%s: longer than %zu MiB: not a file of this kind", path,
                                 most >> 20);
    else if (nul)
        status = gbees_error_set(error, GBEES_EINPUT, "%s:%d: a NUL byte: not a text file", path,
                                 line_of(data, (size_t)(nul - data)));
    (void)fclose(file);
    if (status) {
        free(data);
        return status;
    }
    data[count] = 0;
    *text = data;
    *length = count;
    return GBEES_OK;
}

/* ---- YAML -------------------------------------------------------------------------------------------------- */

typedef struct reading {
    const char *text;
    size_t length;
    const char *source;
    int lines;
    yaml_parser_t parser;
    yaml_document_t *document;
    size_t nodes;
    gbees_error *error;
} reading;

/* Fails at a place of the text, whose line and column count from 0. */
static int fail_at(const reading *r, yaml_mark_t place, const char *text)
{
    if (r->lines)
        return gbees_error_set(r->error, GBEES_EINPUT, "%s:%zu:%zu: %s", r->source, place.line + 1, place.column + 1,
                               text);
    return gbees_error_set(r->error, GBEES_EINPUT, "%s: %s", r->source, text);
}

static yaml_mark_t mark_of(const char *text, size_t offset)
{
    const char *newline = memrchr(text, '\n', offset);
    const size_t start = newline ? (size_t)(newline - text) + 1 : 0;

    return (yaml_mark_t){.line = (size_t)line_of(text, offset) - 1, .column = offset - start};
}

static int fail_memory(const reading *r)
{
    return gbees_error_set(r->error, GBEES_ENOMEM, "%s: not enough memory to read it", r->source);
}

static int line_has_tab(const reading *r, size_t line)
{
    const char *c = r->text, *end = r->text + r->length;

    for (size_t i = 1; c < end && i < line; c++)
        i += *c == '\n';
    for (; c < end && *c != '\n'; c++) {
        if (*c == '\t')
            return 1;
    }
    return 0;
}

static int fail_parser(const reading *r)
{
    const yaml_parser_t *parser = &r->parser;
    const char *problem = parser->problem ? parser->problem : "malformed";
    char text[256];

    if (parser->error == YAML_MEMORY_ERROR)
        return fail_memory(r);
    if (parser->error == YAML_READER_ERROR) {
        size_t offset = parser->problem_offset < r->length ? parser->problem_offset : r->length;

        (void)snprintf(text, sizeof text, "not UTF-8 text: %s", problem);
        return fail_at(r, mark_of(r->text, offset), text);
    }
    (void)snprintf(text, sizeof text, "not YAML: %s%s%s%s", parser->context ? parser->context : "",
                   parser->context ? ": " : "", problem,
                   line_has_tab(r, parser->problem_mark.line + 1) ? " (a tab? YAML is indented with spaces)" : "");
    return fail_at(r, parser->problem_mark, text);
}

/* YAML reads no key of more than 1024 characters, and of some bytes a key's text has four. */
enum { LONGEST_KEY = 200 };

static int check_key(const reading *r, const gbees_node *key, yaml_mark_t place)
{
    char text[64];

    if (key->kind != GBEES_NODE_SCALAR)
        return fail_at(r, place, "a list or a map in the place of a key");
    if (strlen(key->text) <= LONGEST_KEY)
        return GBEES_OK;
    (void)snprintf(text, sizeof text, "a key of more than %d bytes", LONGEST_KEY);
    return fail_at(r, place, text);
}

static int convert(reading *r, int index, int depth, gbees_node *parent, gbees_node **out)
{
    const yaml_node_t *from = yaml_document_get_node(r->document, index);
    const yaml_mark_t place = from->start_mark;
    gbees_node_kind kind = from->type == YAML_SEQUENCE_NODE  ? GBEES_NODE_LIST
                           : from->type == YAML_MAPPING_NODE ? GBEES_NODE_MAP
                                                             : GBEES_NODE_SCALAR;
    const char *text = kind == GBEES_NODE_SCALAR ? (const char *)from->data.scalar.value : NULL;

    if (depth > GBEES_NODE_DEPTH)
        return fail_at(r, place, "nested too deep: no value of a scenario is");
    if (++r->nodes > GBEES_NODE_COUNT)
        return fail_at(r, place, "too many values: a scenario holds at most 100000");
    if (text && strlen(text) != from->data.scalar.length)
        return fail_at(r, place, "a NUL character in a value");
    gbees_node *node = gbees_node_create(parent, kind, r->source, r->lines ? (int)place.line + 1 : 0, text);
    if (!node)
        return fail_memory(r);
    node->column = r->lines ? (int)place.column + 1 : 0;
    *out = node;
    int status = GBEES_OK;
    gbees_node *child;

    if (kind == GBEES_NODE_LIST) {
        const yaml_node_item_t *item = from->data.sequence.items.start;

        for (; !status && item < from->data.sequence.items.top; item++)
            status = convert(r, *item, depth + 1, node, &child);
    } else if (kind == GBEES_NODE_MAP) {
        const yaml_node_pair_t *pair = from->data.mapping.pairs.start;

        for (; !status && pair < from->data.mapping.pairs.top; pair++) {
            status = convert(r, pair->key, depth + 1, node, &child);
            if (!status)
                status = check_key(r, child, place);
            if (!status)
                status = convert(r, pair->value, depth + 1, node, &child);
        }
    }
    return status;
}

static int read_document(reading *r, gbees_node **root)
{
    yaml_document_t document;

    if (!yaml_parser_load(&r->parser, &document))
        return fail_parser(r);
    r->document = &document;
    int status = yaml_document_get_root_node(&document) ? convert(r, 1, 1, NULL, root) : GBEES_OK;
    yaml_document_delete(&document);
    r->document = NULL;
    return status;
}

/* libyaml spends time in the square of the depth of [ and {, so depth is bounded before it builds anything. */
static int check_depth(reading *r)
{
    yaml_parser_t *parser = &r->parser;
    int depth = 0, done = 0, status = GBEES_OK;

    while (!done && !status) {
        yaml_event_t event;

        if (!yaml_parser_parse(parser, &event))
            return fail_parser(r);
        depth += event.type == YAML_SEQUENCE_START_EVENT || event.type == YAML_MAPPING_START_EVENT;
        depth -= event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT;
        done = event.type == YAML_STREAM_END_EVENT;
        if (depth > GBEES_NODE_DEPTH)
            status = fail_at(r, event.start_mark, "nested too deep: no value of a scenario is");
        yaml_event_delete(&event);
    }
    return status;
}

static int with_parser(reading *r, int (*work)(reading *, gbees_node **), gbees_node **root)
{
    if (!yaml_parser_initialize(&r->parser))
        return fail_memory(r);
    yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)r->text, r->length);
    int status = work(r, root);
    yaml_parser_delete(&r->parser);
    return status;
}

static int work_depth(reading *r, gbees_node **root)
{
    (void)root;
    return check_depth(r);
}

static int work_document(reading *r, gbees_node **root)
{
    gbees_node *second = NULL;
    int status = read_document(r, root);

    if (!status && *root)
        status = read_document(r, &second);
    if (!status && second)
        status = gbees_node_error(second, r->error, "a second document ('---'): a scenario is one");
    gbees_node_destroy(second);
    return status;
}

int gbees_yaml_parse(const char *text, size_t length, const char *source, int lines, gbees_node **node,
                     gbees_error *error)
{
    reading r = {.text = text, .length = length, .source = source, .lines = lines, .error = error};
    gbees_node *root = NULL;

    if (length > GBEES_INPUT_BYTES)
        return gbees_error_set(error, GBEES_EINPUT, "%s: longer than 16 MiB: not a scenario", source);
    int status = with_parser(&r, work_depth, NULL);
    if (!status)
        status = with_parser(&r, work_document, &root);
    if (status) {
        gbees_node_destroy(root);
        return status;
    }
    *node = root;
    return GBEES_OK;
}
