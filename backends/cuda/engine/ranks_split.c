/* ranks_split.c - when a grid is split and when rank 0 has all of it again: steps, another grid, a checkpoint. See
 * ranks.h. */
#include "heap.h"
#include "launch.h"
#include "ranks.h"
#include <string.h>

/* ---- within advance(): rank 0 tells the others what all do ---- */

typedef enum split_order { SPLIT_RETURN, SPLIT_DIVIDE, SPLIT_STEPS } split_order;

/* An order, with what rank 0 knows of the run: while the grid is its alone, the others have neither its clock nor its
 * budget. */
typedef struct split_command {
    split_order order;
    uint64_t target; /* the number of steps at which SPLIT_STEPS ends */
    gbees_run_state run;
    mass_budget budget; /* its `problem` is rank 0's: each rank sets its own */
} split_command;

/* Rank 0: sends the others an order. */
static void tell(gbees_engine *e, split_order order, uint64_t target)
{
    const gbees_parallel *p = e->ranks->parallel;
    split_command command;

    memset(&command, 0, sizeof command); /* gaps included: it is sent as bytes */
    command.order = order;
    command.target = target;
    command.run = e->state->run;
    command.budget = e->budget;
    p->broadcast(p->context, &command, sizeof command);
}

/* All ranks: splits the grid: moves the bricks to their owners, by the last cuts or by new ones, and makes ghosts. */
static int split(gbees_engine *e, gbees_error *error)
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

int ranks_follow(gbees_engine *e)
{
    const gbees_parallel *p = e->shared.ranks ? e->ranks->parallel : NULL;
    split_command command = {.order = SPLIT_STEPS};
    gbees_error error = {0};

    if (!p || p->rank == 0)
        return 0;
    while (command.order != SPLIT_RETURN) {
        p->broadcast(p->context, &command, sizeof command);
        e->state->run = command.run;
        e->budget = command.budget;
        e->budget.problem = e->problem;
        if (command.order == SPLIT_DIVIDE)
            (void)split(e, &error);
        else if (command.order == SPLIT_STEPS)
            (void)ranks_steps(e, command.target, &error);
    }
    return 1;
}

void ranks_return(gbees_engine *e)
{
    if (e->shared.ranks)
        tell(e, SPLIT_RETURN, 0);
}

int ranks_are_due(const gbees_engine *e)
{
    const gbees_state *s = e->state;

    return e->shared.ranks &&
           (engine_is_split(e) || (s->count >= e->split_from && s->count == s->linked && !s->overflow));
}

int ranks_advance(gbees_engine *e, uint64_t target, gbees_error *error)
{
    int status = 0;

    if (!engine_is_split(e)) {
        tell(e, SPLIT_DIVIDE, 0);
        status = split(e, error);
    }
    if (status)
        return status;
    tell(e, SPLIT_STEPS, target);
    return ranks_steps(e, target, error);
}

/* ---- all bricks on rank 0 ---- */

/* Whether this rank's GPU has memory for all bricks, and for the messages that bring them: rows, marks and keys. */
static int has_memory_for_all(gbees_engine *e)
{
    const double brick = 64.0 * (double)e->real_size + 8 + 4.0 * (e->problem->dimension + 1);
    const double arriving = (double)e->ranks->bricks - e->state->count;

    return engine_heap_fits(e, e->ranks->bricks, 1.5 * brick * arriving);
}

int engine_collect(gbees_engine *e, gbees_error *error)
{
    int status = ranks_link_inserted(e, error);

    if (status || !engine_is_split(e))
        return status;
    if (e->ranks->parallel->rank == 0 && !has_memory_for_all(e))
        status = gbees_error_set(error, GBEES_ENOMEM, "the GPU of rank 0 has no memory for the bricks of all ranks");
    status = ranks_agree(e->ranks, status, error);
    return status ? status : ranks_collect(e, error);
}

void ranks_forget(gbees_engine *e)
{
    if (!e->shared.ranks)
        return;
    e->shared.is_divided = 0;
    e->split->has_grown = 0;
    e->split->ghosts = 0;
    ranks_restart(e->ranks);
}
