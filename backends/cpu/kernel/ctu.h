/* ctu.h - the passes of ctu over the bricks. They have an object of their own (ctu.c), as one object of all kernels
 * takes twice as long to compile. */
#ifndef GBEES_CPU_CTU_H
#define GBEES_CPU_CTU_H

#include "kernel.h"
#include "target.h"

/* The members of the kernels (kernel.h) with these names. */
void SYMBOL(cpu_transverse)(const kernel_context *c, uint32_t from, uint32_t to);
void SYMBOL(cpu_update)(const kernel_context *c, uint32_t from, uint32_t to, kernel_sums *sums);

#endif
