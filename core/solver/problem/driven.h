/* driven.h - a model some of whose parameters follow tables.
 *
 * The problem gets a model's card of its own: its functions, at a time t, copy the parameters, set those of tables to
 * their values at t, and call the plugin's; its text, which a GPU's compiler reads, has the tables. So no engine
 * knows of tables: to it such a model is one whose equations depend on the time. Where the functions find the tables
 * is in the problem's parameters, at GBEES_TABLES_AT.
 */
#ifndef GBEES_SOLVER_PROBLEM_DRIVEN_H
#define GBEES_SOLVER_PROBLEM_DRIVEN_H

#include <gbees/error.h>
#include <gbees/problem.h>

/* Replaces the model and the functions of a problem that has a dimension, parameters and tables, which become the
 * card's; its grid is not yet rotated. Returns GBEES_ENOMEM if there is no memory. */
int gbees_driven_create(gbees_problem *problem, gbees_error *error);
/* Frees the card and the tables of a problem that has any. */
void gbees_driven_destroy(gbees_problem *problem);

#endif
