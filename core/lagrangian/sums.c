/* sums.c - sums over lattices, in a fixed number of parts that are added in their order; see sums.h. */
#include "sums.h"
#include "base/workers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The rim are the weights between exp(-tail) and exp() of so much more. */
static const double rim_depth = 2;

enum { POINT_NS = 60 /* that a point takes */ };

/* What the parts of a sum share. */
typedef struct summation {
    int count;
    gbees_lattice *const *lattice;
    gbees_sums *whole;
    gbees_sums part[GBEES_WORKERS_PARTS];
    double inside; /* points of a log weight below whole->most + inside are within a rim, or in it */
    struct {
        double most;
        const gbees_lattice *lattice;
        uint32_t point;
    } largest[GBEES_WORKERS_PARTS];
} summation;

static int is_finite(const gbees_lattice *lattice, uint32_t i)
{
    double sum = 0;

    for (int j = 0; j < lattice->n; j++)
        sum += lattice->x[j][i];
    return isfinite(sum);
}

static void find_largest(void *context, size_t k)
{
    summation *all = context;

    all->largest[k].most = -INFINITY;
    for (int l = 0; l < all->count; l++) {
        const gbees_lattice *lattice = all->lattice[l];
        const size_t count = gbees_lattice_inner(lattice), end = gbees_workers_first(count, k + 1);

        for (size_t i = gbees_workers_first(count, k); i < end; i++) {
            const double value = lattice->log_weight[i] + lattice->log_volume;

            if (value > all->largest[k].most && is_finite(lattice, (uint32_t)i)) {
                all->largest[k].most = value;
                all->largest[k].lattice = lattice;
                all->largest[k].point = (uint32_t)i;
            }
        }
    }
}

/* Adds a point of weight w to the figures. */
static void add_point(gbees_sums *part, const gbees_lattice *lattice, size_t i, double w)
{
    const int n = part->n;
    double d[GBEES_MAX_DIM], *figure = part->total;

    for (int j = 0; j < n; j++)
        d[j] = lattice->x[j][i] - part->reference[j];
    *figure++ += w;
    for (int j = 0; j < n; j++)
        *figure++ += w * d[j];
    for (int j = 0; j < n; j++) {
        const double weighted = w * d[j];

        for (int k = 0; k <= j; k++)
            *figure++ += weighted * d[k];
    }
}

static void add_to_shell(const gbees_sums *part, const gbees_lattice *lattice, size_t i, double w,
                         gbees_sums_shell *shell)
{
    shell->w += w;
    for (int j = 0; j < part->n; j++) {
        const double d = lattice->x[j][i] - part->reference[j];

        shell->first[j] += w * d;
        shell->second[j] += w * d * d;
    }
}

static void sum_part(void *context, size_t k)
{
    summation *all = context;
    gbees_sums *part = &all->part[k];

    for (int l = 0; l < all->count; l++) {
        const gbees_lattice *lattice = all->lattice[l];
        const size_t count = gbees_lattice_inner(lattice), end = gbees_workers_first(count, k + 1);

        for (size_t i = gbees_workers_first(count, k); i < end; i++) {
            const double log_weight = lattice->log_weight[i] + lattice->log_volume - part->most;
            const double w = log_weight > -700 ? exp(log_weight) : 0;

            part->points++;
            if (!(w > 0))
                continue;
            if (!is_finite(lattice, (uint32_t)i)) {
                part->lost += w;
                continue;
            }
            add_point(part, lattice, i, w);
            part->squares += w * w;
            part->log_density += w * (lattice->log_weight[i] - lattice->stretch[i]);
            if (log_weight < all->inside)
                add_to_shell(part, lattice, i, w, &part->shell[log_weight >= all->inside - rim_depth]);
        }
    }
}

static void join(const gbees_sums *part, gbees_sums *sums)
{
    for (int f = 0; f < sums->figures; f++)
        sums->total[f] += part->total[f];
    sums->squares += part->squares;
    sums->log_density += part->log_density;
    sums->lost += part->lost;
    for (int k = 0; k < 2; k++) {
        sums->shell[k].w += part->shell[k].w;
        for (int j = 0; j < sums->n; j++) {
            sums->shell[k].first[j] += part->shell[k].first[j];
            sums->shell[k].second[j] += part->shell[k].second[j];
        }
    }
    sums->points += part->points;
}

/* Sets the largest weight of all, and where it is. */
static int set_reference(summation *all, gbees_error *error)
{
    gbees_sums *sums = all->whole;

    sums->most = -INFINITY;
    for (size_t k = 0; k < GBEES_WORKERS_PARTS; k++)
        if (all->largest[k].most > sums->most) {
            sums->most = all->largest[k].most;
            for (int j = 0; j < sums->n; j++)
                sums->reference[j] = all->largest[k].lattice->x[j][all->largest[k].point];
        }
    return isfinite(sums->most) ? GBEES_OK
                                : gbees_error_set(error, GBEES_ENUMERIC,
                                                  "nothing is left of the density: all trajectories have left "
                                                  "every bound, all weights are 0, or targets have taken all "
                                                  "that is within 'tail': give a larger one");
}

