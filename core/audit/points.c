/* points.c - drives an engine of points beside a run: its accuracy, its measurements and records, what it may cost,
 * and its states that are kept for other runs; see points.h. */
#include "points.h"
#include "base/array.h"
#include "base/checkpoint.h"
#include "base/gaps.h"
#include "base/rim.h"
#include "record/instants.h"
#include "sampled.h"
#include "samples.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The part of an accuracy that the points' own errors may take, by dimension; the accuracy where none is asked for.
 */
static const double own_share[GBEES_MAX_DIM] = {0.1, 0.1, 0.1, 0.1, 0.25, 0.25, 0.25, 0.25}, accuracy_unasked = 0.2;
/* Points a deviation at first, by dimension, and the most. */
static const double first_points[GBEES_MAX_DIM] = {1, 1, 0.8, 0.8, 0.7, 0.7, 0.7, 0.7}, most_points = 40;
/* The part of the points' accuracy that is the tolerance of a trajectory's step. */
static const double step_share = 1e-4;
/* Evaluations of the drift that the points may take: so many in any case, more if an accuracy is asked for, and so
 * many for each cell update of the run. */
static const double free_evaluations = 1e8, asked_evaluations = 1e9, evaluations_share = 2;
/* The part of the run's cell updates, and the least number, that comparing a record's joint density may take; the
 * least of one of many runs. */
static const double density_share = 0.04, density_least = 1e6, density_least_kept = 2e5;
static const double kept_bytes_most = 1 << 30;
/* Samples beside the points, of which those are chosen that are drawn over a record's density. */
enum { DRAWN = 4000 };

/* The state at a record that is kept. */
typedef struct kept_state {
    int leg, next;
    gbees_clock clock;
    gbees_checkpoint engine;
} kept_state;

/* Everything but the engine and lists: saved as it is. */
typedef struct points_state {
    gbees_clock clock;
    int32_t leg, next;    /* the engine's leg; the first measurement that it has not been updated by */
    int32_t known, last;  /* measurements of which evidence is known; up to which the run has come */
    int32_t jumped;       /* instants whose jumps it has made */
    double evaluations;   /* that the engine may take */
    double updates, work; /* the run's at the last record; what comparing joint densities may take */
} points_state;

struct gbees_points_audit {
    gbees_problem *problem; /* as points have it */
    const gbees_backend *backend;
    gbees_engine_options options;
    gbees_engine *engine;
    points_state at;
    gbees_evidence *evidence; /* [measurements]: of each that is known */
    int asked, keep;          /* whether the run is asked for an accuracy; whether states are kept */
    int repeated;             /* 1: the present run will be repeated on a finer grid */
    size_t kept_count, kept_capacity;
    double kept_bytes;
    kept_state *kept;     /* at the start and after each record */
    gbees_sampled *drawn; /* NULL: they have failed */
};

/* ---- whether, and of what problem ---- */

int gbees_points_apply(const gbees_problem *problem, const gbees_audit_options *options)
{
    const gbees_montecarlo_options few = {.count = 128, .step = INFINITY, .seed = 1, .threads = 1};
    gbees_montecarlo *samples = NULL;
    gbees_error ignored;

    if (!options->points || problem->cells || problem->accuracy_of == GBEES_ACCURACY_DENSITY ||
        gbees_instants_with_error(problem) || gbees_problem_circles(problem) > 0)
        return 0;
    if (!problem->model->diffusion)
        return 1;
    if (gbees_montecarlo_create(problem, &few, &samples, &ignored))
        return 0;
    const int noisy = gbees_samples_are_ever_noisy(samples);
    gbees_montecarlo_destroy(samples);
    return !noisy;
}

/* Returns a copy of the run's problem for the engine of points. NULL: there is no memory. */
static gbees_problem *problem_of_points(const gbees_problem *problem, const gbees_backend *backend)
{
    const double accuracy =
        own_share[problem->dimension - 1] * (problem->accuracy > 0 ? problem->accuracy : accuracy_unasked);
    gbees_problem *made = malloc(sizeof *made);

    if (!made)
        return NULL;
    *made = *problem;
    made->own_backend = backend;
    made->moving = made->smooth = made->bounded = 0;
    made->frame_least = first_points[problem->dimension - 1];
    made->frame_cells = most_points;
    made->accuracy = accuracy;
    made->tolerance = step_share * accuracy;
    made->tail = gbees_rim_tail_for(problem->dimension, accuracy, problem->measurement_count > 0);
    return made;
}

/* ---- its engine ---- */

