/* library.h - finds and opens CUDA's shared libraries. */
#ifndef GBEES_CUDA_LIBRARY_H
#define GBEES_CUDA_LIBRARY_H

#include <gbees/error.h>

/* Where a library is searched. */
typedef enum library_kind {
    LIBRARY_SYSTEM, /* in the system's library path */
    LIBRARY_TOOLKIT /* there, or in a CUDA toolkit */
} library_kind;

/* A function that decides whether a library that was found can be used: returns 1 if it can. */
typedef struct library_test {
    int (*is_usable)(void *context, void *library);
    void *context;
} library_test;

/* Opens the first usable library of `names` (best first, ended by NULL; test NULL: any is usable).  If
 * $GBEES_CUDA_LIBRARY_PATH is set, only its folders are searched; else the system's library path, then, for
 * LIBRARY_TOOLKIT, $CUDA_HOME, $CUDA_PATH, the toolkit found when gbees was built, and the usual folders.  Returns
 * NULL, with an error that lists the folders searched, if there is none. */
void *library_open(const char *const *names, library_kind kind, const library_test *test, gbees_error *error);
/* Closes a library, or NULL.  The library stays in memory (RTLD_NODELETE): a driver has threads that still run its
 * code, and after a probe of the GPU a run opens the same libraries again. */
void library_close(void *library);
/* The folder of the toolkit found when gbees was built. */
const char *library_toolkit(void);
/* Returns a function of the library; NULL: it has none of that name. */
void *library_symbol(void *library, const char *name);

#endif
