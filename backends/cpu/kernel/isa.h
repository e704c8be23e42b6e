/* isa.h - the instruction sets that the kernels are compiled for: generic, neon, avx2, avx512, from slowest to
 * fastest. */
#ifndef GBEES_CPU_ISA_H
#define GBEES_CPU_ISA_H

#include "kernel.h"

/* The kernels of one instruction set, by the precision of the density. */
typedef struct kernel_set {
    const char *isa;
    const kernel *f32, *f64;
} kernel_set;

enum { ISA_MOST = 4 };

/* Sets sets[] to the kernels that this processor can run, the fastest last; returns their number. */
int isa_list(const kernel_set *sets[ISA_MOST]);

/* Returns the fastest of them, or, given a name, the fastest that is not faster than the named one; NULL: there is no
 * such name. */
const kernel_set *isa_choose(const char *name);

#endif
