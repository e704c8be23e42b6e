/* model.h - what the engine may call of the model, for GBEES_N states.
 *
 * The definitions are in equations.h. It comes last in a unit of its own (GBEES_SEPARATE, linked at run time) or
 * after the engine's text in one unit: so a model's macros can't reach the engine, and the engine's own names begin
 * with gbees_ or GBEES_, so that none of them can reach the model.
 */
#ifndef GBEES_DEVICE_MODEL_H
#define GBEES_DEVICE_MODEL_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#ifndef GBEES_N
#error "gbees: GBEES_N, the number of states, is not defined"
#endif

/* A linker of intermediate code checks no types: the model's unit has these prototypes, too. */
#ifndef GBEES_DEVICE
#define GBEES_MODEL_FUNCTION static inline __attribute__((unused)) /* the tests' platform of threads */
#elif defined(GBEES_SEPARATE)
#define GBEES_MODEL_FUNCTION extern "C" __device__
#else
#define GBEES_MODEL_FUNCTION static __device__ __forceinline__
#endif

GBEES_MODEL_FUNCTION void gbees_model_drift_f(float t, const float *x, const float *p, float *dxdt);
GBEES_MODEL_FUNCTION void gbees_model_drift_d(double t, const double *x, const double *p, double *dxdt);
/* Into n numbers, or n x n: zeros of a model without noise. */
GBEES_MODEL_FUNCTION void gbees_model_diffusion_d(double t, const double *x, const double *p, double *q);
/* NaN of a model that measures nothing. */
GBEES_MODEL_FUNCTION void gbees_model_measure_d(int which, double t, const double *x, const double *p, double *y);
/* NaN of a model that has none. */
GBEES_MODEL_FUNCTION double gbees_model_log_likelihood_d(int which, double t, const double *x, const double *p,
                                                         const double *y);
/* 0 of a model without a bound. */
GBEES_MODEL_FUNCTION double gbees_model_bound_d(double t, const double *x, const double *p);

#endif
