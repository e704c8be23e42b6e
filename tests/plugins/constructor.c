/* constructor - a shared object that acts as soon as it is loaded: what GBEES_TEST_CONSTRUCTOR says. "count /FILE"
 * adds a byte to that file; all else does harm. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void count(const char *path)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    if (file < 0)
        return;
    (void)!write(file, "x", 1);
    (void)close(file);
}

static __attribute__((constructor)) void act(void)
{
    const char *what = getenv("GBEES_TEST_CONSTRUCTOR");

    if (!what)
        return;
    if (strncmp(what, "count /", 7) == 0)
        count(what + 6);
    if (strcmp(what, "crash") == 0)
        (void)raise(SIGSEGV);
    if (strcmp(what, "exit") == 0)
        _exit(0);
    while (strcmp(what, "wait") == 0)
        (void)pause();
    while (strcmp(what, "loop") == 0)
        (void)getppid();
}
