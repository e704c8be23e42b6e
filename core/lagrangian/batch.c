/* batch.c - points side by side in columns, so that loops over them are vectorised. Each has its own time and length
 * of step; one that has arrived makes room for the next. So a point's way does not depend on those beside it, and
 * none waits for one that is slow. */
#include "batch.h"
#include "base/clones.h"
#include "base/numbers.h"
#include "numerics/adaptive.h"
#include "numerics/dormand_prince.h"
#include "watch.h"
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    POINTS = 2 * GBEES_BATCH, /* with half as many, loops begin twice as often: 6 to 13 % more time */
    MOST = GBEES_MAX_DIM + 1, /* columns: states and the stretch */
    STAGES = GBEES_DORMAND_PRINCE_STAGES,
    SLOPES = GBEES_DORMAND_PRINCE_SLOPES, /* with those that tell where a point is within a step */
    ROUNDS = 24                           /* trials of a first step's length, at most */
};

/* Points on their way, the first `active` of POINTS. */
typedef struct batch {
    _Alignas(64) double slope[MOST][SLOPES]
                             [POINTS]; /* a load of a whole vector from two cache lines takes twice as long */
    double x[MOST][POINTS], next[MOST][POINTS]; /* at the step's start and end; at a stage in between: of states */
    double fifth[POINTS], third[POINTS];        /* the differences of orders, in units of the error that is allowed */
    double error[POINTS];                       /* of the step: at most 1 if it is taken */
    double length[POINTS], left[POINTS];        /* of this step, and to the end of the way; signed */
    double step[POINTS], growth[POINTS];        /* the length that is wanted, and the factor by which it may grow */
    double least[POINTS];                       /* the shortest length */
    double tried[POINTS], due[POINTS];          /* steps tried, and when to ask whether the point gets on */
    double seen[POINTS];                        /* what was left when it was asked last */
    size_t number[POINTS], active;
} batch;

static const double origin[GBEES_MAX_DIM];

/* The points whose loops run: whole vectors of all kinds. */
static size_t padded(size_t count)
{
    return (count + GBEES_GROUP - 1) / GBEES_GROUP * GBEES_GROUP;
}

/* ---- the drift --------------------------------------------------------------------------------------------------
 */

/* Evaluates component j at points beside x, out[POINTS]; `times`: of each point, or NULL: all at `time`. */
static void component_at(const gbees_journey *w, int j, size_t count, const double *times, double time,
                         const double *beside, const double *const *x, double *out)
{
    double all[GBEES_MAX_DIM][POINTS], *to[GBEES_MAX_DIM];

    if (!times) {
        w->functions->component_d[j](count, time, beside, x, w->problem->parameters, out);
        return;
    }
    for (int k = 0; k < w->problem->dimension; k++)
        to[k] = k == j ? out : all[k];
    w->functions->drift_times_d(count, times, beside, x, w->problem->parameters, to);
}

void gbees_batch_divergence(const gbees_journey *w, size_t count, const double *times, double time,
                            const double *const *x, double *sum, double *size)
{
    const int n = w->problem->dimension;

    for (size_t i = 0; i < count; i++)
        sum[i] = 0;
    for (int j = 0; j < n; j++) {
        double beside[GBEES_MAX_DIM] = {0}, above[POINTS], below[POINTS];

        beside[j] = w->beside[j];
        component_at(w, j, count, times, time, beside, x, above);
        beside[j] = -w->beside[j];
        component_at(w, j, count, times, time, beside, x, below);
        for (size_t i = 0; i < count; i++) {
            const double term = (above[i] - below[i]) / (2 * w->beside[j]);

            sum[i] += term;
            if (size)
                size[i] += fabs(term);
        }
    }
}

