/* test_slabs.c - records whose cells are fetched slab by slab: the same cells in the same order, the same marginals,
 * and no more of them in memory than the observer has asked for. */
#include "fixtures/backends.h"
#include "fixtures/suite.h"
#include "fixtures/world.h"
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 2, DIMENSION = 3, AT_ONCE = 500 };

/* A record as the observer has seen it. */
typedef struct seen {
    size_t count, slabs, largest; /* cells, how often others came into memory, and the most at a time */
    int32_t *index[DIMENSION];
    double *p, *line[DIMENSION];
    size_t length[DIMENSION];
    gbees_certificate certificate;
} seen;

typedef struct run_seen {
    int count;
    seen record[RECORDS];
} run_seen;

static void copy_cells(const gbees_cells *cells, seen *to)
{
    gbees_error error;

    to->count = gbees_cells_count(cells);
    to->p = malloc(to->count * sizeof *to->p);
    for (int j = 0; j < DIMENSION; j++)
        to->index[j] = malloc(to->count * sizeof *to->index[j]);
    for (size_t first = 0, end; first < to->count; first = end) {
        int32_t *index[DIMENSION];

        ck_assert_msg(gbees_cells_hold(cells, first, &end, &error) == GBEES_OK, "%s", error.text);
        ck_assert_uint_gt(end, first);
        for (int j = 0; j < DIMENSION; j++)
            index[j] = to->index[j] + first;
        gbees_cells_copy(cells, first, end - first, index, to->p + first);
        to->slabs++;
        to->largest = end - first > to->largest ? end - first : to->largest;
    }
}

/* The marginals that the record has, or those of its cells. */
static void copy_lines(const gbees_record *record, seen *to)
{
    for (int j = 0; j < DIMENSION; j++) {
        int32_t lo, hi;
        gbees_error error;

        gbees_cells_range(record->cells, j, &lo, &hi);
        to->length[j] = (size_t)(hi - lo) + 1;
        if (!record->marginals) {
            ck_assert(gbees_cells_are_whole(record->cells));
            ck_assert_int_eq(gbees_cells_marginal_1d(record->cells, j, &to->line[j], &error), GBEES_OK);
            continue;
        }
        ck_assert_int_eq(record->marginals->first[j], lo);
        ck_assert_uint_eq(record->marginals->length[j], to->length[j]);
        to->line[j] = malloc(to->length[j] * sizeof *to->line[j]);
        memcpy(to->line[j], record->marginals->line[j], to->length[j] * sizeof *to->line[j]);
    }
}

static int see(void *context, const gbees_record *record, gbees_error *error)
{
    run_seen *all = context;
    seen *to = &all->record[all->count++];

    (void)error;
    ck_assert_int_le(all->count, RECORDS);
    copy_cells(record->cells, to);
    copy_lines(record, to);
    to->certificate = *record->certificate;
    return 0;
}

static run_seen run(const char *backend, uint64_t at_once)
{
    static const char *const settings[] = {"accuracy=0", "threshold=1e-6",  "factor=1",      "end=0.2",
                                           "records=1",  "measurements=[]", "scheme=split5", NULL};
    run_seen all = {.count = 0};
    gbees_observer observer = {
        .context = &all, .record = see, .marginals = 1, .concurrent = 1, .cells_at_once = at_once};
    const gbees_audit_options samples = {.samples = 20000, .threads = 1};
    world w;
    int status = world_open(&w, open_registry(), "lorenz63", backend);

    if (!status)
        status = world_make(&w, &(scenario_source){.settings = settings});
    if (!status)
        status = gbees_audit_create(w.problem, &samples, &observer.audit, &w.error);
    if (!status)
        status = world_run(&w, 2, &observer, NULL);
    ck_assert_msg(status == GBEES_OK, "%s", w.error.text);
    ck_assert_int_eq(all.count, RECORDS);
    gbees_audit_destroy(observer.audit);
    world_close(&w);
    return all;
}

static void clear(run_seen *all)
{
    for (int k = 0; k < RECORDS; k++) {
        free(all->record[k].p);
        for (int j = 0; j < DIMENSION; j++) {
            free(all->record[k].index[j]);
            free(all->record[k].line[j]);
        }
    }
}

START_TEST(slabs_are_the_whole_record)
{
    if (!is_built(backend_names[_i]))
        return;
    run_seen whole = run(backend_names[_i], 0), divided = run(backend_names[_i], AT_ONCE);

    for (int k = 0; k < RECORDS; k++) {
        const seen *a = &whole.record[k], *b = &divided.record[k];

        ck_assert_uint_eq(a->slabs, 1);
        ck_assert_uint_gt(a->count, 2 * AT_ONCE);
        ck_assert_uint_gt(b->slabs, 2);
        ck_assert_uint_le(b->largest, AT_ONCE);
        ck_assert_uint_eq(b->count, a->count);
        ck_assert_mem_eq(b->p, a->p, a->count * sizeof *a->p);
        for (int j = 0; j < DIMENSION; j++) {
            ck_assert_mem_eq(b->index[j], a->index[j], a->count * sizeof *a->index[j]);
            ck_assert_uint_eq(b->length[j], a->length[j]);
            ck_assert_mem_eq(b->line[j], a->line[j], a->length[j] * sizeof *a->line[j]);
            ck_assert_double_eq(b->certificate.marginal[j].bound, a->certificate.marginal[j].bound);
        }
        ck_assert_uint_eq(a->certificate.uncompared, 0);
        ck_assert_uint_eq(b->certificate.uncompared, b->count); /* the density needs all cells at once */
    }
    clear(&whole);
    clear(&divided);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("slabs");
    TCase *tests = tcase_create("all");

    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, slabs_are_the_whole_record, 0, BACKENDS);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
