/* test_golden.c - mode=paper on Lorenz '63 against the recorded cells of the existing code (tests/data/golden). */
#include "fixtures/suite.h"
#include "fixtures/world_fixture.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 10, DIM = 3 };

/* What was compared so far. */
typedef struct comparison {
    int records;
    double largest; /* relative difference */
} comparison;

typedef struct cell {
    int32_t index[DIM];
    double p;
} cell;

static FILE *golden_open(int leg, int number)
{
    const char *folder = getenv("srcdir");
    char path[4096], command[4200];
    FILE *file;

    snprintf(path, sizeof path, "%s/tests/data/golden/lorenz63_leg%d_record%d.txt.gz", folder ? folder : ".", leg,
             number);
    file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s can't be read", path);
    fclose(file);
    snprintf(command, sizeof command, "gzip -dc '%s'", path);
    file = popen(command, "r");
    ck_assert_ptr_nonnull(file);
    return file;
}

/* The cells of a golden file, which are sorted as a record's are; the caller frees them. */
static cell *golden_read(int leg, int number, size_t *count, double *time)
{
    FILE *file = golden_open(leg, number);
    size_t read = 0;
    cell *cells;

    ck_assert_int_eq(fscanf(file, "# time %lf cells %zu%*[^\n]", time, count), 2);
    cells = calloc(*count + 1, sizeof *cells);
    ck_assert_ptr_nonnull(cells);
    while (read <= *count && fscanf(file, "%" SCNd32 "%" SCNd32 "%" SCNd32 "%lf", &cells[read].index[0],
                                    &cells[read].index[1], &cells[read].index[2], &cells[read].p) == 4)
        read++;
    ck_assert_uint_eq(read, *count);
    ck_assert_int_eq(pclose(file), 0);
    return cells;
}

static cell *record_read(const gbees_record *record, size_t count)
{
    cell *cells = calloc(count + 1, sizeof *cells);
    int32_t *index[DIM];
    double *p = calloc(count + 1, sizeof *p);

    ck_assert(cells && p);
    for (int j = 0; j < DIM; j++) {
        index[j] = calloc(count + 1, sizeof **index);
        ck_assert_ptr_nonnull(index[j]);
    }
    gbees_cells_copy(record->cells, 0, count, index, p);
    for (size_t i = 0; i < count; i++)
        cells[i] = (cell){{index[0][i], index[1][i], index[2][i]}, p[i]};
    for (int j = 0; j < DIM; j++)
        free(index[j]);
    free(p);
    return cells;
}

static int compare_record(void *context, const gbees_record *record, gbees_error *error)
{
    comparison *so_far = context;
    size_t count;
    double time;
    cell *golden = golden_read(record->leg, record->number, &count, &time);
    cell *ours;

    (void)error;
    ck_assert_double_eq_tol(record->time, time, 1e-12);
    ck_assert_msg(gbees_cells_count(record->cells) == count, "leg %d record %d: %zu cells, not %zu", record->leg,
                  record->number, gbees_cells_count(record->cells), count);
    ours = record_read(record, count);
    for (size_t i = 0; i < count; i++) {
        const double difference = fabs(ours[i].p / golden[i].p - 1);

        ck_assert_msg(memcmp(ours[i].index, golden[i].index, sizeof golden[i].index) == 0,
                      "leg %d record %d: cell %zu is another one", record->leg, record->number, i);
        ck_assert_msg(difference <= 1e-10, "leg %d record %d: cell %d %d %d has P = %.17g, not %.17g (relative %g)",
                      record->leg, record->number, golden[i].index[0], golden[i].index[1], golden[i].index[2],
                      ours[i].p, golden[i].p, difference);
        so_far->largest = fmax(so_far->largest, difference);
    }
    so_far->records++;
    free(golden);
    free(ours);
    return GBEES_OK;
}

START_TEST(paper_mode_equals_the_existing_code)
{
    comparison result = {0, 0};
    const gbees_observer observer = {.context = &result, .record = compare_record};
    world w;

    world_create(&w, "lorenz63", (setting_list){"mode=paper"});
    ck_assert_msg(world_run(&w, 1, &observer, NULL) == GBEES_OK, "%s", w.error.text);
    ck_assert_int_eq(result.records, RECORDS);
    world_close(&w);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("golden");
    TCase *paper = tcase_create("paper mode");

    tcase_set_timeout(paper, 60);
    tcase_add_test(paper, paper_mode_equals_the_existing_code);
    suite_add_tcase(suite, paper);
    return run_suite(suite);
}
