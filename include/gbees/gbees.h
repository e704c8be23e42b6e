/* gbees/gbees.h - the library for applications: find a model, read a scenario, run it, look at the records.
 *
 *     gbees_registry_create -> gbees_registry_model -> gbees_scenario_create -> gbees_problem_create
 *         -> gbees_solver_create -> gbees_solver_run -> records
 *
 * Objects are opaque and owned by whoever created them; each has a _destroy that takes NULL.  No global state.
 */
#ifndef GBEES_GBEES_H
#define GBEES_GBEES_H

#include <gbees/backend.h>
#include <gbees/error.h>
#include <gbees/model.h>
#include <gbees/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

const char *gbees_version(void);

/* ---- registry: models and backends found on disk (core/module) ------------------------------------------- */

typedef struct gbees_registry gbees_registry;

/* Folders, searched in this order: plugin_path (colon-separated, may be NULL), $GBEES_PLUGIN_PATH,
 * ~/.local/lib/gbees/plugins, the build tree's if the program runs from it, the installed folder.
 * Backends: $GBEES_BACKEND_PATH, the build tree's, the installed folder.  Nothing is loaded yet. */
int gbees_registry_create(const char *plugin_path, gbees_registry **registry, gbees_error *error);
void gbees_registry_destroy(gbees_registry *registry);

/* Loads the model of that name, or the plugin file if `name` contains a '/'.  Unknown: the error names the nearest
 * name and the folders searched.  The model lives as long as the registry. */
int gbees_registry_model(gbees_registry *registry, const char *name, const gbees_model **model, gbees_error *error);
int gbees_registry_backend(gbees_registry *registry, const char *name, const gbees_backend **backend,
                           gbees_error *error);

/* Every .so found, in search order.  Exactly one of model/backend/problem is set; shadowed files (a name found
 * earlier on the path) are reported with a problem that says by which file. */
typedef struct gbees_module_info {
    const char *path;
    const gbees_model *model;
    const gbees_backend *backend;
    const char *problem; /* why it can't be used: the true reason */
} gbees_module_info;
int gbees_registry_scan(gbees_registry *registry, const gbees_module_info **list, size_t *count, gbees_error *error);
/* The folders searched, in order, whether or not they exist. */
int gbees_registry_folders(gbees_registry *registry, const char *const **folders, size_t *count);

/* ---- scenario: a YAML file and the changes made to it (core/io) ------------------------------------------- */

typedef struct gbees_scenario gbees_scenario;

/* Parses and checks against the schema: unknown keys, wrong types. `name` stands for the text in errors
 * ("FILE:LINE: ..."). */
int gbees_scenario_create(const char *text, const char *name, gbees_scenario **scenario, gbees_error *error);
int gbees_scenario_read(const char *path, gbees_scenario **scenario, gbees_error *error);
void gbees_scenario_destroy(gbees_scenario *scenario);
/* KEY=VALUE, the value in YAML; the same checks.  "parameters.NAME" sets one parameter. */
int gbees_scenario_set(gbees_scenario *scenario, const char *assignment, gbees_error *error);
/* Fills every key that `scenario` lacks from `defaults`. */
int gbees_scenario_merge(gbees_scenario *scenario, const gbees_scenario *defaults, gbees_error *error);
/* A folder of the existing codes: measurement0.txt is the initial Gaussian, measurement1.txt ... the later ones;
 * legs' lengths are the T of each file.  Measurements use the model's function `function` (NULL: its first). */
int gbees_scenario_measurements(gbees_scenario *scenario, const char *folder, const char *function,
                                gbees_error *error);
/* The scenario as YAML text, valid until it is changed or destroyed. */
const char *gbees_scenario_text(gbees_scenario *scenario);

/* ---- problem (core/solver) -------------------------------------------------------------------------------- */

/* Checks shapes, ranges, covariances. */
int gbees_problem_create(const gbees_model *model, const gbees_scenario *scenario, gbees_problem **problem,
                         gbees_error *error);
void gbees_problem_destroy(gbees_problem *problem);

/* ---- record: the density at one time, a value (core/solver) ------------------------------------------------ */

typedef struct gbees_cells gbees_cells; /* index + probability of the cells with P >= p*, sorted by index */

/* What has changed the sum of P: it grows by clipped + normalised - outflow - pruned (gbees_totals says more). */
typedef struct gbees_ledger {
    double clipped, outflow, pruned, normalised;
} gbees_ledger;

typedef struct gbees_record {
    const gbees_problem *problem;
    int leg, number; /* number 0 is the leg's initial density (after the update that opens it) */
    double time;
    double wall_s; /* since the run began */
    gbees_statistics statistics;
    gbees_totals totals;              /* since the start */
    gbees_ledger since;               /* since the record before; of the first, since the start */
    unsigned warnings;                /* gbees_warning bits that hold by now */
    const gbees_cells *cells;         /* NULL: the observer wants none */
    const gbees_marginals *marginals; /* as the backend made them; NULL: they are to be made of the cells */
} gbees_record;

enum { GBEES_LARGEST_PLANE = 1 << 25 }; /* entries of a 2-D marginal that are worth keeping: 256 MiB */

size_t gbees_cells_count(const gbees_cells *cells);
/* Copies cells first .. first+count-1: index[j] (or NULL) takes axis j, p (or NULL) the probabilities. */
void gbees_cells_copy(const gbees_cells *cells, size_t first, size_t count, int32_t *const *index, double *p);
/* Smallest and largest index along axis j. */
void gbees_cells_range(const gbees_cells *cells, int axis, int32_t *lo, int32_t *hi);
/* Dense marginals over the range: sum of P with index lo_a + i (and lo_b + k).  Row-major [a][b]; malloc()ed. */
int gbees_cells_marginal_1d(const gbees_cells *cells, int a, double **p, gbees_error *error);
int gbees_cells_marginal_2d(const gbees_cells *cells, int a, int b, double **p, gbees_error *error);

