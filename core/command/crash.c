/* crash.c - handlers that write one sentence, by functions that are safe in a handler, when a program crashes or is
 * ended by a library. */
#include "crash.h"
#include "results/hdf5/hdf5_driver.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t explaining;
static const gbees_crash_texts *sentences;

void gbees_crash_say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* there is no other place to say it */
}

/* HDF5 crashes without memory, or leaves memory damaged: that ends the program as other lack of memory does. Else the
 * signal's default action follows: the handler is reset, and the signal is delivered when it returns. */
static void explain_crash(int number)
{
    if (explaining && gbees_hdf5_may_crash()) {
        gbees_crash_say(sentences->hdf5);
        _exit(EXIT_FAILURE);
    }
    if (explaining)
        gbees_crash_say(sentences->crash);
    explaining = 0;
    (void)raise(number);
}

/* Writes the sentence and ends at once, without the other exit handlers: another thread may be inside one of them and
 * wait for this one. */
static void explain_exit(void)
{
    if (!explaining)
        return;
    gbees_crash_say(sentences->exit);
    _exit(EXIT_FAILURE);
}

/* A tool that looks for mistakes may have handlers of its own: they stay. */
static void explain_signal(int number)
{
    struct sigaction action = {.sa_handler = explain_crash, .sa_flags = (int)(SA_RESETHAND | SA_ONSTACK)}, old;

    (void)sigemptyset(&action.sa_mask);
    if (!sigaction(number, NULL, &old) && old.sa_handler == SIG_DFL)
        (void)sigaction(number, &action, NULL);
}

void gbees_crash_explain(const gbees_crash_texts *texts)
{
    static char stack_memory[1 << 16]; /* for the handler, as the stack may be what has run out */
    const stack_t stack = {.ss_sp = stack_memory, .ss_size = sizeof stack_memory};

    sentences = texts;
    explaining = 1;
    (void)sigaltstack(&stack, NULL);
    if (texts->exit)
        (void)atexit(explain_exit);
    explain_signal(SIGSEGV);
    explain_signal(SIGBUS);
    explain_signal(SIGFPE);
    explain_signal(SIGILL);
    explain_signal(SIGABRT);
}

void gbees_crash_finish(void)
{
    explaining = 0;
}
