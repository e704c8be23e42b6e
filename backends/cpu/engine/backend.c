/* backend.c - the descriptor that the CPU module exports; creates and destroys engines. */
#include "base/threads_asked.h"
#include "common/initial_grid.h"
#include "cpu/kernel/isa.h"
#include "engine.h"
#include "ranks.h"
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The kernels for the best instruction set of this processor, or for the one that GBEES_CPU_ISA names (for tests). */
static const kernel_set *choose_kernels(gbees_error *error)
{
    const char *wanted = getenv("GBEES_CPU_ISA");
    const kernel_set *kernels = isa_choose(wanted);

    if (!kernels)
        (void)gbees_error_set(error, GBEES_EUSAGE,
                              "GBEES_CPU_ISA=%s is no instruction set: there are generic, neon, avx2 and avx512",
                              wanted);
    return kernels;
}

static int probe(char *text, size_t size)
{
    gbees_error error = {0};
    const kernel_set *kernels = choose_kernels(&error);

    (void)snprintf(text, size, "%s", kernels ? kernels->isa : error.text);
    return !kernels;
}

/* Frees an engine, or NULL. */
static void destroy(gbees_engine *e)
{
    if (!e)
        return;
    engine_leave_ranks(e);
    grid_destroy(&e->g);
    for (int j = 0; j < GBEES_MAX_DIM; j++)
        free(e->tables.face_points[j]);
    free(e->tables.frame_points);
    for (int t = 0; e->workspace.sweep && t < e->threads; t++) {
        for (int i = 0; i < 2; i++)
            free(e->workspace.sweep[t].pencil[i].storage);
        free(e->workspace.sweep[t].data);
    }
    free(e->workspace.sweep);
    free(e->workspace.queue);
    for (int part = 0; part < GRID_PARTS; part++)
        free(e->workspace.requests[part].request);
    free(e->workspace.buffer);
    free(e);
}

/* A thread's function. */
static void *do_nothing(void *nothing)
{
    return nothing;
}

/* How many of the wanted threads the system can create.  OpenMP ends the process when it can't create its own. */
static int available_threads(int wanted)
{
    pthread_t *thread = malloc((size_t)wanted * sizeof *thread);
    int made = 1;

    while (thread && made < wanted && pthread_create(&thread[made], NULL, do_nothing, NULL) == 0)
        made++;
    for (int t = 1; t < made; t++)
        (void)pthread_join(thread[t], NULL);
    free(thread);
    return made;
}

/* The number of threads if none is given: OMP_NUM_THREADS, or this process' part of the processors: of all of them,
 * unless it is bound to some. */
static int usual_threads(const gbees_parallel *parallel)
{
    const int asked = gbees_threads_asked();

    if (asked > 0)
        return asked;
    const int here = engine_processors();

    if (!parallel || here < sysconf(_SC_NPROCESSORS_ONLN))
        return here;
    return parallel->local_ranks > 0 && here > parallel->local_ranks ? here / parallel->local_ranks : 1;
}

/* Makes an engine without a density. Ranks have not agreed on its status. */
static int make(const gbees_problem *problem, const gbees_engine_options *options, gbees_engine **engine,
                gbees_error *error)
{
    const gbees_numerics *numerics = &problem->numerics;
    const kernel_set *kernels = choose_kernels(error);
    const gbees_parallel *parallel = options ? options->parallel : NULL;
    gbees_engine *e = kernels ? calloc(1, sizeof *e) : NULL;

    if (!kernels)
        return GBEES_EUSAGE;
    if (!e)
        return gbees_error_set(error, GBEES_ENOMEM, "out of memory while the CPU backend was set up");
    e->problem = problem;
    e->method.split = gbees_scheme_is_split(numerics->scheme);
    e->method.courant_limit = fixed_step_limit(numerics);
    e->method.deterministic = options && options->deterministic;
    e->method.averages = numerics->cell_values == GBEES_CELL_AVERAGES;
    e->cells = BRICK_CELLS;
    e->method.real_size = numerics->precision == GBEES_DOUBLE ? sizeof(double) : sizeof(float);
    e->kernel = numerics->precision == GBEES_DOUBLE ? kernels->f64 : kernels->f32;
    e->memory_limit = budget_memory_limit(options ? options->memory_bytes : 0);
    e->cancelled = options ? options->cancelled : NULL;
    e->cancelled_context = options ? options->cancelled_context : NULL;
    e->threads = available_threads(options && options->threads > 0 ? options->threads : usual_threads(parallel));
    e->workspace.sweep = calloc((size_t)e->threads, sizeof *e->workspace.sweep);
    e->workspace.queue = aligned_alloc(_Alignof(work_queue), (size_t)e->threads * sizeof *e->workspace.queue);
    e->run.steps = gbees_problem_steps_before(problem);
    e->run.ledger.mass = 1;
    int status = engine_set_up(e, parallel, error);
    if (!status && (!e->workspace.sweep || !e->workspace.queue))
        status = gbees_error_set(error, GBEES_ENOMEM, "out of memory while the CPU backend was set up");
    if (status) {
        destroy(e);
        return status;
    }
    *engine = e;
    return 0;
}

