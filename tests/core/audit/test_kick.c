/* test_kick.c - core/audit: the noise that samples get, and the numbers that it is made of. */
#include "audit/montecarlo.h"
#include "audit/samples.h"
#include "fixtures/suite.h"
#include "fixtures/world_fixture.h"
#include <math.h>
#include <stdio.h>

/* Numbers of a block are those of its samples one by one. */
START_TEST(a_blocks_numbers_are_its_samples)
{
    double z[4][SAMPLES_BLOCK];
    uint64_t sample[SAMPLES_BLOCK];

    for (uint64_t i = 0; i < SAMPLES_BLOCK; i++)
        sample[i] = i * i;
    for (uint64_t attempt = 0; attempt < 50; attempt++) {
        gbees_samples_fill(9, SAMPLES_BLOCK, sample, attempt, 1, SAMPLES_FOR_NOISE, z);
        for (int i = 0; i < SAMPLES_BLOCK; i++) {
            double own[4];

            gbees_samples_normals(9, sample[i], attempt, 1, SAMPLES_FOR_NOISE, own);
            for (int k = 0; k < 4; k++)
                ck_assert_double_eq(z[k][i], own[k]);
        }
    }
}
END_TEST

/* Kicks of models with few states share calls of the generator, also at the end of an interval: a number that was
 * used twice would make variances wrong, or states correlated. dx = -x dt + noise of q = 1/2, from next to a point.
 */
START_TEST(kicks_are_independent)
{
    enum { COUNT = 100000 };
    const gbees_montecarlo_options options = {.count = COUNT, .step = 0.01, .seed = 5};
    const int n = _i + 1;
    const double variance = 0.25 * (1 - exp(-2 * 0.21)), off = sqrt(2.0 / COUNT) * variance;
    char dimension[32];
    gbees_montecarlo *samples = NULL;
    gbees_error error = {GBEES_OK, ""};
    world w;

    (void)snprintf(dimension, sizeof dimension, "dimension=%d", n);
    world_create(&w, "linear",
                 (setting_list){dimension, "parameters={diagonal: -1, upper: 0, lower: 0, noise: 0.5}",
                                "covariance=[1e-12, ...]", "measurements=[]"});
    ck_assert_msg(gbees_montecarlo_create(w.problem, &options, &samples, &error) == GBEES_OK, "%s", error.text);
    for (int record = 1; record <= 3; record++) /* 7 steps and 8 kicks each */
        ck_assert_int_eq(gbees_montecarlo_advance(samples, w.problem->start + 0.07 * record, &error), GBEES_OK);
    for (int j = 0; j < n; j++)
        for (int k = 0; k <= j; k++) {
            double sum[3] = {0};

            for (size_t i = 0; i < COUNT; i++) {
                sum[0] += samples->x[j][i] / COUNT;
                sum[1] += samples->x[k][i] / COUNT;
                sum[2] += samples->x[j][i] * samples->x[k][i] / COUNT;
            }
            ck_assert_double_eq_tol(sum[2] - sum[0] * sum[1], j == k ? variance : 0, 5 * off);
        }
    gbees_montecarlo_destroy(samples);
    world_close(&w);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kick");
    TCase *tests = tcase_create("kick");

    tcase_add_test(tests, a_blocks_numbers_are_its_samples);
    tcase_add_loop_test(tests, kicks_are_independent, 0, 3);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
