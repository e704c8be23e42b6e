/* between.c - see between.h. */
#include "between.h"
#include "base/array.h"
#include <math.h>
#include <stdlib.h>

enum { SAMPLES = 8192 };

/* Samples differ by chance by so many standard errors; what is missing moves a mean by so many times its share. */
static const double by_chance = 4, moved = 2;
/* Effective samples of what the measurement leaves; fewer tell nothing. */
static const double fewest = 100;

/* Samples of a lattice's density: places, and the logarithm of the weight of the points whose cells they are in. */
typedef struct samples {
    gbees_lattice *lattice;
    double *log_weight;
    size_t capacity;
} samples;

static void clear(samples *s)
{
    gbees_lattice_destroy(s->lattice);
    free(s->log_weight);
}

/* Adds a sample within the cell of point i, at the place number k of an additive sequence there. */
static int add(const gbees_lattice *from, uint32_t i, uint32_t k, samples *to, gbees_error *error)
{
    const int n = from->n;
    double x0[GBEES_MAX_DIM];

    gbees_lattice_start(from, &from->site[i], x0);
    for (int a = 0; a < n; a++) {
        const double within = fmod((k + 0.5) * gbees_root_of_prime(a), 1) - 0.5;

        for (int j = 0; j < n; j++)
            x0[j] += from->axes[j * n + a] * within;
    }
    if (gbees_array_grow(&to->log_weight, to->lattice->count, &to->capacity, sizeof *to->log_weight))
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for samples of a likelihood");
    to->log_weight[to->lattice->count] = from->log_weight[i];
    return gbees_lattice_append_between(to->lattice, x0, error);
}

/* Draws as many samples of a lattice as its share of the density, exp(-log_unit) of its mass, asks for: of each point
 * as its weight does. */
static int draw(const gbees_lattice *from, double log_unit, samples *to, gbees_error *error)
{
    double below = 0.5;
    uint32_t drawn = 0;
    int status = gbees_lattice_create(from->n, from->origin, from->axes, &to->lattice, error);

    for (uint32_t i = 0; i < gbees_lattice_inner(from) && !status; i++) {
        below += SAMPLES * exp(from->log_weight[i] + from->log_volume - log_unit);
        for (; below >= 1 && !status; below--)
            status = add(from, i, drawn++, to, error);
    }
    return status;
}

/* Sums over samples: of their weights v, of v L, v^2, v^2 L and v^2 L^2, L in units of the largest one. */
typedef struct likelihoods {
    double v, vl, vv, vvl, vvll;
} likelihoods;

/* Adds those of a part's samples, which are evaluated from the start. */
static void add_likelihoods(const samples *of, double log_unit, likelihoods *sums)
{
    for (uint32_t i = 0; i < of->lattice->count; i++) {
        const double v = exp(of->lattice->log_weight[i] - of->log_weight[i]);
        const double l = exp(of->lattice->gain[i] - log_unit);

        if (!(v > 0) || !isfinite(v)) /* a place that has left every bound */
            continue;
        sums->v += v;
        sums->vl += l > 0 ? v * l : 0;
        sums->vv += v * v;
        sums->vvl += l > 0 ? v * v * l : 0;
        sums->vvll += l > 0 ? v * v * l * l : 0;
    }
}

static double largest_gain(const samples *of)
{
    double most = -INFINITY;

    for (uint32_t i = 0; i < of->lattice->count; i++)
        most = fmax(most, of->lattice->gain[i]);
    return most;
}

/* Sets the estimate by all parts' samples. */
static void estimate(const samples *of, int parts, double before, gbees_between *found)
{
    likelihoods sums = {0};
    double unit = -INFINITY;

    for (int g = 0; g < parts; g++)
        unit = of[g].lattice ? fmax(unit, largest_gain(&of[g])) : unit;
    for (int g = 0; g < parts && unit > -INFINITY; g++)
        if (of[g].lattice)
            add_likelihoods(&of[g], unit, &sums);
    if (!(sums.vl * sums.vl > fewest * sums.vvll))
        return;
    const double mean = sums.vl / sums.v;
    found->log_evidence = before + unit + log(mean);
    found->error = sqrt(fmax(sums.vvll - 2 * mean * sums.vvl + mean * mean * sums.vv, 0)) / sums.vl;
    found->is_known = 1;
}

int gbees_between_look(gbees_engine *engine, const gbees_update *update, double before, gbees_error *error)
{
    gbees_sums sums;
    int status = GBEES_OK;

    engine->between.missed += engine->between.bound;
    engine->between.bound = 0;
    engine->between.is_known = 0;
    if (update->measurement->likelihood != GBEES_LIKELIHOOD_MODEL || gbees_problem_absorbs(engine->problem))
        return GBEES_OK;
    samples *of = calloc((size_t)engine->parts, sizeof *of);
    if (!of)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for samples of a likelihood");
    status = gbees_engine_sums(engine, 0, &sums, error);
    for (int g = 0; g < engine->parts && !status; g++) {
        if (!engine->set[0].lattice[g])
            continue;
        status = draw(engine->set[0].lattice[g], gbees_sums_log_mass(&sums), &of[g], error);
        if (!status && of[g].lattice->count > 0)
            status = gbees_past_evaluate(&engine->past, &engine->source[g], of[g].lattice, 0, update, -INFINITY, NULL,
                                         error);
    }
    if (!status)
        estimate(of, engine->parts, before, &engine->between);
    for (int g = 0; g < engine->parts; g++)
        clear(&of[g]);
    free(of);
    return status;
}

double gbees_between_bound(const gbees_engine *engine, double log_evidence)
{
    const gbees_between *of = &engine->between;
    const double off = of->is_known ? fabs(expm1(log_evidence - of->log_evidence)) : 0;

    return off > by_chance * of->error ? moved * off : 0;
}
