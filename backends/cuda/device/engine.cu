/* engine.cu - the kernels of the engine. */
#include "model.h"
#include "numerics/brick.h"
#include "numerics/buzhash.h"
#include "numerics/likelihood.h"

#ifndef GBEES_REAL
#define GBEES_REAL float
#endif

extern "C" __global__ void gbees_drift(const double *x, const double *p, double t, int count, double *out)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    double at[GBEES_N], rate[GBEES_N];

    if (i >= count)
        return;
    for (int j = 0; j < GBEES_N; j++)
        at[j] = x[j * count + i];
    gbees_model_drift_d(t, at, p, rate);
    for (int j = 0; j < GBEES_N; j++)
        out[j * count + i] = rate[j];
}

extern "C" __global__ void gbees_drift_single(const float *x, const float *p, float t, int count, float *out)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    float at[GBEES_N], rate[GBEES_N];

    if (i >= count)
        return;
    for (int j = 0; j < GBEES_N; j++)
        at[j] = x[j * count + i];
    gbees_model_drift_f(t, at, p, rate);
    for (int j = 0; j < GBEES_N; j++)
        out[j * count + i] = rate[j];
}

extern "C" __global__ void gbees_measure(int which, const double *x, const double *p, double t, int count, double *y)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    double at[GBEES_N], seen[8] = {0};

    if (i >= count)
        return;
    for (int j = 0; j < GBEES_N; j++)
        at[j] = x[j * count + i];
    gbees_model_measure_d(which, t, at, p, seen);
    for (int j = 0; j < 8; j++)
        y[j * count + i] = seen[j];
}
