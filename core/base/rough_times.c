/* rough_times.c - looks at drift, noise and functions of targets that absorb at equal distances in time, at a few
 * points, and bisects where they change by much of their range. */
#include "rough_times.h"
#include "array.h"
#include "numbers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    N = GBEES_MAX_DIM,
    LOOKS_LEAST = 32, /* in an interval */
    HALVINGS = 10,    /* of the time between two looks */
    LINES = 8,        /* that tell how a target's function changes in a step */
    COMPONENTS = N + N * N + GBEES_MAX_TARGETS,
    VALUES = COMPONENTS * GBEES_ROUGH_POINTS
};

static const double most_change = 1.0 / 8;   /* of the range, from one end of a step to the other */
static const double least_change = 1.0 / 64; /* that is worth a step of its own */
static const double negligible = 1e-3;       /* deviations that all of the range adds over the interval */
static const double soon = 1.0 / 128;        /* of the run: steps are trusted to see what takes longer to change */
static const double some_change = 1.0 / 16, no_change = 1.0 / 256; /* of the range, over some looks */

/* The components at all points at one time: the drift and the noise, in deviations of a state over the interval, and
 * functions of targets, in parts of the largest at the interval's ends. */
typedef struct values {
    double at[VALUES];
} values;

typedef struct search {
    const gbees_rough_look *look;
    const gbees_functions *functions;
    int states, entries;                    /* of the drift and the noise; 0: these do not depend on the time */
    int targets, target[GBEES_MAX_TARGETS]; /* those that absorb: their functions' numbers; else 0 */
    double size[GBEES_MAX_TARGETS];
    double range[COMPONENTS];
    gbees_rough_times *times;
    int status;
} search;

static int components_of(const search *s)
{
    return s->states + s->entries + s->targets;
}

/* Component k's unit: of the drift the states, then the noise's entries, then the targets. */
static double unit_of(const search *s, int k)
{
    const int n = s->states;
    const double *scale = s->look->scale, length = s->look->to - s->look->from;

    if (k < n)
        return length / scale[k];
    if (k >= n + s->entries)
        return 1 / s->size[k - n - s->entries];
    const int entry = k - n, row = s->entries > n ? entry / n : entry, column = s->entries > n ? entry % n : entry;
    return length / (scale[row] * scale[column]);
}

static void evaluate(const search *s, double time, values *v)
{
    static const double origin[N];
    const gbees_rough_look *look = s->look;
    const int n = s->states;
    const size_t points = look->points;
    const double *parameters = look->problem->parameters;
    double *out[N * N];

    for (int k = 0; k < n; k++)
        out[k] = v->at + (size_t)k * points;
    if (n > 0)
        s->functions->drift_d(points, time, origin, look->x, parameters, out);
    for (int k = 0; k < s->entries; k++)
        out[k] = v->at + (size_t)(n + k) * points;
    if (s->entries > 0)
        s->functions->diffusion_d(points, time, origin, look->x, parameters, out);
    for (int k = 0; k < s->targets; k++)
        s->functions->target_d(s->target[k], points, time, origin, look->x, parameters,
                               v->at + (size_t)(n + s->entries + k) * points);
    for (int k = 0; k < components_of(s); k++)
        for (size_t i = 0; i < points; i++)
            v->at[(size_t)k * points + i] *= unit_of(s, k);
}

/* The largest change of a component from one time to another, over its range. */
static double change(const search *s, const values *a, const values *b)
{
    const size_t points = s->look->points;
    double most = 0;

    for (int k = 0; k < components_of(s); k++)
        for (size_t i = 0; i < points && s->range[k] > negligible; i++)
            most = fmax(most, fabs(b->at[(size_t)k * points + i] - a->at[(size_t)k * points + i]) / s->range[k]);
    return most;
}

