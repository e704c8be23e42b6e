/* api.c - opens the libraries of the driver, NVRTC and nvJitLink, and looks up their functions by name. Files of
 * NVRTC and nvJitLink whose versions the driver, or each other, can't use are passed over. */
#include "api.h"
#include "library.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DRIVER_LEAST = 12000 }; /* the first version of cuDriverGetVersion() with all functions */

/* A function's name, and where cuda_api has its pointer. */
typedef struct entry {
    const char *name;
    size_t offset; /* in cuda_api, bytes */
} entry;

#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)
#define ENTRY(name) {TEXT(name), offsetof(cuda_api, name)},

static const entry driver_functions[] = {CUDA_DRIVER_FUNCTIONS(ENTRY)};
static const entry compiler_functions[] = {CUDA_COMPILER_FUNCTIONS(ENTRY)};
static const entry linker_functions[] = {CUDA_LINKER_FUNCTIONS(ENTRY)};

/* The name that drivers before 12.8 have for a function that was renamed. */
static const char *older_name(const char *name)
{
    return strcmp(name, "cuEventElapsedTime_v2") == 0 ? "cuEventElapsedTime" : name;
}

/* Looks up all functions of a list and sets them in the api.  Returns NULL, or the first name that the library lacks.
 */
static const char *take(cuda_api *api, void *library, const entry *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *symbol = library_symbol(library, list[i].name);

        if (!symbol)
            symbol = library_symbol(library, older_name(list[i].name));
        if (!symbol)
            return list[i].name;
        memcpy((char *)api + list[i].offset, &symbol, sizeof symbol);
    }
    return NULL;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- driver ---- */

/* Sets the error for a driver that is there and can't be used. */
static int driver_failed(const cuda_api *api, CUresult result, const char *doing, gbees_error *error)
{
    gbees_error why;

    if (result == CUDA_ERROR_NO_DEVICE)
        return gbees_error_set(error, GBEES_EBACKEND,
                               "no GPU was found: the NVIDIA driver is there, but sees no device (nvidia-smi "
                               "shows what it sees; CUDA_VISIBLE_DEVICES may hide devices)");
    (void)cuda_check(api, result, doing, &why);
    return gbees_error_set(error, GBEES_EBACKEND, "the NVIDIA driver can't be used: %s", why.text);
}

/* Opens and initialises the driver, which must see a device. */
static int open_driver(cuda_api *api, gbees_error *error)
{
    const char *const names[] = {"libcuda.so.1", NULL};
    const char *lacks;
    int devices = 0;
    gbees_error why;

    api->driver = library_open(names, LIBRARY_SYSTEM, NULL, &why);
    if (!api->driver)
        return gbees_error_set(error, GBEES_EBACKEND, "the NVIDIA driver is not installed: %s", why.text);
    lacks = take(api, api->driver, driver_functions, COUNT(driver_functions));
    if (api->cuDriverGetVersion && api->cuDriverGetVersion(&api->driver_version) == CUDA_SUCCESS &&
        api->driver_version < DRIVER_LEAST)
        return gbees_error_set(error, GBEES_EBACKEND,
                               "the NVIDIA driver is too old: it is for CUDA %d.%d, and %d.%d is needed: update it",
                               api->driver_version / 1000, api->driver_version % 1000 / 10, DRIVER_LEAST / 1000,
                               DRIVER_LEAST % 1000 / 10);
    if (lacks)
        return gbees_error_set(error, GBEES_EBACKEND,
                               "the NVIDIA driver is too old, or incomplete: libcuda.so.1 has no %s: update it",
                               lacks);
    CUresult result = api->cuInit(0);
    if (!result)
        result = api->cuDeviceGetCount(&devices);
    if (result || devices < 1)
        return driver_failed(api, result ? result : CUDA_ERROR_NO_DEVICE, "initialising it", error);
    return GBEES_OK;
}

/* ---- compiler and linker ---- */

/* A library_test: whether this NVRTC has all functions, and the driver, if it is open, can load what it compiles. */
static int is_usable_compiler(void *context, void *library)
{
    cuda_api *api = context;

    if (take(api, library, compiler_functions, COUNT(compiler_functions)) ||
        api->nvrtcVersion(&api->compiler_major, &api->compiler_minor) != NVRTC_SUCCESS)
        return 0;
    return !api->driver || api->compiler_major <= api->driver_version / 1000;
}

/* Lists the architectures that NVRTC knows. The list is empty if there is no memory or NVRTC has none: then
 * cuda_target_choose() refuses. */
