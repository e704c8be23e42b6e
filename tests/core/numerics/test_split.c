/* test_split.c - core/numerics/split.h and split7.h on dense boxes: the polynomials, the swept fraction, the mass
 * through a face; random fields stay positive and keep their sum, constants stay. Its order: test_split_order.c. */
#include "fixtures/dense_split.h"
#include <check.h>

#define GBEES_REAL float
#define GBEES_REAL_FN(name) name##_f
#include "fixtures/suite.h"
#include "numerics/split.h"

#include "numerics/split7.h"

#include "numerics/split_mass.h"
#undef GBEES_REAL
#undef GBEES_REAL_FN

/* Uniform in [lo, hi): the same fields on every machine. */
static double draw(uint64_t *state, double lo, double hi)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return lo + (hi - lo) * (double)(*state >> 11) * 0x1p-53;
}

/* ---- one face ------------------------------------------------------------------------------------------------ */

/* The antiderivative at x of the polynomial with these averages over the `count` unit cells around 0; 0 at their
 * lower end: a polynomial through the running sums (Lagrange). */
static long double running(const double *average, int count, long double x)
{
    long double sum = 0, at[8] = {0};

    for (int k = 0; k < count; k++)
        at[k + 1] = at[k] + (long double)average[k];
    for (int k = 0; k <= count; k++) {
        long double weight = 1;

        for (int m = 0; m <= count; m++)
            if (m != k)
                weight *= (x - ((long double)m - 0.5L * count)) / (long double)(k - m);
        sum += weight * at[k];
    }
    return sum;
}

/* q: the middle one of seven cells. */
static double quartic_of(const double *q, double c)
{
    return gbees_quartic_d(q[0], q[1] - q[0], q[1] - 2 * q[0] + q[-1], q[2] - 3 * q[1] + 3 * q[0] - q[-1],
                           q[2] - 4 * q[1] + 6 * q[0] - 4 * q[-1] + q[-2], c);
}

static double sextic_of(const double *q, double c)
{
    return gbees_sextic_d(q[0], q[1] - q[0], q[1] - 2 * q[0] + q[-1], q[2] - 3 * q[1] + 3 * q[0] - q[-1],
                          q[2] - 4 * q[1] + 6 * q[0] - 4 * q[-1] + q[-2],
                          q[3] - 5 * q[2] + 10 * q[1] - 10 * q[0] + 5 * q[-1] - q[-2],
                          q[3] - 6 * q[2] + 15 * q[1] - 20 * q[0] + 15 * q[-1] - 6 * q[-2] + q[-3], c);
}

static float narrow_quartic_of(const float *q, float c)
{
    return gbees_quartic_f(q[0], q[1] - q[0], q[1] - 2 * q[0] + q[-1], q[2] - 3 * q[1] + 3 * q[0] - q[-1],
                           q[2] - 4 * q[1] + 6 * q[0] - 4 * q[-1] + q[-2], c);
}

static float narrow_sextic_of(const float *q, float c)
{
    return gbees_sextic_f(q[0], q[1] - q[0], q[1] - 2 * q[0] + q[-1], q[2] - 3 * q[1] + 3 * q[0] - q[-1],
                          q[2] - 4 * q[1] + 6 * q[0] - 4 * q[-1] + q[-2],
                          q[3] - 5 * q[2] + 10 * q[1] - 10 * q[0] + 5 * q[-1] - q[-2],
                          q[3] - 6 * q[2] + 15 * q[1] - 20 * q[0] + 15 * q[-1] - 6 * q[-2] + q[-3], c);
}

START_TEST(polynomials_are_the_integral)
{
    uint64_t state = 1;

    for (int trial = 0; trial < 200; trial++) {
        double a[7];
        float f[7];

        for (int k = 0; k < 7; k++)
            a[k] = f[k] = (float)draw(&state, -1, 1);
        for (int tenth = 0; tenth <= 10; tenth++) {
            double c = tenth / 10.0, *q = a + 3;
            float n = (float)c, *g = f + 3;
            double wanted5 = (double)(running(a + 1, 5, 0.5L) - running(a + 1, 5, 0.5L - (long double)c));
            double wanted7 = (double)(running(a, 7, 0.5L) - running(a, 7, 0.5L - (long double)c));
            double got5 = quartic_of(q, c), got7 = sextic_of(q, c);
            float narrow5 = narrow_quartic_of(g, n), narrow7 = narrow_sextic_of(g, n);

            ck_assert_double_eq_tol(got5, wanted5, 1e-13);
            ck_assert_double_eq_tol(got7, wanted7, 1e-13);
            ck_assert_double_eq_tol((double)narrow5, wanted5, 2e-6);
            ck_assert_double_eq_tol((double)narrow7, wanted7, 2e-6);
        }
    }
}
END_TEST

