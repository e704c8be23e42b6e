/* probe.c - the time step of samples: a few of them go to the same time by m and by 2 m steps, and the difference
 * tells the error of either. */
#include "base/numbers.h"
#include "base/rough_times.h"
#include "base/workers.h"
#include "flow.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PROBES = GBEES_MONTECARLO_PROBES, /* at most SAMPLES_BLOCK */
    LEFT_OUT = 32,                    /* one of so many */
    DOUBT_MARGIN = 4,                 /* a step is cut for a sample that has so many times the doubt of the probes */
    PIECE = 4096                      /* steps that are chosen at once, at most */
};

/* With noise a step is of second order, not of fourth: there are more of them, so that the error falls as that of the
 * samples does. */
static const double more_with_noise = 2, more_samples = 10000, more_most = 4;
/* Whether noise carries a sample to a target is off by the square of the step over the time in which the drift
 * changes as the state does: with more samples steps are shorter, by the fourth root. */
static const double most_change = 0.25;

/* A step takes the noise that there is at its beginning: where that changes with the state, as s x, variances are off
 * by the part s^2 / 2 of what s^2 step is. That is at most the first of these for three quarters of the samples, so
 * that variances are off by a thousandth of what noise adds; with more samples less, as above. Where noise ends at a
 * place in state space, as a root, no steps are short enough there: these are shorter by the second factor at most.
 */
static const double most_noise_change = 0.004, most_shorter = 64;

static const double origin[GBEES_MAX_DIM];

typedef struct points {
    double x[GBEES_MAX_DIM][PROBES], doubt[PROBES];
} points;

/* Samples that are chosen by their weights, in parts. */
typedef struct choice {
    const gbees_montecarlo *from;
    size_t count;
    double place;
    double before[GBEES_WORKERS_PARTS + 1]; /* the sum of the weights before each part; of all, last */
    size_t *chosen;
} choice;

static void add_weights(void *context, size_t part)
{
    choice *c = context;
    const size_t end = gbees_workers_first(c->from->count, part + 1);
    double sum = 0;

    for (size_t i = gbees_workers_first(c->from->count, part); i < end; i++)
        sum += c->from->weight[i];
    c->before[part + 1] = sum;
}

/* The sum of weights at which place k is. */
static double place_at(const choice *c, size_t k)
{
    return c->before[GBEES_WORKERS_PARTS] * ((double)k + c->place) / (double)c->count;
}

/* The number of places at or below a sum of weights. */
static size_t places_to(const choice *c, double sum)
{
    const double guess = floor(sum / c->before[GBEES_WORKERS_PARTS] * (double)c->count - c->place);
    size_t k = guess > 0 ? (size_t)guess : 0;

    while (k > 0 && sum < place_at(c, k - 1))
        k--;
    while (k < c->count && sum >= place_at(c, k))
        k++;
    return k;
}

/* Chooses a sample for each place that lies in a part: the first with which the sum of the weights reaches it. */
static void choose_in_part(void *context, size_t part)
{
    const choice *c = context;
    const size_t next = gbees_workers_first(c->from->count, part + 1);
    const size_t end = part + 1 < GBEES_WORKERS_PARTS ? places_to(c, c->before[part + 1]) : c->count;
    double passed = c->before[part];
    size_t k = part > 0 ? places_to(c, passed) : 0;
    double wanted = place_at(c, k);

    for (size_t i = gbees_workers_first(c->from->count, part); i < next && k < end; i++) {
        passed += c->from->weight[i];
        for (; k < end && passed >= wanted; wanted = place_at(c, k))
            c->chosen[k++] = i;
    }
    for (; k < end; k++) /* rounding */
        c->chosen[k] = next > 0 ? next - 1 : 0;
}

