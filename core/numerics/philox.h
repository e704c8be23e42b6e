/* philox.h - counter-based random numbers: Philox 4x64 with ten rounds (Salmon et al., "Parallel random numbers: as
 * easy as 1, 2, 3", SC 2011). The bits are the same on CPU and GPU, for any order of the calls. */
#ifndef GBEES_NUMERICS_PHILOX_H
#define GBEES_NUMERICS_PHILOX_H

#include "qualifier.h"
#include <math.h>

/* Purposes of random numbers: the last word of the counter, so that no two purposes share numbers. */
enum {
    GBEES_RANDOM_START,
    GBEES_RANDOM_NOISE,
    GBEES_RANDOM_PART,
    GBEES_RANDOM_CELL,
    GBEES_RANDOM_ISLAND,
    GBEES_RANDOM_MEASUREMENT,
    GBEES_RANDOM_PHASE,
    GBEES_RANDOM_JUMP,
    GBEES_RANDOM_BRIDGE
};

/* The upper 64 bits of a product. */
GBEES_NUM uint64_t gbees_multiply_high(uint64_t a, uint64_t b)
{
#ifdef GBEES_DEVICE
    return __umul64hi(a, b);
#else
    __extension__ typedef unsigned __int128 wide;

    return (uint64_t)((wide)a * b >> 64);
#endif
}

/* Replaces the counter v[4] by four random words. */
GBEES_NUM void gbees_philox(uint64_t key, uint64_t *v)
{
    uint64_t k0 = key, k1 = 0;

    for (int round = 0; round < 10; round++) {
        const uint64_t high0 = gbees_multiply_high(0xd2e7470ee14c6c93ull, v[0]), low0 = 0xd2e7470ee14c6c93ull * v[0];
        const uint64_t high1 = gbees_multiply_high(0xca5a826395121157ull, v[2]), low1 = 0xca5a826395121157ull * v[2];

        v[0] = high1 ^ v[1] ^ k0;
        v[1] = low1;
        v[2] = high0 ^ v[3] ^ k1;
        v[3] = low0;
        k0 += 0x9e3779b97f4a7c15ull;
        k1 += 0xbb67ae8584caa73bull;
    }
}

/* Computes two independent standard normal numbers z[2] from two random words bits[2], by Box and Muller's method. */
GBEES_NUM void gbees_normal_pair(const uint64_t *bits, double *z)
{
    const double u = (double)((bits[0] >> 11) + 1) * (1.0 / 9007199254740992); /* (0, 1]: its logarithm is finite */
    const double turn = (double)(bits[1] >> 11) * (1.0 / 9007199254740992), radius = sqrt(-2 * log(u));

#ifdef GBEES_DEVICE /* sin() and cos() would reduce large angles, which takes local memory */
    sincospi(2 * turn, &z[1], &z[0]);
#else
    z[0] = cos(turn * 6.283185307179586);
    z[1] = sin(turn * 6.283185307179586);
#endif
    z[0] *= radius;
    z[1] *= radius;
}

/* Computes four standard normal numbers z[4] for a sample. They depend on the arguments alone; any other combination
 * (sample, attempt, call, purpose) gives independent ones. */
GBEES_NUM void gbees_normals(uint64_t seed, uint64_t sample, uint64_t attempt, uint64_t call, uint64_t purpose,
                             double *z)
{
    uint64_t bits[4] = {sample, attempt, call, purpose};

    gbees_philox(seed, bits);
    gbees_normal_pair(bits, z);
    gbees_normal_pair(bits + 2, z + 2);
}

#endif
