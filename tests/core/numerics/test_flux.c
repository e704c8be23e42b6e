/* test_flux.c - core/numerics/ctu.h: the gathered fluxes against the paper's Algorithm 1, and what a scheme must do:
 * keep constants, conserve, shift, converge, and treat left and right alike. */
#include "fixtures/dense.h"
#include "fixtures/suite.h"
#include "numerics/qualifier.h"
#include <check.h>

#define GBEES_REAL float
#define GBEES_REAL_FN(name) name##_f
#include "numerics/ctu.h"
#undef GBEES_REAL
#undef GBEES_REAL_FN
#define GBEES_REAL double
#define GBEES_REAL_FN(name) name##_d
#include "numerics/ctu.h"

/* A generator of the tests' own, uniform in [lo, hi): the same fields on every machine. */
static double draw(uint64_t *state, double lo, double hi)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return lo + (hi - lo) * (double)(*state >> 11) * 0x1p-53;
}

static void box(dense *d, int n)
{
    const int size[DENSE_DIM] = {n == 1 ? 40 : 9, 8, 6, 5};

    dense_create(d, n, NULL, size, 1);
    for (int j = 0; j < n; j++)
        d->width[j] = 0.5 + 0.25 * j;
}

static void fill_random(dense *d, uint64_t *state, double lo, double hi)
{
    for (long i = 0; i < d->cells; i++) {
        d->p[i] = (float)draw(state, lo, hi);
        for (int j = 0; j < d->n; j++)
            d->v[j][i] = (float)draw(state, -1, 1);
    }
}

static void fill_velocity(dense *d, const double *v)
{
    for (int j = 0; j < d->n; j++)
        for (long i = 0; i < d->cells; i++)
            d->v[j][i] = v[j];
}

/* phi(theta) d of the header. */
static double limiter(double d, double up)
{
    return 2 * gbees_half_mc_d(d, up);
}

static double limiter_f(float d, float up)
{
    return 2 * (double)gbees_half_mc_f(d, up);
}

/* ---- the gathered form, in either precision ------------------------------------------------------------------ */

static double transverse(const dense *d, long i, int j, double step, int narrow)
{
    long below = dense_next(d, i, j, -1), above = dense_next(d, i, j, 1);
    double half_lambda = 0.5 * step / d->width[j], um = d->v[j][below], u = d->v[j][i];

    if (narrow)
        return (double)gbees_ctu_transverse_f((float)d->p[below], (float)d->p[i], (float)d->p[above], (float)um,
                                              (float)u, (float)half_lambda);
    return gbees_ctu_transverse_d(d->p[below], d->p[i], d->p[above], um, u, half_lambda);
}

static double flux(const dense *d, const double *s, long i, int l, double step, int narrow)
{
    long below = dense_next(d, i, l, -1), above = dense_next(d, i, l, 1), far = dense_next(d, above, l, 1);
    const double *p = d->p, *v = d->v[l];
    double lambda = step / d->width[l];

    if (narrow)
        return (double)gbees_ctu_flux_f((float)p[below], (float)p[i], (float)p[above], (float)p[far], (float)s[i],
                                        (float)s[above], (float)v[below], (float)v[i], (float)v[above],
                                        (float)lambda);
    return gbees_ctu_flux_d(p[below], p[i], p[above], p[far], s[i], s[above], v[below], v[i], v[above], lambda);
}

static void gathered_fluxes(const dense *d, double step, int narrow, double *const *out)
{
    double *s = calloc((size_t)d->cells, sizeof *s);

    ck_assert_ptr_nonnull(s);
    for (long i = 0; i < d->cells; i++)
        for (int j = 0; j < d->n; j++)
            s[i] += transverse(d, i, j, step, narrow);
    for (int l = 0; l < d->n; l++)
        for (long i = 0; i < d->cells; i++)
            out[l][i] = flux(d, s, i, l, step, narrow);
    free(s);
}

/* One step with the gathered fluxes. */
static void gathered_step(dense *d, double step)
{
    gathered_fluxes(d, step, 0, d->flux);
    for (int l = 0; l < d->n; l++)
        for (long i = 0; i < d->cells; i++)
            d->p[i] -= step / d->width[l] * (d->flux[l][i] - d->flux[l][dense_next(d, i, l, -1)]);
}

/* The largest difference between the two forms, in units of the largest flux. */
static double difference(dense *d, double step, int narrow)
{
    double *gathered[DENSE_DIM], most = 0, off = 0;

    for (int l = 0; l < d->n; l++) {
        gathered[l] = calloc((size_t)d->cells, sizeof **gathered);
        ck_assert_ptr_nonnull(gathered[l]);
    }
    dense_fluxes(d, step);
    gathered_fluxes(d, step, narrow, gathered);
    for (int l = 0; l < d->n; l++)
        for (long i = 0; i < d->cells; i++) {
            most = fmax(most, fabs(d->flux[l][i]));
            off = fmax(off, fabs(d->flux[l][i] - gathered[l][i]));
        }
    for (int l = 0; l < d->n; l++)
        free(gathered[l]);
    return off / most;
}

