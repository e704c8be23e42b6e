/* compile.c - see compile.h. */
#include "compile.h"
#include "base/text.h"
#include "diagnose.h"
#include "texts.h"
#include <argz.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to compile for the GPU");
}

void cuda_code_free(cuda_code *code)
{
    free(code->data);
    free(code->log);
    *code = (cuda_code){0};
}

/* ---- options ---- */

int cuda_options_make(const program_spec *spec, const cuda_target *target, cuda_form form, char **options,
                      size_t *length, gbees_error *error)
{
    char text[64];
    char *made = NULL;
    size_t used = 0;
    int failed;

    (void)snprintf(text, sizeof text, "-arch=%s", target->name);
    failed = argz_add(&made, &used, text) || argz_add(&made, &used, "-std=c++17") ||
             argz_add(&made, &used, "--device-as-default-execution-space") ||
             argz_add(&made, &used, "-DGBEES_DEVICE=1");
    (void)snprintf(text, sizeof text, "-DGBEES_N=%d", spec->dimension);
    failed = failed || argz_add(&made, &used, text);
    (void)snprintf(text, sizeof text, "-DGBEES_MEASUREMENTS=%d", spec->model->measurement_count);
    failed = failed || argz_add(&made, &used, text);
    if (spec->no_contraction)
        failed = failed || argz_add(&made, &used, "-fmad=false");
    (void)snprintf(text, sizeof text, "-DGBEES_WARPS=%d", spec->shape.warps);
    failed = failed || argz_add(&made, &used, text);
    (void)snprintf(text, sizeof text, "-DGBEES_BLOCKS=%d", spec->shape.blocks);
    failed = failed || argz_add(&made, &used, text);
    if (spec->shape.low_registers)
        failed = failed || argz_add(&made, &used, "-DGBEES_LOW_REGISTERS=1");
    if (form == CUDA_LTO)
        failed = failed || argz_add(&made, &used, "-dlto") || argz_add(&made, &used, "-DGBEES_SEPARATE=1");
    if (form == CUDA_CUBIN)
        failed = failed || argz_add(&made, &used, "--ptxas-options=-v");
    for (int i = 0; i < spec->define_count && !failed; i++) {
        gbees_text define = {0};

        gbees_text_add(&define, "-D%s", spec->defines[i]);
        failed = define.failed || argz_add(&made, &used, define.data);
        gbees_text_free(&define);
    }
    if (failed) {
        free(made);
        return no_memory(error);
    }
    *options = made;
    *length = used;
    return GBEES_OK;
}

/* ---- texts ---- */

/* The model's text, under its own name in messages. */
static char *model_text(const gbees_model *model)
{
    gbees_text text = {0};

    gbees_text_add(&text, "#line 1 \"");
    for (const char *c = model->source_file; *c; c++)
        gbees_text_add(&text, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
    gbees_text_add(&text, "\"\n%.*s\n", (int)(model->source_end - model->source), model->source);
    return gbees_text_take(&text);
}

static nvrtcResult create(const cuda_api *api, const char *name, const char *text, const char *equations,
                          nvrtcProgram *unit)
{
    const char *names[CUDA_TEXTS_MOST + 1], *texts[CUDA_TEXTS_MOST + 1];
    const cuda_text *list;
    int count = (int)cuda_texts(&list);

    for (int i = 0; i < count; i++) {
        names[i] = list[i].name;
        texts[i] = list[i].begin;
    }
    names[count] = "equations";
    texts[count] = equations;
    return api->nvrtcCreateProgram(unit, text, name, count + 1, texts, names);
}

/* ---- what comes out ---- */

static char *take_log(const cuda_api *api, nvrtcProgram unit)
{
    size_t size = 0;
    char *log = NULL;

    if (api->nvrtcGetProgramLogSize(unit, &size) == NVRTC_SUCCESS)
        log = calloc(1, size + 1);
    if (log && size)
        (void)api->nvrtcGetProgramLog(unit, log);
    return log;
}

static nvrtcResult take_code(const cuda_api *api, nvrtcProgram unit, cuda_form form, cuda_code *code)
{
    nvrtcResult result = form == CUDA_CUBIN ? api->nvrtcGetCUBINSize(unit, &code->size)
                         : form == CUDA_PTX ? api->nvrtcGetPTXSize(unit, &code->size)
                                            : api->nvrtcGetLTOIRSize(unit, &code->size);

    if (result != NVRTC_SUCCESS)
        return result;
    code->data = malloc(code->size + 1);
    if (!code->data)
        return NVRTC_ERROR_OUT_OF_MEMORY;
    code->data[code->size] = '\0';
    return form == CUDA_CUBIN ? api->nvrtcGetCUBIN(unit, code->data)
           : form == CUDA_PTX ? api->nvrtcGetPTX(unit, code->data)
                              : api->nvrtcGetLTOIR(unit, code->data);
}

static int failure(const cuda_api *api, const program_spec *spec, nvrtcResult result, const char *log,
                   gbees_error *error)
{
    if (result == NVRTC_ERROR_OUT_OF_MEMORY)
        return no_memory(error);
    return cuda_diagnose(spec->model, log, api->nvrtcGetErrorString(result), error);
}

int cuda_compile(const cuda_api *api, const program_spec *spec, const cuda_target *target, cuda_form form,
                 const char *name, const char *text, cuda_code *code, gbees_error *error)
{
    char *argz = NULL, *equations = model_text(spec->model);
    const char **options = NULL;
    cuda_code made = {0};
    nvrtcProgram unit = NULL;
    nvrtcResult result = NVRTC_ERROR_OUT_OF_MEMORY;
    size_t length = 0;
    int status = cuda_options_make(spec, target, form, &argz, &length, error);

    if (!status)
        options = calloc(argz_count(argz, length) + 1, sizeof *options);
    if (options && equations) {
        argz_extract(argz, length, (char **)options);
        result = create(api, name, text, equations, &unit);
    }
    if (result == NVRTC_SUCCESS) {
        result = api->nvrtcCompileProgram(unit, (int)argz_count(argz, length), options);
        made.log = take_log(api, unit);
    }
    if (result == NVRTC_SUCCESS)
        result = take_code(api, unit, form, &made);
    if (!status && result != NVRTC_SUCCESS)
        status = failure(api, spec, result, made.log, error);
    if (unit)
        (void)api->nvrtcDestroyProgram(&unit);
    free(options);
    free(argz);
    free(equations);
    if (status)
        cuda_code_free(&made);
    else
        *code = made;
    return status;
}