/* Evaluates the slopes of a stage. */
static void evaluate(const gbees_journey *w, batch *b, int stage)
{
    const int n = w->problem->dimension, timed = (w->problem->model->flags & GBEES_TIME_DEPENDENT) != 0;
    const double node = stage < STAGES ? gbees_dormand_prince_node(stage) : gbees_dormand_prince_dense_node(stage);
    const size_t count = padded(b->active);
    const double *point[GBEES_MAX_DIM];
    double *slope[GBEES_MAX_DIM], time[POINTS];

    for (size_t i = 0; timed && i < count; i++)
        time[i] = i < b->active ? w->to - b->left[i] + node * b->length[i] : time[0];
    for (int j = 0; j < n; j++) {
        point[j] = stage == 0 ? b->x[j] : b->next[j];
        slope[j] = b->slope[j][stage];
    }
    if (timed)
        w->functions->drift_times_d(count, time, origin, point, w->problem->parameters, slope);
    else
        w->functions->drift_d(count, w->from, origin, point, w->problem->parameters, slope);
    if (w->stretches && gbees_dormand_prince_counts(stage))
        gbees_batch_divergence(w, count, timed ? time : NULL, w->from, point, b->slope[n][stage], NULL);
}

/* ---- a step -----------------------------------------------------------------------------------------------------
 */

GBEES_NUM void place_along(int stage, size_t count, const double *restrict x, const double *restrict length,
                           const double *restrict slope, double *restrict point)
{
#pragma omp simd
    for (size_t i = 0; i < count; i++)
        point[i] = x[i] + length[i] * gbees_dormand_prince_slope(stage, slope + i, POINTS);
}

GBEES_NUM void place_all(int stage, int n, size_t count, batch *b)
{
    for (int j = 0; j < n; j++)
        place_along(stage, count, b->x[j], b->length, b->slope[j][0], b->next[j]);
}

/* Sets the points at which a stage's slopes are evaluated. */
GBEES_PROCESSOR_CLONES static void place(int stage, int n, size_t count, batch *b)
{
    switch (stage) {
    case 1:
        place_all(1, n, count, b);
        break;
    case 2:
        place_all(2, n, count, b);
        break;
    case 3:
        place_all(3, n, count, b);
        break;
    case 4:
        place_all(4, n, count, b);
        break;
    case 5:
        place_all(5, n, count, b);
        break;
    case 6:
        place_all(6, n, count, b);
        break;
    case 7:
        place_all(7, n, count, b);
        break;
    case 8:
        place_all(8, n, count, b);
        break;
    case 9:
        place_all(9, n, count, b);
        break;
    case 10:
        place_all(10, n, count, b);
        break;
    default:
        place_all(11, n, count, b);
        break;
    }
}

/* Sets next[count], the column at the step's end, and the largest differences of orders so far, in units of the error
 * that is allowed: what is not a number is kept. */
GBEES_PROCESSOR_CLONES static void end_along(size_t count, const double *restrict x, const double *restrict length,
                                             const double *restrict slope, double allowed, double *restrict next,
                                             double *restrict fifth, double *restrict third)
{
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        const double mean = gbees_dormand_prince_mean(slope + i, POINTS),
                     by = length[i] / gbees_adaptive_allowed(allowed, x[i], length[i] * mean),
                     five = fabs(by * gbees_dormand_prince_fifth(slope + i, POINTS)),
                     three = fabs(by * gbees_dormand_prince_third(slope + i, POINTS, mean));

        next[i] = x[i] + length[i] * mean;
        fifth[i] = five <= fifth[i] ? fifth[i] : five;
        third[i] = three <= third[i] ? third[i] : three;
    }
}

GBEES_PROCESSOR_CLONES static void find_errors(size_t count, const double *restrict fifth,
                                               const double *restrict third, double *restrict error)
{
#pragma omp simd
    for (size_t i = 0; i < count; i++)
        error[i] = gbees_dormand_prince_error(fifth[i], third[i]);
}

