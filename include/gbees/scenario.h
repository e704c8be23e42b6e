/** @file gbees/scenario.h
 * A scenario: keys and values from YAML and from options (core/scenario), and the problem that follows from it and a
 * model (core/solver/problem).
 */
#ifndef GBEES_SCENARIO_H
#define GBEES_SCENARIO_H

#include <gbees/error.h>
#include <gbees/model.h>
#include <gbees/problem.h>

GBEES_BEGIN

/** Keys and values (doc/scenario.md), each with the place that it comes from, for errors. */
typedef struct gbees_scenario gbees_scenario;

/** Parses YAML and checks each key and value. GBEES_EINPUT: the text begins with the place, "NAME:LINE: ...".
 * @param name the NAME in errors
 */
int gbees_scenario_create(const char *text, const char *name, gbees_scenario **scenario, gbees_error *error);
/** Does the same with a file's text. GBEES_EINPUT or GBEES_EIO. */
int gbees_scenario_read(const char *path, gbees_scenario **scenario, gbees_error *error);
/** Frees the scenario; NULL is allowed. */
void gbees_scenario_destroy(gbees_scenario *scenario);
/** Sets a key, with the same checks.
 * @param assignment KEY=VALUE, the value in YAML; the keys "parameters.NAME" and "output.NAME" set one entry of these
 * maps
 */
int gbees_scenario_set(gbees_scenario *scenario, const char *assignment, gbees_error *error);
/** Copies the keys that `scenario` lacks from `defaults`. It does not copy `accuracy` if `scenario` itself has a key
 * that defines the grid, the threshold, the scheme or an initial record: such a scenario is one run and not a search
 * (doc/scenario.md, "What wins"). */
int gbees_scenario_merge(gbees_scenario *scenario, const gbees_scenario *defaults, gbees_error *error);
/** A scenario of the model's own, which lives as long as the model.
 * @return NULL: it has none of this name
 */
const gbees_model_scenario *gbees_scenario_find_own(const gbees_model *model, const char *name);
/** Merges a scenario of the model's own, as gbees_scenario_merge() does. Its `frame: moving` does not apply if
 * `scenario` has `bound`, `mode`, `regrid`, `rotate` or `time_step`, which are of grids at rest. GBEES_EINPUT: it has
 * none of this name.
 * @param name NULL: its first, which is the default
 */
int gbees_scenario_merge_own(gbees_scenario *scenario, const gbees_model *model, const char *name,
                             gbees_error *error);
/** Has states that are on circles by the model alone be on lines, which is all that other filters know: sets
 * `states: lines`, unless the scenario has that key, or the model walls. */
int gbees_scenario_unroll(gbees_scenario *scenario, const gbees_model *model, gbees_error *error);
/** Sets the measurements from a folder or a file.
 *
 * A folder in the format of the reference codes is read at once: measurement0.txt is the initial Gaussian,
 * measurement1.txt ... are the measurements, and T in each file is the length of a leg. A file is a table
 * (doc/scenario.md, "Measurements in a table"); the scenario keeps its name, and gbees_scenario_load() reads it.
 * @param function the model's measurement function; NULL: its first for a folder, and for a table the one that its
 * columns name
 */
int gbees_scenario_measurements(gbees_scenario *scenario, const char *path, const char *function, gbees_error *error);
/** Replaces a table's name in `measurements: {file: ...}` by the table's rows; does nothing if there is none. If the
 * scenario has no `end`, it is set to the time of the last row. GBEES_EINPUT or GBEES_EIO. */
int gbees_scenario_load(gbees_scenario *scenario, const gbees_model *model, gbees_error *error);
/** Returns the scenario as YAML; valid until the scenario is changed or destroyed. NULL: not enough memory. */
const char *gbees_scenario_text(gbees_scenario *scenario);
/** Copies a scenario but for the accuracy that it asks for: a problem of the copy is run once. */
int gbees_scenario_copy_once(gbees_scenario *scenario, gbees_scenario **copy, gbees_error *error);

/* ---- output ---- */

/** Which records' densities a run writes to disk; the time series has all records. */
typedef enum gbees_densities {
    GBEES_DENSITIES_ALL,     /**< each, or each whose number is a multiple of `every` */
    GBEES_DENSITIES_LAST,    /**< those at the end of the run */
    GBEES_DENSITIES_NONE,    /**< none */
    GBEES_DENSITIES_AT_TIMES /**< those at given times, or the first ones after these */
} gbees_densities;
/** What a run writes to disk: the key `output` of its scenario. */
typedef struct gbees_output {
    gbees_densities densities; /**< which records are written */
    int every;                 /**< with GBEES_DENSITIES_ALL: each so many, counted over the run; 0: each */
    size_t time_count;         /**< with GBEES_DENSITIES_AT_TIMES: entries of `times` */
    double *times;             /**< model times, rising */
    int every_step;            /**< 1: the time series has a row after each step, too */
    int records_apart;         /**< 1: a file for each record, in place of one for the run */
} gbees_output;
/** Reads the key.
 * @param end of the run: later times are errors, or ignored where they come from another source than the end
 */
int gbees_output_create(const gbees_scenario *scenario, double end, gbees_output **output, gbees_error *error);
/** Frees it. */
void gbees_output_destroy(gbees_output *output);

/* ---- problem ---- */

/** Creates a problem from a model and a scenario, and checks what depends on several keys or on the model.
 * GBEES_EINPUT. The model must outlive the problem; the scenario need not. */
int gbees_problem_create(const gbees_model *model, const gbees_scenario *scenario, gbees_problem **problem,
                         gbees_error *error);
/** Frees the problem; NULL is allowed. */
void gbees_problem_destroy(gbees_problem *problem);

GBEES_END
#endif
