/* kernel_moments.h - what kernel_moments.c gives the table of kernels. */
#ifndef GBEES_CPU_KERNEL_MOMENTS_H
#define GBEES_CPU_KERNEL_MOMENTS_H

#include "kernel.h"
#include "kernel_isa.h"

/* Of rows of floats, and of doubles. */
void PASTE(cpu_moments_f_, GBEES_ISA)(const kernel_context *c, const void *rows, uint32_t from, uint32_t to,
                                      kernel_moments *moments);
void PASTE(cpu_moments_d_, GBEES_ISA)(const kernel_context *c, const void *rows, uint32_t from, uint32_t to,
                                      kernel_moments *moments);

#endif
