/* trajectories.c - chooses what a call's points have in common - a first step, and whether the drift's divergence is
 * the same everywhere - and who integrates them: this process's threads, or the backend's processor. */
#include "trajectories.h"
#include "base/array.h"
#include "base/pool.h"
#include "base/rough_times.h"
#include "base/workers.h"
#include "divergence.h"
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    PART = 512, /* points that a thread takes at a time */
    MOST_STEPS = 2048,
    OFTEN = 32,        /* of a point: that many, and times that of the first step's length */
    OFFLOADED = 16384, /* points that are worth to be moved to a backend's processor at each measurement */
    LOOP_NS = 20000,   /* the least work of a loop that threads share */
    SLICE = 65536      /* points after which it is asked whether the backend is ready */
};

#define STRETCH_ALLOWED 1e-8  /* the largest error of a step's stretch */
#define LEAST_NANOSECONDS 2e6 /* of work of all threads, below which it does not pay to move the points; */
#define LEAST_OF_POINT 20     /* and of them for each point, which takes as long to be moved there and back, */
#define LEAST_OF_PLACE 4      /* or for each of several places, which are fetched together; */
#define LEAST_OF_STEP 20000   /* and for a step of all points, as long as one takes there however few they are */
#define STAGES 12             /* evaluations of the drift in a step */

struct gbees_trajectories {
    const gbees_problem *problem;
    const gbees_backend *lender;  /* NULL: without an integrator */
    gbees_integrator *integrator; /* NULL: there is none */
    gbees_pool *pool;             /* NULL: not needed yet */
    int threads;
    gbees_rough_times rows; /* of tables and of targets, between which these change by much: steps end there */
    _Atomic uint64_t evaluations, ways; /* of the drift; calls, times their points */
};

/* A drift that depends on the time is looked at so many times on the way, at a few points, and the way is divided
 * into as many parts as show its pulses: a long step that suits the rest might pass over them. In a part no drift is
 * off the straight lines between some times by more than a part of itself, or of what moves a point by a scale. */
enum { TIMES = 2048, LOOKED_AT = 4, PARTS_MOST = 64, LINES = 8 };
static const double most_off = 0.25, most_moved = 1e-3;

/* One call of gbees_trajectories_run(). */
typedef struct call {
    gbees_journey journey;
    double tolerance;
    int alone;           /* 1: the calling thread takes them */
    size_t first, count; /* the points that are taken now */
    double *const *x;
    double *stretch;       /* NULL, or where the stretch is integrated to */
    double *const *lowest; /* of gbees_travel */
    _Atomic uint64_t evaluations;
} call;

int gbees_trajectories_create(const gbees_problem *problem, const gbees_backend *lender, int threads,
                              gbees_trajectories **made, gbees_error *error)
{
    gbees_trajectories *t = calloc(1, sizeof *t);
    gbees_error ignored; /* threads do what a backend can't */

    if (!t)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to integrate points");
    *t = (gbees_trajectories){.problem = problem,
                              .lender = lender && lender->integrator_create ? lender : NULL,
                              .threads = gbees_workers_threads(threads)};
    if (t->lender && t->lender->integrator_create(problem, 1, &t->integrator, &ignored))
        t->integrator = NULL;
    const int status = gbees_rough_times_of_targets(problem, &t->rows, error);
    if (status)
        gbees_trajectories_destroy(t);
    else
        *made = t;
    return status;
}

void gbees_trajectories_destroy(gbees_trajectories *t)
{
    if (t && t->integrator)
        t->lender->integrator_destroy(t->integrator);
    if (t)
        gbees_pool_close(t->pool);
    if (t)
        gbees_rough_times_clear(&t->rows);
    free(t);
}

double gbees_trajectories_evaluations(const gbees_trajectories *t)
{
    return (double)t->evaluations;
}

/* ---- pulses -----------------------------------------------------------------------------------------------------
 */

/* The drift at some points over the way. */
typedef struct course {
    const gbees_journey *journey;
    size_t values;              /* states times points */
    double (*at)[TIMES + 1];    /* at[value][time] */
    double end[PARTS_MOST + 1]; /* of the parts */
    int parts;
} course;