void gbees_samples_choose(const gbees_montecarlo *montecarlo, size_t count, double place, size_t *chosen)
{
    enum { SAMPLE_NS = 2 /* time of a sample, about */ };
    const int threads = gbees_workers_worth(montecarlo->options.threads, SAMPLE_NS * (double)montecarlo->count);
    choice c = {.from = montecarlo, .count = count, .place = place, .chosen = chosen};

    gbees_workers_run(threads, GBEES_WORKERS_PARTS, add_weights, &c);
    for (size_t part = 0; part < GBEES_WORKERS_PARTS; part++)
        c.before[part + 1] += c.before[part];
    gbees_workers_run(threads, GBEES_WORKERS_PARTS, choose_in_part, &c);
}

/* Chosen again after an update, so that probes lie where the density is. */
void gbees_samples_choose_probes(gbees_montecarlo *montecarlo)
{
    gbees_samples_choose(montecarlo, PROBES, 0.5, montecarlo->probe);
}

static void get_probes(const gbees_montecarlo *montecarlo, points *to)
{
    for (int j = 0; j < montecarlo->problem->dimension; j++)
        for (size_t i = 0; i < PROBES; i++)
            to->x[j][i] = montecarlo->x[j][montecarlo->probe[i]];
}

/* Integrates the probes to `time` along the drift alone. */
static void integrate(const gbees_montecarlo *montecarlo, const points *from, double time, size_t steps, points *to)
{
    double *x[GBEES_MAX_DIM];

    for (int j = 0; j < montecarlo->problem->dimension; j++) {
        memcpy(to->x[j], from->x[j], PROBES * sizeof(double));
        x[j] = to->x[j];
    }
    gbees_flow_run(montecarlo, PROBES, (time - montecarlo->time) / (double)steps, steps, x, to->doubt);
}

/* The spread of the probes along an axis, from quartiles: few that are far away count for nothing. */
static double spread_of(const points *probes, int axis)
{
    double sorted[PROBES];

    memcpy(sorted, probes->x[axis], sizeof sorted);
    qsort(sorted, PROBES, sizeof *sorted, gbees_compare_numbers);
    const double spread = (sorted[PROBES * 3 / 4] - sorted[PROBES / 4]) / 1.35;
    return spread > 0 && isfinite(spread) ? spread : 1;
}

static void set_scale(gbees_montecarlo *montecarlo, const points *probes)
{
    for (int j = 0; j < montecarlo->problem->dimension; j++)
        montecarlo->scale[j] = spread_of(probes, j);
}

void gbees_samples_find_scale(gbees_montecarlo *montecarlo)
{
    points probes;

    get_probes(montecarlo, &probes);
    set_scale(montecarlo, &probes);
}

/* The error of the shorter steps along the worst axis, in the probes' spread, at the end or at the start, whichever
 * is less: a fourth-order method's is a fifteenth of the difference.  A few points with chaotic ways are left out.
 * Infinite if others are no longer finite. */
static double error_of(const gbees_montecarlo *montecarlo, const points *by_long, const points *by_short)
{
    double off[PROBES] = {0};

    for (int j = 0; j < montecarlo->problem->dimension; j++) {
        const double scale = fmin(montecarlo->scale[j], spread_of(by_short, j));

        for (size_t i = 0; i < PROBES; i++) {
            const double error = fabs(by_short->x[j][i] - by_long->x[j][i]) / scale / 15;

            off[i] = error <= off[i] ? off[i] : isfinite(error) ? error : INFINITY;
        }
    }
    qsort(off, PROBES, sizeof *off, gbees_compare_numbers);
    return off[PROBES - 1 - PROBES / LEFT_OUT];
}

/* The entries of Q at the probes. */
typedef struct noise {
    double q[GBEES_MAX_DIM * GBEES_MAX_DIM][PROBES];
} noise;

/* Sets Q at points x[n][PROBES]. Returns the number of its entries; 0: the model has no noise. */
static int find_noise(const gbees_montecarlo *montecarlo, double time, const double *const *x, noise *at)
{
    const gbees_problem *problem = montecarlo->problem;
    const int n = problem->dimension, entries = problem->model->diffusion == GBEES_FULL ? n * n : n;
    double *out[GBEES_MAX_DIM * GBEES_MAX_DIM];

    if (!gbees_problem_own_functions(problem)->diffusion_d)
        return 0;
    for (int k = 0; k < entries; k++)
        out[k] = at->q[k];
    gbees_problem_own_functions(problem)->diffusion_d(PROBES, time, origin, x, problem->parameters, out);
    return entries;
}