static void list_architectures(cuda_api *api)
{
    int count = 0, *list = NULL;

    api->architecture_count = 0;
    if (api->nvrtcGetNumSupportedArchs(&count) == NVRTC_SUCCESS && count > 0)
        list = calloc((size_t)count, sizeof *list);
    if (list && api->nvrtcGetSupportedArchs(list) == NVRTC_SUCCESS)
        for (int i = 0; i < count && i < CUDA_ARCHITECTURES; i++)
            api->architectures[api->architecture_count++] = list[i];
    free(list);
}

int cuda_api_open_compiler(cuda_api *api, gbees_error *error)
{
    const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", NULL};
    gbees_error why;

    if (api->compiler)
        return GBEES_OK;
    api->compiler_major = 0;
    api->compiler = library_open(names, LIBRARY_TOOLKIT, &(library_test){is_usable_compiler, api}, &why);
    if (api->compiler) {
        list_architectures(api);
        return GBEES_OK;
    }
    if (api->compiler_major)
        return gbees_error_set(error, GBEES_EBACKEND,
                               "the NVIDIA driver is too old: it is for CUDA %d.%d, and NVRTC %d.%d needs a driver "
                               "for CUDA %d.0: update the driver, or install the NVRTC of CUDA %d",
                               api->driver_version / 1000, api->driver_version % 1000 / 10, api->compiler_major,
                               api->compiler_minor, api->compiler_major, api->driver_version / 1000);
    return gbees_error_set(error, GBEES_EBACKEND,
                           "NVRTC, CUDA's run-time compiler, is not installed: %s: install it (NVIDIA's package "
                           "cuda-nvrtc), or set CUDA_HOME to the CUDA toolkit",
                           why.text);
}

/* A library_test: whether this nvJitLink has all functions and can link what NVRTC, if its version is known,
 * compiles: a linker reads intermediate code of its own version and of older ones. */
static int is_usable_linker(void *context, void *library)
{
    cuda_api *api = context;

    if (take(api, library, linker_functions, COUNT(linker_functions)) ||
        api->nvJitLinkVersion(&api->linker_major, &api->linker_minor) != NVJITLINK_SUCCESS)
        return 0;
    if (!api->compiler_major)
        return 1;
    return api->linker_major == (unsigned)api->compiler_major && api->linker_minor >= (unsigned)api->compiler_minor;
}

int cuda_api_open_linker(cuda_api *api, gbees_error *error)
{
    const char *const names[] = {"libnvJitLink.so.13", "libnvJitLink.so.12", "libnvJitLink.so", NULL};
    gbees_error why;

    if (api->linker)
        return GBEES_OK;
    api->linker_major = 0;
    api->linker = library_open(names, LIBRARY_TOOLKIT, &(library_test){is_usable_linker, api}, &why);
    if (api->linker)
        return GBEES_OK;
    if (api->linker_major)
        return gbees_error_set(error, GBEES_EBACKEND,
                               "nvJitLink %u.%u can't link what NVRTC %d.%d makes: install the nvJitLink of the "
                               "same CUDA toolkit",
                               api->linker_major, api->linker_minor, api->compiler_major, api->compiler_minor);
    return gbees_error_set(error, GBEES_EBACKEND,
                           "nvJitLink, CUDA's run-time linker, is not installed: %s: install it (NVIDIA's package "
                           "libnvjitlink), or set CUDA_HOME to the CUDA toolkit",
                           why.text);
}

/* ---- the whole interface ---- */

int cuda_api_open(cuda_api *api, unsigned what, gbees_error *error)
{
    cuda_api made = {0};
    int status = what & CUDA_DRIVER ? open_driver(&made, error) : GBEES_OK;

    if (!status && what & CUDA_COMPILER)
        status = cuda_api_open_compiler(&made, error);
    if (!status && what & CUDA_LINKER)
        status = cuda_api_open_linker(&made, error);
    if (status)
        cuda_api_close(&made);
    else
        *api = made;
    return status;
}

void cuda_api_close(cuda_api *api)
{
    library_close(api->linker);
    library_close(api->compiler);
    library_close(api->driver);
    *api = (cuda_api){0};
}

int cuda_check(const cuda_api *api, CUresult result, const char *doing, gbees_error *error)
{
    const char *name = NULL, *text = NULL;

    if (result == CUDA_SUCCESS)
        return GBEES_OK;
    if (!api->cuGetErrorName || api->cuGetErrorName(result, &name) != CUDA_SUCCESS || !name)
        name = "an unknown error";
    if (!api->cuGetErrorString || api->cuGetErrorString(result, &text) != CUDA_SUCCESS || !text)
        text = "the driver has no text for it";
    return gbees_error_set(error, result == CUDA_ERROR_OUT_OF_MEMORY ? GBEES_ENOMEM : GBEES_EBACKEND,
                           "the GPU failed while %s: %s (%s)", doing, name, text);
}
