/* engine.h - an engine of the CPU backend: the state of a run, and the functions of the backend's files for each
 * other.
 *
 * The README beside it has the order in which files call each other. "Used brick k" is the brick in slot g.used[k].
 */
#ifndef GBEES_CPU_ENGINE_H
#define GBEES_CPU_ENGINE_H

#include "common/failure.h"
#include "common/ranks/shared.h"
#include "common/totals.h"
#include "cpu/grid/grid.h"
#include "cpu/kernel/kernel.h"
#include "cpu/team.h"
#include "numerics/downwind.h"
#include <gbees/backend.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* Cells and bricks of a chunk, and the least number of chunks: see engine_chunk(). */
enum { BRICK_CELLS = 64, CHUNK_BRICKS = 256, FEW_BRICKS = 64, CHUNKS = 16 };

/* How the problem is computed: fixed when the engine is created. */
typedef struct engine_method {
    int split;            /* a split scheme, which sweeps one density in place; else ctu */
    int deterministic;    /* sums over P have the same bits as those of other backends: --deterministic */
    int averages;         /* P are averages over cells, not values at their centres */
    size_t real_size;     /* bytes of a value of p, s and next */
    double courant_limit; /* the largest Courant number of a fixed step; 0: any, or no fixed step */
} engine_method;

/* Arrays with an entry for each slot of the grid, which makes them (grid_register()). */
typedef struct engine_rows {
    /* A row of `cells` values a slot; p and next are swapped in each step of ctu. Split schemes have `next` with
     * process noise only. */
    void *p, *s, *next;
    uint64_t *active;     /* cells with P >= p* */
    uint64_t *needed;     /* active cells and those downwind of them, at the last count */
    uint64_t *flow;       /* 2n flow masks a slot, by direction; NULL: computed from the drift when they are needed */
    uint64_t *expanded;   /* active cells whose neighbours have been inserted */
    unsigned char *ghost; /* with ranks: 0: an own brick; else 1 + the class of a ghost (ranks.h); else NULL */
    kernel_ended *ended;  /* with ranks: a brick's sums after a step; else NULL */
    uint64_t *inside;     /* with a bound: cells within it; else NULL */
    uint16_t *blocked;    /* with a bound: 2n a slot; [d] bit f: it leaves no neighbour in directions d and f */
    unsigned char *diverging;     /* as kernel.h has it */
    uint16_t *one_signed;         /* as kernel.h has it */
    double *rate;                 /* the largest CFL rate of a cell */
    double *g[GBEES_MAX_TARGETS]; /* of targets that absorb: as kernel_targets has them; else NULL */
    uint64_t *outside;
    double *noise; /* [n], with process noise: the largest spread along each axis (noise_rates in diffusion.c) */
} engine_rows;

/* Arrays that the kernels' context points to. */
typedef struct engine_tables {
    void *face_points[GBEES_MAX_DIM];            /* by axis: make_points() of setup.c */
    double cell_offset[GBEES_MAX_DIM][64];       /* coordinates of a brick's cells less those of its lowest cell */
    void *frame_points;                          /* of a grid that moves: see frame_points.c */
    double parameters_d[GBEES_PARAMETER_VALUES]; /* the problem's, with the present frame of a grid that moves */
    float parameters_f[GBEES_PARAMETER_VALUES];
} engine_tables;

/* Memory that is used again in each step. */
typedef struct engine_workspace {
    kernel_scratch *sweep;              /* one a thread */
    work_queue *queue;                  /* one a thread */
    grid_requests requests[GRID_PARTS]; /* of growth: absent bricks that are needed */
    void *buffer;                       /* of a sweep or a prune (engine_buffer()) */
    size_t buffer_size;
} engine_workspace;

/* Targets that absorb. */
typedef struct engine_targets {
    int number[GBEES_MAX_TARGETS];     /* of those that kernel_targets counts, in the problem's list */
    double entered[GBEES_MAX_TARGETS]; /* what has entered each of these */
    uint64_t changes;                  /* 1: a function depends on the time */
} engine_targets;

struct gbees_engine {
    shared_engine shared; /* first */
    const gbees_problem *problem;
    const kernel *kernel;
    grid g;
    int threads;
    int (*cancelled)(void *context); /* gbees_engine_options.cancelled */
    void *cancelled_context;
    int cells; /* of a brick */
    engine_method method;
    engine_rows rows;
    engine_tables tables;
    kernel_context context;
    double inspected;    /* time at which rows.flow and rows.rate were computed */
    double longest_step; /* of a grid that moves: the next step is not longer */

