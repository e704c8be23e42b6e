/* signals.c - see signals.h. */
#include "signals.h"
#include <signal.h>
#include <stddef.h>
#include <time.h>

/* State of the signal handler. */
static volatile sig_atomic_t caught_signal;
static struct timespec caught_at;

/* The first signal ends the run after its present step; a second one ends the program at once. A second one
 * within a short time is ignored: timeout(1) sends one signal to the process and to its group. */
static void note_signal(int number)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    if (!caught_signal) {
        caught_signal = number;
        caught_at = now;
    } else if (now.tv_sec - caught_at.tv_sec > 1) {
        (void)signal(number, SIG_DFL);
        (void)raise(number);
    }
}

/* A signal that is ignored at the start stays ignored: SIGINT of background jobs, SIGHUP under nohup(1). */
static void listen_to(int number)
{
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART}, old;

    (void)sigemptyset(&action.sa_mask);
    (void)sigaddset(&action.sa_mask, SIGINT);
    (void)sigaddset(&action.sa_mask, SIGTERM);
    (void)sigaddset(&action.sa_mask, SIGHUP);
    if (!sigaction(number, NULL, &old) && old.sa_handler != SIG_IGN)
        (void)sigaction(number, &action, NULL);
}

void gbees_signals_ignore_failed_writes(void)
{
    struct sigaction action = {.sa_handler = SIG_IGN};

    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGPIPE, &action, NULL);
    (void)sigaction(SIGXFSZ, &action, NULL);
}

void gbees_signals_listen(void)
{
    listen_to(SIGINT);
    listen_to(SIGTERM);
    listen_to(SIGHUP);
}

int gbees_signals_caught(void)
{
    return caught_signal;
}
