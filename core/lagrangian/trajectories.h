/* trajectories.h - takes points along a model's drift, each by steps of its own of Dormand and Prince's pair of order
 * 8 (numerics/dormand_prince.h), on this process's threads or on the backend's processor. */
#ifndef GBEES_LAGRANGIAN_TRAJECTORIES_H
#define GBEES_LAGRANGIAN_TRAJECTORIES_H

#include <gbees/backend.h>
#include <stddef.h>

typedef struct gbees_trajectories gbees_trajectories;

/* What a call finds for others with the same points: {0} at first. */
typedef struct gbees_travel_plan {
    double first;    /* the length of the first step that is tried */
    int is_constant; /* whether the divergence is the same everywhere: its mean over the way is `rate` */
    double rate;
} gbees_travel_plan;

/* Where points are taken, and how accurately. */
typedef struct gbees_travel {
    double from, to;     /* times; `to` may be the earlier one */
    const double *scale; /* [n], > 0: the unit of errors along each axis, as the density's standard deviations are */
    double tolerance;    /* the largest error of a step along an axis, in these units */
    int alone;           /* 1: the calling thread takes them, and any number of threads may call at a time */
    gbees_travel_plan *plan; /* of a call before, or for the next one; NULL: there is none */
    double *const *lowest;   /* lowest[k][i]: how far point i has come into target k (watch.h); NULL: not wanted */
} gbees_travel;

/* Makes what integrates points of a problem's model without noise.
 *   lender   a backend whose integrator is used if it has one, or NULL; it and the problem outlive what is made
 *   threads  of this process, as in gbees_engine_options */
int gbees_trajectories_create(const gbees_problem *problem, const gbees_backend *lender, int threads,
                              gbees_trajectories **made, gbees_error *error);
void gbees_trajectories_destroy(gbees_trajectories *trajectories);

/* Takes `count` points x[j][i], in the model's own axes, on their way. A point's result has the same bits for any
 * number of threads and whatever the other points are, but for the first step that is tried. Points that are not
 * finite are left as they are. A point that can't be followed, as its trajectory ends in between, becomes NAN along
 * all axes. stretch: receives, added to stretch[i], the integral of the drift's divergence along the trajectory,
 * which is log |det dx(to)/dx(from)|, to some 1e-8; NULL: not wanted. */
int gbees_trajectories_run(gbees_trajectories *trajectories, size_t count, double *const *x, double *stretch,
                           const gbees_travel *travel, gbees_error *error);

/* Where points are at the ends of legs: at[(j * legs + k) * count + i] is state j of point i at the end of leg k. */
typedef struct gbees_places {
    size_t count;
    int legs;
    const double *at; /* until the next call; NULL: there are none */
    double rate;      /* of the stretch along all legs, if that is wanted */
} gbees_places;

/* Has the backend's processor take `count` points x[j][i], which stay as they are, along legs of which each begins
 * where the one before ends, if it can and if it pays. The legs' `plan` is the first one's, their `alone` and
 * `lowest` are of no account. A point that ends on the way is NAN from there on; one that is not finite stays as it
 * is. stretches 1: the stretch is wanted: places->at stays NULL if the divergence is not the same everywhere */
int gbees_trajectories_places(gbees_trajectories *trajectories, size_t count, double *const *x, int stretches,
                              const gbees_travel *leg, int legs, gbees_places *places, gbees_error *error);

/* Whether that may be had at all. */
int gbees_trajectories_has_places(const gbees_trajectories *trajectories);

/* Calls work(context, item) for items 0 ... count - 1 on the threads, if all take so many nanoseconds that it pays:
 * threads stay for the next call. One thread at a time may call it. */
void gbees_trajectories_share(gbees_trajectories *trajectories, double nanoseconds, size_t count,
                              void (*work)(void *context, size_t item), void *context);

/* Whether the backend's processor takes so many points, if they go far enough. */
int gbees_trajectories_offloads(const gbees_trajectories *trajectories, size_t count);

/* Returns the evaluations of the drift so far, summed over the points. */
double gbees_trajectories_evaluations(const gbees_trajectories *trajectories);

#endif
