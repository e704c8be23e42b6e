/* link.c - creates a link for an architecture, adds both units, and takes the cubin and the log. */
#include "link.h"
#include "diagnose.h"
#include <stdio.h>
#include <stdlib.h>

/* Fetches the info log or the error log, by nvJitLink's functions for it. The caller frees it; NULL: there is none.
 */
static char *take_log(nvJitLinkHandle handle, __typeof__(nvJitLinkGetInfoLogSize) *get_size,
                      __typeof__(nvJitLinkGetInfoLog) *get)
{
    size_t size = 0;
    char *log = NULL;

    if (get_size(handle, &size) == NVJITLINK_SUCCESS)
        log = calloc(1, size + 1);
    if (log && size)
        (void)get(handle, log);
    return log;
}

/* Begins to link for the goal's architecture. */
static nvJitLinkResult create(const cuda_api *api, const cuda_goal *goal, nvJitLinkHandle *handle)
{
    char arch[32];
    const char *options[] = {arch, "-lto", "-verbose", "-Xptxas=-v", "-fma=0"};

    (void)snprintf(arch, sizeof arch, "-arch=%s", goal->target->name);
    return api->nvJitLinkCreate(handle, goal->spec->no_contraction ? 5 : 4, options);
}

/* Fetches the cubin. */
static nvJitLinkResult take_code(const cuda_api *api, nvJitLinkHandle handle, cuda_code *code)
{
    nvJitLinkResult result = api->nvJitLinkGetLinkedCubinSize(handle, &code->size);

    if (result != NVJITLINK_SUCCESS)
        return result;
    code->data = malloc(code->size + 1);
    return code->data ? api->nvJitLinkGetLinkedCubin(handle, code->data) : NVJITLINK_ERROR_INTERNAL;
}

int cuda_link(const cuda_api *api, const cuda_goal *goal, const cuda_code units[2], cuda_code *code,
              gbees_error *error)
{
    cuda_code made = {0};
    nvJitLinkHandle handle = NULL;
    nvJitLinkResult result = create(api, goal, &handle);
    static const char *const names[2] = {"the model", "the engine"};
    int status = GBEES_OK;

    for (int i = 0; i < 2 && result == NVJITLINK_SUCCESS; i++)
        result = api->nvJitLinkAddData(handle, NVJITLINK_INPUT_LTOIR, units[i].data, units[i].size, names[i]);
    if (result == NVJITLINK_SUCCESS)
        result = api->nvJitLinkComplete(handle);
    if (result == NVJITLINK_SUCCESS)
        result = take_code(api, handle, &made);
    if (result == NVJITLINK_SUCCESS)
        made.log = take_log(handle, api->nvJitLinkGetInfoLogSize, api->nvJitLinkGetInfoLog);
    else {
        char what[48];
        char *log = handle ? take_log(handle, api->nvJitLinkGetErrorLogSize, api->nvJitLinkGetErrorLog) : NULL;

        (void)snprintf(what, sizeof what, "nvJitLink failed with error %d", (int)result);
        status = cuda_diagnose(goal->spec->model, log, what, error);
        free(log);
    }
    if (handle)
        (void)api->nvJitLinkDestroy(&handle);
    if (status)
        cuda_code_free(&made);
    else
        *code = made;
    return status;
}
