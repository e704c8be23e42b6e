/* ranks.c - what an engine has for ranks that share its grid. See ranks.h. */
#include "ranks.h"
#include <stdlib.h>

static const double MEASURED_S = 0.25; /* that each rank is measured before its speed counts */

int engine_join_ranks(gbees_engine *e, const gbees_parallel *parallel, gbees_error *error)
{
    e->ghosts = calloc(1, sizeof *e->ghosts);
    if (e->ghosts)
        e->ghosts->beside = calloc((size_t)parallel->ranks, sizeof *e->ghosts->beside);
    const int status = ranks_create(&e->ranks, parallel, e->problem, &e->g.shape, MEASURED_S, error);
    e->shared = (shared_engine){.ranks = e->ranks, .is_divided = 1};
    return status || (e->ghosts && e->ghosts->beside) ? status : ranks_no_memory(error);
}

void engine_leave_ranks(gbees_engine *e)
{
    ghost_lists *beside = e->ghosts ? e->ghosts->beside : NULL;

    for (int p = 0; beside && e->ranks && p < e->ranks->parallel->ranks; p++)
        for (int k = 0; k <= GBEES_MAX_DIM; k++) {
            free(beside[p].give[k].slot);
            free(beside[p].take[k].slot);
        }
    free(beside);
    if (e->ghosts)
        free(e->ghosts->buffer);
    free(e->ghosts);
    ranks_destroy(e->ranks);
}
