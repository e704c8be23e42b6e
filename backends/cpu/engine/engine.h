/* engine.h - the CPU backend's state, and the parts that work on it; private to the backend. */
#ifndef GBEES_CPU_ENGINE_H
#define GBEES_CPU_ENGINE_H

#include "common/totals.h"
#include "cpu/grid/grid.h"
#include "cpu/kernel/kernel.h"
#include "team.h"
#include <gbees/backend.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* Bricks that are summed up together (engine_chunk): sums are added in this order for every number of threads. */
enum { CHUNK_BRICKS = 256, CHUNK_CELLS = 8192, FEW_BRICKS = 64, CHUNKS = 16 };

struct gbees_engine {
    const gbees_problem *problem;
    const kernel *kernel;
    grid g;
    int threads;
    int cells;         /* a brick */
    int paper;         /* the reference's face rule: paper.c */
    int split;         /* the split scheme: one density, swept in place */
    int deterministic; /* sums that other backends have, too */
    int averages;      /* P are averages over cells, not values at their centres */
    size_t real_size;  /* of p, s and next */

    /* One row a slot; p and next are swapped at each step of ctu. The split scheme has next for process noise only.
     */
    void *p, *s, *next, *share;
    uint64_t *active, *needed;
    uint64_t *flow; /* 2n a slot, by direction: kept where more than the drift makes them, else NULL (engine_flow) */
    uint64_t *served; /* cells whose growth has been seen to */
    uint64_t *inside; /* with a bound: a brick's cells that it leaves to the grid; else NULL */
    uint16_t *barred; /* ... and, 2n a slot, [d] bit f: no neighbour in direction d (f = d), or in d and f */
    unsigned char *diverging;
    uint16_t *steady;
    double *rate;
    double *noise;    /* with process noise: all that a cell gives, at most, at the last inspection */
    double *velocity; /* paper mode: at the upper faces, n a cell */

    int reach;                        /* cells that probability may go in a step: the Courant number, rounded up */
    uint64_t near[2 * GBEES_MAX_DIM]; /* by direction: the cells so near to that side of the brick */

    kernel_context context;
    double inspected;                /* the time of flow masks and rates */
    void *offsets[GBEES_MAX_DIM];    /* storage of context.drift.axis[].offset */
    double local[GBEES_MAX_DIM][64]; /* coordinates of a brick's cells less those of its lowest cell */
    float parameters_f[GBEES_PARAMETER_VALUES];

    gbees_run_state run;
    double coupling;                /* as gbees_totals.coupling */
    uint64_t above_count;           /* of the initial density: cells with P >= p*, */
    int is_initial;                 /* which it still is */
    kernel_scratch *scratch;        /* one a thread */
    grid_wishes growth[GRID_PARTS]; /* what is absent */
    mass_budget budget;
    double memory;      /* bytes that the grid may take, with a budget */
    team_share *shares; /* one a thread */
    void *room;         /* scratch of a sweep or a prune, `room_size` bytes */
    size_t room_size;
};

/* setup.c */
int engine_set_up(gbees_engine *e, gbees_error *error);
int engine_fill_initial(gbees_engine *e, gbees_error *error);

/* growth.c: inserts what the cells with P >= p* will flow into, and sees to the new bricks. */
int engine_grow(gbees_engine *e, double time, gbees_error *error);
/* Velocity signs and rates of used bricks [from, count); an error that names the cell if one is not finite,
 * or its difference across a cell is not. */
int engine_inspect(gbees_engine *e, uint32_t from, double time, gbees_error *error);

int engine_drift_error(const gbees_engine *e, uint32_t slot, double time, gbees_error *error);

/* coupling.c: The coupling from the drift at this time. */
int engine_couple(gbees_engine *e, double time, gbees_error *error);

/* diffusion.c: with process noise. */
/* Adds to the flow masks and rates of used bricks [from, count): a rate is infinite where Q can't be. Whether there
 * is noise. */
int engine_inspect_noise(gbees_engine *e, uint32_t from);
/* Into how many explicit steps the time step is cut, with Q as it is in its middle; 0: there is no noise. */
int engine_noise_steps(gbees_engine *e, double *steps, gbees_error *error);
/* So many; the density is counted and marked if this is the end of the time step. */
int engine_diffuse(gbees_engine *e, double steps, int settle, kernel_sums *total, gbees_error *error);

/* prune.c */
int engine_prune(gbees_engine *e, double time, gbees_error *error);
/* Marks of cells with P >= p* and of those they need; returns the number of needed ones. */
uint64_t engine_mark_needed(gbees_engine *e, uint64_t *above);

/* step.c */
/* Advances the density and the clock by one step; prunes the grid where it is due. */
int engine_step(gbees_engine *e, gbees_error *error);
/* Sum of P over all cells, or over those of used bricks k with but[k] == 0. */
int engine_sum(const gbees_engine *e, const unsigned char *but, double *sum, gbees_error *error);
/* P *= factor. */
void engine_scale(gbees_engine *e, double factor);
/* Scratch of so many bytes, until the next call; NULL: out of memory. */
void *engine_room(gbees_engine *e, size_t size);

/* sweep.c: one sweep along each axis, in place; the density is counted and marked if this ends the time step. */
int engine_sweep(gbees_engine *e, int settle, kernel_sums *total, gbees_error *error);

