/* kernel_fields.h - what one instruction set's kernels make of random densities on random grids, as hashes. */
#ifndef GBEES_TESTS_KERNEL_FIELDS_H
#define GBEES_TESTS_KERNEL_FIELDS_H

#include "cpu/kernel/isa.h"
#include <stdio.h>

typedef struct fields_case {
    int n, cells;
    int f64;       /* double, not float */
    int drift_f64; /* of floats: drifts in double */
    int blind;     /* ctu does without flow masks, as where the drift depends on time */
    int apart;     /* drifts are asked for point by point, as where the model takes no planes */
} fields_case;

/* The cases: all dimensions, both precisions. */
enum { FIELDS_CASES = 8 * 3 };
fields_case fields_case_of(int number);

/* A line for each kernel: its name, and the hash of all that it has written. */
void fields_write(FILE *out, const kernel_set *set, fields_case how);

#endif
