/* parameters.h - the parameters' array of equations in single precision. */
#ifndef GBEES_BASE_PARAMETERS_H
#define GBEES_BASE_PARAMETERS_H

#include <gbees/problem.h>
#include <string.h>

/* Rounds p[GBEES_PARAMETER_VALUES] to f[GBEES_PARAMETER_VALUES]; what tables need is copied as it is. */
static inline void gbees_parameters_round(const double *p, float *f)
{
    for (int k = 0; k < GBEES_TABLES_AT; k++)
        f[k] = (float)p[k];
    memcpy(f + GBEES_TABLES_AT, p + GBEES_TABLES_AT, 2 * sizeof *f);
}

#endif
