/* signal_mask.h - the signals that threads of the library block: they are for the caller's threads. */
#ifndef GBEES_BASE_SIGNAL_MASK_H
#define GBEES_BASE_SIGNAL_MASK_H

#include <signal.h>

/* All but those of a crash, which belong to the thread that crashes: the caller may have handlers for them. */
static inline void gbees_signal_mask_fill(sigset_t *signals)
{
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

    (void)sigfillset(signals);
    for (size_t k = 0; k < sizeof crashes / sizeof *crashes; k++)
        (void)sigdelset(signals, crashes[k]);
}

#endif
