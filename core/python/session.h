/* session.h - the library as the Python package calls it by ctypes: a run, or the runs of a search for an accuracy.
 * The calls take and return plain numbers and few structs, which Python has to mirror.
 *
 *     gbees_session_create -> (gbees_session_open -> gbees_session_run -> gbees_session_close), as long as
 *         gbees_session_plan() returns 1 -> gbees_session_conclude -> gbees_session_destroy
 *     gbees_session_create, with `stream` -> gbees_session_predict, gbees_session_update -> gbees_session_destroy
 *
 * Python calls gbees_session_run() with its interpreter lock released; each callback takes the lock. Functions that
 * take `error` return a gbees_status. Strings and structs that are returned belong to the session, which is not
 * thread-safe except for gbees_session_cancel().
 */
#ifndef GBEES_PYTHON_SESSION_H
#define GBEES_PYTHON_SESSION_H

#include <gbees/rivals.h>

typedef struct gbees_session gbees_session;

/* What to run. */
typedef struct gbees_session_options {
    const char *model;       /* its name, or the path of a plugin */
    const char *plugin_path; /* folders that are searched first, separated by colons; NULL: none */
    const char *backend;     /* its name */
    const char *otherwise;   /* that of a small grid, or where `backend` can't be used; NULL: that one or none */
    const char *scenario;    /* YAML; the model's default gives the keys that it lacks. NULL: the default */
    const char *own;         /* name of a scenario of the model, whose keys come before the default's; NULL: none */
    const char *folder;      /* folder with measurements in the reference codes' format; NULL: none */
    int threads;             /* 0: OMP_NUM_THREADS, or as many as the machine has */
    int audit;               /* 1: records have certificates */
    size_t samples;          /* number of the audit's samples; 0: adapted to the run's work */
    const char *compare;     /* filters to compare with, as gbees_rivals_parse() reads them; NULL: none */
    int stream; /* 1: measurements arrive one by one, to an end that is not known. An accuracy holds if the
                 * YAML asks for it */
} gbees_session_options;

/* The grid of a record. The centre of the cell with index i is origin + rotation (width * i). */
typedef struct gbees_session_grid {
    double origin[GBEES_MAX_DIM];
    double width[GBEES_MAX_DIM];
    double rotation[GBEES_MAX_ENTRIES]; /* n x n, row-major */
    size_t count;                       /* number of cells */
    const gbees_cells *cells;           /* NULL: none */
} gbees_session_grid;

/* A record (gbees_record), valid during the callback. */
typedef struct gbees_session_record {
    int leg, number, dimension;
    int smoothed; /* 1: the density given all measurements */
    double time, wall_s, mass, entropy;
    double mean[GBEES_MAX_DIM];
    double covariance[GBEES_MAX_ENTRIES];                      /* n x n, row-major */
    double direction[GBEES_MAX_DIM], resultant[GBEES_MAX_DIM]; /* of states on a circle; else NaN */
    double clipped, outflow, pruned;                           /* mass, since the start */
    uint64_t steps, cells;
    unsigned warnings;                    /* gbees_warning bits */
    const gbees_certificate *certificate; /* NULL: the run has no audit */
    const gbees_sample_list *samples;     /* NULL: none */
    gbees_session_grid grid;
    int target_count;
    struct {
        const char *name, *kind; /* kind: as a scenario has it */
        gbees_target_state state;
    } targets[GBEES_MAX_TARGETS];
} gbees_session_record;

typedef void gbees_session_on_record(const gbees_session_record *record);
typedef void gbees_session_on_update(int number, double time, const gbees_evidence *evidence);
typedef void gbees_session_on_progress(double time, double fraction);

/* Python's callbacks for a run; each may be NULL. */
typedef struct gbees_session_observer {
    gbees_session_on_record *record;
    gbees_session_on_update *update;
    gbees_session_on_progress *progress;
} gbees_session_observer;

/* Sets sizes to the bytes of gbees_session_record, gbees_certificate, gbees_evidence and gbees_functions, with which
 * Python checks its own declarations. */
void gbees_session_sizes(size_t sizes[4]);

/* Loads model and backend and creates the problem. */
int gbees_session_create(const gbees_session_options *options, gbees_session **session, gbees_error *error);
/* Frees the session; NULL is allowed. */
void gbees_session_destroy(gbees_session *session);

