/* buzhash.h - the hash of a multi-index by a cyclic polynomial (BuzHash; paper, section 4.2).
 *
 * H(i_1 ... i_n) = rot^{n-1} g(i_1) xor ... xor rot^0 g(i_n), with g a pseudo-random function of one index:
 * the finaliser of splitmix64 in place of a table, so that every 32-bit index has a value of its own.
 */
#ifndef GBEES_NUMERICS_BUZHASH_H
#define GBEES_NUMERICS_BUZHASH_H

#include "qualifier.h"

/* g(index): the finaliser of splitmix64. */
GBEES_NUM uint64_t gbees_buzhash_symbol(int32_t index)
{
    uint64_t z = (uint64_t)(uint32_t)index + 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* H(key[n]). */
GBEES_NUM uint64_t gbees_buzhash(const int32_t *key, int n)
{
    uint64_t hash = 0;

    for (int j = 0; j < n; j++)
        hash = ((hash << 1) | (hash >> 63)) ^ gbees_buzhash_symbol(key[j]);
    return hash;
}

#endif
