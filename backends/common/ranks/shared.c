/* shared.c - orders from rank 0's engine to those of the other ranks; cells of all ranks. See shared.h. */
#include "shared.h"
#include "base/grid_fields.h"
#include <stdlib.h>
#include <string.h>

/* What the other ranks do: end, or what the function of gbees_backend of that name does. */
typedef enum order_kind {
    ORDER_END,
    ORDER_RESTART,
    ORDER_ADVANCE,
    ORDER_UPDATE,
    ORDER_STATISTICS,
    ORDER_CELLS,
    ORDER_MARGINALS,
    ORDER_SAVE,
    ORDER_FRAME_SET,
    ORDER_FRAME_FIT,
    ORDER_FRAME_INFORMATION
} order_kind;

/* An order and the arguments of that function; those that it does not have are not set. */
typedef struct order {
    order_kind kind;
    int wants_rate;
    gbees_clock clock;
    uint64_t most;         /* steps of advance(), entries of marginals() */
    double fraction, time; /* of cells(); of the functions about frames */
    gbees_measurement measurement;
    gbees_grid_frame frame;
    gbees_grid_fields grid; /* of restart() */
} order;

static shared_engine *shared_of(gbees_engine *e)
{
    return (shared_engine *)(void *)e;
}

/* Sends the other ranks an order if they take part in it. */
static void tell(gbees_engine *e, const order *what)
{
    const shared_engine *s = shared_of(e);
    order copy = *what;

    if (s->ranks && (s->is_divided || what->kind <= ORDER_ADVANCE))
        s->ranks->parallel->broadcast(s->ranks->parallel->context, &copy, sizeof copy);
}

/* ---- create ---- */

/* Rank 0: tells the others whether the engine has a saved state. */
static void tell_source(const gbees_engine_options *options, int is_saved)
{
    const gbees_parallel *p = options ? options->parallel : NULL;

    if (p)
        p->broadcast(p->context, &is_saved, sizeof is_saved);
}

int shared_create(const gbees_problem *problem, const gbees_engine_options *options, gbees_engine **engine,
                  gbees_error *error)
{
    tell_source(options, 0);
    return shared_plain.create(problem, options, engine, error);
}

int shared_load(const gbees_problem *problem, const gbees_engine_options *options, gbees_state_source *source,
                void *context, gbees_engine **engine, gbees_error *error)
{
    tell_source(options, 1);
    return shared_plain.load(problem, options, source, context, engine, error);
}

void shared_destroy(gbees_engine *e)
{
    if (e) {
        tell(e, &(order){.kind = ORDER_END});
        shared_plain.destroy(e);
    }
}

/* ---- cells: rank after rank sends them to rank 0, in slabs ---- */

/* Cells that are sent to rank 0 at once; a message ends behind the last of the grid's axes. */
typedef struct cell_slab {
    uint64_t count; /* 0: the rank has sent all */
    double p[4096];
    int32_t index[GBEES_MAX_DIM][4096];
} cell_slab;

/* The context of send_cells(). */
typedef struct slab_sender {
    engine_ranks *ranks;
    cell_slab *slab;
} slab_sender;

static gbees_message slab_message(const engine_ranks *ranks, int rank, cell_slab *slab)
{
    return (gbees_message){rank, (size_t)((char *)slab->index[ranks->n] - (char *)slab), slab};
}

/* Sends the slab to rank 0. */
static void send_slab(const slab_sender *to)
{
    const gbees_message message = slab_message(to->ranks, 0, to->slab);

    ranks_exchange(to->ranks, &message, 1, NULL, 0);
}

/* A gbees_cell_visitor that sends the cells to rank 0. */
static int send_cells(void *context, size_t count, const int32_t *const *index, const double *p)
{
    const slab_sender *to = context;
    const size_t most = sizeof to->slab->p / sizeof *to->slab->p;

    for (size_t at = 0; at < count; at += most) {
        const size_t part = count - at < most ? count - at : most;

        to->slab->count = part;
        for (int j = 0; j < to->ranks->n; j++)
            memcpy(to->slab->index[j], index[j] + at, part * sizeof *index[j]);
        memcpy(to->slab->p, p + at, part * sizeof *p);
        send_slab(to);
    }
    return 0;
}