/* Whether the engine has taken more than it may: asked within its calls. */
static int is_dear(void *context)
{
    const gbees_points_audit *points = context;
    gbees_totals totals;

    if (!points->engine)
        return 0;
    points->backend->totals(points->engine, &totals);
    return totals.cell_updates > points->at.evaluations;
}

static void allow(gbees_points_audit *points, double updates)
{
    points->at.evaluations = fmax(points->at.evaluations, (points->asked ? asked_evaluations : free_evaluations) +
                                                              evaluations_share * updates);
}

static void destroy(void *self)
{
    gbees_points_audit *points = self;

    if (!points)
        return;
    if (points->engine)
        points->backend->destroy(points->engine);
    for (size_t k = 0; k < points->kept_count; k++)
        gbees_checkpoint_clear(&points->kept[k].engine);
    gbees_sampled_kind.destroy(points->drawn);
    free(points->kept);
    free(points->evidence);
    free(points->problem);
    free(points);
}

static int go_to(gbees_points_audit *points, double time, gbees_error *error)
{
    gbees_clock *clock = &points->at.clock;
    int status = GBEES_OK;

    if (!(time > clock->time)) /* in paper and legacy mode a record may be a step late */
        return GBEES_OK;
    clock->elapsed = 0;
    clock->length = time - clock->time;
    while (!status && clock->elapsed < clock->length)
        status = points->backend->advance(points->engine, clock, UINT64_MAX, error);
    clock->time = time;
    return status;
}

/* Takes the engine through the jumps of the instants up to number `end`, each at its time. */
static int jump_to(gbees_points_audit *points, int end, gbees_error *error)
{
    int status = GBEES_OK;

    for (; !status && points->at.jumped < end; points->at.jumped++) {
        const gbees_instant *instant = &points->problem->instants[points->at.jumped];

        status = go_to(points, instant->time, error);
        if (!status)
            status = points->backend->jump(points->engine, &points->at.clock, instant, error);
    }
    return status;
}

/* Updates the engine by the measurements up to number `end`, each at its time, after the jumps before it. */
static int update_to(gbees_points_audit *points, int end, gbees_error *error)
{
    int status = GBEES_OK;

    for (; !status && points->at.next < end; points->at.next++) {
        const gbees_measurement *measurement = &points->problem->measurements[points->at.next];
        gbees_evidence now = {0};

        status = jump_to(points, gbees_instants_before(points->problem, points->at.next + 1), error);
        if (!status)
            status = go_to(points, measurement->time, error);
        if (!status)
            status = points->backend->update(points->engine, &points->at.clock, measurement, &now, error);
        now.total = now.log_evidence + (points->at.next > 0 ? points->evidence[points->at.next - 1].total : 0);
        points->evidence[points->at.next] = now;
        if (!status && points->at.next >= points->at.known)
            points->at.known = points->at.next + 1;
    }
    return status;
}

/* Takes the engine through all that a leg begins with. */
static int begin_leg(gbees_points_audit *points, int leg, gbees_error *error)
{
    const gbees_leg_start start = gbees_leg_start_of(points->problem, leg);
    const int status = update_to(points, start.measurement + start.measurement_count, error);

    return status ? status : jump_to(points, start.instant + start.instant_count, error);
}

/* ---- states that are kept ---- */

static int add_bytes(void *context, const char *name, size_t size, uint64_t count, const void *data)
{
    (void)name;
    (void)data;
    *(double *)context += (double)size * (double)count;
    return 0;
}

/* Whether a state that is kept is at a time of a leg (0), before it (below 0), or after it. */
static int order_of(const gbees_points_audit *points, const kept_state *kept, int leg, double time)
{
    if (kept->leg != leg)
        return kept->leg < leg ? -1 : 1;
    if (fabs(kept->clock.time - time) <= 1e-12 * (points->problem->end - points->problem->start))
        return 0;
    return kept->clock.time < time ? -1 : 1;
}

/* The last state that is not after a time of a leg; NULL: none is kept. */
static const kept_state *find_kept(const gbees_points_audit *points, int leg, double time)
{
    size_t k = points->kept_count;

    while (k > 1 && order_of(points, &points->kept[k - 1], leg, time) > 0)
        k--;
    return k > 0 ? &points->kept[k - 1] : NULL;
}

