/* fake_driver_rest.c - the other functions of the fake driver: each returns CUDA_ERROR_NOT_SUPPORTED.  They are weak,
 * and a file of their own, so that those of fake_driver.c replace them. */
#include "cuda/driver/api.h"

#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define REFUSE(name)                                                                                                 \
    int PASTE(refuse_, name)(void) __asm__(TEXT(name)) __attribute__((weak));                                        \
    int PASTE(refuse_, name)(void)                                                                                   \
    {                                                                                                                \
        return CUDA_ERROR_NOT_SUPPORTED;                                                                             \
    }

CUDA_DRIVER_FUNCTIONS(REFUSE)
