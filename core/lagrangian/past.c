/* past.c - trajectories through all measurements so far; see past.h. */
#include "base/array.h"
#include "base/workers.h"
#include "batch.h"
#include "jump.h"
#include "past_group.h"
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
    LEG_NS = 500,         /* that a point takes, or more: from one measurement to the next */
    LEGS_MOST = 64,       /* legs whose ends the backend's processor tells at once, */
    PLACES_MOST = 4 << 20 /* and numbers of their places */
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

/* ---- weights ---- */

/* Leaves a point where it is: its weight is 0. */
static void give_up(gbees_lattice *lattice, uint32_t i)
{
    lattice->log_weight[i] = -INFINITY;
    lattice->x[0][i] = NAN; /* so that it is not integrated any further */
}

/* What the points that are evaluated side by side share. */
typedef struct evaluation {
    gbees_group points; /* all of them */
    const gbees_source *source;
    const gbees_update *update;
    double least;
    double *most;
    uint32_t group;         /* points that a thread takes */
    int from, to;           /* the legs that are taken now: leg k ends at event k, the last one now */
    gbees_places places;    /* at their ends, if the backend's processor has found them */
    gbees_travel_plan plan; /* by which it has */
    atomic_int status;
    gbees_error error;
} evaluation;

/* Gives up the points that can gain no weight above all->least by the likelihoods from number k on. */
static void give_up_light(const evaluation *all, const gbees_group *points, int k)
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

