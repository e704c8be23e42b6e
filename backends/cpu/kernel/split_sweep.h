/* split_sweep.h - the sweep of the split schemes (split_sweep.c).  It is an object of its own, as one object of all
 * kernels would take twice as long to compile. */
#ifndef GBEES_CPU_SPLIT_SWEEP_H
#define GBEES_CPU_SPLIT_SWEEP_H

#include "kernel.h"
#include "target.h"

/* As `sweep` of struct kernel (kernel.h). */
int SYMBOL(cpu_sweep)(const kernel_context *c, const kernel_pencils *pencils, kernel_scratch *scratch,
                      kernel_sums *sums);

#endif
