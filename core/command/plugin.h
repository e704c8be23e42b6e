/* plugin.h - what the parts of gbees-plugin share. */
#ifndef GBEES_COMMAND_PLUGIN_H
#define GBEES_COMMAND_PLUGIN_H

#include <gbees/gbees.h>
#include <stdio.h>

typedef struct gbees_plugin_options {
    const char *verb;    /* new, build, check */
    const char *subject; /* a name, a source file, a plugin's file or name */
    int dimension;
    const char *output; /* of build, NULL: none but the installed one */
    int no_install;
    const char *plugin_path;
    const char *backend,
        *arch;         /* that check compares with the CPU; its processor's architecture, NULL: the one here */
    double time_limit; /* seconds that a plugin may take without an answer */
} gbees_plugin_options;

/* plugin_new.c: writes NAME.c. */
int gbees_plugin_new(const gbees_plugin_options *options, FILE *out, gbees_error *error);
/* plugin_build.c: compiles a file, looks whether it is a plugin, installs it. */
int gbees_plugin_build(const gbees_plugin_options *options, FILE *out, gbees_error *error);
/* plugin_check.c: a line a check; *failed is the number of those that failed. */
int gbees_plugin_check(const gbees_plugin_options *options, FILE *out, int *failed, gbees_error *error);

/* ---- plugin_child.c: a plugin's code runs in a child process, which it may bring down ---- */

/* Runs in the child: lines written to `say` reach the reader. */
typedef void gbees_child_work(void *context, FILE *say);
typedef void gbees_child_reader(void *context, const char *line);
/* Fails if the child crashed or ended itself, or (GBEES_ECANCELLED) said nothing for `seconds`. */
int gbees_child_run(gbees_child_work *work, gbees_child_reader *reader, void *context, double seconds,
                    gbees_error *error);
/* Runs a program, its output where ours goes, and hands back its exit status; 127: there is no such program. */
int gbees_child_execute(char *const *arguments, int *code, gbees_error *error);

/* ---- plugin_probe.c: the checks that need no other processor, in the child ---- */

typedef struct gbees_probe {
    const gbees_plugin_options *options;
    gbees_registry *registry;
    char *name; /* as the registry takes it */
    const gbees_model *model;
    FILE *say;
} gbees_probe;

/* A line for the parent: a letter, then the text. */
enum {
    GBEES_SAY_TEXT = 't',  /* of the card, to be printed as it is */
    GBEES_SAY_BEGIN = 'b', /* the name of the check that begins */
    GBEES_SAY_OK = 'o',    /* its verdict */
    GBEES_SAY_WARN = 'w',
    GBEES_SAY_FAILED = 'f',
    GBEES_SAY_STOP = 's' /* no more checks make sense */
};
__attribute__((format(printf, 3, 4))) void gbees_probe_say(const gbees_probe *probe, int kind, const char *format,
                                                           ...);
int gbees_probe_open(gbees_probe *probe, gbees_error *error);
void gbees_probe_close(gbees_probe *probe);
/* A scenario of the card by its number, with some changes (ends with NULL), as a problem. */
int gbees_probe_problem(const gbees_probe *probe, int number, const char *const *changes, gbees_problem **problem,
                        gbees_error *error);
/* All of them. */
void gbees_probe_run(gbees_probe *probe);

/* plugin_drift.c: what the equations give over the initial box of scenario `name`. */
void gbees_probe_equations(const gbees_probe *probe, const gbees_problem *problem, const char *name);

/* plugin_noise.c: its diffusion there, if it has one. */
void gbees_probe_noise(const gbees_probe *probe, const gbees_problem *problem, const char *name);

/* ---- plugin_compare.c: the plugin on another processor ---- */

void gbees_compare_compile(gbees_probe *probe);
/* Writes the density after a short run to `cells`. */
void gbees_compare_run(gbees_probe *probe, const char *backend, FILE *cells);
/* The sum of |P - Q| over all cells of two densities written so, and how many the first has. */
int gbees_compare_distance(FILE *a, FILE *b, double *distance, size_t *count, gbees_error *error);

#endif
