/* test_diffusion_exact.c - process noise against what is known: moments of linear models, the density at rest of an
 * Ornstein-Uhlenbeck process, noise that grows with the state; all of second order. */
#include "fixtures/kept_run.h"
#include "fixtures/suite.h"

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
static void integrate_moments(moments *m, double time)
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
    kept_run *run = run_on(c, c->backend);
    const gbees_statistics *last = &run->record[run->count - 1].record.statistics;
    const gbees_statistics *first = &run->record[0].record.statistics;
    moments m = *model;
    double worst = 0;

    memcpy(m.mean, first->mean, sizeof m.mean);
    memcpy(m.covariance, first->covariance, sizeof m.covariance);
    integrate_moments(&m, run->record[run->count - 1].record.time);
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

static moments linear_moments(int n, double diagonal)
{
    moments m = {.n = n};

    for (int j = 0; j < n; j++) {
        m.q[j * n + j] = 0.4;
        m.a[j * n + j] = diagonal;
        if (j + 1 < n)
            m.a[j * n + j + 1] = 1.25;
        if (j > 0)
            m.a[j * n + j - 1] = -0.8;
    }
    return m;
}

static const struct {
    const char *backend, *dimension, *scheme;
    double ratio, least; /* of the errors, and the coarse one */
} linears[] = {
    {"cpu", "dimension=1", "scheme=split5", 0, 1e-6}, /* what p* cuts off */
    {"cpu", "dimension=2", "scheme=split5", 12, 1e-2},
    {"shim", "dimension=1", "scheme=split5", 0, 1e-4}, /* in single precision */
};

START_TEST(linear_model_with_noise)
{
    a_case c = {"linear",
                linears[_i].backend,
                {linears[_i].dimension, linears[_i].scheme, "factor=2", "mean=[1, ...]", "covariance=[0.25, ...]",
                 "threshold=1e-12", "extent=6", "end=0.5", "records=1", "measurements=[]", "parameters.noise=0.4",
                 "precision=mixed"}};
    const moments m = linear_moments(linears[_i].dimension[10] - '0', -0.1);
    if (!is_built(c.backend))
        return;
    double coarse = error_of(&c, &m);

    c.settings[2] = "factor=8";
    double fine = error_of(&c, &m);
    ck_assert_msg(coarse < linears[_i].least && fine * linears[_i].ratio < coarse, "errors %g, %g", coarse, fine);
}
END_TEST

/* Order two with half the width and half the step, which go together: what ctu leaves on one grid depends on the
 * step, too, as h^2 (1 - c).  The paper's ctu is of that order where the drift does not diverge.  The Courant number
 * is below 1 in all of the box, as it stands for no step here. */
static const struct {
    const char *scheme, *dimension, *diagonal;
    const char *coarse[2], *fine[2]; /* width and step */
} refined[] = {
    {"scheme=split5",
     "dimension=2",
     "parameters.diagonal=-0.1",
     {"factor=3", "time_step=0.01"},
     {"factor=6", "time_step=0.005"}},
    {"scheme=split5",
     "dimension=3",
     "parameters.diagonal=-0.1",
     {"factor=1.25", "time_step=0.02"},
     {"factor=2.5", "time_step=0.01"}},
    {"scheme=ctu",
     "dimension=2",
     "parameters.diagonal=0",
     {"factor=3", "time_step=0.008"},
     {"factor=6", "time_step=0.004"}},
    {"scheme=ctu",
     "dimension=3",
     "parameters.diagonal=0",
     {"factor=1.5", "time_step=0.01"},
     {"factor=3", "time_step=0.005"}},
};

