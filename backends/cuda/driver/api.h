/* api.h - the functions of the driver, NVRTC and nvJitLink, as a struct of pointers that is filled when a run opens
 * the libraries.  A build needs only their headers, and its programs run with and without a GPU. */
#ifndef GBEES_CUDA_API_H
#define GBEES_CUDA_API_H

#include <cuda.h>
#include <gbees/error.h>
#include <nvJitLink.h>
#include <nvrtc.h>

/* What cuda_api_open() opens: bits. */
enum { CUDA_DRIVER = 1, CUDA_COMPILER = 2, CUDA_LINKER = 4 };
enum { CUDA_ARCHITECTURES = 64 }; /* at most */

/* Lists of functions: F(name) makes a member of cuda_api, and an entry of a table in api.c.  cuda.h renames some
 * functions of the driver by macros (cuMemAlloc is cuMemAlloc_v2): the members and the names that are looked up are
 * renamed with them.  Copies without a stream are left out: streams here are non-blocking, so that nothing would
 * order such a copy before the kernels that read what it sends. */
/* clang-format off */
#define CUDA_DRIVER_FUNCTIONS(F) \
    F(cuInit) F(cuDriverGetVersion) F(cuGetErrorName) F(cuGetErrorString) \
    F(cuDeviceGetCount) F(cuDeviceGet) F(cuDeviceGetName) F(cuDeviceGetAttribute) F(cuDeviceTotalMem) \
    F(cuDevicePrimaryCtxRetain) F(cuDevicePrimaryCtxRelease) \
    F(cuCtxSetCurrent) F(cuCtxPushCurrent) F(cuCtxPopCurrent) \
    F(cuMemGetInfo) F(cuMemAlloc) F(cuMemFree) F(cuMemAllocHost) F(cuMemFreeHost) \
    F(cuMemcpyHtoDAsync) F(cuMemcpyDtoHAsync) F(cuMemcpyDtoDAsync) \
    F(cuMemsetD8Async) F(cuMemsetD32Async) \
    F(cuMemAddressReserve) F(cuMemAddressFree) F(cuMemCreate) F(cuMemRelease) F(cuMemMap) F(cuMemUnmap) \
    F(cuMemSetAccess) F(cuMemGetAllocationGranularity) \
    F(cuStreamCreate) F(cuStreamDestroy) F(cuStreamSynchronize) F(cuStreamWaitEvent) \
    F(cuEventCreate) F(cuEventRecord) F(cuEventSynchronize) F(cuEventQuery) F(cuEventElapsedTime) F(cuEventDestroy) \
    F(cuModuleLoadData) F(cuModuleLoadDataEx) F(cuModuleUnload) F(cuModuleGetFunction) F(cuModuleGetGlobal) \
    F(cuFuncGetAttribute) F(cuFuncSetAttribute) F(cuOccupancyMaxActiveBlocksPerMultiprocessor) \
    F(cuLaunchKernel) F(cuLaunchCooperativeKernel) F(cuLaunchKernelEx)

#define CUDA_COMPILER_FUNCTIONS(F) \
    F(nvrtcVersion) F(nvrtcGetNumSupportedArchs) F(nvrtcGetSupportedArchs) F(nvrtcGetErrorString) \
    F(nvrtcCreateProgram) F(nvrtcDestroyProgram) F(nvrtcCompileProgram) \
    F(nvrtcGetProgramLogSize) F(nvrtcGetProgramLog) F(nvrtcGetCUBINSize) F(nvrtcGetCUBIN) \
    F(nvrtcGetPTXSize) F(nvrtcGetPTX) F(nvrtcGetLTOIRSize) F(nvrtcGetLTOIR)

#define CUDA_LINKER_FUNCTIONS(F) \
    F(nvJitLinkVersion) F(nvJitLinkCreate) F(nvJitLinkDestroy) F(nvJitLinkAddData) F(nvJitLinkComplete) \
    F(nvJitLinkGetLinkedCubinSize) F(nvJitLinkGetLinkedCubin) F(nvJitLinkGetErrorLogSize) \
    F(nvJitLinkGetErrorLog) F(nvJitLinkGetInfoLogSize) F(nvJitLinkGetInfoLog)
/* clang-format on */

/* A pointer to a function of that name and type. */
#define CUDA_MEMBER(name) __typeof__(name) *name;

/* The libraries that are open, and their functions. Starts as {0}. */
typedef struct cuda_api {
    void *driver, *compiler, *linker;                          /* libraries; NULL: not opened */
    int driver_version;                                        /* 12040 is 12.4 */
    int compiler_major, compiler_minor;                        /* NVRTC's */
    int architectures[CUDA_ARCHITECTURES], architecture_count; /* that NVRTC knows; 90 is sm_90 */
    unsigned linker_major, linker_minor;                       /* nvJitLink's */
    /* Set for a library that is open; NULL for the others. */
    CUDA_DRIVER_FUNCTIONS(CUDA_MEMBER)
    CUDA_COMPILER_FUNCTIONS(CUDA_MEMBER)
    CUDA_LINKER_FUNCTIONS(CUDA_MEMBER)
} cuda_api;

/* Opens what is asked for (CUDA_DRIVER | CUDA_COMPILER | CUDA_LINKER), initialises the driver, and finds at least one
 * device.  Returns GBEES_EBACKEND, and which of them can't be used here, why, and what to do. */
int cuda_api_open(cuda_api *api, unsigned what, gbees_error *error);
/* Opens NVRTC, or nvJitLink, if it is not open yet, in a version that goes with the libraries that are open: the
 * driver has to load what NVRTC compiles, and nvJitLink to link it. */
int cuda_api_open_compiler(cuda_api *api, gbees_error *error);
int cuda_api_open_linker(cuda_api *api, gbees_error *error);
/* Closes what is open; the api may be {0}. */
void cuda_api_close(cuda_api *api);

/* Returns 0 for CUDA_SUCCESS; else GBEES_ENOMEM where memory ran out, or GBEES_EBACKEND, with the text "the GPU
 * failed while DOING: CUDA_ERROR_... (text)". */
int cuda_check(const cuda_api *api, CUresult result, const char *doing, gbees_error *error);

#endif
