/* provenance.c - collects program, machine, command, model, scenario and summary of a run, and writes them as one
 * JSON object. */
#include "provenance.h"
#include "base/sha256.h"
#include "json_util.h"
#include "results/folder/folder.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void stamp(char text[32])
{
    time_t now = time(NULL);
    struct tm parts;

    if (!gmtime_r(&now, &parts) || strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        text[0] = '\0';
}

void gbees_model_hash(const gbees_model *model, char hash[GBEES_MODEL_HASH])
{
    char hex[GBEES_SHA256_HEX];

    hash[0] = '\0';
    if (!model->source || !model->source_end)
        return;
    gbees_sha256(model->source, (size_t)(model->source_end - model->source), hex);
    (void)snprintf(hash, GBEES_MODEL_HASH, "sha256:%s", hex);
}

static char *copy(const char *text)
{
    return strdup(text ? text : "");
}

const char *gbees_model_path(const gbees_model *model)
{
    Dl_info info;

    return dladdr(model->name, &info) ? info.dli_fname : NULL;
}

int gbees_run_info_create(const gbees_problem *problem, const gbees_provenance *provenance, gbees_run_info *info,
                          gbees_error *error)
{
    const char *plugin = provenance->plugin_path ? provenance->plugin_path : gbees_model_path(problem->model);

    *info = (gbees_run_info){.problem = problem,
                             .plugin_path = copy(plugin),
                             .scenario = copy(provenance->scenario),
                             .backend = copy(provenance->backend),
                             .device = copy(provenance->device),
                             .command = copy(provenance->command)};
    if (!info->plugin_path || !info->scenario || !info->backend || !info->device || !info->command) {
        gbees_run_info_free(info);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to describe the run");
    }
    gbees_model_hash(problem->model, info->model_hash);
    if (gethostname(info->host, sizeof info->host - 1))
        info->host[0] = '\0';
    stamp(info->started);
    return 0;
}

void gbees_run_info_free(gbees_run_info *info)
{
    free(info->plugin_path);
    free(info->scenario);
    free(info->backend);
    free(info->device);
    free(info->command);
    free(info->runs);
    free(info->resumed);
    *info = (gbees_run_info){0};
}

static json_t *describe_parameters(const gbees_problem *problem)
{
    json_t *object = json_object();
    int bad = 0;

    for (int k = 0; k < problem->model->parameter_count; k++)
        bad |=
            json_object_set_new(object, problem->model->parameters[k].name, gbees_json_real(problem->parameters[k]));
    return gbees_json_whole(object, bad);
}

static json_t *describe_summary(const gbees_run_info *info, const gbees_summary *summary)
{
    json_t *object = json_object(), *truth = gbees_json_scores(&info->scores);
    int bad = object ? gbees_json_add_summary(object, info->backend, summary) : 0;

    if (object && truth)
        bad |= json_object_set(object, "truth", truth);
    json_decref(truth);
    return gbees_json_whole(object, bad);
}

/* The runs that an accuracy took, in their order. */
static json_t *describe_runs(const gbees_run_info *info)
{
    json_t *runs = json_array();
    int bad = !runs;

    for (int k = 0; k < info->run_count && !bad; k++) {
        json_t *run = json_object();

        bad = !run || gbees_json_add_run(run, &info->runs[k]);
        bad |= json_array_append_new(runs, run);
    }
    return gbees_json_whole(runs, bad);
}

/* Replaces *text by what the object has under this key, if that is a string. */
static int take_text(const json_t *object, const char *key, char **text)
{
    const char *found = json_string_value(json_object_get(object, key));
    char *copied = found ? strdup(found) : NULL;

    if (!found)
        return 0;
    if (!copied)
        return 1;
    free(*text);
    *text = copied;
    return 0;
}

/* This resumption, for the list. */
static json_t *describe_resumption(const gbees_run_info *info, int forced)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:b}", "at", info->started, "command", gbees_json_text(info->command),
                     "backend", gbees_json_text(info->backend), "host", gbees_json_text(info->host), "forced",
                     forced);
}

