/** @file gbees/gbees.h
 * The library for applications: find a model, read a scenario, run it, read the records.
 *
 *     gbees_registry_create -> gbees_registry_model -> gbees_scenario_create -> gbees_problem_create
 *         -> gbees_solver_create -> gbees_solver_run -> records
 *
 * Objects are opaque. The caller owns what a `_create`, `_read` or `_open` returns, and frees it with the `_destroy`
 * of its type, which takes NULL, too. Functions that return int and take a gbees_error return a gbees_status and set
 * their outputs on success only. There is no global state.
 */
#ifndef GBEES_GBEES_H
#define GBEES_GBEES_H

#include <gbees/audit.h>
#include <gbees/backend.h>
#include <gbees/checkpoint.h>
#include <gbees/error.h>
#include <gbees/model.h>
#include <gbees/problem.h>
#include <gbees/record.h>
#include <gbees/refinement.h>
#include <gbees/registry.h>
#include <gbees/results.h>
#include <gbees/scenario.h>
#include <gbees/solver.h>
#include <gbees/spread.h>
#include <gbees/stream.h>
#include <gbees/truth.h>

GBEES_BEGIN

/** The version, "1.2.3". */
const char *gbees_version(void);

GBEES_END
#endif
