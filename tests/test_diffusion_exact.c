/* test_diffusion_exact.c - process noise against what is known: moments of linear models, the density at rest of an
 * Ornstein-Uhlenbeck process, noise that grows with the state; all of second order. */
#include "cuda_engine_fixture.h"

/* ---- moments of dx = A x dt + noise, by Runge and Kutta ------------------------------------------------------- */

typedef struct moments {
    int n;
    double a[9], q[9], mean[3], covariance[9];
} moments;

static void slope(const moments *m, const double *mean, const double *p, double *dmean, double *dp)
{
    const int n = m->n;

    for (int j = 0; j < n; j++) {
        dmean[j] = 0;
        for (int k = 0; k < n; k++) {
            dmean[j] += m->a[j * n + k] * mean[k];
            dp[j * n + k] = m->q[j * n + k];
            for (int l = 0; l < n; l++)
                dp[j * n + k] += m->a[j * n + l] * p[l * n + k] + p[j * n + l] * m->a[k * n + l];
        }
    }
}

/* The classical method with 2000 steps: exact for what is asked here. */
static void carry_moments(moments *m, double time)
{
    static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    const double step = time / 2000;

    for (int s = 0; s < 2000; s++) {
        double mean[3], p[9], dmean[3] = {0}, dp[9] = {0}, mean_sum[3] = {0}, p_sum[9] = {0};

        for (int stage = 0; stage < 4; stage++) {
            for (int j = 0; j < m->n; j++)
                mean[j] = m->mean[j] + at[stage] * step * dmean[j];
            for (int j = 0; j < m->n * m->n; j++)
                p[j] = m->covariance[j] + at[stage] * step * dp[j];
            slope(m, mean, p, dmean, dp);
            for (int j = 0; j < m->n; j++)
                mean_sum[j] += weight[stage] * dmean[j];
            for (int j = 0; j < m->n * m->n; j++)
                p_sum[j] += weight[stage] * dp[j];
        }
        for (int j = 0; j < m->n; j++)
            m->mean[j] += step * mean_sum[j];
        for (int j = 0; j < m->n * m->n; j++)
            m->covariance[j] += step * p_sum[j];
    }
}

/* How far a run's last moments are from what its first ones become, in deviations. */
static double error_of(const a_case *c, const moments *model)
{
    kept_run *run = run_on(c, "cpu");
    const gbees_statistics *last = &run->record[run->count - 1].record.statistics;
    const gbees_statistics *first = &run->record[0].record.statistics;
    moments m = *model;
    double worst = 0;

    memcpy(m.mean, first->mean, sizeof m.mean);
    memcpy(m.covariance, first->covariance, sizeof m.covariance);
    carry_moments(&m, run->record[run->count - 1].record.time);
    ck_assert_double_lt(1 - last->mass, 1e-5);
    for (int j = 0; j < m.n; j++) {
        double sigma = sqrt(m.covariance[j * m.n + j]);

        worst = fmax(worst, fabs(last->mean[j] - m.mean[j]) / sigma);
        for (int k = 0; k < m.n; k++)
            worst = fmax(worst, fabs(last->covariance[j * m.n + k] - m.covariance[j * m.n + k]) /
                                    (sigma * sqrt(m.covariance[k * m.n + k])));
    }
    forget(run);
    return worst;
}

/* ---- the linear model --------------------------------------------------------------------------------------------
 */

static const struct {
    const char *dimension, *scheme, *end, *coarse, *fine;
    double ratio, least; /* of the errors, and the coarse one */
} linears[] = {
    {"dimension=1", "scheme=split5", "end=0.5", "factor=2", "factor=8", 12, 1e-2},
    {"dimension=2", "scheme=split5", "end=0.5", "factor=2", "factor=8", 12, 1e-2},
    {"dimension=3", "scheme=split5", "end=0.3", "factor=1", "factor=2", 2, 2e-2},
    {"dimension=1", "scheme=ctu-divergence", "end=0.5", "factor=2", "factor=8", 12, 2e-2},
    {"dimension=2", "scheme=ctu-divergence", "end=0.5", "factor=2", "factor=8", 12, 2e-2},
    {"dimension=3", "scheme=ctu-divergence", "end=0.3", "factor=1", "factor=2", 3, 5e-2},
};

