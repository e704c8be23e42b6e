/* table.c - finds out what separates the cells, cuts each line, and gives the columns by name as numbers or words;
 * errors name file and line. */
#include "table.h"
#include "base/array.h"
#include "yaml_tree.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { COLUMNS_MOST = 256 };

/* ---- lines and cells --------------------------------------------------------------------------------------- */

typedef struct cursor {
    char *next; /* the line after this one; NULL after the last */
    char *line;
    int number;
} cursor;

static char *skip_blanks(char *c)
{
    while (*c == ' ' || *c == '\r')
        c++;
    return c;
}

/* The next line that is neither blank nor a comment: 0 at the end of the text. */
static int advance(cursor *c)
{
    while (c->next && *c->next) {
        char *end = strchr(c->next, '\n');

        c->line = c->next;
        c->next = end ? end + 1 : NULL;
        if (end)
            *end = 0;
        c->number++;
        if (*skip_blanks(c->line) && *skip_blanks(c->line) != '#')
            return 1;
    }
    return 0;
}

static int fail(const gbees_table *table, int line, gbees_error *error, const char *text)
{
    return gbees_error_set(error, GBEES_EINPUT, "%s:%d: %s", table->path, line, text);
}

static int no_memory(const gbees_table *table, gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENOMEM, "%s: not enough memory to read it", table->path);
}

/* Ends a cell at its last character that is no blank. */
static void trim(char *cell, char *end)
{
    while (end > cell && (end[-1] == ' ' || end[-1] == '\r'))
        end--;
    *end = 0;
}

/* Takes the quotes off a cell that begins with one; returns what follows them, NULL if they are not closed. */
static char *unquote(char *cell)
{
    char *to = cell, *from = cell + 1;

    for (; *from && !(*from == '"' && from[1] != '"'); from++) {
        from += *from == '"';
        *to++ = *from;
    }
    if (!*from)
        return NULL;
    *to = 0;
    return skip_blanks(from + 1);
}

/* Cuts a line into cells, at most `most` of which are stored. Returns their number, or 0 if quotes are not closed. */
static size_t cut(char *line, char separator, const char **cell, size_t most)
{
    size_t count = 0;

    for (char *c = line;; c++) {
        char *end;

        c = skip_blanks(c);
        if (count < most)
            cell[count] = c;
        count++;
        if (*c == '"') {
            end = unquote(c);
            if (!end || (*end && *end != separator))
                return 0;
        } else {
            char after;

            end = c + strcspn(c, (char[]){separator, 0});
            after = *end;
            trim(c, end);
            if (after)
                *end = 0;
            if (!after)
                return count;
            c = end;
            continue;
        }
        if (!*end)
            return count;
        c = end;
    }
}

/* ---- the header -------------------------------------------------------------------------------------------- */

/* Cuts "x [km]" into its name and its unit. */
static void split_unit(char *name, const char **unit)
{
    size_t length = strlen(name);
    char *open = length > 0 && name[length - 1] == ']'   ? strrchr(name, '[')
                 : length > 0 && name[length - 1] == ')' ? strrchr(name, '(')
                                                         : NULL;

    *unit = name + length;
    if (!open)
        return;
    name[length - 1] = 0;
    *unit = skip_blanks(open + 1);
    trim(name, open);
}

static char separator_of(const char *header)
{
    const char *first = strpbrk(header, ",;\t");

    return *(first ? first : ",");
}

static int set_names(gbees_table *table, gbees_error *error)
{
    for (size_t k = 0; k < table->columns; k++) {
        split_unit((char *)table->name[k], &table->unit[k]);
        if (!table->name[k][0])
            return gbees_table_column_error(
                table, k, error, "it has no name: name each column, and leave out one that numbers the rows");
        for (size_t i = 0; i < k; i++)
            if (strcmp(table->name[i], table->name[k]) == 0)
                return gbees_table_column_error(table, k, error, "column %zu has this name, too", i + 1);
    }
    return GBEES_OK;
}

static int read_header(gbees_table *table, cursor *c, char *separator, gbees_error *error)
{
    const char *cell[COLUMNS_MOST];

    if (!advance(c))
        return fail(table, 1, error, "the file is empty: expected a line with the names of the columns");
    *separator = separator_of(c->line);
    table->header = c->number;
    table->columns = cut(c->line, *separator, cell, COLUMNS_MOST);
    while (table->columns > 1 && table->columns <= COLUMNS_MOST && !cell[table->columns - 1][0])
        table->columns--; /* separators at the end of the line */
    if (table->columns == 0)
        return fail(table, c->number, error, "a quotation mark that is not closed");
    if (table->columns > COLUMNS_MOST)
        return fail(table, c->number, error, "more than 256 columns: not a table of this kind");
    table->name = malloc(table->columns * sizeof *table->name);
    table->unit = malloc(table->columns * sizeof *table->unit);
    if (!table->name || !table->unit)
        return no_memory(table, error);
    memcpy(table->name, cell, table->columns * sizeof *cell);
    return set_names(table, error);
}

/* ---- the rows ---------------------------------------------------------------------------------------------- */

/* Adds a line as a row, unless all its cells are empty, as spreadsheets end a file; cells beyond the columns must be
 * empty, too. */
static int add_row(gbees_table *table, const cursor *c, char separator, gbees_error *error)
{
    const char *cell[COLUMNS_MOST];
    const size_t found = cut(c->line, separator, cell, COLUMNS_MOST);
    size_t count = found < COLUMNS_MOST ? found : COLUMNS_MOST;

    if (found == 0)
        return fail(table, c->number, error, "a quotation mark that is not closed");
    while (count > 0 && !cell[count - 1][0])
        count--;
    if (count == 0)
        return GBEES_OK;
    if (found < table->columns || count > table->columns)
        return gbees_error_set(error, GBEES_EINPUT, "%s:%d: expected %zu cells, as the header has, found %zu",
                               table->path, c->number, table->columns, found);
    memcpy(table->cell + table->rows * table->columns, cell, table->columns * sizeof *cell);
    table->line[table->rows++] = c->number;
    return GBEES_OK;
}