/* Returns the name of the backend. */
const char *gbees_session_backend(const gbees_session *session);
/* Returns the number of states. */
int gbees_session_dimension(const gbees_session *session);
/* Returns the name (unit = 0) or the unit (unit = 1) of state j. */
const char *gbees_session_state(const gbees_session *session, int j, int unit);
/* Returns the accuracy that the scenario asks for, or 0. */
double gbees_session_accuracy(const gbees_session *session);
/* Returns the scenario as YAML, of the best run once there is one, until the session is destroyed. */
const char *gbees_session_scenario(gbees_session *session);

/* Prepares the next run.
 * @param folder results folder, which must not exist; NULL: nothing is written
 */
int gbees_session_open(gbees_session *session, const char *folder, gbees_error *error);
/* Computes the run, and plans the next one if there is an accuracy. */
int gbees_session_run(gbees_session *session, const gbees_session_observer *observer, gbees_error *error);
/* Frees what gbees_session_open() has created, but for the writer of the best run of a search. */
void gbees_session_close(gbees_session *session);
/* After a run that has failed with GBEES_EUNSUPPORTED and has been closed: whether another is planned in its place
 * (gbees_refinement_retry()). */
int gbees_session_retry(gbees_session *session);
/* Ends a search for an accuracy: the last run is the best one, with the warnings of the search, and its folder gets
 * the list of all runs. Of a single run it does nothing. */
int gbees_session_conclude(gbees_session *session, gbees_error *error);
/* Makes gbees_session_run() end soon with GBEES_ECANCELLED. It may be called from any thread. */
void gbees_session_cancel(gbees_session *session);
/* Returns 1 if another run is planned, else 0, and sets the last run's *best, *met and *bound: the members best, met
 * and error of gbees_refinement_step. */
int gbees_session_plan(const gbees_session *session, int *best, int *met, double *bound);
/* Writes the text of a warning of the last run, or of the search that was concluded. Returns 1, or 0 if the bit is
 * not set. */
int gbees_session_warning(const gbees_session *session, unsigned bit, char *text, size_t size);

/* The result of a filter that was compared with the last run (gbees_rival_result); the errors are the largest ones.
 */
typedef struct gbees_session_rival {
    const char *name, *failure; /* failure: why it has failed, or "" */
    size_t samples;             /* 0: it has none */
    size_t count;               /* number of records that it has reached */
    double seconds, mean, std, kolmogorov, bc, ratio, log_evidence, log_evidence_error;
    const gbees_rival_error *records;       /* [count] */
    const gbees_rival_densities *densities; /* at all records of the run */
    size_t total;                           /* number of these records */
} gbees_session_rival;

/* Runs the filters of options.compare, after gbees_session_run() and before gbees_session_close(). */
int gbees_session_compare(gbees_session *session, gbees_error *error);
/* Sets *rival to the result of filter k, valid until gbees_session_close(). Returns 1, or 0 if there are no more. */
int gbees_session_rival_of(const gbees_session *session, int k, gbees_session_rival *rival);
/* Writes a sentence on whether the grid is needed (gbees_comparison_answer()). */
void gbees_session_answer(const gbees_session *session, char *text, size_t size);

/* ---- session_stream.c: streams (gbees/stream.h) ---- */
/* Takes the density to a time; NAN: it stays. with_cells 0: records have no cells where these have to be made. */
int gbees_session_predict(gbees_session *session, double time, int with_cells, const gbees_session_observer *observer,
                          gbees_error *error);
/* Applies a measurement, as gbees_measurement_read() takes it, at its time. */
int gbees_session_update(gbees_session *session, const char *measurement, const gbees_session_observer *observer,
                         gbees_error *error);
/* Passes the records on once more, given all measurements so far. */
int gbees_session_smooth(gbees_session *session, const gbees_session_observer *observer, gbees_error *error);
/* Writes the stream's state to a new folder; takes it from there. */
int gbees_session_save(gbees_session *session, const char *folder, gbees_error *error);
int gbees_session_resume(gbees_session *session, const char *folder, gbees_error *error);

/* Copies the cells of a part to index[dimension][part->count], row-major, and p[part->count]. */
void gbees_session_cells(const gbees_session_grid *grid, int dimension, int32_t *index, double *p);

#endif
