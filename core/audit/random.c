/* random.c - random numbers from a counter, as samples.h has them. */
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
