/* exact.h - sums of doubles without rounding: the same in every order, and for every distribution of the numbers
 * among ranks.
 *
 * A sum is one long fixed-point number, from the smallest double to the largest, in words of 32 bits that are kept in
 * 64: so up to 2^30 numbers are added without a carry, and the words of two sums add up like integers.
 */
#ifndef GBEES_BASE_EXACT_H
#define GBEES_BASE_EXACT_H

#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    EXACT_WORDS = 68,
    EXACT_LOWEST = -1074 /* the lowest bit is 2^EXACT_LOWEST */
};

/* A sum: word w counts units of 2^(32 w + EXACT_LOWEST). */
typedef struct exact_sum {
    int64_t word[EXACT_WORDS];
} exact_sum;

/* Adds a finite number. */
static inline void exact_add(exact_sum *sum, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    const unsigned exponent = bits >> 52 & 0x7ff, place = exponent ? exponent - 1 : 0, by = place % 32;
    const uint64_t mantissa = (bits & 0xfffffffffffff) | (exponent ? (uint64_t)1 << 52 : 0);
    const uint64_t low = (mantissa & 0xffffffff) << by, high = (mantissa >> 32) << by;
    const int64_t sign = bits >> 63 ? -1 : 1;
    int64_t *word = sum->word + place / 32;

    word[0] += sign * (int64_t)(low & 0xffffffff);
    word[1] += sign * (int64_t)((low >> 32) + (high & 0xffffffff));
    word[2] += sign * (int64_t)(high >> 32);
}

/* Adds another sum. Both together may have had at most 2^30 numbers added since their last exact_carry(). */
static inline void exact_merge(exact_sum *sum, const exact_sum *other)
{
    for (int w = 0; w < EXACT_WORDS; w++)
        sum->word[w] += other->word[w];
}

/* Carries, so that all words but the last are 0 .. 2^32 - 1; returns whether the sum is negative. */
static inline int exact_carry(exact_sum *sum)
{
    int64_t carry = 0;

    for (int w = 0; w < EXACT_WORDS; w++) {
        const int64_t word = sum->word[w] + carry;

        carry = word >> 32;
        sum->word[w] = w + 1 < EXACT_WORDS ? word - carry * ((int64_t)1 << 32) : word;
    }
    return sum->word[EXACT_WORDS - 1] < 0;
}

/* The sum as a double: a function of the exact sum alone, however it was added up. */
static inline double exact_value(const exact_sum *sum)
{
    exact_sum s = *sum;
    const int negative = exact_carry(&s);
    double value = 0;

    for (int w = 0; w < EXACT_WORDS && negative; w++)
        s.word[w] = -s.word[w];
    if (negative)
        (void)exact_carry(&s);
    for (int w = EXACT_WORDS - 1; w >= 0; w--)
        value += s.word[w] ? ldexp((double)s.word[w], 32 * w + EXACT_LOWEST) : 0;
    return negative ? -value : value;
}

#endif
