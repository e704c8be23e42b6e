/* test_cells.c - the cells of a record: packing, sorting, ranges, marginals. */
#include "fixtures/suite.h"
#include "record/cells.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 5000, LARGE = 300000, SIDE = 9 };

/* Cells made at random, without repeats: cell i has the digits of `code[i]` in base SIDE as its index. */
typedef struct sample {
    int n;
    size_t count;
    int32_t *index[GBEES_MAX_DIM];
    double *p;
} sample;

static uint64_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static sample make_sample(int n, size_t most)
{
    uint64_t state = (uint64_t)n, all = 1;
    sample s = {.n = n};

    for (int j = 0; j < n; j++)
        all *= SIDE;
    uint64_t step = (uint64_t)(.6180339887 * (double)all); /* no multiple of 3: coprime to a power of SIDE */
    step += step % 3 == 0;
    s.count = all < most ? (size_t)all : most;
    s.p = malloc(s.count * sizeof *s.p);
    ck_assert_ptr_nonnull(s.p);
    for (int j = 0; j < n; j++) {
        s.index[j] = malloc(s.count * sizeof *s.index[j]);
        ck_assert_ptr_nonnull(s.index[j]);
    }
    for (size_t i = 0; i < s.count; i++) {
        uint64_t code = (uint64_t)i * step % all;

        for (int j = 0; j < n; j++) {
            s.index[j][i] = (int32_t)(code % SIDE) - 5 + 100 * (j - 1);
            code /= SIDE;
        }
        s.p[i] = (double)(1 + next(&state) % 1000) * 1e-6;
    }
    return s;
}

static void free_sample(sample *s)
{
    for (int j = 0; j < s->n; j++)
        free(s->index[j]);
    free(s->p);
}

/* In batches of growing size, as a backend would. */
static gbees_cells *fill(const sample *s)
{
    gbees_cells *cells = gbees_cells_create(s->n);
    gbees_error error;

    ck_assert_ptr_nonnull(cells);
    for (size_t first = 0, size = 1; first < s->count; first += size, size += 7) {
        const int32_t *index[GBEES_MAX_DIM];
        size_t count = s->count - first < size ? s->count - first : size;

        for (int j = 0; j < s->n; j++)
            index[j] = s->index[j] + first;
        ck_assert_int_eq(gbees_cells_add(cells, count, index, s->p + first), 0);
    }
    ck_assert_int_eq(gbees_cells_finish(cells, 1, &error), 0);
    return cells;
}

static int compare(int n, int32_t *const *a, size_t i, int32_t *const *b, size_t k)
{
    for (int j = 0; j < n; j++)
        if (a[j][i] != b[j][k])
            return a[j][i] < b[j][k] ? -1 : 1;
    return 0;
}

