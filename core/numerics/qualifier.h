/* qualifier.h - GBEES_NUM, which declares a function of the numerics: for the host's compiler, or for a GPU's
 * run-time compiler, for which the backend has a <stdint.h> of its own. */
#ifndef GBEES_NUMERICS_QUALIFIER_H
#define GBEES_NUMERICS_QUALIFIER_H

#include <stdint.h>

#ifdef GBEES_DEVICE
#define GBEES_NUM static __device__ __forceinline__
#else
#define GBEES_NUM static inline __attribute__((always_inline)) /* loops over them are to be vectorised */
#endif

#endif