/* Keeps the present state, if it is after all others and there is room for it. */
static void keep(gbees_points_audit *points)
{
    gbees_error ignored;
    double bytes = points->kept_bytes;

    if (!points->keep ||
        (points->kept_count > 0 &&
         order_of(points, &points->kept[points->kept_count - 1], points->at.leg, points->at.clock.time) >= 0) ||
        points->backend->save(points->engine, add_bytes, &bytes, &ignored) || bytes > kept_bytes_most)
        return;
    if (gbees_array_grow(&points->kept, points->kept_count, &points->kept_capacity, sizeof *points->kept))
        return;
    kept_state *to = &points->kept[points->kept_count];
    *to = (kept_state){.leg = points->at.leg, .next = points->at.next, .clock = points->at.clock};
    if (points->backend->save(points->engine, gbees_checkpoint_add, &to->engine, &ignored)) {
        gbees_checkpoint_clear(&to->engine);
        return;
    }
    points->kept_bytes = bytes;
    points->kept_count++;
}

static int replace_engine(gbees_points_audit *points, const gbees_checkpoint *from,
                          const gbees_engine_options *options, gbees_error *error)
{
    gbees_engine *engine = NULL;
    const int status = points->backend->load(points->problem, options, gbees_checkpoint_find, (void *)(uintptr_t)from,
                                             &engine, error);

    if (status)
        return status;
    if (points->engine)
        points->backend->destroy(points->engine);
    points->engine = engine;
    return GBEES_OK;
}

/* What the backend lends takes long to open, and there is hardly anything to be integrated. */
static int restore(gbees_points_audit *points, const kept_state *from, gbees_error *error)
{
    gbees_engine_options options = points->options;

    options.lender = NULL;
    points->at.leg = from->leg;
    points->at.next = from->next;
    points->at.clock = from->clock;
    const gbees_leg_start start = gbees_leg_start_of(points->problem, points->at.leg);
    points->at.jumped = start.instant + start.instant_count;
    return replace_engine(points, &from->engine, &options, error);
}

/* ---- the kind ---- */

static void drop_drawn(gbees_points_audit *points)
{
    gbees_sampled_kind.destroy(points->drawn);
    points->drawn = NULL;
}

static int advance(void *self, const gbees_record *record, gbees_error *error)
{
    gbees_points_audit *points = self;
    const double updates = record->totals.cell_updates;
    const kept_state *kept = find_kept(points, record->leg, record->time);
    gbees_error ignored;
    int status = GBEES_OK;

    points->at.work += density_share * fmax(updates - points->at.updates, 0);
    points->at.updates = updates;
    allow(points, updates);
    if (kept && (points->at.leg > record->leg || points->at.clock.time > record->time ||
                 order_of(points, kept, record->leg, record->time) == 0))
        status = restore(points, kept, error);
    if (!status && points->at.leg < record->leg)
        status = begin_leg(points, record->leg, error);
    points->at.leg = record->leg;
    if (points->drawn && gbees_sampled_kind.advance(points->drawn, record, &ignored))
        drop_drawn(points);
    return status ? status : go_to(points, record->time, error);
}

/* Whether the run is one of several, and will be repeated on a finer grid, as a record's error is above what is asked
 * for. */
static int is_repeated(gbees_points_audit *points, const gbees_record *record, const gbees_certificate *certificate)
{
    const gbees_problem *problem = record->problem;

    points->repeated |=
        points->keep && points->asked &&
        gbees_certificate_error(certificate, problem->dimension, problem->accuracy_of).bound > problem->accuracy;
    return points->repeated;
}

/* The joint density, which takes longer than all else, is not compared in a run that will be repeated. */
static int compare(void *self, const gbees_record *record, gbees_certificate *certificate, gbees_error *error)
{
    gbees_points_audit *points = self;
    const double allowed = fmax(points->at.work, points->keep ? density_least_kept : density_least);
    double left = 0;
    int status = points->backend->compare(points->engine, record, &left, certificate, error);

    if (!status && !is_repeated(points, record, certificate)) {
        left = allowed;
        status = points->backend->compare(points->engine, record, &left, certificate, error);
        points->at.work -= allowed - left;
    }
    if (!status)
        keep(points); /* the engine may have been improved for the comparison */
    return status;
}

static int update(void *self, int number, gbees_error *error)
{
    gbees_points_audit *points = self;

    points->at.last = number;
    return number <= points->at.known ? GBEES_OK : update_to(points, number, error);
}

/* The engine's own is the reference; the lattice that is furthest from it tells the error. */
static void evidence_of(const void *self, gbees_evidence *evidence)
{
    const gbees_points_audit *points = self;
    const gbees_evidence *now = points->at.last > 0 ? &points->evidence[points->at.last - 1] : NULL;

    evidence->sampled = now ? now->log_evidence : NAN;
    evidence->sampled_error = now ? now->sampled_error : NAN;
    evidence->total_sampled = now ? now->total : NAN;
    evidence->total_error = now ? now->total_error : NAN;
    evidence->by_points = 1;
}