static int add_likelihood(const gbees_group *points, const gbees_past_event *of, gbees_error *error)
{
    gbees_lattice *lattice = points->lattice;
    const int status = gbees_group_weigh(points, NULL, &of->measurement, of->time, lattice->gain, error);

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
static double *const *find_lowest(const gbees_group *points, double **lowest)
{
    const gbees_lattice *lattice = points->lattice;

    for (int k = 0; k < GBEES_MAX_TARGETS; k++)
        lowest[k] = lattice->lowest[k] ? lattice->lowest[k] + points->first : NULL;
    return lattice->whole ? lowest : NULL;
}

/* Sets how far points that are at their start are in targets. */
static void begin_targets(const gbees_group *points)
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
static void settle(const gbees_group *points)
{
    const gbees_lattice *lattice = points->lattice;

    for (int k = 0; k < GBEES_MAX_TARGETS; k++)
        if (lattice->lowest[k])
            memcpy(lattice->settled[k] + points->first, lattice->lowest[k] + points->first,
                   points->count * sizeof(double));
}

void gbees_past_settle(const gbees_past *past, gbees_lattice *lattice)
{
    const gbees_group all = {past, lattice, 0, lattice->count, 0};

    settle(&all);
}

/* Notes points that a jump has brought into targets. One that has entered a target before stays in that. */
static void land(const gbees_group *points, double time)
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
static int make_jump(const gbees_group *points, const gbees_past_event *of, const double *scale, gbees_error *error)
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
    const gbees_group all = {past, lattice, 0, lattice->count, 0};
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

static int advance(const gbees_group *points, gbees_travel leg, gbees_error *error)
{
    double *x[GBEES_MAX_DIM] = {NULL}, *lowest[GBEES_MAX_TARGETS];

    leg.alone = points->alone;
    leg.lowest = find_lowest(points, lowest);
    for (int j = 0; j < points->lattice->n; j++)
        x[j] = points->lattice->x[j] + points->first;
    return gbees_trajectories_run(points->past->trajectories, points->count, x,
                                  points->lattice->stretch + points->first, &leg, error);
}

int gbees_past_advance(const gbees_past *past, gbees_lattice *lattice, const double *scale, double time,
                       gbees_error *error)
{
    const uint32_t inner = gbees_lattice_inner(lattice);
    /* Steps are planned by the points of a group: those of others do not depend on whether there is a border. */
    const gbees_group points = {past, lattice, 0, inner, 0}, border = {past, lattice, inner, lattice->border, 0};
    const gbees_travel leg = {.from = past->now, .to = time, .scale = scale, .tolerance = past->tolerance};
    int status = is_cancelled(past, error);

    if (!status)
        status = advance(&points, leg, error);
    return status ? status : advance(&border, leg, error);
}

/* ---- from the start to now ---- */

/* Leg k of the way from the start: to event k, or after the last one to now. */
static gbees_travel leg_of(const gbees_past *past, const gbees_lattice *lattice, int k)
{
    return (gbees_travel){.from = k > 0 ? past->of[k - 1].time : past->start,
                          .to = k < past->count ? past->of[k].time : past->now,
                          .scale = k > 0 ? past->of[k - 1].scale : past->scale,
                          .tolerance = tolerance_of(past, lattice)};
}

/* Puts the points where they are at the end of leg k. */
static void arrive(const evaluation *all, const gbees_group *points, const gbees_travel *leg, int k)
{
    const gbees_places *places = &all->places;
    const uint32_t offset = points->first - all->points.first;
    gbees_lattice *lattice = points->lattice;

    for (int j = 0; j < lattice->n; j++) {
        const double *at =
            places->at + ((size_t)j * (size_t)places->legs + (size_t)(k - all->from)) * places->count + offset;

        for (uint32_t i = 0; i < points->count; i++) /* one that has been given up since stays so */
            lattice->x[j][points->first + i] = isnan(lattice->x[0][points->first + i]) ? NAN : at[i];
    }
    for (uint32_t i = 0; i < points->count; i++)
        lattice->stretch[points->first + i] += places->rate * (leg->to - leg->from);
}

/* Applies event k. */
static int apply(const gbees_group *points, int k, const gbees_travel *leg, gbees_error *error)
{
    const gbees_past_event *of = &points->past->of[k];
    int status;

    if (of->is_jump)
        return make_jump(points, of, leg->scale, error);
    status = add_likelihood(points, of, error);
    settle(points);
    return status;
}

/* Takes points along the legs all->from ... all->to - 1. */
static int follow(const evaluation *all, const gbees_group *points, gbees_error *error)
{
    const gbees_past *past = points->past;
    gbees_travel_plan plan = {0};
    int status = GBEES_OK;

    if (all->from == 0) {
        status = gbees_group_weigh(points, all->source, NULL, past->start, points->lattice->log_weight, error);
        begin_targets(points);
    }
    for (int k = all->from; k < all->to && !status; k++) {
        gbees_travel leg = leg_of(past, points->lattice, k);

        leg.plan = &plan;
        give_up_light(all, points, k);
        status = points->alone ? GBEES_OK : is_cancelled(past, error);
        if (!status && all->places.at)
            arrive(all, points, &leg, k);
        else if (!status)
            status = advance(points, leg, error);
        if (!status && k < past->count)
            status = apply(points, k, &leg, error);
        if (k < past->count && past->of[k].is_jump)
            plan = (gbees_travel_plan){0};
    }
    return status || all->to <= past->count || !all->update->measurement
               ? status
               : gbees_group_weigh(points, NULL, all->update->measurement, past->now, points->lattice->gain, error);
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
    const gbees_group points = {all->points.past, all->points.lattice, all->points.first + done,
                                left < all->group ? left : all->group, 1};
    gbees_error error;
    const int status = follow(all, &points, &error);

    if (status && !atomic_exchange(&all->status, status))
        all->error = error;
}

/* Finds the legs that are taken next, from all->from on: as many as fit into memory, and up to a jump, if the
 * backend's processor can tell the places at their ends; else all. */
static int find_legs(evaluation *all, gbees_error *error)
{
    const gbees_group *points = &all->points;
    const gbees_past *past = points->past;
    gbees_travel leg[LEGS_MOST];
    double *x[GBEES_MAX_DIM] = {NULL};
    const size_t fit = PLACES_MOST / ((size_t)points->count * (size_t)points->lattice->n) + 1;
    int legs = 0, is_jump = 0;

    all->to = past->count + 1;
    all->places.at = NULL;
    if (points->lattice->whole || !gbees_trajectories_has_places(past->trajectories))
        return GBEES_OK;
    for (int k = all->from; k <= past->count && !is_jump && legs < LEGS_MOST && (size_t)legs < fit; k++) {
        leg[legs++] = leg_of(past, points->lattice, k);
        is_jump = k < past->count && past->of[k].is_jump;
    }
    leg->plan = &all->plan;
    for (int j = 0; j < points->lattice->n; j++)
        x[j] = points->lattice->x[j] + points->first;
    const int status =
        gbees_trajectories_places(past->trajectories, points->count, x, 1, leg, legs, &all->places, error);
    all->to = all->places.at ? all->from + legs : all->to;
    all->plan = is_jump ? (gbees_travel_plan){0} : all->plan;
    return status;
}

/* Takes all->points from the start to now, in groups. */
static int follow_all(evaluation *all, gbees_error *error)
{
    const gbees_past *past = all->points.past;
    const uint32_t count = all->points.count;
    int status = GBEES_OK;

    all->group = group_of(count);
    all->plan = (gbees_travel_plan){0};
    for (all->from = 0; all->from <= past->count && !status; all->from = all->to) {
        status = is_cancelled(past, error);
        if (!status)
            status = find_legs(all, error);
        if (status)
            return status;
        gbees_trajectories_share(past->trajectories, (double)count * (all->to - all->from) * LEG_NS,
                                 (count + all->group - 1) / all->group, follow_group, all);
        if (atomic_load(&all->status))
            status = gbees_error_set(error, (gbees_status)atomic_load(&all->status), "%s", all->error.text);
    }
    return status;
}

int gbees_past_evaluate(const gbees_past *past, const gbees_source *source, gbees_lattice *lattice, uint32_t first,
                        const gbees_update *update, double least, double *most, gbees_error *error)
{
    evaluation all = {.points = {past, lattice, first, lattice->count - first, 0},
                      .source = source,
                      .update = update,
                      .least = least,
                      .most = most,
                      .to = past->count + 1};
    int status = GBEES_OK;

    if (!gbees_trajectories_has_places(past->trajectories) &&
        gbees_trajectories_offloads(past->trajectories, all.points.count))
        return follow(&all, &all.points, error);
    for (uint32_t end = lattice->count; all.points.first < end && !status; all.points.first += all.points.count) {
        const uint32_t left = end - all.points.first;

        all.points.count = left < TOGETHER ? left : TOGETHER;
        status = follow_all(&all, error);
    }
    return status;
}
