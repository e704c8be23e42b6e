/* threads_asked.h - the number of threads that the environment asks for. */
#ifndef GBEES_BASE_THREADS_ASKED_H
#define GBEES_BASE_THREADS_ASKED_H

#include <stdlib.h>

enum { GBEES_THREADS_MOST = 256 };

/* Returns the first number of OMP_NUM_THREADS, which clusters set for each process and OpenMP reads in the same way,
 * but at most GBEES_THREADS_MOST; 0 if it is not set or does not begin with a positive number. */
static inline int gbees_threads_asked(void)
{
    const char *text = getenv("OMP_NUM_THREADS");
    char *end = NULL;
    const long number = text ? strtol(text, &end, 10) : 0;

    if (!text || end == text || (*end != '\0' && *end != ',' && *end != ' '))
        return 0;
    return number < 1 ? 0 : number > GBEES_THREADS_MOST ? GBEES_THREADS_MOST : (int)number;
}

#endif