static int find_targets(void *self, gbees_target_state *state, gbees_error *error)
{
    const gbees_points_audit *points = self;

    return points->backend->targets(points->engine, &points->at.clock, state, error);
}

static const gbees_sample_list *list_samples(void *self)
{
    const gbees_points_audit *points = self;

    return points->drawn ? gbees_sampled_kind.samples(points->drawn) : NULL;
}

/* The engine's state is restored at the next record. */
static void rewind_points(void *self)
{
    gbees_points_audit *points = self;

    if (points->drawn)
        gbees_sampled_kind.rewind(points->drawn);
    points->at.last = points->repeated = 0;
    points->at.updates = points->at.work = 0;
}

static const char state_part[] = "audit_points", evidence_part[] = "audit_evidence";

int gbees_points_are_in(const gbees_checkpoint *checkpoint)
{
    uint64_t count;

    return gbees_checkpoint_find((void *)(uintptr_t)checkpoint, state_part, 1, &count) != NULL;
}

static int save(const void *self, gbees_state_sink *sink, void *to, gbees_error *error)
{
    const gbees_points_audit *points = self;
    points_state state = points->at;

    GBEES_CLEAR_GAPS(&state);
    if (sink(to, state_part, 1, sizeof state, &state) ||
        sink(to, evidence_part, 8, (uint64_t)points->at.known * sizeof *points->evidence / 8, points->evidence))
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a checkpoint of the audit");
    const int status = points->drawn ? gbees_sampled_kind.save(points->drawn, sink, to, error) : GBEES_OK;
    return status ? status : points->backend->save(points->engine, sink, to, error);
}

static int load(void *self, const gbees_checkpoint *checkpoint, gbees_error *error)
{
    gbees_points_audit *points = self;
    points_state state;
    gbees_error ignored;
    int status = gbees_checkpoint_copy(checkpoint, state_part, 1, sizeof state, &state, error);

    if (!status && (state.known < 0 || state.known > points->problem->measurement_count || state.last < 0 ||
                    state.last > state.known || state.next < 0 || state.next > state.known || state.jumped < 0 ||
                    state.jumped > points->problem->instant_count))
        status = gbees_error_set(error, GBEES_EINPUT, "the checkpoint's audit is of another problem");
    if (!status)
        status = gbees_checkpoint_copy(checkpoint, evidence_part, 8,
                                       (uint64_t)state.known * sizeof *points->evidence / 8, points->evidence, error);
    if (!status && points->drawn && gbees_sampled_kind.load(points->drawn, checkpoint, &ignored))
        drop_drawn(points); /* it had none */
    if (!status)
        status = replace_engine(points, checkpoint, &points->options, error);
    if (status)
        return status;
    points->at = state;
    return GBEES_OK;
}

const gbees_reference_kind gbees_points_kind = {
    .destroy = destroy,
    .advance = advance,
    .compare = compare,
    .targets = find_targets,
    .update = update,
    .evidence = evidence_of,
    .samples = list_samples,
    .rewind = rewind_points,
    .save = save,
    .load = load,
};

/* ---- create ---- */

int gbees_points_create(const gbees_problem *problem, const gbees_audit_options *options, gbees_points_audit **points,
                        gbees_error *error)
{
    gbees_points_audit *made = calloc(1, sizeof *made);
    gbees_audit_options few = *options;
    int status = GBEES_OK;

    few.samples = DRAWN;

    if (!made || !(made->problem = problem_of_points(problem, options->points)) ||
        !(made->evidence = calloc((size_t)problem->measurement_count + 1, sizeof *made->evidence)))
        status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory for an audit");
    if (!status) {
        made->backend = options->points;
        made->asked = problem->accuracy > 0;
        made->keep = options->keep;
        made->options = (gbees_engine_options){
            .threads = options->threads, .lender = options->backend, .cancelled = is_dear, .cancelled_context = made};
        made->at.clock.time = gbees_problem_initial_time(problem);
        allow(made, 0);
        status = made->backend->create(made->problem, &made->options, &made->engine, error);
    }
    if (!status)
        status = gbees_sampled_create(problem, &few, &made->drawn, error);
    if (status) {
        destroy(made);
        return status;
    }
    keep(made);
    *points = made;
    return GBEES_OK;
}
