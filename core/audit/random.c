/* random.c - random numbers from a counter, as samples.h has them. */
#include "base/clones.h"
#include "samples.h"

void gbees_samples_normals(uint64_t seed, uint64_t sample, uint64_t attempt, uint64_t call, samples_purpose purpose,
                           double z[4])
{
    gbees_normals(seed, sample, attempt, call, (uint64_t)purpose, z);
}

void gbees_samples_uniforms(uint64_t seed, uint64_t sample, uint64_t attempt, uint64_t call, samples_purpose purpose,
                            double u[4])
{
    uint64_t bits[4] = {sample, attempt, call, (uint64_t)purpose};

    gbees_philox(seed, bits);
    for (int i = 0; i < 4; i++)
        u[i] = (double)(bits[i] >> 11) * 0x1p-53;
}

GBEES_PROCESSOR_CLONES static void normal_pairs(size_t count, const uint64_t *restrict first,
                                                const uint64_t *restrict second, double *restrict z0,
                                                double *restrict z1)
{
    for (size_t i = 0; i < count; i++)
        gbees_normal_pair(first[i], second[i], &z0[i], &z1[i]);
}

void gbees_samples_fill(uint64_t seed, size_t count, const uint64_t *sample, uint64_t attempt, uint64_t call,
                        samples_purpose purpose, double (*z)[SAMPLES_BLOCK])
{
    uint64_t words[4][SAMPLES_BLOCK];

    for (size_t i = 0; i < count; i++) {
        uint64_t bits[4] = {sample[i], attempt, call, (uint64_t)purpose};

        gbees_philox(seed, bits);
        for (int k = 0; k < 4; k++)
            words[k][i] = bits[k];
    }
    normal_pairs(count, words[0], words[1], z[0], z[1]);
    normal_pairs(count, words[2], words[3], z[2], z[3]);
}