static int read_rows(gbees_table *table, cursor *c, char separator, gbees_error *error)
{
    size_t lines = 0, cells = 0;

    while (advance(c)) {
        if (gbees_array_grow(&table->line, table->rows, &lines, sizeof *table->line) ||
            gbees_array_reserve(&table->cell, (table->rows + 1) * table->columns, &cells, sizeof *table->cell))
            return no_memory(table, error);
        const int status = add_row(table, c, separator, error);
        if (status)
            return status;
    }
    return table->rows > 0 ? GBEES_OK : fail(table, table->header, error, "no row follows the names of the columns");
}

static int read_table(gbees_table *table, gbees_error *error)
{
    static const char mark[] = "\xEF\xBB\xBF"; /* of UTF-8, which some programs put first */
    size_t length;
    char separator;
    int status = gbees_input_read(table->path, GBEES_TABLE_BYTES, &table->text, &length, error);

    if (status)
        return status;
    cursor c = {.next = table->text + (strncmp(table->text, mark, sizeof mark - 1) == 0 ? sizeof mark - 1 : 0)};
    status = read_header(table, &c, &separator, error);
    return status ? status : read_rows(table, &c, separator, error);
}

int gbees_table_read(const char *path, gbees_table **table, gbees_error *error)
{
    gbees_table *made = calloc(1, sizeof *made);

    if (made)
        made->path = strdup(path);
    if (!made || !made->path) {
        free(made);
        return gbees_error_set(error, GBEES_ENOMEM, "%s: not enough memory to read it", path);
    }
    const int status = read_table(made, error);
    if (status)
        gbees_table_destroy(made);
    else
        *table = made;
    return status;
}

void gbees_table_destroy(gbees_table *table)
{
    if (!table)
        return;
    free(table->path);
    free(table->text);
    free(table->name);
    free(table->unit);
    free(table->cell);
    free(table->line);
    free(table);
}

/* ---- what a cell has --------------------------------------------------------------------------------------- */

size_t gbees_table_find(const gbees_table *table, const char *name)
{
    size_t k = 0;

    while (k < table->columns && strcmp(table->name[k], name) != 0)
        k++;
    return k;
}

int gbees_table_is_missing(const gbees_table *table, size_t row, size_t column)
{
    const char *cell = table->cell[row * table->columns + column];

    return !cell[0] || !strcasecmp(cell, "nan") || !strcmp(cell, "NA") || !strcmp(cell, "~");
}

int gbees_table_number(const gbees_table *table, size_t row, size_t column, double *value, gbees_error *error)
{
    const char *cell = table->cell[row * table->columns + column];
    const gbees_node node = {.kind = GBEES_NODE_SCALAR, .text = (char *)(uintptr_t)cell};
    char words[GBEES_NODE_WORDS];

    if (gbees_number_read(cell, value))
        return GBEES_OK;
    return gbees_table_cell_error(table, row, column, error, "expected a number, found %s",
                                  gbees_node_describe(&node, words));
}

const char *gbees_table_column_words(const gbees_table *table, size_t column, char words[GBEES_TABLE_WORDS])
{
    (void)snprintf(words, GBEES_TABLE_WORDS, "column %zu (%s)", column + 1, table->name[column]);
    return words;
}

const char *gbees_table_row_words(const gbees_table *table, size_t row, char words[GBEES_TABLE_WORDS])
{
    (void)snprintf(words, GBEES_TABLE_WORDS, "line %d", table->line[row]);
    return words;
}

int gbees_table_error(const gbees_table *table, gbees_error *error, const char *format, ...)
{
    char text[GBEES_ERROR_TEXT];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return fail(table, table->header, error, text);
}

int gbees_table_cell_error(const gbees_table *table, size_t row, size_t column, gbees_error *error,
                           const char *format, ...)
{
    char text[GBEES_ERROR_TEXT], words[GBEES_TABLE_WORDS];
    va_list arguments;

    (void)gbees_table_column_words(table, column, words);
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return gbees_error_set(error, GBEES_EINPUT, "%s:%d: %s: %s", table->path, table->line[row], words, text);
}

int gbees_table_order_error(const gbees_table *table, size_t row, size_t column, double before, double found,
                            gbees_error *error)
{
    char words[GBEES_TABLE_WORDS], first[GBEES_NUMBER_TEXT], second[GBEES_NUMBER_TEXT];

    return gbees_table_cell_error(table, row, column, error, "expected a time not before that of %s, %s, found %s",
                                  gbees_table_row_words(table, row - 1, words), gbees_number_write(before, first),
                                  gbees_number_write(found, second));
}

int gbees_table_column_error(const gbees_table *table, size_t column, gbees_error *error, const char *format, ...)
{
    char text[GBEES_ERROR_TEXT], words[GBEES_TABLE_WORDS];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return gbees_table_error(table, error, "%s: %s", gbees_table_column_words(table, column, words), text);
}

int gbees_table_check_unit(const gbees_table *table, size_t column, const char *unit, gbees_error *error)
{
    const char *found = table->unit[column];
    const int is_pure = !unit[0] || strcmp(unit, "-") == 0;

    if (!found[0] || strcmp(found, unit) == 0 || (is_pure && (strcmp(found, "-") == 0 || strcmp(found, "1") == 0)))
        return GBEES_OK;
    return gbees_table_column_error(table, column, error, "expected the unit '%s', found '%s'", is_pure ? "-" : unit,
                                    found);
}
