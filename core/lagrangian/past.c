/* past.c - trajectories through all measurements so far; see past.h. */
#include "past.h"
#include "base/array.h"
#include "base/workers.h"
#include "batch.h"
#include "jump.h"
#include "watch.h"
#include <gbees/record.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
    BLOCK = 1024,
    LEAST_GROUP = 64, /* points that a thread takes from the start to now */
    MOST_GROUP = 512,
    GROUPS = 32,      /* about, of fewer points */
    TOGETHER = 65536, /* points between two questions whether the run is cancelled */
    LIKELIHOOD_NS = 60,
    DENSITY_NS = 40,
    LEG_NS = 500 /* that a point takes, or more: from one measurement to the next */
};

/* The part of the initial deviations below which a lattice's cells need a smaller tolerance. Trajectories' errors
 * were a tenth of a tolerance that is this part of a smoothed deviation, of which certificates count a thousand
 * (certify.c). */
static const double small_part = 1e-3;

const gbees_update gbees_no_update = {.beta = 0};

static int add_event(gbees_past *past, const gbees_past_event *event, const double *scale, gbees_error *error)
{
    if (gbees_array_grow(&past->of, (size_t)past->count, &past->capacity, sizeof *past->of))
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a measurement or a jump");
    gbees_past_event *added = &past->of[past->count++];
    *added = *event;
    added->time = past->now;
    memcpy(added->scale, scale, sizeof added->scale);
    past->measured += !event->is_jump;
    return GBEES_OK;
}

int gbees_past_add(gbees_past *past, const gbees_update *update, const double *scale, gbees_error *error)
{
    const gbees_past_event event = {.measurement = *update->measurement, .log_peak = update->log_peak};

    return add_event(past, &event, scale, error);
}

int gbees_past_add_jump(gbees_past *past, const gbees_instant *instant, double sign, const double *scale,
                        gbees_error *error)
{
    const gbees_past_event event = {.is_jump = 1, .instant = (int)(instant - past->problem->instants), .sign = sign};

    return add_event(past, &event, scale, error);
}

/* Points of a lattice that are evaluated together. */
typedef struct group {
    const gbees_past *past;
    gbees_lattice *lattice;
    uint32_t first, count;
    int alone; /* 1: the calling thread is one of several with groups of their own */
} group;

/* ---- weights ---- */

/* What the blocks of a group share. */
typedef struct weighing {
    const group *points;
    const gbees_source *source; /* of the initial density; or NULL: the likelihood of `measurement` */
    const gbees_measurement *measurement;
    double time;
    double *out; /* [lattice->count] */
    atomic_int status;
    gbees_error error;
} weighing;

/* Where a point has left every bound the likelihood is 0; where it is anywhere else and not a number, it is an error.
 */
static int check(int n, size_t count, double *const *x, double *out)
{
    for (size_t i = 0; i < count; i++) {
        double sum = 0;

        for (int j = 0; j < n; j++)
            sum += x[j][i];
        if (!isfinite(sum))
            out[i] = -INFINITY;
        else if (!(out[i] < INFINITY))
            return GBEES_ENUMERIC;
    }
    return GBEES_OK;
}

static void weigh_block(void *context, size_t block)
{
    weighing *all = context;
    gbees_lattice *lattice = all->points->lattice;
    const size_t done = block * BLOCK, left = all->points->count - done, first = all->points->first + done;
    const size_t count = left < BLOCK ? left : BLOCK;
    double *x[GBEES_MAX_DIM] = {NULL}, *out = all->out + first;
    gbees_error error = {0};
    int status;

    for (int j = 0; j < lattice->n; j++)
        x[j] = lattice->x[j] + first;
    if (all->source) {
        gbees_source_log_density(all->source, count, x, out);
        gbees_source_log_share(all->source, count, x, lattice->stretch + first);
        return;
    }
    status = gbees_measurement_log_likelihood(all->points->past->problem, all->measurement, all->time, count,
                                              (const double *const *)x, out, &error);
    if (!status && check(lattice->n, count, x, out))
        status =
            gbees_error_set(&error, GBEES_ENUMERIC,
                            "the likelihood of the measurement at t = %g is not a number at a trajectory", all->time);
    if (status && !atomic_exchange(&all->status, status))
        all->error = error;
}

