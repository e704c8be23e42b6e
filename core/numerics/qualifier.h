/* qualifier.h - GBEES_NUM, the qualifiers of each function in core/numerics, for the host's compiler or for a GPU's
 * run-time compiler (GBEES_DEVICE). The latter has no <stdint.h>; the backend gives it one. */
#ifndef GBEES_NUMERICS_QUALIFIER_H
#define GBEES_NUMERICS_QUALIFIER_H

#include <stdint.h>

#ifdef GBEES_DEVICE
#define GBEES_NUM static __device__ __forceinline__
#else
#define GBEES_NUM static inline __attribute__((always_inline)) /* so that loops that call them are vectorised */
#endif

#endif
