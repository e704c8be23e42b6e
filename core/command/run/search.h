/* search.h - the search for a run within an accuracy: runs on finer and finer grids until one meets it.
 *
 * DIR is the folder that the command was asked to write to. During the search it is missing or empty, and DIR.runs/k
 * is the results folder of run number k. At the end, also of a search that is stopped, the folder of the best run so
 * far, or of the interrupted run if none has ended, is renamed to DIR, and DIR.runs is removed. */
#ifndef GBEES_COMMAND_RUN_SEARCH_H
#define GBEES_COMMAND_RUN_SEARCH_H

#include "one_run.h"

enum { GBEES_SEARCH_RUNS = 16 }; /* the most runs of a search */

/* A run of the search, with a scenario, a problem, a folder and a report of its own. */
typedef struct gbees_search_run {
    int number;            /* counted from 1 */
    gbees_setup setup;     /* owns scenario and problem; the rest belongs to the command */
    gbees_options options; /* the command's, but `samples` is this run's */
    gbees_one_run run;
    gbees_report report; /* prints to `text` */
    gbees_summary summary;
    char *folder; /* DIR.runs/number, removed with the run; NULL: no folder, or it must stay */
    char *text;   /* [size]: what the report has printed */
    size_t size;
} gbees_search_run;

typedef struct gbees_search {
    const gbees_options *options;
    gbees_registry *registry;
    gbees_setup *setup; /* the command's: the problem as the user has asked for it */
    gbees_report *report;
    const char *command; /* the command line, for the results */
    gbees_refinement *refinement;
    gbees_audit *audit;                             /* shared by runs with the same number of samples */
    char *folder;                                   /* DIR.runs; NULL: --no-output, or not created yet */
    gbees_search_run *best;                         /* owned; NULL: no run has ended */
    gbees_refinement_step steps[GBEES_SEARCH_RUNS]; /* [count]: what each run has shown */
    int count;                                      /* runs that have ended */
    int met;                                        /* whether the best is within the accuracy */
    char few[256];                                  /* what reason_to_stop() says of too few samples */
    double began_s, stop_s;                         /* of the monotonic clock; --max-time ends all, 0: nothing does */
} gbees_search;

/* ---- search_run.c ---- */
/* Computes run number search->count + 1 to its end. The caller passes a zeroed *run and frees it, also after a
 * failure. Returns the status of the run. */
int gbees_search_run_make(gbees_search *search, gbees_search_run *run, gbees_error *error);
/* Frees a run, and removes its folder unless run->folder is NULL. */
void gbees_search_run_free(gbees_search_run *run);

/* ---- search_folder.c ---- */
/* Creates DIR.runs, unless that has been done or there is no output. */
int gbees_search_begin(gbees_search *search, gbees_error *error);
/* Removes DIR.runs, which is empty by then. */
void gbees_search_end(gbees_search *search);
/* Returns "DIR.runs/<number>", which the caller frees; NULL: not enough memory. */
char *gbees_search_folder(const gbees_search *search, int number);
/* Removes the files in a folder, then the folder. It leaves a folder that has subfolders, and reports no failure:
 * what it is called for can be removed by hand. */
void gbees_search_remove_folder(const char *path);

#endif
