/* gbees/backend.h - the contract between the solver and a backend: for authors of backends.
 *
 * A backend is a module that holds the grid and the density in some memory and advances them on some processor.
 * It exports one const struct, gbees_backend_card.  The solver drives it; it knows nothing of files, legs or records.
 *
 * Probability is kept un-normalised between updates: the sum over all cells starts at 1 and drifts with clipping,
 * outflow and pruning, and every comparison with p* is made against p* times that sum.  Numbers handed out
 * (statistics, cells) are normalised to 1.  (In paper and legacy mode the density is normalised at each step.)
 * Whatever changes the sum is an entry of the ledger (gbees_totals).
 */
#ifndef GBEES_BACKEND_H
#define GBEES_BACKEND_H

#include <gbees/error.h>
#include <gbees/problem.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GBEES_BACKEND_ABI = 4 };

typedef struct gbees_engine gbees_engine;   /* a backend's own state */
typedef struct gbees_capture gbees_capture; /* and its copy of cells that have changed since */

typedef struct gbees_engine_options {
    int threads;       /* 0: as many as the machine has */
    int deterministic; /* 1: the same bits from every backend, where the model's operations round the same everywhere
                        * (+ - * / sqrt), up to the first update */
} gbees_engine_options;

/* Where the run stands; owned by the solver, advanced by the backend.  An interval is the time between two records:
 * `elapsed` counts from 0 to exactly `length`. */
typedef struct gbees_clock {
    double time;
    double elapsed, length;
    uint64_t leg_step; /* steps done in this leg: prunes are counted from its start */
} gbees_clock;

/* What is no error, but what the user must know: one bit each.  A backend sets those of the budget that it can see;
 * the others follow from the problem and the ledger, and their texts are made elsewhere (gbees_warnings in gbees.h).
 */
typedef enum gbees_warning {
    GBEES_WARNING_BOX = 1,           /* the initial box cuts off more than 1.5 % of its Gaussian */
    GBEES_WARNING_WIDTH = 2,         /* cells wider than 1.5 standard deviations */
    GBEES_WARNING_MASS_LOST = 4,     /* more than a tenth of the mass has been lost since the start */
    GBEES_WARNING_BUDGET_MEMORY = 8, /* backend: memory did not allow the p* that the mass budget asked for */
    GBEES_WARNING_BUDGET_FLOOR = 16, /* backend: p* was lowered in vain, the budget is exceeded all the same */
    GBEES_WARNING_BUDGET_SPENT = 32  /* more than 1.6 times the whole run's budget has been lost */
} gbees_warning;
enum { GBEES_WARNING_COUNT = 6 };

/* Running totals since gbees_backend.create().  The ledger: at any time, and over any number of updates,
 *
 *     sum of P = 1 + mass_clipped + mass_normalised - mass_outflow - mass_pruned
 */
typedef struct gbees_totals {
    uint64_t steps;
    double cell_updates;     /* needed cells (see gbees_statistics.cells), summed over steps */
    double raw_cell_updates; /* all cells of resident bricks, summed over steps */
    uint64_t max_cells;      /* largest number of needed cells seen at a count */
    uint64_t peak_bytes;     /* largest memory held */
    double mass_clipped;     /* gained by setting negative cells to 0 */
    double mass_outflow;     /* lost through faces with no neighbour */
    double mass_pruned;      /* lost by pruning, an update's too */
    double mass_normalised;  /* put back (or taken away) by normalising: at updates; in paper mode at steps, too */
    double time_step;        /* of the last step, 0 before the first */
    double threshold;        /* p* now */
    double coupling;   /* split schemes: the drift's Jacobian off the diagonal, in cells (doc/method.md); else 0 */
    unsigned warnings; /* GBEES_WARNING_BUDGET_MEMORY, _BUDGET_FLOOR, once seen */
    int threads;       /* in use */
} gbees_totals;

/* The density now.  Sums run over all resident cells; positions are cell centres. */
typedef struct gbees_statistics {
    uint64_t cells;       /* needed: P >= p* and their downwind neighbours, among the resident ones */
    uint64_t cells_above; /* P >= p* */
    uint64_t cells_raw;   /* resident */
    double mass;          /* sum of P before normalisation: 1 at the start; after an update 1 less what it pruned */
    double mean[GBEES_MAX_DIM];
    double covariance[GBEES_MAX_DIM * GBEES_MAX_DIM];
    double entropy;                    /* -sum P log(P / volume of a cell), nats */
    double peak;                       /* the largest P, normalised ... */
    int32_t peak_index[GBEES_MAX_DIM]; /* ... and its cell */
} gbees_statistics;

