/* setup.c - from options to a problem, a backend and a folder, all checked; see command.h. */
#include "base/user_cache.h"
#include "command.h"
#include "signals.h"
#include <argz.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- scenario: the changes to the file, the file, and for the rest the model's own ---- */

/* A scenario of the model's own has what nothing else says, as its default has. */
static int read_scenario(const gbees_options *options, const gbees_model *model, gbees_scenario **scenario,
                         gbees_error *error)
{
    const char *wanted = options->scenario;
    const int is_own = wanted && gbees_scenario_find_own(model, wanted) != NULL;
    int status = wanted && !is_own ? gbees_scenario_read(wanted, scenario, error)
                                   : gbees_scenario_create("", "the command line", scenario, error);

    if (!status && options->measurements)
        status = gbees_scenario_measurements(*scenario, options->measurements, options->measurement_function, error);
    for (const char *change = NULL;
         !status && (change = argz_next(options->changes, options->changes_length, change));)
        status = gbees_scenario_set(*scenario, change, error);
    return status || !is_own ? status : gbees_scenario_merge_own(*scenario, model, wanted, error);
}

/* ---- backend ---- */

/* Shortens the reason why a GPU is not used. `--backend cuda` gives the full text. */
static void say_why(gbees_setup *setup, const char *text)
{
    static const char missing[] = "no backend named"; /* how the registry begins if there is no such file */

    if (!strncmp(text, missing, sizeof missing - 1))
        text = "no backend module 'cuda' is installed";
    (void)snprintf(setup->why_no_gpu, sizeof setup->why_no_gpu, "%s", text);
}

static int choose_backend(gbees_setup *setup, gbees_registry *registry, const char *name, int parallel,
                          gbees_error *error)
{
    gbees_error why = {0};
    const char *wanted = strcmp(name, "auto") == 0 ? gbees_solver_wants(setup->problem) : name;

    if (wanted)
        return gbees_registry_usable_backend(registry, wanted, &setup->backend, error);
    if (parallel)
        return gbees_registry_usable_backend(registry, "cpu", &setup->backend, error);
    if (gbees_problem_is_small(setup->problem))
        return gbees_setup_use_cpu(setup, registry,
                                   "the grid begins with so few cells that a GPU, where there is one, would take "
                                   "longer to start; --backend cuda takes one",
                                   error);
    if (!gbees_registry_usable_backend(registry, "cuda", &setup->backend, &why))
        return GBEES_OK;
    return gbees_setup_use_cpu(setup, registry, why.text, error);
}

int gbees_setup_use_cpu(gbees_setup *setup, gbees_registry *registry, const char *why, gbees_error *error)
{
    say_why(setup, why);
    return gbees_registry_usable_backend(registry, "cpu", &setup->backend, error);
}

/* Whether the file `name` of the user's cache has this text; if not it gets it. */
static int was_said(const char *name, const char *text)
{
    char before[GBEES_ERROR_TEXT] = "", *path = gbees_user_cache_path(name, 1);
    FILE *file = path ? fopen(path, "re") : NULL;

    if (file) {
        before[fread(before, 1, sizeof before - 1, file)] = '\0';
        (void)fclose(file);
    }
    const int is_same = path && strcmp(before, text) == 0;
    const struct iovec part = {(char *)(uintptr_t)text, strlen(text)};
    if (path && !is_same)
        (void)gbees_user_cache_write(path, &part, 1);
    free(path);
    return is_same;
}

void gbees_setup_say_why(const gbees_setup *setup, const gbees_options *options)
{
    const char *name = gbees_problem_is_small(setup->problem) ? "small-grid.txt" : "no-gpu.txt";

    if (setup->why_no_gpu[0] && !options->quiet && !was_said(name, setup->why_no_gpu))
        (void)fprintf(stderr, "gbees-run: running on the CPU: %s\n", setup->why_no_gpu);
}

/* ---- all of it ---- */

/* Makes the problem, for which functions of the model are called. */
static int make_problem(gbees_setup *setup, const gbees_options *options, gbees_error *error)
{
    gbees_signals_model(setup->model->name);
    gbees_signals_limit(options->max_time);
    const int status = gbees_problem_create(setup->model, setup->scenario, &setup->problem, error);
    gbees_signals_limit(0);
    return status;
}

int gbees_setup_make_problem(gbees_setup *setup, const gbees_options *options, gbees_registry *registry,
                             gbees_error *error)
{
    gbees_setup made = {0};
    int status = gbees_registry_model(registry, options->plugin, &made.model, error);

    if (!status)
        status = read_scenario(options, made.model, &made.scenario, error);
    if (!status)
        status = gbees_scenario_load(made.scenario, made.model, error);
    if (!status)
        status = gbees_scenario_merge_own(made.scenario, made.model, NULL, error);
    if (!status && options->rivals.count > 0)
        status = gbees_scenario_unroll(made.scenario, made.model, error);
    if (!status)
        status = make_problem(&made, options, error);
    if (!status)
        status = gbees_output_create(made.scenario, made.problem->end, &made.output, error);
    if (status)
        gbees_setup_free(&made);
    else
        *setup = made;
    return status;
}

/* --check makes no folder. */
static int choose_folder(gbees_setup *setup, const gbees_options *options, gbees_error *error)
{
    const int taken = !options->output && options->action != GBEES_ACTION_CHECK;
    const int status = gbees_output_choose(options->output, setup->model->name, taken, &setup->folder, error);

    setup->is_taken = taken && !status;
    return status;
}

int gbees_setup_make(gbees_setup *setup, const gbees_options *options, gbees_registry *registry, gbees_error *error)
{
    gbees_setup made = {0};
    int status = gbees_setup_make_problem(&made, options, registry, error);

    if (!status && options->truth)
        status = gbees_truth_read(options->truth, made.model, made.problem->dimension, &made.truth, error);
    if (!status)
        status = choose_backend(&made, registry, options->backend, options->parallel != NULL, error);
    if (!status)
        status = gbees_solver_accepts(made.problem, made.backend, error);
    if (!status && options->resume) {
        made.folder = strdup(options->resume);
        status =
            made.folder ? GBEES_OK : gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a folder's name");
    } else if (!status && !options->no_output)
        status = choose_folder(&made, options, error);
    if (status)
        gbees_setup_free(&made);
    else
        *setup = made;
    return status;
}

void gbees_setup_free(gbees_setup *setup)
{
    if (setup->is_taken)
        (void)rmdir(setup->folder); /* fails if there are results in it */
    free(setup->folder);
    gbees_truth_destroy(setup->truth);
    gbees_output_destroy(setup->output);
    gbees_problem_destroy(setup->problem);
    gbees_scenario_destroy(setup->scenario);
    *setup = (gbees_setup){0};
}
