/* test_spread.c - marginals along the states of oblique cells: mass, mean and covariance are those of a record, each
 * parallelepiped has its cell's probability, and a Gaussian on cells as wide as itself is one. */
#include "fixtures/suite.h"
#include <check.h>
#include <gbees/spread.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 3, HALF = 6, SIDE = 2 * HALF + 1, CELLS = SIDE * SIDE * SIDE };

/* Edges: along the states; oblique; long and thin along a diagonal. */
static const double matrix[][N * N] = {{1, 0, 0, 0, 2, 0, 0, 0, 0.5},
                                       {1, 0.5, -0.3, 0.2, 2, 0.1, 0.9, 0.05, -1},
                                       {1, 0.05, 0, 1, -0.05, 0.02, 0.1, 0, 0.3}};
enum { MATRICES = sizeof matrix / sizeof *matrix };

typedef struct lattice {
    double x[N][CELLS], p[CELLS];
    double mass, mean[N], covariance[N][N]; /* as a record has them: less h^2/12 of each edge */
    gbees_spread_edges edges;
} lattice;

static double average(int cell, double mean)
{
    return 0.5 * (erf((cell + 0.5 - mean) / sqrt(2)) - erf((cell - 0.5 - mean) / sqrt(2)));
}

static void set_moments(lattice *l)
{
    for (int i = 0; i < CELLS; i++) {
        l->mass += l->p[i];
        for (int d = 0; d < N; d++)
            l->mean[d] += l->p[i] * l->x[d][i];
    }
    for (int d = 0; d < N; d++)
        l->mean[d] /= l->mass;
    for (int i = 0; i < CELLS; i++)
        for (int d = 0; d < N * N; d++)
            l->covariance[d / N][d % N] +=
                l->p[i] / l->mass * (l->x[d / N][i] - l->mean[d / N]) * (l->x[d % N][i] - l->mean[d % N]);
    for (int d = 0; d < N * N; d++)
        for (int k = 0; k < N; k++)
            l->covariance[d / N][d % N] -= l->edges.along[d / N * N + k] * l->edges.along[d % N * N + k] / 12;
}

/* Averages over cells of the Gaussian of mean (0.2, -0.3, 0.1) and deviation 1, in cells; with ripples if asked for.
 */
static lattice *make_lattice(const double *edges, int has_ripples)
{
    lattice *l = calloc(1, sizeof *l);

    ck_assert_ptr_nonnull(l);
    l->edges.count = N;
    memcpy(l->edges.along, edges, sizeof l->edges.along / GBEES_MAX_DIM * N);
    for (int i = 0; i < CELLS; i++) {
        const int cell[N] = {i / SIDE / SIDE - HALF, i / SIDE % SIDE - HALF, i % SIDE - HALF};

        l->p[i] = average(cell[0], 0.2) * average(cell[1], -0.3) * average(cell[2], 0.1) *
                  (has_ripples ? 1 + 0.8 * sin(1.7 * cell[0] + cell[1]) : 1);
        for (int d = 0; d < N; d++)
            l->x[d][i] = 10 * d + edges[d * N] * cell[0] + edges[d * N + 1] * cell[1] + edges[d * N + 2] * cell[2];
    }
    set_moments(l);
    return l;
}

static gbees_spread *make_spread(const lattice *l, int dimension, int entries, size_t limit)
{
    gbees_spread_shape shape = {.dimension = dimension, .edges = l->edges, .entries = entries, .limit = limit};
    gbees_spread *made = NULL;
    gbees_error error;

    for (int d = 0; d < dimension; d++) {
        shape.least[d] = shape.most[d] = l->x[d][0];
        for (int i = 0; i < CELLS; i++) {
            shape.least[d] = fmin(shape.least[d], l->x[d][i]);
            shape.most[d] = fmax(shape.most[d], l->x[d][i]);
        }
    }
    ck_assert_msg(gbees_spread_create(&shape, &made, &error) == 0, "%s", error.text);
    return made;
}

