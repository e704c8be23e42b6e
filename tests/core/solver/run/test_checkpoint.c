/* test_checkpoint.c - core/solver/checkpoint: a checkpoint with a copy of the state, and one whose state is read from
 * the engine while it is written, as there is no memory for a copy; runs that go on from either. */
#include "base/checkpoint.h"
#include "base/gaps.h"
#include "fixtures/scratch_folder.h"
#include "fixtures/suite.h"
#include "fixtures/world_fixture.h"
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const settings[] = {"records=4", "end=0.2", "accuracy=0", NULL};
static const gbees_provenance provenance = {"/lib/vanderpol.so", "model: vanderpol\n", "cpu", NULL, "gbees-run"};

/* What the observer has, and what it saw. */
typedef struct stage {
    gbees_writer *writer; /* NULL: no checkpoint is asked for */
    int refuse;           /* 1: a checkpoint fails, as there is no memory for it */
    int records, checkpoints, uncopied, records_before;
    gbees_statistics last;
    gbees_certificate certificate;
} stage;

static const gbees_backend *whole; /* of which `large` is one without memory for a copy */

static void take_all_memory(const gbees_engine *engine, gbees_totals *totals)
{
    whole->totals(engine, totals);
    totals->peak_bytes = UINT64_MAX;
}

static int on_record(void *context, const gbees_record *record, gbees_error *error)
{
    stage *s = context;

    (void)error;
    s->records++;
    s->last = record->statistics;
    if (record->certificate)
        s->certificate = *record->certificate;
    return GBEES_OK;
}

/* The run is stopped after its third record, with a checkpoint. */
static int is_cancelled(void *context)
{
    const stage *s = context;

    return s->writer && s->records == 3;
}

static int on_checkpoint(void *context, gbees_checkpoint *checkpoint, gbees_error *error)
{
    stage *s = context;

    s->checkpoints++;
    s->uncopied += checkpoint->rest != NULL;
    s->records_before = s->records;
    return s->refuse ? gbees_error_set(error, GBEES_ENOMEM, "no memory today")
                     : gbees_writer_checkpoint(s->writer, checkpoint, error);
}

/* Runs the world's problem on a backend, from a checkpoint or from its start, with an audit of some samples. */
static int run_on(world *w, const gbees_backend *backend, const gbees_checkpoint *from, stage *s)
{
    const gbees_engine_options options = {.threads = 1};
    const gbees_audit_options how = {.samples = 500, .threads = 1};
    gbees_observer observer = {
        .context = s, .record = on_record, .cancelled = is_cancelled, .checkpoint = on_checkpoint};
    gbees_solver *solver = NULL;

    ck_assert_int_eq(gbees_audit_create(w->problem, &how, &observer.audit, &w->error), GBEES_OK);
    if (from)
        ck_assert_int_eq(gbees_audit_load(observer.audit, from, &w->error), GBEES_OK);
    int status = from ? gbees_solver_resume(w->problem, backend, &options, from, &solver, &w->error)
                      : gbees_solver_create(w->problem, backend, &options, &solver, &w->error);
    ck_assert_msg(status == GBEES_OK, "%s", w->error.text);
    status = gbees_solver_run(solver, &observer, &w->error);
    gbees_solver_destroy(solver);
    gbees_audit_destroy(observer.audit);
    return status;
}

static world w;
static char base[SCRATCH_FOLDER];
static char folder[sizeof base + 8];

static void set_up(void)
{
    world_create(&w, "vanderpol", settings);
    whole = w.backend;
    scratch_folder_make(base);
    (void)snprintf(folder, sizeof folder, "%s/run", base);
}

static void tear_down(void)
{
    scratch_folder_remove(base);
    world_close(&w);
}

/* A run that is not stopped, one that ends with a checkpoint, and the one that goes on from it. */
typedef struct stages {
    stage one, first, rest;
    gbees_error end; /* why the first has ended */
} stages;

/* Makes all three, and compares the last record. `backend` is that of the run that ends, with `status` and one
 * checkpoint. */