typedef struct gbees_evidence {
    double log_evidence;       /* log of the integral of likelihood times prior: log C of the paper's Eq. (4) */
    double log_likelihood_max; /* over the cells, relative to the likelihood's own peak: 0 is a perfect match; of a
                                * model's own likelihood as it is */
} gbees_evidence;

/* Sums of P (normalised) over all axes but one or two, of the cells that cells() visits: dense over the range of
 * their indices.  All of it is one piece of malloc()ed memory. */
typedef struct gbees_marginals {
    int32_t first[GBEES_MAX_DIM]; /* index of the first entry along each axis */
    uint64_t length[GBEES_MAX_DIM];
    const double *line[GBEES_MAX_DIM];                 /* [j] */
    const double *plane[GBEES_MAX_DIM][GBEES_MAX_DIM]; /* [j][k], j < k, row-major; NULL: it was too large */
} gbees_marginals;

/* Takes `count` cells: index[j][i] is the index of cell i along axis j, p[i] its probability (normalised).
 * Returns 0 to go on, anything else to stop. */
typedef int gbees_cell_visitor(void *context, size_t count, const int32_t *const *index, const double *p);

/* Takes one line of text, without its end. */
typedef void gbees_line_sink(void *context, const char *line);

typedef struct gbees_backend {
    unsigned abi;  /* GBEES_BACKEND_ABI: checked before any other field is read */
    unsigned size; /* sizeof(gbees_backend) */
    const char *name;
    const char *title; /* one line */

    /* 0 if the backend can be used here: `text` says with what, in a word or two, or is empty; else it says why not,
     * in one sentence. */
    int (*probe)(char *text, size_t size);

    /* Compiles what a run of this problem would compile when it starts, for a processor of the architecture `arch`
     * (NULL: the one that is here), and hands what there is to say of it to `sink`, line by line. Needs no such
     * processor. NULL: this backend compiles nothing at run time. */
    int (*compile)(const gbees_problem *problem, const char *arch, gbees_line_sink *sink, void *context,
                   gbees_error *error);

    /* An upper bound of the bytes that the initial density takes. */
    double (*estimate)(const gbees_problem *problem);

    /* Makes an engine that holds the problem's initial density, normalised. The problem must outlive it. */
    int (*create)(const gbees_problem *problem, const gbees_engine_options *options, gbees_engine **engine,
                  gbees_error *error);
    void (*destroy)(gbees_engine *engine);

    /* At most max_steps steps, ending at the latest where clock->elapsed == clock->length. */
    int (*advance)(gbees_engine *engine, gbees_clock *clock, uint64_t max_steps, gbees_error *error);

    /* Bayes' rule with one measurement, then a prune. GBEES_EUNSUPPORTED if no cell supports it: the density is
     * then as it was before. */
    int (*update)(gbees_engine *engine, const gbees_clock *clock, const gbees_measurement *measurement,
                  gbees_evidence *evidence, gbees_error *error);

    int (*statistics)(gbees_engine *engine, const gbees_clock *clock, gbees_statistics *statistics,
                      gbees_error *error);

    /* Visits the cells with P >= p*, in an order that depends only on the density. */
    int (*cells)(gbees_engine *engine, gbees_cell_visitor *visitor, void *context, gbees_error *error);

    void (*totals)(const gbees_engine *engine, gbees_totals *totals);

    /* Puts aside the cells that cells() would visit now: capture_cells() visits them, once, from any thread and while
     * the engine goes on, and capture_free() gives them back before the engine is destroyed. *capture is set to NULL
     * where there is no room for them. All three are NULL in a backend that has no such thing. */
    int (*capture)(gbees_engine *engine, gbees_capture **capture, gbees_error *error);
    int (*capture_cells)(gbees_capture *capture, gbees_cell_visitor *visitor, void *context, gbees_error *error);
    void (*capture_free)(gbees_capture *capture);

    /* The marginals of the cells that cells() would visit now; planes of more than `most` entries are left out.
     * *marginals is set to NULL where there is no room for them. NULL: they are made of the cells, by whoever wants
     * them. */
    int (*marginals)(gbees_engine *engine, uint64_t most, gbees_marginals **marginals, gbees_error *error);
} gbees_backend;

#if defined(__GNUC__)
#define GBEES_BACKEND_EXPORT __attribute__((visibility("default")))
#else
#define GBEES_BACKEND_EXPORT
#endif

#ifdef __cplusplus
}
#endif
#endif
