/* builder.h - the parts of gbees_problem_create(), and what they share; private to the solver. */
#ifndef GBEES_SOLVER_PROBLEM_BUILDER_H
#define GBEES_SOLVER_PROBLEM_BUILDER_H

#include "scenario/schema.h"
#include <gbees/gbees.h>

/* The problem under construction. Its parts are filled in the order of the functions below. */
typedef struct builder {
    const gbees_model *model;
    const gbees_scenario *scenario;
    gbees_problem *problem;
    gbees_error *error;
    char size[32]; /* "dimension 3": the reason for the length of a list, for errors */
    double start;  /* the default of `start`: 0, or the time of the initial record */
    int resumed;   /* 1: the initial density is a record, which measurements before the start have updated already */
    int updated;   /* 1: it has been updated by those at the start, too */
    gbees_state_range range[GBEES_MAX_DIM]; /* of the states: circles and walls */
    int unrolled;                           /* 1: the model's own circles are lines */
    int unroll;                             /* set to 1 by an error that there would not be if they were */
} builder;

/* The scenario's value of a key, NULL if it has none. */
const gbees_node *builder_find(const builder *b, const char *key);
/* The value as a number; `initial` if the scenario has none. */
double builder_number(const builder *b, const char *key, double initial);
/* Whether the scenario has exactly this text as the key's value. */
int builder_is_set(const builder *b, const char *key, const char *value);

/* Which of two names is nearer to `name`; NULL if neither is near. `best` may be NULL. */
const char *builder_nearer(const char *name, const char *guess, const char *best);
int builder_no_memory(const builder *b);
/* Reads a covariance to out[n * n] and checks that it is symmetric and positive definite. See
 * gbees_node_matrix(). */
int builder_covariance(const gbees_node *node, const char *label, int n, const char *what, double *out,
                       gbees_error *error);

/* The same of a covariance that may be 0 in some directions: symmetric and positive semidefinite. */
int builder_semidefinite(const gbees_node *node, const char *label, int n, const char *what, double *out,
                         gbees_error *error);

/* numerics.c: fills problem->numerics. */
int builder_set_numerics(builder *b);
/* measurements.c: fills problem->measurements. */
int builder_set_measurements(builder *b);

/* tables.c: fills problem->tables, and makes the model one that follows them; dimension and parameters are known. */
int builder_set_tables(builder *b);
/* tables.c: refuses tables that do not reach from the start to the end of the run. */
int builder_check_tables(builder *b);

/* targets.c: fills problem->targets; the initial density and its frame are known. */
int builder_set_targets(builder *b);

/* instants.c: fills problem->instants; the times and the measurements are known. */
int builder_set_instants(builder *b);
/* instants.c: fails if the run, whose numerics are known, can't make the jumps. */
int builder_check_instants(builder *b);
/* instants.c: whether the scenario gives a jump an error. */
int builder_jumps_have_errors(const builder *b);

/* initial.c: reads the key `initial`: a mixture's Gaussians, mean and covariance, or a record with its grid. */
int builder_set_initial(builder *b);
/* initial.c: sets the boxes of the Gaussians, `extent` standard deviations to each side, and the box around all;
 * the cell widths are known. Returns the number of cells in them. */
double builder_set_boxes(builder *b, const double *extent);

/* frame.c: rotates the grid to the eigenvectors of the covariance, if `rotate` is yes or the grid moves. */
int builder_set_frame(builder *b);
/* frame.c: with `frame: moving`, makes the grid one that moves; its cells are known. */
int builder_set_moving(builder *b);
/* frame.c: transforms the problem from the model's axes to those of its rotation. node: the key that errors name. */
int builder_take_frame(builder *b, const gbees_node *node);

/* lagrangian.c: with `frame: lagrangian` or `auto`, makes the density one of points that go with the flow; the
 * initial density is known. */
int builder_set_lagrangian(builder *b);
/* lagrangian.c: whether the diffusion is not 0 at the initial mean, or, with `around`, a deviation from it along a
 * state, at the start, the end, or between. The backend checks every cell. */
int builder_has_noise(const builder *b, int around);

/* regrids.c: fills problem->regrids; the times and the mode are known. */
int builder_set_regrids(builder *b);

/* ranges.c: sets the ranges of the states, by the model and the scenario. */
int builder_set_states(builder *b);
/* ranges.c: refuses frames that have lines only. */
int builder_check_frame(builder *b);
/* ranges.c: whether state j is on a circle or has a wall. */
int builder_is_closed(const builder *b, int j);
/* ranges.c: whether any state is. */
int builder_is_any_closed(const builder *b);
/* ranges.c: whether any state has a wall. */
int builder_has_walls(const builder *b);
/* ranges.c: makes axes of circles lines along which the states go on. The problem keeps their periods. */
void builder_unroll(builder *b);
/* ranges.c: fits width, cell 0 and Gaussians to the ranges; the widths asked for are known, the Gaussians' boxes are
 * set afterwards. extent[n]: half-sizes of the initial box in standard deviations. */
int builder_close_axes(builder *b, const double *extent);
/* ranges.c: sets the ranges for the cells of an initial record. */
int builder_close_record(builder *b);
/* ranges.c: refuses what ranges do not go with; all else is known. */
int builder_check_states(builder *b);

/* bound.c: fills problem->bounded and the range of J; the grid and the times are known. */
int builder_set_bound(builder *b);

#endif