/* Rank 0: receives a rank's slabs, and passes them to the visitor until it stops (`stop` is not 0); then it drops the
 * rest. Returns what the visitor has returned last. */
static int receive_cells(engine_ranks *ranks, int rank, cell_slab *slab, int stop, gbees_cell_visitor *visitor,
                         void *context)
{
    const gbees_message message = slab_message(ranks, rank, slab);
    const int32_t *index[GBEES_MAX_DIM];

    for (int j = 0; j < ranks->n; j++)
        index[j] = slab->index[j];
    for (;;) {
        ranks_exchange(ranks, NULL, 0, &message, 1);
        if (slab->count == 0)
            return stop;
        if (!stop)
            stop = visitor(context, (size_t)slab->count, index, slab->p);
    }
}

/* All ranks: passes the cells of all ranks to rank 0's visitor, rank after rank. */
static int gather_cells(gbees_engine *e, double fraction, gbees_cell_visitor *visitor, void *context,
                        gbees_error *error)
{
    engine_ranks *ranks = shared_of(e)->ranks;
    const gbees_parallel *p = ranks->parallel;
    slab_sender to = {ranks, calloc(1, sizeof *to.slab)};
    int status = ranks_agree(ranks, to.slab ? 0 : ranks_no_memory(error), error);

    if (!status && p->rank == 0) {
        status = shared_plain.cells(e, fraction, visitor, context, error);
        for (int r = 1; r < p->ranks; r++)
            status = receive_cells(ranks, r, to.slab, status, visitor, context);
    } else if (!status) {
        status = shared_plain.cells(e, fraction, send_cells, &to, error);
        to.slab->count = 0;
        send_slab(&to);
    }
    free(to.slab);
    const int others = ranks_agree(ranks, p->rank > 0 ? status : 0, error); /* of rank 0 it may be the visitor's */
    return status ? status : others;
}

int shared_cells(gbees_engine *e, double fraction, gbees_cell_visitor *visitor, void *context, gbees_error *error)
{
    tell(e, &(order){.kind = ORDER_CELLS, .fraction = fraction});
    const int is_divided = shared_of(e)->ranks && shared_of(e)->is_divided;

    return is_divided ? gather_cells(e, fraction, visitor, context, error)
                      : shared_plain.cells(e, fraction, visitor, context, error);
}

/* ---- all other functions ---- */

int shared_restart(gbees_engine *e, const gbees_problem *problem, gbees_error *error)
{
    order o = {.kind = ORDER_RESTART};

    gbees_grid_fields_get(problem, &o.grid);
    tell(e, &o);
    return shared_plain.restart(e, problem, error);
}

int shared_advance(gbees_engine *e, gbees_clock *clock, uint64_t max_steps, gbees_error *error)
{
    const order o = {.kind = ORDER_ADVANCE, .clock = *clock, .most = max_steps};

    tell(e, &o);
    return shared_plain.advance(e, clock, max_steps, error);
}

int shared_update(gbees_engine *e, const gbees_clock *clock, const gbees_measurement *measurement,
                  gbees_evidence *evidence, gbees_error *error)
{
    const order o = {.kind = ORDER_UPDATE, .clock = *clock, .measurement = *measurement};

    tell(e, &o);
    return shared_plain.update(e, clock, measurement, evidence, error);
}

int shared_statistics(gbees_engine *e, const gbees_clock *clock, gbees_statistics *statistics, gbees_error *error)
{
    const order o = {.kind = ORDER_STATISTICS, .clock = *clock};

    tell(e, &o);
    return shared_plain.statistics(e, clock, statistics, error);
}

