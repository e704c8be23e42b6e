/* test_table.c - tables as spreadsheets write them: read as they are, refused with line and column. */
#include "fixtures/suite.h"
#include "scenario/table.h"
#include "scenario/yaml_tree.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char template[] = "/tmp/gbees-test-XXXXXX";
static char path[sizeof template];

static void write_text(const char *text)
{
    memcpy(path, template, sizeof template);
    const int file = mkstemp(path);

    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, text, strlen(text)), (long)strlen(text));
    ck_assert_int_eq(close(file), 0);
}

static gbees_table *read_text(const char *text)
{
    gbees_table *table = NULL;
    gbees_error error = {0};

    write_text(text);
    ck_assert_msg(gbees_table_read(path, &table, &error) == GBEES_OK, "%s", error.text);
    ck_assert_int_eq(unlink(path), 0);
    return table;
}

static const char *const alike[] = {
    "time,x [km],s\n0.5,1e3,\n# nothing\n\n1,NaN,-.5\n",
    "\xEF\xBB\xBFtime , x (km) ,s\r\n0.5,1e3,NA\r\n1,nan,-.5",
    "time\tx [km]\ts\n0.5\t1e3\t\n1\t~\t-.5\n",
    "time;x[km];s\n0.5; 1e3 ; \n1;NAN;-.5\n",
    "time,x [km],s,,\n0.5,1e3,,,\n1,NaN,-.5\n,,\n,,,,\n", /* as from Excel */
    "# from a sensor\n\"time\",\"x [km]\",\"s\"\n0.5,\"1e3\",\"\"\n1,NaN,\"-.5\"\n",
};

START_TEST(reads_what_programs_write)
{
    gbees_table *table = read_text(alike[_i]);
    double value = 0;

    ck_assert_uint_eq(table->columns, 3);
    ck_assert_uint_eq(table->rows, 2);
    ck_assert_str_eq(table->name[0], "time");
    ck_assert_str_eq(table->name[1], "x");
    ck_assert_str_eq(table->unit[0], "");
    ck_assert_str_eq(table->unit[1], "km");
    ck_assert_uint_eq(gbees_table_find(table, "s"), 2);
    ck_assert_uint_eq(gbees_table_find(table, "km"), 3);
    ck_assert_int_eq(gbees_table_number(table, 0, 1, &value, NULL), GBEES_OK);
    ck_assert(value == 1000);
    ck_assert(gbees_table_is_missing(table, 0, 2) && gbees_table_is_missing(table, 1, 1));
    ck_assert(!gbees_table_is_missing(table, 1, 2));
    ck_assert_int_eq(gbees_table_number(table, 1, 2, &value, NULL), GBEES_OK);
    ck_assert(value == -0.5);
    gbees_table_destroy(table);
}
END_TEST

START_TEST(quotes_hold_separators_and_quotes)
{
    gbees_table *table = read_text("a,\"b, c\"\n\"1 \"\"2\"\"\",3\n");

    ck_assert_str_eq(table->name[1], "b, c");
    ck_assert_str_eq(table->cell[0], "1 \"2\"");
    ck_assert_str_eq(table->cell[1], "3");
    gbees_table_destroy(table);
}
END_TEST

START_TEST(errors_name_line_and_column)
{
    gbees_table *table = read_text("time,x\n# a comment\n1,abc\n");
    gbees_error error = {0};
    double value = 7;
    char expected[128];

    ck_assert_int_eq(gbees_table_number(table, 0, 1, &value, &error), GBEES_EINPUT);
    (void)snprintf(expected, sizeof expected, "%s:3: column 2 (x): expected a number, found 'abc'", path);
    ck_assert_str_eq(error.text, expected);
    ck_assert(value == 7);
    gbees_table_destroy(table);
}
END_TEST