static void append(search *s, double time)
{
    gbees_rough_times *times = s->times;

    if (s->status || !(time > s->look->from) || !(time < s->look->to))
        return;
    if (gbees_array_grow(&times->time, times->count, &times->capacity, sizeof *times->time)) {
        s->status = GBEES_ENOMEM;
        return;
    }
    times->time[times->count++] = time;
}

/* Adds times from a to b between which nothing changes by much of its range, or that are as near as they may be. */
static void divide(search *s, double a, const values *at_a, double b, const values *at_b, int halvings)
{
    const double changed = change(s, at_a, at_b);
    values at_middle;

    if (!(changed > most_change) || halvings == 0) {
        if (changed > least_change) {
            append(s, a);
            append(s, b);
        }
        return;
    }
    evaluate(s, a + (b - a) / 2, &at_middle);
    divide(s, a, at_a, a + (b - a) / 2, &at_middle, halvings - 1);
    divide(s, a + (b - a) / 2, &at_middle, b, at_b, halvings - 1);
}

static double time_of(const gbees_rough_look *look, int k, int looks)
{
    return look->from + (look->to - look->from) * k / looks;
}

/* Sets the range of each component over the interval: the largest of all points. */
static void find_range(search *s, int looks)
{
    const size_t points = s->look->points;
    const int components = components_of(s);
    values least, most, now;

    evaluate(s, s->look->from, &least);
    most = least;
    for (int k = 1; k <= looks; k++) {
        evaluate(s, time_of(s->look, k, looks), &now);
        for (size_t i = 0; i < (size_t)components * points; i++) {
            least.at[i] = fmin(least.at[i], now.at[i]);
            most.at[i] = fmax(most.at[i], now.at[i]);
        }
    }
    for (int k = 0; k < components; k++)
        for (size_t i = 0; i < points; i++)
            s->range[k] = fmax(s->range[k], most.at[(size_t)k * points + i] - least.at[(size_t)k * points + i]);
}

/* ---- rows of tables ---- */

static double range_of(const gbees_parameter_table *table)
{
    double least = table->value[0], most = table->value[0];

    for (size_t i = 1; i < table->rows; i++) {
        least = fmin(least, table->value[i]);
        most = fmax(most, table->value[i]);
    }
    return most - least;
}

/* Appends the rows of a table between which its value has changed by much of its range. */
static void append_rows(search *s, const gbees_parameter_table *table)
{
    const double enough = most_change * range_of(table);
    double from = table->value[0];

    for (size_t i = 1; i < table->rows; i++)
        if (fabs(table->value[i] - from) > enough) {
            append(s, table->time[i - 1]);
            append(s, table->time[i]);
            from = table->value[i];
        }
}

/* Adds the rows of the problem's tables at which steps are to end, and puts all times in order, each once. */
static int finish(search *s, gbees_error *error)
{
    const gbees_problem *problem = s->look->problem;
    gbees_rough_times *times = s->times;
    size_t kept = 0;

    for (int k = 0; k < problem->table_count; k++)
        append_rows(s, &problem->tables[k]);
    if (times->count > 0)
        qsort(times->time, times->count, sizeof *times->time, gbees_compare_numbers);
    for (size_t i = 0; i < times->count; i++)
        if (kept == 0 || times->time[i] > times->time[kept - 1])
            times->time[kept++] = times->time[i];
    times->count = kept;
    return s->status ? gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the times of pulses") : GBEES_OK;
}

/* ---- equations ---- */

/* Lists the targets that absorb, with the largest values that their functions have at the interval's ends. */
static void list_targets(search *s)
{
    const gbees_problem *problem = s->look->problem;
    const double end[2] = {s->look->from, s->look->to};
    values v;

    for (int k = 0; k < problem->target_count; k++)
        if (problem->targets[k].kind == GBEES_TARGET_ABSORB) {
            s->size[s->targets] = 1;
            s->target[s->targets++] = problem->targets[k].function;
        }
    for (int k = 0; k < 2 && s->targets > 0; k++) {
        evaluate(s, end[k], &v);
        for (size_t i = 0; i < (size_t)s->targets * s->look->points; i++)
            s->range[i / s->look->points] = fmax(s->range[i / s->look->points], fabs(v.at[i]));
    }
    for (int k = 0; k < s->targets; k++) {
        s->size[k] = s->range[k] > 0 ? s->range[k] : 1;
        s->range[k] = 0;
    }
}

