/* library.h - shared libraries of CUDA, wherever they are. */
#ifndef GBEES_CUDA_LIBRARY_H
#define GBEES_CUDA_LIBRARY_H

#include <gbees/error.h>

typedef enum library_kind {
    LIBRARY_SYSTEM, /* in the system's library path */
    LIBRARY_TOOLKIT /* there, or in a CUDA toolkit */
} library_kind;

/* Whether a library that was found will do; NULL: any. */
typedef struct library_test {
    int (*is_usable)(void *context, void *library);
    void *context;
} library_test;

/* The first usable one of `names` (best first, ended by NULL): in the folders of $GBEES_CUDA_LIBRARY_PATH and nowhere
 * else if that is set; else in the system's library path, then in the folders of $CUDA_HOME, $CUDA_PATH, the toolkit
 * found when gbees was built, and the usual ones. NULL: the error says where it was looked for. */
void *library_open(const char *const *names, library_kind kind, const library_test *test, gbees_error *error);
/* It stays in memory: a driver has threads, and who looks whether a GPU can be used opens all of them again. */
void library_close(void *library);
/* The toolkit's folder that was found when gbees was built. */
const char *library_toolkit(void);
/* NULL if there is none. */
void *library_symbol(void *library, const char *name);

#endif