/* Whether steps can be trusted to see how one value changes between two times. */
static int is_resolved(const course *c, size_t value, int from, int to)
{
    const int stride = to - from >= 2 * LINES ? (to - from) / LINES : (to - from) / 2;
    const double time = (c->journey->to - c->journey->from) / TIMES * (to - from),
                 scale = c->journey->scale[value % (size_t)c->journey->problem->dimension];
    const double *f = c->at[value];
    double most = 0, off = 0;

    for (int k = from; k <= to; k++) {
        const int low = from + (k - from) / stride * stride, high = low + stride < to ? low + stride : to;
        const double part = high > low ? (double)(k - low) / (high - low) : 0;

        const double here = fabs(f[k]), from_line = fabs(f[k] - (1 - part) * f[low] - part * f[high]);

        most = here > most ? here : most; /* fmax() would be a call */
        off = from_line > off ? from_line : off;
    }
    return !(off > most_off * most && off * fabs(time) > most_moved * scale);
}

static void divide_way(course *c, int from, int to)
{
    const gbees_journey *w = c->journey;
    int is_whole = 1;

    for (size_t value = 0; value < c->values && to - from > 2 && c->parts < PARTS_MOST && is_whole; value++)
        is_whole = is_resolved(c, value, from, to);
    if (is_whole) {
        c->end[c->parts] = to == TIMES ? w->to : w->from + (w->to - w->from) * to / TIMES;
        c->parts += c->parts < PARTS_MOST || to == TIMES;
        return;
    }
    divide_way(c, from, (from + to) / 2);
    divide_way(c, (from + to) / 2, to);
}

/* Divides a way into parts. Without memory it has one. */
static void find_parts(gbees_trajectories *t, size_t count, double *const *x, course *c)
{
    static const double none[TIMES + 1];
    const gbees_journey *w = c->journey;
    const size_t n = (size_t)w->problem->dimension;
    double time[TIMES + 1], here[GBEES_MAX_DIM], *out[GBEES_MAX_DIM];
    const double *beside[GBEES_MAX_DIM];
    gbees_probes p;

    gbees_probes_choose(w->problem->dimension, count, x, &p);
    p.count = p.count < LOOKED_AT ? p.count : LOOKED_AT;
    c->values = n * p.count;
    c->at = gbees_array_create(c->values, sizeof *c->at);
    for (int k = 0; k <= TIMES; k++)
        time[k] = w->from + (w->to - w->from) * k / TIMES;
    for (size_t i = 0; i < p.count && c->at; i++) {
        for (size_t j = 0; j < n; j++) {
            here[j] = p.x[j][i];
            beside[j] = none;
            out[j] = c->at[i * n + j];
        }
        w->functions->drift_times_d(TIMES + 1, time, here, beside, w->problem->parameters, out);
    }
    t->evaluations += p.count * TIMES;
    if (!c->at)
        c->values = 0;
    divide_way(c, 0, TIMES);
    free(c->at);
}

void gbees_trajectories_share(gbees_trajectories *t, double nanoseconds, size_t count,
                              void (*work)(void *context, size_t item), void *context)
{
    const int pays = t->threads > 1 && nanoseconds > LOOP_NS;

    if (pays && !t->pool)
        t->pool = gbees_pool_open(t->threads);
    gbees_pool_run(pays ? t->pool : NULL, count, work, context);
}

/* ---- who takes them ---------------------------------------------------------------------------------------------
 */

static void take_part(void *context, size_t part)
{
    call *c = context;
    const size_t first = c->first + part * PART, end = c->first + c->count,
                 count = end - first < PART ? end - first : PART;

    atomic_fetch_add(&c->evaluations, gbees_batch_run(&c->journey, first, count, c->x, c->stretch, c->lowest));
}

static gbees_integration_stop stop_of(const gbees_journey *w)
{
    gbees_integration_stop stop = {.time = w->to, .time_step = w->first, .steps = (uint64_t)w->most};

    memcpy(stop.scale, w->scale, sizeof stop.scale);
    return stop;
}

/* Has the backend take points from stop to stop, if it is ready. */
static int lend(gbees_trajectories *t, const gbees_integration *integration, int *done, gbees_error *error)
{
    gbees_integration all = *integration;
    double evaluations = 0;

    all.evaluations = &evaluations;
    const int status = t->lender->integrator_run(t->integrator, &all, done, error);
    t->evaluations += (uint64_t)evaluations;
    return status;
}

/* Has the backend take the points c->first ... c->first + c->count - 1, if that is work enough and it is ready. */
static int offload(gbees_trajectories *t, call *c, double nanoseconds, int *done, gbees_error *error)
{
    const gbees_journey *w = &c->journey;
    const gbees_integration_stop stop = stop_of(w);
    const double *part[GBEES_MAX_DIM], *places = NULL;

    *done = 0;
    if (!t->integrator || c->alone || c->lowest || w->stretches || nanoseconds / t->threads < LEAST_NANOSECONDS ||
        nanoseconds / t->threads < LEAST_OF_POINT * (double)c->count)
        return GBEES_OK;
    for (int j = 0; j < t->problem->dimension; j++)
        part[j] = c->x[j] + c->first;
    const gbees_integration integration = {.count = c->count,
                                           .from = part,
                                           .time = w->from,
                                           .tolerance = c->tolerance,
                                           .stop_count = 1,
                                           .stop = &stop,
                                           .places = &places};
    const int status = lend(t, &integration, done, error);
    for (int j = 0; j < t->problem->dimension && !status && *done; j++)
        memcpy(c->x[j] + c->first, places + (size_t)j * c->count, c->count * sizeof *places);
    return status;
}