START_TEST(linear_model_with_noise)
{
    a_case c = {"linear",
                "cpu",
                {linears[_i].dimension, linears[_i].scheme, linears[_i].coarse, "mean=[1, ...]",
                 "covariance=[0.25, ...]", "threshold=1e-10", "extent=4", linears[_i].end, "records=1",
                 "measurements=[]", "parameters.noise=0.4"}};
    moments m = {.n = linears[_i].dimension[10] - '0'};

    for (int j = 0; j < m.n; j++) {
        m.q[j * m.n + j] = 0.4;
        m.a[j * m.n + j] = -0.1;
        if (j + 1 < m.n)
            m.a[j * m.n + j + 1] = 1.25;
        if (j > 0)
            m.a[j * m.n + j - 1] = -0.8;
    }
    double coarse = error_of(&c, &m);
    c.settings[2] = linears[_i].fine;
    double fine = error_of(&c, &m);
    ck_assert_msg(coarse < linears[_i].least && fine * linears[_i].ratio < coarse, "errors %g, %g", coarse, fine);
}
END_TEST

/* Full Q, with a drift that turns what it does into both states; on grids that are turned, too: the third one's noise
 * is along one of the axes, the fourth one's along none. */
static const struct {
    const char *rotate, *covariance, *own, *beside;
    double q[2], ratio; /* of the errors */
} correlated[] = {
    {"rotate=no", "covariance=[0.25, 0.25]", "parameters.own=0.3", "parameters.beside=0.2", {0.3, 0.2}, 12},
    {"rotate=yes",
     "covariance=[[0.25, 0.1], [0.1, 0.25]]",
     "parameters.own=0.3",
     "parameters.beside=0.2",
     {0.3, 0.2},
     12},
    {"rotate=yes",
     "covariance=[[0.25, 0.1], [0.1, 0.25]]",
     "parameters.own=0.3",
     "parameters.beside=0.3",
     {0.3, 0.3},
     6},
    {"rotate=yes",
     "covariance=[[0.25, 0.05], [0.05, 0.2]]",
     "parameters.own=0.3",
     "parameters.beside=0.05",
     {0.3, 0.05},
     12},
};

START_TEST(correlated_noise)
{
    const double own = correlated[_i].q[0], beside = correlated[_i].q[1];
    a_case c = {"noise",
                "cpu",
                {"mean=[0.5, 0.5]", correlated[_i].covariance, "factor=2", "threshold=1e-10", "extent=4", "end=1",
                 "records=1", "parameters.growth=-0.5", "parameters.shear=1", correlated[_i].own,
                 correlated[_i].beside, correlated[_i].rotate}};
    const moments m = {.n = 2, .a = {-0.5, 1, 0, -0.5}, .q = {own, beside, beside, own}};
    double coarse = error_of(&c, &m);

    c.settings[2] = "factor=8";
    double fine = error_of(&c, &m);
    ck_assert_msg(coarse < 1e-2 && fine * correlated[_i].ratio < coarse, "errors %g, %g", coarse, fine);
}
END_TEST

/* The order in time alone: on one grid, what half the step changes is a quarter of what the step before changed. */
START_TEST(second_order_in_time)
{
    static const char *const steps[] = {"time_step=0.01", "time_step=0.005", "time_step=0.0025"};
    double variance[3];

    for (int k = 0; k < 3; k++) {
        const a_case c = {"noise",
                          "cpu",
                          {"dimension=1", "mean=[0]", "factor=4", "threshold=1e-14", "extent=5", "end=1", "records=1",
                           "precision=double", "prune_interval=1", steps[k], "parameters.growth=-1",
                           "parameters.own=0.5"}};
        kept_run *run = run_on(&c, "cpu");

        variance[k] = run->record[run->count - 1].record.statistics.covariance[0];
        forget(run);
    }
    double ratio = (variance[0] - variance[1]) / (variance[1] - variance[2]);
    ck_assert_msg(ratio > 3.5 && ratio < 4.6, "%.12g, %.12g, %.12g: %g", variance[0], variance[1], variance[2],
                  ratio);
}
END_TEST

