/* exchange.h - a communicator whose calls are timed: what the engines of all backends use among ranks. */
#ifndef GBEES_COMMON_EXCHANGE_H
#define GBEES_COMMON_EXCHANGE_H

#include <gbees/parallel.h>

/* What this rank has sent, and how long it has waited for others in the functions below. */
typedef struct exchange_log {
    double bytes, seconds;
} exchange_log;

/* As the communicator's functions of these names (gbees/parallel.h). */
void exchange_sum(const gbees_parallel *parallel, exchange_log *log, int64_t *values, size_t count);
void exchange_most(const gbees_parallel *parallel, exchange_log *log, double *values, size_t count);
void exchange_messages(const gbees_parallel *parallel, exchange_log *log, const gbees_message *out, int outs,
                       const gbees_message *in, int ins);

/* As gbees_parallel_agree(). */
int exchange_agree(const gbees_parallel *parallel, exchange_log *log, int status, gbees_error *error);

/* Ends all ranks, as this one can't go on and the others wait for it. */
void exchange_abort(const gbees_parallel *parallel, const char *why);

#endif
