/* search.h - the search for a run within an accuracy: runs on finer and finer grids, and the state of the search on
 * disk, so that one that is stopped at any moment can be gone on with.
 *
 * While it goes on the folder DIR of the results is not there. DIR.runs is a results folder without records, whose
 * checkpoints hold the state of the search after each run: the plan, the runs that have ended, and which is the best.
 * Run number k writes to DIR.runs/k; at its end a last checkpoint there holds its summary and what it has reported in
 * place of its cells. At the end of the search the best run's folder becomes DIR, and DIR.runs is removed. Where the
 * search is stopped, DIR is the best run so far, or the one that was stopped if none has ended; to go on it is put
 * back. */
#ifndef GBEES_COMMAND_SEARCH_H
#define GBEES_COMMAND_SEARCH_H

#include "one_run.h"

enum { GBEES_SEARCH_RUNS = 16 };

/* A run of the search: its own scenario and problem, its folder, and its report as text. */
typedef struct gbees_search_run {
    int number;            /* counted from 1 */
    gbees_setup setup;     /* owns scenario and problem; the rest is the command's */
    gbees_options options; /* the command's, with as many samples as the run has */
    gbees_one_run run;
    gbees_resumption from; /* what it goes on from: its checkpoint, or none */
    const gbees_refinement *refinement;
    gbees_report report;
    gbees_summary summary;
    char *folder; /* DIR.runs/number; NULL: there is none, or it is not to be removed */
    char *text;   /* what the report has printed */
    size_t size;
    int ended; /* the run has reached its end, and summary is set */
} gbees_search_run;

typedef struct gbees_search {
    const gbees_options *options;
    gbees_registry *registry;
    gbees_setup *setup; /* the command's: the problem as it was asked for */
    gbees_report *report;
    const char *command;
    const gbees_resumption *from; /* what the search goes on from; NULL: it begins */
    gbees_refinement *refinement;
    gbees_audit *audit;
    size_t samples;         /* of the audit */
    char *folder;           /* DIR.runs; NULL: --no-output, or it has not been made */
    gbees_writer *writer;   /* of it */
    gbees_search_run *best; /* NULL: none has ended */
    gbees_refinement_step steps[GBEES_SEARCH_RUNS];
    int count, met; /* runs that have ended; 1: the best is within the accuracy */
    double began_s;
} gbees_search;

/* ---- search_run.c ---- */
/* Runs number count + 1 to its end, or goes on with it where its folder has a checkpoint. The report is kept as text.
 */
int gbees_search_run_make(gbees_search *search, gbees_search_run *run, gbees_error *error);
/* Takes up a run that has ended, as its folder has it. */
int gbees_search_run_reopen(gbees_search *search, int number, gbees_search_run **run, gbees_error *error);
/* Keeps a run that has ended in its folder, so that another process can report and finish it. */
int gbees_search_run_keep(gbees_search_run *run, gbees_error *error);
/* Frees a run, and removes its folder unless run->folder is NULL. */
void gbees_search_run_free(gbees_search_run *run);

/* ---- search_state.c ---- */
/* Takes up a search that was stopped: its plan and what its runs have shown; *best receives the number of the best
 * run, or 0. */
int gbees_search_load(gbees_search *search, int *best, gbees_error *error);
/* Makes DIR.runs, unless that has been done. */
int gbees_search_begin(gbees_search *search, gbees_error *error);
/* Writes the state to DIR.runs. */
int gbees_search_save(gbees_search *search, gbees_error *error);
/* Closes DIR.runs; `removed`: with all that is in it. */
void gbees_search_end(gbees_search *search, int removed);
/* "DIR.runs/number"; NULL: no memory, or there is no folder. */
char *gbees_search_folder(const gbees_search *search, int number);
/* Removes a run's folder: files only. */
void gbees_search_remove_folder(const char *path);

#endif
