/* entered.c - parts of lattice cells by linear functions; see entered.h. */
#include "entered.h"
#include "base/array.h"
#include "base/workers.h"
#include "numerics/fraction.h"
#include <gbees/record.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINT_NS = 200 /* that a point takes, with its parts in targets */ };

/* What the parts of a pass over a lattice share. */
typedef struct pass {
    gbees_lattice *lattice;
    const gbees_problem *problem; /* of targets that count; else NULL */
    double time;
    double *field; /* [count]: g at the present places, of target `target` */
    int target;
    gbees_entered part[GBEES_WORKERS_PARTS];
} pass;

/* ---- a cell ---- */

/* The weight of a point in units of exp(most); 0: there is none. */
static double weight_of(const gbees_lattice *lattice, const double *log_weight, uint32_t i, double most)
{
    return i == GBEES_NO_POINT ? 0 : exp(log_weight[i] + lattice->log_volume - most);
}

/* The mass of a point's cell: its average density by those of the points beside it. */
static double mass_of(const gbees_lattice *lattice, const double *log_weight, uint32_t i, double most)
{
    const double here = weight_of(lattice, log_weight, i, most);
    double second = 0;

    for (int side = 0; side < 2 * lattice->n; side++)
        second += weight_of(lattice, log_weight, lattice->beside[side][i], most) - here;
    return fmax(here + second / 24, 0);
}

/* Whether a point has a value of a function of the start: one that was given up has none. */
static int has_value(const gbees_lattice *lattice, const double *field, uint32_t i)
{
    const double weight = lattice->is_taken_off ? lattice->whole[i] : lattice->log_weight[i];

    return weight > -INFINITY && !isnan(field[i]);
}

/* How a function, or a log weight, changes over a point's cell along index k: by the points beside it. */
static double change_over(const gbees_lattice *lattice, const double *field, uint32_t i, int k)
{
    const uint32_t below = lattice->beside[2 * k][i], above = lattice->beside[2 * k + 1][i];
    const int is_below = below != GBEES_NO_POINT && has_value(lattice, field, below);
    const int is_above = above != GBEES_NO_POINT && has_value(lattice, field, above);
    const double low = is_below ? field[below] : field[i], high = is_above ? field[above] : field[i];

    return is_below + is_above ? (high - low) / (is_below + is_above) : 0;
}

/* The part of the mass of a point's cell where a function is below 0. */
static double part_below(const gbees_lattice *lattice, const double *field, uint32_t i)
{
    const double *log_weight = lattice->is_taken_off ? lattice->whole : lattice->log_weight;
    double change[GBEES_MAX_DIM], slope[GBEES_MAX_DIM];

    if (field[i] == INFINITY)
        return 0;
    for (int k = 0; k < lattice->n; k++)
        change[k] = change_over(lattice, field, i, k);
    const double part = gbees_fraction_inside(lattice->n, field[i], change);
    if (part == 0 || part == 1)
        return part;
    for (int k = 0; k < lattice->n; k++)
        slope[k] = change_over(lattice, log_weight, i, k);
    return gbees_fraction_of_mass(lattice->n, part, change, slope);
}

/* Sets part[k] to the part of a cell that has entered target k. Returns the sum, at most 1. */
static double parts_entered(const gbees_lattice *lattice, double *const *field, uint32_t i, double *part)
{
    double sum = 0;

    for (int k = 0; k < GBEES_MAX_TARGETS; k++) {
        part[k] = field[k] ? part_below(lattice, field[k], i) : 0;
        sum += part[k];
    }
    for (int k = 0; k < GBEES_MAX_TARGETS && sum > 1; k++)
        part[k] /= sum;
    return fmin(sum, 1);
}

/* ---- what has entered ---- */

