/* compile.c - gbees-run --compile-only: what a backend makes of the plugin when a run starts. */
#include "command.h"
#include "results/run/json_util.h"
#include <string.h>

typedef struct printing {
    const gbees_options *options;
    const gbees_setup *setup;
    FILE *out;
    int status;
    gbees_error *error;
} printing;

static void print_line(void *context, const char *line)
{
    printing *p = context;

    if (p->status)
        return;
    if (p->options->json)
        p->status =
            gbees_print_json(p->out,
                             json_pack("{s:s, s:s, s:s, s:o}", "event", "compile", "model", p->setup->model->name,
                                       "backend", p->setup->backend->name, "text", gbees_json_text(line)),
                             p->error);
    else if (!p->options->quiet)
        (void)fprintf(p->out, "%s\n", line);
}

int gbees_command_compile(const gbees_options *options, gbees_registry *registry, FILE *out, gbees_error *error)
{
    gbees_setup setup = {0};
    printing p = {options, &setup, out, GBEES_OK, error};
    const char *name = strcmp(options->backend, "auto") == 0 ? "cuda" : options->backend;
    int status = gbees_registry_backend(registry, name, &setup.backend, error);
    const gbees_backend *backend = setup.backend;

    if (!status && !backend->compile)
        status = gbees_error_set(error, GBEES_EUSAGE, "the backend '%s' compiles nothing when a run starts", name);
    if (!status)
        status = gbees_setup_make_problem(&setup, options, registry, error);
    if (status)
        return status;
    setup.backend = backend;
    status = gbees_solver_accepts(setup.problem, backend, error);
    if (!status)
        status = backend->compile(setup.problem, options->arch, print_line, &p, error);
    if (!status)
        status = p.status ? p.status : gbees_print_flush(out, error);
    gbees_setup_free(&setup);
    return status;
}
