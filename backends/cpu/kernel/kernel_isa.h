/* kernel_isa.h - which instruction set a kernel's file is compiled for. */
#ifndef GBEES_CPU_KERNEL_ISA_H
#define GBEES_CPU_KERNEL_ISA_H

#ifndef GBEES_ISA
#define GBEES_ISA generic
#endif
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)

/* Bytes of a vector register. */
#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

#define INLINE static inline __attribute__((always_inline))

#endif
