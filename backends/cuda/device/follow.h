/* follow.h - takes samples along the model's drift by steps of Dormand and Prince's pair, a thread a sample, each by
 * steps of its own, from stop to stop; a thread whose sample has been at all of them takes the next one. The
 * operations are those of core/lagrangian/batch.c in their order, so that results have the processor's bits for
 * drifts that consist of + - * / and sqrt. */
#ifndef GBEES_CUDA_FOLLOW_H
#define GBEES_CUDA_FOLLOW_H

#include "device/cells.h"
#include "device/integration.h"
#include "numerics/adaptive.h"
#include "numerics/dormand_prince.h"

enum { FOLLOW_STAGES = GBEES_DORMAND_PRINCE_STAGES };

/* A sample on its way. */
typedef struct follower {
    uint64_t place; /* among the samples */
    uint64_t stop;  /* where it goes */
    double x[DIM];
    double span;    /* of the time, from the stop before */
    double left;    /* of it, with a sign */
    double wanted;  /* the length of the next step */
    double growth;  /* the factor by which a step may be longer than the one before */
    double least;   /* the shortest length */
    double seen;    /* what was left when it was asked last whether it gets on */
    uint32_t tried; /* steps */
} follower;

GBEES_NUM int is_finite(double x)
{
    return fabs(x) < INFINITY;
}

/* Takes a step from f->x to next[DIM]. Returns its error, in units of what is allowed. */
GBEES_NUM double follow_step(const gbees_samples *c, const follower *f, double length, double *next)
{
    const gbees_stop *stop = &c->stop[f->stop];
    double slope[DIM][FOLLOW_STAGES], drift[DIM], fifth = 0, third = 0;

#pragma unroll
    for (int stage = 0; stage < FOLLOW_STAGES; stage++) {
#pragma unroll
        for (int j = 0; j < DIM; j++)
            next[j] = stage == 0 ? f->x[j] : f->x[j] + length * gbees_dormand_prince_slope(stage, slope[j], 1);
        gbees_model_drift_d(stop->time - f->left + gbees_dormand_prince_node(stage) * length, next, c->parameters,
                            drift);
#pragma unroll
        for (int j = 0; j < DIM; j++)
            slope[j][stage] = drift[j];
    }
#pragma unroll
    for (int j = 0; j < DIM; j++) {
        const double mean = gbees_dormand_prince_mean(slope[j], 1),
                     by = length / gbees_adaptive_allowed(c->tolerance * stop->scale[j], f->x[j], length * mean),
                     five = fabs(by * gbees_dormand_prince_fifth(slope[j], 1)),
                     three = fabs(by * gbees_dormand_prince_third(slope[j], 1, mean));

        next[j] = f->x[j] + length * mean;
        fifth = five <= fifth ? fifth : five; /* keeps one that is not a number */
        third = three <= third ? third : three;
    }
    return gbees_dormand_prince_error(fifth, third);
}

/* Ends the trajectory. */
GBEES_NUM void follow_end(follower *f)
{
#pragma unroll
    for (int j = 0; j < DIM; j++)
        f->x[j] = NAN;
    f->left = 0;
}

/* Whether a step that is as short as it may be is taken though its error is too large: where the drift jumps; else
 * the trajectory ends. */
GBEES_NUM int follow_goes_on(const gbees_samples *c, const follower *f, double shortest, const double *next)
{
    int goes_on = 1;

#pragma unroll
    for (int j = 0; j < DIM; j++)
        goes_on &=
            is_finite(next[j]) && (f->least > shortest || fabs(next[j] - f->x[j]) <= c->stop[f->stop].scale[j]);
    return goes_on;
}

/* Tries a step and, if it is taken, takes it. */
GBEES_NUM void follow_try(const gbees_samples *c, follower *f)
{
    const double length = gbees_adaptive_length(f->wanted, f->left);
    double next[DIM];
    const double error = follow_step(c, f, length, next);
    const int is_shortest = !(error <= 1) && gbees_adaptive_is_shortest(length, f->least),
              ends = is_shortest && !follow_goes_on(c, f, gbees_adaptive_shortest(f->span), next);

    f->wanted = gbees_adaptive_wanted(length, gbees_dormand_prince_factor(error), f->growth, f->least);
    f->growth = error <= 1 ? GBEES_ADAPTIVE_GROWTH : 1;
    f->tried++;
    if (ends)
        follow_end(f);
    else if (error <= 1 || is_shortest) {
#pragma unroll
        for (int j = 0; j < DIM; j++)
            f->x[j] = next[j];
        f->left -= length;
    }
    if (f->tried % GBEES_ADAPTIVE_WINDOW == 0 && f->left != 0) {
        f->least = gbees_adaptive_least(f->span, fabs(f->seen - f->left), f->least);
        f->wanted = f->wanted > f->least ? f->wanted : f->least;
        f->seen = f->left;
        if (f->tried >= c->stop[f->stop].steps)
            follow_end(f);
    }
}

/* Sets out from a time for the stop number f->stop. */
GBEES_NUM void follow_on(const gbees_samples *c, double from, follower *f)
{
    const gbees_stop *stop = &c->stop[f->stop];

    f->left = stop->time - from;
    f->span = fabs(f->left);
    f->wanted = stop->time_step;
    f->growth = GBEES_ADAPTIVE_GROWTH;
    f->least = gbees_adaptive_shortest(f->span);
    f->seen = INFINITY;
    f->tried = 0;
}

/* Notes where the sample is at its stop, or, once it is not finite, at that and those after it. Returns whether there
 * is one to go on to. */
GBEES_NUM int follow_note(const gbees_samples *c, follower *f)
{
    int finite = 1;

#pragma unroll
    for (int j = 0; j < DIM; j++)
        finite &= is_finite(f->x[j]);
    do {
#pragma unroll
        for (int j = 0; j < DIM; j++)
            c->places[((uint64_t)j * c->stop_count + f->stop) * c->count + f->place] = f->x[j];
        f->stop++;
    } while (!finite && f->stop < c->stop_count);
    return f->stop < c->stop_count;
}

/* Begins with the first sample from f->place on, of those of this thread, that is finite. Returns whether
 * there is one. */
GBEES_NUM int follow_next(const gbees_samples *c, uint64_t stride, follower *f)
{
    for (; f->place < c->count; f->place += stride) {
        int finite = 1;

        f->stop = 0;
#pragma unroll
        for (int j = 0; j < DIM; j++) {
            f->x[j] = c->x[(uint64_t)j * c->count + f->place];
            finite &= is_finite(f->x[j]);
        }
        if (finite) {
            follow_on(c, c->time, f);
            return 1;
        }
        (void)follow_note(c, f);
    }
    return 0;
}

/* Takes all samples to all stops, by all threads of the launch. */
GBEES_NUM void follow_pass(const gbees_samples *c)
{
    const uint64_t stride = (uint64_t)warp_count() * WARP_SIZE;
    uint64_t steps = 0;
    follower f;

    f.place = (uint64_t)warp_index() * WARP_SIZE + (uint64_t)warp_lane();
    int is_on = follow_next(c, stride, &f);

    while (is_on) {
        follow_try(c, &f);
        steps++;
        if (f.left != 0)
            continue;
        if (follow_note(c, &f)) {
            follow_on(c, c->stop[f.stop - 1].time, &f);
            continue;
        }
        f.place += stride;
        is_on = follow_next(c, stride, &f);
    }
    if (steps)
        atomic_add_64((int64_t *)c->evaluations, (int64_t)(FOLLOW_STAGES * steps));
}

#endif