START_TEST(gathered_equals_algorithm_1)
{
    uint64_t state = 1;

    for (int round = 0; round < 8; round++) {
        dense d;

        box(&d, _i);
        fill_random(&d, &state, round % 2 ? -1 : 0, 1);
        double step = (round + 1) * 0.05;
        ck_assert_double_lt(difference(&d, step, 0), 1e-13);
        ck_assert_double_lt(difference(&d, step, 1), 5e-6);
        dense_destroy(&d);
    }
}
END_TEST

/* The comparison above would see a term left out. */
START_TEST(corner_terms_matter)
{
    dense d;
    uint64_t state = 5;
    double *gathered[2], off = 0;

    box(&d, 2);
    fill_random(&d, &state, 0, 1);
    for (int l = 0; l < 2; l++)
        ck_assert_ptr_nonnull(gathered[l] = calloc((size_t)d.cells, sizeof **gathered));
    gathered_fluxes(&d, 0.2, 0, gathered);
    for (long i = 0; i < d.cells; i++) {
        double u = d.v[0][i], a = fabs(u);
        long above = dense_next(&d, i, 0, 1), far = dense_next(&d, above, 0, 1), below = dense_next(&d, i, 0, -1);
        double limited = limiter(d.p[above] - d.p[i], u > 0 ? d.p[i] - d.p[below] : d.p[far] - d.p[above]);
        double plain = u * (u > 0 ? d.p[i] : d.p[above]) + 0.5 * a * (1 - a * 0.2 / d.width[0]) * limited;

        off = fmax(off, fabs(plain - gathered[0][i]));
    }
    ck_assert_double_gt(off, 0.01);
    for (int l = 0; l < 2; l++)
        free(gathered[l]);
    dense_destroy(&d);
}
END_TEST

START_TEST(constants_stay)
{
    const double v[4] = {0.7, -0.4, 0.9, -0.3};
    dense d;

    box(&d, _i);
    fill_velocity(&d, v);
    for (long i = 0; i < d.cells; i++)
        d.p[i] = 0.3;
    for (int k = 0; k < 20; k++)
        gathered_step(&d, 0.2);
    for (long i = 0; i < d.cells; i++)
        ck_assert_double_eq_tol(d.p[i], 0.3, 1e-15);
    dense_destroy(&d);
}
END_TEST

START_TEST(the_sum_is_conserved)
{
    uint64_t state = 9;
    dense d;

    box(&d, _i);
    fill_random(&d, &state, 0, 1);
    double before = dense_sum(&d);
    for (int k = 0; k < 20; k++)
        gathered_step(&d, 0.1);
    ck_assert_double_eq_tol(dense_sum(&d) / before, 1, 1e-13);
    dense_destroy(&d);
}
END_TEST

/* At Courant number 1 along one axis the field moves by one cell. */
START_TEST(courant_number_one_shifts)
{
    for (int axis = 0; axis < _i; axis++)
        for (int sign = -1; sign <= 1; sign += 2) {
            dense d, old;
            uint64_t state = 17;
            double v[4] = {0};

            box(&d, _i);
            box(&old, _i);
            fill_random(&d, &state, 0, 1);
            memcpy(old.p, d.p, (size_t)d.cells * sizeof *d.p);
            v[axis] = sign * d.width[axis];
            fill_velocity(&d, v);
            gathered_step(&d, 1);
            for (long i = 0; i < d.cells; i++)
                ck_assert_double_eq_tol(d.p[i], old.p[dense_next(&d, i, axis, -sign)], 4e-16);
            dense_destroy(&d);
            dense_destroy(&old);
        }
}
END_TEST

/* ---- order --------------------------------------------------------------------------------------------------- */

/* A smooth density of period 1 along each axis, carried by t along the diagonal. */
static double smooth(const dense *d, long cell, const double *v, double t)
{
    double p = 1;

    for (int j = 0; j < d->n; j++)
        p *= 2 + sin(2 * 3.14159265358979323846 * ((dense_coordinate(d, cell, j) + 0.5) * d->width[j] - v[j] * t));
    return p;
}

static double error_of(int n, int cells, double time)
{
    const double v[3] = {1, -0.8, 0.6};
    const int size[DENSE_DIM] = {cells, cells, cells};
    double rate = 0, sum = 0;
    dense d;

    dense_create(&d, n, NULL, size, 1);
    for (int j = 0; j < n; j++) {
        d.width[j] = 1.0 / cells;
        rate += fabs(v[j]) * cells;
    }
    fill_velocity(&d, v);
    for (long i = 0; i < d.cells; i++)
        d.p[i] = smooth(&d, i, v, 0);
    int steps = (int)ceil(time * rate / 0.8);
    for (int k = 0; k < steps; k++)
        gathered_step(&d, time / steps);
    for (long i = 0; i < d.cells; i++)
        sum += fabs(d.p[i] - smooth(&d, i, v, time));
    sum /= (double)d.cells;
    dense_destroy(&d);
    return sum;
}