static double exact_swept(double u, double x, double lambda)
{
    return lambda * fabs(u) * (x == 0 ? 1 : -expm1(-x) / x);
}

START_TEST(swept_fraction_to_third_order)
{
    uint64_t state = 2;

    for (int trial = 0; trial < 1000; trial++) {
        double u = draw(&state, -1, 1), lambda = draw(&state, 0.1, 0.5), last = 0;

        ck_assert_double_eq(gbees_swept_along_d(fabs(u), fabs(u), lambda, 1), lambda * fabs(u));
        for (int halving = 0; halving < 3; halving++) {
            double x = (trial % 2 ? 0.4 : -0.4) / (1 << halving);
            double other = u > 0 ? u - x / lambda : u + x / lambda; /* x = lambda times what the cell spreads */
            double wanted = exact_swept(u, x, lambda);
            double off = fabs(gbees_swept_along_d(fabs(u), u > 0 ? other : -other, lambda, 1) / wanted - 1);

            ck_assert_double_le(off, fabs(x * x * x) / 24 * 1.6 + 1e-14);
            ck_assert(halving == 0 || (last / off > 6.5 && last / off < 9.7)); /* 2^3 */
            last = off;
        }
    }
    ck_assert_double_eq(gbees_swept_along_d(3, 3, 0.5, 1), 1); /* never more than the cell */
}
END_TEST

typedef struct face {
    double p[8], u[3]; /* the face is between p[3] and p[4] */
} face;

/* Steep fields, with empty cells; a third of the velocities of one sign, as in most of a density. */
static face random_face(uint64_t *state)
{
    face f;

    for (int k = 0; k < 8; k++)
        f.p[k] = draw(state, 0, 1) < 0.2 ? 0 : pow(10, draw(state, -8, 0));
    for (int k = 0; k < 3; k++)
        f.u[k] = draw(state, draw(state, 0, 1) < 0.3 ? 0 : -1, 1);
    return f;
}

static double mass_of(const face *f, double lambda, int diverging, int form)
{
    return split_mass(f->p + 4, f->u + 1, lambda, diverging, form);
}

static float narrow_mass_of(const face *f, float lambda, int diverging, int form)
{
    const int order = form & SPLIT_SEVENTH ? 7 : 5;
    float p[8], u[3] = {(float)f->u[0], (float)f->u[1], (float)f->u[2]};

    for (int k = 0; k < 8; k++)
        p[k] = (float)f->p[k];
    return gbees_split_mass_way_f(p + 4 - (order + 1) / 2, 1, u[0], u[1], u[2], lambda, 1, u[1] > 0, diverging,
                                  form & SPLIT_PRESERVING, order);
}

START_TEST(mass_is_at_most_the_upwind_cell)
{
    uint64_t state = 3;

    for (int trial = 0; trial < 100000; trial++) {
        face f = random_face(&state);
        double lambda = draw(&state, 0, 1.5), mass = mass_of(&f, lambda, _i & 1, _i >> 1);
        double inside = f.u[1] > 0 ? f.p[3] : f.p[4];

        ck_assert_double_ge(f.u[1] > 0 ? mass : -mass, 0);
        ck_assert_double_le(fabs(mass), inside);
        float narrow = narrow_mass_of(&f, (float)lambda, _i & 1, _i >> 1);
        ck_assert(f.u[1] > 0 ? narrow >= 0 : narrow <= 0);
        ck_assert(fabsf(narrow) <= (float)inside);
        ck_assert_double_eq_tol((double)narrow, mass, 1e-5);
    }
}
END_TEST