/* Takes all points; while the backend is not ready this process's threads take a slice of them. */
static int take_all(gbees_trajectories *t, size_t count, call *c, gbees_error *error)
{
    const gbees_journey *w = &c->journey;
    const double steps =
                     1 + fabs(w->to - w->from) / w->first, /* by a point; each some nanoseconds a state and stage */
        nanoseconds = steps * STAGES * (w->problem->dimension + 1);
    int status = GBEES_OK, done = 0;

    while (c->first < count && !status && !done) {
        c->count = count - c->first;
        status = offload(t, c, nanoseconds * (double)c->count, &done, error);
        if (status || done)
            continue;
        if (t->integrator && !c->alone && !c->lowest && c->count > SLICE)
            c->count = SLICE;
        gbees_trajectories_share(t, c->alone ? 0 : nanoseconds * (double)c->count, (c->count + PART - 1) / PART,
                                 take_part, c);
        c->first += c->count;
    }
    return status;
}

static int begin(const gbees_trajectories *t, const gbees_travel *travel, gbees_journey *w, gbees_error *error)
{
    const int n = t->problem->dimension;

    *w = (gbees_journey){.problem = t->problem,
                         .functions = gbees_problem_own_functions(t->problem),
                         .from = travel->from,
                         .to = travel->to};
    for (int j = 0; j < n; j++) {
        const double scale = travel->scale[j];

        if (!(scale > 0 && isfinite(scale)))
            return gbees_error_set(error, GBEES_ENUMERIC, "the unit of errors along axis %d is %g, not above 0",
                                   j + 1, scale);
        w->scale[j] = scale;
        w->allowed[j] = travel->tolerance * scale;
    }
    w->allowed[n] = STRETCH_ALLOWED;
    return GBEES_OK;
}

int gbees_trajectories_offloads(const gbees_trajectories *t, size_t count)
{
    const double ways = (double)t->ways, of_point = (double)t->evaluations * (t->problem->dimension + 1) / t->threads;

    return t->integrator && count >= OFFLOADED && of_point >= LEAST_OF_POINT * ways;
}

/* Finds the length of a first step, and whether the divergence is constant. */
static void make_plan(size_t count, double *const *x, int stretches, gbees_journey *journey, gbees_travel_plan *plan,
                      uint64_t *evaluations)
{
    gbees_probes p;

    gbees_probes_choose(journey->problem->dimension, count, x, &p);
    journey->first = plan->first = gbees_batch_first_step(journey, p.count, p.column, evaluations);
    journey->most = floor(MOST_STEPS + OFTEN * fabs(journey->to - journey->from) / journey->first);
    if (stretches)
        gbees_divergence_beside(&p, journey);
    plan->is_constant = stretches && gbees_divergence_is_constant(journey, &p, &plan->rate, evaluations);
}

/* Takes over a plan of a call before; the divergence of a drift that depends on the time is not planned. */
static int take_plan(const gbees_travel *travel, int stretches, gbees_journey *journey, gbees_travel_plan *plan)
{
    if (!travel->plan || !(travel->plan->first > 0) ||
        (stretches && (!travel->plan->is_constant || journey->problem->model->flags & GBEES_TIME_DEPENDENT)))
        return 0;
    *plan = *travel->plan;
    journey->first = fmin(plan->first, fabs(journey->to - journey->from));
    journey->most = floor(MOST_STEPS + OFTEN * fabs(journey->to - journey->from) / journey->first);
    return 1;
}

/* Takes the points a part of their way. */
static int run_part(gbees_trajectories *t, size_t count, double *const *x, double *stretch,
                    const gbees_travel *travel, gbees_error *error)
{
    call c = {.x = x, .tolerance = travel->tolerance, .alone = travel->alone, .lowest = travel->lowest};
    gbees_travel_plan plan = {0};
    uint64_t planning = 0;

    int status = begin(t, travel, &c.journey, error);
    if (status)
        return status;
    if (!take_plan(travel, stretch != NULL, &c.journey, &plan))
        make_plan(count, x, stretch != NULL, &c.journey, &plan, &planning);
    if (travel->plan)
        *travel->plan = plan;
    c.journey.stretches = stretch && !plan.is_constant;
    c.stretch = c.journey.stretches ? stretch : NULL;
    status = take_all(t, count, &c, error);
    for (size_t i = 0; stretch && !c.stretch && i < count; i++)
        stretch[i] += plan.rate * (travel->to - travel->from);
    t->evaluations += planning + c.evaluations;
    t->ways += count;
    return status;
}

