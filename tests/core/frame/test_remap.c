/* test_remap.c - densities from a frame's cells to another's: mass, sign, order, threads, and Gaussians, whose
 * averages over oblique cells are known. */
#include "base/initial_cells.h"
#include "fixtures/cell_list.h"
#include "fixtures/frame_fixture.h"
#include "fixtures/suite.h"
#include "frame/remap.h"
#include <float.h>
#include <math.h>

/* ---- lists of cells ---- */

static int is_same(const gbees_initial_cells *a, const gbees_initial_cells *b, int n)
{
    int same = a->count == b->count && !memcmp(a->p, b->p, a->count * sizeof *a->p);

    for (int j = 0; j < n && same; j++)
        same = !memcmp(a->index[j], b->index[j], a->count * sizeof *a->index[j]);
    return same;
}

static double sum_of(const gbees_initial_cells *cells)
{
    double sum = 0, rest = 0; /* Kahan's, so that it is not the test that rounds */

    for (size_t i = 0; i < cells->count; i++) {
        const double more = cells->p[i] - rest, next = sum + more;

        rest = (next - sum) - more;
        sum = next;
    }
    return sum;
}

/* Every cell positive, once, and in lexicographic order. */
static void check_list(const gbees_initial_cells *cells, int n)
{
    for (size_t i = 0; i < cells->count; i++) {
        int order = i == 0 ? 1 : 0;

        ck_assert(cells->p[i] > 0);
        for (int j = 0; j < n && !order; j++)
            order = (cells->index[j][i] > cells->index[j][i - 1]) - (cells->index[j][i] < cells->index[j][i - 1]);
        ck_assert_msg(order > 0, "cell %zu of %zu is out of order", i, cells->count);
    }
}

/* ---- frames ---- */

static gbees_moving_frame frame_at_rest(int n, double width)
{
    gbees_moving_frame frame = {.n = n};

    for (int j = 0; j < n; j++)
        frame.a[j * n + j] = width;
    return frame;
}

/* The frame turned by an angle in the plane of its axes j and k, scaled along j, with another m. */
static gbees_moving_frame turned(const gbees_moving_frame *frame, int j, double angle, double scale)
{
    const int n = frame->n, k = (j + 1) % n;
    const double c = cos(angle), s = sin(angle);
    gbees_moving_frame next = *frame;

    for (int i = 0; i < n; i++) {
        const double a = frame->a[i * n + j], b = frame->a[i * n + k];

        next.a[i * n + j] = scale * (c * a + s * b);
        next.a[i * n + k] = c * b - s * a;
        next.m[i] += 0.1 - 0.07 * i;
    }
    return next;
}

/* ---- Gaussians ---- */

/* Cells of width 1/k of a standard Gaussian: its exact averages, out to 5.5 deviations. */
static gbees_initial_cells gaussian(int n, double k)
{
    const int reach = (int)ceil(5.5 * k), side = 2 * reach + 1;
    size_t all = 1;

    for (int j = 0; j < n; j++)
        all *= (size_t)side;
    gbees_initial_cells cells = list_empty(n, all);
    for (size_t i = 0; i < all; i++) {
        size_t rest = i;
        double p = 1;

        for (int j = n - 1; j >= 0; j--) {
            const int32_t index = (int32_t)(rest % (size_t)side) - reach;

            rest /= (size_t)side;
            cells.index[j][cells.count] = index;
            p *= (erf((index + 0.5) / k / sqrt(2)) - erf((index - 0.5) / k / sqrt(2))) / 2;
        }
        cells.p[cells.count] = p;
        cells.count += p > 1e-10;
    }
    return cells;
}

static double volume_of(const gbees_moving_frame *frame)
{
    const double *a = frame->a;

    if (frame->n == 2)
        return fabs(a[0] * a[3] - a[1] * a[2]);
    return fabs(a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) +
                a[2] * (a[3] * a[7] - a[4] * a[6]));
}