START_TEST(smooth_densities_converge_at_second_order)
{
    const int cells[4] = {0, 100, 40, 24};
    double coarse = error_of(_i, cells[_i], 0.3), fine = error_of(_i, 2 * cells[_i], 0.3);

    ck_assert_double_lt(fine, coarse);
    ck_assert_msg(log2(coarse / fine) >= 1.8, "n = %d: order %.3f (errors %.3g, %.3g)", _i, log2(coarse / fine),
                  coarse, fine);
}
END_TEST

/* ---- left and right ------------------------------------------------------------------------------------------- */

static long mirror(const dense *d, long cell, int axis, int shift)
{
    int at = dense_coordinate(d, cell, axis), to = d->size[axis] - 1 - at - shift;

    return cell + ((to + d->size[axis]) % d->size[axis] - at) * d->stride[axis];
}

START_TEST(mirrored_problems_have_mirrored_results)
{
    for (int axis = 0; axis < _i; axis++) {
        uint64_t state = 23;
        dense d, m;

        box(&d, _i);
        box(&m, _i);
        fill_random(&d, &state, 0, 1);
        for (long i = 0; i < d.cells; i++) {
            m.p[i] = d.p[mirror(&d, i, axis, 0)];
            for (int j = 0; j < _i; j++)
                m.v[j][i] = j == axis ? -d.v[j][mirror(&d, i, axis, 1)] : d.v[j][mirror(&d, i, axis, 0)];
        }
        for (int k = 0; k < 5; k++) {
            gathered_step(&d, 0.1);
            gathered_step(&m, 0.1);
        }
        for (long i = 0; i < d.cells; i++)
            ck_assert_double_eq_tol(m.p[i], d.p[mirror(&d, i, axis, 0)], 1e-14);
        dense_destroy(&d);
        dense_destroy(&m);
    }
}
END_TEST

/* ---- the limiter ---------------------------------------------------------------------------------------------- */

START_TEST(limiter_is_the_formula)
{
    uint64_t state = 31;

    for (int k = 0; k < 100000; k++) {
        double d = draw(&state, -1, 1), up = draw(&state, -1, 1) * pow(10, draw(&state, -6, 6));
        double wanted = dense_limited(d, up);

        ck_assert_double_eq_tol(limiter(d, up), wanted, 4e-16 * fabs(wanted) + 1e-300);
        ck_assert_double_eq(limiter(-d, -up), -limiter(d, up));
        ck_assert_double_eq_tol(limiter_f((float)d, (float)up), wanted, 4e-7 * fabs(d) + 1e-12);
    }
}
END_TEST

START_TEST(limiter_at_its_corners)
{
    const double tiny = 1e-310, huge = 1e300;

    ck_assert_double_eq(limiter(0, 0), 0);
    ck_assert_double_eq(limiter(0, 1), 0); /* theta = inf, or no number at all */
    ck_assert_double_eq(limiter(0, -1), 0);
    ck_assert_double_eq(limiter(1, 0), 0);
    ck_assert_double_eq(limiter(1, -1), 0);
    ck_assert_double_eq(limiter(1, 1), 1); /* phi(1) = 1: second order */
    ck_assert_double_eq(limiter(1, 0.25), 0.5);
    ck_assert_double_eq(limiter(1, 2), 1.5);
    ck_assert_double_eq(limiter(1, 100), 2);
    ck_assert_double_eq(limiter(-1, -100), -2);
    ck_assert_double_eq(limiter(1 / huge, huge), 2 / huge); /* theta overflows */
    ck_assert_double_eq(limiter(huge, 1 / huge), 2 / huge); /* theta underflows */
    ck_assert_double_eq_tol(limiter(tiny, tiny), tiny, 1e-320);
    ck_assert_double_eq(limiter(tiny, -tiny), 0);
    ck_assert_double_eq(limiter_f(1e-37f, 1e38f), (double)(2 * 1e-37f));
    ck_assert_double_eq(limiter_f(0, 1e38f), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flux");
    TCase *form = tcase_create("form"), *scheme = tcase_create("scheme"), *limiter = tcase_create("limiter");

    tcase_set_timeout(form, 60);
    tcase_add_loop_test(form, gathered_equals_algorithm_1, 1, 5);
    tcase_add_test(form, corner_terms_matter);
    tcase_set_timeout(scheme, 60);
    tcase_add_loop_test(scheme, constants_stay, 1, 5);
    tcase_add_loop_test(scheme, the_sum_is_conserved, 1, 5);
    tcase_add_loop_test(scheme, courant_number_one_shifts, 1, 5);
    tcase_add_loop_test(scheme, smooth_densities_converge_at_second_order, 1, 4);
    tcase_add_loop_test(scheme, mirrored_problems_have_mirrored_results, 1, 5);
    tcase_set_timeout(limiter, 60);
    tcase_add_test(limiter, limiter_is_the_formula);
    tcase_add_test(limiter, limiter_at_its_corners);
    suite_add_tcase(suite, form);
    suite_add_tcase(suite, scheme);
    suite_add_tcase(suite, limiter);
    return run_suite(suite);
}
