/* serve.c - orders from rank 0's engine, which the solver calls, to those of the other ranks, which do the same;
 * cells of all ranks. See ranks.h. */
#include "ranks.h"
#include <stdlib.h>
#include <string.h>

void ranks_tell(gbees_engine *e, const ranks_command *command)
{
    const gbees_parallel *p = e->ranks->parallel;
    ranks_command copy = *command;

    if (p->rank == 0)
        p->broadcast(p->context, &copy, sizeof copy);
}

/* Carries out an order. Its status is dropped here: all ranks have agreed on it, and rank 0 returns it to the solver.
 */
static void do_command(gbees_engine *e, ranks_command *command)
{
    gbees_statistics statistics;
    gbees_evidence evidence;
    gbees_error error = {0};
    gbees_affine_sums sums;
    double rate, information[GBEES_MAX_ENTRIES];

    if (command->order == RANKS_ADVANCE)
        (void)engine_advance(e, &command->clock, command->max_steps, &error);
    else if (command->order == RANKS_UPDATE)
        (void)engine_update(e, &command->clock, &command->measurement, &evidence, &error);
    else if (command->order == RANKS_STATISTICS)
        (void)engine_statistics(e, &command->clock, &statistics, &error);
    else if (command->order == RANKS_CELLS)
        (void)ranks_cells(e, command->fraction, NULL, NULL, &error);
    else if (command->order == RANKS_SAVE)
        (void)engine_save(e, NULL, NULL, &error);
    else if (command->order == RANKS_FRAME_SET)
        (void)engine_frame_set(e, &command->frame, command->time, command->wants_rate ? &rate : NULL, &error);
    else if (command->order == RANKS_FRAME_FIT)
        (void)engine_frame_fit(e, command->time, &sums, &error);
    else if (command->order == RANKS_FRAME_INFORMATION)
        (void)engine_frame_information(e, information, &error);
}

void ranks_obey(gbees_engine *e)
{
    const gbees_parallel *p = e->ranks->parallel;
    ranks_command command;

    for (;;) {
        p->broadcast(p->context, &command, sizeof command);
        if (command.order == RANKS_END)
            return;
        do_command(e, &command);
    }
}

/* ---- cells: rank after rank sends them to rank 0, in slabs ---- */

/* Cells that are sent to rank 0: as many as a visitor is given at once, at most. */
typedef struct cell_slab {
    uint64_t count; /* 0: the rank has sent all */
    int32_t index[GBEES_MAX_DIM][ENGINE_BATCH];
    double p[ENGINE_BATCH];
} cell_slab;

/* The context of send_cells(). */
typedef struct slab_sender {
    gbees_engine *e;
    cell_slab *slab;
} slab_sender;

/* Sends the slab to rank 0. */
static void send_slab(slab_sender *to)
{
    const gbees_message message = {0, sizeof *to->slab, to->slab};

    ranks_exchange(to->e->ranks, &message, 1, NULL, 0);
}

/* A gbees_cell_visitor that sends the cells to rank 0. */
static int send_cells(void *context, size_t count, const int32_t *const *index, const double *p)
{
    slab_sender *to = context;

    to->slab->count = count;
    for (int j = 0; j < to->e->g.shape.n; j++)
        memcpy(to->slab->index[j], index[j], count * sizeof *index[j]);
    memcpy(to->slab->p, p, count * sizeof *p);
    send_slab(to);
    return 0;
}

/* Rank 0: receives a rank's slabs, and passes them to the visitor until it stops (`stop` is not 0); then it drops the
 * rest. Returns what the visitor has returned last. */
static int receive_cells(gbees_engine *e, int rank, cell_slab *slab, int stop, gbees_cell_visitor *visitor,
                         void *context)
{
    const gbees_message message = {rank, sizeof *slab, slab};
    const int32_t *index[GBEES_MAX_DIM];

    for (int j = 0; j < e->g.shape.n; j++)
        index[j] = slab->index[j];
    for (;;) {
        ranks_exchange(e->ranks, NULL, 0, &message, 1);
        if (slab->count == 0)
            return stop;
        if (!stop)
            stop = visitor(context, (size_t)slab->count, index, slab->p);
    }
}

int ranks_cells(gbees_engine *e, double fraction, gbees_cell_visitor *visitor, void *context, gbees_error *error)
{
    const gbees_parallel *p = e->ranks->parallel;
    cell_slab *slab = calloc(1, sizeof *slab);
    slab_sender to = {e, slab};
    int status = slab ? 0 : gbees_error_set(error, GBEES_ENOMEM, "out of memory for a record's cells");

    status = ranks_agree(e->ranks, status, error);
    if (status) {
        free(slab);
        return status;
    }
    if (p->rank == 0) {
        status = engine_visit_cells(e, fraction, visitor, context, error);
        for (int r = 1; r < p->ranks; r++)
            status = receive_cells(e, r, slab, status, visitor, context);
    } else {
        if (engine_visit_cells(e, fraction, send_cells, &to, error)) /* rank 0 waits for the cells */
            ranks_abort(e->ranks, "out of memory for a record's cells");
        slab->count = 0;
        send_slab(&to);
    }
    free(slab);
    return status;
}