/* The integral of the standard Gaussian over a cell, by Gauss's rule with three points an axis. */
static double exact_mass(const gbees_initial_cells *cells, size_t i, const gbees_moving_frame *frame)
{
    static const double point[] = {-0.3872983346207417, 0, 0.3872983346207417},
                        weight[] = {5 / 18., 8 / 18., 5 / 18.};
    const int n = frame->n, points = n == 2 ? 9 : 27;
    double sum = 0;

    for (int s = 0; s < points; s++) {
        double y[3], w = 1, square = 0;

        for (int j = 0, digits = s; j < n; j++, digits /= 3) {
            y[j] = cells->index[j][i] + point[digits % 3];
            w *= weight[digits % 3];
        }
        for (int j = 0; j < n; j++) {
            double x = frame->m[j];

            for (int k = 0; k < n; k++)
                x += frame->a[j * n + k] * y[k];
            square += x * x;
        }
        sum += w * exp(-square / 2);
    }
    return sum * volume_of(frame) / pow(2 * acos(-1), n / 2.0);
}

/* The sum of the differences from the exact averages. */
static double difference(const gbees_initial_cells *cells, const gbees_moving_frame *frame)
{
    double sum = 0;

    for (size_t i = 0; i < cells->count; i++)
        sum += fabs(cells->p[i] - exact_mass(cells, i, frame));
    return sum;
}

/* The largest difference of the covariance in x from 1, with 1/12 of a cell's edge squared subtracted. */
static double variance_error(const gbees_initial_cells *cells, const gbees_moving_frame *frame)
{
    const int n = frame->n;
    double mean[3] = {0}, square[9] = {0}, mass = sum_of(cells), largest = 0;

    for (size_t i = 0; i < cells->count; i++)
        for (int j = 0; j < n; j++) {
            mean[j] += cells->p[i] * cells->index[j][i] / mass;
            for (int k = 0; k < n; k++)
                square[j * n + k] += cells->p[i] * cells->index[j][i] * cells->index[k][i] / mass;
        }
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++) {
            double value = 0;

            for (int r = 0; r < n; r++)
                for (int s = 0; s < n; s++)
                    value += frame->a[j * n + r] * frame->a[k * n + s] *
                             (square[r * n + s] - mean[r] * mean[s] - (r == s ? 1.0 / 12 : 0));
            largest = fmax(largest, fabs(value - (j == k)));
        }
    return largest;
}

static void remap(gbees_initial_cells *cells, const gbees_moving_frame *from, const gbees_moving_frame *to,
                  double least, int threads)
{
    const gbees_remap_options options = {.least = least, .threads = threads};
    const double before = sum_of(cells);
    gbees_error error = {0};
    double dropped = 0;

    ck_assert_msg(gbees_remap(cells, from, to, &options, &dropped, &error) == GBEES_OK, "%s", error.text);
    check_list(cells, from->n);
    ck_assert_double_ge(dropped, 0);
    ck_assert_double_eq_tol(sum_of(cells) + dropped, before, 64 * DBL_EPSILON);
}

/* One remap, and six, with cells of half and of a third of a deviation: no error above the figures of the method's
 * page. */
START_TEST(turned_gaussians)
{
    static const struct {
        int n, times;
        double k, l1, variance;
    } cases[] = {{2, 1, 2, 2.5e-3, 1e-4}, {2, 1, 3, 4e-4, 1e-5},   {3, 1, 2, 2.5e-3, 1e-4}, {3, 1, 3, 4e-4, 1e-5},
                 {2, 6, 2, 1e-2, 5e-4},   {2, 6, 3, 1.6e-3, 3e-5}, {3, 6, 2, 1e-2, 5e-4},   {3, 6, 3, 1.6e-3, 3e-5}};
    const int n = cases[_i].n;
    gbees_moving_frame frame = frame_at_rest(n, 1 / cases[_i].k);
    gbees_initial_cells cells = gaussian(n, cases[_i].k);

    for (int time = 0; time < cases[_i].times; time++) {
        const gbees_moving_frame next = turned(&frame, time % n, 0.5, 1);

        remap(&cells, &frame, &next, 1e-10, 2);
        frame = next;
    }
    const double l1 = difference(&cells, &frame), variance = variance_error(&cells, &frame);
    ck_assert_msg(l1 <= cases[_i].l1 && variance <= cases[_i].variance,
                  "n %d, k %g, %d remaps: L1 %.2e, variance %.2e", n, cases[_i].k, cases[_i].times, l1, variance);
    gbees_initial_cells_clear(&cells);
}
END_TEST