static gbees_spread *spread_all(const lattice *l, int dimension, int entries, size_t limit)
{
    gbees_spread *made = make_spread(l, dimension, entries, limit);

    for (size_t first = 0; first < CELLS; first += 1000) {
        const size_t count = CELLS - first < 1000 ? CELLS - first : 1000;

        gbees_spread_add(made, count, (const double *const[]){l->x[0] + first, l->x[1] + first, l->x[2] + first},
                         l->p + first);
    }
    gbees_spread_finish(made, &l->edges);
    return made;
}

static void find_place(const gbees_spread *s, size_t entry, double *x)
{
    for (int d = N - 1; d >= 0; d--) {
        x[d] = d < s->dimension ? s->origin[d] + s->width[d] * (double)(entry % s->length[d]) : 0;
        entry /= s->length[d];
    }
}

static size_t count_entries(const gbees_spread *s)
{
    return s->length[0] * s->length[1] * s->length[2];
}

/* Sums up mass, mean and covariance about the lattice's mean. */
static void measure(const gbees_spread *s, const lattice *l, double *mass, double *mean, double *covariance)
{
    double x[N];

    *mass = 0;
    memset(mean, 0, N * sizeof *mean);
    memset(covariance, 0, N * N * sizeof *covariance);
    for (size_t i = 0; i < count_entries(s); i++) {
        find_place(s, i, x);
        *mass += s->p[i];
        for (int d = 0; d < s->dimension; d++) {
            mean[d] += s->p[i] * (x[d] - l->mean[d]);
            for (int e = 0; e < s->dimension; e++)
                covariance[d * N + e] += s->p[i] * (x[d] - l->mean[d]) * (x[e] - l->mean[e]);
        }
    }
}

/* Of one, two and three states, of which the last have two entries a cell only. */
START_TEST(moments_are_a_records)
{
    lattice *l = make_lattice(matrix[_i], 0);

    for (int dimension = 1; dimension <= N; dimension++) {
        gbees_spread *s = spread_all(l, dimension, dimension < 3 ? 8 : 2, 1 << 21);
        const double tolerance = dimension < 3 ? 1e-6 : 1e-4;
        double mass, mean[N], covariance[N * N];

        measure(s, l, &mass, mean, covariance);
        ck_assert_double_eq_tol(mass, l->mass, 1e-11);
        for (int d = 0; d < dimension; d++) {
            const double std = sqrt(l->covariance[d][d]);

            ck_assert_msg(fabs(mean[d]) < tolerance * std, "%d of %d: mean off by %.3g", d, dimension, mean[d] / std);
            for (int e = 0; e < dimension; e++) {
                const double off = (covariance[d * N + e] - l->covariance[d][e]) / std / sqrt(l->covariance[e][e]);

                ck_assert_msg(fabs(off) < 10 * tolerance, "%d, %d of %d: covariance off by %.3g", d, e, dimension,
                              off);
            }
        }
        gbees_spread_destroy(s);
    }
    free(l);
}
END_TEST

/* With cells as wide as its deviation. The parallelepipeds alone, of even density, would be 0.07 off. */
START_TEST(a_gaussian_stays_one)
{
    lattice *l = make_lattice(matrix[_i], 0);

    for (int dimension = 1; dimension <= 2; dimension++) {
        gbees_spread *s = spread_all(l, dimension, 8, 1 << 21);
        const double a = l->covariance[0][0], b = dimension == 2 ? l->covariance[0][1] : 0,
                     c = dimension == 2 ? l->covariance[1][1] : 1, determinant = a * c - b * b;
        const double volume = s->width[0] * (dimension == 2 ? s->width[1] : 1);
        double x[N], off = 0;

        for (size_t i = 0; i < count_entries(s); i++) {
            find_place(s, i, x);
            const double u = x[0] - l->mean[0], v = dimension == 2 ? x[1] - l->mean[1] : 0;
            const double exact = exp(-0.5 * (c * u * u - 2 * b * u * v + a * v * v) / determinant);

            off = fmax(off, fabs(s->p[i] / volume * pow(2 * M_PI, 0.5 * dimension) * sqrt(determinant) - exact));
        }
        ck_assert_msg(off < 0.02 * dimension, "%d states: %.3g of the peak", dimension, off);
        gbees_spread_destroy(s);
    }
    free(l);
}
END_TEST

