/* spacing.c - covariance and Fisher information over a lattice; see spacing.h. */
#include "spacing.h"
#include "base/array.h"
#include "base/workers.h"
#include "crossings.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SUM_NS = 60, /* that a point takes in a sum */
    /* Entries of a part's sums: of w, w^2 and isolated w, of w z and w z z^T; of J. */
    SUMS = 3 + GBEES_MAX_DIM + 2 * GBEES_MATRIX
};

/* The covariance is taken to be larger by this part of a lattice cell: that of a few points says little. */
static const double least_variance = 0.02;
/* Points with a smaller square root of their weight, relative to the largest, do not count. */
static const double least_root = 1e-5;
/* An isolated point's root is larger than those beside it by this part of it: 1 - exp(-1). */
static const double isolated_by = 0.632;

/* What the parts of the sums share. */
typedef struct weighted {
    const gbees_lattice *lattice;
    double beta, best;
    double *root;  /* [count]: the square roots of the weights */
    double *share; /* [GBEES_WORKERS_PARTS][SUMS] */
} weighted;

static void set_roots(void *context, size_t k)
{
    weighted *all = context;
    const gbees_lattice *lattice = all->lattice;
    const size_t end = gbees_workers_first(lattice->count, k + 1);

    for (size_t i = gbees_workers_first(lattice->count, k); i < end; i++) {
        const double gain = all->beta > 0 ? all->beta * lattice->gain[i] : 0;

        all->root[i] = exp((lattice->log_weight[i] + gain - all->best) / 2);
    }
}

/* The square root of the weight at the neighbour of point i on a side. Where a measurement is impossible there it is
 * taken to be what it is at i: the slope of an edge says nothing of how dense points are to be. */
static double root_beside(const weighted *all, size_t i, int side)
{
    const gbees_lattice *lattice = all->lattice;
    const uint32_t beside = lattice->beside[side][i];

    if (beside != GBEES_NO_POINT)
        return all->beta > 0 && lattice->gain[beside] == -INFINITY ? all->root[i] : all->root[beside];
    if (!lattice->has_edges)
        return 0;
    const gbees_site site = gbees_site_beside(&lattice->site[i], side);
    return gbees_lattice_find(lattice, &site) == GBEES_LIGHT_POINT ? all->root[i] : 0;
}

/* The slope of the square root of the weight: the root of the mean of both one-sided squares, with the sign of their
 * sum. Sets *isolated if the weight is so much smaller on both sides. */
static double slope_at(const weighted *all, size_t i, int j, int *isolated)
{
    const double here = all->root[i];
    const double down = here - root_beside(all, i, 2 * j), up = root_beside(all, i, 2 * j + 1) - here;
    const double slope = sqrt((down * down + up * up) / 2);

    *isolated |= down > isolated_by * here && -up > isolated_by * here;
    return down + up < 0 ? -slope : slope;
}

static void sum_part(void *context, size_t k)
{
    weighted *all = context;
    const gbees_lattice *lattice = all->lattice;
    const size_t end = gbees_workers_first(lattice->count, k + 1);
    const int n = lattice->n;
    double *sum = all->share + k * SUMS, *first = sum + 3, *second = first + GBEES_MAX_DIM;
    double *information = second + GBEES_MATRIX, slope[GBEES_MAX_DIM];

    memset(sum, 0, SUMS * sizeof *sum);
    for (size_t i = gbees_workers_first(lattice->count, k); i < end; i++) {
        const int16_t *z = lattice->site[i].z;
        const double w = all->root[i] * all->root[i];

        if (!(all->root[i] > least_root))
            continue;
        int isolated = 0;

        sum[0] += w;
        sum[1] += w * w;
        for (int a = 0; a < n; a++) {
            slope[a] = slope_at(all, i, a, &isolated);
            first[a] += w * z[a];
            for (int b = 0; b <= a; b++) {
                second[a * n + b] += w * z[a] * z[b];
                information[a * n + b] += 4 * slope[a] * slope[b];
            }
        }
        sum[2] += isolated ? w : 0;
    }
}

/* Joins the parts' sums to the covariance and the information, and sets *effective and *isolated; hidden: what is
 * between points. */
static void join(const double *share, int n, double hidden, double *covariance, double *information,
                 gbees_spacing *spacing)
{
    double sum[SUMS] = {0}, *first = sum + 3, *second = first + GBEES_MAX_DIM, *j = second + GBEES_MATRIX;

    for (int k = 0; k < GBEES_WORKERS_PARTS; k++)
        for (int s = 0; s < SUMS; s++)
            sum[s] += share[k * SUMS + s];
    for (int a = 0; a < n; a++)
        for (int b = 0; b <= a; b++) {
            covariance[a * n + b] = second[a * n + b] / sum[0] - first[a] / sum[0] * (first[b] / sum[0]);
            covariance[b * n + a] = covariance[a * n + b] += a == b ? least_variance : 0;
            information[a * n + b] = information[b * n + a] = j[a * n + b] / sum[0];
        }
    spacing->effective = sum[0] * sum[0] / sum[1];
    spacing->isolated = (sum[2] + hidden) / (sum[0] + hidden);
}

int gbees_spacing_find(const gbees_lattice *lattice, const gbees_lattice_rule *rule, double beta, int threads,
                       gbees_spacing *spacing, gbees_error *error)
{
    const gbees_shape_rule wanted = {.cells = rule->points, .most = fmax(rule->most, rule->points)};
    weighted all = {.lattice = lattice, .beta = beta, .best = gbees_lattice_most(lattice, 0, lattice->count, beta)};
    double covariance[GBEES_MATRIX], information[GBEES_MATRIX];
    int status = GBEES_OK;

    if (!isfinite(all.best))
        return gbees_error_set(error, GBEES_EUNSUPPORTED, "the likelihood is 0 at all points of the density");
    all.root = gbees_array_create(lattice->count, sizeof *all.root);
    all.share = calloc(GBEES_WORKERS_PARTS * SUMS, sizeof *all.share);
    if (!all.root || !all.share)
        status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the shape of a density");
    threads = gbees_workers_worth(threads, (double)lattice->count * SUM_NS);
    if (!status) {
        gbees_workers_run(threads, GBEES_WORKERS_PARTS, set_roots, &all);
        gbees_workers_run(threads, GBEES_WORKERS_PARTS, sum_part, &all);
        join(all.share, lattice->n, gbees_crossings_hidden(lattice, beta, all.best), covariance, information,
             spacing);
        status = gbees_shape_find(lattice->n, covariance, information, &wanted, &spacing->shape, error);
    }
    free(all.root);
    free(all.share);
    return status;
}
