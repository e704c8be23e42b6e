/* offline.c - says without an engine whether CUDA can be used here, and compiles the kernels of a problem to report
 * their registers, spills, sizes and compile times. */
#include "offline.h"
#include "build.h"
#include "cuda/driver/arch.h"
#include "toolchain.h"
#include <stdio.h>
#include <string.h>

/* The architecture of the first device. */
static int find_arch(const cuda_api *api, char *arch, gbees_error *error)
{
    CUdevice device = 0;
    CUresult result = api->cuDeviceGet(&device, 0);

    if (result)
        return cuda_check(api, result, "asking for the first device", error);
    return cuda_device_arch(api, device, arch, error);
}

int cuda_probe(char *text, size_t size)
{
    cuda_api api = {0};
    cuda_target target;
    char arch[16];
    gbees_error why = {0};
    int status = toolchain_open(&api, 1, &why);

    if (!status)
        status = find_arch(&api, arch, &why);
    if (!status)
        status = cuda_target_choose(&api, arch, &target, &why);
    cuda_api_close(&api);
    (void)snprintf(text, size, "%s", status ? why.text : "");
    return status != GBEES_OK;
}

/* ---- compile only ---- */

/* The architecture to compile for if none is named. */
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

/* Hands out a program's report, line by line. */
static void print_report(const program *p, gbees_line_sink *sink, void *context)
{
    char line[256];

    for (const char *next = p->report; next && *next; next += strcspn(next, "\n"), next += *next == '\n') {
        (void)snprintf(line, sizeof line, "%.*s", (int)strcspn(next, "\n"), next);
        sink(context, line);
    }
}

/* Sums over all programs of a set. */
typedef struct set_sums {
    size_t bytes;
    double compile_s, link_s;
    int made, linked, reported; /* programs: not from the cache, of two units, with a report */
} set_sums;

/* Adds up the programs of a set. */
static set_sums add_up(const program_set *set)
{
    set_sums sums = {0};

    for (int k = 0; k < PROGRAMS; k++) {
        const program *p = &set->part[k];

        sums.bytes += p->image_size;
        sums.compile_s += p->compile_s;
        sums.link_s += p->link_s;
        sums.made += p->image && !p->from_cache;
        sums.linked += p->image && p->is_linked;
        sums.reported += p->report && p->report[0];
    }
    return sums;
}

/* Hands out the sums as a line: "BYTES, made in 0.91 s, model and engine in one unit: NVRTC took 2.50 s in all
 * programs". */
static void print_sums(const program_set *set, gbees_line_sink *sink, void *context)
{
    const set_sums sums = add_up(set);
    const char *way = sums.linked ? "model and engine linked" : "model and engine in one unit";
    char line[256], linker[48] = "";

    if (!sums.reported)
        sink(context, "this NVRTC does not know the architecture: PTX, which the driver compiles when it is loaded");
    if (sums.linked)
        (void)snprintf(linker, sizeof linker, ", nvJitLink %.2f s", sums.link_s);
    if (!sums.made)
        (void)snprintf(line, sizeof line, "%zu bytes, from the cache, %s", sums.bytes, way);
    else
        (void)snprintf(line, sizeof line, "%zu bytes, made in %.2f s, %s: NVRTC took %.2f s%s in all programs",
                       sums.bytes, set->wall_s, way, sums.compile_s, linker);
    sink(context, line);
}

/* Hands out all lines of --compile-only: versions, a line a kernel, sums. */
static void print_set(const cuda_api *api, const program_order *order, const program_set *set, gbees_line_sink *sink,
                      void *context)
{
    char line[256], linker[48] = "";

    if (api->linker)
        (void)snprintf(linker, sizeof linker, " and nvJitLink %u.%u", api->linker_major, api->linker_minor);
    (void)snprintf(line, sizeof line, "%s, %d states, for %s with NVRTC %d.%d%s", order->problem->model->name,
                   order->problem->dimension, order->arch, api->compiler_major, api->compiler_minor, linker);
    sink(context, line);
    for (int k = 0; k < PROGRAMS; k++)
        print_report(&set->part[k], sink, context);
    print_sums(set, sink, context);
}

int cuda_compile_only(const gbees_problem *problem, const char *arch, gbees_line_sink *sink, void *context,
                      gbees_error *error)
{
    cuda_api api = {0};
    program_set made = {.wall_s = 0};
    char here[16] = "";
    int status = arch ? GBEES_OK : find_arch_here(here, error);
    const program_order order = {.problem = problem, .arch = arch ? arch : here};

    if (!status)
        status = toolchain_open(&api, 0, error);
    if (!status)
        status = program_set_build(&api, &order, &made, error);
    if (!status)
        print_set(&api, &order, &made, sink, context);
    program_set_destroy(&api, &made);
    cuda_api_close(&api);
    return status;
}