/* Finds a cell by bisection: works only if the cells are sorted. */
static size_t find(const sample *sorted, const sample *s, size_t i)
{
    size_t low = 0, high = sorted->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (compare(s->n, sorted->index, middle, s->index, i) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

START_TEST(cells_are_sorted_and_complete)
{
    sample s = make_sample(_i, MANY), out = make_sample(_i, MANY);
    gbees_cells *cells = fill(&s);

    ck_assert_uint_eq(gbees_cells_count(cells), s.count);
    gbees_cells_copy(cells, 0, s.count, out.index, out.p);
    for (size_t i = 1; i < s.count; i++)
        ck_assert_int_lt(compare(s.n, out.index, i - 1, out.index, i), 0);
    for (size_t i = 0; i < s.count; i++) {
        size_t k = find(&out, &s, i);

        ck_assert_uint_lt(k, s.count);
        ck_assert_int_eq(compare(s.n, out.index, k, s.index, i), 0);
        ck_assert_double_eq(out.p[k], s.p[i]);
    }
    gbees_cells_destroy(cells);
    free_sample(&out);
    free_sample(&s);
}
END_TEST

/* Adds a sample at once and sorts it, on so many threads, and compares it with what one thread makes of it. */
static void compare_threads(const sample *s, int threads)
{
    sample one = make_sample(s->n, s->count), several = make_sample(s->n, s->count);
    gbees_cells *alone = fill(s), *cells = gbees_cells_create(s->n);
    gbees_error error;

    ck_assert_ptr_nonnull(cells);
    gbees_cells_use_threads(cells, threads);
    ck_assert_int_eq(gbees_cells_add(cells, s->count, (const int32_t *const *)s->index, s->p), 0);
    ck_assert_int_eq(gbees_cells_finish(cells, threads, &error), 0);
    ck_assert_uint_eq(gbees_cells_count(cells), s->count);
    gbees_cells_copy(alone, 0, s->count, one.index, one.p);
    gbees_cells_copy(cells, 0, s->count, several.index, several.p);
    for (int j = 0; j < s->n; j++) {
        int32_t first, last, first_alone, last_alone;

        ck_assert_mem_eq(one.index[j], several.index[j], s->count * sizeof *one.index[j]);
        gbees_cells_range(cells, j, &first, &last);
        gbees_cells_range(alone, j, &first_alone, &last_alone);
        ck_assert_int_eq(first, first_alone);
        ck_assert_int_eq(last, last_alone);
    }
    ck_assert_mem_eq(one.p, several.p, s->count * sizeof *one.p);
    gbees_cells_destroy(alone);
    gbees_cells_destroy(cells);
    free_sample(&one);
    free_sample(&several);
}

/* Enough cells for several threads: at random places, in order, and with a wide gap along axis 0. */
START_TEST(threads_sort_alike)
{
    static const int threads[] = {2, 5, 16, 40};
    sample s = make_sample(6, LARGE);

    for (size_t k = 0; k < sizeof threads / sizeof *threads; k++)
        compare_threads(&s, threads[k]);
    gbees_cells *cells = fill(&s);
    gbees_cells_copy(cells, 0, s.count, s.index, s.p);
    gbees_cells_destroy(cells);
    compare_threads(&s, 7);
    for (size_t i = 0; i < s.count; i++)
        if (s.index[0][i] > s.index[0][0])
            s.index[0][i] += 1000;
    compare_threads(&s, 7);
    free_sample(&s);
}
END_TEST

/* A cell that is there twice, and one that does not fit, are found in any thread's part. */
START_TEST(threads_find_errors)
{
    sample s = make_sample(6, LARGE);
    const size_t at[] = {1, LARGE / 2, LARGE - 1};
    gbees_error error;

    for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
        for (int large = 0; large < 2; large++) {
            gbees_cells *cells = gbees_cells_create(6);
            int32_t kept[6];

            ck_assert_ptr_nonnull(cells);
            gbees_cells_use_threads(cells, 4);
            for (int j = 0; j < 6; j++) {
                kept[j] = s.index[j][at[k]];
                s.index[j][at[k]] = large ? 1 << 30 : s.index[j][0];
            }
            const int added = gbees_cells_add(cells, s.count, (const int32_t *const *)s.index, s.p);
            ck_assert_int_eq(added, large ? GBEES_ENUMERIC : GBEES_OK);
            ck_assert_int_eq(gbees_cells_finish(cells, 4, &error), large ? GBEES_ENUMERIC : GBEES_EBACKEND);
            ck_assert_ptr_nonnull(strstr(error.text, large ? "does not fit" : "twice"));
            for (int j = 0; j < 6; j++)
                s.index[j][at[k]] = kept[j];
            gbees_cells_destroy(cells);
        }
    }
    free_sample(&s);
}
END_TEST

START_TEST(a_part_is_copied)
{
    sample s = make_sample(3, MANY);
    gbees_cells *cells = fill(&s);
    int32_t all[3][SIDE * SIDE * SIDE], part[10];
    double p[10];

    gbees_cells_copy(cells, 0, s.count, (int32_t *[]){all[0], all[1], all[2]}, NULL);
    gbees_cells_copy(cells, 37, 10, (int32_t *[]){NULL, part, NULL}, p);
    ck_assert_mem_eq(part, all[1] + 37, sizeof part);
    gbees_cells_copy(cells, 46, 1, NULL, p);
    ck_assert_double_gt(p[0], 0);
    gbees_cells_destroy(cells);
    free_sample(&s);
}
END_TEST

START_TEST(ranges_and_marginals)
{
    sample s = make_sample(_i, MANY);
    gbees_cells *cells = fill(&s);
    double total = 0;
    gbees_error error;

    for (size_t i = 0; i < s.count; i++)
        total += s.p[i];
    for (int a = 0; a < s.n; a++) {
        int32_t lo, hi;
        double *p, sum = 0, expected[SIDE] = {0};

        gbees_cells_range(cells, a, &lo, &hi);
        ck_assert_int_eq(lo, -5 + 100 * (a - 1));
        ck_assert_int_eq(hi, lo + SIDE - 1);
        ck_assert_int_eq(gbees_cells_marginal_1d(cells, a, &p, &error), 0);
        for (size_t i = 0; i < s.count; i++)
            expected[s.index[a][i] - lo] += s.p[i];
        for (int i = 0; i < SIDE; i++) {
            ck_assert_double_eq_tol(p[i], expected[i], 1e-12);
            sum += p[i];
        }
        ck_assert_double_eq_tol(sum, total, 1e-12);
        for (int b = 0; b < s.n; b++) {
            double *plane, rows = 0;

            if (b == a)
                continue;
            ck_assert_int_eq(gbees_cells_marginal_2d(cells, a, b, &plane, &error), 0);
            for (int i = 0; i < SIDE; i++) { /* the sum over b is the marginal of a */
                double row = 0;

                for (int k = 0; k < SIDE; k++)
                    row += plane[i * SIDE + k];
                ck_assert_double_eq_tol(row, p[i], 1e-12);
                rows += row;
            }
            ck_assert_double_eq_tol(rows, total, 1e-12);
            free(plane);
        }
        free(p);
    }
    gbees_cells_destroy(cells);
    free_sample(&s);
}
END_TEST

/* The largest and the smallest index that each dimension can hold, and one more. */
START_TEST(extreme_indices)
{
    int n = _i, bits = 128 / n < 32 ? 128 / n : 32;
    int64_t most = (INT64_C(1) << (bits - 1)) - 1;
    int32_t values[] = {(int32_t)most, 0, -1, (int32_t)(-most - 1)}, out[4];
    double p[] = {1, 2, 3, 4}, sorted[4];
    const int32_t *index[GBEES_MAX_DIM];
    int32_t *copies[GBEES_MAX_DIM] = {out};
    gbees_cells *cells = gbees_cells_create(n);
    gbees_error error;

    ck_assert_ptr_nonnull(cells);
    for (int j = 0; j < n; j++)
        index[j] = values;
    ck_assert_int_eq(gbees_cells_add(cells, 4, index, p), 0);
    ck_assert_int_eq(gbees_cells_finish(cells, 1, &error), 0);
    for (int j = 0; j < n; j++) {
        copies[0] = copies[j] = NULL;
        copies[j] = out;
        gbees_cells_copy(cells, 0, 4, copies, sorted);
        for (int i = 0; i < 4; i++) {
            ck_assert_int_eq(out[i], values[3 - i]);
            ck_assert_double_eq(sorted[i], p[3 - i]);
        }
    }
    gbees_cells_destroy(cells);
}
END_TEST

START_TEST(too_large_an_index)
{
    int n = _i;
    int32_t zero = 0, large = (int32_t)(INT64_C(1) << (128 / n - 1));
    double p = 1;
    const int32_t *index[GBEES_MAX_DIM];
    gbees_cells *cells = gbees_cells_create(n);
    gbees_error error;

    ck_assert_ptr_nonnull(cells);
    for (int j = 0; j < n; j++)
        index[j] = j == 2 ? &large : &zero;
    ck_assert_int_eq(gbees_cells_add(cells, 1, index, &p), GBEES_ENUMERIC);
    index[2] = &zero; /* nothing goes in after a failure */
    ck_assert_int_eq(gbees_cells_add(cells, 1, index, &p), GBEES_ENUMERIC);
    ck_assert_int_eq(gbees_cells_finish(cells, 1, &error), GBEES_ENUMERIC);
    ck_assert_ptr_nonnull(strstr(error.text, "along axis 2 does not fit"));
    ck_assert_ptr_nonnull(strstr(error.text, "use wider cells"));
    gbees_cells_destroy(cells);
}
END_TEST

START_TEST(a_cell_twice)
{
    sample s = make_sample(4, 200);
    gbees_cells *cells;
    gbees_error error;

    for (int j = 0; j < 4; j++)
        s.index[j][150] = s.index[j][20];
    cells = gbees_cells_create(4);
    ck_assert_ptr_nonnull(cells);
    ck_assert_int_eq(gbees_cells_add(cells, 200, (const int32_t *const *)s.index, s.p), 0);
    ck_assert_int_eq(gbees_cells_finish(cells, 1, &error), GBEES_EBACKEND);
    ck_assert_ptr_nonnull(strstr(error.text, "twice"));
    gbees_cells_destroy(cells);
    free_sample(&s);
}
END_TEST

START_TEST(no_cells)
{
    gbees_cells *cells = gbees_cells_create(2);
    gbees_error error;
    int32_t lo, hi;
    double *p;

    ck_assert_ptr_nonnull(cells);
    ck_assert_int_eq(gbees_cells_add(cells, 0, NULL, NULL), 0);
    ck_assert_int_eq(gbees_cells_finish(cells, 1, &error), 0);
    ck_assert_uint_eq(gbees_cells_count(cells), 0);
    gbees_cells_range(cells, 1, &lo, &hi);
    ck_assert_int_eq(hi - lo + 1, 0);
    ck_assert_int_eq(gbees_cells_marginal_2d(cells, 0, 1, &p, &error), 0);
    free(p);
    gbees_cells_destroy(cells);
    gbees_cells_destroy(NULL);
}
END_TEST

/* A plane that no machine can hold is an error, and not an overflow. */
START_TEST(too_large_a_plane)
{
    int32_t x[] = {INT32_MIN, INT32_MAX}, y[] = {INT32_MIN, INT32_MAX};
    double p[] = {.5, .5}, *plane = NULL;
    gbees_cells *cells = gbees_cells_create(2);
    gbees_error error;

    ck_assert_ptr_nonnull(cells);
    ck_assert_int_eq(gbees_cells_add(cells, 2, (const int32_t *[]){x, y}, p), 0);
    ck_assert_int_eq(gbees_cells_finish(cells, 1, &error), 0);
    ck_assert_int_eq(gbees_cells_marginal_2d(cells, 0, 1, &plane, &error), GBEES_ENOMEM);
    ck_assert_ptr_null(plane);
    ck_assert_ptr_nonnull(strstr(error.text, "4294967296 x 4294967296"));
    gbees_cells_destroy(cells);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cells");
    TCase *tests = tcase_create("cells");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, cells_are_sorted_and_complete, 1, 9);
    tcase_add_test(tests, threads_sort_alike);
    tcase_add_test(tests, threads_find_errors);
    tcase_add_test(tests, a_part_is_copied);
    tcase_add_loop_test(tests, ranges_and_marginals, 1, 9);
    tcase_add_loop_test(tests, extreme_indices, 1, 9);
    tcase_add_loop_test(tests, too_large_an_index, 5, 9);
    tcase_add_test(tests, a_cell_twice);
    tcase_add_test(tests, no_cells);
    tcase_add_test(tests, too_large_a_plane);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
