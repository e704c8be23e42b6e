/* exchange.c - calls the communicator, measures how long each call takes, and counts the bytes of messages. */
#include "exchange.h"
#include "base/seconds.h"
#include <stdlib.h>
#include <string.h>

void exchange_sum(const gbees_parallel *parallel, exchange_log *log, int64_t *values, size_t count)
{
    const double began = gbees_seconds_now();

    parallel->sum(parallel->context, values, count);
    log->seconds += gbees_seconds_now() - began;
}

void exchange_most(const gbees_parallel *parallel, exchange_log *log, double *values, size_t count)
{
    const double began = gbees_seconds_now();

    parallel->most(parallel->context, values, count);
    log->seconds += gbees_seconds_now() - began;
}

void exchange_messages(const gbees_parallel *parallel, exchange_log *log, const gbees_message *out, int outs,
                       const gbees_message *in, int ins)
{
    const double began = gbees_seconds_now();

    parallel->exchange(parallel->context, out, outs, in, ins);
    log->seconds += gbees_seconds_now() - began;
    for (int k = 0; k < outs; k++)
        log->bytes += (double)out[k].size;
}

int exchange_agree(const gbees_parallel *parallel, exchange_log *log, int status, gbees_error *error)
{
    const double began = gbees_seconds_now();

    status = gbees_parallel_agree(parallel, status, error);
    log->seconds += gbees_seconds_now() - began;
    return status;
}

void exchange_abort(const gbees_parallel *parallel, const char *why)
{
    parallel->abort(parallel->context, EXIT_FAILURE, why);
}

void exchange_totals(const gbees_parallel *parallel, exchange_log *log, const gbees_rank_totals *own,
                     gbees_rank_totals *all)
{
    gbees_rank_totals here;
    const double began = gbees_seconds_now();

    memset(&here, 0, sizeof here); /* padding included: it is sent as bytes */
    here.bricks = own->bricks;
    here.peak_bytes = own->peak_bytes;
    here.bytes_sent = log->bytes;
    here.seconds_waited = log->seconds;
    parallel->gather(parallel->context, &here, sizeof here, all);
    log->seconds += gbees_seconds_now() - began;
}

double exchange_total_bytes(const gbees_parallel *parallel, const gbees_rank_totals *all)
{
    double bytes = 0;

    for (int r = 0; r < parallel->ranks; r++)
        bytes += all[r].bytes_sent;
    return bytes;
}

double exchange_longest_wait(const gbees_parallel *parallel, const gbees_rank_totals *all)
{
    double longest = 0;

    for (int r = 0; r < parallel->ranks; r++)
        longest = all[r].seconds_waited > longest ? all[r].seconds_waited : longest;
    return longest;
}
