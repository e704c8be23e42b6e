/* table.h - a file of columns: text as spreadsheets, R and pandas write it (CSV, TSV).
 *
 *     # a comment
 *     time, x [km], sigma_x     a name for each column, and its unit in [] or ()
 *     0.5, 12.25, 0.1           as many cells a row
 *     1.0, NaN, 0.1             a cell that is missing: empty, NaN, NA or ~
 *
 * Cells are separated by commas, tabs or semicolons: whichever of them is first in the header. A cell may be in
 * double quotes, which are written twice inside. Blank lines, lines of empty cells and lines that begin with # are
 * skipped, and so are separators at the ends of lines.
 */
#ifndef GBEES_SCENARIO_TABLE_H
#define GBEES_SCENARIO_TABLE_H

#include <gbees/error.h>
#include <stddef.h>

enum { GBEES_TABLE_BYTES = 1 << 26 };

typedef struct gbees_table {
    char *path, *text; /* the cells are in `text` */
    size_t columns, rows;
    const char **name; /* [columns] */
    const char **unit; /* [columns]; "" without one */
    const char **cell; /* [rows][columns] */
    int *line;         /* [rows]: of the file */
    int header;        /* line of the names */
} gbees_table;

/* Reads a file; the names of its columns differ, and there is at least one row. */
int gbees_table_read(const char *path, gbees_table **table, gbees_error *error);
void gbees_table_destroy(gbees_table *table);

/* The number of the column of that name; `columns` if there is none. */
size_t gbees_table_find(const gbees_table *table, const char *name);

/* Whether a cell is missing. */
int gbees_table_is_missing(const gbees_table *table, size_t row, size_t column);
/* A cell that is not missing as a number. */
int gbees_table_number(const gbees_table *table, size_t row, size_t column, double *value, gbees_error *error);

/* "column 3 (z)". */
enum { GBEES_TABLE_WORDS = 128 };
const char *gbees_table_column_words(const gbees_table *table, size_t column, char words[GBEES_TABLE_WORDS]);
/* "line 5". */
const char *gbees_table_row_words(const gbees_table *table, size_t row, char words[GBEES_TABLE_WORDS]);

/* Writes "FILE:LINE: text", the header's line, with GBEES_EINPUT, which it returns. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
int gbees_table_error(const gbees_table *table, gbees_error *error, const char *format, ...);
/* Writes "FILE:LINE: column 3 (z): text", with GBEES_EINPUT, which it returns. */
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
int gbees_table_cell_error(const gbees_table *table, size_t row, size_t column, gbees_error *error,
                           const char *format, ...);
/* Writes a cell's error, as gbees_table_cell_error(), for a time `found` in a row after one with `before`, a later
 * time.
 */
int gbees_table_order_error(const gbees_table *table, size_t row, size_t column, double before, double found,
                            gbees_error *error);
/* Writes an error, as gbees_table_cell_error(), of a column's name, whose line is the header's. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
int gbees_table_column_error(const gbees_table *table, size_t column, gbees_error *error, const char *format, ...);
/* An error if a column's unit is another; a pure number's is "-", "" or 1, and a column may have none. */
int gbees_table_check_unit(const gbees_table *table, size_t column, const char *unit, gbees_error *error);

#endif