int gbees_sums_make(int count, gbees_lattice *const *lattice, double tail, int threads, gbees_sums *sums,
                    gbees_error *error)
{
    const int n = lattice[0]->n;
    summation *all = calloc(1, sizeof *all);
    double points = 0;
    int status = GBEES_OK;

    *sums = (gbees_sums){.n = n, .figures = 1 + n + n * (n + 1) / 2};
    if (!all)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the sums over a lattice");
    all->count = count;
    all->lattice = lattice;
    all->whole = sums;
    all->inside = 2 * rim_depth - tail;
    for (int l = 0; l < count; l++)
        points += lattice[l]->count;
    threads = gbees_workers_worth(threads, points * POINT_NS);
    gbees_workers_run(threads, GBEES_WORKERS_PARTS, find_largest, all);
    status = set_reference(all, error);
    for (size_t k = 0; k < GBEES_WORKERS_PARTS; k++)
        all->part[k] = *sums;
    if (!status) {
        gbees_workers_run(threads, GBEES_WORKERS_PARTS, sum_part, all);
        for (size_t k = 0; k < GBEES_WORKERS_PARTS; k++)
            join(&all->part[k], sums);
    }
    free(all);
    return status;
}

/* Adds a shell times a factor to one about a reference that is d[n] further down. */
static void add_shell(int n, const gbees_sums_shell *shell, const double *d, double factor, gbees_sums_shell *to)
{
    for (int j = 0; j < n; j++) {
        to->first[j] += factor * (shell->first[j] + shell->w * d[j]);
        to->second[j] += factor * (shell->second[j] + 2 * d[j] * shell->first[j] + shell->w * d[j] * d[j]);
    }
    to->w += factor * shell->w;
}

/* Adds sums times a factor to those about another reference. */
static void add_about(const gbees_sums *sums, double factor, gbees_sums *to)
{
    const int n = sums->n;
    const double w = sums->total[0], *first = sums->total + 1, *second = first + n;
    double d[GBEES_MAX_DIM], *figure = to->total;

    for (int j = 0; j < n; j++)
        d[j] = sums->reference[j] - to->reference[j];
    *figure++ += factor * w;
    for (int j = 0; j < n; j++)
        *figure++ += factor * (first[j] + w * d[j]);
    for (int j = 0; j < n; j++)
        for (int k = 0; k <= j; k++)
            *figure++ += factor * (*second++ + d[j] * first[k] + d[k] * first[j] + w * d[j] * d[k]);
    to->squares += factor * factor * sums->squares;
    to->log_density += factor * sums->log_density;
    to->lost += factor * sums->lost;
    for (int k = 0; k < 2; k++)
        add_shell(n, &sums->shell[k], d, factor, &to->shell[k]);
}

void gbees_sums_average(int count, const gbees_sums *of, gbees_sums *mean)
{
    *mean = (gbees_sums){.n = of->n, .figures = of->figures, .most = of->most, .points = of->points};
    memcpy(mean->reference, of->reference, sizeof mean->reference);
    for (int k = 0; k < count; k++)
        add_about(&of[k], exp(of[k].most - of->most) / count, mean);
}

double gbees_sums_log_mass(const gbees_sums *sums)
{
    return sums->most + log(sums->total[0]);
}

void gbees_sums_moments(const gbees_sums *sums, double *mean, double *covariance)
{
    const int n = sums->n;
    const double *figure = sums->total, *second = figure + 1 + n;
    double first[GBEES_MAX_DIM];

    for (int j = 0; j < n; j++) {
        first[j] = figure[1 + j] / figure[0];
        mean[j] = sums->reference[j] + first[j];
    }
    for (int j = 0; j < n; j++)
        for (int k = 0; k <= j; k++)
            covariance[j * n + k] = covariance[k * n + j] = *second++ / figure[0] - first[j] * first[k];
}

double gbees_sums_share(const gbees_sums *sums, int shell)
{
    const gbees_sums_shell *of = &sums->shell[shell];
    const double *second = sums->total + 1 + sums->n;
    double most = 0;

    for (int j = 0; j < sums->n; j++) {
        const double first = sums->total[1 + j] / sums->total[0];
        const double whole = second[j * (j + 3) / 2] - sums->total[0] * first * first;
        const double own = of->second[j] - 2 * first * of->first[j] + first * first * of->w;

        if (whole > 0)
            most = fmax(most, own / whole);
    }
    return most;
}
