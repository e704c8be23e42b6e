/* offline.h - the functions of the backend's descriptor that need no engine. */
#ifndef GBEES_CUDA_OFFLINE_H
#define GBEES_CUDA_OFFLINE_H

#include <gbees/backend.h>

/* As probe() and compile_only() of gbees_backend (gbees/backend.h). */
int cuda_probe(char *text, size_t size);
int cuda_compile_only(const gbees_problem *problem, const char *arch, gbees_line_sink *sink, void *context,
                      gbees_error *error);

#endif