/* Takes the points from part->from to a time, and stops at the rows of tables in between. */
static int run_to(gbees_trajectories *t, size_t count, double *const *x, double *stretch, gbees_travel *part,
                  double to, gbees_error *error)
{
    int status = GBEES_OK;

    for (double way = to - part->from; way != 0 && !status; part->from = part->to, way = to - part->from) {
        const double next = way > 0 ? gbees_rough_times_next(&t->rows, part->from, 0, way) : way;

        part->to = next == way ? to : part->from + next;
        part->plan = next == way ? part->plan : NULL;
        status = run_part(t, count, x, stretch, part, error);
    }
    return status;
}

int gbees_trajectories_run(gbees_trajectories *t, size_t count, double *const *x, double *stretch,
                           const gbees_travel *travel, gbees_error *error)
{
    course c = {.end = {travel->to}, .parts = 1};
    gbees_travel part = *travel;
    gbees_journey journey;
    int status = GBEES_OK;

    if (count == 0 || travel->to == travel->from)
        return GBEES_OK;
    if (t->problem->model->flags & GBEES_TIME_DEPENDENT) {
        status = begin(t, travel, &journey, error);
        if (status)
            return status;
        c = (course){.journey = &journey};
        find_parts(t, count, x, &c);
        part.plan = c.parts > 1 ? NULL : travel->plan;
    }
    for (int k = 0; k < c.parts && !status; k++)
        status = run_to(t, count, x, stretch, &part, c.end[k], error);
    return status;
}

/* ---- several legs at once ---------------------------------------------------------------------------------------
 */

int gbees_trajectories_has_places(const gbees_trajectories *t)
{
    return t->integrator && !(t->problem->model->flags & GBEES_TIME_DEPENDENT);
}

/* Whether rows of tables are on a leg. */
static int has_rows(const gbees_trajectories *t, const gbees_travel *leg)
{
    const double way = leg->to - leg->from;

    return way > 0 && gbees_rough_times_next(&t->rows, leg->from, 0, way) != way;
}

/* The nanoseconds that a step of so many points takes on all threads. */
static double step_of(const gbees_trajectories *t, size_t count)
{
    return STAGES * (t->problem->dimension + 1.0) * (double)count / t->threads;
}

int gbees_trajectories_places(gbees_trajectories *t, size_t count, double *const *x, int stretches,
                              const gbees_travel *leg, int legs, gbees_places *places, gbees_error *error)
{
    gbees_travel_plan plan = {0};
    uint64_t planning = 0;
    double work = 0;
    int status = GBEES_OK, done = 0;

    *places = (gbees_places){.count = count, .legs = legs};
    if (step_of(t, count) < LEAST_OF_STEP) /* before anything is planned */
        return GBEES_OK;
    gbees_integration_stop *stop = gbees_array_create((size_t)legs, sizeof *stop);
    int apart = !stop;
    for (int k = 0; k < legs && !status && !apart; k++) {
        gbees_travel of = leg[k];
        gbees_journey w;

        of.plan = k > 0 ? &plan : leg->plan;
        status = begin(t, &of, &w, error);
        apart = has_rows(t, &of);
        if (!status && !apart && !take_plan(&of, stretches, &w, &plan))
            make_plan(count, x, stretches, &w, &plan, &planning);
        apart |= stretches && !plan.is_constant;
        stop[k] = stop_of(&w);
        work += step_of(t, count) * (1 + fabs(w.to - w.from) / w.first);
    }
    t->evaluations += planning;
    if (!status && !apart && work >= LEAST_NANOSECONDS && work >= LEAST_OF_PLACE * (double)count * legs) {
        const gbees_integration integration = {.count = count,
                                               .from = (const double *const *)x,
                                               .time = leg->from,
                                               .tolerance = leg->tolerance,
                                               .stop_count = (uint64_t)legs,
                                               .stop = stop,
                                               .places = &places->at};
        status = lend(t, &integration, &done, error);
        *leg->plan = plan;
        places->rate = plan.rate;
    }
    places->at = done && !status ? places->at : NULL;
    free(stop);
    return status;
}
