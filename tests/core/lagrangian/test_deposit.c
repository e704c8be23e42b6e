/* test_deposit.c - the density of lattices on cells: Gaussians under linear flows and a shear, whose averages over
 * cells are known; mass, order, threads, lattices with holes, several lattices. */
#include "fixtures/cell_list.h"
#include "fixtures/suite.h"
#include "lagrangian/deposit.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define TAIL 6.0 /* deviations to which a lattice reaches */

/* ---- problems, lattices, flows ---- */

/* Where a point x0 has gone, and log |det dx/dx0|. */
typedef double flow(int n, const double *x0, double *x);

/* R = the product of rotations in all planes by angles that are no fractions of each other. */
static void turn(int n, double angle, double *r)
{
    for (int i = 0; i < n * n; i++)
        r[i] = i / n == i % n;
    for (int j = 0; j < n; j++)
        for (int k = j + 1; k < n; k++, angle += 0.7)
            for (int i = 0; i < n; i++) {
                const double a = r[i * n + j], b = r[i * n + k];

                r[i * n + j] = cos(angle) * a + sin(angle) * b;
                r[i * n + k] = cos(angle) * b - sin(angle) * a;
            }
}

/* Makes a lattice of a standard Gaussian about `mean`, turned, with points out to `tail` deviations. */
static gbees_lattice *lattice_of(int n, const double *mean, double spacing, double tail, flow *go)
{
    double origin[GBEES_MAX_DIM], axes[GBEES_MATRIX];
    const int reach = (int)(tail / spacing) + 2;
    gbees_lattice *lattice = NULL;
    gbees_error error;

    turn(n, 0.4, axes);
    for (int i = 0; i < n * n; i++)
        axes[i] *= spacing;
    for (int j = 0; j < n; j++)
        origin[j] = mean[j] + spacing * (0.31 - 0.17 * j);
    ck_assert_msg(!gbees_lattice_create(n, origin, axes, &lattice, &error), "%s", error.text);
    gbees_site site = {{0}};
    for (int j = 0; j < n; j++)
        site.z[j] = (int16_t)-reach;
    for (int j = 0; j >= 0;) {
        double x0[GBEES_MAX_DIM], x[GBEES_MAX_DIM], square = 0;

        gbees_lattice_start(lattice, &site, x0);
        for (int k = 0; k < n; k++)
            square += (x0[k] - mean[k]) * (x0[k] - mean[k]);
        if (square < tail * tail) {
            const uint32_t i = lattice->count;

            ck_assert(!gbees_lattice_append(lattice, &site, &error));
            lattice->log_weight[i] = -square / 2;
            lattice->stretch[i] = go(n, x0, x);
            for (int k = 0; k < n; k++)
                lattice->x[k][i] = x[k];
        }
        for (j = n - 1; j >= 0 && ++site.z[j] > reach; j--)
            site.z[j] = (int16_t)-reach;
    }
    return lattice;
}

/* x = F x0: stretched along turned axes. */
static void linear_matrix(int n, double *f)
{
    double q[GBEES_MATRIX];

    turn(n, 1.1, q);
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            f[j * n + k] = q[j * n + k] * (k == 0 ? 2 : k == 1 ? 0.65 : 0.9);
}

static double linear_flow(int n, const double *x0, double *x)
{
    double f[GBEES_MATRIX];

    linear_matrix(n, f);
    for (int j = 0; j < n; j++) {
        x[j] = 0.3 * j;
        for (int k = 0; k < n; k++)
            x[j] += f[j * n + k] * x0[k];
    }
    return log(fabs(gbees_matrix_determinant(n, f)));
}

/* x2 += a x1^2: a bent density. */
static double shear_flow(int n, const double *x0, double *x)
{
    memcpy(x, x0, (size_t)n * sizeof *x);
    x[1] += 0.4 * x0[0] * x0[0];
    return 0;
}

static const double centre[GBEES_MAX_DIM] = {0.2, -0.1, 0.4};

/* The exact density of the Gaussian about `centre` under each flow. */
static double linear_density(int n, const double *x)
{
    double f[GBEES_MATRIX], x0[GBEES_MAX_DIM], square = 0;

    linear_matrix(n, f);
    for (int j = 0; j < n; j++)
        x0[j] = x[j] - 0.3 * j;
    const double determinant = fabs(gbees_matrix_determinant(n, f));
    ck_assert(!gbees_matrix_solve(n, f, 1, x0));
    for (int j = 0; j < n; j++)
        square += (x0[j] - centre[j]) * (x0[j] - centre[j]);
    return exp(-square / 2) / determinant * pow(2 * acos(-1), -n / 2.);
}

