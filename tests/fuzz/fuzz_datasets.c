/* fuzz_datasets.c - a table of measurements in an HDF5 or netCDF-4 file: its datasets as lines of text. */
#include "harness.h"
#include "scenario/table_datasets.h"
#include <stdlib.h>
#include <string.h>

const char fuzz_corpus[] = "datasets";

/* As the programs do: what crashes HDF5 is an error. */
static void read_isolated(const char *path)
{
    gbees_table *table = NULL;
    gbees_error error = {0};

    if (gbees_table_read(path, &table, &error))
        fuzz_expect(error.text[0] != '\0' && !table, "a refusal has a reason, and no result");
    else
        fuzz_expect(table->columns > 0 && table->rows > 0, "a table has cells");
    gbees_table_destroy(table);
}

/* A parent that is passed the lines counts on as many as there are cells, names and units, and on no 0 in them. */
static void check_lines(const gbees_table_lines *lines)
{
    size_t count = 0;

    for (size_t i = 0; i < lines->length; i++)
        count += lines->text[i] == '\n';
    fuzz_expect(lines->columns > 0 && lines->columns <= GBEES_TABLE_COLUMNS && lines->rows > 0, "a table has cells");
    fuzz_expect(count == lines->columns * (lines->rows + 2), "each cell, name and unit is a line");
    fuzz_expect(!memchr(lines->text, 0, lines->length), "a line is text");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *path = fuzz_write("table.h5", data, size);
    gbees_table_lines lines = {0};
    gbees_error error = {0};

    if (fuzz_is_isolated())
        read_isolated(path);
    else if (gbees_table_datasets_load(path, &lines, &error))
        fuzz_expect(error.text[0] != '\0', "a refusal has a reason");
    else
        check_lines(&lines);
    free(lines.text);
    free(path);
    return 0;
}
