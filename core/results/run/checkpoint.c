/* checkpoint.c - identifies the run of a checkpoint (model, scenario, parameters), so that no other resumes from it.
 */
#include "base/checkpoint.h"
#include "provenance.h"
#include <stdlib.h>
#include <string.h>

int gbees_run_info_save(const gbees_run_info *info, gbees_checkpoint *checkpoint, gbees_error *error)
{
    const gbees_problem *problem = info->problem;
    int bad = gbees_checkpoint_add(checkpoint, "model_hash", 1, strlen(info->model_hash), info->model_hash);

    bad |= gbees_checkpoint_add(checkpoint, "model", 1, strlen(problem->model->name), problem->model->name);
    bad |= gbees_checkpoint_add(checkpoint, "scenario", 1, strlen(info->scenario), info->scenario);
    bad |= gbees_checkpoint_add(checkpoint, "parameters", sizeof(double), (uint64_t)problem->model->parameter_count,
                                problem->parameters);
    return bad ? gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a checkpoint") : GBEES_OK;
}

/* Whether a part has exactly these bytes; a part without any is not there. */
static int is_same(const gbees_checkpoint *checkpoint, const char *name, size_t size, size_t count, const void *data)
{
    uint64_t found = 0;
    const void *there = gbees_checkpoint_find((void *)(uintptr_t)checkpoint, name, size, &found);

    return there ? found == count && memcmp(there, data, size * count) == 0 : count == 0;
}

int gbees_checkpoint_check(const gbees_checkpoint *checkpoint, const gbees_problem *problem, const char *scenario,
                           gbees_error *error)
{
    const gbees_model *model = problem->model;
    char hash[GBEES_MODEL_HASH];
    const char *what = NULL;

    gbees_model_hash(model, hash);
    if (!is_same(checkpoint, "model", 1, strlen(model->name), model->name))
        what = "the plugin is one of another model";
    else if (!is_same(checkpoint, "model_hash", 1, strlen(hash), hash))
        what = "the plugin's source text is another one (its hash differs)";
    else if (!is_same(checkpoint, "parameters", sizeof(double), (size_t)model->parameter_count, problem->parameters))
        what = "the model's parameters are others";
    else if (!is_same(checkpoint, "scenario", 1, strlen(scenario), scenario))
        what = "the scenario is another one: scenario.yaml has been changed";
    return what ? gbees_error_set(error, GBEES_EINPUT, "the run can't go on as it was: %s", what) : GBEES_OK;
}
