/* test_few_cells.c - an observer that wants the cells of small records only: what is fetched, and what certificates
 * still say. */
#include "fixtures/backends.h"
#include "fixtures/suite.h"
#include "fixtures/world.h"
#include <math.h>

/* ---- a backend that counts ------------------------------------------------------------------------------------- */

static const gbees_backend *counted;
static int fetched;

static int count_cells(gbees_engine *engine, double fraction, gbees_cell_visitor *visitor, void *context,
                       gbees_error *error)
{
    fetched++;
    return counted->cells(engine, fraction, visitor, context, error);
}

static int count_capture(gbees_engine *engine, gbees_capture **capture, gbees_error *error)
{
    fetched++;
    return counted->capture(engine, capture, error);
}

/* ---- a run ----------------------------------------------------------------------------------------------------- */

enum { RECORDS = 2, DIMENSION = 3 };

typedef struct seen {
    int count, with_cells;
    uint64_t cells_above[RECORDS];
    gbees_certificate certificate[RECORDS];
} seen;

static int see(void *context, const gbees_record *record, gbees_error *error)
{
    seen *to = context;

    (void)error;
    ck_assert_int_lt(to->count, RECORDS);
    to->with_cells += record->cells != NULL;
    to->cells_above[to->count] = record->statistics.cells_above;
    to->certificate[to->count++] = *record->certificate;
    return 0;
}

static seen run(const char *backend_name, uint64_t cells_most)
{
    static const char *const settings[] = {"accuracy=0", "threshold=1e-4",  "factor=1",      "end=0.2",
                                           "records=1",  "measurements=[]", "scheme=split5", NULL};
    seen found = {.count = 0};
    gbees_observer observer = {.context = &found, .record = see, .cells_most = cells_most};
    const gbees_audit_options samples = {.samples = 20000, .threads = 1};
    world w;
    int status = world_open(&w, open_registry(), "lorenz63", backend_name);

    if (!status)
        status = world_make(&w, &(scenario_source){.settings = settings});
    if (!status)
        status = gbees_audit_create(w.problem, &samples, &observer.audit, &w.error);
    ck_assert_msg(status == GBEES_OK, "%s", w.error.text);
    counted = w.backend;
    gbees_backend counting = *counted;
    counting.cells = count_cells;
    counting.capture = counted->capture ? count_capture : NULL;
    fetched = 0;
    w.backend = &counting;
    ck_assert_msg(world_run(&w, 1, &observer, NULL) == GBEES_OK, "%s", w.error.text);
    ck_assert_int_eq(found.count, RECORDS);
    gbees_audit_destroy(observer.audit);
    world_close(&w);
    return found;
}

/* ---- tests ----------------------------------------------------------------------------------------------------- */

START_TEST(small_records_have_cells)
{
    if (!is_built(backend_names[_i]))
        return;
    const seen all = run(backend_names[_i], 0), few = run(backend_names[_i], all.cells_above[1]);

    ck_assert_int_eq(all.with_cells, RECORDS);
    ck_assert_uint_lt(all.cells_above[1], all.cells_above[0]);
    ck_assert_int_eq(few.with_cells, 1);
    ck_assert_int_eq(fetched, 1);
    ck_assert_uint_eq(few.certificate[1].uncompared, 0);
    ck_assert(!isnan(few.certificate[1].density.bound));
}
END_TEST

/* Moments need no cells, and marginals none where the backend makes them. */
START_TEST(certificates_without_cells)
{
    if (!is_built(backend_names[_i]))
        return;
    const seen all = run(backend_names[_i], 0), none = run(backend_names[_i], 1);

    ck_assert_int_eq(fetched, 0);
    ck_assert_int_eq(none.with_cells, 0);
    for (int k = 0; k < RECORDS; k++) {
        const gbees_certificate *c = &none.certificate[k], *with = &all.certificate[k];

        ck_assert_uint_eq(with->uncompared, 0);
        ck_assert_uint_eq(c->uncompared, none.cells_above[k]);
        ck_assert(isnan(c->density.bound));
        for (int j = 0; j < DIMENSION; j++) {
            ck_assert_double_eq(c->mean[j].bound, with->mean[j].bound);
            ck_assert_double_eq(c->std[j].bound, with->std[j].bound);
            if (counted->marginals)
                ck_assert_double_eq_tol(c->marginal[j].bound, with->marginal[j].bound, 1e-9);
            else
                ck_assert(isnan(c->marginal[j].bound));
        }
    }
}
END_TEST

START_TEST(the_text_says_it)
{
    gbees_certificate c = {.samples = 10000, .effective = 10000, .uncompared = 390000000, .density = {NAN, NAN}};
    char text[256];

    gbees_certificate_text(&c, 1, 0, text, sizeof text);
    ck_assert_msg(strstr(text, "density not compared (3.9e+08 cells)") != NULL, "%s", text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("few cells");
    TCase *tests = tcase_create("all");

    tcase_add_loop_test(tests, small_records_have_cells, 0, BACKENDS);
    tcase_add_loop_test(tests, certificates_without_cells, 0, BACKENDS);
    tcase_add_test(tests, the_text_says_it);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