static const struct {
    const char *text, *error;
} malformed[] = {
    {"", ":1: the file is empty: expected a line with the names of the columns"},
    {"# nothing\n\n", ":1: the file is empty: expected a line with the names of the columns"},
    {"a,b\n", ":1: no row follows the names of the columns"},
    {"a,,b\n1,2,3\n", ":1: column 2 (): it has no name: name each column, and leave out one that numbers the rows"},
    {"a,b,\n1,2,3\n", ":2: expected 2 cells, as the header has, found 3"},
    {"a,b\n,,\n\n,\n", ":1: no row follows the names of the columns"},
    {"a,b,a\n1,2,3\n", ":1: column 3 (a): column 1 has this name, too"},
    {"a,b\n1,2\n1\n", ":3: expected 2 cells, as the header has, found 1"},
    {"a,b\n1,2,3\n", ":2: expected 2 cells, as the header has, found 3"},
    {"a,b\n1,\"2\n", ":2: a quotation mark that is not closed"},
    {"a,b\n1,\"2\"3\n", ":2: a quotation mark that is not closed"},
};

START_TEST(refuses_what_is_malformed)
{
    gbees_table *table = NULL;
    gbees_error error = {0};
    char expected[256];

    write_text(malformed[_i].text);
    ck_assert_int_eq(gbees_table_read(path, &table, &error), GBEES_EINPUT);
    (void)snprintf(expected, sizeof expected, "%s%s", path, malformed[_i].error);
    ck_assert_str_eq(error.text, expected);
    ck_assert_ptr_null(table);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(gbees_table_read(path, &table, &error), GBEES_EIO);
}
END_TEST

START_TEST(reads_many_rows)
{
    enum { ROWS = 20000 };
    char *text = malloc(32 * ROWS + 16), *at = text;
    double value = 0;

    ck_assert_ptr_nonnull(text);
    at += sprintf(at, "time,x\n");
    for (int i = 0; i < ROWS; i++)
        at += sprintf(at, "%d,%g\n", i, 0.5 * i);
    gbees_table *table = read_text(text);
    ck_assert_uint_eq(table->rows, ROWS);
    ck_assert_int_eq(table->line[ROWS - 1], ROWS + 1);
    ck_assert_int_eq(gbees_table_number(table, ROWS - 1, 1, &value, NULL), GBEES_OK);
    ck_assert(value == 0.5 * (ROWS - 1));
    gbees_table_destroy(table);
    free(text);
}
END_TEST

/* Lengths about the powers of two by which memory grows, and about the limit. */
START_TEST(reads_files_of_any_length)
{
    static const size_t lengths[] = {1, 65535, 65536, 65537, 131071, 131072, 131073, 199999, 200000, 200001};
    const size_t length = lengths[_i], most = 200000;
    char *text = malloc(length + 1), *read = NULL;
    size_t count = 0;
    gbees_error error = {0};

    ck_assert_ptr_nonnull(text);
    for (size_t i = 0; i < length; i++)
        text[i] = (char)('a' + i % 23);
    text[length] = 0;
    write_text(text);
    const int status = gbees_input_read(path, most, &read, &count, &error);
    ck_assert_int_eq(status, length > most ? GBEES_EINPUT : GBEES_OK);
    if (!status) {
        ck_assert_uint_eq(count, length);
        ck_assert_int_eq(memcmp(read, text, length + 1), 0);
    }
    free(read);
    free(text);
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("table");
    TCase *tests = tcase_create("table");

    tcase_add_loop_test(tests, reads_what_programs_write, 0, sizeof alike / sizeof *alike);
    tcase_add_test(tests, quotes_hold_separators_and_quotes);
    tcase_add_test(tests, errors_name_line_and_column);
    tcase_add_loop_test(tests, refuses_what_is_malformed, 0, sizeof malformed / sizeof *malformed);
    tcase_add_test(tests, reads_many_rows);
    tcase_add_loop_test(tests, reads_files_of_any_length, 0, 10);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