/* ---- any cells ---- */

/* A box of cells, a third of them left out, P over many orders of magnitude; with a part far from the others. */
static gbees_initial_cells rough(int n)
{
    const int side = n > 4 ? 3 : n == 1 ? 40 : 7;
    uint64_t state = 9;
    size_t all = 1;
    double sum = 0;

    for (int j = 0; j < n; j++)
        all *= (size_t)side;
    gbees_initial_cells cells = list_empty(n, all);
    for (size_t i = 0; i < all; i++) {
        size_t rest = i;

        if (some_number(&state) < 0.33)
            continue;
        for (int j = n - 1; j >= 0; j--, rest /= (size_t)side)
            cells.index[j][cells.count] =
                (int32_t)(rest % (size_t)side) - 2 + (j == 0 && rest % (size_t)side == (size_t)side - 1 ? 30 : 0);
        cells.p[cells.count] = exp(-20 * some_number(&state));
        sum += cells.p[cells.count++];
    }
    for (size_t i = 0; i < cells.count; i++)
        cells.p[i] /= sum;
    return cells;
}

/* Of any cells: mass, sign and order (remap() checks them), and the same list for any number of threads. */
START_TEST(rough_cells)
{
    const int n = 1 + _i % 6;
    const gbees_moving_frame from = some_frame(n, 1 + (uint64_t)_i), to = some_frame(n, 50 + (uint64_t)_i);
    const double least = n > 4 ? 1e-6 : _i % 2 ? 1e-9 : 0;
    gbees_initial_cells cells = rough(n), others = list_copy(&cells, n);

    remap(&cells, &from, &to, least, 1);
    ck_assert_uint_gt(cells.count, 10);
    remap(&others, &from, &to, least, 5);
    ck_assert(is_same(&cells, &others, n));
    for (size_t i = 0; i < cells.count; i++)
        ck_assert_double_ge(cells.p[i], least);
    gbees_initial_cells_clear(&cells);
    gbees_initial_cells_clear(&others);
}
END_TEST

