/* fake_driver.c - a CUDA driver without a GPU: it returns what its environment variables contain. */
#include <cuda.h>
#include <stdlib.h>

static int answer(const char *name, int otherwise)
{
    const char *text = getenv(name);

    return text ? atoi(text) : otherwise;
}

CUresult cuDriverGetVersion(int *version)
{
    *version = answer("FAKE_CUDA_VERSION", 13000);
    return CUDA_SUCCESS;
}

CUresult cuInit(unsigned flags)
{
    (void)flags;
    return (CUresult)answer("FAKE_CUDA_INIT", CUDA_SUCCESS);
}

CUresult cuDeviceGetCount(int *count)
{
    *count = answer("FAKE_CUDA_DEVICES", 1);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    int capability = answer("FAKE_CUDA_CAPABILITY", 90);

    (void)device;
    *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? capability / 10 : capability % 10;
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult result, const char **text)
{
    *text = result == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH ? "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"
            : result == CUDA_ERROR_OUT_OF_MEMORY        ? "CUDA_ERROR_OUT_OF_MEMORY"
                                                        : NULL;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult result, const char **text)
{
    *text = result == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
                ? "system has unsupported display driver / cuda driver combination"
            : result == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory"
                                                 : NULL;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
