/* past.h - evaluates points of a lattice: their trajectories from the start to now, through all jumps and
 * measurements so far. */
#ifndef GBEES_LAGRANGIAN_PAST_H
#define GBEES_LAGRANGIAN_PAST_H

#include "lattice.h"
#include "source.h"
#include "trajectories.h"

/* A measurement or a jump that has been applied. */
typedef struct gbees_past_event {
    int is_jump;
    int instant; /* of a jump: its number, counted from 0 */
    double sign; /* of a jump: as that of gbees_point_jump */
    gbees_measurement measurement;
    double time;                 /* when the clock applied it */
    double log_peak;             /* the logarithm of the largest likelihood; INFINITY: only the model knows it */
    double scale[GBEES_MAX_DIM]; /* deviations after it: the tolerance of the trajectories from there on is relative
                                  * to them */
} gbees_past_event;

/* What the trajectories have gone through. */
typedef struct gbees_past {
    const gbees_problem *problem;
    gbees_trajectories *trajectories;
    double start, now;           /* model time */
    double scale[GBEES_MAX_DIM]; /* deviations at the start */
    int count;                   /* measurements and jumps */
    size_t capacity;
    int measured;         /* of them measurements */
    gbees_past_event *of; /* [count] */
    int threads;
    double tolerance;                /* of trajectories' steps, in deviations */
    uint64_t bytes_most;             /* that lattices may take */
    int (*cancelled)(void *context); /* NULL: the run can't be cancelled */
    void *context;
} gbees_past;

/* What is being applied: the likelihood of a measurement to the power beta, so that the weights that count are
 * exp(log_weight + beta gain). */
typedef struct gbees_update {
    const gbees_measurement *measurement; /* NULL: none */
    double beta;                          /* 0 to 1 */
    double log_peak;                      /* as that of gbees_past_event */
} gbees_update;

/* None. */
extern const gbees_update gbees_no_update;

/* Adds a measurement that has been applied at `now`. */
int gbees_past_add(gbees_past *past, const gbees_update *update, const double *scale, gbees_error *error);

/* Takes all points of a lattice, which are at `now`, through a jump; sign: as that of gbees_point_jump. */
int gbees_past_jump(const gbees_past *past, gbees_lattice *lattice, const gbees_instant *instant, const double *scale,
                    double *sign, gbees_error *error);
/* Adds a jump that has been made at `now`. */
int gbees_past_add_jump(gbees_past *past, const gbees_instant *instant, double sign, const double *scale,
                        gbees_error *error);

/* Sets the log weight, the place and the stretch of the points from number `first` on, which are at their start: from
 * the initial density through all measurements so far to `now`, and their gain by the update, if there is one.
 * Points that have left every bound before a measurement have the log weight -INFINITY; so have those whose log
 * weight will not be above `least` whatever the likelihoods to come: they are followed no further, and most[number],
 * unless it is NULL, is set to what it could still have become. GBEES_ENUMERIC: a likelihood is not a number.
 * GBEES_ECANCELLED. */
int gbees_past_evaluate(const gbees_past *past, const gbees_source *source, gbees_lattice *lattice, uint32_t first,
                        const gbees_update *update, double least, double *most, gbees_error *error);

/* Notes how far the points have come into targets until now, when a measurement is applied: what has entered before
 * is no part of the density any more. */
void gbees_past_settle(const gbees_past *past, gbees_lattice *lattice);

/* Sets the gain of all points, which are at `now`, by a measurement. */
int gbees_past_weigh(const gbees_past *past, gbees_lattice *lattice, const gbees_measurement *measurement,
                     gbees_error *error);

/* Takes all points from `now` to a time, with a tolerance relative to scale[n]; the caller sets `now` once it has
 * done so for all lattices. */
int gbees_past_advance(const gbees_past *past, gbees_lattice *lattice, const double *scale, double time,
                       gbees_error *error);

#endif
