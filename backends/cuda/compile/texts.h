/* texts.h - the engine's texts, embedded in the module, which NVRTC includes by name. */
#ifndef GBEES_CUDA_TEXTS_H
#define GBEES_CUDA_TEXTS_H

#include <stddef.h>

/* A text and its name. */
typedef struct cuda_text {
    const char *name;        /* as in #include: "device/model.h", "numerics/ctu.h" */
    const char *begin, *end; /* *end is NUL */
} cuda_text;

enum { CUDA_TEXTS_MOST = 96 };

/* Sets *texts to the list of all texts; returns how many there are, at most CUDA_TEXTS_MOST. */
size_t cuda_texts(const cuda_text **texts);

#endif
