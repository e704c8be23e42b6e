/* clones.h - an attribute that compiles a function for several x86 instruction sets. */
#ifndef GBEES_BASE_CLONES_H
#define GBEES_BASE_CLONES_H

/* Put before a function whose loops are worth vectorising: GCC compiles it for x86-64-v4, x86-64-v3 and the baseline,
 * and the loader chooses the best that the processor has. All versions have the same results, bit for bit, as the
 * project is compiled without contraction to FMA and without reordering of sums. Other compilers, processors and
 * sanitizers get the baseline. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 &&       \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define GBEES_PROCESSOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define GBEES_PROCESSOR_CLONES
#endif

#endif
