/* driven.c - the functions and the text of a model some of whose parameters follow tables; see driven.h. */
#include "driven.h"
#include "base/no_memory.h"
#include "base/text.h"
#include "numerics/table_value.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A card, and what its functions need. */
typedef struct driven {
    gbees_model card;
    gbees_functions rows[GBEES_MAX_DIM], framed; /* of the card */
    const gbees_functions *own;                  /* the plugin's, for the problem's dimension */
    int count;
    const gbees_parameter_table *tables;
    char *source;
} driven;

/* ---- functions ------------------------------------------------------------------------------------------------- */

static double value_of(const gbees_parameter_table *table, double t)
{
    return gbees_table_value(table->time, table->value, table->slope, (int)table->rows, t);
}

/* Numbers of p that the plugin's functions read: the parameters, and, for points y of a framed grid, the frame. */
enum { OF_PLAIN = GBEES_MAX_PARAMETERS, OF_FRAMED = GBEES_TABLES_AT };

/* set_f(), set_d(): set own[count] to the parameters p[] at the time t, and return what stands behind them. */
#define DRIVEN_SET(real, r)                                                                                          \
    static const driven *set_##r(real t, const real *p, int count, real *own)                                        \
    {                                                                                                                \
        const driven *d;                                                                                             \
        memcpy(&d, p + GBEES_TABLES_AT, sizeof d);                                                                   \
        memcpy(own, p, (size_t)count * sizeof *own);                                                                 \
        for (int k = 0; k < d->count; k++)                                                                           \
            own[d->tables[k].parameter] = (real)value_of(&d->tables[k], (double)t);                                  \
        return d;                                                                                                    \
    }

DRIVEN_SET(float, f)
DRIVEN_SET(double, d)

/* The functions of one kind of points, x or, with `framed`, y. Function types have no member for what they close
 * over, and components none for their number: so each is a function of its own, which only a macro can give. */
#define DRIVEN_COMPONENT(kind, of, most, real, r, j)                                                                 \
    static void kind##_component_##r##j(size_t count, real t, const real *origin, const real *const *offset,         \
                                        const real *p, real *out)                                                    \
    {                                                                                                                \
        real own[GBEES_TABLES_AT];                                                                                   \
        set_##r(t, p, most, own)->of->component_##r[j](count, t, origin, offset, own, out);                          \
    }                                                                                                                \
    static void kind##_planes_##r##j(size_t planes, size_t lanes, real t, const real *origin,                        \
                                     const real *const *offset, const real *along, const real *p, real *out)         \
    {                                                                                                                \
        real own[GBEES_TABLES_AT];                                                                                   \
        set_##r(t, p, most, own)->of->planes_##r[j](planes, lanes, t, origin, offset, along, own, out);              \
    }

#define DRIVEN_DRIFT(kind, of, most, real, r)                                                                        \
    DRIVEN_COMPONENT(kind, of, most, real, r, 0)                                                                     \
    DRIVEN_COMPONENT(kind, of, most, real, r, 1)                                                                     \
    DRIVEN_COMPONENT(kind, of, most, real, r, 2)                                                                     \
    DRIVEN_COMPONENT(kind, of, most, real, r, 3)                                                                     \
    DRIVEN_COMPONENT(kind, of, most, real, r, 4)                                                                     \
    DRIVEN_COMPONENT(kind, of, most, real, r, 5)                                                                     \
    DRIVEN_COMPONENT(kind, of, most, real, r, 6)                                                                     \
    DRIVEN_COMPONENT(kind, of, most, real, r, 7)                                                                     \
    static void kind##_drift_##r(size_t count, real t, const real *origin, const real *const *offset, const real *p, \
                                 real *const *out)                                                                   \
    {                                                                                                                \
        real own[GBEES_TABLES_AT];                                                                                   \
        set_##r(t, p, most, own)->of->drift_##r(count, t, origin, offset, own, out);                                 \
    }

