/* command.h - what the parts of gbees-run share. */
#ifndef GBEES_COMMAND_RUN_COMMAND_H
#define GBEES_COMMAND_RUN_COMMAND_H

#include "options.h"
#include <gbees/gbees.h>
#include <stdio.h>

/* The parts of a run. The caller of gbees_setup_make() frees them by gbees_setup_free(). */
typedef struct gbees_setup {
    const gbees_model *model;
    gbees_scenario *scenario;
    gbees_problem *problem;
    gbees_output *output; /* what is written to disk */
    gbees_truth *truth;   /* that records are compared with; NULL: none */
    const gbees_backend *backend;
    char why_no_gpu[GBEES_ERROR_TEXT]; /* one sentence, empty if a GPU is used or the backend was chosen by name */
    char *folder;                      /* for the results; NULL: none */
    int is_taken; /* `folder` was made to keep its name: it is removed at the end if it is empty */
} gbees_setup;

/* setup.c: what the options name, found and checked. */
int gbees_setup_make(gbees_setup *setup, const gbees_options *options, gbees_registry *registry, gbees_error *error);
/* Model, scenario and problem alone. */
int gbees_setup_make_problem(gbees_setup *setup, const gbees_options *options, gbees_registry *registry,
                             gbees_error *error);
void gbees_setup_free(gbees_setup *setup);
/* Replaces a GPU's backend, which can't run this problem, by the CPU's. */
int gbees_setup_use_cpu(gbees_setup *setup, gbees_registry *registry, const char *why, gbees_error *error);
/* One line on standard error about why no GPU is used, if that was not said to this user before. */
void gbees_setup_say_why(const gbees_setup *setup, const gbees_options *options);

/* output.c: the folder for the results: `wanted`, else results/MODEL, -2, -3 ..., the first that is not there, which
 * is made if `taken` is set, so that no other run takes it. `wanted` can be made, as far as that can be known without
 * making it. *folder is malloc()ed. */
int gbees_output_choose(const char *wanted, const char *model, int taken, char **folder, gbees_error *error);

/* list.c, keys.c, describe.c, check.c, compile.c: what --list, --list-keys, --describe, --check and --compile-only
 * print. */
int gbees_command_list(const gbees_options *options, gbees_registry *registry, FILE *out, gbees_error *error);
int gbees_command_keys(const gbees_options *options, FILE *out, gbees_error *error);
int gbees_command_describe(const gbees_options *options, gbees_registry *registry, FILE *out, gbees_error *error);
int gbees_command_compile(const gbees_options *options, gbees_registry *registry, FILE *out, gbees_error *error);
int gbees_command_check(const gbees_options *options, gbees_registry *registry, FILE *out, gbees_error *error);

/* simulate.c: writes the tables of --simulate. */
int gbees_command_simulate(const gbees_options *options, gbees_registry *registry, FILE *out, gbees_error *error);

/* describe.c: the card; `plugin` is the name to run it by, `path` its file or NULL. */
void gbees_describe_print(FILE *out, const gbees_model *model, const char *path, const char *plugin);

/* check.c: whether the machine can hold the initial density at all. */
int gbees_check_memory(const gbees_setup *setup, gbees_error *error);

/* print.c. Writes what was printed so far. GBEES_ECANCELLED if nobody reads it any more, GBEES_EIO if it can't be
 * written. */
int gbees_print_flush(FILE *out, gbees_error *error);
/* "default", "paper" or "legacy" */
const char *gbees_print_mode(gbees_mode mode);
/* What an accuracy is of, in a word. */
const char *gbees_print_accuracy_of(gbees_accuracy_of of);
/* " 1.5 2 3" */
void gbees_print_numbers(FILE *out, const double *values, int count);
/* "warning: ...", a line each */
void gbees_print_warnings(FILE *out, unsigned warnings, const gbees_problem *problem, const gbees_totals *totals);
struct json_t;
/* One line; takes the reference to `line`, which may be NULL if memory ran out. */
int gbees_print_json(FILE *out, struct json_t *line, gbees_error *error);

#endif