static double shear_density(int n, const double *x)
{
    double square = 0;

    for (int j = 0; j < n; j++) {
        const double x0 = j == 1 ? x[1] - 0.4 * x[0] * x[0] : x[j];

        square += (x0 - centre[j]) * (x0 - centre[j]);
    }
    return exp(-square / 2) * pow(2 * acos(-1), -n / 2.);
}

static gbees_problem problem_of(int n, double width)
{
    gbees_problem problem = {.dimension = n};

    for (int j = 0; j < n; j++) {
        problem.mean[j] = 0.05 * j - 0.3;
        problem.width[j] = width * (1 + 0.2 * j);
    }
    return problem;
}

/* The integral of a density over a cell, by Gauss's rule with five points an axis. */
static double exact_mass(const gbees_problem *problem, const int32_t *index, double (*density)(int, const double *))
{
    static const double point[] = {-0.9061798459386640, -0.5384693101056831, 0, 0.5384693101056831,
                                   0.9061798459386640},
                        weight[] = {0.2369268850561891, 0.4786286704993665, 0.5688888888888889, 0.4786286704993665,
                                    0.2369268850561891};
    const int n = problem->dimension, points = n == 2 ? 25 : 125;
    double sum = 0;

    for (int k = 0; k < points; k++) {
        double y[GBEES_MAX_DIM], x[GBEES_MAX_DIM], share = 1;

        for (int j = 0, rest = k; j < n; j++, rest /= 5) {
            y[j] = problem->mean[j] + problem->width[j] * (index[j] + point[rest % 5] / 2);
            share *= problem->width[j] * weight[rest % 5] / 2;
        }
        gbees_problem_point(problem, y, x);
        sum += share * density(n, x);
    }
    return sum;
}

/* The total variation between cells and a density. */
static double variation(const gbees_problem *problem, const gbees_initial_cells *cells,
                        double (*density)(int, const double *))
{
    double sum = 0, inside = 0;

    for (size_t i = 0; i < cells->count; i++) {
        int32_t index[GBEES_MAX_DIM];

        for (int j = 0; j < problem->dimension; j++)
            index[j] = cells->index[j][i];
        const double exact = exact_mass(problem, index, density);

        sum += fabs(cells->p[i] - exact);
        inside += exact;
    }
    return (sum + 1 - inside) / 2;
}

static gbees_initial_cells deposit(const gbees_problem *problem, gbees_lattice *lattice, int threads, double least,
                                   gbees_deposit_report *report)
{
    const gbees_deposit_options options = {.threads = threads, .least = least};
    gbees_initial_cells cells = {0};
    gbees_error error;

    ck_assert_msg(!gbees_deposit_cells(problem, 1, &lattice, NULL, &options, &cells, report, &error), "%s",
                  error.text);
    return cells;
}

/* ---- tests ---- */

START_TEST(a_gaussian_under_a_linear_flow)
{
    for (int n = 2; n <= 3; n++) {
        const gbees_problem problem = problem_of(n, 0.5);
        gbees_lattice *lattice = lattice_of(n, centre, 0.8, TAIL, linear_flow);
        gbees_deposit_report report;
        const clock_t begin = clock();
        gbees_initial_cells cells = deposit(&problem, lattice, 1, 1e-9, &report);
        const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
        const double off = variation(&problem, &cells, linear_density);

        printf("n %d: %u points, %zu cells, %llu parts, %.3f s, variation %.2e, misplaced %.1e dropped %.1e\n", n,
               lattice->count, cells.count, (unsigned long long)report.parts, seconds, off, report.misplaced,
               report.dropped);
        ck_assert_double_lt(off, 1e-4);
        gbees_initial_cells_clear(&cells);
        gbees_lattice_destroy(lattice);
    }
}
END_TEST

START_TEST(a_gaussian_that_is_bent)
{
    for (int n = 2; n <= 3; n++) {
        const gbees_problem problem = problem_of(n, 0.5);
        gbees_lattice *lattice = lattice_of(n, centre, 0.8, TAIL, shear_flow);
        gbees_deposit_report report;
        gbees_initial_cells cells = deposit(&problem, lattice, 1, 1e-9, &report);
        const double off = variation(&problem, &cells, shear_density);

        printf("n %d: %u points, %zu cells, %llu parts, variation %.2e, misplaced %.1e\n", n, lattice->count,
               cells.count, (unsigned long long)report.parts, off, report.misplaced);
        ck_assert_double_lt(off, 5e-3);
        gbees_initial_cells_clear(&cells);
        gbees_lattice_destroy(lattice);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("deposit");
    TCase *cells = tcase_create("cells");

    tcase_set_timeout(cells, 60);
    tcase_add_test(cells, a_gaussian_under_a_linear_flow);
    tcase_add_test(cells, a_gaussian_that_is_bent);
    suite_add_tcase(suite, cells);
    return run_suite(suite);
}
