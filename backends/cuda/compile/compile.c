/* compile.c - hands NVRTC a unit's text, the texts that it includes, and the options, and takes the code and the
 * log. A log of errors goes to diagnose.c. */
#include "compile.h"
#include "base/no_memory.h"
#include "base/text.h"
#include "diagnose.h"
#include "texts.h"
#include <argz.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cuda_code_free(cuda_code *code)
{
    free(code->data);
    free(code->log);
    *code = (cuda_code){0};
}

/* ---- options ---- */

/* Appends one option, formatted as by printf().  Sets *failed if there is no memory, or it is longer than 63
 * characters; does nothing if *failed is set. */
static void __attribute__((format(printf, 3, 4))) add(cuda_options *options, int *failed, const char *format, ...)
{
    char text[64];
    va_list arguments;

    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    *failed = *failed || length >= (int)sizeof text || argz_add(&options->argz, &options->length, text);
}

int cuda_options_make(const cuda_goal *goal, cuda_options *options, gbees_error *error)
{
    const program_spec *spec = goal->spec;
    cuda_options made = {0};
    int failed = 0;

    add(&made, &failed, "-arch=%s", goal->target->name);
    add(&made, &failed, "-std=c++17");
    add(&made, &failed, "--device-as-default-execution-space");
    add(&made, &failed, "-DGBEES_DEVICE=1");
    add(&made, &failed, "-DGBEES_N=%d", spec->dimension);
    add(&made, &failed, "-DGBEES_MEASUREMENTS=%d", spec->model->measurement_count);
    add(&made, &failed, "-DGBEES_WARPS=%d", spec->shape.warps);
    add(&made, &failed, "-DGBEES_BLOCKS=%d", spec->shape.blocks);
    if (spec->shape.low_registers)
        add(&made, &failed, "-DGBEES_LOW_REGISTERS=1");
    if (spec->no_contraction)
        add(&made, &failed, "-fmad=false");
    if (goal->form == CUDA_LTO) {
        add(&made, &failed, "-dlto");
        add(&made, &failed, "-DGBEES_SEPARATE=1");
    }
    if (goal->form == CUDA_CUBIN)
        add(&made, &failed, "--ptxas-options=-v");
    for (int i = 0; i < spec->define_count; i++)
        add(&made, &failed, "-D%s", spec->defines[i]);
    if (failed) {
        free(made.argz);
        return gbees_no_memory(error, "to compile for the GPU");
    }
    *options = made;
    return GBEES_OK;
}

/* ---- texts ---- */

/* The model's text behind a #line directive, by which messages have its file's name and lines. The caller frees it;
 * NULL: out of memory. */
static char *model_text(const gbees_model *model)
{
    gbees_text text = {0};

    gbees_text_add(&text, "#line 1 \"");
    for (const char *c = cuda_spec_source_file(model); *c; c++)
        gbees_text_add(&text, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
    gbees_text_add(&text, "\"\n%.*s\n", (int)(model->source_end - model->source), model->source);
    return gbees_text_take(&text);
}

/* Makes NVRTC's program of a unit's text, with all texts that it may include. */
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

/* ---- code and log ---- */

/* Fetches NVRTC's log. The caller frees it; NULL: there is none. */
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

/* Fetches the compiled code. */
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

/* Sets the error from NVRTC's result and log. */
static int failure(const cuda_api *api, const program_spec *spec, nvrtcResult result, const char *log,
                   gbees_error *error)
{
    if (result == NVRTC_ERROR_OUT_OF_MEMORY)
        return gbees_no_memory(error, "to compile for the GPU");
    return cuda_diagnose(spec->model, log, api->nvrtcGetErrorString(result), error);
}

/* Compiles a unit with options; code->log is set on failure, too. */
static nvrtcResult compile(const cuda_api *api, nvrtcProgram unit, const cuda_options *options, cuda_form form,
                           cuda_code *code)
{
    const size_t count = argz_count(options->argz, options->length);
    const char **list = calloc(count + 1, sizeof *list);
    nvrtcResult result;

    if (!list)
        return NVRTC_ERROR_OUT_OF_MEMORY;
    argz_extract(options->argz, options->length, (char **)list);
    result = api->nvrtcCompileProgram(unit, (int)count, list);
    free(list);
    code->log = take_log(api, unit);
    return result == NVRTC_SUCCESS ? take_code(api, unit, form, code) : result;
}

int cuda_compile(const cuda_api *api, const cuda_goal *goal, const char *name, const char *text, cuda_code *code,
                 gbees_error *error)
{
    cuda_options options = {0};
    cuda_code made = {0};
    nvrtcProgram unit = NULL;
    nvrtcResult result = NVRTC_ERROR_OUT_OF_MEMORY;
    int status = cuda_options_make(goal, &options, error);

    if (status)
        return status;
    char *equations = model_text(goal->spec->model);
    if (equations)
        result = create(api, name, text, equations, &unit);
    if (result == NVRTC_SUCCESS)
        result = compile(api, unit, &options, goal->form, &made);
    if (result != NVRTC_SUCCESS)
        status = failure(api, goal->spec, result, made.log, error);
    if (unit)
        (void)api->nvrtcDestroyProgram(&unit);
    free(options.argz);
    free(equations);
    if (status)
        cuda_code_free(&made);
    else
        *code = made;
    return status;
}