/* Sets out[] of the group's points: the initial density's logarithm, or a measurement's log-likelihood at a time. */
static int weigh(const group *points, const gbees_source *source, const gbees_measurement *measurement, double time,
                 double *out, gbees_error *error)
{
    weighing all = {.points = points, .source = source, .measurement = measurement, .time = time, .out = out};
    const double each = source ? DENSITY_NS : LIKELIHOOD_NS;

    gbees_workers_run(gbees_workers_worth(points->alone ? 1 : points->past->threads, points->count * each),
                      (points->count + BLOCK - 1) / BLOCK, weigh_block, &all);
    if (atomic_load(&all.status))
        return gbees_error_set(error, (gbees_status)atomic_load(&all.status), "%s", all.error.text);
    return GBEES_OK;
}

int gbees_past_weigh(const gbees_past *past, gbees_lattice *lattice, const gbees_measurement *measurement,
                     gbees_error *error)
{
    const group all = {past, lattice, 0, lattice->count, 0};

    return weigh(&all, NULL, measurement, past->now, lattice->gain, error);
}

/* Leaves a point where it is: its weight is 0. */
static void give_up(gbees_lattice *lattice, uint32_t i)
{
    lattice->log_weight[i] = -INFINITY;
    lattice->x[0][i] = NAN; /* so that it is not integrated any further */
}

/* What the points that are evaluated side by side share. */
typedef struct evaluation {
    group points; /* all of them */
    const gbees_source *source;
    const gbees_update *update;
    double least;
    double *most;
    uint32_t group; /* points that a thread takes */
    atomic_int status;
    gbees_error error;
} evaluation;

/* Gives up the points that can gain no weight above all->least by the likelihoods from number k on. */
static void give_up_light(const evaluation *all, const group *points, int k)
{
    const gbees_update *update = all->update;
    double *weight = points->lattice->log_weight, more = update->beta > 0 ? update->beta * update->log_peak : 0;

    for (; k < points->past->count; k++)
        more += points->past->of[k].log_peak;
    for (uint32_t i = points->first; i < points->first + points->count; i++)
        if (!(weight[i] + more > all->least)) {
            if (all->most && weight[i] > -INFINITY)
                all->most[i] = weight[i] + more;
            give_up(points->lattice, i);
        }
}

static int add_likelihood(const group *points, const gbees_past_event *of, gbees_error *error)
{
    gbees_lattice *lattice = points->lattice;
    const int status = weigh(points, NULL, &of->measurement, of->time, lattice->gain, error);

    for (uint32_t i = points->first; i < points->first + points->count && !status; i++) {
        lattice->log_weight[i] += lattice->gain[i];
        lattice->gain[i] = 0;
        if (lattice->log_weight[i] == -INFINITY)
            give_up(lattice, i);
    }
    return status;
}

/* ---- targets ---- */

/* Sets lowest[k] to where that array has the group's points. Returns `lowest`, or NULL: no target absorbs. */
static double *const *find_lowest(const group *points, double **lowest)
{
    const gbees_lattice *lattice = points->lattice;

    for (int k = 0; k < GBEES_MAX_TARGETS; k++)
        lowest[k] = lattice->lowest[k] ? lattice->lowest[k] + points->first : NULL;
    return lattice->whole ? lowest : NULL;
}

/* Sets how far points that are at their start are in targets. */
static void begin_targets(const group *points)
{
    double *x[GBEES_MAX_DIM] = {NULL}, *lowest[GBEES_MAX_TARGETS];

    if (!find_lowest(points, lowest))
        return;
    for (int j = 0; j < points->lattice->n; j++)
        x[j] = points->lattice->x[j] + points->first;
    gbees_watch_begin(points->past->problem, points->past->start, points->count, x, lowest);
    for (int k = 0; k < GBEES_MAX_TARGETS; k++)
        for (uint32_t i = points->first; i < points->first + points->count && lowest[k]; i++)
            points->lattice->settled[k][i] = INFINITY;
}

