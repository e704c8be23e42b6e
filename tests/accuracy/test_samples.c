/* test_samples.c - Monte Carlo's samples of initial densities that are not one Gaussian on the model's axes:
 * mixtures, turned grids, bounds and records, against what is known of each. */
#include "audit/montecarlo.h"
#include "compare.h"
#include "fixtures/kalman.h"
#include "fixtures/suite.h"
#include "fixtures/world_fixture.h"
#include <stdlib.h>

enum { COUNT = 200000 };

static gbees_montecarlo *draw(const gbees_problem *problem, int cut)
{
    const gbees_montecarlo_options options = {.count = COUNT, .step = 0.01, .seed = 3, .cut = cut};
    gbees_montecarlo *samples = NULL;
    gbees_error error = {GBEES_OK, ""};

    ck_assert_msg(gbees_montecarlo_create(problem, &options, &samples, &error) == GBEES_OK, "%s", error.text);
    return samples;
}

static void check_moments(const gbees_montecarlo *samples, const double *mean, const double *covariance)
{
    const int n = samples->problem->dimension;
    gbees_sample_moments m;
    gbees_error error = {GBEES_OK, ""};

    ck_assert_msg(gbees_montecarlo_measure(samples, 0, &m, &error) == GBEES_OK, "%s", error.text);
    for (int j = 0; j < n; j++)
        ck_assert_double_eq_tol(m.mean[j], mean[j], 5 * m.mean_error[j]);
    for (int j = 0; j < n * n; j++)
        ck_assert_double_eq_tol(m.covariance[j], covariance[j], 5 * m.covariance_error[j]);
}

/* The share of the samples with state j from `low` to `high` is `share`, within five of its own deviations. */
static void check_share(const gbees_montecarlo *samples, int j, double low, double high, double share)
{
    double inside = 0;

    for (size_t i = 0; i < samples->count; i++)
        inside += samples->x[j][i] >= low && samples->x[j][i] < high;
    ck_assert_double_eq_tol(inside / COUNT, share, 5 * sqrt(share * (1 - share) / COUNT) + 1e-12);
}

