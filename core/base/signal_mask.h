/* signal_mask.h - the signals that the library's own threads block, so that the application's threads handle them. */
#ifndef GBEES_BASE_SIGNAL_MASK_H
#define GBEES_BASE_SIGNAL_MASK_H

#include <signal.h>

/* Sets *signals to all signals except those that a fault raises in the thread at fault: the application's handlers
 * for them are to run there. */
static inline void gbees_signal_mask_fill(sigset_t *signals)
{
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

    (void)sigfillset(signals);
    for (size_t k = 0; k < sizeof crashes / sizeof *crashes; k++)
        (void)sigdelset(signals, crashes[k]);
}

#endif