    gbees_run_state run;
    engine_targets targets;
    int is_initial;         /* no step and no update has been done */
    uint64_t initial_above; /* cells with P >= p* of the initial density */
    mass_budget budget;     /* the control of p*, if the problem has a budget */
    double memory_limit;    /* bytes that the grid may take, for the control of p* */
    engine_workspace workspace;
    engine_ranks *ranks;          /* that share the grid (ranks.h); NULL: one process has all of it */
    struct engine_ghosts *ghosts; /* of other ranks' bricks; NULL: one process */
};

/* ---- frame_points.c ---- */
/* Makes the tables of points of a grid that moves. */
int engine_frame_points_create(gbees_engine *e, gbees_error *error);
/* Sets them by the frame in tables.parameters_d. */
void engine_frame_points_set(gbees_engine *e);
/* Sets drift[n][cells] to the drift relative to the frame at the centres of a brick's cells, along the frame's axes,
 * in double; y[n]: the centre of its lowest cell. */
void engine_frame_drift(const gbees_engine *e, const double *y, double time, double (*drift)[64]);

/* ---- setup.c ---- */
/* Sets the tables that follow from tables.parameters_d: rounded parameters, points of a grid that moves. */
void engine_round_parameters(gbees_engine *e);
/* Sets up the arrays and tables of an engine, which has no density yet. parallel: the ranks that share it; or NULL.
 */
int engine_set_up(gbees_engine *e, const gbees_parallel *parallel, gbees_error *error);
/* Fills the grid with the initial density, prunes it and counts its cells. */
int engine_fill_initial(gbees_engine *e, gbees_error *error);

/* ---- bricks.c ---- */
/* The axis along which a brick would be beyond GRID_KEY_LIMIT; -1: none. */
int engine_far_axis(const gbees_engine *e, const int32_t *key);
/* Inserts an absent brick; `inside`: its cells within the bound. It is neither linked nor cleared. */
int engine_insert_brick(gbees_engine *e, const int32_t *key, uint64_t hash, uint64_t inside, gbees_error *error);
/* Sets a new brick's P and its active, needed and expanded cells to 0. */
void engine_clear_brick(gbees_engine *e, uint32_t slot);

/* ---- targets.c ---- */
/* Finds the problem's targets that absorb. */
void engine_set_up_targets(gbees_engine *e);
/* Finds which cells of used bricks from .. count - 1 are in targets that absorb, at a time, and empties these. */
int engine_find_targets(gbees_engine *e, uint32_t from, double time, gbees_error *error);
/* Counts what has entered targets, as kernel_sums has it. Returns an error if a function was not a number there. */
int engine_enter(gbees_engine *e, const double *entered, gbees_error *error);
/* Sets totals->mass_entered. */
void engine_add_entered(const gbees_engine *e, gbees_totals *totals);

/* ---- growth.c ---- */
/* Inserts the absent bricks that active cells flow into, links, clears and inspects them. */
int engine_grow(gbees_engine *e, double time, gbees_error *error);
/* Computes the flow masks and CFL rates of used bricks from .. count - 1 at a time. Returns an error, with the place,
 * if the velocity in a cell or its difference across the cell is not finite, or its Q is invalid. */
int engine_inspect(gbees_engine *e, uint32_t from, double time, gbees_error *error);
/* Points the kernels' context to the rows that an inspection sets. */
void engine_set_flow_rows(gbees_engine *e);

/* ---- frame.c: of a grid that moves; as frame_set(), frame_fit(), frame_information() of gbees_backend ---- */
int engine_frame_set(gbees_engine *e, const gbees_grid_frame *frame, double time, double *rate, gbees_error *error);
int engine_frame_fit(gbees_engine *e, double time, gbees_affine_sums *sums, gbees_error *error);
int engine_frame_information(gbees_engine *e, double *information, gbees_error *error);

/* ---- diffusion.c: with process noise ---- */
/* Adds the noise to the flow masks and rates of used bricks from .. count - 1. A rate is infinite where Q is invalid.
 */
void engine_inspect_noise(gbees_engine *e, uint32_t from);
/* Sets *steps to the number of explicit steps into which the time step is cut, with Q at its middle; 0: the sweeps
 * add the noise. */
int engine_noise_steps(gbees_engine *e, double *steps, gbees_error *error);
/* Takes `steps` explicit steps of diffusion, which together are a time step. With ends_step it adds the sums of the
 * density to *total and marks the active cells. */
int engine_diffuse(gbees_engine *e, double steps, int ends_step, kernel_sums *total, gbees_error *error);

/* ---- prune.c ---- */
/* Removes the bricks without a needed cell, enters the counts and the mass lost into e->run, and sets p* of a mass
 * budget. left_out of the mass is in no brick: it is lost by this prune. */