/* Tries a step of b->length: sets b->next and b->error. */
static void try_step(const gbees_journey *w, batch *b)
{
    const int columns = w->problem->dimension + w->stretches;
    const size_t count = padded(b->active);

    evaluate(w, b, 0);
    for (int stage = 1; stage < STAGES; stage++) {
        place(stage, w->problem->dimension, count, b);
        evaluate(w, b, stage);
    }
    for (size_t i = 0; i < count; i++)
        b->fifth[i] = b->third[i] = 0;
    for (int j = 0; j < columns; j++)
        end_along(count, b->x[j], b->length, b->slope[j][0], w->allowed[j], b->next[j], b->fifth, b->third);
    find_errors(count, b->fifth, b->third, b->error);
}

/* ---- targets ---- */

/* Evaluates the slopes at the step's end, and those within it that tell where points are in between. */
static void look_within(const gbees_journey *w, batch *b)
{
    gbees_journey alone = *w; /* the stretch is not needed there */
    double end[GBEES_MAX_DIM][POINTS];

    alone.stretches = 0;
    evaluate(&alone, b, STAGES);
    for (int j = 0; j < w->problem->dimension; j++)
        memcpy(end[j], b->next[j], sizeof end[j]);
    for (int stage = STAGES + 1; stage < SLOPES; stage++) {
        for (int j = 0; j < w->problem->dimension; j++)
            for (size_t i = 0; i < padded(b->active); i++)
                b->next[j][i] =
                    b->x[j][i] + b->length[i] * gbees_dormand_prince_dense_slope(stage, b->slope[j][0] + i, POINTS);
        evaluate(&alone, b, stage);
    }
    for (int j = 0; j < w->problem->dimension; j++)
        memcpy(b->next[j], end[j], sizeof end[j]);
}

/* Looks whether points enter targets in the steps that are taken, or that can't be shorter. */
static void watch(const gbees_journey *w, batch *b, double *const *lowest)
{
    look_within(w, b);
    for (size_t i = 0; i < b->active; i++) {
        gbees_watched_step step = {.problem = w->problem, .time = w->to - b->left[i], .length = b->length[i]};
        int finite = b->error[i] <= 1 || gbees_adaptive_is_shortest(b->length[i], b->least[i]);

        for (int j = 0; j < w->problem->dimension; j++) {
            step.x[j] = b->x[j][i];
            gbees_dormand_prince_dense(b->x[j][i], b->next[j][i], b->length[i], b->slope[j][0] + i, POINTS,
                                       step.term[j]);
            finite = finite && isfinite(b->next[j][i]);
        }
        if (finite)
            gbees_watch_step(&step, lowest, b->number[i]);
    }
}

/* Chooses the length of the next step: what is wanted, or all that is left. */
GBEES_PROCESSOR_CLONES static void choose_lengths(size_t count, const double *restrict step,
                                                  const double *restrict left, double *restrict length)
{
#pragma omp simd
    for (size_t i = 0; i < count; i++)
        length[i] = gbees_adaptive_length(step[i], left[i]);
}

GBEES_PROCESSOR_CLONES static void take_along(size_t count, const double *restrict error, const double *restrict next,
                                              double *restrict x)
{
#pragma omp simd
    for (size_t i = 0; i < count; i++)
        x[i] = error[i] <= 1 ? next[i] : x[i];
}

/* Counts the steps, shortens what is left by those that are taken, and sets the lengths that are wanted next: a step
 * after one that was not taken is not longer. Returns whether some points need more thought: they have arrived, or
 * can take no shorter step, or it is to be asked whether they get on. */
GBEES_PROCESSOR_CLONES static int settle(size_t count, const double *restrict error, const double *restrict length,
                                         const double *restrict least, const double *restrict due,
                                         double *restrict left, double *restrict step, double *restrict growth,
                                         double *restrict tried)
{
    double odd = 0;

#pragma omp simd reduction(max : odd)
    for (size_t i = 0; i < count; i++) {
        const int is_taken = error[i] <= 1;
        left[i] = is_taken ? left[i] - length[i] : left[i];
        step[i] = gbees_adaptive_wanted(length[i], gbees_dormand_prince_factor(error[i]), growth[i], least[i]);
        growth[i] = is_taken ? GBEES_ADAPTIVE_GROWTH : 1;
        tried[i] += 1;
        odd = left[i] == 0 || tried[i] >= due[i] || (!is_taken && gbees_adaptive_is_shortest(length[i], least[i]))
                  ? 1
                  : odd;
    }
    return odd != 0;
}