/* What has entered by now counts no more. */
static void settle(const group *points)
{
    const gbees_lattice *lattice = points->lattice;

    for (int k = 0; k < GBEES_MAX_TARGETS; k++)
        if (lattice->lowest[k])
            memcpy(lattice->settled[k] + points->first, lattice->lowest[k] + points->first,
                   points->count * sizeof(double));
}

void gbees_past_settle(const gbees_past *past, gbees_lattice *lattice)
{
    const group all = {past, lattice, 0, lattice->count, 0};

    settle(&all);
}

/* Notes points that a jump has brought into targets. One that has entered a target before stays in that. */
static void land(const group *points, double time)
{
    const gbees_lattice *lattice = points->lattice;
    double g[GBEES_MAX_TARGETS][BLOCK], *here[GBEES_MAX_TARGETS] = {NULL};
    const uint32_t end = points->first + points->count;

    for (int k = 0; k < GBEES_MAX_TARGETS; k++)
        here[k] = lattice->lowest[k] ? g[k] : NULL;
    for (uint32_t first = points->first; lattice->whole && first < end; first += BLOCK) {
        const uint32_t count = end - first < BLOCK ? end - first : BLOCK;
        double *x[GBEES_MAX_DIM] = {NULL};

        for (int j = 0; j < lattice->n; j++)
            x[j] = lattice->x[j] + first;
        gbees_watch_begin(points->past->problem, time, count, x, here);
        for (uint32_t i = 0; i < count; i++) {
            int entered = 0;

            for (int k = 0; k < GBEES_MAX_TARGETS; k++)
                entered |= lattice->lowest[k] && lattice->lowest[k][first + i] < 0;
            for (int k = 0; k < GBEES_MAX_TARGETS && !entered && isfinite(x[0][i]); k++)
                if (lattice->lowest[k] && !(g[k][i] >= lattice->lowest[k][first + i]))
                    lattice->lowest[k][first + i] = g[k][i];
        }
    }
}

/* Takes the points through a jump; scale: the deviations before it. */
static int make_jump(const group *points, const gbees_past_event *of, const double *scale, gbees_error *error)
{
    gbees_point_jump jump = {.problem = points->past->problem,
                             .instant = &points->past->problem->instants[of->instant],
                             .time = of->time,
                             .scale = scale,
                             .sign = of->sign};
    const int status = gbees_point_jump_run(&jump, points->lattice, points->first, points->count, error);

    land(points, of->time);
    return status;
}

int gbees_past_jump(const gbees_past *past, gbees_lattice *lattice, const gbees_instant *instant, const double *scale,
                    double *sign, gbees_error *error)
{
    const group all = {past, lattice, 0, lattice->count, 0};
    gbees_point_jump jump = {
        .problem = past->problem, .instant = instant, .time = past->now, .scale = scale, .sign = *sign};
    const int status = gbees_point_jump_run(&jump, lattice, 0, lattice->count, error);

    land(&all, past->now);
    *sign = jump.sign;
    return status;
}

/* ---- ways ---- */

static int is_cancelled(const gbees_past *past, gbees_error *error)
{
    if (!past->cancelled || !past->cancelled(past->context))
        return GBEES_OK;
    return gbees_error_set(error, GBEES_ECANCELLED, "stopped at t = %.6g", past->now);
}

/* The tolerance of ways from the start: where the lattice's cells there are a small part of the initial deviations,
 * after precise measurements, these alone would be too rough a unit of errors. */
static double tolerance_of(const gbees_past *past, const gbees_lattice *lattice)
{
    double part = INFINITY;

    for (int j = 0; j < lattice->n; j++) {
        double square = 0;

        for (int k = 0; k < lattice->n; k++)
            square += lattice->axes[j * lattice->n + k] * lattice->axes[j * lattice->n + k];
        part = fmin(part, sqrt(square) / past->scale[j]);
    }
    return past->tolerance * fmin(1, part / small_part);
}

/* A leg of some way; scale: the unit of the tolerance. */
typedef struct leg {
    const double *scale;
    double tolerance, from, to;
} leg;