/* Whether the model's noise is not 0 at one of the points. */
static int is_noisy(const gbees_montecarlo *montecarlo, const points *at, double time)
{
    const double *x[GBEES_MAX_DIM];
    noise now;

    for (int j = 0; j < montecarlo->problem->dimension; j++)
        x[j] = at->x[j];
    const int entries = find_noise(montecarlo, time, x, &now);
    for (int k = 0; k < entries; k++)
        for (size_t i = 0; i < PROBES; i++)
            if (now.q[k][i] != 0)
                return 1;
    return 0;
}

int gbees_samples_are_ever_noisy(const gbees_montecarlo *montecarlo)
{
    const gbees_problem *problem = montecarlo->problem;
    const int times = problem->model->flags & GBEES_TIME_DEPENDENT ? GBEES_ROUGH_LOOKS : 1;
    points probes;

    get_probes(montecarlo, &probes);
    for (int k = 0; k < times; k++)
        if (is_noisy(montecarlo, &probes, problem->start + (problem->end - problem->start) * k / times))
            return 1;
    return 0;
}

int gbees_samples_are_noisy(const gbees_montecarlo *montecarlo)
{
    points probes;

    get_probes(montecarlo, &probes);
    return is_noisy(montecarlo, &probes, montecarlo->time);
}

/* The rate at which the drift changes with the state, in units of the samples' spread, at the probes but for a few.
 */
static double rate_of(const gbees_montecarlo *montecarlo, const points *at)
{
    enum { PARTS = 1000 /* of the spread, over which differences are taken */ };
    const gbees_problem *problem = montecarlo->problem;
    const gbees_functions *functions = gbees_problem_own_functions(problem);
    const double *scale = montecarlo->scale;
    const int n = problem->dimension;
    double here[PROBES], there[PROBES], moved[PROBES], rate[PROBES] = {0};
    const double *x[GBEES_MAX_DIM];

    for (int j = 0; j < n; j++) {
        double sum[PROBES] = {0};

        for (int k = -1; k < n; k++) {
            for (int l = 0; l < n; l++)
                x[l] = l == k ? moved : at->x[l];
            for (size_t i = 0; i < PROBES && k >= 0; i++)
                moved[i] = at->x[k][i] + scale[k] / PARTS;
            functions->component_d[j](PROBES, montecarlo->time, origin, x, problem->parameters, k < 0 ? here : there);
            for (size_t i = 0; i < PROBES && k >= 0; i++)
                sum[i] += fabs(there[i] - here[i]) * PARTS / scale[j];
        }
        for (size_t i = 0; i < PROBES; i++)
            rate[i] = fmax(rate[i], sum[i]);
    }
    qsort(rate, PROBES, sizeof *rate, gbees_compare_numbers);
    return rate[PROBES - 1 - PROBES / LEFT_OUT];
}

/* The square of the rate at which the root of the noise along an axis changes with the state, in units of the
 * samples' spread, at three quarters of the probes: of noise s x it is s^2. */
static double noise_rate(const gbees_montecarlo *montecarlo, const points *at, double time)
{
    enum { PARTS = 1000 /* of the spread, over which differences are taken */ };
    const int n = montecarlo->problem->dimension,
              step = montecarlo->problem->model->diffusion == GBEES_FULL ? n + 1 : 1;
    const double *scale = montecarlo->scale;
    double moved[PROBES], rate[PROBES] = {0};
    const double *x[GBEES_MAX_DIM];
    noise here, there;

    for (int k = -1; k < n; k++) {
        for (int l = 0; l < n; l++)
            x[l] = l == k ? moved : at->x[l];
        for (size_t i = 0; i < PROBES && k >= 0; i++)
            moved[i] = at->x[k][i] + scale[k] / PARTS;
        if (find_noise(montecarlo, time, x, k < 0 ? &here : &there) == 0)
            return 0;
        for (int j = 0; j < n && k >= 0; j++)
            for (size_t i = 0; i < PROBES; i++) {
                const double change = sqrt(fmax(0, there.q[j * step][i])) - sqrt(fmax(0, here.q[j * step][i])),
                             by = change * PARTS / scale[j];

                rate[i] += isfinite(by) ? by * by : 0;
            }
    }
    qsort(rate, PROBES, sizeof *rate, gbees_compare_numbers);
    return rate[PROBES - 1 - PROBES / 4];
}

