/* test_projection.c - marginals along the states of oblique cells: mass, mean and variance are those of a record's
 * statistics. */
#include "fixtures/suite.h"
#include "record/cells.h"
#include "solver/grid/projection.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 2, HALF = 12, SIDE = 2 * HALF + 1 };

/* Edges that are long, short, oblique; along the second state nothing of the first edge. */
static const double edges[][N * N] = {{1, 0, 0, 1}, {1, 0.5, -0.3, 2}, {1e-3, 5, 0, 1e-2}, {0.01, 0.02, 3, -4}};

typedef struct density {
    gbees_problem problem;
    gbees_cells *cells;
    double mass, mean[N], variance[N];
} density;

/* A Gaussian of 4 cells a deviation, its middle off the origin. */
static density *make_density(const double *rotation)
{
    density *made = calloc(1, sizeof *made);
    int32_t index[N];
    const int32_t *columns[N] = {&index[0], &index[1]};
    gbees_error error;

    ck_assert_ptr_nonnull(made);
    made->problem.dimension = N;
    made->problem.rotated = made->problem.moving = 1;
    memcpy(made->problem.rotation, rotation, N * N * sizeof *rotation);
    made->problem.centre[0] = 10;
    made->problem.centre[1] = -3;
    made->cells = gbees_cells_create(N);
    for (index[0] = -HALF; index[0] <= HALF; index[0]++)
        for (index[1] = -HALF; index[1] <= HALF; index[1]++) {
            const double p = exp(-(pow(index[0] - 1.3, 2) + pow(index[1] + 0.4, 2)) / 32) / 100;

            ck_assert_int_eq(gbees_cells_add(made->cells, 1, columns, &p), 0);
            made->mass += p;
            for (int j = 0; j < N; j++) {
                const double x =
                    made->problem.centre[j] + rotation[j * N] * index[0] + rotation[j * N + 1] * index[1];

                made->mean[j] += p * x;
                made->variance[j] += p * x * x;
            }
        }
    ck_assert_int_eq(gbees_cells_finish(made->cells, 1, &error), 0);
    for (int j = 0; j < N; j++) {
        made->problem.width[j] = 1;
        made->mean[j] /= made->mass;
        made->variance[j] = made->variance[j] / made->mass - pow(made->mean[j], 2);
        for (int k = 0; k < N; k++)
            made->variance[j] -= pow(rotation[j * N + k], 2) / 12;
    }
    return made;
}

static void free_density(density *p)
{
    gbees_cells_destroy(p->cells);
    free(p);
}

START_TEST(moments_of_a_projection)
{
    density *of = make_density(edges[_i]);
    gbees_projection *found = NULL;
    gbees_error error;

    ck_assert_msg(gbees_projection_create(&of->problem, of->cells, &found, &error) == 0, "%s", error.text);
    for (int j = 0; j < N; j++) {
        double mass = 0, mean = 0, variance = 0;
        const double width = found->width[j];

        for (size_t i = 0; i < found->length[j]; i++) {
            const double x = found->origin[j] + width * (double)i;

            mass += found->p[j][i];
            mean += found->p[j][i] * x;
            variance += found->p[j][i] * x * x;
        }
        mean /= mass;
        variance = variance / mass - mean * mean;
        ck_assert_double_eq_tol(mass, of->mass, 1e-12);
        ck_assert_double_eq_tol(mean, of->mean[j], 1e-9 * width);
        ck_assert_double_eq_tol(variance, of->variance[j], 1e-5 * of->variance[j]);
    }
    gbees_projection_destroy(found);
    free_density(of);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("projection");
    TCase *tests = tcase_create("all");

    tcase_add_loop_test(tests, moments_of_a_projection, 0, (int)(sizeof edges / sizeof *edges));
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