/* The covariance of a list's cells, in cells. */
static void covariance_of(const gbees_initial_cells *cells, int n, double *c)
{
    double mean[GBEES_MAX_DIM] = {0}, sum = sum_of(cells);

    for (size_t i = 0; i < cells->count; i++)
        for (int j = 0; j < n; j++)
            mean[j] += cells->p[i] / sum * cells->index[j][i];
    memset(c, 0, (size_t)(n * n) * sizeof *c);
    for (size_t i = 0; i < cells->count; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                c[j * n + k] += cells->p[i] / sum * (cells->index[j][i] - mean[j]) * (cells->index[k][i] - mean[k]);
}

/* Diffusion adds its variances along the new axes, whichever of the old ones they are, and nothing else; less or more
 * than a step of it. */
START_TEST(diffusion_adds_variances)
{
    enum { N = 3 };
    static const double spread[N] = {0.05, 0.7, 2.3};
    const gbees_moving_frame from = frame_at_rest(N, 0.5);
    const gbees_moving_frame to =
        _i ? turned(&from, 2, 0.4, -1) : (gbees_moving_frame){.n = N, .a = {0, 0, 0.5, -0.5, 0, 0, 0, 0.5, 0}};
    const gbees_remap_options options = {.least = 1e-12, .threads = 2, .spread = spread};
    gbees_initial_cells cells = gaussian(N, 2), plain = list_copy(&cells, N);
    double c[N * N], before[N * N], dropped = 0;
    const double sum = sum_of(&cells);
    gbees_error error = {0};

    remap(&plain, &from, &to, 1e-12, 2);
    ck_assert_msg(gbees_remap(&cells, &from, &to, &options, &dropped, &error) == GBEES_OK, "%s", error.text);
    check_list(&cells, N);
    ck_assert_double_eq_tol(sum_of(&cells) + dropped, sum, 64 * DBL_EPSILON);
    covariance_of(&plain, N, before);
    covariance_of(&cells, N, c);
    for (int j = 0; j < N; j++)
        for (int k = 0; k < N; k++)
            ck_assert_double_eq_tol(c[j * N + k], before[j * N + k] + (j == k ? spread[j] : 0), 1e-4);
    gbees_initial_cells_clear(&cells);
    gbees_initial_cells_clear(&plain);
}
END_TEST

/* A density of one cell, far narrower than what a convolution adds, gets all of it, and is a Gaussian then. */
START_TEST(convolutions_of_one_cell)
{
    enum { N = 2 };
    static const double spread[N] = {0.5, 2.3};
    const gbees_moving_frame frame = frame_at_rest(N, 0.5);
    const gbees_remap_options options = {.least = 1e-16, .threads = 1, .spread = spread, .convolves = 1};
    gbees_initial_cells cells = {0};
    double c[N * N], dropped = 0, fourth = 0;
    gbees_error error = {0};

    ck_assert(!gbees_initial_cells_reserve(&cells, N, 1));
    cells.count = 1;
    cells.index[0][0] = cells.index[1][0] = 3;
    cells.p[0] = 1;
    ck_assert_msg(gbees_remap(&cells, &frame, &frame, &options, &dropped, &error) == GBEES_OK, "%s", error.text);
    check_list(&cells, N);
    ck_assert_double_eq_tol(sum_of(&cells), 1, 1e-10);
    covariance_of(&cells, N, c);
    ck_assert_double_eq_tol(c[0], spread[0], 4e-3);
    ck_assert_double_eq_tol(c[3], spread[1], 1e-8);
    ck_assert_double_eq_tol(c[1], 0, 1e-12);
    for (size_t i = 0; i < cells.count; i++)
        fourth += cells.p[i] * pow(cells.index[1][i] - 3, 4);
    /* Of averages over cells: the fourth cumulant of a cell, -1/120, is in it. */
    ck_assert_double_eq_tol(fourth, 3 * spread[1] * spread[1] - 1. / 120, 1e-6);
    gbees_initial_cells_clear(&cells);
}
END_TEST

/* Enough cells for several threads. */
START_TEST(threads_do_not_matter)
{
    const gbees_moving_frame from = frame_at_rest(3, 0.25), to = turned(&from, 1, 0.3, 1.2);
    gbees_initial_cells cells = gaussian(3, 4), others = list_copy(&cells, 3);

    remap(&cells, &from, &to, 1e-9, 1);
    remap(&others, &from, &to, 1e-9, 3);
    ck_assert_uint_gt(cells.count, 10000);
    ck_assert(is_same(&cells, &others, 3));
    gbees_initial_cells_clear(&cells);
    gbees_initial_cells_clear(&others);
}
END_TEST

/* The same frame gives the same cells, to the last bit. */
START_TEST(the_same_frame)
{
    const int n = _i;
    const gbees_moving_frame frame = some_frame(n, 7);
    gbees_initial_cells cells = rough(n), before = list_copy(&cells, n);

    remap(&cells, &frame, &frame, 0, 2);
    ck_assert(is_same(&cells, &before, n));
    gbees_initial_cells_clear(&cells);
    gbees_initial_cells_clear(&before);
}
END_TEST

/* Axes that change places, change their sign and are shifted by whole cells: P stays to the last bit. */
START_TEST(a_permutation_is_exact)
{
    const int n = 3;
    const gbees_moving_frame from = frame_at_rest(n, 0.5);
    /* y'_0 = -y_1 + 3, y'_1 = y_2, y'_2 = y_0 - 5: A_to and m_to so that x is the same */
    const gbees_moving_frame to = {.n = n, .m = {2.5, 1.5, 0}, .a = {0, 0, 0.5, -0.5, 0, 0, 0, 0.5, 0}};
    gbees_initial_cells cells = rough(n), before = list_copy(&cells, n);
    const int32_t base = 40;
    size_t found = 0;

    remap(&cells, &from, &to, 0, 2);
    ck_assert_uint_eq(cells.count, before.count);
    double *dense = calloc(8u << 18, sizeof *dense);
    ck_assert_ptr_nonnull(dense);
    for (size_t i = 0; i < before.count; i++)
        dense[((before.index[0][i] + base) * 128 + before.index[1][i] + base) * 128 + before.index[2][i] + base] =
            before.p[i];
    for (size_t i = 0; i < cells.count; i++) {
        const int32_t y[] = {cells.index[2][i] + 5, 3 - cells.index[0][i], cells.index[1][i]};

        found += dense[((y[0] + base) * 128 + y[1] + base) * 128 + y[2] + base] == cells.p[i];
    }
    ck_assert_uint_eq(found, cells.count);
    free(dense);
    gbees_initial_cells_clear(&cells);
    gbees_initial_cells_clear(&before);
}
END_TEST

/* Cells twice as wide hold the sum of two, where their edges meet. */
START_TEST(wider_cells_hold_sums)
{
    const gbees_moving_frame from = {.n = 1, .m = {0}, .a = {1}}, to = {.n = 1, .m = {0.5}, .a = {2}};
    gbees_initial_cells cells = rough(1), before = list_copy(&cells, 1);

    remap(&cells, &from, &to, 0, 1);
    for (size_t i = 0; i < cells.count; i++) {
        double sum = 0;

        for (size_t k = 0; k < before.count; k++)
            sum += before.index[0][k] == 2 * cells.index[0][i] || before.index[0][k] == 2 * cells.index[0][i] + 1
                       ? before.p[k]
                       : 0;
        ck_assert_double_eq_tol(cells.p[i], sum, 4 * DBL_EPSILON * sum);
    }
    gbees_initial_cells_clear(&cells);
    gbees_initial_cells_clear(&before);
}
END_TEST

/* ---- no cells, no frames ---- */

/* Nothing stays nothing; and of cells that are all below the least P nothing is left but their mass. */
START_TEST(no_cells)
{
    const gbees_moving_frame from = frame_at_rest(2, 1), to = turned(&from, 0, 0.5, 1);
    gbees_initial_cells cells = _i == 0 ? list_empty(2, 0) : rough(2);

    remap(&cells, &from, &to, 2, 2);
    ck_assert_uint_eq(cells.count, 0);
    gbees_initial_cells_clear(&cells);
}
END_TEST

START_TEST(bad_frames_are_errors)
{
    static const char *const texts[] = {"singular", "singular", "not finite", "too different"};
    gbees_moving_frame from = frame_at_rest(2, 1), to = from;
    gbees_initial_cells cells = rough(2), before = list_copy(&cells, 2);
    const gbees_remap_options options = {.threads = 1};
    gbees_error error = {0};
    double dropped = 7;

    if (_i == 0)
        to.a[3] = 0;
    else if (_i == 1)
        from.a[3] = 0;
    else if (_i == 2)
        to.m[0] = NAN;
    else
        to.m[0] = 1e12;
    ck_assert_int_eq(gbees_remap(&cells, &from, &to, &options, &dropped, &error), GBEES_ENUMERIC);
    ck_assert_msg(strstr(error.text, texts[_i]) != NULL, "%s", error.text);
    ck_assert(is_same(&cells, &before, 2));
    ck_assert_double_eq(dropped, 7);
    gbees_initial_cells_clear(&cells);
    gbees_initial_cells_clear(&before);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("remap");
    TCase *remaps = tcase_create("remaps");

    tcase_set_timeout(remaps, 60);
    tcase_add_loop_test(remaps, turned_gaussians, 0, 8);
    tcase_add_loop_test(remaps, rough_cells, 0, 12);
    tcase_add_loop_test(remaps, diffusion_adds_variances, 0, 2);
    tcase_add_test(remaps, convolutions_of_one_cell);
    tcase_add_test(remaps, threads_do_not_matter);
    tcase_add_loop_test(remaps, the_same_frame, 1, 6);
    tcase_add_test(remaps, a_permutation_is_exact);
    tcase_add_test(remaps, wider_cells_hold_sums);
    tcase_add_loop_test(remaps, no_cells, 0, 2);
    tcase_add_loop_test(remaps, bad_frames_are_errors, 0, 4);
    suite_add_tcase(suite, remaps);
    return run_suite(suite);
}
