/* integrate.h - integrates samples of the model's equations, a thread a sample.  The operations are those of
 * core/audit/flow.c and montecarlo.c in their order, so that results have the processor's bits for drifts that
 * consist of + - * / and sqrt. */
#ifndef GBEES_CUDA_INTEGRATE_H
#define GBEES_CUDA_INTEGRATE_H

#include "device/integration.h"
#include "device/noise.h"
#include "numerics/noise_factor.h"
#include "numerics/sample_steps.h"

/* The parts into which a step may be cut, at most. */
#define INTEGRATE_SHORTEST 1048576.0

/* Takes a step of the classical Runge-Kutta method from x[DIM] to to[DIM]. Returns its doubt, an estimate of its
 * error. */
GBEES_NUM double runge_kutta(const gbees_samples *c, double t, double dt, const double *x, double *to)
{
    double sum[DIM], second[DIM], drift[DIM], point[DIM], doubt = 0;

    gbees_model_drift_d(t, x, c->parameters, sum);
#pragma unroll
    for (int j = 0; j < DIM; j++)
        point[j] = x[j] + dt / 2 * sum[j];
    gbees_model_drift_d(t + dt / 2, point, c->parameters, second);
#pragma unroll
    for (int j = 0; j < DIM; j++) {
        point[j] = x[j] + dt / 2 * second[j];
        sum[j] += 2 * second[j];
    }
    gbees_model_drift_d(t + dt / 2, point, c->parameters, drift);
#pragma unroll
    for (int j = 0; j < DIM; j++) {
        const double off = fabs(drift[j] - second[j]) * (dt / c->scale[j]);

        doubt = off <= doubt ? doubt : off; /* keeps one that is not a number */
        point[j] = x[j] + dt * drift[j];
        sum[j] += 2 * drift[j];
    }
    gbees_model_drift_d(t + dt, point, c->parameters, drift);
#pragma unroll
    for (int j = 0; j < DIM; j++)
        to[j] = x[j] + dt / 6 * (sum[j] + drift[j]);
    return doubt;
}

/* Integrates x[DIM] over dt: in one step, or in parts, which are halved until their doubt is at most doubt_most or
 * they are as short as they may be. */
GBEES_NUM void integrate_step(const gbees_samples *c, double t, double dt, double *x)
{
    double done = 0, part = dt;
    const double least = fabs(dt) / INTEGRATE_SHORTEST;

    while (fabs(done) < fabs(dt) * (1 - 1e-12)) {
        double trial[DIM];
        const double doubt = runge_kutta(c, t + done, part, x, trial);
        const int whole = part == dt;

        if (!(doubt <= c->doubt_most) && fabs(part) > least) {
            part /= 2;
            continue;
        }
#pragma unroll
        for (int j = 0; j < DIM; j++)
            x[j] = trial[j];
        if (whole || !(doubt < INFINITY)) /* done, or not finite: then the host finds the sample invalid */
            return;
        done += part;
        if (doubt < c->doubt_most / 16)
            part *= 2;
        if (fabs(part) > fabs(dt - done))
            part = dt - done;
    }
}

#if GBEES_DIFFUSION
enum { NORMALS = (DIM + 3) / 4 * 4 };

/* Adds the noise of a duration to x[DIM], with Q at x and the random numbers z[] of this sample, of which this kick's
 * begin at number `first`. */
GBEES_NUM void integrate_kick(const gbees_samples *c, double t, double duration, const double *z, int first,
                              double *x)
{
    double q[NOISE_ENTRIES], factor[DIM * DIM], own[DIM];

    gbees_model_diffusion_d(t, x, c->parameters, q);
    gbees_noise_factor(DIM, NOISE_FULL, q, 1, factor);
#pragma unroll
    for (int j = 0; j < DIM; j++) { /* z[first + j], without an address */
        own[j] = z[j];
#pragma unroll
        for (int k = 1; k < gbees_kicks_together(DIM); k++)
            own[j] = first == k * DIM ? z[k * DIM + j] : own[j];
    }
#pragma unroll
    for (int j = 0; j < DIM; j++)
#pragma unroll
        for (int k = NOISE_FULL ? 0 : j; k <= j; k++)
            x[j] += sqrt(duration) * factor[j * DIM + k] * own[k];
}

/* Draws the numbers z[] of a sample for the kicks that share them with this one. */
GBEES_NUM void integrate_draw(const gbees_samples *c, uint64_t sample, uint64_t kick, double *z)
{
#pragma unroll
    for (int call = 0; 4 * call < DIM; call++)
        gbees_normals(c->seed, sample, kick / (uint64_t)gbees_kicks_together(DIM), (uint64_t)call, GBEES_RANDOM_NOISE,
                      &z[4 * call]);
}
#endif

/* Integrates all samples, by all threads of the launch. */
GBEES_NUM void integrate_pass(const gbees_samples *c)
{
    const uint64_t stride = (uint64_t)warp_count() * WARP_SIZE;

    for (uint64_t i = (uint64_t)warp_index() * WARP_SIZE + (uint64_t)warp_lane(); i < c->count; i += stride) {
        const gbees_sample_steps steps =
            gbees_sample_steps_of(c->steps, c->time_step, c->is_timed, c->seed, i / GBEES_STEPS_BLOCK, c->first);
        double x[DIM];
#if GBEES_DIFFUSION
        double z[NORMALS] = {0};
#endif

#pragma unroll
        for (int j = 0; j < DIM; j++)
            x[j] = c->x[(uint64_t)j * c->count + i];
        for (uint64_t k = 0; k <= steps.count; k++) {
#if GBEES_DIFFUSION
            double middle;
            const double noise = gbees_sample_noise_length(&steps, k, &middle);
            const uint64_t kick = steps.number + k, part = kick % (uint64_t)gbees_kicks_together(DIM);

            if (k == 0 || part == 0)
                integrate_draw(c, c->number ? c->number[i] : i, kick, z);
            integrate_kick(c, c->time + middle, noise, z, (int)part * DIM, x);
#endif
            if (k < steps.count)
                integrate_step(c, c->time + gbees_sample_step_begin(&steps, k), gbees_sample_step_length(&steps, k),
                               x);
        }
#pragma unroll
        for (int j = 0; j < DIM; j++)
            c->x[(uint64_t)j * c->count + i] = x[j];
    }
}

#endif
