/* toolchain.c - opens the driver if it is asked for, NVRTC unless a note has all that is to be known of it, and
 * nvJitLink if model and engine are compiled apart. */
#include "toolchain.h"
#include "compiler_note.h"
#include "spec.h"

int toolchain_open(cuda_api *api, int with_driver, gbees_error *error)
{
    cuda_api made = {0};
    int status = cuda_api_open(&made, with_driver ? CUDA_DRIVER : 0u, error);

    if (!status && !compiler_note_read(&made))
        status = cuda_api_open_compiler(&made, error);
    if (!status && cuda_spec_is_separate())
        status = cuda_api_open_linker(&made, error);
    if (status)
        cuda_api_close(&made);
    else
        *api = made;
    return status;
}
