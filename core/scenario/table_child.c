/* table_child.c - a table of datasets, which a child process reads and passes as lines; see table_datasets.h. */
#include "results/hdf5/file_child.h"
#include "table_datasets.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAGIC = 8 };

/* Reads the first bytes of a file; 0 if there are not so many. */
static int read_magic(const char *path, char magic[MAGIC])
{
    FILE *file = fopen(path, "rb");
    const int found = file && fread(magic, 1, MAGIC, file) == MAGIC;

    if (file)
        (void)fclose(file);
    return found;
}

static int is_classic(const char *magic)
{
    return memcmp(magic, "CDF", 3) == 0 && magic[3] >= 1 && magic[3] <= 5;
}

/* Whether a file has the name of one with datasets. If it has none, HDF5's error says more than that of a text. */
static int is_named(const char *path)
{
    static const char *const ends[] = {".h5", ".hdf5", ".nc"};
    const char *end = strrchr(path, '.');

    for (size_t k = 0; end && k < sizeof ends / sizeof *ends; k++)
        if (strcmp(end, ends[k]) == 0)
            return access(path, R_OK) == 0;
    return 0;
}

int gbees_table_is_datasets(const char *path)
{
    char magic[MAGIC];

    return is_named(path) ||
           (read_magic(path, magic) && (memcmp(magic, "\x89HDF\r\n\x1a\n", MAGIC) == 0 || is_classic(magic)));
}

/* ---- lines ------------------------------------------------------------------------------------------------------
 */

static int has_all(const gbees_table_lines *lines)
{
    size_t count = 0;

    for (size_t i = 0; i < lines->length; i++)
        count += lines->text[i] == '\n';
    return count == lines->columns * (lines->rows + 2) && strlen(lines->text) == lines->length;
}

static int load(const char *path, void *result, gbees_error *error)
{
    return gbees_table_datasets_load(path, result, error);
}

static int pass(gbees_file_pipe *pipe, void *result)
{
    gbees_table_lines *lines = result;
    char *text = lines->text;
    int bad = gbees_file_pass(pipe, lines, sizeof *lines);

    lines->text = text; /* not the child's address */
    if (bad || lines->columns < 1 || lines->columns > GBEES_TABLE_COLUMNS || lines->length > GBEES_TABLE_BYTES ||
        lines->rows < 1 || lines->rows > lines->length)
        return -1;
    bad = gbees_file_pass_array(pipe, &lines->text, 1, lines->length);
    return bad ? bad : has_all(lines) ? 0 : -1;
}

static char *next_line(char **text)
{
    char *line = *text, *end = strchr(line, '\n');

    *end = '\0';
    *text = end + 1;
    return line;
}

/* Points the table's cells to the lines' text, which the table owns from then on. */
static int fill(gbees_table *table, const gbees_table_lines *lines, gbees_error *error)
{
    char *text = table->text = lines->text;

    table->columns = lines->columns;
    table->name = malloc(table->columns * sizeof *table->name);
    table->unit = malloc(table->columns * sizeof *table->unit);
    table->cell = malloc(table->columns * lines->rows * sizeof *table->cell);
    table->line = malloc(lines->rows * sizeof *table->line);
    if (!table->name || !table->unit || !table->cell || !table->line)
        return gbees_error_set(error, GBEES_ENOMEM, "%s: not enough memory to read it", table->path);
    for (size_t k = 0; k < table->columns; k++)
        table->name[k] = next_line(&text);
    for (size_t k = 0; k < table->columns; k++)
        table->unit[k] = next_line(&text);
    for (size_t i = 0; i < table->columns * lines->rows; i++)
        table->cell[i] = next_line(&text);
    for (size_t i = 0; i < lines->rows; i++)
        table->line[i] = (int)i;
    table->rows = lines->rows;
    return GBEES_OK;
}

int gbees_table_datasets_read(gbees_table *table, gbees_error *error)
{
    gbees_table_lines lines = {0};
    char magic[MAGIC];

    if (read_magic(table->path, magic) && is_classic(magic))
        return gbees_error_set(error, GBEES_EINPUT,
                               "%s: it is netCDF of classic format: write it as netCDF-4, in xarray with "
                               "to_netcdf(..., engine=\"h5netcdf\")",
                               table->path);
    const int status = gbees_file_child_read(table->path, load, pass, &lines, error);
    if (status) {
        free(lines.text);
        return status;
    }
    table->has_datasets = 1;
    return fill(table, &lines, error);
}
