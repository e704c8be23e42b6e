/* batch.h - integrates points side by side, each by steps of its own length. */
#ifndef GBEES_LAGRANGIAN_BATCH_H
#define GBEES_LAGRANGIAN_BATCH_H

#include <gbees/problem.h>
#include <stddef.h>
#include <stdint.h>

/* Points side by side: so few that in six dimensions their slopes stay in the first cache. */
enum { GBEES_BATCH = 32 };

/* What all points of a call share. */
typedef struct gbees_journey {
    const gbees_problem *problem;
    const gbees_functions *functions;  /* of the model, in its own axes */
    double from, to;                   /* times */
    double first;                      /* the length of the first step that is tried, > 0 */
    double most;                       /* steps that are tried for a point, about: then it is given up */
    double scale[GBEES_MAX_DIM];       /* the unit of errors along each axis */
    double allowed[GBEES_MAX_DIM + 1]; /* the largest error of a step along each axis, and of the stretch */
    double beside[GBEES_MAX_DIM];      /* half the length along each axis over which the divergence is a difference */
    int stretches;                     /* 1: the integral of the divergence is integrated, too */
} gbees_journey;

/* Takes the points number first ... first + count - 1 of x[j][] on their way; adds to stretch[] if the journey
 * stretches, and lowers lowest[k][] unless `lowest` is NULL (watch.h). Returns how often the drift was evaluated. */
uint64_t gbees_batch_run(const gbees_journey *journey, size_t first, size_t count, double *const *x, double *stretch,
                         double *const *lowest);

/* Returns the length of a first step that suits most of `count` <= GBEES_BATCH points at journey->from, and adds to
 * *evaluations. */
double gbees_batch_first_step(const gbees_journey *journey, size_t count, const double *const *x,
                              uint64_t *evaluations);

/* Sets sum[i] to the drift's divergence at `count` <= 2 GBEES_BATCH points, and adds to size[i] its terms' absolute
 * values, or NULL. times: of each point; NULL: all at `time`. */
void gbees_batch_divergence(const gbees_journey *journey, size_t count, const double *times, double time,
                            const double *const *x, double *sum, double *size);

#endif
