/* isa.c - lists the instruction sets that this build and the processor have, and chooses the fastest, or the fastest
 * up to a named one. */
#include "isa.h"
#include <string.h>

/* The place of a name in the order of isa.h; -1: there is no such name. */
static int rank(const char *name)
{
    static const char *const names[ISA_MOST] = {"generic", "neon", "avx2", "avx512"};

    for (int k = 0; k < ISA_MOST; k++)
        if (strcmp(names[k], name) == 0)
            return k;
    return -1;
}

int isa_list(const kernel_set *sets[ISA_MOST])
{
    int count = 0;

#if defined(__aarch64__)
    static const kernel_set neon = {"neon", &cpu_kernel_neon_f32, &cpu_kernel_neon_f64};

    sets[count++] = &neon; /* a part of every 64-bit ARM */
#else
    static const kernel_set generic = {"generic", &cpu_kernel_generic_f32, &cpu_kernel_generic_f64};

    sets[count++] = &generic;
#endif
#if defined(GBEES_X86)
    static const kernel_set avx2 = {"avx2", &cpu_kernel_avx2_f32, &cpu_kernel_avx2_f64};
    static const kernel_set avx512 = {"avx512", &cpu_kernel_avx512_f32, &cpu_kernel_avx512_f64};

    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        sets[count++] = &avx2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        sets[count++] = &avx512;
#endif
    return count;
}

const kernel_set *isa_choose(const char *name)
{
    const kernel_set *sets[ISA_MOST];
    int count = isa_list(sets), limit = name ? rank(name) : ISA_MOST;

    if (limit < 0)
        return NULL;
    while (count > 1 && rank(sets[count - 1]->isa) > limit)
        count--;
    return sets[count - 1];
}
