/* watched.c - functions of a model, and of a GPU's backend, that note when they are called and when they return; see
 * watch.h. A batched function knows nothing but its arguments: so the functions that are called in their place stand
 * in this file, and each needs a function here of its own. */
#include "watch.h"

enum { N = GBEES_MAX_DIM };

/* ---- models ---- */

/* The functions of the problem that is watched, and those for framed grids; copies, as is the model. */
static gbees_functions functions, framed;

#define POINTS(real) size_t count, real t, const real *origin, const real *const *offset, const real *p

/* The functions of one component j in a table. */
#define COMPONENT(of, j)                                                                                             \
    static void of##_component_f_##j(POINTS(float), float *out)                                                      \
    {                                                                                                                \
        const unsigned before = gbees_watch_enter();                                                                 \
        of.component_f[j](count, t, origin, offset, p, out);                                                         \
        gbees_watch_leave(before);                                                                                   \
    }                                                                                                                \
    static void of##_component_d_##j(POINTS(double), double *out)                                                    \
    {                                                                                                                \
        const unsigned before = gbees_watch_enter();                                                                 \
        of.component_d[j](count, t, origin, offset, p, out);                                                         \
        gbees_watch_leave(before);                                                                                   \
    }

/* The functions of all components in a table. */
#define VECTORS(of)                                                                                                  \
    static void of##_drift_f(POINTS(float), float *const *out)                                                       \
    {                                                                                                                \
        const unsigned before = gbees_watch_enter();                                                                 \
        of.drift_f(count, t, origin, offset, p, out);                                                                \
        gbees_watch_leave(before);                                                                                   \
    }                                                                                                                \
    static void of##_drift_d(POINTS(double), double *const *out)                                                     \
    {                                                                                                                \
        const unsigned before = gbees_watch_enter();                                                                 \
        of.drift_d(count, t, origin, offset, p, out);                                                                \
        gbees_watch_leave(before);                                                                                   \
    }                                                                                                                \
    static void of##_measure_d(int which, POINTS(double), double *const *out)                                        \
    {                                                                                                                \
        const unsigned before = gbees_watch_enter();                                                                 \
        of.measure_d(which, count, t, origin, offset, p, out);                                                       \
        gbees_watch_leave(before);                                                                                   \
    }                                                                                                                \
    static void of##_bound_d(POINTS(double), double *out)                                                            \
    {                                                                                                                \
        const unsigned before = gbees_watch_enter();                                                                 \
        of.bound_d(count, t, origin, offset, p, out);                                                                \
        gbees_watch_leave(before);                                                                                   \
    }                                                                                                                \
    static void of##_log_likelihood_d(int which, POINTS(double), const double *y, double *out)                       \
    {                                                                                                                \
        const unsigned before = gbees_watch_enter();                                                                 \
        of.log_likelihood_d(which, count, t, origin, offset, p, y, out);                                             \
        gbees_watch_leave(before);                                                                                   \
    }                                                                                                                \
    static void of##_diffusion_d(POINTS(double), double *const *out)                                                 \
    {                                                                                                                \
        const unsigned before = gbees_watch_enter();                                                                 \
        of.diffusion_d(count, t, origin, offset, p, out);                                                            \
        gbees_watch_leave(before);                                                                                   \
    }

#define EACH(M, of) M(of, 0) M(of, 1) M(of, 2) M(of, 3) M(of, 4) M(of, 5) M(of, 6) M(of, 7)
#define ENTRIES(of, name)                                                                                            \
    of##_##name##_0, of##_##name##_1, of##_##name##_2, of##_##name##_3, of##_##name##_4, of##_##name##_5,            \
        of##_##name##_6, of##_##name##_7
#define TABLE(of)                                                                                                    \
    {                                                                                                                \
        .component_f = {ENTRIES(of, component_f)}, .component_d = {ENTRIES(of, component_d)},                        \
        .drift_f = of##_drift_f, .drift_d = of##_drift_d, .measure_d = of##_measure_d, .bound_d = of##_bound_d,      \
        .log_likelihood_d = of##_log_likelihood_d, .diffusion_d = of##_diffusion_d                                   \
    }

EACH(COMPONENT, functions)
EACH(COMPONENT, framed)
VECTORS(functions)
VECTORS(framed)