static void take_off_part(void *context, size_t number)
{
    pass *all = context;
    gbees_lattice *lattice = all->lattice;
    gbees_entered *sums = &all->part[number];
    const size_t inner = gbees_lattice_inner(lattice), end = gbees_workers_first(lattice->count, number + 1);

    for (size_t i = gbees_workers_first(lattice->count, number); i < end; i++) {
        const uint32_t at = (uint32_t)i;
        double before[GBEES_MAX_TARGETS], now[GBEES_MAX_TARGETS];

        for (int k = 0; k < GBEES_MAX_TARGETS; k++)
            if (lattice->lowest[k] && isnan(lattice->lowest[k][i]) && lattice->whole[i] > -INFINITY)
                sums->wrong = k + 1;
        const double gone = parts_entered(lattice, lattice->settled, at, before),
                     all_gone = parts_entered(lattice, lattice->lowest, at, now);
        lattice->log_weight[i] = all_gone < 1 ? lattice->whole[i] + log1p(-all_gone) : -INFINITY;
        if (i >= inner)
            continue;
        const double mass = mass_of(lattice, lattice->whole, at, sums->most);
        sums->before += mass * (1 - gone);
        sums->now += mass * (1 - all_gone);
        for (int k = 0; k < GBEES_MAX_TARGETS; k++)
            sums->entered[k] += mass * (now[k] - before[k]);
    }
}

static void add(const gbees_entered *part, gbees_entered *sums)
{
    sums->before += part->before;
    sums->now += part->now;
    for (int k = 0; k < GBEES_MAX_TARGETS; k++) {
        sums->entered[k] += part->entered[k];
        sums->inside[k] += part->inside[k];
    }
    sums->wrong = sums->wrong ? sums->wrong : part->wrong;
}

/* Runs a pass over the points on the threads, and adds its parts. */
static int run(pass *all, void (*work)(void *context, size_t part), int threads, gbees_entered *sums,
               gbees_error *error)
{
    const int status = gbees_lattice_link(all->lattice, threads, error);

    if (status)
        return status;
    for (int k = 0; k < GBEES_WORKERS_PARTS; k++)
        all->part[k] = (gbees_entered){.most = sums->most};
    gbees_workers_run(gbees_workers_worth(threads, (double)all->lattice->count * POINT_NS), GBEES_WORKERS_PARTS, work,
                      all);
    for (int k = 0; k < GBEES_WORKERS_PARTS; k++)
        add(&all->part[k], sums);
    return GBEES_OK;
}

int gbees_entered_take_off(gbees_lattice *lattice, int threads, gbees_entered *sums, gbees_error *error)
{
    pass *all;

    if (!lattice->whole)
        return GBEES_OK;
    all = malloc(sizeof *all);
    if (!all)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for what has entered targets");
    if (!lattice->is_taken_off)
        memcpy(lattice->whole, lattice->log_weight, lattice->count * sizeof *lattice->whole);
    lattice->is_taken_off = 1;
    *all = (pass){.lattice = lattice};
    const int status = run(all, take_off_part, threads, sums, error);
    free(all);
    return status;
}

void gbees_entered_put_back(gbees_lattice *lattice)
{
    if (lattice->is_taken_off)
        memcpy(lattice->log_weight, lattice->whole, lattice->count * sizeof *lattice->whole);
    lattice->is_taken_off = 0;
}

/* ---- what is inside ---- */

static void count_part(void *context, size_t number)
{
    pass *all = context;
    gbees_lattice *lattice = all->lattice;
    gbees_entered *sums = &all->part[number];
    const size_t inner = gbees_lattice_inner(lattice), end = gbees_workers_first(inner, number + 1);

    for (size_t i = gbees_workers_first(inner, number); i < end; i++) {
        const uint32_t at = (uint32_t)i;
        const double mass = mass_of(lattice, lattice->log_weight, at, sums->most);

        if (!(mass > 0) || !isfinite(lattice->x[0][i]))
            continue;
        if (isnan(all->field[i])) {
            sums->wrong = all->target + 1;
            continue;
        }
        sums->inside[all->target] += mass * part_below(lattice, all->field, at);
        if (!lattice->whole && all->target == 0)
            sums->now += mass;
    }
}

int gbees_entered_count(gbees_lattice *lattice, const gbees_problem *problem, double time, int threads,
                        gbees_entered *sums, gbees_error *error)
{
    pass *all = malloc(sizeof *all);
    double *field = gbees_array_create(lattice->count, sizeof *field);
    int status =
        all && field ? GBEES_OK : gbees_error_set(error, GBEES_ENOMEM, "not enough memory for what is in targets");

    for (int k = 0; k < problem->target_count && !status; k++) {
        if (problem->targets[k].kind != GBEES_TARGET_COUNT)
            continue;
        gbees_target_values(problem, k, time, lattice->count, (const double *const *)lattice->x, field);
        *all = (pass){.lattice = lattice, .problem = problem, .time = time, .field = field, .target = k};
        status = run(all, count_part, threads, sums, error);
    }
    free(field);
    free(all);
    return status;
}
