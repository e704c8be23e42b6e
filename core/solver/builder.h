/* builder.h - what the parts of gbees_problem_create() share; private to the solver. */
#ifndef GBEES_SOLVER_BUILDER_H
#define GBEES_SOLVER_BUILDER_H

#include "io/schema.h"
#include <gbees/gbees.h>

/* What the steps below share: the problem is filled from top to bottom. */
typedef struct builder {
    const gbees_model *model;
    const gbees_scenario *scenario;
    gbees_problem *problem;
    gbees_error *error;
    char size[32]; /* "dimension 3": why a list has to have so many numbers */
    double start;  /* if the scenario does not say: 0, or the initial record's */
    int resumed;   /* the initial density is a record: measurements before the start are in it ... */
    int updated;   /* ... and those at it, too */
} builder;

/* The scenario's value of a key, NULL if it has none. */
const gbees_node *builder_find(const builder *b, const char *key);
/* The same as a number, or `initial`. */
double builder_number(const builder *b, const char *key, double initial);
/* Whether a key is given as this very value. */
int builder_is_set(const builder *b, const char *key, const char *value);

/* The better of two guesses at what was meant; NULL if neither is near. */
const char *builder_nearer(const char *name, const char *guess, const char *best);
int builder_no_memory(const builder *b);
/* n x n, symmetric and positive definite. */
int builder_covariance(const gbees_node *node, const char *label, int n, const char *what, double *out,
                       gbees_error *error);

/* Fills problem->numerics: numerics.c. */
int builder_set_numerics(builder *b);
/* Fills problem->measurements: measurements.c. */
int builder_set_measurements(builder *b);

/* The key `initial`: initial.c. A mixture's Gaussians, mean and covariance, or a record with its grid. */
int builder_set_initial(builder *b);
/* Once the cells' widths are known: the Gaussians' boxes, `extent` standard deviations to each side, and the one
 * around all of them. Returns how many cells they have together. */
double builder_set_boxes(builder *b, const double *extent);

/* Turns the problem into the frame of its covariance, if it is to be: frame.c. */
int builder_set_frame(builder *b);
/* The problem, stated in the model's axes with its rotation set, in those of a turned grid; node: what asks for it.
 */
int builder_take_frame(builder *b, const gbees_node *node);

/* Fills problem->bounded and the range of J; the grid and the times are known: bound.c. */
int builder_set_bound(builder *b);

#endif
