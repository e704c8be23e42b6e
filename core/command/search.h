/* search.h - the search for a run within an accuracy: runs on finer and finer grids until one meets it. The state of
 * the search is on disk, so that one that was stopped at any moment can be resumed.
 *
 * DIR is the folder that the command was asked to write to. During the search it is missing or empty:
 * - DIR.runs is a results folder without records. Its checkpoints hold the state of the search after each run: the
 *   refinement plan, the runs that have ended, and which of them is the best.
 * - DIR.runs/k is the results folder of run number k. A run that has ended leaves a last checkpoint there, which
 * holds its summary and the text of its report, but no cells. At the end of the search the best run's folder is
 * renamed to DIR and DIR.runs is removed. If the search is stopped, DIR becomes the best run so far, or the
 * interrupted run if none has ended, and DIR.runs stays; resuming renames DIR back to DIR.runs/k. */
#ifndef GBEES_COMMAND_SEARCH_H
#define GBEES_COMMAND_SEARCH_H

#include "one_run.h"

enum { GBEES_SEARCH_RUNS = 16 }; /* the most runs of a search */

/* A run of the search, with a scenario, a problem, a folder and a report of its own. */
typedef struct gbees_search_run {
    int number;            /* counted from 1 */
    gbees_setup setup;     /* owns scenario and problem; the rest belongs to the command */
    gbees_options options; /* the command's, but `samples` is this run's */
    gbees_one_run run;
    gbees_resumption from; /* the checkpoint in its folder from which it resumes, if there is one */
    const gbees_refinement *refinement;
    gbees_report report; /* prints to `text` */
    gbees_summary summary;
    char *folder; /* DIR.runs/number, removed with the run; NULL: no folder, or it must stay */
    char *text;   /* [size]: what the report has printed */
    size_t size;
    int ended; /* whether the run has reached its end; only then is `summary` set */
} gbees_search_run;

typedef struct gbees_search {
    const gbees_options *options;
    gbees_registry *registry;
    gbees_setup *setup; /* the command's: the problem as the user has asked for it */
    gbees_report *report;
    const char *command;          /* the command line, for the results */
    const gbees_resumption *from; /* the state from which the search resumes; NULL: it is a new one */
    gbees_refinement *refinement;
    gbees_audit *audit;                             /* shared by runs with the same number of samples */
    size_t samples;                                 /* of the audit */
    char *folder;                                   /* DIR.runs; NULL: --no-output, or not created yet */
    gbees_writer *writer;                           /* of DIR.runs */
    gbees_search_run *best;                         /* owned; NULL: no run has ended */
    gbees_refinement_step steps[GBEES_SEARCH_RUNS]; /* [count]: what each run has shown */
    int count;                                      /* runs that have ended */
    int met;                                        /* whether the best is within the accuracy */
    double began_s;                                 /* of the monotonic clock */
} gbees_search;

/* ---- search_run.c ---- */
/* Computes run number search->count + 1 to its end, from the checkpoint in the run's folder if there is one. The
 * caller passes a zeroed *run and frees it, also after a failure. Returns the status of the run. */
int gbees_search_run_make(gbees_search *search, gbees_search_run *run, gbees_error *error);
/* Loads a run that has ended from its folder into a new *run, which the caller frees; NULL on failure, after which
 * the folder is as before. */
int gbees_search_run_reopen(gbees_search *search, int number, gbees_search_run **run, gbees_error *error);
/* Writes the last checkpoint of a run that has ended, from which gbees_search_run_reopen() loads it. */
int gbees_search_run_keep(gbees_search_run *run, gbees_error *error);
/* Frees a run, and removes its folder unless run->folder is NULL. */
void gbees_search_run_free(gbees_search_run *run);

/* ---- search_state.c ---- */
/* Loads the state of a search that was stopped, and renames DIR back to the run's folder. *best receives the number
 * of the best run, or 0 if none has ended. */
int gbees_search_load(gbees_search *search, int *best, gbees_error *error);
/* Creates DIR.runs and writes the first state, unless that has been done or there is no output. */
int gbees_search_begin(gbees_search *search, gbees_error *error);
/* Writes the state to DIR.runs as a checkpoint. */
int gbees_search_save(gbees_search *search, gbees_error *error);
/* Closes DIR.runs, and removes it with the runs' folders if `removed` is set. */
void gbees_search_end(gbees_search *search, int removed);
/* Returns "DIR.runs/<number>", which the caller frees; NULL: not enough memory, or the search has no folder. */
char *gbees_search_folder(const gbees_search *search, int number);
/* Removes the files in a folder, then the folder. It leaves a folder that has subfolders, and reports no failure:
 * what it is called for can be removed by hand. */
void gbees_search_remove_folder(const char *path);

#endif