START_TEST(second_order_in_space_and_time)
{
    const moments m = linear_moments(refined[_i].dimension[10] - '0', atof(refined[_i].diagonal + 20));
    double error[2];

    for (int k = 0; k < 2; k++) {
        const char *const *grid = k ? refined[_i].fine : refined[_i].coarse;
        const a_case c = {"linear",
                          "cpu",
                          {refined[_i].scheme, refined[_i].dimension, refined[_i].diagonal, grid[0], grid[1],
                           "mean=[1, ...]", "covariance=[0.25, ...]", "threshold=1e-12", "extent=4.25", "end=0.32",
                           "records=1", "measurements=[]", "parameters.noise=0.4", "precision=double",
                           "prune_interval=1"}};

        error[k] = error_of(&c, &m);
    }
    double ratio = error[0] / error[1];
    ck_assert_msg(ratio > 3.5 && ratio < 5, "%g, %g: %g", error[0], error[1], ratio);
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
    const char *backend = backend_names[_i % BACKENDS];
    const int k = _i / BACKENDS;
    const double own = correlated[k].q[0], beside = correlated[k].q[1];
    a_case c = {"noise",
                backend,
                {"mean=[0.5, 0.5]", correlated[k].covariance, "factor=2", "threshold=1e-10", "extent=4", "end=1",
                 "records=1", "parameters.growth=-0.5", "parameters.shear=1", correlated[k].own, correlated[k].beside,
                 correlated[k].rotate}};
    const moments m = {.n = 2, .a = {-0.5, 1, 0, -0.5}, .q = {own, beside, beside, own}};
    if (!is_built(backend))
        return;
    double coarse = error_of(&c, &m);

    c.settings[2] = "factor=8";
    double fine = error_of(&c, &m);
    ck_assert_msg(coarse < 1e-2 && fine * correlated[k].ratio < coarse, "errors %g, %g", coarse, fine);
}
END_TEST

/* Of two runs' first or second moments. */
static double apart(const gbees_statistics *a, const gbees_statistics *b, int n, int second)
{
    double sum = 0;

    for (int j = 0; j < (second ? n * n : n); j++) {
        const double off = second ? a->covariance[j] - b->covariance[j] : a->mean[j] - b->mean[j];

        sum += off * off;
    }
    return sqrt(sum);
}

/* The order in time alone: on one grid, what half the step changes is a quarter of what the step before changed. In
 * one dimension with the noise as a pass of its own: a sweep that adds it has no second-order error there. */
static const struct {
    const char *dimension, *factor, *steps[3];
} halved[] = {
    {"dimension=1", "factor=4", {"time_step=0.02", "time_step=0.01", "time_step=0.005"}},
    {"dimension=2", "factor=2", {"time_step=0.01", "time_step=0.005", "time_step=0.0025"}},
    {"dimension=3", "factor=1.5", {"time_step=0.02", "time_step=0.01", "time_step=0.005"}},
};

