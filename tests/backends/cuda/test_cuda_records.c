/* test_cuda_records.c - records of the CUDA backend, on a GPU made of threads (shim/): cells that are put aside
 * while steps go on, and marginals.
 */
#include "cuda_engine_fixture.h"
#include "fixtures/suite.h"

/* Records that are fetched while steps go on are those that are fetched at once. */
START_TEST(records_are_captured)
{
    static const a_case *const some[] = {&measured, &moving, &corners};
    kept_run *first = run_on(some[_i], some[_i]->backend);

    for (int is_virtual = 0; is_virtual < 2; is_virtual++) {
        (void)setenv("SHIM_VIRTUAL", is_virtual ? "1" : "0", 1);
        kept_run *run = run_telling(some[_i], some[_i]->backend, 1);

        compare_bits(run, first);
        ck_assert_uint_gt(run->totals.peak_bytes, first->totals.peak_bytes); /* that they were captured */
        forget(run);
    }
    forget(first);
}
END_TEST

/* What a capture holds is given up when the grid has need of it: a run that ends well without captures does so with
 * them, whatever memory there is: the first share is of make check, in which there is next to none for a capture. */
START_TEST(a_capture_makes_room)
{
    static const double shares[] = {1.04, 1.24};
    char number[32];
    kept_run *first, *run;

    (void)setenv("SHIM_VIRTUAL", "1", 1);
    first = run_on(&large, large.backend);
    (void)snprintf(number, sizeof number, "%.0f", shares[_i] * (double)first->totals.peak_bytes);
    (void)setenv("SHIM_MEMORY", number, 1);
    run = run_telling(&large, large.backend, 1);
    compare_bits(run, first);
    forget(run);
    forget(first);
}
END_TEST

/* It has the cells as they were, however far the steps have gone; there is one; without memory there is none. */
START_TEST(a_capture_keeps_the_cells)
{
    bare b = open_bare();
    gbees_capture *capture = NULL, *other = NULL;
    double sum[2] = {0}, later[2] = {0}, kept[2] = {0};

    ck_assert_int_eq(b.w.backend->advance(b.engine, &b.clock, 9, &b.error), 0);
    ck_assert_int_eq(b.w.backend->cells(b.engine, 1, add_up, sum, &b.error), 0);
    ck_assert_int_eq(b.w.backend->capture(b.engine, &capture, &b.error), 0);
    ck_assert_ptr_nonnull(capture);
    ck_assert_int_eq(b.w.backend->advance(b.engine, &b.clock, 9, &b.error), 0);
    ck_assert_int_eq(b.w.backend->capture(b.engine, &other, &b.error), 0);
    ck_assert_ptr_null(other);
    ck_assert_int_eq(b.w.backend->cells(b.engine, 1, add_up, later, &b.error), 0);
    ck_assert_int_eq(b.w.backend->capture_cells(capture, add_up, kept, &b.error), 0);
    ck_assert_double_eq_tol(kept[0], sum[0], 1e-14);
    ck_assert_double_eq_tol(kept[1], sum[1], 1e-12);
    ck_assert(fabs(later[1] - sum[1]) > 1e-6);
    b.w.backend->capture_free(capture);
    ck_assert_int_eq(b.w.backend->capture(b.engine, &capture, &b.error), 0);
    ck_assert_ptr_nonnull(capture);
    ck_assert_int_eq(b.w.backend->capture_cells(capture, stop_at_once, NULL, &b.error), 77);
    b.w.backend->capture_free(capture);
    close_bare(&b);
}
END_TEST

/* What is too large is left out, and nothing else. */
START_TEST(planes_that_are_too_large)
{
    bare b = open_bare();
    gbees_marginals *all = NULL, *some = NULL, *lines = NULL;
    double sum = 0;

    ck_assert_int_eq(b.w.backend->advance(b.engine, &b.clock, UINT64_MAX, &b.error), 0);
    ck_assert_int_eq(b.w.backend->marginals(b.engine, UINT64_MAX, &all, &b.error), 0);
    ck_assert_ptr_nonnull(all);
    const uint64_t size = all->length[0] * all->length[1];
    ck_assert_uint_gt(all->length[1] * all->length[2], size);
    ck_assert_int_eq(b.w.backend->marginals(b.engine, size, &some, &b.error), 0);
    ck_assert_int_eq(b.w.backend->marginals(b.engine, 1, &lines, &b.error), 0);
    ck_assert(all->plane[0][1] && all->plane[0][2] && all->plane[1][2]);
    ck_assert(some->plane[0][1] && !some->plane[1][2]);
    ck_assert(!lines->plane[0][1] && !lines->plane[0][2] && !lines->plane[1][2]);
    ck_assert_mem_eq(some->plane[0][1], all->plane[0][1], size * sizeof(double));
    for (int j = 0; j < 3; j++)
        ck_assert_mem_eq(lines->line[j], all->line[j], all->length[j] * sizeof(double));
    for (uint64_t i = 0; i < all->length[2]; i++)
        sum += all->line[2][i];
    ck_assert(sum > 0.9 && sum <= 1 + 1e-12);
    free(all);
    free(some);
    free(lines);
    close_bare(&b);
}
END_TEST

START_TEST(a_capture_that_finds_no_room)
{
    gbees_capture *capture = NULL;
    gbees_totals totals;
    double sum[2] = {0};
    char number[32];
    bare b = open_bare();

    b.w.backend->totals(b.engine, &totals);
    close_bare(&b);
    (void)snprintf(number, sizeof number, "%llu", (unsigned long long)totals.peak_bytes + 1000);
    (void)setenv("SHIM_MEMORY", number, 1);
    b = open_bare();
    ck_assert_int_eq(b.w.backend->capture(b.engine, &capture, &b.error), 0);
    ck_assert_ptr_null(capture);
    ck_assert_int_eq(b.w.backend->cells(b.engine, 1, add_up, sum, &b.error), 0); /* which takes none */
    ck_assert_double_gt(sum[0], 0.9);
    close_bare(&b);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuda_records");
    TCase *tests = tcase_create("all");

    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, set_back, set_back);
    tcase_add_loop_test(tests, records_are_captured, 0, 3);
    tcase_add_loop_test(tests, a_capture_makes_room, 0, 1);
    tcase_add_test(tests, a_capture_keeps_the_cells);
    tcase_add_test(tests, planes_that_are_too_large);
    tcase_add_test(tests, a_capture_that_finds_no_room);
    suite_add_tcase(suite, tests);
    tests = add_long_case(suite, "more memory", 120);
    tcase_add_checked_fixture(tests, set_back, set_back);
    tcase_add_loop_test(tests, a_capture_makes_room, 1, 2);
    return run_suite(suite);
}
