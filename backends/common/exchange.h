/* exchange.h - calls of the communicator among ranks that are timed and counted, for the summary of a run: the
 * engines of all backends use these. All ranks call them, in the same order. */
#ifndef GBEES_COMMON_EXCHANGE_H
#define GBEES_COMMON_EXCHANGE_H

#include <gbees/backend.h>
#include <gbees/parallel.h>

/* What the calls of this rank add up to. */
typedef struct exchange_log {
    double bytes;   /* that it has sent in messages */
    double seconds; /* in the functions below, most of which it has waited for others */
} exchange_log;

/* As sum(), most() and exchange() of the communicator (gbees/parallel.h). */
void exchange_sum(const gbees_parallel *parallel, exchange_log *log, int64_t *values, size_t count);
void exchange_most(const gbees_parallel *parallel, exchange_log *log, double *values, size_t count);
void exchange_messages(const gbees_parallel *parallel, exchange_log *log, const gbees_message *out, int outs,
                       const gbees_message *in, int ins);

/* As gbees_parallel_agree(). */
int exchange_agree(const gbees_parallel *parallel, exchange_log *log, int status, gbees_error *error);

/* Ends all ranks with exit status EXIT_FAILURE and the text `why`: this one can't go on, and the others wait for it.
 * MPI's communicator does not return from it. */
void exchange_abort(const gbees_parallel *parallel, const char *why);

/* Sets all[ranks] to what each rank has done, on all ranks. `own` is this rank's but for bytes and seconds, which are
 * those of the log. */
void exchange_totals(const gbees_parallel *parallel, exchange_log *log, const gbees_rank_totals *own,
                     gbees_rank_totals *all);
/* The sum of what they have sent, and the longest wait. */
double exchange_total_bytes(const gbees_parallel *parallel, const gbees_rank_totals *all);
double exchange_longest_wait(const gbees_parallel *parallel, const gbees_rank_totals *all);

#endif
