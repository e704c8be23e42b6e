/* plugin.h - what the parts of gbees-plugin share. */
#ifndef GBEES_COMMAND_PLUGIN_PLUGIN_H
#define GBEES_COMMAND_PLUGIN_PLUGIN_H

#include <gbees/gbees.h>
#include <stdio.h>

typedef struct gbees_plugin_options {
    const char *verb;    /* new, build, check */
    const char *subject; /* a name, a source file, a plugin's file or name */
    int dimension;
    const char *output; /* of build, NULL: none but the installed one */
    int no_install;
    const char *plugin_path;
    int trust;   /* the plugin may be anybody's */
    int lenient; /* warnings of check are no failures */
    const char *backend,
        *arch;         /* that check compares with the CPU; its processor's architecture, NULL: the one here */
    double time_limit; /* seconds that a plugin may take without an answer */
} gbees_plugin_options;

/* plugin_new.c: writes NAME.c. */
int gbees_plugin_new(const gbees_plugin_options *options, FILE *out, gbees_error *error);
/* plugin_build.c: compiles a file, checks that the result is a plugin, installs it. */
int gbees_plugin_build(const gbees_plugin_options *options, FILE *out, gbees_error *error);
/* ---- plugin_compile.c ---- */

/* Fails unless it is a file of C or C++ that can be read. */
int gbees_plugin_check_source(const char *path, gbees_error *error);
/* Compiles a file to a plugin; the compiler's messages go to standard error. */
int gbees_plugin_compile(const char *source, const char *target, gbees_error *error);
/* The same quickly, for its warnings. */
int gbees_plugin_look(const char *source, const char *target, gbees_error *error);
/* plugin_source.c: prints a line to standard error, as a compiler does, for each division of two whole numbers in a
 * file that leaves a remainder. */
int gbees_plugin_tell_divisions(const char *source, gbees_error *error);
/* plugin_check.c: prints a line for each check; *failed is the number of those that failed, with warnings unless
 * options->lenient. */
int gbees_plugin_check(const gbees_plugin_options *options, FILE *out, int *failed, gbees_error *error);

/* ---- plugin_child.c: runs the plugin's code in a child process, which may crash or hang ---- */

/* Runs in the child: the lines written to `say` reach the reader. */
typedef void gbees_child_work(void *context, FILE *say);
/* Runs in the parent, once for each line. */
typedef void gbees_child_reader(void *context, const char *line);
/* Fails if the child crashed, exited by itself, or (GBEES_ECANCELLED) wrote nothing for `seconds`. */
int gbees_child_run(gbees_child_work *work, gbees_child_reader *reader, void *context, double seconds,
                    gbees_error *error);
/* Runs a program that inherits stdout and stderr. *code is its exit status, 127 if there is no such program. */
int gbees_child_execute(char *const *arguments, int *code, gbees_error *error);

/* ---- plugin_probe.c: the child opens the plugin, and reports to the parent ---- */

typedef struct gbees_probe {
    const gbees_plugin_options *options;
    gbees_registry *registry;
    char *name; /* as the registry takes it */
    const gbees_model *model;
    FILE *say;
    const char *backend; /* of a run, whose last density goes to */
    FILE *cells;
} gbees_probe;

/* The first letter of a line to the parent: the kind of the text after it. */
enum {
    GBEES_PROBE_TEXT = 't',  /* to be printed as it is */
    GBEES_PROBE_BEGIN = 'b', /* the name of the check that begins */
    GBEES_PROBE_OK = 'o',    /* its verdict */
    GBEES_PROBE_NOTE = 'n',  /* not checked, which says nothing of the plugin */
    GBEES_PROBE_WARN = 'w',
    GBEES_PROBE_FAILED = 'f',
    GBEES_PROBE_STOP = 's' /* further checks make no sense */
};
__attribute__((format(printf, 3, 4))) void gbees_probe_report(const gbees_probe *probe, int kind, const char *format,
                                                              ...);
/* Fills registry, name and model from the options. gbees_probe_close() frees them, also after a failure. */
int gbees_probe_open(gbees_probe *probe, gbees_error *error);
void gbees_probe_close(gbees_probe *probe);
/* Makes the problem of the card's scenario `number` as gbees-run does. `changes`: KEY=VALUE texts, ended by NULL; or
 * NULL. */
int gbees_probe_problem(const gbees_probe *probe, int number, const char *const *changes, gbees_problem **problem,
                        gbees_error *error);
/* Chooses a cell of the initial box, as numbers of cells from the mean along each axis: the first ones are its
 * corners, the others follow from *state. */
void gbees_probe_cell(const gbees_problem *problem, size_t number, uint64_t *state, int64_t *cell);
/* Writes the point y[n] of the grid's axes to `text` as "x = (1, 2, 3)" in the model's axes; returns `text`. */
const char *gbees_probe_place(const gbees_problem *problem, const double *y, char *text, size_t size);

/* ---- checks in the child ---- */

/* plugin_card.c: all checks that need no other processor. */
void gbees_probe_run(gbees_probe *probe);
/* plugin_source.c: what the compiler warns of in the model's text, and divisions of whole numbers there. */
void gbees_probe_source(gbees_probe *probe);
/* plugin_guard.c: fails, and returns 0, if an equation reads or writes beyond its arrays, or leaves a component of a
 * measurement unset, in scenario `name`. */
int gbees_probe_guard(const gbees_probe *probe, const gbees_problem *problem, const char *name);
/* The same file: fails the present check and returns 1 if one reads a parameter that the card does not have. */
int gbees_probe_beyond(const gbees_probe *probe, const gbees_problem *problem);
/* plugin_drift.c: the equations over the initial box of scenario `name`. */
void gbees_probe_equations(const gbees_probe *probe, const gbees_problem *problem, const char *name);
/* plugin_noise.c: the diffusion there, if the model has one. */
void gbees_probe_noise(const gbees_probe *probe, const gbees_problem *problem, const char *name);

/* ---- plugin_compare.c: the plugin on another processor ---- */

/* Reports what the monitors of a run find in a tenth of the default scenario on the CPU. */
void gbees_compare_monitor(gbees_probe *probe);
/* Compiles the model for options->arch. */
void gbees_compare_compile(gbees_probe *probe);
/* Writes the density after a short run on probe->backend to probe->cells. */
void gbees_compare_run(gbees_probe *probe);
/* *distance: the sum of |P - Q| over the cells of two densities that gbees_compare_run() wrote; *count: cells of the
 * first. */
int gbees_compare_distance(FILE *a, FILE *b, double *distance, size_t *count, gbees_error *error);

#endif
