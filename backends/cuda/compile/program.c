/* program.c - makes a program from its spec: looks it up in the cache; else compiles it, with the next narrower
 * shape as long as kernels spill registers, and adds it to the cache. Finally the image is loaded into the GPU. */
#include "program.h"
#include "base/seconds.h"
#include "cache.h"
#include "compile.h"
#include "link.h"
#include "report.h"
#include "texts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The texts of compilation units: "engine.cu" and others are names of texts.h. */
static const char both_units[] = "#include \"engine.cu\"\n#include \"device/equations.h\"\n";
static const char engine_unit[] = "#include \"engine.cu\"\n";
static const char model_unit[] = "#include \"device/equations.h\"\n";

/* Whether model and engine are compiled as two units. PTX is always one, since nvJitLink makes no PTX. */
static int is_separate(const program_spec *spec, const cuda_target *target)
{
    return spec->separate && !target->is_ptx;
}

/* What the spec's texts are compiled to for a target. The goal refers to both. */
static cuda_goal goal_of(const program_spec *spec, const cuda_target *target)
{
    const cuda_form form = is_separate(spec, target) ? CUDA_LTO : target->is_ptx ? CUDA_PTX : CUDA_CUBIN;

    return (cuda_goal){spec, target, form};
}

/* ---- cache ---- */

/* Makes the key of a program's cache entry, from all that its code depends on: the versions of NVRTC and nvJitLink,
 * the options, and all texts. */
static int make_key(const cuda_api *api, const cuda_goal *goal, char key[CACHE_KEY], gbees_error *error)
{
    const gbees_model *model = goal->spec->model;
    const int linked = goal->form == CUDA_LTO;
    cache_part parts[2 * CUDA_TEXTS_MOST + 4];
    const cuda_text *texts;
    size_t count = 0, text_count = cuda_texts(&texts);
    cuda_options options;
    char versions[64];
    int status = cuda_options_make(goal, &options, error);

    if (status)
        return status;
    (void)snprintf(versions, sizeof versions, "NVRTC %d.%d nvJitLink %u.%u", api->compiler_major, api->compiler_minor,
                   linked ? api->linker_major : 0, linked ? api->linker_minor : 0);
    parts[count++] = (cache_part){versions, strlen(versions)};
    parts[count++] = (cache_part){options.argz, options.length};
    parts[count++] = (cache_part){model->source, (size_t)(model->source_end - model->source)};
    for (size_t i = 0; i < text_count; i++) {
        parts[count++] = (cache_part){texts[i].name, strlen(texts[i].name)};
        parts[count++] = (cache_part){texts[i].begin, (size_t)(texts[i].end - texts[i].begin)};
    }
    status = cache_key(parts, count, key, error);
    free(options.argz);
    return status;
}

/* ---- one shape ---- */

/* Takes over code->data as the image, and makes the report of code->log. */
static int keep(program *out, cuda_code *code, gbees_error *error)
{
    out->report = cuda_report(code->log);
    if (!out->report)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the report on the GPU kernels");
    out->image = code->data;
    out->image_size = code->size;
    code->data = NULL;
    return GBEES_OK;
}

/* Compiles model and engine as one unit. */
static int build_one(const cuda_api *api, const cuda_goal *goal, program *out, gbees_error *error)
{
    cuda_code code = {0};
    const double start = gbees_seconds_now();
    int status = cuda_compile(api, goal, "gbees", both_units, &code, error);

    out->compile_s += gbees_seconds_now() - start;
    if (!status)
        status = keep(out, &code, error);
    cuda_code_free(&code);
    return status;
}

/* Compiles the model and the engine as two units, and links them. The model comes first, so that its faults are found
 * before the engine, which takes longer, is compiled. */
static int build_separate(const cuda_api *api, const cuda_goal *goal, program *out, gbees_error *error)
{
    cuda_code units[2] = {{0}}, code = {0};
    const double start = gbees_seconds_now();
    int status = cuda_compile(api, goal, "gbees-model", model_unit, &units[0], error);

    if (!status)
        status = cuda_compile(api, goal, "gbees-engine", engine_unit, &units[1], error);
    const double compiled = gbees_seconds_now();
    out->compile_s += compiled - start;
    if (!status)
        status = cuda_link(api, goal, units, &code, error);
    out->link_s += gbees_seconds_now() - compiled;
    if (!status)
        status = keep(out, &code, error);
    cuda_code_free(&units[0]);
    cuda_code_free(&units[1]);
    cuda_code_free(&code);
    return status;
}

