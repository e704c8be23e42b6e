/* target.h - the instruction set and the precision that a kernel's object is compiled for.
 *
 * The build defines GBEES_ISA (generic, neon, avx2 or avx512) and GBEES_REAL_BITS (32 or 64).
 */
#ifndef GBEES_CPU_TARGET_H
#define GBEES_CPU_TARGET_H

#ifndef GBEES_ISA
#define GBEES_ISA generic
#endif
#ifndef GBEES_REAL_BITS
#define GBEES_REAL_BITS 64
#endif
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

/* A name that differs from object to object: NAME_ISA_f32 or NAME_ISA_f64. */
#define SYMBOL(name) PASTE(PASTE(PASTE(name, _), GBEES_ISA), PASTE(_f, GBEES_REAL_BITS))

#define INLINE static inline __attribute__((always_inline))
#define NOINLINE static __attribute__((noinline))

/* Bytes of a vector register, and the number of probabilities in it. */
#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
#define LANES (VECTOR_BYTES * 8 / GBEES_REAL_BITS)
#define LOG2_LANES (LANES == 16 ? 4 : LANES == 8 ? 3 : LANES == 4 ? 2 : 1)

/* The precision of the density, and the names of members of kernel_axis and kernel_drift in it.  TINY: smaller
 * probabilities are set to 0, as operations on denormal numbers are slow. */
#if GBEES_REAL_BITS == 32
typedef float real;
#define TINY 1e-30f
#define NEXT_AFTER nextafterf
#define ROOT sqrtf
#define COMPONENT component_f
#define VECTOR vector_f
#define PLANES planes_f
#define PARAMETERS parameters_f
#else
typedef double real;
#define TINY 1e-200
#define NEXT_AFTER nextafter
#define ROOT sqrt
#define COMPONENT component_d
#define VECTOR vector_d
#define PLANES planes_d
#define PARAMETERS parameters_d
#endif

/* The type and the names with which the templates of numerics/ are instantiated. */
#define GBEES_REAL real
#define GBEES_REAL_FN(name) name

#endif
