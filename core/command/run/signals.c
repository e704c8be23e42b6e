/* signals.c - handlers note a signal, which a run asks for between two steps; those of crashes write one sentence by
 * functions that are safe in a handler. */
#include "signals.h"
#include "command/crash.h"
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* State of the signal handler. */
static volatile sig_atomic_t caught_signal;
static struct timespec caught_at;
static volatile sig_atomic_t requested;
static atomic_uint asked, asked_before; /* how often the run has asked for signals, now and when it was last looked */

/* What the handlers write, with the model's name as soon as it is known. */
static char crash_text[400] = "gbees-run: the program crashed; the records that were written are whole\n";
static char again_text[400] = "gbees-run: ended by a second signal; the records that were written are whole\n";

static char late_text[400];

void gbees_signals_model(const char *name)
{
    (void)snprintf(
        crash_text, sizeof crash_text,
        "gbees-run: the program crashed: in a function of the model '%.100s', or in a library, perhaps for lack "
        "of memory; the records that were written are whole\n",
        name);
    (void)snprintf(
        again_text, sizeof again_text,
        "gbees-run: ended by a second signal within a step (if steps do not end, look for a loop in the drift "
        "of the model '%.100s'); the records that were written are whole\n",
        name);
    (void)snprintf(
        late_text, sizeof late_text,
        "gbees-run: stopped by --max-time within a step or a record that had not ended seconds later; the records "
        "that were written are whole (if steps do not end, look for a loop in the drift of the model '%.100s')\n",
        name);
}

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
        gbees_crash_say(again_text);
        (void)signal(number, SIG_DFL);
        (void)raise(number);
    }
}

static void note_request(int number)
{
    (void)number;
    requested = 1;
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

    struct sigaction action = {.sa_handler = note_request, .sa_flags = SA_RESTART}, old;
    (void)sigemptyset(&action.sa_mask);
    if (!sigaction(SIGUSR1, NULL, &old) && old.sa_handler != SIG_IGN)
        (void)sigaction(SIGUSR1, &action, NULL);
}

int gbees_signals_take_request(void)
{
    const int was = requested;

    requested = 0;
    return was;
}

int gbees_signals_caught(void)
{
    (void)atomic_fetch_add_explicit(&asked, 1, memory_order_relaxed);
    return caught_signal;
}

/* ---- a limit of time ---- */

/* Ends the program as kill -9 would, which leaves whole records: any lock may be held. */
static void look_whether_it_goes_on(int number)
{
    const unsigned now = atomic_load(&asked);

    (void)number;
    if (atomic_exchange(&asked_before, now) != now)
        return;
    gbees_crash_say(late_text);
    _exit(EXIT_FAILURE);
}

void gbees_signals_limit(double seconds)
{
    static const double least = 1e-3, most = 1e9, least_wait = 10;
    struct sigaction action = {.sa_handler = look_whether_it_goes_on, .sa_flags = SA_RESTART};
    struct itimerval timer = {.it_value = {0}};

    if (seconds > 0) {
        const double first = fmin(fmax(seconds, least), most);

        timer.it_interval.tv_sec = (time_t)fmax(first, least_wait);
        timer.it_value.tv_sec = (time_t)first;
        timer.it_value.tv_usec = (suseconds_t)(1e6 * (first - floor(first)));
        atomic_store(&asked_before, atomic_load(&asked) - 1);
        (void)sigemptyset(&action.sa_mask);
        (void)sigaction(SIGALRM, &action, NULL);
    }
    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

const char *gbees_signals_name(int number)
{
    return number == SIGINT    ? "SIGINT"
           : number == SIGTERM ? "SIGTERM"
           : number == SIGHUP  ? "SIGHUP"
           : number == SIGPIPE ? "SIGPIPE"
                               : "a signal";
}

/* ---- unexpected ends of the program ---------------------------------------------------------------------------- */

void gbees_signals_explain(void)
{
    static const gbees_crash_texts texts = {
        .crash = crash_text,
        .hdf5 = "gbees-run: HDF5 crashed, as it does for lack of memory; the records that were written are whole\n",
        .exit =
            "gbees-run: a library or the plugin ended the program, as HDF5 does for lack of memory; the records that "
            "were written are whole\n"};

    gbees_crash_explain(&texts);
}

void gbees_signals_finish(void)
{
    gbees_crash_finish();
}
