/* ceiling_gpu - what this machine's GPU can do at most: bytes a second of a copy, multiply-adds a second in float and
 * double. Prints one JSON object. With --compile-only ARCH it stops where a GPU would be needed.
 */
#include "cuda/driver/api.h"
#include "cuda/driver/arch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A copy in vectors of 16 bytes; x = x a + b on eight numbers a thread, 16 rounds at a time. */
static const char source[] =
    "extern \"C\" __global__ void copy(float4 *to, const float4 *from, unsigned long long count)\n"
    "{\n"
    "    unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;\n"
    "    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += "
    "step)\n"
    "        to[i] = from[i];\n"
    "}\n"
    "template <typename real> __device__ void spin(real *out, int rounds)\n"
    "{\n"
    "    const real a = (real)0.9999, b = (real)0.0001;\n"
    "    real x[8], sum = 0;\n"
    "    for (int k = 0; k < 8; k++)\n"
    "        x[k] = (real)(threadIdx.x + k);\n"
    "    for (int i = 0; i < rounds; i++) {\n"
    "#pragma unroll\n"
    "        for (int j = 0; j < 16; j++) {\n"
    "#pragma unroll\n"
    "            for (int k = 0; k < 8; k++)\n"
    "                x[k] = x[k] * a + b;\n"
    "        }\n"
    "    }\n"
    "    for (int k = 0; k < 8; k++)\n"
    "        sum += x[k];\n"
    "    out[(unsigned long long)blockIdx.x * blockDim.x + threadIdx.x] = sum;\n"
    "}\n"
    "extern \"C\" __global__ void spin_float(float *out, int rounds) { spin(out, rounds); }\n"
    "extern \"C\" __global__ void spin_double(double *out, int rounds) { spin(out, rounds); }\n";

enum { THREADS = 256, ROUNDS = 4096, REPEAT = 5, BLOCKS_EACH = 16 };
static const size_t array_bytes = (size_t)1 << 30;

typedef struct gpu {
    cuda_api api;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUdeviceptr to, from;
    CUevent begin, end;
    char name[128], arch[16], *image;
    int processors;
} gpu;

/* ---- the kernels ------------------------------------------------------------------------------------------ */

static int compile(gpu *this, gbees_error *error)
{
    const cuda_api *api = &this->api;
    cuda_target target;
    nvrtcProgram unit = NULL;
    nvrtcResult result;
    size_t size = 0;
    char option[48];
    int status = cuda_target_choose(api, this->arch, &target, error);

    if (status)
        return status;
    (void)snprintf(option, sizeof option, "--gpu-architecture=%s", target.name);
    result = api->nvrtcCreateProgram(&unit, source, "ceiling.cu", 0, NULL, NULL);
    if (result == NVRTC_SUCCESS)
        result = api->nvrtcCompileProgram(unit, 1, (const char *const[]){option});
    if (result == NVRTC_SUCCESS)
        result = target.is_ptx ? api->nvrtcGetPTXSize(unit, &size) : api->nvrtcGetCUBINSize(unit, &size);
    if (result == NVRTC_SUCCESS && !(this->image = calloc(1, size + 1)))
        result = NVRTC_ERROR_OUT_OF_MEMORY;
    if (result == NVRTC_SUCCESS)
        result = target.is_ptx ? api->nvrtcGetPTX(unit, this->image) : api->nvrtcGetCUBIN(unit, this->image);
    if (unit)
        (void)api->nvrtcDestroyProgram(&unit);
    return result == NVRTC_SUCCESS
               ? GBEES_OK
               : gbees_error_set(error, GBEES_EBACKEND, "the kernels for %s can't be compiled: %s", target.name,
                                 api->nvrtcGetErrorString(result));
}

/* ---- the GPU ---------------------------------------------------------------------------------------------- */

static int find(gpu *this, gbees_error *error)
{
    const cuda_api *api = &this->api;
    int status = cuda_check(api, api->cuDeviceGet(&this->device, 0), "the first GPU was asked for", error);

    if (!status)
        status = cuda_check(api, api->cuDeviceGetName(this->name, sizeof this->name, this->device),
                            "its name was asked for", error);
    if (!status)
        status = cuda_check(
            api, api->cuDeviceGetAttribute(&this->processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, this->device),
            "its processors were counted", error);
    return status ? status : cuda_device_arch(api, this->device, this->arch, error);
}