/* ---- shapes ---- */

enum { SPILLED_MUCH = 400 }; /* bytes of all kernels of a program */

/* Whether the kernels spill and there is a shape left to try; sets *shape to it. */
static int is_too_narrow(const program *made, program_shape *shape)
{
    const int spilled = made->report ? cuda_report_spilled(made->report) : 0;

    if (!spilled || !shape_next(shape))
        return 0;
    if (spilled > SPILLED_MUCH) /* the next shape would spill, too: trying it would cost seconds */
        (void)shape_next(shape);
    return 1;
}

/* ---- find and build ---- */

int program_find(const cuda_api *api, const program_spec *spec, program *out, gbees_error *error)
{
    cache_entry entry = {0};
    cuda_target target;
    char key[CACHE_KEY];
    program_spec next = *spec;
    int status = cuda_target_choose(api, spec->arch, &target, error);

    if (status)
        return status;
    const cuda_goal goal = goal_of(&next, &target);
    do {
        status = make_key(api, &goal, key, error);
        if (!status && cache_read(key, &entry)) {
            *out = (program){.image = entry.image,
                             .image_size = entry.image_size,
                             .report = entry.report,
                             .shape = next.shape,
                             .from_cache = 1,
                             .is_linked = goal.form == CUDA_LTO};
            return status;
        }
    } while (!status && shape_next(&next.shape));
    return status;
}

/* Compiles a program, shape after shape, and writes it into the cache under the last shape's key. */
static int build(const cuda_api *api, const program_spec *spec, const cuda_target *target, program *made,
                 gbees_error *error)
{
    program_spec next = *spec;
    const cuda_goal goal = goal_of(&next, target);
    char key[CACHE_KEY];
    int status;

    do {
        free(made->image);
        free(made->report);
        *made = (program){.compile_s = made->compile_s, .link_s = made->link_s, .shape = next.shape};
        status = goal.form == CUDA_LTO ? build_separate(api, &goal, made, error) : build_one(api, &goal, made, error);
    } while (!status && is_too_narrow(made, &next.shape));
    made->is_linked = goal.form == CUDA_LTO;
    next.shape = made->shape;
    if (!status)
        status = make_key(api, &goal, key, error);
    if (!status)
        (void)cache_write(key, &(cache_entry){made->image, made->image_size, made->report});
    return status;
}

int program_make(const cuda_api *api, const program_spec *spec, program *out, gbees_error *error)
{
    program made = {0};
    cuda_target target;
    int status = cuda_target_choose(api, spec->arch, &target, error);

    if (!status)
        status = build(api, spec, &target, &made, error);
    if (status)
        program_destroy(api, &made);
    else
        *out = made;
    return status;
}

int program_build(const cuda_api *api, const program_spec *spec, program *out, gbees_error *error)
{
    program found = {0};
    int status = program_find(api, spec, &found, error);

    if (status || !found.image)
        return status ? status : program_make(api, spec, out, error);
    *out = found;
    return GBEES_OK;
}

/* ---- load ---- */

int program_load(const cuda_api *api, program *p, gbees_error *error)
{
    char log[512] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(size_t)sizeof log};
    CUmodule module = NULL;
    gbees_error why;
    int status =
        cuda_check(api, api->cuModuleLoadDataEx(&module, p->image, 2, options, values), "loading its kernels", &why);

    if (status) {
        log[strcspn(log, "\n")] = '\0';
        return gbees_error_set(error, (gbees_status)status, "%s%s%s", why.text, log[0] ? ": " : "", log);
    }
    p->module = module;
    return GBEES_OK;
}

int program_function(const cuda_api *api, const program *p, const char *name, CUfunction *function,
                     gbees_error *error)
{
    char doing[128];

    (void)snprintf(doing, sizeof doing, "looking up the kernel %s", name);
    return cuda_check(api, api->cuModuleGetFunction(function, p->module, name), doing, error);
}

void program_destroy(const cuda_api *api, program *p)
{
    if (p->module && api)
        (void)api->cuModuleUnload(p->module);
    free(p->image);
    free(p->report);
    *p = (program){0};
}
