/* arch.c - reads a device's compute capability, and chooses the highest architecture that NVRTC compiles for and the
 * device runs. */
#include "arch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cuda_device_arch(const cuda_api *api, CUdevice device, char *arch, gbees_error *error)
{
    int major = 0, minor = 0;
    CUresult result = api->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);

    if (!result)
        result = api->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    if (result)
        return cuda_check(api, result, "asking for its compute capability", error);
    (void)snprintf(arch, 16, "sm_%d", 10 * major + minor);
    return GBEES_OK;
}

/* Returns 90 of "sm_90", 0 for any other form. */
static int number_of(const char *arch)
{
    char *end;
    long number = strncmp(arch, "sm_", 3) == 0 && arch[3] > '0' && arch[3] <= '9' ? strtol(arch + 3, &end, 10) : 0;

    return number > 0 && number < 10000 && !*end ? (int)number : 0;
}

int cuda_target_choose(const cuda_api *api, const char *arch, cuda_target *target, gbees_error *error)
{
    const int *known = api->architectures;
    int wanted = number_of(arch), best = 0, least = 0;

    if (!wanted)
        return gbees_error_set(error, GBEES_EUSAGE, "'%s' is no GPU architecture: it should be like sm_90", arch);
    if (!api->architecture_count)
        return gbees_error_set(error, GBEES_EBACKEND,
                               "NVRTC %d.%d does not list its architectures: install another NVRTC",
                               api->compiler_major, api->compiler_minor);
    for (int i = 0; i < api->architecture_count; i++) {
        best = known[i] <= wanted && known[i] > best ? known[i] : best;
        least = !least || known[i] < least ? known[i] : least;
    }
    if (!best)
        return gbees_error_set(error, GBEES_EBACKEND,
                               "the GPU's architecture, compute capability %d.%d, is unknown to NVRTC %d.%d, whose "
                               "oldest is %d.%d: install the NVRTC of an older CUDA",
                               wanted / 10, wanted % 10, api->compiler_major, api->compiler_minor, least / 10,
                               least % 10);
    target->is_ptx = best != wanted;
    (void)snprintf(target->name, sizeof target->name, "%s_%d", target->is_ptx ? "compute" : "sm", best);
    return GBEES_OK;
}
