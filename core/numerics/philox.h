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

/* A double and its bits. */
typedef union gbees_bits {
    double x;
    uint64_t word;
} gbees_bits;

GBEES_NUM double gbees_of_bits(uint64_t word)
{
    gbees_bits of;

    of.word = word;
    return of.x;
}

/* The natural logarithm of x > 0, not denormal, by fdlibm's polynomials: within a unit in the last place. With x =
 * 2^k m, m from sqrt(1/2) to sqrt(2): f = m - 1, s = f / (2 + f), log m = f - f^2/2 + s (f^2/2 + R). */
GBEES_NUM double gbees_logarithm(double x)
{
    const uint64_t one = 0x3ff0000000000000ull, root_half = 0x3fe6a09e667f3bcdull, fraction = 0x000fffffffffffffull,
                   whole = 0x4330000000000000ull; /* the bits of 2^52, whose last digit is worth 1 */
    gbees_bits of;

    of.x = x;
    const uint64_t bits = of.word + (one - root_half);
    const double k = gbees_of_bits(bits >> 52 | whole) - (4503599627370496.0 + 1023);
    const double f = gbees_of_bits((bits & fraction) + root_half) - 1, half = 0.5 * f * f;
    const double s = f / (2 + f), z = s * s, w = z * z;
    const double odd = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    const double even =
        z * (6.666666666666735130e-01 +
             w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));

    return k * 6.931471805599453094e-01 + (f - half + s * (half + odd + even));
}

/* With b = a^2, |a| <= pi / 4: for last = 17 sin(a) / a = 1 - b / (2 3) (1 - b / (4 5) (1 - ...)), for 16 cos(a) = 1
 * - b / (1 2) (1 - b / (3 4) (1 - ...)). */
GBEES_NUM double gbees_circular_series(double b, int last)
{
    double sum = 1;

    for (int k = last; k > 1; k -= 2)
        sum = 1 - sum * b * (1.0 / (k * (k - 1)));
    return sum;
}

/* Computes two independent standard normal numbers from two random words, by Box and Muller's method. Loops that call
 * it are vectorised, which those that call a library are not, and a GPU needs no local memory for large angles. */
GBEES_NUM void gbees_normal_pair(uint64_t first, uint64_t second, double *z0, double *z1)
{
    const uint64_t one = 0x3ff0000000000000ull;
    const double nearest = 6755399441055744.0; /* 3/2 2^52: a sum with it is a whole number */
    const double u = gbees_of_bits(first >> 12 | one) - (1 - 1.0 / 9007199254740992); /* in (0, 1) */
    const double turn = 4 * (gbees_of_bits(second >> 12 | one) - 1), quarter = turn + nearest - nearest;
    const double a = (turn - quarter) * 1.570796326794896619, b = a * a;
    const double sine = a * gbees_circular_series(b, 17), cosine = gbees_circular_series(b, 16);
    const int odd = quarter == 1 || quarter == 3, negative = quarter == 2 || quarter == 3;
    const double radius = sqrt(-2 * gbees_logarithm(u)), sign = negative ? -radius : radius;

    *z0 = sign * (odd ? -sine : cosine);
    *z1 = sign * (odd ? cosine : sine);
}

/* Computes four standard normal numbers z[4] for a sample. They depend on the arguments alone; any other combination
 * (sample, attempt, call, purpose) gives independent ones. */
GBEES_NUM void gbees_normals(uint64_t seed, uint64_t sample, uint64_t attempt, uint64_t call, uint64_t purpose,
                             double *z)
{
    uint64_t bits[4] = {sample, attempt, call, purpose};

    gbees_philox(seed, bits);
    gbees_normal_pair(bits[0], bits[1], &z[0], &z[1]);
    gbees_normal_pair(bits[2], bits[3], &z[2], &z[3]);
}

/* How many kicks of noise in a row, of n states, take their numbers from the same call of gbees_normals(), each n of
 * the four: where n is 1 or 2, most of the work is drawing them. */
GBEES_NUM int gbees_kicks_together(int n)
{
    return n == 1 ? 4 : n == 2 ? 2 : 1;
}

#endif
