/* ceiling.h - the loops of `ceiling`, for the instruction set that the CPU backend would take. */
#ifndef GBEES_TEST_CEILING_H
#define GBEES_TEST_CEILING_H

#include <stddef.h>

/* `rounds` rounds of independent multiply-adds, `each` operations a round. */
typedef struct ceiling_loops {
    const char *name;
    double (*spin_float)(size_t rounds, double start);
    double (*spin_double)(size_t rounds, double start);
    double each_float, each_double;
} ceiling_loops;

/* By the rule of backends/cpu/kernel/isa.c, $GBEES_CPU_ISA included. */
const ceiling_loops *ceiling_choose(void);

/* to = from; and to changed in place, as a sweep does, `from` being ignored. */
void ceiling_copy(float *to, const float *from, size_t count);
void ceiling_scale(float *to, const float *from, size_t count);

#endif
