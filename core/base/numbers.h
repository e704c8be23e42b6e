/* numbers.h - numbers in order. */
#ifndef GBEES_BASE_NUMBERS_H
#define GBEES_BASE_NUMBERS_H

/* For qsort(): doubles, the least first. */
static inline int gbees_compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

#endif
