/* texts.h - what the run-time compiler includes: the engine's texts, embedded here, under the names in #include. */
#ifndef GBEES_CUDA_TEXTS_H
#define GBEES_CUDA_TEXTS_H

#include <stddef.h>

typedef struct cuda_text {
    const char *name;        /* "model.h", "numerics/ctu.h" */
    const char *begin, *end; /* *end is NUL */
} cuda_text;

enum { CUDA_TEXTS_MOST = 64 };

/* Their number, at most CUDA_TEXTS_MOST. */
size_t cuda_texts(const cuda_text **texts);

#endif