/* The density at a point of two states. */
static double density_at(const gbees_spread *s, const double *x)
{
    double place[2], sum = 0;

    for (int d = 0; d < 2; d++)
        place[d] = (x[d] - s->origin[d]) / s->width[d];
    for (int corner = 0; corner < 4; corner++) {
        const size_t i = (size_t)place[0] + (size_t)(corner & 1), k = (size_t)place[1] + (size_t)(corner >> 1);

        sum += s->p[i * s->length[1] + k] * (1 - fabs(place[0] - (double)i)) * (1 - fabs(place[1] - (double)k));
    }
    return sum / s->width[0] / s->width[1];
}

/* Points of each parallelogram of a lattice in two states, whose cells differ from each other by ripples: the density
 * has the cell's probability there, and nothing of its neighbours'. */
START_TEST(cells_keep_their_probability)
{
    enum { POINTS = 24, STATES = 2 };
    const double e[STATES][STATES] = {{1, 0.5}, {-0.4, 2}};
    gbees_spread_edges edges = {.count = STATES, .along = {e[0][0], e[0][1], e[1][0], e[1][1]}};
    gbees_spread_shape shape = {
        .dimension = STATES, .edges = edges, .least = {-9, -15}, .most = {9, 15}, .entries = 16, .limit = 1 << 20};
    lattice *l = make_lattice(matrix[0], 1);
    double x[STATES][SIDE * SIDE], p[SIDE * SIDE];
    gbees_spread *s;
    gbees_error error;

    for (int i = 0; i < SIDE * SIDE; i++) {
        p[i] = l->p[i * SIDE + HALF];
        for (int d = 0; d < STATES; d++)
            x[d][i] = e[d][0] * (i / SIDE - HALF) + e[d][1] * (i % SIDE - HALF);
    }
    ck_assert_int_eq(gbees_spread_create(&shape, &s, &error), 0);
    gbees_spread_add(s, SIDE * SIDE, (const double *const[]){x[0], x[1]}, p);
    gbees_spread_finish(s, &edges);
    for (int i = 0; i < SIDE * SIDE; i++) {
        double sum = 0;

        for (int point = 0; point < POINTS * POINTS; point++) {
            const double u = (point % POINTS + 0.5) / POINTS - 0.5, v = (point / POINTS + 0.5) / POINTS - 0.5;

            sum +=
                density_at(s, (double[]){x[0][i] + e[0][0] * u + e[0][1] * v, x[1][i] + e[1][0] * u + e[1][1] * v});
        }
        sum *= (e[0][0] * e[1][1] - e[0][1] * e[1][0]) / POINTS / POINTS;
        ck_assert_msg(fabs(sum - p[i]) < 2e-3 * 0.06, "cell %d: %.4g, found %.4g", i, p[i], sum);
    }
    gbees_spread_destroy(s);
    free(l);
}
END_TEST

START_TEST(a_limit_makes_entries_wider)
{
    lattice *l = make_lattice(matrix[2], 0);
    gbees_spread *s = spread_all(l, 2, 8, 1 << 12);
    double mass, mean[N], covariance[N * N];

    ck_assert_uint_le(count_entries(s), 1 << 12);
    measure(s, l, &mass, mean, covariance);
    ck_assert_double_eq_tol(mass, l->mass, 1e-11);
    ck_assert_double_eq_tol(covariance[0], l->mass * l->covariance[0][0], 1e-3 * l->covariance[0][0]);
    gbees_spread_destroy(s);
    gbees_spread_destroy(NULL);
    free(l);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("spread");
    TCase *tests = tcase_create("all");

    tcase_add_loop_test(tests, moments_are_a_records, 0, MATRICES);
    tcase_add_loop_test(tests, a_gaussian_stays_one, 0, MATRICES);
    tcase_add_test(tests, cells_keep_their_probability);
    tcase_add_test(tests, a_limit_makes_entries_wider);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