#define DRIVEN_FUNCTIONS(kind, of, most)                                                                             \
    DRIVEN_DRIFT(kind, of, most, float, f)                                                                           \
    DRIVEN_DRIFT(kind, of, most, double, d)                                                                          \
    static void kind##_diffusion_d(size_t count, double t, const double *origin, const double *const *offset,        \
                                   const double *p, double *const *out)                                              \
    {                                                                                                                \
        double own[GBEES_TABLES_AT];                                                                                 \
        set_d(t, p, most, own)->of->diffusion_d(count, t, origin, offset, own, out);                                 \
    }                                                                                                                \
    static void kind##_measure_d(int which, size_t count, double t, const double *origin,                            \
                                 const double *const *offset, const double *p, double *const *out)                   \
    {                                                                                                                \
        double own[GBEES_TABLES_AT];                                                                                 \
        set_d(t, p, most, own)->of->measure_d(which, count, t, origin, offset, own, out);                            \
    }                                                                                                                \
    static void kind##_bound_d(size_t count, double t, const double *origin, const double *const *offset,            \
                               const double *p, double *out)                                                         \
    {                                                                                                                \
        double own[GBEES_TABLES_AT];                                                                                 \
        set_d(t, p, most, own)->of->bound_d(count, t, origin, offset, own, out);                                     \
    }                                                                                                                \
    static void kind##_log_likelihood_d(int which, size_t count, double t, const double *origin,                     \
                                        const double *const *offset, const double *p, const double *y, double *out)  \
    {                                                                                                                \
        double own[GBEES_TABLES_AT];                                                                                 \
        set_d(t, p, most, own)->of->log_likelihood_d(which, count, t, origin, offset, own, y, out);                  \
    }                                                                                                                \
    static const gbees_functions kind##_functions = {                                                                \
        .component_f = {kind##_component_f0, kind##_component_f1, kind##_component_f2, kind##_component_f3,          \
                        kind##_component_f4, kind##_component_f5, kind##_component_f6, kind##_component_f7},         \
        .component_d = {kind##_component_d0, kind##_component_d1, kind##_component_d2, kind##_component_d3,          \
                        kind##_component_d4, kind##_component_d5, kind##_component_d6, kind##_component_d7},         \
        .planes_f = {kind##_planes_f0, kind##_planes_f1, kind##_planes_f2, kind##_planes_f3, kind##_planes_f4,       \
                     kind##_planes_f5, kind##_planes_f6, kind##_planes_f7},                                          \
        .planes_d = {kind##_planes_d0, kind##_planes_d1, kind##_planes_d2, kind##_planes_d3, kind##_planes_d4,       \
                     kind##_planes_d5, kind##_planes_d6, kind##_planes_d7},                                          \
        .drift_f = kind##_drift_f,                                                                                   \
        .drift_d = kind##_drift_d,                                                                                   \
        .diffusion_d = kind##_diffusion_d,                                                                           \
        .measure_d = kind##_measure_d,                                                                               \
        .bound_d = kind##_bound_d,                                                                                   \
        .log_likelihood_d = kind##_log_likelihood_d,                                                                 \
    };

DRIVEN_FUNCTIONS(plain, own, OF_PLAIN)
DRIVEN_FUNCTIONS(framed, own->framed, OF_FRAMED)

static void driven_jump(int which, size_t count, double t, const double *origin, const double *const *offset,
                        const double *p, const double *value, double *const *out)
{
    double own[GBEES_TABLES_AT];

    set_d(t, p, OF_PLAIN, own)->own->jump_d(which, count, t, origin, offset, own, value, out);
}

static void driven_target(int which, size_t count, double t, const double *origin, const double *const *offset,
                          const double *p, double *out)
{
    double own[GBEES_TABLES_AT];

    set_d(t, p, OF_PLAIN, own)->own->target_d(which, count, t, origin, offset, own, out);
}

static void driven_times(size_t count, const double *t, const double *origin, const double *const *offset,
                         const double *p, double *const *out)
{
    const double *here[GBEES_MAX_DIM] = {NULL};
    double own[GBEES_TABLES_AT], *to[GBEES_MAX_DIM] = {NULL};

    for (size_t i = 0; i < count; i++) {
        const driven *d = set_d(t[i], p, OF_PLAIN, own);

        for (int j = 0; j < d->own->n; j++) {
            here[j] = offset[j] + i;
            to[j] = out[j] + i;
        }
        d->own->drift_times_d(1, t + i, origin, here, own, to);
    }
}

/* Sets *row to the functions of `by`, without those that the plugin's lack. */
static void fill(const gbees_functions *own, const gbees_functions *by, gbees_functions *row)
{
    *row = *by;
    row->n = own->n;
    for (int j = 0; j < GBEES_MAX_DIM; j++) {
        row->component_f[j] = own->component_f[j] ? by->component_f[j] : NULL;
        row->component_d[j] = own->component_d[j] ? by->component_d[j] : NULL;
        row->planes_f[j] = own->planes_f[j] ? by->planes_f[j] : NULL;
        row->planes_d[j] = own->planes_d[j] ? by->planes_d[j] : NULL;
    }
    row->drift_f = own->drift_f ? by->drift_f : NULL;
    row->drift_d = own->drift_d ? by->drift_d : NULL;
    row->diffusion_d = own->diffusion_d ? by->diffusion_d : NULL;
    row->measure_d = own->measure_d ? by->measure_d : NULL;
    row->bound_d = own->bound_d ? by->bound_d : NULL;
    row->log_likelihood_d = own->log_likelihood_d ? by->log_likelihood_d : NULL;
    row->drift_times_d = own->drift_times_d ? driven_times : NULL;
    row->jump_d = own->jump_d ? driven_jump : NULL;
    row->target_d = own->target_d ? driven_target : NULL;
}

/* ---- text ------------------------------------------------------------------------------------------------------ */

static void add_numbers(gbees_text *text, int table, const char *name, const double *number, size_t count)
{
    gbees_text_add(text, "static __device__ const double gbees_table_%s_%d[%zu] = {", name, table, count);
    for (size_t i = 0; i < count; i++)
        gbees_text_add(text, "%s%.17g", i ? (i % 8 ? ", " : ",\n") : "", number[i]);
    gbees_text_add(text, "};\n");
}

/* The model's text, and behind it the tables, with what sets the parameters of a point to theirs. NULL: no memory. */
static char *text_of(const driven *d)
{
    gbees_text text = {0};

    gbees_text_add(&text, "%.*s\n#ifndef GBEES_TABLES\n#define GBEES_TABLES %d\n",
                   (int)(d->card.source_end - d->card.source), d->card.source, d->count);
    for (int k = 0; k < d->count; k++) {
        add_numbers(&text, k, "time", d->tables[k].time, d->tables[k].rows);
        add_numbers(&text, k, "value", d->tables[k].value, d->tables[k].rows);
        if (d->tables[k].slope)
            add_numbers(&text, k, "slope", d->tables[k].slope, d->tables[k].rows);
    }
    gbees_text_add(&text,
                   "template <typename T> static __device__ __forceinline__ void gbees_tables_set(T t, T *p)\n{\n");
    for (int k = 0; k < d->count; k++) {
        char slope[40] = "nullptr";

        if (d->tables[k].slope)
            (void)snprintf(slope, sizeof slope, "gbees_table_slope_%d", k);
        gbees_text_add(&text,
                       "p[%d] = (T)gbees_table_value(gbees_table_time_%d, gbees_table_value_%d, %s, %zu, t);\n",
                       d->tables[k].parameter, k, k, slope, d->tables[k].rows);
    }
    gbees_text_add(&text, "}\n#endif\n");
    return gbees_text_take(&text);
}

/* ---- the card -------------------------------------------------------------------------------------------------- */

int gbees_driven_create(gbees_problem *problem, gbees_error *error)
{
    driven *d = calloc(1, sizeof *d);

    if (!d)
        return gbees_no_memory(error, "for tables");
    d->card = *problem->model;
    d->own = problem->functions;
    d->count = problem->table_count;
    d->tables = problem->tables;
    d->source = text_of(d);
    if (!d->source) {
        free(d);
        return gbees_no_memory(error, "for tables");
    }
    for (int i = 0; i < d->card.function_count && i < GBEES_MAX_DIM; i++) {
        d->rows[i] = d->card.functions[i];
        if (&d->card.functions[i] != d->own)
            continue;
        fill(d->own, &plain_functions, &d->rows[i]);
        if (d->own->framed) {
            fill(d->own->framed, &framed_functions, &d->framed);
            d->rows[i].framed = &d->framed;
        }
        problem->functions = &d->rows[i];
    }
    d->card.functions = d->rows;
    d->card.flags |= GBEES_TIME_DEPENDENT;
    d->card.source = d->source;
    d->card.source_end = d->source + strlen(d->source);
    problem->model = &d->card;
    memcpy(problem->parameters + GBEES_TABLES_AT, &d, sizeof d);
    return GBEES_OK;
}

void gbees_driven_destroy(gbees_problem *problem)
{
    driven *d = NULL;

    memcpy(&d, problem->parameters + GBEES_TABLES_AT, sizeof d);
    if (d) {
        free(d->source);
        free(d);
    }
    for (int k = 0; k < problem->table_count; k++)
        free((void *)problem->tables[k].time);
    free((void *)problem->tables);
}
