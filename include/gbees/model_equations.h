/* gbees/model_equations.h - defines a model's equations as functions of one point, in float and in double.
 *
 * It includes the plugin's file, GBEES_SOURCE_FILE, once with real = float and once with real = double. The model's
 * drift() becomes gbees_equation_drift_f() and gbees_equation_drift_d(), and likewise its other functions. The
 * functions of gbees/model_framed.h are defined with the same endings.
 *
 * It is included by gbees/model_build.h for a plugin, and by backends that compile the plugin's text at run time. A
 * backend may define GBEES_INLINE, GBEES_UNROLL (before short loops) and GBEES_UNROLL_ALL (before nested loops over
 * local arrays) for its compiler.
 */
#ifndef GBEES_MODEL_EQUATIONS_H
#define GBEES_MODEL_EQUATIONS_H

#ifndef GBEES_INLINE
#define GBEES_INLINE static inline __attribute__((always_inline, unused))
#define GBEES_UNROLL _Pragma("GCC unroll 8")
#define GBEES_UNROLL_ALL /* empty: only GPUs need it, where local arrays must become registers */
#endif

#define GBEES_PASTE_(a, b) a##b
#define GBEES_PASTE(a, b) GBEES_PASTE_(a, b)
#define GBEES_FN(name) GBEES_PASTE(name, GBEES_SUFFIX)

/* Before the model's text, whose macros must not affect them. */
#define real float
#define GBEES_SUFFIX _f
#include <gbees/model_framed.h>
#undef real
#undef GBEES_SUFFIX
#define real double
#define GBEES_SUFFIX _d
#include <gbees/model_framed.h>
#undef real
#undef GBEES_SUFFIX

#define GBEES_EQUATIONS 1
#define drift GBEES_FN(gbees_equation_drift)
#define measure GBEES_FN(gbees_equation_measure)
#define bound GBEES_FN(gbees_equation_bound)
#define log_likelihood GBEES_FN(gbees_equation_log_likelihood)
#define diffusion GBEES_FN(gbees_equation_diffusion)
#define target GBEES_FN(gbees_equation_target)
#define jump GBEES_FN(gbees_equation_jump)

#define real float
#define GBEES_SUFFIX _f
#include GBEES_SOURCE_FILE
#undef real
#undef GBEES_SUFFIX
#define real double
#define GBEES_SUFFIX _d
#include GBEES_SOURCE_FILE
#undef real
#undef GBEES_SUFFIX

#undef drift
#undef measure
#undef bound
#undef log_likelihood
#undef diffusion
#undef target
#undef jump
#undef GBEES_EQUATIONS

#endif
