/* options.h - the command line of gbees-run as data. */
#ifndef GBEES_COMMAND_RUN_OPTIONS_H
#define GBEES_COMMAND_RUN_OPTIONS_H

#include <gbees/parallel.h>
#include <gbees/rivals.h>
#include <stddef.h>

typedef enum gbees_action {
    GBEES_ACTION_RUN,
    GBEES_ACTION_CHECK,
    GBEES_ACTION_LIST,
    GBEES_ACTION_LIST_KEYS,
    GBEES_ACTION_DESCRIBE,
    GBEES_ACTION_COMPILE,
    GBEES_ACTION_SIMULATE,
    GBEES_ACTION_VERSION
} gbees_action;

typedef enum gbees_progress_kind { GBEES_PROGRESS_NONE, GBEES_PROGRESS_BAR, GBEES_PROGRESS_JSON } gbees_progress_kind;

typedef struct gbees_options {
    gbees_action action;
    const char *plugin, *plugin_path;
    int trust;                                       /* modules may be anybody's */
    const char *scenario;                            /* file */
    const char *measurements, *measurement_function; /* table or folder, name */
    const char *truth;                               /* table; NULL: none is known */
    unsigned long long seed;                         /* of --simulate */
    int simulate_count;                              /* measurements; 0: the scenario's */
    char *changes; /* argz of KEY=VALUE, in the order of --set, --param and their like */
    size_t changes_length;
    const char *backend;            /* "auto" or a name */
    const char *arch;               /* "sm_90", or NULL */
    int threads;                    /* 0: all */
    const char *ranks;              /* "auto", "off", or the name of a communicator */
    int ranks_per_gpu;              /* processes of a machine that take one GPU; 0: one */
    const gbees_parallel *parallel; /* set by the command: the ranks of this run; NULL: it is alone */
    int audit;                      /* whether records are compared with samples */
    double max_time;                /* seconds; 0: no limit */
    double max_memory;              /* with an accuracy: GiB; 0: most of the machine's */
    const char *resume;             /* folder of a run to go on with; NULL: none */
    int force;                      /* although something differs */
    double every;        /* minutes from one checkpoint to the next; 0: none, but when the run is stopped */
    gbees_rivals rivals; /* of --compare; none: nothing is compared */
    int strict;          /* a warning is a failure */
    size_t samples;      /* so many; 0: the default */
    int deterministic;
    const char *output; /* folder, NULL: results/NAME */
    int no_output;
    int no_forecast; /* --check makes no trial runs */
    int json, quiet;
    gbees_progress_kind progress;
} gbees_options;

/* Ends the program on --help, --usage and options without their value. After an error *options has what was read
 * before it, so that the error can be reported as JSON if --json was given. */
int gbees_options_parse(int argc, char **argv, gbees_options *options, gbees_error *error);
void gbees_options_free(gbees_options *options);

#endif
