/* trajectories.c - chooses what a call's points have in common - a first step, and whether the drift's divergence is
 * the same everywhere - and who integrates them: this process's threads, or the backend's processor. */
#include "trajectories.h"
#include "base/array.h"
#include "base/pool.h"
#include "base/rough_times.h"
#include "base/workers.h"
#include "batch.h"
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
#define SAME 1e-7             /* relative differences of the divergence that is called constant */
#define STRETCH_SAME 1e-4     /* and differences that make less than that of a stretch on the whole way */
#define LEAST_NANOSECONDS 2e6 /* of work of all threads, below which it does not pay to move the points; */
#define LEAST_OF_POINT 20     /* and of them for each point, which takes as long to be moved there and back */
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

/* Some of the points, spread over all of them, by which a call is planned. */
typedef struct probes {
    size_t count;
    double x[GBEES_MAX_DIM][GBEES_BATCH];
    const double *column[GBEES_MAX_DIM];
} probes;

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

/* ---- what points have in common ---------------------------------------------------------------------------------
 */

static void choose_probes(int n, size_t count, double *const *x, probes *p)
{
    const size_t some = count < GBEES_BATCH ? count : GBEES_BATCH;

    *p = (probes){0};
    for (int j = 0; j < n; j++)
        p->column[j] = p->x[j];
    for (size_t k = 0; k < some; k++) {
        const size_t i = count / some * k + count % some * k / some;
        int finite = 1;

        for (int j = 0; j < n; j++) {
            p->x[j][p->count] = x[j][i];
            finite &= isfinite(x[j][i]) != 0;
        }
        p->count += finite != 0;
    }
}

/* Chooses the lengths over which the divergence is a difference: so short that its error of third order is negligible
 * within a scale, but no shorter than what rounding of a point allows. */
static void choose_beside(const probes *p, gbees_journey *w)
{
    for (int j = 0; j < w->problem->dimension; j++) {
        double far = 0;

        for (size_t i = 0; i < p->count; i++)
            far = fmax(far, fabs(p->x[j][i]));
        w->beside[j] = fmax(3e-5 * w->scale[j], 1e-7 * far);
    }
}

/* Whether the divergence at those probes that are finite, at least half, is *rate, which the first one sets if it is
 * NAN. */
static int is_same(const gbees_journey *w, const probes *p, double time, double *rate)
{
    const double way = fabs(w->to - w->from);
    double sum[GBEES_BATCH], size[GBEES_BATCH] = {0};
    size_t finite = 0;
    int same = 1;

    gbees_batch_divergence(w, p->count, time, p->column, sum, size);
    for (size_t i = 0; i < p->count; i++) {
        if (!isfinite(sum[i]))
            continue;
        if (isnan(*rate))
            *rate = sum[i];
        same &= fabs(sum[i] - *rate) <= fmax(SAME * size[i], STRETCH_SAME / way);
        finite++;
    }
    return same && 2 * finite >= p->count;
}

/* Whether the divergence is the same at both lists of probes at one time; then it is *rate. */
static int is_uniform(const gbees_journey *w, const probes *start, const probes *end, double time, double *rate)
{
    *rate = NAN;
    return is_same(w, start, time, rate) && is_same(w, end, time, rate);
}

/* Adds to *sum the integral of a divergence that is the same everywhere, by Gauss's rule of five times. Returns 0 if
 * it is not the same. */
static int integrate_rate(const gbees_journey *w, const probes *start, const probes *end, double from, double to,
                          double *sum)
{
    static const double node[] = {0, 0.5384693101056831, 0.9061798459386640},
                        weight[] = {0.5688888888888889, 0.4786286704993665, 0.2369268850561891};
    const double middle = from + (to - from) / 2, half = (to - from) / 2;

    for (int k = -2; k <= 2; k++) {
        double rate;

        if (!is_uniform(w, start, end, middle + (k < 0 ? -half : half) * node[abs(k)], &rate))
            return 0;
        *sum += half * weight[abs(k)] * rate;
    }
    return 1;
}