int gbees_run_info_resume(gbees_run_info *info, const gbees_store *store, int forced, gbees_error *error)
{
    char *path = gbees_folder_join(store->path, "run.json");
    json_t *before = path ? json_load_file(path, 0, NULL) : NULL;
    json_t *list = json_deep_copy(json_object_get(before, "resumed"));
    const char *started = json_string_value(json_object_get(before, "started"));

    free(path);
    if (!json_is_array(list)) {
        json_decref(list);
        list = json_array();
    }
    int bad = json_array_append_new(list, describe_resumption(info, forced));
    free(info->resumed);
    info->resumed = bad ? NULL : json_dumps(list, JSON_COMPACT);
    if (started)
        (void)snprintf(info->started, sizeof info->started, "%s", started);
    bad |= take_text(before, "command", &info->command);
    json_decref(list);
    json_decref(before);
    return bad || !info->resumed ? gbees_error_set(error, GBEES_ENOMEM, "not enough memory to describe the run")
                                 : GBEES_OK;
}

/* Adds the accuracy of a search and its runs. */
static int add_search(json_t *run, const gbees_run_info *info)
{
    static const char *const names[] = {[GBEES_ACCURACY_MOMENTS] = "moments",
                                        [GBEES_ACCURACY_MARGINALS] = "marginals",
                                        [GBEES_ACCURACY_DENSITY] = "density"};
    int bad = json_object_set_new(run, "accuracy", gbees_json_real(info->problem->accuracy));

    bad |= json_object_set_new(run, "accuracy_of", json_string(names[info->problem->accuracy_of]));
    bad |= json_object_set_new(run, "runs", describe_runs(info));
    return bad;
}

static json_t *describe(const gbees_run_info *info, const char *state, const gbees_summary *summary)
{
    json_t *run = json_object();
    char now[32];
    int bad = 0;

    stamp(now);
    bad |= json_object_set_new(run, "format", json_string("gbees-run"));
    bad |= json_object_set_new(run, "format_version", json_integer(1));
    bad |= json_object_set_new(run, "gbees_version", gbees_json_text(gbees_version()));
    bad |= json_object_set_new(run, "state", gbees_json_text(state));
    if (info->stopped_by)
        bad |= json_object_set_new(run, "stopped_by", json_string(info->stopped_by));
    bad |= json_object_set_new(run, "started", gbees_json_text(info->started));
    if (strcmp(state, "running") != 0)
        bad |= json_object_set_new(run, "ended", json_string(now));
    if (strcmp(state, "running") != 0 && strcmp(state, "failed") != 0)
        bad |= json_object_set_new(run, "records", json_integer((json_int_t)info->records));
    bad |= json_object_set_new(run, "host", gbees_json_text(info->host));
    bad |= json_object_set_new(run, "pid", json_integer((json_int_t)getpid()));
    bad |= json_object_set_new(run, "command", gbees_json_text(info->command));
    bad |= json_object_set_new(run, "backend", gbees_json_text(info->backend));
    bad |= json_object_set_new(run, "device", gbees_json_text(info->device));
    bad |= json_object_set_new(run, "model", gbees_json_text(info->problem->model->name));
    bad |= json_object_set_new(run, "dimension", json_integer(info->problem->dimension));
    bad |= json_object_set_new(run, "plugin", gbees_json_text(info->plugin_path));
    bad |= json_object_set_new(run, "model_hash", json_string(info->model_hash));
    bad |= json_object_set_new(run, "parameters", describe_parameters(info->problem));
    if (info->resumed)
        bad |= json_object_set_new(run, "resumed", json_loads(info->resumed, 0, NULL));
    if (info->run_count)
        bad |= add_search(run, info);
    if (summary)
        bad |= json_object_set_new(run, "summary", describe_summary(info, summary));
    return gbees_json_whole(run, bad);
}

int gbees_run_info_write(const gbees_run_info *info, const gbees_store *store, const char *state,
                         const gbees_summary *summary, gbees_error *error)
{
    json_t *run = describe(info, state, summary);
    char *text = run ? json_dumps(run, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17)) : NULL;
    int status;

    json_decref(run);
    if (!text)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to write %s/run.json", store->path);
    size_t length = strlen(text);
    text[length] = '\n'; /* in place of the NUL: the length is given */
    status = gbees_store_write(store, "run.json", text, length + 1, error);
    free(text);
    return status;
}