/* paper.c: the reference's step and prune, cell for cell. */
void paper_inspect(gbees_engine *e, uint32_t from, double time);
void paper_step(gbees_engine *e, double step, kernel_sums *sums);
int paper_keep(gbees_engine *e, unsigned char *keep, gbees_error *error);

/* budget.c: steers p* so that the mass lost in a unit of time keeps to the problem's budget. */
void budget_start(gbees_engine *e);
void budget_steer(gbees_engine *e, double time);

/* update.c, statistics.c */
int engine_update(gbees_engine *e, const gbees_clock *clock, const gbees_measurement *measurement,
                  gbees_evidence *evidence, gbees_error *error);
int engine_statistics(gbees_engine *e, gbees_statistics *statistics, gbees_error *error);
int engine_cells(gbees_engine *e, gbees_cell_visitor *visitor, void *context, gbees_error *error);

/* p*: the problem's, or as the mass budget controls it. */
static inline double engine_threshold(const gbees_engine *e)
{
    return e->budget.threshold;
}

static inline double engine_p(const gbees_engine *e, size_t at)
{
    return e->real_size == sizeof(float) ? (double)((const float *)e->p)[at] : ((const double *)e->p)[at];
}

static inline void engine_set_p(gbees_engine *e, size_t at, double value)
{
    if (e->real_size == sizeof(float))
        ((float *)e->p)[at] = (float)value;
    else
        ((double *)e->p)[at] = value;
}

/* Of a new brick. */
static inline void engine_set_inside(gbees_engine *e, uint32_t slot, uint64_t inside)
{
    if (e->inside)
        e->inside[slot] = inside;
    for (int d = 0; d < 2 * e->g.shape.n && e->barred; d++)
        e->barred[(size_t)slot * (size_t)(2 * e->g.shape.n) + (size_t)d] = 0;
}

/* The cells of a brick that probability leaves, by direction, [2n], at the last inspection: context.time is set to
 * it. In six dimensions they would be a tenth of all memory, and are the same for all cells along five of six axes.
 */
static inline void engine_flow(const gbees_engine *e, uint32_t slot, uint64_t *flow)
{
    const size_t directions = (size_t)(2 * e->g.shape.n);

    if (e->flow)
        memcpy(flow, e->flow + (size_t)slot * directions, directions * sizeof *flow);
    else
        e->kernel->find_flow(&e->context, slot, flow);
}

/* Some cells' flow out of themselves: which of them, by direction, without the directions that none goes in. */
typedef struct engine_outflow {
    uint64_t cells[2 * GBEES_MAX_DIM + 1];
    uint8_t direction[2 * GBEES_MAX_DIM + 1];
    int count;
} engine_outflow;

/* mask: [2n], by direction, the only cells that count, or NULL for all. */
static inline void engine_leaving(const gbees_engine *e, uint32_t slot, uint64_t cells, const uint64_t *mask,
                                  engine_outflow *out)
{
    const int directions = 2 * e->g.shape.n;
    uint64_t flow[2 * GBEES_MAX_DIM];

    engine_flow(e, slot, flow);
    out->count = 0;
    for (int d = 0; d < directions; d++) {
        out->cells[out->count] = cells & flow[d] & (mask ? mask[d] : ~(uint64_t)0);
        out->direction[out->count] = (uint8_t)d;
        out->count += out->cells[out->count] != 0;
    }
}

/* The centre of the brick's lowest cell. */
static inline void engine_base(const gbees_engine *e, uint32_t slot, double *base)
{
    const int32_t *key = grid_key(&e->g, slot);

    for (int k = 0; k < e->g.shape.n; k++)
        base[k] = e->problem->mean[k] + e->problem->width[k] * ((double)key[k] * e->g.shape.edge[k]);
}

/* Threads for so many bricks. */
static inline int engine_threads(const gbees_engine *e, uint32_t bricks)
{
    return team_of((uint64_t)bricks * (uint64_t)e->cells, e->threads);
}

/* The thread that runs this. */
static inline int engine_thread(void)
{
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

/* How many there are to use. */
static inline int engine_processors(void)
{
#ifdef _OPENMP
    return omp_get_num_procs();
#else
    return 1;
#endif
}

/* Bricks a chunk: of a grid that is just large enough for threads to share so few that they end together. The same
 * for every number of threads. */
static inline uint32_t engine_chunk(const gbees_engine *e)
{
    const uint32_t share = e->g.count / CHUNKS;

    if (e->cells == 1)
        return CHUNK_CELLS;
    if (share >= CHUNK_BRICKS || team_of((uint64_t)e->g.count * (uint64_t)e->cells, 2) == 1)
        return CHUNK_BRICKS;
    return share < FEW_BRICKS ? FEW_BRICKS : share;
}

/* Chunks for the bricks in use. */
static inline uint32_t engine_chunks(const gbees_engine *e)
{
    return (e->g.count + engine_chunk(e) - 1) / engine_chunk(e);
}

/* Sums of all chunks, added in their order. */
static inline void engine_add_sums(const kernel_sums *sums, uint32_t chunks, kernel_sums *total)
{
    for (uint32_t at = 0; at < chunks; at++) {
        total->mass += sums[at].mass;
        total->clipped += sums[at].clipped;
        total->outflow += sums[at].outflow;
    }
}

static inline uint32_t engine_chunk_end(const gbees_engine *e, uint32_t chunk)
{
    uint32_t end = (chunk + 1) * engine_chunk(e);

    return end < e->g.count ? end : e->g.count;
}

#endif
