/* test_diffusion_walls.c - noise that depends on the state and vanishes at walls, beside exact answers: geometric
 * Brownian motion, square-root processes (Cox, Ingersoll, Ross, Econometrica 53 (1985) 385), noise between two walls;
 * on both backends. */
#include "fixtures/kept_run.h"
#include "fixtures/suite.h"

/* The lower face of cell i. */
static double face(const kept_run *run, int i)
{
    return run->record[0].problem.mean[0] + run->width[0] * (i - 0.5);
}

static double normal(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

/* ---- dx = a x dt + s x dW -------------------------------------------------------------------------------------- */

/* P(x < limit) at t = 1 for a = 0.2, s = 0.3, from N(1, 0.1^2), by the midpoint rule over where a path began. */
static double geometric_below(double limit)
{
    const int parts = 200;
    const double reach = 7;
    double sum = 0;

    if (limit <= 0)
        return 0;
    for (int k = 0; k < parts; k++) {
        const double z = reach * (2 * (k + 0.5) / parts - 1), start = 1 + 0.1 * z;

        sum += exp(-z * z / 2) * normal((log(limit / start) - (0.2 - 0.045)) / 0.3);
    }
    return sum * 2 * reach / parts / sqrt(2 * 3.14159265358979323846);
}

/* The sum of the errors of all cells. */
static double geometric_error(const char *backend, const char *factor)
{
    const a_case c = {"walls",
                      backend,
                      {factor, "dimension=1", "threshold=1e-15", "extent=7", "precision=double",
                       "parameters.growth=0.2", "parameters.square=0.09"}};
    kept_run *run = run_on(&c, backend);
    const kept_record *last = &run->record[run->count - 1];
    double sum = 0;

    for (size_t i = 0; i < last->count; i++) {
        const int at = last->index[i];

        ck_assert_double_gt(last->p[i], 0);
        sum += fabs(last->p[i] - (geometric_below(face(run, at + 1)) - geometric_below(face(run, at))));
    }
    forget(run);
    return sum;
}

START_TEST(geometric_brownian_motion_is_of_fourth_order_at_least)
{
    const char *backend = backend_names[_i];

    if (!is_built(backend))
        return;
    const double one = geometric_error(backend, "factor=1"), two = geometric_error(backend, "factor=2");
    ck_assert_msg(one < 2e-5 && two * 16 < one, "%s: %g, %g", backend, one, two);
    if (is_cpu(backend)) {
        const double four = geometric_error(backend, "factor=4");

        ck_assert_msg(four * 16 < two, "%g, %g", two, four);
    }
}
END_TEST

/* ---- dx = k (th - x) dt + s x^(1/2) dW ------------------------------------------------------------------------- */

/* P(x < limit) of a record, by cubic interpolation between faces. */
static double part_below(const kept_run *run, double limit)
{
    const kept_record *last = &run->record[run->count - 1];
    const double at = (limit - face(run, 0)) / run->width[0];
    const int below = (int)floor(at);
    double sum = 0, next[4] = {0}; /* at faces below - 1 .. below + 2 */

    for (size_t i = 0; i < last->count; i++)
        for (int k = 0; k < 4; k++)
            next[k] += last->index[i] < below - 1 + k ? last->p[i] : 0;
    for (int k = 0; k < 4; k++) {
        double weight = 1;

        for (int j = 0; j < 4; j++)
            weight *= j == k ? 1 : (at - (below - 1 + j)) / (k - j);
        sum += weight * next[k];
    }
    return sum;
}

static const struct {
    setting_list settings;
    double mean, deviation, limit[3], below[3];
    double moments, tails[3]; /* relative errors */
} roots[] = {
    {{"factor=2", "mean=[1.5]", "covariance=[0.0225]", "parameters.constant=1", "parameters.growth=-1",
      "parameters.linear=0.36"},
     1.183940,
     0.447820,
     {0.4, 0.2, 2},
     {0.0132656, 4.509e-4, 1 - 0.0496297},
     1e-5,
     {5e-3, 5e-2, 1e-4}},
    {{"factor=2", "mean=[0.5]", "covariance=[0.0025]", "parameters.constant=0.5", "parameters.growth=-1",
      "parameters.linear=1.44"},
     0.5,
     0.558227,
     {0.05, 0.01, 1.5},
     {0.155794, 0.0517383, 1 - 0.0627965},
     2e-3,
     {2e-2, 0.3, 1e-3}}, /* 0.01 is in the first cell */
};

START_TEST(a_square_root_process_keeps_to_its_side)
{
    a_case c = {"walls", "cpu", {NULL}};
    int count = 0;

    for (; roots[_i].settings[count]; count++)
        c.settings[count] = roots[_i].settings[count];
    c.settings[count++] = "dimension=1";
    c.settings[count++] = "threshold=1e-13";
    c.settings[count++] = "extent=6";
    c.settings[count++] = "precision=double";
    kept_run *run = run_on(&c, "cpu");
    const kept_record *last = &run->record[run->count - 1];
    const gbees_statistics *s = &last->record.statistics;

    ck_assert_uint_lt(run->totals.steps, 1000); /* one that adds a cell squared at most: 60000 */
    for (size_t i = 0; i < last->count; i++)
        ck_assert_msg(face(run, last->index[i] + 1) > 0 && last->p[i] > 0, "cell %d has %g", last->index[i],
                      last->p[i]);
    const double mean = s->mean[0] / roots[_i].mean - 1, deviation = sqrt(s->covariance[0]) / roots[_i].deviation - 1;
    ck_assert_msg(fabs(mean) < roots[_i].moments && fabs(deviation) < roots[_i].moments, "%g, %g", mean, deviation);
    for (int k = 0; k < 3; k++) {
        const double below = part_below(run, roots[_i].limit[k]);

        ck_assert_msg(fabs(below / roots[_i].below[k] - 1) < roots[_i].tails[k], "P(x < %g): %g", roots[_i].limit[k],
                      below);
    }
    forget(run);
}
END_TEST

/* ---- noise between two walls ----------------------------------------------------------------------------------- */

/* dx = (1 - x)^(1/2) x^(1/2) dW without drift: the mean stays, and E x (1 - x) falls as e^-t. */
START_TEST(noise_stays_between_two_walls)
{
    const char *backend = backend_names[_i];
    const a_case c = {"walls",
                      backend,
                      {"factor=2", "mean=[0.5, ...]", "covariance=[0.0025, ...]", "dimension=2", "threshold=1e-12",
                       "extent=6", "end=0.1", "precision=double", "parameters.linear=1", "parameters.square=-1"}};
    if (!is_built(backend))
        return;
    kept_run *run = run_on(&c, backend);
    const kept_record *last = &run->record[run->count - 1];
    const gbees_statistics *s = &last->record.statistics;
    const double variance = 0.25 - (0.25 - 0.0025) * exp(-0.1);

    for (size_t i = 0; i < last->count; i++)
        ck_assert_msg(fabs((double)last->index[i]) * run->width[0] < 0.5 + run->width[0] / 2 && last->p[i] > 0,
                      "cell %d has %g", last->index[i], last->p[i]);
    ck_assert_double_eq_tol(s->mean[0], 0.5, 1e-8);
    ck_assert_double_eq_tol(s->covariance[0], variance, 1e-4 * variance);
    ck_assert_double_eq_tol(s->covariance[3], variance, 1e-4 * variance);
    ck_assert_double_eq_tol(s->covariance[1], 0, 1e-8);
    forget(run);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("diffusion_walls");
    TCase *tcase = tcase_create("exact");

    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, geometric_brownian_motion_is_of_fourth_order_at_least, 0, BACKENDS);
    tcase_add_loop_test(tcase, a_square_root_process_keeps_to_its_side, 0, (int)(sizeof roots / sizeof *roots));
    tcase_add_loop_test(tcase, noise_stays_between_two_walls, 0, BACKENDS);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
