/* plugin_probe.c - gbees-plugin check, in the child: opens the plugin, reports to the parent; see plugin.h. */
#include "command/run/command.h"
#include "plugin.h"
#include <argz.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void gbees_probe_report(const gbees_probe *probe, int kind, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)fputc(kind, probe->say);
    (void)vfprintf(probe->say, format, arguments);
    (void)fputc('\n', probe->say);
    va_end(arguments);
}

/* "./x.so" for the name of a file. */
static int make_name(const char *subject, char **name, gbees_error *error)
{
    const size_t length = strlen(subject);
    const int is_file = length > 3 && strcmp(subject + length - 3, ".so") == 0 && !strchr(subject, '/');

    *name = malloc(length + sizeof "./");
    if (!*name)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the name of a plugin");
    (void)stpcpy(stpcpy(*name, is_file ? "./" : ""), subject);
    return GBEES_OK;
}

int gbees_probe_open(gbees_probe *probe, gbees_error *error)
{
    int status = gbees_registry_create(probe->options->plugin_path, &probe->registry, error);

    if (!status && probe->options->trust)
        gbees_registry_trust(probe->registry);
    if (!status)
        status = make_name(probe->options->subject, &probe->name, error);
    if (!status)
        status = gbees_registry_model(probe->registry, probe->name, &probe->model, error);
    return status;
}

void gbees_probe_close(gbees_probe *probe)
{
    gbees_registry_destroy(probe->registry);
    free(probe->name);
    probe->registry = NULL;
    probe->model = NULL;
    probe->name = NULL;
}

/* As gbees-run makes it. */
int gbees_probe_problem(const gbees_probe *probe, int number, const char *const *changes, gbees_problem **problem,
                        gbees_error *error)
{
    gbees_options options = {.plugin = probe->name, .scenario = number ? probe->model->scenarios[number].name : NULL};
    gbees_setup setup = {0};
    int failed = 0;

    for (; changes && *changes; changes++)
        failed |= argz_add(&options.changes, &options.changes_length, *changes) != 0;
    int status = failed ? gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a scenario")
                        : gbees_setup_make_problem(&setup, &options, probe->registry, error);
    if (!status) {
        *problem = setup.problem;
        setup.problem = NULL;
    }
    gbees_setup_free(&setup);
    free(options.changes);
    return status;
}

void gbees_probe_cell(const gbees_problem *problem, size_t number, uint64_t *state, int64_t *cell)
{
    for (int j = 0; j < problem->dimension; j++) {
        const int64_t extent = problem->extent[j];

        *state = *state * 6364136223846793005u + 1442695040888963407u;
        if (number >> problem->dimension == 0)
            cell[j] = number >> j & 1 ? extent : -extent;
        else
            cell[j] = (int64_t)((*state >> 33) % (uint64_t)(2 * extent + 1)) - extent;
    }
}

const char *gbees_probe_place(const gbees_problem *problem, const double *y, char *text, size_t size)
{
    double x[GBEES_MAX_DIM];
    size_t used = 0;

    gbees_problem_point(problem, y, x);
    for (int j = 0; j < problem->dimension && used < size; j++) {
        const int length = snprintf(text + used, size - used, "%s%.6g", j ? ", " : "x = (", x[j]);

        used += length > 0 ? (size_t)length : size;
    }
    if (used < size)
        (void)snprintf(text + used, size - used, ")");
    return text;
}
