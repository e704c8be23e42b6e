/* backend.c - what the CPU module exports. */
#include "common/initial_bricks.h"
#include "cpu/kernel/isa.h"
#include "engine.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* The best instruction set that this processor has, unless a worse one is asked for (tests compare them). */
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

static void destroy(gbees_engine *e)
{
    if (!e)
        return;
    grid_destroy(&e->g);
    for (int j = 0; j < GBEES_MAX_DIM; j++)
        free(e->offsets[j]);
    for (int t = 0; e->scratch && t < e->threads; t++) {
        for (int i = 0; i < 2; i++)
            free(e->scratch[t].pencil[i].storage);
        free(e->scratch[t].data);
    }
    free(e->scratch);
    free(e->shares);
    for (int part = 0; part < GRID_PARTS; part++)
        free(e->growth[part].wish);
    free(e->room);
    free(e);
}

static void *come_and_go(void *nothing)
{
    return nothing;
}

/* OpenMP ends the process when it can't make its threads: they are tried first, and fewer are used. */
static int available_threads(int wanted)
{
    pthread_t *thread = malloc((size_t)wanted * sizeof *thread);
    int made = 1;

    while (thread && made < wanted && pthread_create(&thread[made], NULL, come_and_go, NULL) == 0)
        made++;
    for (int t = 1; t < made; t++)
        (void)pthread_join(thread[t], NULL);
    free(thread);
    return made;
}

static int create(const gbees_problem *problem, const gbees_engine_options *options, gbees_engine **engine,
                  gbees_error *error)
{
    const gbees_numerics *numerics = &problem->numerics;
    const kernel_set *kernels = choose_kernels(error);
    gbees_engine *e = kernels ? calloc(1, sizeof *e) : NULL;

    if (!kernels)
        return GBEES_EUSAGE;
    if (!e)
        return gbees_error_set(error, GBEES_ENOMEM, "out of memory while the CPU backend was set up");
    e->problem = problem;
    e->split = gbees_scheme_is_split(numerics->scheme);
    e->reach = e->split && numerics->courant > 1 ? (int)ceil(numerics->courant) : 1;
    e->deterministic = options && options->deterministic;
    e->averages = numerics->cell_values == GBEES_CELL_AVERAGES;
    e->paper = numerics->faces == GBEES_FACES_REFERENCE;
    e->cells = numerics->cells_per_brick;
    e->real_size = numerics->precision == GBEES_DOUBLE ? sizeof(double) : sizeof(float);
    e->kernel = numerics->precision == GBEES_DOUBLE ? kernels->f64 : kernels->f32;
    e->threads = available_threads(options && options->threads > 0 ? options->threads : engine_processors());
    e->scratch = calloc((size_t)e->threads, sizeof *e->scratch);
    e->shares = aligned_alloc(_Alignof(team_share), (size_t)e->threads * sizeof *e->shares);
    e->run.steps = problem->steps_before;
    e->run.ledger.mass = 1;
    int status = (e->cells != 1 && e->cells != 64) || (e->paper && (e->cells != 1 || e->real_size != sizeof(double)))
                     ? gbees_error_set(error, GBEES_EUSAGE,
                                       "the CPU backend has bricks of 64 cells or of 1, and the "
                                       "reference's faces with cells in double precision only")
                     : engine_set_up(e, error);
    if (!status && (!e->scratch || !e->shares))
        status = gbees_error_set(error, GBEES_ENOMEM, "out of memory while the CPU backend was set up");
    if (!status)
        status = engine_fill_initial(e, error);
    if (status) {
        destroy(e);
        return status;
    }
    *engine = e;
    return 0;
}

static int advance(gbees_engine *e, gbees_clock *clock, uint64_t max_steps, gbees_error *error)
{
    int status = 0;

    e->run.clock = step_clock_load(clock, (uint32_t)e->problem->numerics.prune_interval);
    for (uint64_t k = 0; k < max_steps && e->run.clock.elapsed < e->run.clock.length && !status; k++)
        status = engine_step(e, error);
    step_clock_store(&e->run.clock, clock);
    return status;
}

static int update(gbees_engine *e, const gbees_clock *clock, const gbees_measurement *measurement,
                  gbees_evidence *evidence, gbees_error *error)
{
    const double before = gbees_ledger_before_update(&e->run.ledger);
    int status = engine_update(e, clock, measurement, evidence, error);

    if (!status)
        gbees_ledger_update(&e->run.ledger, before);
    return status;
}

static int statistics(gbees_engine *e, const gbees_clock *clock, gbees_statistics *out, gbees_error *error)
{
    (void)clock;
    return engine_statistics(e, out, error);
}

static void totals(const gbees_engine *e, gbees_totals *out)
{
    *out = totals_of(&e->run, &e->budget);
    out->peak_bytes = e->g.peak_bytes + e->room_size;
    out->coupling = e->coupling;
    out->threads = e->threads;
}

/* Bricks of the initial density, and as many again for the first growth. */
static double estimate(const gbees_problem *problem)
{
    gbees_shape shape;
    int n = problem->dimension, paper = problem->numerics.faces == GBEES_FACES_REFERENCE;
    double real_size = problem->numerics.precision == GBEES_DOUBLE ? 8 : 4;
    int split = gbees_scheme_is_split(problem->numerics.scheme);
    int rows = split ? 1 + (problem->model->diffusion || problem->measurement_count > 0)
                     : 3 + (problem->numerics.scheme == GBEES_SCHEME_CTU_POSITIVE);

    gbees_shape_set(&shape, n, problem->numerics.cells_per_brick);
    /* A brick's key and links, lists, masks and rates, its part of the table and of a prune's memory. */
    return 2 * initial_bricks_most(problem, &shape) *
               (shape.cells * rows * real_size + n * 12.0 + 72 + (paper ? 24.0 * n : 0) +
                (problem->model->diffusion ? 16.0 * n + 8 : 0)) +
           initial_bricks_bytes(problem, &shape);
}

GBEES_BACKEND_EXPORT extern const gbees_backend gbees_backend_card;

const gbees_backend gbees_backend_card = {
    .abi = GBEES_BACKEND_ABI,
    .size = sizeof(gbees_backend),
    .name = "cpu",
    .title = "threads and vector instructions",
    .probe = probe,
    .estimate = estimate,
    .create = create,
    .destroy = destroy,
    .advance = advance,
    .update = update,
    .statistics = statistics,
    .cells = engine_cells,
    .totals = totals,
};