/* What has changed since a time. */
typedef struct since {
    double time;
    values at;
} since;

/* Adds the times from and to which something has changed by much, though not from one look to the next, if it has
 * done so within a time; now, or as nothing has changed, the changes are counted from now on. */
static void add_change(search *s, double within, double time, const values *now, since *last)
{
    const double changed = change(s, &last->at, now), passed = time - last->time;

    if (changed > some_change && passed <= within) {
        append(s, last->time);
        append(s, time);
    }
    if (changed > some_change || changed < no_change || passed > within)
        *last = (since){time, *now};
}

static double run_of(const search *s)
{
    return s->look->problem->end - s->look->problem->start;
}

/* How often to look in the interval. */
static int looks_of(const search *s)
{
    const double part = (s->look->to - s->look->from) / run_of(s);

    return (int)fmin(GBEES_ROUGH_LOOKS, fmax(LOOKS_LEAST, ceil(GBEES_ROUGH_LOOKS * part)));
}

/* Adds the times of fast changes of drift and noise: steps are short enough for others. */
static void find(search *s)
{
    const gbees_rough_look *look = s->look;
    const double within = soon * run_of(s);
    const int looks = looks_of(s);
    since before, last;

    find_range(s, looks);
    before.time = look->from;
    evaluate(s, look->from, &before.at);
    last = before;
    for (int k = 1; k <= looks && !s->status; k++) {
        const double time = time_of(look, k, looks);
        values now;

        evaluate(s, time, &now);
        if (change(s, &before.at, &now) > most_change)
            divide(s, before.time, &before.at, time, &now, HALVINGS);
        add_change(s, within, time, &now, &last);
        before = (since){time, now};
    }
}

/* ---- targets ---- */

/* The functions of targets at all looks, count of each. */
typedef struct course {
    size_t count;
    double *at; /* [looks + 1][count] */
    int looks;
} course;

/* Evaluates the functions at all looks, and sets the range of each: the largest of all points. */
static void set_course(search *s, course *c)
{
    for (int k = 0; k <= c->looks; k++) {
        values now;

        evaluate(s, time_of(s->look, k, c->looks), &now);
        memcpy(c->at + (size_t)k * c->count, now.at, c->count * sizeof *c->at);
    }
    for (size_t value = 0; value < c->count; value++) {
        double least = INFINITY, most = -INFINITY, *range = &s->range[value / s->look->points];

        for (int k = 0; k <= c->looks; k++) {
            least = fmin(least, c->at[(size_t)k * c->count + value]);
            most = fmax(most, c->at[(size_t)k * c->count + value]);
        }
        *range = fmax(*range, most - least);
    }
}

/* Whether straight lines between a few looks from .. to tell how a function changes: it is looked at as often in a
 * step (lagrangian/watch.c). */
static int is_told(const search *s, const course *c, size_t value, int from, int to)
{
    const int stride = (to - from + LINES - 1) / LINES;
    const double range = s->range[value / s->look->points], *at = c->at + value;

    for (int k = from; k <= to && range > negligible; k++) {
        const int low = from + (k - from) / stride * stride, high = low + stride < to ? low + stride : to;
        const double part = high > low ? (double)(k - low) / (high - low) : 0;
        const double line = (1 - part) * at[(size_t)low * c->count] + part * at[(size_t)high * c->count];

        if (fabs(at[(size_t)k * c->count] - line) > most_change * range)
            return 0;
    }
    return 1;
}

