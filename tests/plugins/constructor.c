/* constructor - a shared object that acts as soon as it is loaded: what GBEES_TEST_CONSTRUCTOR says. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __attribute__((constructor)) void act(void)
{
    const char *what = getenv("GBEES_TEST_CONSTRUCTOR");

    if (!what)
        return;
    if (strcmp(what, "crash") == 0)
        (void)raise(SIGSEGV);
    if (strcmp(what, "exit") == 0)
        _exit(0);
    while (strcmp(what, "wait") == 0)
        (void)pause();
    while (strcmp(what, "loop") == 0)
        (void)getppid();
}
