/* fake_driver_rest - the other functions of the fake driver, all of them: there, and good for nothing.  A file of its
 * own, so that those of fake_driver.c win over the weak ones here. */
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
