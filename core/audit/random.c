/* random.c - random numbers from a counter (Random123's Philox), as samples.h has them. */
#include "samples.h"
#include <Random123/philox.h>
#include <math.h>

static philox4x64_ctr_t bits_of(uint64_t seed, uint64_t sample, uint64_t attempt, uint64_t call,
                                samples_purpose purpose)
{
    const philox4x64_ctr_t counter = {{sample, attempt, call, (uint64_t)purpose}};
    const philox4x64_key_t key = {{seed, 0}};

    return philox4x64(counter, key);
}

/* Box and Muller on four 53-bit numbers of one call. */
void gbees_samples_normals(uint64_t seed, uint64_t sample, uint64_t attempt, uint64_t call, samples_purpose purpose,
                           double z[4])
{
    const philox4x64_ctr_t bits = bits_of(seed, sample, attempt, call, purpose);

    for (int i = 0; i < 4; i += 2) {
        double u = (double)((bits.v[i] >> 11) + 1) * 0x1p-53; /* (0, 1]: its logarithm is finite */
        double angle = (double)(bits.v[i + 1] >> 11) * 0x1p-53 * 6.283185307179586;
        double radius = sqrt(-2 * log(u));

        z[i] = radius * cos(angle);
        z[i + 1] = radius * sin(angle);
    }
}

void gbees_samples_uniforms(uint64_t seed, uint64_t sample, uint64_t attempt, uint64_t call, samples_purpose purpose,
                            double u[4])
{
    const philox4x64_ctr_t bits = bits_of(seed, sample, attempt, call, purpose);

    for (int i = 0; i < 4; i++)
        u[i] = (double)(bits.v[i] >> 11) * 0x1p-53;
}