START_TEST(second_order_in_time)
{
    gbees_statistics last[3];
    double change[2], ratio;
    int n = 0;

    for (int k = 0; k < 3; k++) {
        const a_case c = {"linear",
                          "cpu",
                          {halved[_i].dimension, halved[_i].factor, halved[_i].steps[k],
                           _i ? "scheme=split5" : "scheme=split5-mp", "mean=[1, ...]", "covariance=[0.25, ...]",
                           "threshold=1e-13", "extent=4.5", "end=0.48", "records=1", "measurements=[]",
                           "parameters.noise=0.4", "precision=double", "prune_interval=1"}};
        kept_run *run = run_on(&c, "cpu");

        n = run->n;
        last[k] = run->record[run->count - 1].record.statistics;
        forget(run);
    }
    for (int second = n == 1; second < 2; second++) { /* one mean alone is exact */
        for (int k = 0; k < 2; k++)
            change[k] = apart(&last[k], &last[k + 1], n, second);
        ratio = change[0] / change[1];
        ck_assert_msg(ratio > 3.5 && ratio < 4.6, "%s: %.12g, %.12g: %g", second ? "covariance" : "mean", change[0],
                      change[1], ratio);
    }
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
static double distance_at_rest(const char *backend, const char *factor, const char *scheme, const char *precision)
{
    const a_case c = {"linear",
                      backend,
                      {"dimension=1", "mean=[1]", "covariance=[0.25]", "threshold=1e-16", "extent=4", "end=24",
                       "records=1", "measurements=[]", "parameters.diagonal=-1", "parameters.noise=0.5", factor,
                       scheme, precision}};
    kept_run *run = run_on(&c, backend);
    double apart = distance(run, 1, 0.25);

    forget(run);
    return apart;
}

/* By split5 on the CPU, of fourth order at least; on threads, in single precision, whose rounding is what is left of
 * the error of the finer grids. */
START_TEST(an_ornstein_uhlenbeck_process_comes_to_rest)
{
    const char *backend = backend_names[_i];
    const int rounded = _i > 0;
    const char *precision = rounded ? "precision=mixed" : "precision=double",
               *factor[] = {"factor=1.5", "factor=3", "factor=6"};
    double error[3];

    if (!is_built(backend))
        return;
    for (int k = 0; k < 3; k++)
        error[k] = distance_at_rest(backend, factor[k], "scheme=split5", precision);
    ck_assert_msg(error[0] < 1e-4 && error[1] * 5 < error[0] && error[2] * (rounded ? 2.5 : 256) < error[0],
                  "%s: %g, %g, %g", backend, error[0], error[1], error[2]);
}
END_TEST

/* How far dx1 = (x2 - x1 / 2) dt + dW1, dx2 = -x2 / 2 dt + dW2 comes to rest from its covariance, with values at
 * centres. */
static double points_at_rest(const char *width)
{
    static const double exact[] = {3, 1, 1, 1};
    const a_case c = {"linear",
                      "cpu",
                      {"dimension=2", "mean=[0, 0]", "covariance=[[3, 1], [1, 1]]", width, "cell_values=points",
                       "threshold=1e-9", "extent=5", "end=8", "records=1", "measurements=[]", "courant=0.25",
                       "precision=double", "parameters={diagonal: -0.5, upper: 1, lower: 0, noise: 1}"}};
    kept_run *run = run_on(&c, "cpu");
    double most = 0;

    for (int k = 0; k < 4; k++)
        most = fmax(most, fabs(run->record[run->count - 1].record.statistics.covariance[k] - exact[k]));
    forget(run);
    return most;
}

/* Averages would be sheared h^2 / 12 too wide, and points would be compressed as much too wide without their moments
 * of noise: .02 and .005 with these cells. */
START_TEST(points_with_noise_are_of_fourth_order)
{
    const double coarse = points_at_rest("width=0.5"), fine = points_at_rest("width=0.25");

    ck_assert_msg(coarse < 2e-3 && fine * 16 < coarse, "%g, %g", coarse, fine);
}
END_TEST

/* In one dimension noise is in double by default: there doubles cost nothing. The process at rest keeps 1 for 30,000
 * steps, to what p* cuts off. */
START_TEST(rounding_makes_no_mass_in_one_dimension)
{
    const a_case c = {"linear",
                      "cpu",
                      {"dimension=1", "mean=[0]", "covariance=[0.25]", "threshold=1e-16", "extent=8", "end=30",
                       "records=1", "measurements=[]", "parameters.diagonal=-1", "parameters.noise=0.5", "factor=2",
                       "time_step=0.001"}};
    kept_run *run = run_on(&c, "cpu");
    const kept_record *last = &run->record[run->count - 1];

    ck_assert_uint_ge(last->record.totals.steps, 30000);
    ck_assert_double_eq_tol(last->record.statistics.mass, 1, 1e-10);
    forget(run);
}
END_TEST

/* dx = a x dt + s x dW (Ito): E x = m e^(a t), E x^2 = (v + m^2) e^((2 a + s^2) t). */
START_TEST(noise_that_grows_with_the_state)
{
    static const char *const factors[] = {"factor=1", "factor=2", "factor=4"};
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
    TCase *tcase = tcase_create("exact"), *slow = add_long_case(suite, "slow", 600);

    tcase_set_timeout(tcase, 600);
    tcase_add_loop_test(tcase, linear_model_with_noise, 0, sizeof linears / sizeof *linears);
    for (int k = 0; k < (int)(sizeof correlated / sizeof *correlated); k++) {
        const int on_cpu = k * BACKENDS, on_threads = on_cpu + 1;

        tcase_add_loop_test(k < 1 ? tcase : slow, correlated_noise, on_cpu, on_threads);
        tcase_add_loop_test(slow, correlated_noise, on_threads, on_threads + 1);
    }
    for (int k = 0; k < (int)(sizeof refined / sizeof *refined); k++)
        tcase_add_loop_test(strcmp(refined[k].dimension, "dimension=3") ? tcase : slow,
                            second_order_in_space_and_time, k, k + 1);
    for (int k = 0; k < (int)(sizeof halved / sizeof *halved); k++)
        tcase_add_loop_test(strcmp(halved[k].dimension, "dimension=3") ? tcase : slow, second_order_in_time, k,
                            k + 1);
    tcase_add_loop_test(tcase, an_ornstein_uhlenbeck_process_comes_to_rest, 0, BACKENDS);
    tcase_add_test(tcase, points_with_noise_are_of_fourth_order);
    tcase_add_test(tcase, rounding_makes_no_mass_in_one_dimension);
    tcase_add_test(tcase, noise_that_grows_with_the_state);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
