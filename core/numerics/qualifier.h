/* qualifier.h - how a function of the numerics is declared: for the host's compiler, or for a GPU's run-time one, for
 * which the backend has a <stdint.h> of its own. */
#ifndef GBEES_NUMERICS_QUALIFIER_H
#define GBEES_NUMERICS_QUALIFIER_H

#include <stdint.h>

#ifdef GBEES_DEVICE
#define GBEES_NUM static __device__ __forceinline__
#else
#define GBEES_NUM static inline __attribute__((always_inline)) /* loops over them are to be vectorised */
#endif

#endif