/* A plain transcription: the swept fraction of the upwind cell, at most its part where it flows out on both sides. */
START_TEST(upwind_takes_a_fraction_of_the_cell)
{
    uint64_t state = 7;

    for (int trial = 0; trial < 10000; trial++) {
        face f = random_face(&state);
        double lambda = draw(&state, 0, 1), mass = mass_of(&f, lambda, 1, SPLIT_FIRST);
        double speed = fabs(f.u[1]), other = f.u[1] > 0 ? f.u[0] : -f.u[2], q = f.u[1] > 0 ? f.p[3] : f.p[4];
        double x = lambda * (speed - other), c = fmin(lambda * speed * (1 - x / 2 + x * x / 6), 1);
        double wanted = fmin(c, other < 0 ? speed / (speed - other) : 1) * q;

        ck_assert_double_eq_tol(f.u[1] > 0 ? mass : -mass, wanted, 1e-14);
    }
}
END_TEST

START_TEST(two_sides_share_what_a_cell_holds)
{
    uint64_t state = 4;
    int full = 0;

    for (int trial = 0; trial < 100000; trial++) {
        face f = random_face(&state), g;
        double lambda = draw(&state, 0, 1.5);

        f.u[1] = fabs(f.u[1]);
        f.u[0] = -fabs(f.u[0]);
        for (int k = 0; k < 7; k++)
            g.p[k + 1] = f.p[k]; /* the face below */
        g.p[0] = draw(&state, 0, 1);
        g.u[0] = draw(&state, -1, 1);
        g.u[1] = f.u[0];
        g.u[2] = f.u[1];
        double up = mass_of(&f, lambda, 1, _i), down = -mass_of(&g, lambda, 1, _i);
        ck_assert_double_ge(down, 0);
        ck_assert_double_le(up + down, f.p[3] * (1 + 3e-16));
        ck_assert_double_le(up, f.p[3] * f.u[1] / (f.u[1] - f.u[0]) * (1 + 1e-15));
        full += up + down > f.p[3] * (1 - 1e-12);
    }
    ck_assert_int_gt(full, 100); /* the limit was reached */
}
END_TEST

START_TEST(mirrored_faces_have_the_opposite_mass)
{
    uint64_t state = 5;

    for (int trial = 0; trial < 100000; trial++) {
        face f = random_face(&state), g;
        double lambda = draw(&state, 0, 1.5);

        for (int k = 0; k < 8; k++)
            g.p[k] = f.p[7 - k];
        for (int k = 0; k < 3; k++)
            g.u[k] = -f.u[2 - k];
        ck_assert_double_eq(mass_of(&f, lambda, _i & 1, _i >> 1), -mass_of(&g, lambda, _i & 1, _i >> 1));
    }
}
END_TEST

/* ---- random fields ------------------------------------------------------------------------------------------- */

static void box(dense *d, int n)
{
    const int size[DENSE_DIM] = {n == 1 ? 40 : 9, 8, 7, 5};

    dense_create(d, n, NULL, size, 1);
    for (int j = 0; j < n; j++)
        d->width[j] = 0.5 + 0.25 * j;
}

static void fill_random(dense *d, uint64_t *state)
{
    for (long i = 0; i < d->cells; i++) {
        d->p[i] = draw(state, 0, 1) < 0.3 ? 0 : draw(state, 0, 1);
        for (int j = 0; j < d->n; j++)
            d->v[j][i] = draw(state, -1, 1) * d->width[j];
    }
}

static double lowest(const dense *d)
{
    double least = d->p[0];

    for (long i = 1; i < d->cells; i++)
        least = fmin(least, d->p[i]);
    return least;
}

START_TEST(random_fields_stay_positive_and_keep_their_sum)
{
    const double courant[] = {0.1, 0.5, 1, 1.4};
    uint64_t state = 6;
    dense d;

    box(&d, _i);
    for (int k = 0; k < 4; k++)
        for (int trial = 0; trial < 8; trial++) {
            fill_random(&d, &state);
            double before = dense_sum(&d);
            for (uint64_t number = 0; number < 20; number++) {
                split_step(&d, number, courant[k], trial & 3);
                /* A cell that is emptied on both sides is left with the rounding of its shares. */
                ck_assert_double_ge(lowest(&d), -4e-16 * dense_most(&d));
            }
            ck_assert_double_eq_tol(dense_sum(&d) / before, 1, 1e-13);
        }
    dense_destroy(&d);
}
END_TEST