int shared_marginals(gbees_engine *e, uint64_t most, gbees_marginals **marginals, gbees_error *error)
{
    tell(e, &(order){.kind = ORDER_MARGINALS, .most = most});
    return shared_plain.marginals(e, most, marginals, error);
}

int shared_save(gbees_engine *e, gbees_state_sink *sink, void *context, gbees_error *error)
{
    tell(e, &(order){.kind = ORDER_SAVE});
    return shared_plain.save(e, sink, context, error);
}

int shared_frame_set(gbees_engine *e, const gbees_grid_frame *frame, double time, double *rate, gbees_error *error)
{
    const order o = {.kind = ORDER_FRAME_SET, .frame = *frame, .time = time, .wants_rate = rate != NULL};

    tell(e, &o);
    return shared_plain.frame_set(e, frame, time, rate, error);
}

int shared_frame_fit(gbees_engine *e, double time, gbees_affine_sums *sums, gbees_error *error)
{
    tell(e, &(order){.kind = ORDER_FRAME_FIT, .time = time});
    return shared_plain.frame_fit(e, time, sums, error);
}

int shared_frame_information(gbees_engine *e, double *information, gbees_error *error)
{
    tell(e, &(order){.kind = ORDER_FRAME_INFORMATION});
    return shared_plain.frame_information(e, information, error);
}

/* ---- the other ranks ---- */

/* Carries out an order; `changed`: memory for the problem that restart() gets. The status is dropped here: all ranks
 * have agreed on it, and rank 0 returns it to the solver. */
static void carry_out(gbees_engine *e, order *o, gbees_problem *changed)
{
    gbees_statistics statistics;
    gbees_evidence evidence;
    gbees_marginals *marginals = NULL;
    gbees_error error = {0};
    gbees_affine_sums sums;
    double rate, information[GBEES_MAX_ENTRIES];

    if (o->kind == ORDER_RESTART) {
        gbees_grid_fields_set(changed, &o->grid);
        (void)shared_plain.restart(e, changed, &error);
    } else if (o->kind == ORDER_ADVANCE)
        (void)shared_plain.advance(e, &o->clock, o->most, &error);
    else if (o->kind == ORDER_UPDATE)
        (void)shared_plain.update(e, &o->clock, &o->measurement, &evidence, &error);
    else if (o->kind == ORDER_STATISTICS)
        (void)shared_plain.statistics(e, &o->clock, &statistics, &error);
    else if (o->kind == ORDER_CELLS)
        (void)gather_cells(e, o->fraction, NULL, NULL, &error);
    else if (o->kind == ORDER_MARGINALS)
        (void)shared_plain.marginals(e, o->most, &marginals, &error);
    else if (o->kind == ORDER_SAVE)
        (void)shared_plain.save(e, NULL, NULL, &error);
    else if (o->kind == ORDER_FRAME_SET)
        (void)shared_plain.frame_set(e, &o->frame, o->time, o->wants_rate ? &rate : NULL, &error);
    else if (o->kind == ORDER_FRAME_FIT)
        (void)shared_plain.frame_fit(e, o->time, &sums, &error);
    else if (o->kind == ORDER_FRAME_INFORMATION)
        (void)shared_plain.frame_information(e, information, &error);
    free(marginals);
}

int shared_serve(const gbees_problem *problem, const gbees_engine_options *options, gbees_error *error)
{
    const gbees_parallel *p = options->parallel;
    gbees_problem changed = *problem;
    gbees_engine *e = NULL;
    int is_saved = 0;

    p->broadcast(p->context, &is_saved, sizeof is_saved);
    const int status = is_saved ? shared_plain.load(problem, options, NULL, NULL, &e, error)
                                : shared_plain.create(problem, options, &e, error);
    if (status || !e)
        return status;
    for (order o = {.kind = ORDER_ADVANCE}; o.kind != ORDER_END;) {
        p->broadcast(p->context, &o, sizeof o);
        carry_out(e, &o, &changed);
    }
    shared_plain.destroy(e);
    return 0;
}
