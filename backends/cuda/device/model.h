/* model.h - the functions of the model that the engine calls, for GBEES_N states.
 *
 * Their definitions are in equations.h, which comes behind the engine's text, or is a unit of its own that is linked
 * at run time (GBEES_SEPARATE).  So the model's macros can't change the engine.  The engine's macros are defined when
 * the model's text is read: all begin with GBEES_, but BLOCK_LOCAL.
 */
#ifndef GBEES_DEVICE_MODEL_H
#define GBEES_DEVICE_MODEL_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#ifndef GBEES_ABSORBS
#define GBEES_ABSORBS 0
#endif
#ifndef GBEES_N
#error "gbees: GBEES_N, the number of states, is not defined"
#endif

/* Begins a function of the model.  The linker of intermediate code checks no types: so the model's unit includes
 * these prototypes, too. */
#ifndef GBEES_DEVICE
#define GBEES_MODEL_FUNCTION static inline __attribute__((unused)) /* the tests' platform of threads */
#elif defined(GBEES_SEPARATE)
#define GBEES_MODEL_FUNCTION extern "C" __device__
#else
#define GBEES_MODEL_FUNCTION static __device__ __forceinline__
#endif

/* Each takes the time t, a point x[n] and the parameters p; on a rotated grid points and results are along its axes.
 */

/* Sets dxdt[n] to the drift. */
GBEES_MODEL_FUNCTION void gbees_model_drift_f(float t, const float *x, const float *p, float *dxdt);
GBEES_MODEL_FUNCTION void gbees_model_drift_d(double t, const double *x, const double *p, double *dxdt);
/* Sets q to Q: [n], or [n][n] if it is full. Leaves it unset if the model has no noise. */
GBEES_MODEL_FUNCTION void gbees_model_diffusion_d(double t, const double *x, const double *p, double *q);
/* Sets y[] to measurement function number `which`; y[0] to NaN if the model has none. */
GBEES_MODEL_FUNCTION void gbees_model_measure_d(int which, double t, const double *x, const double *p, double *y);
/* The log-likelihood of the measured y[]; NaN if the model has no likelihood of its own. */
GBEES_MODEL_FUNCTION double gbees_model_log_likelihood_d(int which, double t, const double *x, const double *p,
                                                         const double *y);
/* J of the model's bound; 0 if it has none. */
GBEES_MODEL_FUNCTION double gbees_model_bound_d(double t, const double *x, const double *p);
#if GBEES_ABSORBS
/* The function of target number `which`. */
GBEES_MODEL_FUNCTION double gbees_model_target_d(int which, double t, const double *x, const double *p);
#endif

#endif
