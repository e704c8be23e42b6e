/* clones.h - versions of a function for kinds of processors. */
#ifndef GBEES_BASE_CLONES_H
#define GBEES_BASE_CLONES_H

/* Before a function that loops over many numbers: the compiler makes a version for each kind of processor, and the
 * loader chooses one. All have the same results: nothing is contracted or reordered. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 &&       \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define GBEES_PROCESSOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define GBEES_PROCESSOR_CLONES
#endif

#endif