/* What a standard Gaussian has below x. */
static double below(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

/* ---- mixtures ------------------------------------------------------------------------------------------------- */

START_TEST(a_whole_mixture)
{
    world w;

    world_create(
        &w, "linear",
        (setting_list){
            "initial=[{weight: 3, mean: [1, 2], covariance: [[1, 0.6], [0.6, 1]]}, {mean: [4, 0], covariance: "
            "[0.2, 0.1]}]",
            "width=0.1", _i ? "rotate=yes" : "rotate=no"});
    ck_assert_int_eq(w.problem->rotated, _i);
    gbees_montecarlo *samples = draw(w.problem, 0);
    check_moments(samples, (double[]){1.75, 1.5},
                  (double[]){0.8 + 0.1875 * 9, 0.45 - 0.1875 * 6, 0.45 - 0.1875 * 6, 0.775 + 0.1875 * 4});
    check_share(samples, 0, -INFINITY, 2, 0.75 * below(1) + 0.25 * below(-2 / sqrt(0.2)));
    gbees_montecarlo_destroy(samples);
    world_close(&w);
}
END_TEST

/* Two boxes that overlap and keep different shares of their Gaussians: in all of them is the sum of both. */
START_TEST(a_mixture_is_cut_at_its_boxes)
{
    double share[3] = {0}, edge[4];
    world w;

    world_create(
        &w, "linear",
        (setting_list){"dimension=1", "extent=1", "width=0.5",
                       "initial=[{weight: 3, mean: [0], covariance: [1]}, {mean: [1.6], covariance: [0.09]}]",
                       "measurements=[]"});
    const gbees_problem *p = w.problem;
    ck_assert_int_gt(p->gaussians[1].hi[0], p->gaussians[0].hi[0]);
    ck_assert_int_le(p->gaussians[1].lo[0], p->gaussians[0].hi[0] + 1);
    edge[0] = p->mean[0] + 0.5 * (p->gaussians[0].lo[0] - 0.5);
    edge[1] = p->mean[0] + 0.5 * (p->gaussians[0].hi[0] + 0.5);
    edge[2] = p->mean[0] + 0.5 * (p->gaussians[1].hi[0] + 0.5);
    for (int k = 0; k < 2; k++) {
        share[k] = 0.75 * (below(edge[k + 1]) - below(edge[k])) +
                   0.25 * (below((edge[k + 1] - 1.6) / 0.3) - below((edge[k] - 1.6) / 0.3));
        share[2] += share[k];
    }
    ck_assert_double_lt(share[2], 0.95);
    gbees_montecarlo *samples = draw(p, 1);
    check_share(samples, 0, edge[0], edge[2], 1);
    check_share(samples, 0, edge[0], edge[1], share[0] / share[2]);
    check_share(samples, 0, edge[1], edge[2], share[1] / share[2]);
    gbees_montecarlo_destroy(samples);
    world_close(&w);
}
END_TEST

/* ---- turned grids --------------------------------------------------------------------------------------------- */

#define TILTED "covariance=[[0.25, 0.18], [0.18, 0.2]]"

/* Samples are in the model's axes, and follow its own equations. */
START_TEST(a_turned_grid_has_the_models_flow)
{
    static const double parameters[] = {-0.1, 1.25, -0.8};
    kalman_state exact = {.n = 2, .mean = {2, 2}, .covariance = {0.25, 0.18, 0.18, 0.2}};
    gbees_error error = {GBEES_OK, ""};
    world w;

    world_create(&w, "linear", (setting_list){TILTED, "rotate=yes"});
    ck_assert_int_eq(w.problem->rotated, 1);
    gbees_montecarlo *samples = draw(w.problem, 0);
    check_moments(samples, exact.mean, exact.covariance);
    ck_assert_int_eq(gbees_montecarlo_advance(samples, 1.5, &error), 0);
    kalman_predict(&exact, parameters, 1.5);
    check_moments(samples, exact.mean, exact.covariance);
    const gbees_measurement measurement = {.time = 1.5, .size = 1, .value = {1.2}, .covariance = {0.05}};
    ck_assert_int_eq(gbees_montecarlo_update(samples, &measurement, &error), 0);
    (void)kalman_update(&exact, 1.2, 0.05);
    check_moments(samples, exact.mean, exact.covariance);
    gbees_montecarlo_destroy(samples);
    world_close(&w);
}
END_TEST

/* Along the grid's axes the Gaussian is uncorrelated, and cut like this: each axis' variance is that of a cut one. */
START_TEST(a_turned_box_cuts_along_its_axes)
{
    double covariance[4] = {0};
    world w;

    world_create(&w, "linear", (setting_list){TILTED, "rotate=yes", "extent=[1, 2]"});
    const gbees_problem *p = w.problem;
    const double *r = p->rotation;
    gbees_montecarlo *samples = draw(p, 1);
    for (int k = 0; k < 2; k++) {
        const double sigma = sqrt(p->covariance[3 * k]), edge = (p->extent[k] + 0.5) * p->width[k] / sigma;
        const double peak = exp(-edge * edge / 2) / sqrt(8 * atan(1));
        const double variance = sigma * sigma * (1 - 2 * edge * peak / (2 * below(edge) - 1));

        for (int j = 0; j < 4; j++)
            covariance[j] += r[2 * (j / 2) + k] * variance * r[2 * (j % 2) + k];
        for (size_t i = 0; i < COUNT; i++) {
            const double y = r[k] * (samples->x[0][i] - 2) + r[2 + k] * (samples->x[1][i] - 2);

            ck_assert(fabs(y) <= edge * sigma + 1e-12);
        }
    }
    check_moments(samples, (double[]){2, 2}, covariance);
    gbees_montecarlo_destroy(samples);
    world_close(&w);
}
END_TEST

/* The first record of a run on a turned grid is what its samples are drawn from, cell by cell. */
typedef struct first_record {
    gbees_snapshot snapshot;
    gbees_montecarlo *samples;
    double binned, coarse, distance[GBEES_MAX_DIM];
} first_record;

static int compare_record(void *context, const gbees_record *record, gbees_error *error)
{
    first_record *first = context;
    const gbees_problem *p = record->problem;
    gbees_snapshot *s = &first->snapshot, *wide = NULL;

    if (record->number > 0)
        return 0;
    *s =
        (gbees_snapshot){.dimension = p->dimension, .rotated = p->rotated, .count = gbees_cells_count(record->cells)};
    memcpy(s->rotation, p->rotation, sizeof s->rotation);
    memcpy(s->inverse, gbees_problem_inverse(p), sizeof s->inverse);
    memcpy(s->origin, p->rotated ? p->centre : p->mean, sizeof s->origin);
    memcpy(s->width, p->width, sizeof s->width);
    s->p = malloc(s->count * sizeof *s->p);
    for (int j = 0; j < s->dimension; j++)
        s->index[j] = malloc(s->count * sizeof *s->index[j]);
    gbees_cells_copy(record->cells, 0, s->count, s->index, s->p);
    int status = gbees_compare_binned(s, first->samples, &first->binned, NULL, error);
    if (!status)
        status = gbees_compare_marginals(s, first->samples, first->distance, error);
    if (!status)
        status = gbees_compare_coarsen(s, 2, &wide, error);
    if (!status)
        status = gbees_compare_binned(wide, first->samples, &first->coarse, NULL, error);
    gbees_snapshot_destroy(wide);
    for (int j = 0; j < s->dimension; j++)
        free(s->index[j]);
    free(s->p);
    return status;
}

static const setting_list compared[] = {
    {TILTED, "rotate=yes", "threshold=1e-9", "end=0.01", "measurements=[]"},
    {"initial=[{weight: 3, mean: [1, 2], covariance: [[1, 0.6], [0.6, 1]]}, {mean: [4, 0], covariance: [0.2, 0.1]}]",
     "width=0.2", "threshold=1e-9", "end=0.01", "measurements=[]"},
    {"initial=[{weight: 3, mean: [1, 2], covariance: [[1, 0.6], [0.6, 1]]}, {mean: [4, 0], covariance: [0.2, 0.1]}]",
     "width=0.2", "threshold=1e-9", "end=0.01", "measurements=[]", "rotate=yes"},
};

START_TEST(records_begin_with_the_samples)
{
    first_record first;
    const gbees_observer observer = {.context = &first, .record = compare_record};
    world w;

    world_create(&w, "linear", compared[_i]);
    first.samples = draw(w.problem, 1);
    ck_assert_msg(!world_run(&w, 1, &observer, NULL), "%s", w.error.text);
    /* Of m samples in k cells: k / (8 m) less than 1, and 0.9 / sqrt(m) apart. */
    ck_assert_double_gt(first.binned, 0.998);
    ck_assert_double_gt(first.coarse, 0.9994);
    for (int j = 0; j < 2; j++)
        ck_assert_double_lt(first.distance[j], 2.5 / sqrt(COUNT));
    gbees_montecarlo_destroy(first.samples);
    world_close(&w);
}
END_TEST

/* ---- bounds --------------------------------------------------------------------------------------------------- */

/* Cells of the box whose centre has J outside of the range hold nothing, and no sample. */
START_TEST(a_bound_leaves_cells_out)
{
    world w;
    size_t inside = 0;

    world_create(&w, "pcr3bp", (setting_list){"frame=fixed", "bound=off", "factor=1", "measurements=[]", "end=0.01"});
    gbees_problem bounded = *w.problem;
    gbees_montecarlo *all = draw(w.problem, 1), *some;
    bounded.bounded = 1;
    bounded.bound_low = 3.00007;
    bounded.bound_high = 3.00009;
    some = draw(&bounded, 1);
    for (size_t i = 0; i < COUNT; i++) {
        static const double zero[4];
        const double *column[4] = {&zero[0], &zero[1], &zero[2], &zero[3]};
        double centre[4], value;
        int same = 1;

        for (int j = 0; j < 4; j++) {
            const double h = bounded.width[j];

            centre[j] = bounded.mean[j] + h * floor((all->x[j][i] - bounded.mean[j]) / h + 0.5);
            same = same && all->x[j][i] == some->x[j][i];
        }
        bounded.functions->bound_d(1, 0, centre, column, bounded.parameters, &value);
        ck_assert_int_eq(same, value >= 3.00007 && value <= 3.00009); /* the others are drawn again */
        inside += (size_t)same;
    }
    ck_assert(inside > COUNT / 100 && inside < COUNT - COUNT / 100);
    gbees_montecarlo_destroy(all);
    gbees_montecarlo_destroy(some);
    world_close(&w);
}
END_TEST

/* ---- records -------------------------------------------------------------------------------------------------- */

enum { SIDE = 41 };

/* A Gaussian of deviations of 1.5 and 2 cells, uncorrelated on a grid that is turned or not, as cells: averages, or
 * values at centres. */
static void fill_cells(gbees_initial_cells *cells, int averages)
{
    const double sigma[2] = {1.5, 2};

    *cells = (gbees_initial_cells){.count = SIDE * SIDE, .p = malloc(SIDE * SIDE * sizeof(double))};
    for (int j = 0; j < 2; j++)
        cells->index[j] = malloc(SIDE * SIDE * sizeof(int32_t));
    for (int i = 0; i < SIDE * SIDE; i++) {
        cells->p[i] = 1;
        for (int j = 0; j < 2; j++) {
            const double place = (j ? i % SIDE : i / SIDE) - SIDE / 2;

            cells->index[j][i] = (int32_t)place;
            cells->p[i] *= averages ? below((fabs(place) + 0.5) / -sigma[j]) - below((fabs(place) - 0.5) / -sigma[j])
                                    : exp(-place * place / (2 * sigma[j] * sigma[j]));
        }
        cells->p[i] = fabs(cells->p[i]);
    }
}

START_TEST(a_record_has_its_own_moments)
{
    const int averages = _i % 2, turned = _i / 2;
    gbees_initial_cells cells;
    double covariance[4] = {0.09 * 2.25, 0, 0, 0.04 * 4};
    world w;

    world_create(&w, "linear", (setting_list){TILTED, turned ? "rotate=yes" : "rotate=no"});
    gbees_problem p = *w.problem;
    fill_cells(&cells, averages);
    p.cells = &cells;
    p.numerics.cell_values = averages ? GBEES_CELL_AVERAGES : GBEES_CELL_POINTS;
    p.width[0] = 0.3;
    p.width[1] = 0.2;
    if (turned) {
        const double *r = p.rotation, along = covariance[0], across = covariance[3];

        for (int j = 0; j < 4; j++)
            covariance[j] =
                r[2 * (j / 2)] * along * r[2 * (j % 2)] + r[2 * (j / 2) + 1] * across * r[2 * (j % 2) + 1];
    }
    gbees_montecarlo *samples = draw(&p, 1);
    check_moments(samples, (double[]){2, 2}, covariance);
    gbees_montecarlo_destroy(samples);
    for (int j = 0; j < 2; j++)
        free(cells.index[j]);
    free(cells.p);
    world_close(&w);
}
END_TEST

/* Each cell has its share, and inside it the density leans to where more is: 1 + slope * place. */
START_TEST(a_cells_share_and_slope)
{
    int32_t index[] = {-2, -1, 0, 3};
    double p[] = {0.1, 0.3, 0.4, 0.2};
    const gbees_initial_cells cells = {.count = 4, .index = {index}, .p = p};
    world w;

    world_create(&w, "linear",
                 (setting_list){"dimension=1", "mean=[0]", "covariance=[1]", "width=1", "measurements=[]"});
    gbees_problem problem = *w.problem;
    problem.cells = &cells;
    gbees_montecarlo *samples = draw(&problem, 1);
    for (int k = 0; k < 4; k++)
        check_share(samples, 0, index[k] - 0.5, index[k] + 0.5, p[k]);
    check_share(samples, 0, -1, -0.5, 0.3 * (0.5 + 0.5 / 8)); /* slope (0.4 - 0.1) / (2 0.3) = 0.5 */
    check_share(samples, 0, -2, -1.5, 0.1 * (0.5 + 1.5 / 8)); /* 0.3 / (2 0.1) = 1.5 */
    check_share(samples, 0, 3, 3.5, 0.1);                     /* no neighbours */
    gbees_montecarlo_destroy(samples);
    /* What would be below 0 at the cell's edge is not: 0.6 / (2 0.1) is made 2. */
    p[0] = 0.1, p[1] = 0.6, p[2] = 0.2, p[3] = 0.1;
    samples = draw(&problem, 1);
    check_share(samples, 0, -2, -1.5, 0.1 * (0.5 + 2.0 / 8));
    gbees_montecarlo_destroy(samples);
    world_close(&w);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("samples");
    TCase *all = tcase_create("all");

    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, a_whole_mixture, 0, 2);
    tcase_add_test(all, a_mixture_is_cut_at_its_boxes);
    tcase_add_test(all, a_turned_grid_has_the_models_flow);
    tcase_add_test(all, a_turned_box_cuts_along_its_axes);
    tcase_add_loop_test(all, records_begin_with_the_samples, 0, (int)(sizeof compared / sizeof *compared));
    tcase_add_test(all, a_bound_leaves_cells_out);
    tcase_add_loop_test(all, a_record_has_its_own_moments, 0, 4);
    tcase_add_test(all, a_cells_share_and_slope);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}
