/* sets.h - the lattices of an engine: one for each part of the initial density, and the same on other lattices. Sums
 * are means over all of them, and how they differ tells the error. */
#ifndef GBEES_LAGRANGIAN_SETS_H
#define GBEES_LAGRANGIAN_SETS_H

#include "entered.h"
#include "sums.h"
#include "temper.h"
#include <gbees/backend.h>
#include <gbees/record.h>

enum { GBEES_LAGRANGIAN_SETS = 4 /* at most */ };

/* The lattices of one turn, one for each part of the initial density. */
typedef struct gbees_lattice_set {
    gbees_lattice_rule rule;
    double raised;           /* the rule's `most` is so many times larger than the problem and its accuracy ask for */
    gbees_lattice **lattice; /* [parts]; NULL: the part has lost its weight */
} gbees_lattice_set;

typedef struct gbees_own_marginals gbees_own_marginals;

/* What samples between the points say of the evidence (between.h). */
typedef struct gbees_between {
    double log_evidence, error; /* of all measurements so far, and the relative standard error */
    double bound;               /* what they added to the last certificate's bounds */
    double missed;              /* the sum of those that the measurements before have left */
    int32_t is_known;           /* 0: there are none, or none where the last measurement is possible */
    int32_t is_edged;           /* 1: a measurement was impossible at some points, so that the density has edges */
} gbees_between;

struct gbees_engine {
    const gbees_problem *problem;
    int threads, parts;
    gbees_source *source; /* [parts] */
    gbees_past past;
    int sets;                                     /* 2 at least */
    gbees_lattice_set set[GBEES_LAGRANGIAN_SETS]; /* [sets]: each has the whole density */
    gbees_totals totals;
    double log_evidence[GBEES_LAGRANGIAN_SETS]; /* of all measurements so far */
    double evidence_bound;                      /* of all measurements so far */
    gbees_certificate certificate;              /* of now, if is_certified */
    int is_certified;
    /* Estimates of how far the cells that were last made of now are off; 0: none were made. */
    double variation;                                   /* their total variation distance */
    double off[GBEES_MAX_DIM], off_edge[GBEES_MAX_DIM]; /* of marginals along the grid's axes: Wasserstein's distance,
                                                         * in cells, and Kolmogorov's */
    gbees_own_marginals *marginals;                     /* of now; NULL: not made */
    gbees_sums sums[GBEES_LAGRANGIAN_SETS];             /* of now; points = 0: not made */
    gbees_entered entered[GBEES_LAGRANGIAN_SETS];       /* of now, of targets that absorb */
    double entered_before[GBEES_MAX_TARGETS];           /* the totals at the last measurement */
    int limited; /* along so many directions the last update's lattices are as dense as they may be, but too coarse */
    double sharp;  /* the lattices of updates are so many times as dense as the problem asks for, for its accuracy */
    double beyond; /* the part of its bounds that is what lies beyond the tail; */
    double whole_beyond; /* the largest since the last measurement, as a part of what there was then */
    gbees_between between;
    double figure;      /* the largest difference of any figure in the last certificate of these lattices; 0: none */
    double evaluations; /* of the drift, before the engine was loaded */
    double pace;        /* evaluations of the drift per unit of time, of all points */
    int smoothed;       /* 1: the points have been taken back to the start, with their weights */
};

/* Creates an engine without lattices. */
int gbees_engine_open(const gbees_problem *problem, const gbees_engine_options *options, gbees_engine **engine,
                      gbees_error *error);
void gbees_engine_destroy(gbees_engine *engine);
/* gbees_backend.estimate. */
double gbees_engine_estimate(const gbees_problem *problem, double bricks);

/* Whether each set has points. */
int gbees_engine_has_points(const gbees_engine *engine);
/* Lists the lattices of a set that there are in list[parts]; returns their number. */
int gbees_engine_list(const gbees_engine *engine, int set, gbees_lattice **list);
/* Sums over the points of a set, which are made once for a density. */
int gbees_engine_sums(gbees_engine *engine, int set, gbees_sums *sums, gbees_error *error);
/* Their mean over all sets: the density's. */
int gbees_engine_all_sums(gbees_engine *engine, gbees_sums *sums, gbees_error *error);
/* Forgets what was found of the density, as it is another one. */
void gbees_engine_change(gbees_engine *engine);
/* Brings the totals up to date. */
void gbees_engine_count(gbees_engine *engine);
/* Drops the parts that hardly have any mass left. */
int gbees_engine_drop(gbees_engine *engine, int set, gbees_error *error);

#endif
