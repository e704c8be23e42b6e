/* memory.h - how much memory the machine has left. */
#ifndef GBEES_BASE_MEMORY_H
#define GBEES_BASE_MEMORY_H

/* Bytes that can be taken before others have to go to disk, the control group's limit (a container's, a job's) ends
 * the program, or there is no address space (ulimit -v); infinite where the system does not tell. */
double gbees_memory_available(void);

/* The same without the address space, of a system whose files are below `root` ("" for this one): proc/meminfo,
 * proc/self/cgroup, sys/fs/cgroup. */
double gbees_memory_available_below(const char *root);

#endif
