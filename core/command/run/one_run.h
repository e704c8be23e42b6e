/* one_run.h - one run of gbees-run: a solver whose observer calls the writer, the report and the progress bar. */
#ifndef GBEES_COMMAND_RUN_ONE_RUN_H
#define GBEES_COMMAND_RUN_ONE_RUN_H

#include "command.h"
#include "progress.h"
#include "report.h"
#include "resume.h"
#include <pthread.h>

enum { GBEES_EXIT_FAILED = 1, GBEES_EXIT_BAD_INPUT = 2, GBEES_EXIT_SIGNAL = 128 };

typedef struct gbees_one_run {
    gbees_setup *setup;           /* the caller's */
    gbees_solver *solver;         /* owned */
    gbees_writer *writer;         /* owned; NULL: --no-output */
    gbees_audit *audit;           /* the caller's; NULL: --audit off */
    gbees_refinement *refinement; /* the caller's; NULL: the run is not one of several */
    gbees_comparison *comparison; /* owned; NULL: without --compare */
    gbees_report *report;         /* the caller's */
    FILE *console;                /* for progress as JSON; NULL: the report's stream */
    const gbees_options *options; /* the caller's */
    gbees_progress progress;
    pthread_mutex_t lock;         /* guards the output: a thread of the solver calls record and update */
    double stop_s;                /* of CLOCK_MONOTONIC, when the run is cancelled; 0: never */
    double stop_bytes;            /* engines that take more are stopped; 0: never */
    int memory_option;            /* 1: stop_bytes is the value of --max-memory */
    const char *stopped_by;       /* the limit that has stopped it; NULL: none */
    const gbees_resumption *from; /* the caller's; NULL: the run starts anew */
    double next_checkpoint_s;     /* of CLOCK_MONOTONIC */
    int checkpointed;             /* 1: a checkpoint has been written */
    double bend, bend_time;       /* of a grid that moves: the largest of its records, and when; 0: none */
} gbees_one_run;

/* The engine's options of a command line; the same on all ranks. */
gbees_engine_options gbees_one_run_engine(const gbees_options *options);
/* Makes the solver. If the GPU was not asked for by name and can't run this problem, makes one on the CPU. */
int gbees_one_run_open(gbees_one_run *run, const gbees_options *options, gbees_registry *registry,
                       gbees_error *error);
/* Limits the memory of the run's engines to `gib`; 0: on the CPU to the memory that is free, on a GPU not at all, as
 * a grid that does not fit into a GPU's memory ends the run anyway. */
void gbees_one_run_limit_memory(gbees_one_run *run, double gib);
/* Makes the writer for `folder` (NULL: none). `command`: the command line, for the results' provenance. */
int gbees_one_run_write_to(gbees_one_run *run, const char *folder, const char *command, gbees_error *error);
/* Runs to the end. Reports the records, not the summary. */
int gbees_one_run_propagate(gbees_one_run *run, const gbees_options *options, gbees_error *error);
/* Whether a signal has come, or the time is past *context, a number of seconds of CLOCK_MONOTONIC, 0: never. Any
 * thread may ask. */
int gbees_one_run_is_late(void *context);
/* The limit of the command that has stopped the run; NULL: none has, or a signal did. */
const char *gbees_one_run_limit_reached(const gbees_one_run *run);
/* Marks the results folder as ended, whatever happened; `status` and *failure are what propagate() returned. Returns
 * the first failure. */
int gbees_one_run_finish(gbees_one_run *run, int status, const gbees_summary *summary, gbees_error *failure);
/* Has the filters of --compare run after a complete run, and the report tell what they have found. */
int gbees_one_run_compare(gbees_one_run *run, const gbees_summary *summary, gbees_error *error);
/* Frees the engines; the writer and what has been reported stay. */
void gbees_one_run_close_solver(gbees_one_run *run);
void gbees_one_run_close(gbees_one_run *run);

/* Whether a run has an audit: points that go with the flow tell their errors by themselves, and have one on request.
 */
int gbees_is_audited(const gbees_setup *setup, const gbees_options *options);
/* The exit status for a failure; `began`: the run began, or failed for a reason of the machine or the model. */
int gbees_exit_code(const gbees_error *failure, int began);

/* With --strict a warning is a failure. */
int gbees_check_warnings(const gbees_options *options, const gbees_summary *summary, gbees_error *failure);

/* accuracy.c: runs on finer and finer grids until the certificate is within the problem's accuracy; returns the exit
 * status. */
int gbees_command_accuracy(const gbees_options *options, gbees_registry *registry, gbees_setup *setup,
                           gbees_report *report, const char *command);

#endif
