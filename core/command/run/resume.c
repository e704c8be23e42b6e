/* resume.c - saves the options that decide a run's results as parts of a checkpoint, and sets them again on
 * --resume; refuses what contradicts them. */
#include "resume.h"
#include "base/checkpoint.h"
#include "results/folder/folder.h"
#include "results/folder/store.h"
#include "results/run/provenance.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

int gbees_resumption_save(const gbees_setup *setup, const gbees_options *options, gbees_checkpoint *checkpoint,
                          gbees_error *error)
{
    const char *plugin = gbees_model_path(setup->model);
    char *path = plugin ? realpath(plugin, NULL) : NULL;
    json_t *object = json_object();
    int bad = json_object_set_new(object, "plugin", json_string(path ? path : options->plugin));

    free(path);
    bad |= json_object_set_new(object, "backend", json_string(setup->backend->name));
    bad |= json_object_set_new(object, "deterministic", json_boolean(options->deterministic));
    bad |= json_object_set_new(object, "audit", json_boolean(options->audit));
    bad |= json_object_set_new(object, "samples", json_integer((json_int_t)options->samples));
    bad |= json_object_set_new(object, "strict", json_boolean(options->strict));
    bad |= json_object_set_new(object, "compare", json_boolean(options->rivals.count > 0));
    path = options->truth ? realpath(options->truth, NULL) : NULL;
    if (path)
        bad |= json_object_set_new(object, "truth", json_string(path));
    free(path);
    char *text = bad ? NULL : json_dumps(object, JSON_COMPACT);
    bad = !text || gbees_checkpoint_add(checkpoint, "options", 1, strlen(text), text);
    free(text);
    json_decref(object);
    return bad ? gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a checkpoint") : GBEES_OK;
}

/* Takes the backend that the run was on, unless the command line names another one: the bits are the same on both
 * with
 * --deterministic alone. */
static int choose_backend(const char *before, int deterministic, gbees_options *options, gbees_error *error)
{
    if (strcmp(options->backend, "auto") == 0)
        options->backend = before;
    if (strcmp(options->backend, before) == 0)
        return GBEES_OK;
    if (!deterministic)
        return gbees_error_set(
            error, GBEES_EINPUT,
            "the run in %s was on the backend '%s' without --deterministic: on '%s' it would go on "
            "with other bits: leave out --backend",
            options->resume, before, options->backend);
    if (!options->quiet)
        (void)fprintf(stderr,
                      "gbees-run: on the backend '%s' after '%s': densities go on with the same bits if the drift is "
                      "of + - * / and "
                      "sqrt, up to the next measurement\n",
                      options->backend, before);
    return GBEES_OK;
}

/* Sets the options that the command line has not given to those that the run began with. */
static int set_options(const json_t *from, gbees_options *options, gbees_error *error)
{
    const char *plugin = json_string_value(json_object_get(from, "plugin"));
    const char *backend = json_string_value(json_object_get(from, "backend"));

    if (!plugin || !backend)
        return gbees_error_set(error, GBEES_EINPUT,
                               "the checkpoint in %s does not say how the run began: it is "
                               "damaged",
                               options->resume);
    if (!options->plugin)
        options->plugin = plugin;
    const int status = choose_backend(backend, json_is_true(json_object_get(from, "deterministic")), options, error);
    if (status)
        return status;
    options->deterministic = json_is_true(json_object_get(from, "deterministic"));
    options->audit = json_is_true(json_object_get(from, "audit"));
    options->samples = (size_t)json_integer_value(json_object_get(from, "samples"));
    options->strict |= json_is_true(json_object_get(from, "strict"));
    if (!options->truth)
        options->truth = json_string_value(json_object_get(from, "truth"));
    if (json_is_true(json_object_get(from, "compare")) && !options->quiet)
        (void)fprintf(stderr,
                      "gbees-run: the filters of --compare need all records of a run that was not stopped: they "
                      "are left out\n");
    return GBEES_OK;
}

/* Sets the options to those that the run began with, from the text of a checkpoint. */
static int adapt(gbees_resumption *resumption, const char *text, uint64_t length, gbees_options *options,
                 gbees_error *error)
{
    resumption->scenario = gbees_folder_join(options->resume, "scenario.yaml");
    if (!resumption->scenario)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the name of a file");
    options->scenario = resumption->scenario;
    resumption->options = text ? json_loadb(text, (size_t)length, 0, NULL) : NULL;
    return set_options(resumption->options, options, error);
}

int gbees_resumption_read(gbees_resumption *resumption, gbees_options *options, gbees_error *error)
{
    gbees_error note = {0};
    uint64_t length = 0;
    const char *text;
    int status = gbees_store_check(options->resume, error);

    if (!status)
        status = gbees_checkpoint_read(options->resume, &resumption->checkpoint, &note, error);
    if (status)
        return status;
    if (note.status && !options->quiet)
        (void)fprintf(stderr, "gbees-run: %s: going on from the checkpoint before it\n", note.text);
    text = gbees_checkpoint_find(resumption->checkpoint, "options", 1, &length);
    return adapt(resumption, text, length, options, error);
}

int gbees_resumption_send(const gbees_resumption *resumption, const gbees_parallel *parallel, int status,
                          gbees_error *error)
{
    char *text = status ? NULL : json_dumps(resumption->options, JSON_COMPACT);
    uint64_t length = text ? strlen(text) : 0;

    if (!status && !text)
        status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the options of a run");
    status = gbees_parallel_agree(parallel, status, error);
    if (!status) {
        parallel->broadcast(parallel->context, &length, sizeof length);
        parallel->broadcast(parallel->context, text, (size_t)length);
        status = gbees_parallel_agree(parallel, status, error);
    }
    free(text);
    return status;
}

int gbees_resumption_receive(gbees_resumption *resumption, gbees_options *options, gbees_error *error)
{
    const gbees_parallel *parallel = options->parallel;
    uint64_t length = 0;
    int status = gbees_parallel_agree(parallel, GBEES_OK, error);

    if (status)
        return status;
    parallel->broadcast(parallel->context, &length, sizeof length);
    char *text = malloc((size_t)length + 1);
    if (!text) /* rank 0 sends it */
        parallel->abort(parallel->context, EXIT_FAILURE, "out of memory for the options of a run");
    parallel->broadcast(parallel->context, text, (size_t)length);
    status = adapt(resumption, text, length, options, error);
    options->truth = NULL; /* rank 0 alone compares */
    free(text);
    return gbees_parallel_agree(parallel, status, error);
}

int gbees_resumption_check(gbees_resumption *resumption, const gbees_setup *setup, const gbees_options *options,
                           gbees_error *error)
{
    const char *text = gbees_scenario_text(setup->scenario);
    gbees_error why = {0};

    if (!text)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the scenario's text");
    if (!gbees_checkpoint_check(resumption->checkpoint, setup->problem, text, &why))
        return GBEES_OK;
    if (!options->force)
        return gbees_error_set(error, why.status, "%s; --force goes on all the same", why.text);
    resumption->forced = 1;
    return GBEES_OK;
}

void gbees_resumption_free(gbees_resumption *resumption)
{
    gbees_checkpoint_destroy(resumption->checkpoint);
    json_decref(resumption->options);
    free(resumption->scenario);
    *resumption = (gbees_resumption){0};
}

void gbees_resumption_hint(const char *folder, gbees_error *failure)
{
    const gbees_error before = *failure;

    (void)gbees_error_set(failure, before.status, "%s; to go on: gbees-run --resume %s", before.text, folder);
}
