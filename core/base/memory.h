/* memory.h - how much memory this process can still allocate. */
#ifndef GBEES_BASE_MEMORY_H
#define GBEES_BASE_MEMORY_H

#include <math.h>
#include <unistd.h>

/* Returns the bytes that can be allocated before the system swaps, before the limit of the process's control group
 * (of a container or a job) is reached, or before there is no address space (ulimit -v), whichever is least; INFINITY
 * if the system does not tell. */
double gbees_memory_available(void);

/* The machine's memory in bytes; INFINITY if it is not known. */
static inline double gbees_memory_of_machine(void)
{
    const double pages = (double)sysconf(_SC_PHYS_PAGES), size = (double)sysconf(_SC_PAGESIZE);

    return pages > 0 && size > 0 ? pages * size : INFINITY;
}

/* For tests: the same without the address space, read from files below `root` in place of "/": proc/meminfo,
 * proc/self/cgroup, sys/fs/cgroup. */
double gbees_memory_available_below(const char *root);

#endif
