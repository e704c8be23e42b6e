/* session.h - one run, or the runs of one accuracy, for the Python package: the functions of gbees/gbees.h behind
 * calls that take and give plain numbers, so that Python mirrors few structs.
 *
 *     gbees_session_create -> (gbees_session_open -> gbees_session_run -> gbees_session_close), as often as
 *         `more` says -> gbees_session_destroy
 *
 * Python calls gbees_session_run() with its interpreter lock released; the callbacks take the lock, one for a record.
 */
#ifndef GBEES_PYTHON_SESSION_H
#define GBEES_PYTHON_SESSION_H

#include <gbees/rivals.h>

typedef struct gbees_session gbees_session;

/* What to run. Strings may be NULL where a default is named. */
typedef struct gbees_session_options {
    const char *model;       /* its name, or the path of a plugin */
    const char *plugin_path; /* folders searched first */
    const char *backend;     /* its name */
    const char *scenario;    /* YAML; the model's default fills the rest */
    const char *own;         /* the model's own scenario that comes before the default; NULL: none */
    const char *folder;      /* of reference measurements (measurementN.txt); NULL: none */
    int threads;             /* 0: as many as the machine has */
    int audit;               /* 1: records have certificates */
    size_t samples;          /* of the audit; 0: as many as the run is worth */
    const char *compare;     /* filters that run beside it, "mc,ekf,pf:100000"; NULL: none */
} gbees_session_options;

/* A part of a record's density: the centre of cell i is origin + rotation (width * i). */
typedef struct gbees_session_part {
    double weight;
    double origin[GBEES_MAX_DIM];
    double width[GBEES_MAX_DIM];
    double rotation[GBEES_MAX_ENTRIES]; /* n x n, row-major */
    size_t count;                       /* cells */
    const gbees_cells *cells;           /* NULL: there are none */
} gbees_session_part;

/* A record. Pointers are valid during the call. */
typedef struct gbees_session_record {
    int leg, number, dimension, parts;
    double time, wall_s, mass, entropy;
    double mean[GBEES_MAX_DIM];
    double covariance[GBEES_MAX_ENTRIES]; /* n x n, row-major */
    double clipped, outflow, pruned;      /* since the start */
    uint64_t steps, cells;
    unsigned warnings;
    const gbees_certificate *certificate; /* NULL: the run has no audit */
    const gbees_sample_list *samples;     /* NULL: there are none */
    gbees_session_part part[GBEES_MODES_MOST];
} gbees_session_record;

typedef void gbees_session_on_record(const gbees_session_record *record);
typedef void gbees_session_on_update(int number, double time, const gbees_evidence *evidence);
typedef void gbees_session_on_progress(double time, double fraction);

/* How a run is to report; each may be NULL. */
typedef struct gbees_session_observer {
    gbees_session_on_record *record;
    gbees_session_on_update *update;
    gbees_session_on_progress *progress;
} gbees_session_observer;

/* The bytes of gbees_session_record, gbees_certificate and gbees_evidence: Python compares them with its own. */
void gbees_session_sizes(size_t sizes[3]);

/* Finds model and backend, and makes the problem. */
int gbees_session_create(const gbees_session_options *options, gbees_session **session, gbees_error *error);
void gbees_session_destroy(gbees_session *session);

/* The name of the backend. */
const char *gbees_session_backend(const gbees_session *session);
int gbees_session_dimension(const gbees_session *session);
/* Name (0) or unit (1) of state j. */
const char *gbees_session_state(const gbees_session *session, int j, int unit);
double gbees_session_accuracy(const gbees_session *session);
/* The scenario as YAML; valid until the session is destroyed. */
const char *gbees_session_scenario(gbees_session *session);

/* Prepares the next run.
 * @param folder of results, which must not exist; NULL: nothing is written
 */
int gbees_session_open(gbees_session *session, const char *folder, gbees_error *error);
/* Runs, and plans the next run if there is an accuracy. */
int gbees_session_run(gbees_session *session, const gbees_session_observer *observer, gbees_error *error);
/* Frees what gbees_session_open() has made. */
void gbees_session_close(gbees_session *session);
/* Ends the run that goes on soon, with GBEES_ECANCELLED; may be called by any thread. */
void gbees_session_cancel(gbees_session *session);
/* Of the last run: whether another is planned, whether no run before was better, whether the accuracy is met, and the
 * error's bound. */
int gbees_session_plan(const gbees_session *session, int *best, int *met, double *bound);
/* The text of a warning of the last run; 0 if the bit is not set. */
int gbees_session_warning(const gbees_session *session, unsigned bit, char *text, size_t size);

/* A filter beside the last run: its largest errors, and those of each record it has reached. */
typedef struct gbees_session_rival {
    const char *name, *failure; /* failure: "" if there was none */
    size_t samples, count;      /* 0: it has none; records */
    double seconds, mean, std, kolmogorov, bc, ratio, log_evidence, log_evidence_error;
    const gbees_rival_error *records; /* [count] */
    const gbees_compared *compared;   /* all filters' densities, */
    const gbees_compared_filter *own; /* and this one's */
} gbees_session_rival;

/* Runs the filters of options.compare beside the run that has just ended, before gbees_session_close(). */
int gbees_session_compare(gbees_session *session, gbees_error *error);
/* Filter k; 0 if there are no more. Valid until gbees_session_close(). */
int gbees_session_rival_of(const gbees_session *session, int k, gbees_session_rival *rival);
/* Whether a grid is needed, in a sentence. */
void gbees_session_answer(const gbees_session *session, char *text, size_t size);

/* Copies the cells of a part to index[dimension][count] and p[count]. */
void gbees_session_cells(const gbees_session_part *part, int dimension, int32_t *index, double *p);

#endif