static int advance(const group *points, leg on, gbees_travel_plan *plan, gbees_error *error)
{
    const gbees_past *past = points->past;
    double *x[GBEES_MAX_DIM] = {NULL}, *lowest[GBEES_MAX_TARGETS];
    const gbees_travel travel = {
        on.from, on.to, on.scale, on.tolerance, points->alone, plan, find_lowest(points, lowest)};

    for (int j = 0; j < points->lattice->n; j++)
        x[j] = points->lattice->x[j] + points->first;
    return gbees_trajectories_run(past->trajectories, points->count, x, points->lattice->stretch + points->first,
                                  &travel, error);
}

int gbees_past_advance(const gbees_past *past, gbees_lattice *lattice, const double *scale, double time,
                       gbees_error *error)
{
    const uint32_t inner = gbees_lattice_inner(lattice);
    /* Steps are planned by the points of a group: those of others do not depend on whether there is a border. */
    const group points = {past, lattice, 0, inner, 0}, border = {past, lattice, inner, lattice->border, 0};
    const leg on = {scale, past->tolerance, past->now, time};
    int status = is_cancelled(past, error);

    if (!status)
        status = advance(&points, on, NULL, error);
    return status ? status : advance(&border, on, NULL, error);
}

/* ---- from the start to now ---- */

static int follow(const evaluation *all, const group *points, gbees_error *error)
{
    const gbees_past *past = points->past;
    leg on = {.scale = past->scale, .tolerance = tolerance_of(past, points->lattice), .from = past->start};
    gbees_travel_plan plan = {0};
    int status = weigh(points, all->source, NULL, on.from, points->lattice->log_weight, error);

    begin_targets(points);
    for (int k = 0; k < past->count && !status; k++) {
        const gbees_past_event *of = &past->of[k];

        give_up_light(all, points, k);
        on.to = of->time;
        status = !points->alone && is_cancelled(past, error) ? GBEES_ECANCELLED : advance(points, on, &plan, error);
        if (!status)
            status = of->is_jump ? make_jump(points, of, on.scale, error) : add_likelihood(points, of, error);
        if (of->is_jump)
            plan = (gbees_travel_plan){0};
        else
            settle(points);
        on.from = of->time;
        on.scale = of->scale;
    }
    if (status)
        return status;
    give_up_light(all, points, past->count);
    on.to = past->now;
    status = advance(points, on, &plan, error);
    return status || !all->update->measurement
               ? status
               : weigh(points, NULL, all->update->measurement, past->now, points->lattice->gain, error);
}

/* Few points make small groups, so that all threads have some; by their number alone, so that results do not depend
 * on that of the threads. */
static uint32_t group_of(uint32_t count)
{
    const uint32_t points = count / GROUPS / GBEES_BATCH * GBEES_BATCH;

    return points < LEAST_GROUP ? LEAST_GROUP : points > MOST_GROUP ? MOST_GROUP : points;
}

static void follow_group(void *context, size_t number)
{
    evaluation *all = context;
    const uint32_t done = (uint32_t)number * all->group, left = all->points.count - done;
    const group points = {all->points.past, all->points.lattice, all->points.first + done,
                          left < all->group ? left : all->group, 1};
    gbees_error error;
    const int status = follow(all, &points, &error);

    if (status && !atomic_exchange(&all->status, status))
        all->error = error;
}

int gbees_past_evaluate(const gbees_past *past, const gbees_source *source, gbees_lattice *lattice, uint32_t first,
                        const gbees_update *update, double least, double *most, gbees_error *error)
{
    evaluation all = {.points = {past, lattice, first, lattice->count - first, 0},
                      .source = source,
                      .update = update,
                      .least = least,
                      .most = most};

    if (gbees_trajectories_offloads(past->trajectories, all.points.count))
        return follow(&all, &all.points, error);
    for (uint32_t end = lattice->count; all.points.first < end; all.points.first += all.points.count) {
        const uint32_t left = end - all.points.first;

        if (is_cancelled(past, error))
            return GBEES_ECANCELLED;
        all.points.count = left < TOGETHER ? left : TOGETHER;
        all.group = group_of(all.points.count);
        gbees_trajectories_share(past->trajectories, (double)all.points.count * (past->count + 1) * LEG_NS,
                                 (all.points.count + all.group - 1) / all.group, follow_group, &all);
        if (atomic_load(&all.status))
            return gbees_error_set(error, (gbees_status)atomic_load(&all.status), "%s", all.error.text);
    }
    return GBEES_OK;
}