/* Whether the divergence is the same at the probes, at the beginning and where they go, at each time of the way, and
 * how it depends on the time is resolved; then its mean over the way is *rate. */
static int is_constant(const gbees_journey *w, const probes *start, double *rate, uint64_t *evaluations)
{
    const double middle = w->from + (w->to - w->from) / 2;
    probes end = *start;
    double *column[GBEES_MAX_DIM], whole = 0, halves = 0;

    *rate = NAN;
    if (start->count == 0 || !is_same(w, start, w->from, rate))
        return 0;
    for (int j = 0; j < w->problem->dimension; j++)
        end.column[j] = column[j] = end.x[j];
    *evaluations += gbees_batch_run(w, 0, end.count, column, NULL, NULL);
    if (!(w->problem->model->flags & GBEES_TIME_DEPENDENT))
        return is_same(w, &end, w->from, rate);
    if (!integrate_rate(w, start, &end, w->from, w->to, &whole) ||
        !integrate_rate(w, start, &end, w->from, middle, &halves) ||
        !integrate_rate(w, start, &end, middle, w->to, &halves))
        return 0;
    *rate = halves / (w->to - w->from);
    return fabs(whole - halves) <= STRETCH_SAME;
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

        most = fmax(most, fabs(f[k]));
        off = fmax(off, fabs(f[k] - (1 - part) * f[low] - part * f[high]));
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
    static const double origin[GBEES_MAX_DIM];
    const gbees_journey *w = c->journey;
    const size_t n = (size_t)w->problem->dimension;
    double value[GBEES_MAX_DIM][GBEES_BATCH], *out[GBEES_MAX_DIM];
    probes p;

    choose_probes(w->problem->dimension, count, x, &p);
    p.count = p.count < LOOKED_AT ? p.count : LOOKED_AT;
    c->values = n * p.count;
    c->at = gbees_array_create(c->values, sizeof *c->at);
    for (size_t j = 0; j < n; j++)
        out[j] = value[j];
    for (int k = 0; k <= TIMES && c->at; k++) {
        w->functions->drift_d(p.count, w->from + (w->to - w->from) * k / TIMES, origin, p.column,
                              w->problem->parameters, out);
        for (size_t i = 0; i < c->values; i++)
            c->at[i][k] = value[i % n][i / n];
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

/* Has the backend take the points c->first ... c->first + c->count - 1, if that is work enough and it is ready. */
static int offload(gbees_trajectories *t, call *c, double nanoseconds, int *done, gbees_error *error)
{
    const gbees_journey *w = &c->journey;
    double *part[GBEES_MAX_DIM];
    double evaluations = 0;

    *done = 0;
    if (!t->integrator || c->alone || c->lowest || w->stretches || nanoseconds / t->threads < LEAST_NANOSECONDS ||
        nanoseconds / t->threads < LEAST_OF_POINT * (double)c->count)
        return GBEES_OK;
    for (int j = 0; j < t->problem->dimension; j++)
        part[j] = c->x[j] + c->first;
    gbees_integration integration = {.count = c->count,
                                     .from = (const double *const *)part,
                                     .to = part,
                                     .time = w->from,
                                     .end = w->to,
                                     .time_step = w->first,
                                     .steps = (uint64_t)w->most,
                                     .tolerance = c->tolerance,
                                     .evaluations = &evaluations};

    memcpy(integration.scale, w->scale, sizeof integration.scale);
    const int status = t->lender->integrator_run(t->integrator, &integration, done, error);
    t->evaluations += (uint64_t)evaluations;
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
    probes p;

    choose_probes(journey->problem->dimension, count, x, &p);
    journey->first = plan->first = gbees_batch_first_step(journey, p.count, p.column, evaluations);
    journey->most = floor(MOST_STEPS + OFTEN * fabs(journey->to - journey->from) / journey->first);
    choose_beside(&p, journey);
    plan->is_constant = stretches && is_constant(journey, &p, &plan->rate, evaluations);
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
