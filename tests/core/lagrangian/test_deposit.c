/* test_deposit.c - the density of lattices on cells: Gaussians under linear flows and a shear, whose averages over
 * cells are known; mass, order, threads, lattices with holes, several lattices. */
#include "fixtures/cell_list.h"
#include "fixtures/flow_lattice.h"
#include "fixtures/suite.h"
#include "lagrangian/deposit.h"
#include <math.h>
#include <string.h>

#define TAIL 6.0 /* deviations to which a lattice reaches */

static const double centre[GBEES_MAX_DIM] = {0.2, -0.1, 0.4, 0.3, -0.2, 0.1};

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

static gbees_initial_cells deposit(const gbees_problem *problem, int lattices, gbees_lattice *const *lattice,
                                   const double *log_factor, const gbees_deposit_options *options,
                                   gbees_deposit_report *report)
{
    gbees_initial_cells cells = {0};
    gbees_error error;

    ck_assert_msg(!gbees_deposit_cells(problem, lattices, lattice, log_factor, options, &cells, report, &error), "%s",
                  error.text);
    return cells;
}

/* Every cell positive, once, in lexicographic order, and their sum 1. */
static void check_list(const gbees_initial_cells *cells, int n)
{
    for (size_t i = 0; i < cells->count; i++) {
        int order = i == 0 ? 1 : 0;

        ck_assert(cells->p[i] > 0);
        for (int j = 0; j < n && !order; j++)
            order = (cells->index[j][i] > cells->index[j][i - 1]) - (cells->index[j][i] < cells->index[j][i - 1]);
        ck_assert_msg(order > 0, "cell %zu of %zu is out of order", i, cells->count);
    }
    ck_assert_double_eq_tol(list_sum(cells), 1, 1e-12);
    ck_assert_double_eq(cells->mass, 1);
}

/* What the report says of the cells is more than the error, but not much. */
static void check_variation(double off, const gbees_deposit_report *report)
{
    ck_assert_double_gt(report->variation, off);
    ck_assert_double_lt(report->variation, 30 * off + 1e-6);
}

/* The total variation between a density on cells of a problem and what is deposited on them. */
static double deposit_error(const gbees_problem *problem, double spacing, flow *go,
                            double (*density)(int, const double *))
{
    const gbees_deposit_options options = {.threads = 2, .least = 1e-9};
    gbees_lattice *lattice = lattice_of(problem->dimension, centre, spacing, TAIL, go);
    gbees_deposit_report report;
    gbees_initial_cells cells = deposit(problem, 1, &lattice, NULL, &options, &report);
    const double off = variation(problem, &cells, density);

    check_list(&cells, problem->dimension);
    ck_assert_double_lt(report.misplaced, 1e-5); /* polynomials of second degree are exact but at the rim */
    ck_assert_double_lt(report.dropped, 1e-8);
    ck_assert(report.left_out == 0 && report.parts > lattice->count);
    check_variation(off, &report);
    gbees_initial_cells_clear(&cells);
    gbees_lattice_destroy(lattice);
    return off;
}

/* The total variation between two lists in lexicographic order. */
static double list_difference(const gbees_initial_cells *a, const gbees_initial_cells *b, int n)
{
    double sum = 0;

    for (size_t i = 0, k = 0; i < a->count || k < b->count;) {
        int order = i == a->count ? 1 : k == b->count ? -1 : 0;

        for (int j = 0; j < n && i < a->count && k < b->count && !order; j++)
            order = (a->index[j][i] > b->index[j][k]) - (a->index[j][i] < b->index[j][k]);
        sum += fabs((order <= 0 ? a->p[i] : 0) - (order >= 0 ? b->p[k] : 0));
        i += order <= 0;
        k += order >= 0;
    }
    return sum / 2;
}

/* ---- cells ---- */