int engine_prune(gbees_engine *e, double time, double left_out, gbees_error *error);
/* Marks the active and the needed cells of all bricks. Returns the number of needed ones, and sets *above, unless it
 * is NULL, to that of active ones. */
uint64_t engine_mark_needed(gbees_engine *e, uint64_t *above);

/* ---- density.c ---- */
/* Numbers that bricks add up to. */
typedef struct brick_numbers {
    int count;
    /* Adds those of used bricks from .. to - 1 to number[count]. */
    void (*add)(gbees_engine *e, const void *context, uint32_t from, uint32_t to, double *number);
    const void *context;
} brick_numbers;
/* All ranks: sets sums[count] to the sums over all bricks: of chunks in order, or, among ranks, of bricks without
 * rounding; then NaN if a number is not finite. */
int engine_add_up(gbees_engine *e, const brick_numbers *of, double *sums, gbees_error *error);
/* Sets *sum to the sum of P over all cells; except[k] != 0: without used brick k (NULL: with all). */
int engine_sum(gbees_engine *e, const unsigned char *except, double *sum, gbees_error *error);
/* As engine_sum(), but always in floating point, also with --deterministic: for P whose sum may be 8 or more. */
int engine_sum_any(gbees_engine *e, const unsigned char *except, double *sum, gbees_error *error);
/* The sum of P, added in integers, in units of 2^-60: the same bits on all backends and any number of ranks. It has
 * to be less than 8. */
double engine_exact_sum(gbees_engine *e);
/* Multiplies all P by a factor. */
void engine_scale(gbees_engine *e, double factor);
/* Memory of `size` bytes, valid until the next call; NULL: out of memory. */
void *engine_buffer(gbees_engine *e, size_t size);

/* ---- step.c ---- */
/* Advances the density and the clock by one step, and prunes the grid if that is due. */
int engine_step(gbees_engine *e, gbees_error *error);
/* As gbees_backend.advance(); all ranks call it. */
int engine_advance(gbees_engine *e, gbees_clock *clock, uint64_t max_steps, gbees_error *error);

/* The CFL rate of the grid: 1 over the step that has Courant number 1. */
double engine_limiting_rate(gbees_engine *e);

/* ---- sweep.c ---- */
/* Advects the density along each axis, in place. With ends_step it adds the sums of the density to *total and marks
 * the active cells. */
int engine_sweep(gbees_engine *e, int ends_step, kernel_sums *total, gbees_error *error);

/* ---- budget.c ---- */
/* The bytes that the grid may take: `wanted`, or if that is 0, 0.8 of the machine's memory. */
double budget_memory_limit(double wanted);
/* At a prune: with a mass budget, sets p* for the steps to come. */
void budget_steer(gbees_engine *e, double time);

/* ---- update.c, statistics.c: as update() and statistics() of gbees_backend; all ranks call them ---- */
int engine_update(gbees_engine *e, const gbees_clock *clock, const gbees_measurement *measurement,
                  gbees_evidence *evidence, gbees_error *error);
int engine_statistics(gbees_engine *e, const gbees_clock *clock, gbees_statistics *statistics, gbees_error *error);
enum { ENGINE_BATCH = 4096 }; /* cells that a visitor is passed at once, at most */
/* As gbees_backend.cells(), for the cells of this rank alone. */
int engine_visit_cells(gbees_engine *e, double fraction, gbees_cell_visitor *visitor, void *context,
                       gbees_error *error);

/* ---- moments.c ---- */
/* Sets the moments of used bricks from .. to - 1, be they ghosts or not, with the sums around circles. */
void engine_moments(const gbees_engine *e, uint32_t from, uint32_t to, kernel_moments *part);

/* ---- state.c ---- */
/* As gbees_backend.save(); all ranks call it. */
int engine_save(gbees_engine *e, gbees_state_sink *sink, void *context, gbees_error *error);
/* Sets an engine without a density to a saved state; all ranks call it, and rank 0 has the source. */
int engine_load(gbees_engine *e, gbees_state_source *source, void *context, gbees_error *error);

/* ---- p*, P and the cells of a brick ---- */

/* p*: the problem's, or where it changes during the run the present one. */
static inline double engine_threshold(const gbees_engine *e)
{
    return mass_budget_changes_threshold(e->problem) ? e->budget.threshold : e->problem->threshold;
}

/* Whether a brick is another rank's. */
static inline int engine_is_ghost(const gbees_engine *e, uint32_t slot)
{
    return e->rows.ghost && e->rows.ghost[slot];
}

/* P of the cell number slot * cells + cell. */
static inline double engine_p(const gbees_engine *e, size_t at)
{
    return e->method.real_size == sizeof(float) ? (double)((const float *)e->rows.p)[at]
                                                : ((const double *)e->rows.p)[at];
}

