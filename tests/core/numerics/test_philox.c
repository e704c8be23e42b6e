/* test_philox.c - core/numerics: random numbers from a counter are those of the library that defines them. */
#include "fixtures/suite.h"
#include "numerics/philox.h"
#include <Random123/philox.h>
#include <check.h>
#include <stdlib.h>

START_TEST(words_are_those_of_random123)
{
    for (uint64_t k = 0; k < 200; k++) {
        const uint64_t key = k * 0x9e3779b97f4a7c15u;
        uint64_t v[4] = {k, k * k << 40, ~k, k << 63};
        const philox4x64_ctr_t counter = {{v[0], v[1], v[2], v[3]}};
        const philox4x64_key_t with = {{key, 0}};
        const philox4x64_ctr_t expected = philox4x64(counter, with);

        gbees_philox(key, v);
        for (int i = 0; i < 4; i++)
            ck_assert_uint_eq(v[i], expected.v[i]);
    }
}
END_TEST

/* The first four moments of many of them, each within five of its standard errors. */
START_TEST(normal_numbers_have_normal_moments)
{
    enum { CALLS = 50000 };
    double sum[5] = {0};

    for (uint64_t call = 0; call < CALLS; call++) {
        double z[4];

        gbees_normals(1, 2, 3, call, GBEES_RANDOM_NOISE, z);
        for (int i = 0; i < 4; i++)
            for (int k = 1; k <= 4; k++)
                sum[k] += pow(z[i], k) / (4 * CALLS);
    }
    ck_assert_double_eq_tol(sum[1], 0, 5 * sqrt(1.0 / (4 * CALLS)));
    ck_assert_double_eq_tol(sum[2], 1, 5 * sqrt(2.0 / (4 * CALLS)));
    ck_assert_double_eq_tol(sum[3], 0, 5 * sqrt(15.0 / (4 * CALLS)));
    ck_assert_double_eq_tol(sum[4], 3, 5 * sqrt(96.0 / (4 * CALLS)));
}
END_TEST

/* Box and Muller's formula by the C library, to some units in the last place, also at the ends of the words' range.
 */
START_TEST(normal_numbers_are_those_of_the_formula)
{
    enum { COUNT = 100000 };

    for (uint64_t k = 0; k < COUNT; k++) {
        uint64_t v[4] = {k, 0, 0, 0};
        double z[2];

        gbees_philox(1, v);
        v[0] = k < 52 ? ((uint64_t)1 << (12 + k)) - 1 : k < 104 ? ~(((uint64_t)1 << (k - 40)) - 1) : v[0];
        v[1] = k % 16 == 0 ? (k / 16 % 16) << 60 : v[1];
        gbees_normal_pair(v[0], v[1], &z[0], &z[1]);
        const double u = ((double)(v[0] >> 12) + 0.5) * 0x1p-52, turn = (double)(v[1] >> 12) * 0x1p-52;
        const double radius = sqrt(-2 * log(u)), pi = acos(-1);
        ck_assert_double_eq_tol(z[0], radius * cos(2 * pi * turn), 4e-15 * radius);
        ck_assert_double_eq_tol(z[1], radius * sin(2 * pi * turn), 4e-15 * radius);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("philox");
    TCase *tcase = tcase_create("philox");

    tcase_add_test(tcase, words_are_those_of_random123);
    tcase_add_test(tcase, normal_numbers_are_those_of_the_formula);
    tcase_add_test(tcase, normal_numbers_have_normal_moments);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