/* ---- densities ---------------------------------------------------------------------------------------------------
 */

/* Sum of |P - Gaussian|, which is averaged over the cells. */
static double distance(const kept_run *run, double origin, double variance)
{
    const kept_record *last = &run->record[run->count - 1];
    double sum = 0;

    for (size_t i = 0; i < last->count; i++) {
        double x = (origin + run->width[0] * last->index[i]) / sqrt(2 * variance);
        double half = run->width[0] / 2 / sqrt(2 * variance);

        sum += fabs(last->p[i] - 0.5 * (erf(x + half) - erf(x - half)));
    }
    return sum;
}

/* The scenario `ou` of linear: its density comes to rest, at the Gaussian of variance noise / (2 rate). */
static double distance_at_rest(const char *factor, const char *scheme)
{
    const a_case c = {"linear",
                      "cpu",
                      {"dimension=1", "mean=[1]", "covariance=[0.25]", "threshold=1e-12", "extent=4", "end=12",
                       "records=1", "measurements=[]", "parameters.diagonal=-1", "parameters.noise=0.5", factor,
                       scheme}};
    kept_run *run = run_on(&c, "cpu");
    double apart = distance(run, 1, 0.25);

    forget(run);
    return apart;
}

START_TEST(an_ornstein_uhlenbeck_process_comes_to_rest)
{
    const char *scheme = _i ? "scheme=ctu-divergence" : "scheme=split5";
    double coarse = distance_at_rest("factor=1.5", scheme), middle = distance_at_rest("factor=3", scheme);
    double fine = distance_at_rest("factor=6", scheme);

    ck_assert_msg(coarse < 0.1 && middle * 3 < coarse && fine * 3 < middle, "%g, %g, %g", coarse, middle, fine);
}
END_TEST

/* dx = a x dt + s x dW (Ito): E x = m e^(a t), E x^2 = (v + m^2) e^((2 a + s^2) t). */
START_TEST(noise_that_grows_with_the_state)
{
    static const char *const factors[] = {"factor=2", "factor=4", "factor=8"};
    const double a = 0.2, square = 0.3, m = 2, v = 0.04;
    double error[3];

    for (int k = 0; k < 3; k++) {
        const a_case c = {"noise",
                          "cpu",
                          {"dimension=1", "mean=[2]", "covariance=[0.04]", factors[k], "threshold=1e-13", "extent=5",
                           "end=0.5", "records=1", "precision=double", "parameters.growth=0.2",
                           "parameters.square=0.3"}};
        kept_run *run = run_on(&c, "cpu");
        const kept_record *last = &run->record[run->count - 1];
        const gbees_statistics *s = &last->record.statistics;
        double t = last->record.time, mean = m * exp(a * t);
        double variance = (v + m * m) * exp((2 * a + square) * t) - mean * mean;

        error[k] = fmax(fabs(s->mean[0] - mean) / mean, fabs(s->covariance[0] - variance) / variance);
        forget(run);
    }
    ck_assert_msg(error[0] < 2e-2 && error[1] * 3 < error[0] && error[2] * 3 < error[1], "%g, %g, %g", error[0],
                  error[1], error[2]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("diffusion_exact");
    TCase *tcase = tcase_create("exact");

    tcase_set_timeout(tcase, 600);
    tcase_add_loop_test(tcase, linear_model_with_noise, 0, sizeof linears / sizeof *linears);
    tcase_add_loop_test(tcase, correlated_noise, 0, sizeof correlated / sizeof *correlated);
    tcase_add_test(tcase, second_order_in_time);
    tcase_add_loop_test(tcase, an_ornstein_uhlenbeck_process_comes_to_rest, 0, 2);
    tcase_add_test(tcase, noise_that_grows_with_the_state);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
