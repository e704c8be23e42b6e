/* offline.c - see offline.h. */
#include "offline.h"
#include "cuda/driver/arch.h"
#include "build.h"
#include "spec.h"
#include <stdio.h>
#include <string.h>

/* The first device's. */
static int find_arch(const cuda_api *api, char *arch, gbees_error *error)
{
    CUdevice device = 0;
    CUresult result = api->cuDeviceGet(&device, 0);

    if (result)
        return cuda_check(api, result, "the first device was asked for", error);
    return cuda_device_arch(api, device, arch, error);
}

int cuda_probe(char *text, size_t size)
{
    cuda_api api = {0};
    cuda_target target;
    char arch[16];
    gbees_error why = {0};
    int status = cuda_api_open(&api, CUDA_DRIVER | cuda_spec_libraries(), &why);

    if (!status)
        status = find_arch(&api, arch, &why);
    if (!status)
        status = cuda_target_choose(&api, arch, &target, &why);
    cuda_api_close(&api);
    (void)snprintf(text, size, "%s", status ? why.text : "");
    return status != GBEES_OK;
}

/* ---- compile only ---- */

static int find_arch_here(char *arch, gbees_error *error)
{
    cuda_api api = {0};
    gbees_error why = {0};
    int status = cuda_api_open(&api, CUDA_DRIVER, &why);

    if (!status)
        status = find_arch(&api, arch, &why);
    cuda_api_close(&api);
    return status
               ? gbees_error_set(error, GBEES_EUSAGE, "name an architecture, as in --arch sm_90, since %s", why.text)
               : GBEES_OK;
}

static void tell_report(const program *p, gbees_line_sink *sink, void *context)
{
    char line[256];

    for (const char *next = p->report; next && *next; next += strcspn(next, "\n"), next += *next == '\n') {
        (void)snprintf(line, sizeof line, "%.*s", (int)strcspn(next, "\n"), next);
        sink(context, line);
    }
}

static void tell(const cuda_api *api, const gbees_problem *problem, const char *arch, const program_set *set,
                 gbees_line_sink *sink, void *context)
{
    char line[256], with[48] = "";
    size_t bytes = 0;
    int fresh = 0, reported = 0;

    if (api->linker)
        (void)snprintf(with, sizeof with, " and nvJitLink %u.%u", api->linker_major, api->linker_minor);
    (void)snprintf(line, sizeof line, "%s, %d states, for %s with NVRTC %d.%d%s", problem->model->name,
                   problem->dimension, arch, api->compiler_major, api->compiler_minor, with);
    sink(context, line);
    for (int k = 0; k < PROGRAMS; k++) {
        const program *p = &set->part[k];

        tell_report(p, sink, context);
        bytes += p->image_size;
        fresh += p->image && !p->from_cache;
        reported += p->report && p->report[0];
    }
    if (!reported)
        sink(context, "this NVRTC does not know the architecture: PTX, which the driver finishes when it is loaded");
    if (!fresh)
        (void)snprintf(line, sizeof line, "%zu bytes, from the cache", bytes);
    else
        (void)snprintf(line, sizeof line, "%zu bytes, made in %.2f s", bytes, set->wall_s);
    sink(context, line);
}

int cuda_compile_only(const gbees_problem *problem, const char *arch, gbees_line_sink *sink, void *context,
                      gbees_error *error)
{
    cuda_api api = {0};
    program_set made = {.wall_s = 0};
    char here[16] = "";
    int status = arch ? GBEES_OK : find_arch_here(here, error);

    if (!status)
        status = cuda_api_open(&api, cuda_spec_libraries(), error);
    if (!status)
        status = program_set_build(&api, problem, arch ? arch : here, 0, 0, &made, error);
    if (!status)
        tell(&api, problem, arch ? arch : here, &made, sink, context);
    program_set_destroy(&api, &made);
    cuda_api_close(&api);
    return status;
}