static void end_and_go_on(const gbees_backend *backend, int status, stages *s)
{
    gbees_checkpoint *checkpoint = NULL;
    gbees_error note;

    *s = (stages){.one = {0}};
    ck_assert_int_eq(run_on(&w, whole, NULL, &s->one), GBEES_OK);
    ck_assert_int_eq(gbees_writer_create(folder, w.problem, &provenance, &s->first.writer, &w.error), GBEES_OK);
    ck_assert_int_eq(run_on(&w, backend, NULL, &s->first), status);
    s->end = w.error;
    ck_assert_int_eq(s->first.checkpoints, 1);
    gbees_writer_destroy(s->first.writer);
    ck_assert_int_eq(gbees_checkpoint_read(folder, &checkpoint, &note, &w.error), GBEES_OK);
    ck_assert_int_eq(run_on(&w, whole, checkpoint, &s->rest), GBEES_OK);
    gbees_checkpoint_destroy(checkpoint);
    ck_assert_int_eq(s->first.records + s->rest.records, s->one.records);
    ck_assert_mem_eq(&s->rest.last, &s->one.last, sizeof s->one.last);
}

/* Stops a run with a checkpoint, 1: without memory for a copy. */
START_TEST(a_run_goes_on_with_the_same_bits)
{
    gbees_backend large = *whole;
    stages s;

    large.totals = take_all_memory;
    end_and_go_on(_i ? &large : whole, GBEES_ECANCELLED, &s);
    ck_assert_int_eq(s.first.uncopied, _i);
    ck_assert_int_eq(s.first.records_before, 3);
    ck_assert_mem_eq(&s.rest.certificate.mean, &s.one.certificate.mean, sizeof s.one.certificate.mean);
}
END_TEST

static int no_memory_after; /* calls of cells() that succeed */

static int cells_without_memory(gbees_engine *engine, double fraction, gbees_cell_visitor *visitor, void *context,
                                gbees_error *error)
{
    return no_memory_after-- > 0 ? whole->cells(engine, fraction, visitor, context, error)
                                 : gbees_error_set(error, GBEES_ENOMEM, "no memory for cells");
}

/* The record that there is no memory for is the first of the run that goes on. */
START_TEST(a_record_without_memory_leaves_a_checkpoint)
{
    gbees_backend poor = *whole;
    stages s;

    poor.cells = cells_without_memory;
    no_memory_after = 2;
    end_and_go_on(&poor, GBEES_ENOMEM, &s);
    ck_assert_ptr_nonnull(strstr(s.end.text, "no memory for cells"));
    ck_assert_int_eq(s.first.records, 2);
}
END_TEST

START_TEST(a_checkpoint_that_fails_ends_the_run)
{
    gbees_backend large = *whole;
    stage s = {.refuse = 1};

    large.totals = take_all_memory;
    ck_assert_int_eq(gbees_writer_create(folder, w.problem, &provenance, &s.writer, &w.error), GBEES_OK);
    ck_assert_int_eq(run_on(&w, _i ? &large : whole, NULL, &s), GBEES_ENOMEM);
    ck_assert_str_eq(w.error.text, "no memory today");
    gbees_writer_destroy(s.writer);
}
END_TEST

/* A checkpoint from a stranger, whose checksum is right. */
START_TEST(what_is_no_probability_is_refused)
{
    static const float wrong[] = {-1e-6F, NAN, INFINITY};
    const gbees_engine_options options = {.threads = 1};
    gbees_checkpoint *checkpoint = NULL;
    gbees_solver *solver = NULL;
    gbees_error note;
    stage s = {.refuse = 0};
    float *p = NULL;

    ck_assert_int_eq(gbees_writer_create(folder, w.problem, &provenance, &s.writer, &w.error), GBEES_OK);
    ck_assert_int_eq(run_on(&w, whole, NULL, &s), GBEES_ECANCELLED);
    gbees_writer_destroy(s.writer);
    ck_assert_int_eq(gbees_checkpoint_read(folder, &checkpoint, &note, &w.error), GBEES_OK);
    for (size_t k = 0; k < checkpoint->count; k++)
        if (strcmp(checkpoint->part[k].name, "p") == 0)
            p = (float *)checkpoint->part[k].data + checkpoint->part[k].count / 2;
    ck_assert_ptr_nonnull(p);
    *p = wrong[_i];
    ck_assert_int_eq(gbees_solver_resume(w.problem, whole, &options, checkpoint, &solver, &w.error), GBEES_EINPUT);
    ck_assert_ptr_nonnull(strstr(w.error.text, "a probability that is negative or not finite"));
    gbees_checkpoint_destroy(checkpoint);
}
END_TEST

