/* isa.c - see isa.h. */
#include "isa.h"
#include <string.h>

/* Where on the list it is; -1: nowhere. */
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
    sets[count++] = cpu_kernels_neon(); /* a part of every 64-bit ARM */
#else
    sets[count++] = cpu_kernels_generic();
#endif
#if defined(GBEES_X86)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        sets[count++] = cpu_kernels_avx2();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        sets[count++] = cpu_kernels_avx512();
#endif
    return count;
}

const kernel_set *isa_choose(const char *name)
{
    const kernel_set *sets[ISA_MOST];
    int count = isa_list(sets), limit = name ? rank(name) : ISA_MOST;

    if (limit < 0)
        return NULL;
    while (count > 1 && rank(sets[count - 1]->single.isa) > limit)
        count--;
    return sets[count - 1];
}