/* Without cells that flow out on both sides: not even rounding. */
START_TEST(positivity_is_exact_where_nothing_diverges)
{
    uint64_t state = 7;
    dense d;

    box(&d, _i);
    for (int trial = 0; trial < 20; trial++) {
        fill_random(&d, &state);
        for (long i = 0; i < d.cells; i++)
            for (int j = 0; j < _i; j++)
                d.v[j][i] = trial % 2 ? fabs(d.v[j][i]) : -fabs(d.v[j][i]);
        for (uint64_t number = 0; number < 20; number++) {
            split_step(&d, number, 1, trial / 5);
            ck_assert_double_ge(lowest(&d), 0);
        }
    }
    dense_destroy(&d);
}
END_TEST

START_TEST(courant_number_one_shifts)
{
    for (int axis = 0; axis < _i; axis++)
        for (int sign = -1; sign <= 1; sign += 2) {
            dense d, old;
            uint64_t state = 8;

            box(&d, _i);
            box(&old, _i);
            fill_random(&d, &state);
            memcpy(old.p, d.p, (size_t)d.cells * sizeof *d.p);
            for (int j = 0; j < _i; j++)
                for (long i = 0; i < d.cells; i++)
                    d.v[j][i] = j == axis ? sign * d.width[j] : 0;
            split_step(&d, (uint64_t)axis, 1, (sign > 0) | (axis % 2 ? 0 : SPLIT_SEVENTH));
            for (long i = 0; i < d.cells; i++)
                ck_assert_double_eq_tol(d.p[i], old.p[dense_next(&d, i, axis, -sign)], 2.3e-16);
            dense_destroy(&d);
            dense_destroy(&old);
        }
}
END_TEST

/* Velocities that are the same along their own axis, any otherwise: no bit of a constant changes. */
START_TEST(constants_stay_where_no_axis_diverges)
{
    uint64_t state = 9;
    dense d;

    box(&d, _i);
    double *before = malloc((size_t)d.cells * sizeof *before);
    ck_assert_ptr_nonnull(before);
    for (long i = 0; i < d.cells; i++)
        before[i] = d.p[i] = 0.37;
    for (int trial = 0; trial < 10; trial++) {
        for (int j = 0; j < _i; j++)
            for (long i = 0; i < d.cells; i++) {
                long first = i - dense_coordinate(&d, i, j) * d.stride[j];

                d.v[j][i] = i == first ? draw(&state, -1.2, 1.2) * d.width[j] : d.v[j][first];
            }
        for (uint64_t number = 0; number < 4; number++)
            split_step(&d, number, 0.9, trial & 3);
        ck_assert_int_eq(memcmp(d.p, before, (size_t)d.cells * sizeof *before), 0);
    }
    free(before);
    dense_destroy(&d);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("split");
    TCase *one = tcase_create("one face"), *fields = tcase_create("random fields");

    tcase_set_timeout(one, 60);
    tcase_add_test(one, polynomials_are_the_integral);
    tcase_add_test(one, swept_fraction_to_third_order);
    tcase_add_loop_test(one, mass_is_at_most_the_upwind_cell, 0, 8);
    tcase_add_test(one, upwind_takes_a_fraction_of_the_cell);
    tcase_add_loop_test(one, two_sides_share_what_a_cell_holds, 0, 4);
    tcase_add_loop_test(one, mirrored_faces_have_the_opposite_mass, 0, 8);
    tcase_set_timeout(fields, 60);
    tcase_add_loop_test(fields, random_fields_stay_positive_and_keep_their_sum, 1, 5);
    tcase_add_loop_test(fields, positivity_is_exact_where_nothing_diverges, 1, 5);
    tcase_add_loop_test(fields, courant_number_one_shifts, 1, 5);
    tcase_add_loop_test(fields, constants_stay_where_no_axis_diverges, 1, 5);
    suite_add_tcase(suite, one);
    suite_add_tcase(suite, fields);
    return run_suite(suite);
}
