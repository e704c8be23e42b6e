/* memory.c - see memory.h. Linux tells it in /proc/meminfo. */
#include "memory.h"
#include <math.h>
#include <stdio.h>

double gbees_memory_available(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    char line[128];
    double kilobytes = INFINITY;

    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %lf kB", &kilobytes) == 1)
            break;
    if (file)
        (void)fclose(file);
    return 1024 * kilobytes;
}
