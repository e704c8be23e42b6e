/* ranks_update.c - Bayes' rule on a grid that several ranks share: each updates its own cells; see ranks.h. */
#include "launch.h"
#include "numerics/fixed.h"
#include "ranks.h"
#include <math.h>
#include <string.h>

static const char doing[] = "updating with a measurement";

/* The double whose integer of the same order (device/update.h) is `bits`, and the other way round. */
static double from_ordered(uint64_t bits)
{
    double value;

    bits = bits >> 63 ? bits & ~((uint64_t)1 << 63) : ~bits;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t ordered_bits(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

/* All ranks: sets found->likely and found->log_likely to the largest log-likelihood of all ranks, found->heavy and
 * found->log_heavy to that of P L, and *is_valid to 0 if a rank has a cell whose likelihood is not a number. */
static int find_best(gbees_engine *e, gbees_update_params *params, int *is_valid, gbees_error *error)
{
    gbees_findings *found = e->found;
    void *arguments[] = {&e->setup, params, &e->device_state.at};
    /* The slopes of the density inside cells: those of neighbours along each axis. */
    int status = params->averages ? ranks_refresh_classes(e, e->state->current, e->problem->dimension - 1, error) : 0;

    if (!status)
        status = split_run(e, KERNEL_FIND_BEST, arguments, doing, error);
    double most[3] = {from_ordered(found->likely), from_ordered(found->heavy), found->invalid != UINT64_MAX};
    ranks_most(e->ranks, most, 3);
    found->likely = ordered_bits(most[0]);
    found->heavy = ordered_bits(most[1]);
    found->log_likely = most[0];
    found->log_heavy = most[1];
    *is_valid = most[2] == 0;
    return ranks_agree(e->ranks, status, error);
}

/* All ranks: sets the spare rows to P L, divided by its largest value (find_best()) and then by its sum over all
 * ranks. Leaves the sum in found->moment[0], and the new mass of all ranks in marked_mass. Does nothing more if the
 * sum is 0.
 */
static int multiply(gbees_engine *e, gbees_update_params *params, gbees_error *error)
{
    void *with_params[] = {&e->setup, params, &e->device_state.at}, *without[] = {&e->setup, &e->device_state.at};
    gbees_exact_sum *sum = e->found->moment;
    int status = split_run(e, KERNEL_MULTIPLY, with_params, doing, error);

    ranks_sum(e->ranks, (int64_t *)(void *)sum, 2);
    status = ranks_agree(e->ranks, status, error);
    if (status || (sum->high == 0 && sum->low == 0))
        return status;
    status = split_run(e, KERNEL_SCALE, without, doing, error);
    ranks_sum(e->ranks, &e->state->marked_mass, 1);
    return ranks_agree(e->ranks, status, error);
}

int ranks_multiply(gbees_engine *e, gbees_update_params *params, gbees_error *error)
{
    gbees_state *s = e->state;
    const gbees_exact_sum *sum = e->found->moment;
    int is_valid = 0, status = find_best(e, params, &is_valid, error);

    s->stop = STOP_DONE;
    if (!status && is_valid)
        status = multiply(e, params, error);
    if (status || !is_valid || (sum->high == 0 && sum->low == 0))
        return status; /* the caller reports why there is no density */
    s->current = !s->current;
    s->run.ledger.mass = gbees_fixed_value(s->marked_mass);
    return ranks_shrink(e, error);
}
