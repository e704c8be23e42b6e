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
} builder;

/* The scenario's value of a key, NULL if it has none. */
const gbees_node *builder_find(const builder *b, const char *key);
/* The same as a number, or `initial`. */
double builder_number(const builder *b, const char *key, double initial);
/* Whether a key is given as this very value. */
int builder_is_set(const builder *b, const char *key, const char *value);

/* Fills problem->numerics: numerics.c. */
int builder_set_numerics(builder *b);

/* Turns the problem into the frame of its covariance, if it is to be: frame.c. */
int builder_set_frame(builder *b);

/* Fills problem->bounded and the range of J; the grid and the times are known: bound.c. */
int builder_set_bound(builder *b);

#endif
