/* memory.h - how much memory the machine has left. */
#ifndef GBEES_BASE_MEMORY_H
#define GBEES_BASE_MEMORY_H

/* Bytes that can be taken before others have to go to disk; infinite where the system does not tell. */
double gbees_memory_available(void);

#endif
