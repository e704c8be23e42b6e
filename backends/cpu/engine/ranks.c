/* ranks.c - which problems ranks can share, and the communicator's calls, timed; see ranks.h. */
#include "ranks.h"
#include <stdlib.h>

static const double MEASURED_S = 0.25; /* that each rank is measured before its speed counts */

int ranks_check(const gbees_problem *problem, gbees_error *error)
{
    const gbees_numerics *numerics = &problem->numerics;
    const char *what = numerics->mode != GBEES_MODE_DEFAULT ? "the modes 'paper' and 'legacy'"
                       : numerics->cells_per_brick == 1     ? "bricks of one cell"
                                                            : NULL;

    return what ? gbees_error_set(error, GBEES_EUSAGE, "several ranks can't share %s: run it without mpirun", what)
                : 0;
}

/* Sets the layers of ghosts along each axis: sweeps read (order + 1) / 2 cells beyond the box, ctu two, diffusion
 * one; growth and prunes need one brick, which is the least that this gives. */
static void set_layers(const gbees_engine *e, int *layers)
{
    const int cells = e->method.split ? (gbees_scheme_order(e->problem->numerics.scheme) + 1) / 2 : 2;

    for (int j = 0; j < e->g.shape.n; j++)
        layers[j] = (cells + e->g.shape.edge[j] - 1) / e->g.shape.edge[j];
}

int ranks_create(gbees_engine *e, const gbees_parallel *parallel, gbees_error *error)
{
    const size_t count = (size_t)parallel->ranks;
    engine_ranks *ranks = calloc(1, sizeof *ranks);

    if (!ranks)
        return gbees_error_set(error, GBEES_ENOMEM, "out of memory for the ranks of a run");
    e->ranks = ranks;
    ranks->parallel = parallel;
    set_layers(e, ranks->layers);
    ranks->out = calloc(count, sizeof *ranks->out);
    ranks->in = calloc(count, sizeof *ranks->in);
    ranks->each = calloc(count, sizeof *ranks->each);
    if (speeds_create(&ranks->speeds, parallel, MEASURED_S) || !ranks->out || !ranks->in || !ranks->each ||
        partition_create(&ranks->cuts, e->g.shape.n, parallel->ranks, ranks->layers))
        return gbees_error_set(error, GBEES_ENOMEM, "out of memory for the ranks of a run");
    return 0;
}

void ranks_destroy(gbees_engine *e)
{
    engine_ranks *ranks = e->ranks;

    if (!ranks)
        return;
    for (int p = 0; p < ranks->partners; p++) {
        for (int k = 0; k <= GBEES_MAX_DIM; k++) {
            free(ranks->partner[p].give[k].slot);
            free(ranks->partner[p].take[k].slot);
        }
        free(ranks->partner[p].out.key);
        free(ranks->partner[p].in.key);
    }
    free(ranks->partner);
    free(ranks->out);
    free(ranks->in);
    free(ranks->each);
    speeds_destroy(&ranks->speeds);
    free(ranks->buffer);
    partition_destroy(&ranks->cuts);
    free(ranks);
    e->ranks = NULL;
}

void ranks_sum(gbees_engine *e, int64_t *values, size_t count)
{
    exchange_sum(e->ranks->parallel, &e->ranks->log, values, count);
}

void ranks_most(gbees_engine *e, double *values, size_t count)
{
    exchange_most(e->ranks->parallel, &e->ranks->log, values, count);
}

void ranks_sum_exactly(gbees_engine *e, exact_sum *sums, size_t count)
{
    for (size_t k = 0; k < count; k++)
        (void)exact_carry(&sums[k]);
    ranks_sum(e, sums->word, count * EXACT_WORDS);
}

void ranks_exchange(gbees_engine *e, const gbees_message *out, int outs, const gbees_message *in, int ins)
{
    exchange_messages(e->ranks->parallel, &e->ranks->log, out, outs, in, ins);
}

int ranks_agree(gbees_engine *e, int status, gbees_error *error)
{
    return exchange_agree(e->ranks->parallel, &e->ranks->log, status, error);
}

void *ranks_buffer(engine_ranks *ranks, size_t size)
{
    if (ranks->buffer_size < size) {
        free(ranks->buffer);
        ranks->buffer = malloc(size + size / 4);
        ranks->buffer_size = ranks->buffer ? size + size / 4 : 0;
    }
    return ranks->buffer;
}