/* Sets it. */
static inline void engine_set_p(gbees_engine *e, size_t at, double value)
{
    if (e->method.real_size == sizeof(float))
        ((float *)e->rows.p)[at] = (float)value;
    else
        ((double *)e->rows.p)[at] = value;
}

/* Sets base[n] to the centre of a brick's lowest cell, in the axes of the grid. */
static inline void engine_base(const gbees_engine *e, uint32_t slot, double *base)
{
    const int32_t *key = grid_key(&e->g, slot);

    for (int k = 0; k < e->g.shape.n; k++)
        base[k] = e->problem->mean[k] + e->problem->width[k] * ((double)key[k] * e->g.shape.edge[k]);
}

/* Sets the error for a brick whose drift is not finite, or whose diffusion is invalid. */
static inline int engine_drift_error(const gbees_engine *e, uint32_t slot, double time, gbees_error *error)
{
    return failure_drift(e->problem, &e->g.shape, grid_key(&e->g, slot), time, error);
}

/* Sets the cells of a new brick that are within the bound, and marks none of its neighbours as blocked. */
static inline void engine_set_inside(gbees_engine *e, uint32_t slot, uint64_t inside)
{
    const size_t directions = (size_t)(2 * e->g.shape.n);

    if (e->rows.inside)
        e->rows.inside[slot] = inside;
    if (e->rows.blocked)
        memset(e->rows.blocked + (size_t)slot * directions, 0, directions * sizeof *e->rows.blocked);
}

/* ---- flow out of cells ---- */

/* Sets *out to the outflow of `cells` of a brick as at the last inspection; sides: out of the brick
 * (gbees_leaving()). context.time must be e->inspected.  Unless rows.flow has the flow masks, they are computed: in
 * six dimensions they would take a tenth of all memory. */
static inline void engine_find_outflow(const gbees_engine *e, uint32_t slot, uint64_t cells, int sides,
                                       gbees_outflow *out)
{
    uint64_t computed[2 * GBEES_MAX_DIM];
    const uint64_t *flow = e->rows.flow ? e->rows.flow + (size_t)slot * (size_t)(2 * e->g.shape.n) : computed;

    if (!e->rows.flow)
        e->kernel->find_flow(&e->context, slot, computed);
    gbees_outflow_set(&e->g.shape, cells, flow, sides, out);
}

/* ---- threads and chunks ---- */

/* The number of threads that share a loop over so many bricks. */
static inline int engine_threads(const gbees_engine *e, uint32_t bricks)
{
    return team_size((uint64_t)bricks * (uint64_t)e->cells, e->threads);
}

/* The number of the thread that runs this. */
static inline int engine_thread(void)
{
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

/* The number of processors. */
static inline int engine_processors(void)
{
#ifdef _OPENMP
    return omp_get_num_procs();
#else
    return 1;
#endif
}

/* The number of used bricks of a chunk. Loops that form sums go by chunks, whose sums are added in order, so that
 * results are the same for every number of threads. A grid that is just large enough for several threads has small
 * chunks, so that all threads end at about the same time. */
static inline uint32_t engine_chunk(const gbees_engine *e)
{
    const uint32_t part = e->g.count / CHUNKS;

    if (part >= CHUNK_BRICKS || team_size((uint64_t)e->g.count * (uint64_t)e->cells, 2) == 1)
        return CHUNK_BRICKS;
    return part < FEW_BRICKS ? FEW_BRICKS : part;
}

/* The number of chunks of the bricks in use. */
static inline uint32_t engine_chunks(const gbees_engine *e)
{
    return (e->g.count + engine_chunk(e) - 1) / engine_chunk(e);
}

/* The end of a chunk: it has used bricks chunk * engine_chunk() .. end - 1. */
static inline uint32_t engine_chunk_end(const gbees_engine *e, uint32_t chunk)
{
    uint32_t end = (chunk + 1) * engine_chunk(e);

    return end < e->g.count ? end : e->g.count;
}

/* Adds sums[chunks] to *total, in their order, unless bricks keep their sums. */
static inline void engine_add_sums(const gbees_engine *e, const kernel_sums *sums, uint32_t chunks,
                                   kernel_sums *total)
{
    for (uint32_t at = 0; at < chunks && !e->rows.ended; at++) {
        total->mass += sums[at].mass;
        total->clipped += sums[at].clipped;
        total->outflow += sums[at].outflow;
        for (int k = 0; k <= GBEES_MAX_TARGETS; k++)
            total->entered[k] += sums[at].entered[k];
    }
}

#endif