/* All ranks: makes an engine with the density of a saved state, or with the initial one. */
static int open_engine(const gbees_problem *problem, const gbees_engine_options *options, int is_saved,
                       gbees_state_source *source, void *context, gbees_engine **engine, gbees_error *error)
{
    const gbees_parallel *parallel = options ? options->parallel : NULL;
    gbees_engine *made = NULL;
    int status = make(problem, options, &made, error);

    if (parallel)
        status = gbees_parallel_agree(parallel, status, error);
    if (!status)
        status = is_saved ? engine_load(made, source, context, error) : engine_fill_initial(made, error);
    if (status)
        destroy(made);
    else
        *engine = made;
    return status;
}

static int create(const gbees_problem *problem, const gbees_engine_options *options, gbees_engine **engine,
                  gbees_error *error)
{
    return open_engine(problem, options, 0, NULL, NULL, engine, error);
}

static int load(const gbees_problem *problem, const gbees_engine_options *options, gbees_state_source *source,
                void *context, gbees_engine **engine, gbees_error *error)
{
    return open_engine(problem, options, 1, source, context, engine, error);
}

/* The functions of each rank's engine. */
const gbees_backend shared_plain = {
    .create = create,
    .destroy = destroy,
    .advance = engine_advance,
    .update = engine_update,
    .statistics = engine_statistics,
    .cells = engine_visit_cells,
    .save = engine_save,
    .load = load,
    .frame_set = engine_frame_set,
    .frame_fit = engine_frame_fit,
    .frame_information = engine_frame_information,
};

static void totals(const gbees_engine *e, gbees_totals *out)
{
    *out = totals_of(&e->run, &e->budget);
    out->peak_bytes = e->g.peak_bytes + e->workspace.buffer_size;
    out->threads = e->threads;
    engine_add_entered(e, out);
    ranks_get_totals(e->ranks, out);
}

static void rank_totals(const gbees_engine *e, int most, gbees_rank_totals *all)
{
    ranks_get_each(e->ranks, most, all);
}

/* A grid has a quarter more slots than bricks. The initial density: twice the bricks with an active cell, as those
 * around them may be as many. */
static double estimate(const gbees_problem *problem, double bricks)
{
    gbees_shape shape;
    int n = problem->dimension;
    double real_size = problem->numerics.precision == GBEES_DOUBLE ? 8 : 4;
    int split = gbees_scheme_is_split(problem->numerics.scheme);
    int rows =
        split ? 1 + (gbees_problem_engine_noise(problem) || problem->measurement_count > 0 || problem->arriving) : 3;

    gbees_shape_set(&shape, n, BRICK_CELLS);
    /* A brick's key and links, lists, masks and rates, its part of the table and of a prune's memory. */
    const double a_brick =
        shape.cells * rows * real_size + n * 12.0 + 72 + (gbees_problem_engine_noise(problem) ? 24.0 * n : 0);
    return bricks > 0 ? 1.25 * bricks * a_brick
                      : 2 * initial_grid_estimate(problem, &shape) * a_brick + initial_grid_bytes(problem, &shape);
}

GBEES_BACKEND_EXPORT extern const gbees_backend gbees_backend_card;

const gbees_backend gbees_backend_card = {
    .abi = GBEES_BACKEND_ABI,
    .size = sizeof(gbees_backend),
    .name = "cpu",
    .title = "threads and vector instructions",
    .absorbs = 1,
    .probe = probe,
    .estimate = estimate,
    SHARED_FUNCTIONS,
    .totals = totals,
    .rank_totals = rank_totals,
};