/* ---- warnings (core/solver) -------------------------------------------------------------------------------- */

/* The gbees_warning bits that hold; totals are NULL before the run. */
unsigned gbees_warnings(const gbees_problem *problem, const gbees_totals *totals);
enum { GBEES_WARNING_TEXT = 256 };
/* One line that says what is the matter and what to do about it, cut to fit. Totals may be NULL for those that hold
 * before the run. */
void gbees_warning_text(gbees_warning warning, const gbees_problem *problem, const gbees_totals *totals, char *text,
                        size_t size);

/* ---- solver (core/solver) ---------------------------------------------------------------------------------- */

typedef struct gbees_solver gbees_solver;

/* Called from gbees_solver_run(); each may be NULL.  A non-zero return stops the run: from `cancelled` with
 * GBEES_ECANCELLED, from the others with that status and what they wrote to error.
 *
 * Records and updates are told in their order, one at a time.  With `concurrent` set they are told from a thread of
 * the solver's own while the run goes on - so `progress` and `cancelled`, which stay where they are, may be called at
 * the same time, and be ahead of the records: by one, or by two if these are small.  All is told when
 * gbees_solver_run() returns, whatever it returns. */
typedef struct gbees_observer {
    void *context;
    int (*record)(void *context, const gbees_record *record, gbees_error *error);
    int (*update)(void *context, const gbees_problem *problem, int number, double time,
                  const gbees_evidence *evidence, gbees_error *error);
    /* A few times a second: fraction of the run's model time that is done. */
    int (*progress)(void *context, double time, double fraction, const gbees_totals *totals, gbees_error *error);
    int (*cancelled)(void *context);
    int concurrent; /* 1: record and update may be called by another thread */
    int marginals;  /* 1: they are wanted with each record, if the backend makes them */
    int no_cells;   /* 1: records without cells, which take no time */
} gbees_observer;

typedef struct gbees_summary {
    const gbees_problem *problem;
    gbees_totals totals;
    unsigned warnings;  /* gbees_warning bits */
    double wall_s;      /* of gbees_solver_run */
    double propagate_s; /* of the steps and updates alone: no records, no start-up */
} gbees_summary;

int gbees_solver_create(const gbees_problem *problem, const gbees_backend *backend,
                        const gbees_engine_options *options, gbees_solver **solver, gbees_error *error);
void gbees_solver_destroy(gbees_solver *solver);
int gbees_solver_run(gbees_solver *solver, const gbees_observer *observer, gbees_error *error);
/* So far; valid after a failed run, too. */
void gbees_solver_summary(const gbees_solver *solver, gbees_summary *summary);

/* ---- results on disk (core/io) ----------------------------------------------------------------------------- */

/* What a results folder says of its run beside the problem. */
typedef struct gbees_provenance {
    const char *plugin_path;
    const char *scenario; /* YAML text */
    const char *backend;
    const char *device;
    const char *command;
} gbees_provenance;

typedef struct gbees_writer gbees_writer;

/* The folder must not exist, or be empty; it is made at once, so that a run can't end in a folder that can't be
 * written. Layout: doc/results.md. */
int gbees_writer_create(const char *folder, const gbees_problem *problem, const gbees_provenance *provenance,
                        gbees_writer **writer, gbees_error *error);
int gbees_writer_record(gbees_writer *writer, const gbees_record *record, gbees_error *error);
int gbees_writer_update(gbees_writer *writer, int number, double time, const gbees_evidence *evidence,
                        gbees_error *error);
/* Marks the run as ended: state "complete", "failed" or "cancelled". */
int gbees_writer_finish(gbees_writer *writer, const char *state, const gbees_summary *summary, gbees_error *error);
void gbees_writer_destroy(gbees_writer *writer);

/* One record read back from a results folder. */
typedef struct gbees_snapshot {
    int leg, number, dimension;
    double time;
    uint64_t step; /* of this run and those that it goes on from */
    double origin[GBEES_MAX_DIM], width[GBEES_MAX_DIM];
    int rotated; /* the centre of cell i is origin + rotation (width * i); else rotation is the identity */
    double rotation[GBEES_MAX_DIM * GBEES_MAX_DIM];
    char name[GBEES_MAX_DIM][64], unit[GBEES_MAX_DIM][64];
    char model[64];
    double mass;               /* sum of P before normalisation: 1 + the total's changes; not a number if ... */
    gbees_ledger total, since; /* since the start, since the record before; ... the file is too old to have them */
    int warning_count;
    char warning[GBEES_WARNING_COUNT][GBEES_WARNING_TEXT];
    size_t count;
    int32_t *index[GBEES_MAX_DIM]; /* index[j][i] */
    double *p;
} gbees_snapshot;

typedef struct gbees_results gbees_results;
int gbees_results_open(const char *folder, gbees_results **results, gbees_error *error);
size_t gbees_results_count(const gbees_results *results); /* records, in order of leg and number */
int gbees_results_read(const gbees_results *results, size_t number, gbees_snapshot **snapshot, gbees_error *error);
void gbees_snapshot_destroy(gbees_snapshot *snapshot);
/* The centre of a cell along state j, wherever the grid's axes point. */
double gbees_snapshot_centre(const gbees_snapshot *snapshot, int j, size_t cell);
void gbees_results_destroy(gbees_results *results);

#ifdef __cplusplus
}
#endif
#endif