/* ---- points come and go -----------------------------------------------------------------------------------------
 */

/* The points that a call has still to take. */
typedef struct queue {
    const gbees_journey *journey;
    double *const *x;
    double *stretch;
    size_t next, end;
} queue;

/* Puts the next point that is finite into place i; returns whether there was one. */
static int load(queue *q, batch *b, size_t i)
{
    const gbees_journey *w = q->journey;
    const int n = w->problem->dimension;

    for (; q->next < q->end; q->next++) {
        int finite = 1;

        for (int j = 0; j < n; j++) {
            b->x[j][i] = q->x[j][q->next];
            finite &= isfinite(b->x[j][i]) != 0;
        }
        if (!finite)
            continue;
        b->x[n][i] = 0;
        b->left[i] = w->to - w->from;
        b->step[i] = w->first;
        b->growth[i] = GBEES_ADAPTIVE_GROWTH;
        b->least[i] = gbees_adaptive_shortest(fabs(w->to - w->from));
        b->tried[i] = 0;
        b->due[i] = GBEES_ADAPTIVE_WINDOW;
        b->seen[i] = INFINITY;
        b->number[i] = q->next++;
        return 1;
    }
    return 0;
}

/* Moves the point in place k to place i. */
static void move(int columns, batch *b, size_t i, size_t k)
{
    for (int j = 0; j < columns; j++)
        b->x[j][i] = b->x[j][k];
    b->left[i] = b->left[k];
    b->step[i] = b->step[k];
    b->growth[i] = b->growth[k];
    b->least[i] = b->least[k];
    b->tried[i] = b->tried[k];
    b->due[i] = b->due[k];
    b->seen[i] = b->seen[k];
    b->number[i] = b->number[k];
    b->length[i] = b->length[k];
    b->error[i] = b->error[k];
    for (int j = 0; j < columns; j++)
        b->next[j][i] = b->next[j][k];
}

/* Leaves place i without a point: it takes steps of length 0 and never needs thought. */
static void vacate(batch *b, size_t i)
{
    b->left[i] = NAN;
    b->step[i] = 0;
    b->least[i] = -1;
    b->due[i] = INFINITY;
}

/* Writes the point in place i back, and fills its place. */
static void leave(queue *q, batch *b, size_t i)
{
    const gbees_journey *w = q->journey;
    const int n = w->problem->dimension;

    for (int j = 0; j < n; j++)
        q->x[j][b->number[i]] = b->x[j][i];
    if (w->stretches)
        q->stretch[b->number[i]] += b->x[n][i];
    if (load(q, b, i))
        return;
    b->active--;
    if (i < b->active)
        move(n + 1, b, i, b->active);
    vacate(b, b->active);
}

/* Ends the trajectory of the point in place i. */
static void end(const gbees_journey *w, batch *b, size_t i)
{
    for (int j = 0; j <= w->problem->dimension; j++)
        b->x[j][i] = NAN;
    b->left[i] = 0;
}

/* Decides on a step that is as short as it may be but has too large an error: it is taken where the drift jumps, so
 * that the point moves but little; else the trajectory ends here. */
static void force(const gbees_journey *w, batch *b, size_t i)
{
    const int n = w->problem->dimension;
    const int is_forced = b->least[i] > gbees_adaptive_shortest(fabs(w->to - w->from));

    for (int j = 0; j < n; j++)
        if (!isfinite(b->next[j][i]) || (!is_forced && fabs(b->next[j][i] - b->x[j][i]) > w->scale[j])) {
            end(w, b, i);
            return;
        }
    for (int j = 0; j < n + w->stretches; j++)
        b->x[j][i] = b->next[j][i];
    b->left[i] -= b->length[i];
}

