/* rough_times.c - looks at drift and noise at equal distances in time, at a few points, and bisects where they change
 * by much of their range. */
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
    VALUES = (N + N * N) * GBEES_ROUGH_POINTS
};

static const double most_change = 1.0 / 8;   /* of the range, from one end of a step to the other */
static const double least_change = 1.0 / 64; /* that is worth a step of its own */
static const double negligible = 1e-3;       /* deviations that all of the range adds over the interval */

/* The drift and the noise at all points at one time, in deviations of a state over the interval. */
typedef struct values {
    double at[VALUES];
} values;

typedef struct search {
    const gbees_rough_look *look;
    const gbees_functions *functions;
    int entries; /* of the noise; 0: there is none */
    double range[N + N * N];
    gbees_rough_times *times;
    int status;
} search;

/* Component k's unit: of the drift the states, then the noise's entries. */
static double unit_of(const search *s, int k)
{
    const int n = s->look->problem->dimension;
    const double *scale = s->look->scale, length = s->look->to - s->look->from;

    if (k < n)
        return length / scale[k];
    const int entry = k - n, row = s->entries > n ? entry / n : entry, column = s->entries > n ? entry % n : entry;
    return length / (scale[row] * scale[column]);
}

static void evaluate(const search *s, double time, values *v)
{
    static const double origin[N];
    const gbees_rough_look *look = s->look;
    const int n = look->problem->dimension;
    const size_t points = look->points;
    double *out[N * N];

    for (int k = 0; k < n; k++)
        out[k] = v->at + (size_t)k * points;
    s->functions->drift_d(points, time, origin, look->x, look->problem->parameters, out);
    for (int k = 0; k < s->entries; k++)
        out[k] = v->at + (size_t)(n + k) * points;
    if (s->entries > 0)
        s->functions->diffusion_d(points, time, origin, look->x, look->problem->parameters, out);
    for (int k = 0; k < n + s->entries; k++)
        for (size_t i = 0; i < points; i++)
            v->at[(size_t)k * points + i] *= unit_of(s, k);
}

/* The largest change of a component from one time to another, over its range. */
static double change(const search *s, const values *a, const values *b)
{
    const size_t points = s->look->points;
    double most = 0;

    for (int k = 0; k < s->look->problem->dimension + s->entries; k++)
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

/* Appends a time, unless it is not after the last one. */
static void add(search *s, double time)
{
    if (s->times->count == 0 || time > s->times->time[s->times->count - 1])
        append(s, time);
}

/* Adds times from a to b between which nothing changes by much of its range, or that are as near as they may be. */
static void divide(search *s, double a, const values *at_a, double b, const values *at_b, int halvings)
{
    const double changed = change(s, at_a, at_b);
    values at_middle;

    if (!(changed > most_change) || halvings == 0) {
        if (changed > least_change) {
            add(s, a);
            add(s, b);
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
    const int components = s->look->problem->dimension + s->entries;
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
static void add_tables(search *s)
{
    const gbees_problem *problem = s->look->problem;
    gbees_rough_times *times = s->times;
    size_t kept = 0;

    for (int k = 0; k < problem->table_count; k++)
        append_rows(s, &problem->tables[k]);
    if (problem->table_count > 0 && times->count > 0)
        qsort(times->time, times->count, sizeof *times->time, gbees_compare_numbers);
    for (size_t i = 0; i < times->count; i++)
        if (kept == 0 || times->time[i] > times->time[kept - 1])
            times->time[kept++] = times->time[i];
    times->count = kept;
}

int gbees_rough_times_of_tables(const gbees_problem *problem, gbees_rough_times *times, gbees_error *error)
{
    const gbees_rough_look look = {.problem = problem, .from = -INFINITY, .to = INFINITY};
    search s = {.look = &look, .times = times};

    add_tables(&s);
    return s.status ? gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the rows of tables") : GBEES_OK;
}

int gbees_rough_times_find(const gbees_rough_look *look, gbees_rough_times *times, gbees_error *error)
{
    const gbees_problem *problem = look->problem;
    const int n = problem->dimension;
    const double part = (look->to - look->from) / (problem->end - problem->start);
    const int looks = (int)fmin(GBEES_ROUGH_LOOKS, fmax(LOOKS_LEAST, ceil(GBEES_ROUGH_LOOKS * part)));
    search s = {.look = look, .functions = gbees_problem_own_functions(problem), .times = times};
    values before, now;

    if (!(problem->model->flags & GBEES_TIME_DEPENDENT) || !(look->to > look->from) || !s.functions)
        return GBEES_OK;
    if (s.functions->diffusion_d)
        s.entries = problem->model->diffusion == GBEES_FULL ? n * n : n;
    find_range(&s, looks);
    evaluate(&s, look->from, &before);
    for (int k = 1; k <= looks && !s.status; k++) {
        const double a = time_of(look, k - 1, looks), b = time_of(look, k, looks);

        evaluate(&s, b, &now);
        if (change(&s, &before, &now) > most_change)
            divide(&s, a, &before, b, &now, HALVINGS);
        before = now;
    }
    add_tables(&s);
    return s.status ? gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the times of pulses") : GBEES_OK;
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