static const gbees_functions watched_functions = TABLE(functions), watched_framed = TABLE(framed);

/* A backend notes batches of calls to functions of planes. */
static void begin_batch(void)
{
    (void)gbees_watch_enter();
}

static void end_batch(void)
{
    gbees_watch_leave(0);
}

static const gbees_batch_callbacks batches = {begin_batch, end_batch};

/* The functions of `all` that stand for one of `own`, and the functions of planes of `own`. */
static gbees_functions keep_those_of(const gbees_functions *all, const gbees_functions *own)
{
    gbees_functions chosen = *own;

    for (int j = 0; j < N; j++) {
        chosen.component_f[j] = own->component_f[j] ? all->component_f[j] : NULL;
        chosen.component_d[j] = own->component_d[j] ? all->component_d[j] : NULL;
    }
    chosen.drift_f = own->drift_f ? all->drift_f : NULL;
    chosen.drift_d = own->drift_d ? all->drift_d : NULL;
    chosen.measure_d = own->measure_d ? all->measure_d : NULL;
    chosen.bound_d = own->bound_d ? all->bound_d : NULL;
    chosen.log_likelihood_d = own->log_likelihood_d ? all->log_likelihood_d : NULL;
    chosen.diffusion_d = own->diffusion_d ? all->diffusion_d : NULL;
    return chosen;
}

void gbees_watch_problem(gbees_problem *problem)
{
    static gbees_functions of_dimension[N], of_frame;
    static gbees_model model;
    const int which = problem->dimension - problem->model->dim_min;

    if (!gbees_watch_is_on())
        return;
    model = *problem->model;
    for (int k = 0; k < model.function_count && k < N; k++)
        of_dimension[k] = model.functions[k];
    functions = of_dimension[which];
    if (functions.framed) {
        framed = *functions.framed;
        of_frame = keep_those_of(&watched_framed, &framed);
    }
    of_dimension[which] = keep_those_of(&watched_functions, &functions);
    if (functions.framed)
        of_dimension[which].framed = &of_frame;
    problem->functions = problem->functions == functions.framed ? &of_frame : &of_dimension[which];
    model.functions = of_dimension;
    problem->model = &model;
    problem->batches = &batches;
}

/* ---- GPUs ---- */

/* The backend that is watched; a copy. */
static gbees_backend backend;

static int advance(gbees_engine *engine, gbees_clock *clock, uint64_t max_steps, gbees_error *error)
{
    const unsigned before = gbees_watch_enter();
    const int status = backend.advance(engine, clock, max_steps, error);
    gbees_watch_leave(before);
    return status;
}

static int update(gbees_engine *engine, const gbees_clock *clock, const gbees_measurement *measurement,
                  gbees_evidence *evidence, gbees_error *error)
{
    const unsigned before = gbees_watch_enter();
    const int status = backend.update(engine, clock, measurement, evidence, error);
    gbees_watch_leave(before);
    return status;
}

static int statistics(gbees_engine *engine, const gbees_clock *clock, gbees_statistics *sums, gbees_error *error)
{
    const unsigned before = gbees_watch_enter();
    const int status = backend.statistics(engine, clock, sums, error);
    gbees_watch_leave(before);
    return status;
}

static int frame_set(gbees_engine *engine, const gbees_grid_frame *frame, double time, double *rate,
                     gbees_error *error)
{
    const unsigned before = gbees_watch_enter();
    const int status = backend.frame_set(engine, frame, time, rate, error);
    gbees_watch_leave(before);
    return status;
}

static int frame_fit(gbees_engine *engine, double time, gbees_affine_sums *sums, gbees_error *error)
{
    const unsigned before = gbees_watch_enter();
    const int status = backend.frame_fit(engine, time, sums, error);
    gbees_watch_leave(before);
    return status;
}

const gbees_backend *gbees_watch_backend(const gbees_backend *own)
{
    static gbees_backend watched;

    if (!gbees_watch_is_on() || !own->capture)
        return own;
    watched = backend = *own;
    watched.advance = advance;
    watched.update = update;
    watched.statistics = statistics;
    watched.frame_set = backend.frame_set ? frame_set : NULL;
    watched.frame_fit = backend.frame_fit ? frame_fit : NULL;
    return &watched;
}