/* A point that hardly gets on, as along a jump of the drift that it is led back to from both sides, gets longer steps
 * until it is asked again. One that has taken far more steps than others is given up. */
static void hurry(const gbees_journey *w, batch *b, size_t i)
{
    b->least[i] = gbees_adaptive_least(fabs(w->to - w->from), fabs(b->seen[i] - b->left[i]), b->least[i]);
    b->step[i] = fmax(b->step[i], b->least[i]);
    b->seen[i] = b->left[i];
    b->due[i] += GBEES_ADAPTIVE_WINDOW;
    if (b->tried[i] >= w->most)
        end(w, b, i);
}

/* The points that need more thought; from the last one on, as the last one fills the place of one that leaves. */
static void think(queue *q, batch *b)
{
    for (size_t i = b->active; i-- > 0;) {
        if (!(b->error[i] <= 1) && gbees_adaptive_is_shortest(b->length[i], b->least[i]))
            force(q->journey, b, i);
        if (b->left[i] != 0 && b->tried[i] >= b->due[i])
            hurry(q->journey, b, i);
        if (b->left[i] == 0)
            leave(q, b, i);
    }
}

/* Fills a batch. What is in no place is 0: loops of whole vectors read it. */
static void fill(queue *q, batch *b)
{
    const int columns = q->journey->problem->dimension + q->journey->stretches;

    for (int j = 0; j < columns; j++)
        memset(b->slope[j], 0, sizeof b->slope[j]);
    memset(b->x, 0, sizeof *b - offsetof(batch, x));
    for (size_t i = 0; i < POINTS; i++)
        vacate(b, i);
    while (b->active < POINTS && load(q, b, b->active))
        b->active++;
}

uint64_t gbees_batch_run(const gbees_journey *w, size_t first, size_t count, double *const *x, double *stretch,
                         double *const *lowest)
{
    queue q = {.journey = w, .x = x, .stretch = stretch, .next = first, .end = first + count};
    const int columns = w->problem->dimension + w->stretches;
    uint64_t evaluations = 0;
    batch b;

    fill(&q, &b);
    while (b.active > 0) {
        const size_t some = padded(b.active);

        choose_lengths(some, b.step, b.left, b.length);
        try_step(w, &b);
        evaluations += (lowest ? SLOPES : STAGES) * b.active;
        if (lowest)
            watch(w, &b, lowest);
        for (int j = 0; j < columns; j++)
            take_along(some, b.error, b.next[j], b.x[j]);
        if (settle(some, b.error, b.length, b.least, b.due, b.left, b.step, b.growth, b.tried))
            think(&q, &b);
    }
    return evaluations;
}

double gbees_batch_first_step(const gbees_journey *w, size_t count, const double *const *x, uint64_t *evaluations)
{
    const double span = fabs(w->to - w->from);
    double *columns[GBEES_MAX_DIM];
    gbees_journey whole = *w;
    batch b;

    for (int j = 0; j < w->problem->dimension; j++)
        columns[j] = (double *)x[j]; /* which load() only reads */
    whole.first = span;
    queue q = {.journey = &whole, .x = columns, .end = count};
    fill(&q, &b);
    if (b.active == 0)
        return span;
    for (int round = 0, better = 1; better && round < ROUNDS; round++) {
        choose_lengths(padded(b.active), b.step, b.left, b.length);
        try_step(w, &b);
        *evaluations += STAGES * b.active;
        better = 0;
        for (size_t i = 0; i < b.active; i++) {
            const double factor = gbees_dormand_prince_factor(b.error[i]),
                         step = gbees_adaptive_wanted(b.length[i], factor, span / fabs(b.length[i]),
                                                      gbees_adaptive_shortest(span));

            better |= !(b.error[i] <= 1) || step > 1.5 * b.step[i];
            b.step[i] = step;
        }
    }
    qsort(b.step, b.active, sizeof *b.step, gbees_compare_numbers);
    return b.step[b.active / 4];
}