START_TEST(a_gaussian_under_a_linear_flow)
{
    for (int n = 2; n <= 3; n++) {
        const gbees_problem problem = problem_of(n, 0.5);

        ck_assert_double_lt(deposit_error(&problem, 0.8, linear_flow, linear_density), 1e-4);
    }
}
END_TEST

START_TEST(a_gaussian_that_is_bent)
{
    for (int n = 2; n <= 3; n++) {
        const gbees_problem problem = problem_of(n, 0.5);

        ck_assert_double_lt(deposit_error(&problem, 0.8, shear_flow, shear_density), n == 2 ? 1e-4 : 1e-3);
    }
}
END_TEST

/* A density that is stretched, bent and much thinner than cells: the images of the lattice's axes are nearly
 * parallel.
 */
static double sheet_flow(int n, const double *x0, double *x)
{
    (void)n;
    x[0] = 4 * x0[0];
    x[1] = 0.02 * x0[1] + 0.3 * x0[0] * x0[0];
    return log(4 * 0.02);
}

static double normal_below(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

/* The mass of a cell: Simpson's rule along x[0], along which x[1] is normal. */
static double sheet_mass(const gbees_problem *problem, const int32_t *index)
{
    enum { STEPS = 400 };
    const double low = problem->mean[0] + problem->width[0] * (index[0] - 0.5), step = problem->width[0] / STEPS,
                 bottom = problem->mean[1] + problem->width[1] * (index[1] - 0.5);
    double sum = 0;

    for (int k = 0; k <= STEPS; k++) {
        const double x0 = (low + k * step) / 4, middle = 0.3 * x0 * x0 + 0.02 * centre[1];
        const double inside =
            normal_below((bottom + problem->width[1] - middle) / 0.02) - normal_below((bottom - middle) / 0.02);

        sum += (k == 0 || k == STEPS ? 1
                : k % 2              ? 4
                                     : 2) *
               inside * exp(-(x0 - centre[0]) * (x0 - centre[0]) / 2) * step / 3 / 4 / sqrt(2 * acos(-1));
    }
    return sum;
}

START_TEST(a_sheet_thinner_than_cells)
{
    const gbees_problem problem = problem_of(2, 0.5);
    const gbees_deposit_options options = {.threads = 2, .least = 1e-9, .parts = 1e5};
    gbees_lattice *lattice = lattice_of(2, centre, 0.6, TAIL, sheet_flow);
    gbees_deposit_report report;
    gbees_initial_cells cells = deposit(&problem, 1, &lattice, NULL, &options, &report);
    double off = 0, inside = 0;

    check_list(&cells, 2);
    for (size_t i = 0; i < cells.count; i++) {
        const int32_t index[] = {cells.index[0][i], cells.index[1][i]};
        const double exact = sheet_mass(&problem, index);

        off += fabs(cells.p[i] - exact);
        inside += exact;
    }
    off = (off + 1 - inside) / 2;
    ck_assert_double_lt(off, 2e-3);
    check_variation(off, &report);
    gbees_initial_cells_clear(&cells);
    gbees_lattice_destroy(lattice);
}
END_TEST

START_TEST(cells_of_a_rotated_grid)
{
    gbees_problem problem = problem_of(2, 0.5);
    double *inverse = problem.parameters + GBEES_FRAME_INVERSE;

    problem.rotated = 1;
    turn(2, 0.3, problem.rotation);
    for (int k = 0; k < 4; k++)
        inverse[k] = problem.rotation[k % 2 * 2 + k / 2];
    problem.centre[0] = 0.7;
    ck_assert_double_lt(deposit_error(&problem, 0.8, linear_flow, linear_density), 1e-4);
}
END_TEST

START_TEST(threads_do_not_change_a_bit)
{
    const gbees_problem problem = problem_of(3, 0.5);
    gbees_lattice *lattice = lattice_of(3, centre, 0.8, TAIL, shear_flow);
    gbees_initial_cells first = {0};
    gbees_deposit_report told[3];

    for (int threads = 1; threads <= 3; threads++) {
        const gbees_deposit_options options = {.threads = threads, .least = 1e-9};
        gbees_initial_cells cells = deposit(&problem, 1, &lattice, NULL, &options, &told[threads - 1]);

        if (threads == 1)
            first = list_copy(&cells, 3);
        ck_assert(told[threads - 1].dropped == told[0].dropped && told[threads - 1].variation == told[0].variation);
        ck_assert_uint_eq(cells.count, first.count);
        ck_assert(!memcmp(cells.p, first.p, cells.count * sizeof *cells.p));
        for (int j = 0; j < 3; j++)
            ck_assert(!memcmp(cells.index[j], first.index[j], cells.count * sizeof *cells.index[j]));
        gbees_initial_cells_clear(&cells);
    }
    gbees_initial_cells_clear(&first);
    gbees_lattice_destroy(lattice);
}
END_TEST

/* Points that have left every bound: what is far from them stays as it was, and their weight is told. */
START_TEST(points_without_a_place)
{
    const gbees_problem problem = problem_of(2, 0.5);
    const gbees_deposit_options options = {.threads = 1, .least = 1e-9};
    gbees_lattice *lattice = lattice_of(2, centre, 0.8, TAIL, shear_flow);
    gbees_deposit_report report;
    double out = 0, all = 0, off = 0, sum = 0;

    for (uint32_t i = 0; i < lattice->count; i++) {
        const double weight = exp(lattice->log_weight[i]);
        const int lost = lattice->x[0][i] < -2.2;

        all += weight;
        out += lost ? weight : 0;
        if (lost)
            lattice->x[i % 2][i] = i % 3 ? NAN : INFINITY;
    }
    gbees_initial_cells cells = deposit(&problem, 1, &lattice, NULL, &options, &report);
    check_list(&cells, 2);
    ck_assert_double_eq_tol(report.left_out, out / all, 1e-14);
    ck_assert(out / all > 1e-3);
    for (size_t i = 0; i < cells.count; i++) {
        const int32_t index[] = {cells.index[0][i], cells.index[1][i]};
        const double exact = exact_mass(&problem, index, shear_density) / (1 - out / all);

        if (problem.mean[0] + problem.width[0] * (index[0] - 1) > -0.5) {
            off += fabs(cells.p[i] - exact);
            sum += exact;
        }
    }
    ck_assert(sum > 0.5);
    ck_assert_double_lt(off / 2, 2e-3);
    gbees_initial_cells_clear(&cells);
    gbees_lattice_destroy(lattice);
}
END_TEST

/* Each lattice has the fraction of the mass that its weights and its factor have, to rounding. */
START_TEST(several_lattices)
{
    static const double away[] = {25, 3, 1};
    const gbees_problem problem = problem_of(3, 0.5);
    const gbees_deposit_options options = {.threads = 2, .least = 0};
    gbees_lattice *lattice[] = {lattice_of(3, centre, 0.8, TAIL, shear_flow),
                                lattice_of(3, away, 0.9, TAIL, linear_flow)};
    double log_factor[] = {log(0.2), log(0.3)}, mass[2] = {0}, part = 0;

    for (int l = 0; l < 2; l++)
        for (uint32_t i = 0; i < lattice[l]->count; i++)
            mass[l] += exp(lattice[l]->log_weight[i] + log_factor[l]);
    gbees_initial_cells cells = deposit(&problem, 2, lattice, log_factor, &options, NULL);
    check_list(&cells, 3);
    for (size_t i = 0; i < cells.count; i++) /* the linear flow takes the second one to x[2] = 20 or more */
        part += problem.mean[2] + problem.width[2] * cells.index[2][i] > 10 ? cells.p[i] : 0;
    ck_assert_double_eq_tol(part, mass[1] / (mass[0] + mass[1]), 1e-10);
    gbees_initial_cells_clear(&cells);
    for (int l = 0; l < 2; l++)
        gbees_lattice_destroy(lattice[l]);
}
END_TEST

START_TEST(what_is_refused)
{
    const gbees_problem problem = problem_of(3, 0.05);
    gbees_deposit_options options = {.threads = 1, .bytes = 1e5};
    gbees_lattice *lattice = lattice_of(3, centre, 0.8, 3, linear_flow);
    gbees_initial_cells cells = {0};
    gbees_error error;

    ck_assert_int_eq(gbees_deposit_cells(&problem, 1, &lattice, NULL, &options, &cells, NULL, &error), GBEES_ENOMEM);
    ck_assert(strstr(error.text, "wider"));
    for (uint32_t i = 0; i < lattice->count; i++)
        lattice->log_weight[i] = -INFINITY;
    options.bytes = 0;
    ck_assert_int_eq(gbees_deposit_cells(&problem, 1, &lattice, NULL, &options, &cells, NULL, &error),
                     GBEES_ENUMERIC);
    ck_assert(cells.count == 0 && !cells.p);
    gbees_lattice_destroy(lattice);
}
END_TEST

/* ---- Lorenz '63 ---- */

static void lorenz_drift(const double *x, double *f)
{
    f[0] = 4 * (x[1] - x[0]);
    f[1] = -x[1] - x[0] * x[2];
    f[2] = -x[2] + x[0] * x[1] - 48;
}

/* Lorenz '63 until t = 1, by steps of the classical Runge-Kutta method. */
static double lorenz_flow(int n, const double *x0, double *x)
{
    static const double stage[] = {0, 0.5, 0.5, 1}, weight[] = {1 / 6., 1 / 3., 1 / 3., 1 / 6.};
    const double step = 1 / 200.;

    memcpy(x, x0, (size_t)n * sizeof *x);
    for (int s = 0; s < 200; s++) {
        double f[3] = {0}, at[3], sum[3] = {0};

        for (int k = 0; k < 4; k++) {
            for (int j = 0; j < 3; j++)
                at[j] = x[j] + step * stage[k] * f[j];
            lorenz_drift(at, f);
            for (int j = 0; j < 3; j++)
                sum[j] += step * weight[k] * f[j];
        }
        for (int j = 0; j < 3; j++)
            x[j] += sum[j];
    }
    return -6;
}

/* The mass of cells that are joined to the largest one by cells that have a face, an edge or a corner in common. */
static double joined_mass(const gbees_initial_cells *cells)
{
    size_t *queue = malloc(cells->count * sizeof *queue), end = 1, top = 0;
    bool *seen = calloc(cells->count, sizeof *seen);
    double sum = 0;

    for (size_t i = 0; i < cells->count; i++)
        top = cells->p[i] > cells->p[top] ? i : top;
    queue[0] = top;
    seen[top] = true;
    for (size_t next = 0; next < end; next++) {
        sum += cells->p[queue[next]];
        for (size_t i = 0; i < cells->count; i++) {
            int near = !seen[i];

            for (int j = 0; j < 3 && near; j++)
                near = abs(cells->index[j][i] - cells->index[j][queue[next]]) <= 1;
            if (near) {
                seen[i] = true;
                queue[end++] = i;
            }
        }
    }
    free(queue);
    free(seen);
    return sum;
}

/* A density that is bent, stretched twentyfold and thinner than its cells: no islands, and a lattice twice as dense
 * has nearly the same; the report tells when a lattice is too coarse. */
START_TEST(lorenz_without_islands)
{
    static const double mean[] = {-11.5, -10, 9.5}, spacing[] = {0.25, 0.4, 0.9};
    gbees_problem problem = {.dimension = 3, .width = {0.5, 0.5, 0.5}};
    gbees_initial_cells cells[3];
    gbees_deposit_report report[3];

    memcpy(problem.mean, mean, sizeof mean);
    for (int k = 0; k < 3; k++) {
        const gbees_deposit_options options = {.threads = 2, .least = 1e-4};
        gbees_lattice *lattice = lattice_of(3, mean, spacing[k], 5, lorenz_flow);

        cells[k] = deposit(&problem, 1, &lattice, NULL, &options, &report[k]);
        check_list(&cells[k], 3);
        gbees_lattice_destroy(lattice);
    }
    for (int k = 0; k < 2; k++)
        ck_assert_double_eq_tol(joined_mass(&cells[k]), 1, 1e-12);
    ck_assert_double_lt(report[0].misplaced, 0.01);
    ck_assert_double_lt(report[1].misplaced, 0.1);
    ck_assert_double_gt(report[2].misplaced, 0.5);
    ck_assert_double_lt(list_difference(&cells[0], &cells[1], 3), 0.05);
    for (int k = 0; k < 3; k++)
        gbees_initial_cells_clear(&cells[k]);
}
END_TEST

/* ---- marginals ---- */

/* The marginals of a Gaussian under the linear flow are Gaussians: x[j] has the variance of row j of F. */
START_TEST(marginals_of_a_gaussian)
{
    static const double spacing[] = {0, 0, 0.8, 0.8, 0.9, 0, 1.2};

    for (int n = 2; n <= 6; n += n == 4 ? 2 : 1) {
        const gbees_problem problem = problem_of(n, 0.5);
        const gbees_deposit_options options = {.threads = 2, .least = 1e-9};
        gbees_lattice *lattice = lattice_of(n, centre, spacing[n], n < 6 ? TAIL : 4.6, linear_flow);
        gbees_marginals *marginals;
        gbees_error error;
        double f[GBEES_MATRIX];

        ck_assert(!gbees_deposit_marginals(&problem, 1, &lattice, NULL, &options, &marginals, NULL, &error));
        linear_matrix(n, f);
        for (int j = 0; j < n; j++) {
            double mean = 0.3 * j, square = 0, off = 0, sum = 0;

            for (int k = 0; k < n; k++) {
                mean += f[j * n + k] * centre[k];
                square += f[j * n + k] * f[j * n + k];
            }
            for (uint64_t i = 0; i < marginals->length[j]; i++) {
                const double at = problem.mean[j] + problem.width[j] * ((double)marginals->first[j] + (double)i) -
                                  mean,
                             half = problem.width[j] / 2, scale = sqrt(2 * square);

                sum += marginals->line[j][i];
                off += fabs(marginals->line[j][i] - (erf((at + half) / scale) - erf((at - half) / scale)) / 2);
            }
            ck_assert_double_eq_tol(sum, 1, 1e-12);
            ck_assert_ptr_null(marginals->plane[0][j]);
            ck_assert_double_lt(off / 2, n < 6 ? 1e-4 : 2e-3); /* what a tail of 4.6 deviations cuts off */
        }
        free(marginals);
        gbees_lattice_destroy(lattice);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("deposit");
    TCase *cells = tcase_create("cells"), *lorenz = tcase_create("lorenz"), *others = tcase_create("others");

    tcase_set_timeout(cells, 120);
    tcase_add_test(cells, a_gaussian_under_a_linear_flow);
    tcase_add_test(cells, a_gaussian_that_is_bent);
    tcase_add_test(cells, a_sheet_thinner_than_cells);
    tcase_add_test(cells, cells_of_a_rotated_grid);
    tcase_add_test(cells, threads_do_not_change_a_bit);
    tcase_add_test(cells, points_without_a_place);
    tcase_add_test(cells, several_lattices);
    tcase_add_test(cells, what_is_refused);
    suite_add_tcase(suite, cells);
    tcase_set_timeout(lorenz, 240);
    tcase_add_test(lorenz, lorenz_without_islands);
    suite_add_tcase(suite, lorenz);
    tcase_set_timeout(others, 120);
    tcase_add_test(others, marginals_of_a_gaussian);
    suite_add_tcase(suite, others);
    return run_suite(suite);
}