/* How many times as many steps the noise takes as the drift. */
static double more_steps(const gbees_montecarlo *montecarlo)
{
    return fmin(more_most, more_with_noise * pow((double)montecarlo->options.count / more_samples, 0.25));
}

/* Sets the steps that the probes take from now to *time with an error of at most `tolerance`, or to an earlier time
 * that PIECE steps reach. Returns the number of steps; 0: no step is short enough. */
static double try_steps(const gbees_montecarlo *montecarlo, const points *probes, double steps, double tolerance,
                        double *time, points *by_long)
{
    const double from = montecarlo->time;
    points by_short;

    for (;;) {
        if (steps > PIECE) {
            *time = from + (*time - from) * (PIECE / 2) / steps;
            steps = PIECE / 2;
        }
        if (!(*time > from + 1e-12 * fabs(from)) || !(from + (*time - from) / steps > from))
            return 0;
        integrate(montecarlo, probes, *time, (size_t)steps, by_long);
        integrate(montecarlo, probes, *time, 2 * (size_t)steps, &by_short);
        const double off = error_of(montecarlo, by_long, &by_short);
        if (off <= tolerance)
            return steps;
        steps = ceil(steps * fmin(16, fmax(1.5, 1.1 * pow(off / tolerance, 0.25))));
    }
}

int gbees_montecarlo_choose_step(gbees_montecarlo *montecarlo, double *time, double tolerance, gbees_error *error)
{
    const double length = *time - montecarlo->time, more = more_steps(montecarlo);
    points probes, by_long;

    if (!(length > 0))
        return GBEES_OK;
    get_probes(montecarlo, &probes);
    set_scale(montecarlo, &probes);
    const int begins_noisy = is_noisy(montecarlo, &probes, montecarlo->time);
    /* The search begins with half as many steps as the last time, so that steps can get longer, too. */
    const double first = fmax(1, ceil(length / montecarlo->options.step / (begins_noisy ? 2 * more : 2) - 1e-9));
    const double steps = try_steps(montecarlo, &probes, first, tolerance, time, &by_long);
    if (steps == 0)
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "no time step from t = %g on is short enough for samples of the model",
                               montecarlo->time);
    const int noisy = begins_noisy || is_noisy(montecarlo, &by_long, *time);
    montecarlo->options.step = (*time - montecarlo->time) / (noisy ? ceil(steps * more) : steps);
    if (noisy && montecarlo->options.absorbed)
        montecarlo->options.step =
            fmin(montecarlo->options.step, most_change / pow((double)montecarlo->options.count / more_samples, 0.25) /
                                               fmax(rate_of(montecarlo, &probes), rate_of(montecarlo, &by_long)));
    if (noisy) {
        const double rate = fmax(noise_rate(montecarlo, &probes, montecarlo->time),
                                 noise_rate(montecarlo, &by_long, *time)),
                     longest = most_noise_change * more_with_noise / (more * rate);

        if (longest < montecarlo->options.step)
            montecarlo->options.step = fmax(longest, montecarlo->options.step / most_shorter);
    }
    qsort(by_long.doubt, PROBES, sizeof *by_long.doubt, gbees_compare_numbers);
    /* Probes may have no doubt, as in a constant drift: a doubt below the tolerance is no reason to cut a step. */
    montecarlo->doubt_most = fmax(tolerance, DOUBT_MARGIN * by_long.doubt[PROBES - 1 - PROBES / LEFT_OUT]);
    return GBEES_OK;
}