static int set_up(gpu *this, gbees_error *error)
{
    const cuda_api *api = &this->api;
    const char *doing = "opening the GPU";
    CUresult result = api->cuDevicePrimaryCtxRetain(&this->context, this->device);

    if (!result)
        result = api->cuCtxSetCurrent(this->context);
    if (!result) {
        doing = "loading its kernels";
        result = api->cuModuleLoadDataEx(&this->module, this->image, 0, NULL, NULL);
    }
    if (!result) {
        doing = "taking memory";
        result = api->cuMemAlloc(&this->to, array_bytes);
    }
    if (!result)
        result = api->cuMemAlloc(&this->from, array_bytes);
    if (!result) {
        doing = "making events";
        result = api->cuEventCreate(&this->begin, CU_EVENT_DEFAULT);
    }
    if (!result)
        result = api->cuEventCreate(&this->end, CU_EVENT_DEFAULT);
    return cuda_check(api, result, doing, error);
}

static void tear_down(gpu *this)
{
    const cuda_api *api = &this->api;

    if (this->begin)
        (void)api->cuEventDestroy(this->begin);
    if (this->end)
        (void)api->cuEventDestroy(this->end);
    if (this->to)
        (void)api->cuMemFree(this->to);
    if (this->from)
        (void)api->cuMemFree(this->from);
    if (this->module)
        (void)api->cuModuleUnload(this->module);
    if (this->context)
        (void)api->cuDevicePrimaryCtxRelease(this->device);
    cuda_api_close(&this->api);
    free(this->image);
}

/* ---- timing ----------------------------------------------------------------------------------------------- */

/* `work` over the shortest of some launches, the first one not counted. */
static int rate_of(const gpu *this, const char *name, void **arguments, double work, double *rate, gbees_error *error)
{
    const cuda_api *api = &this->api;
    const unsigned blocks = (unsigned)this->processors * BLOCKS_EACH;
    CUfunction kernel;
    CUresult result = api->cuModuleGetFunction(&kernel, this->module, name);

    *rate = 0;
    for (int k = 0; k <= REPEAT && !result; k++) {
        float milliseconds = 0;

        result = api->cuEventRecord(this->begin, NULL);
        if (!result)
            result = api->cuLaunchKernel(kernel, blocks, 1, 1, THREADS, 1, 1, 0, NULL, arguments, NULL);
        if (!result)
            result = api->cuEventRecord(this->end, NULL);
        if (!result)
            result = api->cuEventSynchronize(this->end);
        if (!result)
            result = api->cuEventElapsedTime(&milliseconds, this->begin, this->end);
        if (k > 0 && milliseconds > 0 && work / (1e-3 * (double)milliseconds) > *rate)
            *rate = work / (1e-3 * (double)milliseconds);
    }
    return cuda_check(api, result, name, error);
}

static int measure(gpu *this, gbees_error *error)
{
    unsigned long long count = array_bytes / 16;
    int rounds = ROUNDS, status;
    void *copy[] = {&this->to, &this->from, &count}, *spin[] = {&this->to, &rounds};
    const double adds = 2.0 * 8 * 16 * ROUNDS * THREADS * BLOCKS_EACH * this->processors;
    double bytes, f32 = 0, f64 = 0;

    status = rate_of(this, "copy", copy, 2.0 * (double)array_bytes, &bytes, error);
    if (!status)
        status = rate_of(this, "spin_float", spin, adds, &f32, error);
    if (!status)
        status = rate_of(this, "spin_double", spin, adds, &f64, error);
    if (!status)
        printf("{\"name\": \"%s\", \"copy_bytes_per_s\": %.4g, \"float_operations_per_s\": %.4g, "
               "\"double_operations_per_s\": %.4g}\n",
               this->name, bytes, f32, f64);
    return status;
}

int main(int argc, char **argv)
{
    const int compile_only = argc == 3 && strcmp(argv[1], "--compile-only") == 0;
    gpu this = {.processors = 0};
    gbees_error error;
    int status;

    if (argc != 1 && !compile_only) {
        fprintf(stderr, "Usage: ceiling_gpu [--compile-only ARCH]\n");
        return 2;
    }
    status = cuda_api_open(&this.api, compile_only ? CUDA_COMPILER : CUDA_DRIVER | CUDA_COMPILER, &error);
    if (!status && compile_only)
        (void)snprintf(this.arch, sizeof this.arch, "%s", argv[2]);
    else if (!status)
        status = find(&this, &error);
    if (!status)
        status = compile(&this, &error);
    if (!status && !compile_only)
        status = set_up(&this, &error);
    if (!status && !compile_only)
        status = measure(&this, &error);
    if (status)
        fprintf(stderr, "ceiling_gpu: %s\n", error.text);
    tear_down(&this);
    return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
