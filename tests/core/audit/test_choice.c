/* test_choice.c - samples that are chosen by their weights are those that one loop over all of them finds, on any
 * number of threads. */
#include "audit/samples.h"
#include "fixtures/suite.h"
#include <check.h>
#include <stdlib.h>

enum { SAMPLES = 200003, CHOSEN = 1000 };

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/* The definition, in one loop. */
static void choose(const double *weight, size_t samples, size_t *chosen)
{
    double sum = 0, passed = 0;
    size_t k = 0;

    for (size_t i = 0; i < samples; i++)
        sum += weight[i];
    for (size_t i = 0; i < samples && k < CHOSEN; i++) {
        passed += weight[i];
        while (k < CHOSEN && passed >= sum * ((double)k + 0.5) / CHOSEN)
            chosen[k++] = i;
    }
}

/* Kinds of weights: whole numbers up to 7, whose sums are exact in any order; all on one sample; none. */
static double weight_of(int kind, size_t i, uint64_t *state)
{
    const double number = (double)(int)(8 * uniform(state));

    return kind == 0 ? number : kind == 1 ? i == 7 : 0;
}

START_TEST(as_one_loop_does)
{
    static const size_t counts[] = {SAMPLES, 1001, 5};
    const int kind = _i % 3;
    const size_t samples = kind == 1 && counts[_i / 3] < 8 ? 8 : counts[_i / 3];
    double *weight = malloc(samples * sizeof *weight);
    size_t wanted[CHOSEN] = {0}, found[CHOSEN];
    uint64_t state = 3;

    ck_assert_ptr_nonnull(weight);
    for (size_t i = 0; i < samples; i++)
        weight[i] = weight_of(kind, i, &state);
    choose(weight, samples, wanted);
    for (int threads = 1; threads <= 3; threads++) {
        const gbees_montecarlo from = {.options.threads = threads, .count = samples, .weight = weight};

        gbees_samples_choose(&from, CHOSEN, 0.5, found);
        ck_assert_mem_eq(found, wanted, sizeof found);
    }
    free(weight);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("choice");
    TCase *tests = tcase_create("all");

    tcase_add_loop_test(tests, as_one_loop_does, 0, 9);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
