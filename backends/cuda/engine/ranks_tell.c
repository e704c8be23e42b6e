/* ranks_tell.c - rank 0's side of a shared engine: gives the other ranks orders, and does the same itself; see
 * ranks.h. */
#include "heap.h"
#include "launch.h"
#include "ranks.h"
#include <string.h>

void ranks_tell(const gbees_parallel *p, ranks_command *command)
{
    p->broadcast(p->context, command, sizeof *command);
}

/* Rank 0: sends the others a command, with the present state of the run. */
static void tell(gbees_engine *e, const ranks_command *what)
{
    ranks_command command;

    memcpy(&command, what, sizeof command); /* padding included: it is sent as bytes */
    command.run = e->state->run;
    command.budget = e->budget;
    ranks_tell(e->ranks->parallel, &command);
}

void ranks_give_order(gbees_engine *e, ranks_order what, uint64_t target)
{
    ranks_command command;

    memset(&command, 0, sizeof command);
    command.order = what;
    command.target = target;
    tell(e, &command);
}

int ranks_split(gbees_engine *e, gbees_error *error)
{
    int status = ranks_agree(e->ranks, engine_take_large_kernels(e, error), error);

    if (status)
        return status;
    e->split->inspected = e->state->run.clock.time;
    (void)ranks_count(e->ranks, e->state->count);
    status = e->ranks->cuts.part ? ranks_divide(e, error) : ranks_cut(e, error);
    /* The last cuts may no longer give the ranks equal numbers of bricks. */
    if (!status && ranks_load(e->ranks) > 1.1)
        status = ranks_cut(e, error);
    return status ? status : ranks_renew(e, 1, error);
}

int ranks_are_due(const gbees_engine *e)
{
    const engine_ranks *ranks = e->ranks;
    const split_grid *split = e->split;
    const gbees_state *s = e->state;

    return ranks && !split->is_alone &&
           (split->is_split || (s->count >= split->split_from && s->count == s->linked && !s->overflow));
}

int ranks_advance(gbees_engine *e, uint64_t target, gbees_error *error)
{
    int status = 0;

    if (!e->split->is_split) {
        ranks_give_order(e, RANKS_SPLIT, 0);
        status = ranks_split(e, error);
    }
    if (status)
        return status;
    ranks_give_order(e, RANKS_STEPS, target);
    return ranks_steps(e, target, error);
}

/* Whether rank 0's GPU has memory for all bricks, and for the messages that bring them: rows, marks and keys. */
static int has_memory_for_all(gbees_engine *e)
{
    const double brick = 64.0 * (double)e->real_size + 8 + 4.0 * (e->problem->dimension + 1);
    const double arriving = (double)e->ranks->bricks - e->state->count;

    return engine_heap_fits(e, e->ranks->bricks, 1.5 * brick * arriving);
}

int engine_collect(gbees_engine *e, gbees_error *error)
{
    if (!engine_is_split(e))
        return 0;
    if (!has_memory_for_all(e))
        return gbees_error_set(error, GBEES_ENOMEM, "the GPU of rank 0 has no memory for the bricks of all ranks");
    ranks_give_order(e, RANKS_COLLECT, 0);
    const int status = ranks_link_inserted(e, error);
    return status ? status : ranks_collect(e, error);
}

void ranks_end(gbees_engine *e)
{
    if (e->ranks && e->ranks->parallel->rank == 0)
        ranks_give_order(e, RANKS_END, 0);
}

int ranks_begin(gbees_engine *e, const ranks_command *command, gbees_error *error)
{
    tell(e, command);
    return ranks_link_inserted(e, error);
}
