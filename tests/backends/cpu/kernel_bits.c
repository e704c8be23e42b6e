/* kernel_bits.c - prints what the kernels of the best instruction set make of random densities: the same lines on
 * every processor. */
#include "cpu/kernel/isa.h"
#include "kernel_fields.h"
#include <stdlib.h>

int main(void)
{
    const kernel_set *set = isa_choose(getenv("GBEES_CPU_ISA"));

    if (!set)
        return 2;
    (void)fprintf(stderr, "%s\n", set->isa);
    for (int k = 0; k < FIELDS_CASES; k++)
        fields_write(stdout, set, fields_case_of(k));
    return 0;
}