/* Divides the looks from .. to until each part is told. */
static void divide_course(search *s, const course *c, int from, int to)
{
    const int middle = (from + to) / 2;
    int told = 1;

    for (size_t value = 0; value < c->count && told && to - from > 2; value++)
        told = is_told(s, c, value, from, to);
    if (told)
        return;
    append(s, time_of(s->look, middle, c->looks));
    divide_course(s, c, from, middle);
    divide_course(s, c, middle, to);
}

/* Adds the times at which steps are to end for a course, also between two looks. */
static void follow_course(search *s, const course *c)
{
    values before, now;

    divide_course(s, c, 0, c->looks);
    for (int k = 0; k < c->looks; k++) {
        memcpy(before.at, c->at + (size_t)k * c->count, c->count * sizeof *c->at);
        memcpy(now.at, c->at + (size_t)(k + 1) * c->count, c->count * sizeof *c->at);
        if (change(s, &before, &now) > most_change)
            divide(s, time_of(s->look, k, c->looks), &before, time_of(s->look, k + 1, c->looks), &now, HALVINGS);
    }
}

/* Adds the times of targets that absorb: no step needs to be short for them. */
static void find_targets(search *like)
{
    search s = {.look = like->look, .functions = like->functions, .times = like->times};

    list_targets(&s);
    if (s.targets == 0)
        return;
    course c = {.count = (size_t)s.targets * s.look->points, .looks = looks_of(&s)};
    c.at = gbees_array_create((size_t)(c.looks + 1) * c.count, sizeof *c.at);
    s.status = c.at ? GBEES_OK : GBEES_ENOMEM;
    if (c.at) {
        set_course(&s, &c);
        follow_course(&s, &c);
    }
    free(c.at);
    like->status = s.status;
}

/* ---- all ---- */

int gbees_rough_times_find(const gbees_rough_look *look, gbees_rough_times *times, gbees_error *error)
{
    const gbees_problem *problem = look->problem;
    const int n = problem->dimension;
    search s = {.look = look, .functions = gbees_problem_own_functions(problem), .times = times};

    if (!(look->to > look->from) || !s.functions)
        return GBEES_OK;
    find_targets(&s);
    if (!(problem->model->flags & GBEES_TIME_DEPENDENT))
        return finish(&s, error);
    s.states = n;
    if (s.functions->diffusion_d)
        s.entries = problem->model->diffusion == GBEES_FULL ? n * n : n;
    find(&s);
    return finish(&s, error);
}

int gbees_rough_times_of_targets(const gbees_problem *problem, gbees_rough_times *times, gbees_error *error)
{
    double x[N][GBEES_ROUGH_POINTS];
    gbees_rough_look look = {
        .problem = problem, .from = problem->start, .to = problem->end, .points = GBEES_ROUGH_POINTS};
    search s = {.look = &look, .functions = gbees_problem_own_functions(problem), .times = times};

    for (int j = 0; j < problem->dimension; j++) {
        const double deviation = sqrt(problem->covariance[j * problem->dimension + j]);

        for (int i = 0; i < GBEES_ROUGH_POINTS; i++) /* a different corner for each */
            x[j][i] = problem->mean[j] + deviation * ((i + j) % 2 ? 1 : -1) * i;
        look.x[j] = x[j];
    }
    if (look.to > look.from && s.functions)
        find_targets(&s);
    look.from = -INFINITY; /* rows of all times */
    look.to = INFINITY;
    return finish(&s, error);
}

double gbees_rough_times_next(const gbees_rough_times *times, double begin, double elapsed, double length)
{
    size_t lo = 0, hi = times->count;

    while (lo < hi) {
        const size_t middle = lo + (hi - lo) / 2;

        if (times->time[middle] - begin > elapsed)
            hi = middle;
        else
            lo = middle + 1;
    }
    return lo < times->count && times->time[lo] - begin < length ? times->time[lo] - begin : length;
}

void gbees_rough_times_clear(gbees_rough_times *times)
{
    free(times->time);
    *times = (gbees_rough_times){0};
}