/* ---- the bytes of a checkpoint ---- */

/* A run that is stopped while memory has other contents than in another run, and its checkpoint. */
typedef struct littered {
    int with, records;
    gbees_checkpoint kept;
} littered;

static void litter_stack(int with)
{
    volatile char some[1 << 16];

    for (size_t k = 0; k < sizeof some; k++)
        some[k] = (char)with;
}

static int count_record(void *context, const gbees_record *record, gbees_error *error)
{
    littered *run = context;

    (void)record, (void)error;
    run->records++;
    return GBEES_OK;
}

static int litter_and_stop(void *context)
{
    const littered *run = context;

    litter_stack(run->with);
    return run->records == 3;
}

static int keep(void *context, gbees_checkpoint *checkpoint, gbees_error *error)
{
    littered *run = context;

    (void)error;
    for (size_t k = 0; k < checkpoint->count; k++) {
        const gbees_checkpoint_part *part = &checkpoint->part[k];

        ck_assert_int_eq(gbees_checkpoint_add(&run->kept, part->name, part->size, part->count, part->data), 0);
    }
    return GBEES_OK;
}

static void run_littered(littered *run, int with)
{
    const gbees_audit_options how = {.samples = 500, .threads = 1};
    gbees_observer observer = {
        .context = run, .record = count_record, .cancelled = litter_and_stop, .checkpoint = keep};
    gbees_solver *solver = NULL;

    *run = (littered){.with = with};
    ck_assert(mallopt(M_PERTURB, with) == 1 || MEMORY_CHECKED); /* the checker's malloc() has a pattern of its own */
    litter_stack(with);
    ck_assert_int_eq(gbees_audit_create(w.problem, &how, &observer.audit, &w.error), GBEES_OK);
    ck_assert_int_eq(gbees_solver_create(w.problem, whole, &(gbees_engine_options){.threads = 1}, &solver, &w.error),
                     GBEES_OK);
    ck_assert_int_eq(gbees_solver_run(solver, &observer, &w.error), GBEES_ECANCELLED);
    gbees_solver_destroy(solver);
    gbees_audit_destroy(observer.audit);
}

static size_t count_differences(const gbees_checkpoint_part *a, const gbees_checkpoint_part *b)
{
    const char *one = a->data, *other = b->data;
    size_t differences = 0;

    for (size_t k = 0; k < a->size * a->count; k++)
        differences += one[k] != other[k];
    return differences;
}

/* Of the run's own state two numbers may differ: the seconds that it has taken. */
START_TEST(equal_states_are_equal_bytes)
{
    littered a, b;

    run_littered(&a, 0x55);
    run_littered(&b, 0x2a);
    ck_assert_uint_eq(a.kept.count, b.kept.count);
    ck_assert_uint_gt(a.kept.count, 10);
    for (size_t k = 0; k < a.kept.count; k++) {
        const gbees_checkpoint_part *part = &a.kept.part[k], *other = &b.kept.part[k];

        ck_assert_str_eq(part->name, other->name);
        ck_assert_uint_eq(part->size * part->count, other->size * other->count);
        const size_t allowed = strcmp(part->name, "run") ? 0 : 2 * sizeof(double);
        ck_assert_msg(count_differences(part, other) <= allowed, "%zu bytes of '%s' differ",
                      count_differences(part, other), part->name);
    }
    gbees_checkpoint_clear(&a.kept);
    gbees_checkpoint_clear(&b.kept);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("checkpoint");
    TCase *tests = tcase_create("checkpoint");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, a_run_goes_on_with_the_same_bits, 0, 2);
    tcase_add_test(tests, a_record_without_memory_leaves_a_checkpoint);
    tcase_add_loop_test(tests, a_checkpoint_that_fails_ends_the_run, 0, 2);
    tcase_add_loop_test(tests, what_is_no_probability_is_refused, 0, 3);
    if (GBEES_CAN_CLEAR_GAPS)
        tcase_add_test(tests, equal_states_are_equal_bytes);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
