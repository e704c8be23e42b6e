/* spacing.c - covariance and Fisher information over a lattice; see spacing.h. */
#include "spacing.h"
#include "base/array.h"
#include "base/workers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SUM_NS = 60, /* that a point takes in a sum */
    /* Entries of a part's sums: of w, w^2, w z and w z z^T; of J. */
    SUMS = 2 + GBEES_MAX_DIM + 2 * GBEES_MATRIX
};

/* The covariance is taken to be larger by this part of a lattice cell: that of a few points says little. */
static const double least_variance = 0.02;
/* Points with a smaller square root of their weight, relative to the largest, do not count. */
static const double least_root = 1e-5;

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

/* The slope of the square root of the weight: the root of the mean of both one-sided squares, with the sign of their
 * sum. */
static double slope_at(const weighted *all, size_t i, int j)
{
    const uint32_t below = all->lattice->beside[2 * j][i], above = all->lattice->beside[2 * j + 1][i];
    const double here = all->root[i];
    const double down = here - (below == GBEES_NO_POINT ? 0 : all->root[below]);
    const double up = (above == GBEES_NO_POINT ? 0 : all->root[above]) - here;
    const double slope = sqrt((down * down + up * up) / 2);

    return down + up < 0 ? -slope : slope;
}

static void sum_part(void *context, size_t k)
{
    weighted *all = context;
    const gbees_lattice *lattice = all->lattice;
    const size_t end = gbees_workers_first(lattice->count, k + 1);
    const int n = lattice->n;
    double *sum = all->share + k * SUMS, *first = sum + 2, *second = first + GBEES_MAX_DIM;
    double *information = second + GBEES_MATRIX, slope[GBEES_MAX_DIM];

    memset(sum, 0, SUMS * sizeof *sum);
    for (size_t i = gbees_workers_first(lattice->count, k); i < end; i++) {
        const int16_t *z = lattice->site[i].z;
        const double w = all->root[i] * all->root[i];

        if (!(all->root[i] > least_root))
            continue;
        sum[0] += w;
        sum[1] += w * w;
        for (int a = 0; a < n; a++) {
            slope[a] = slope_at(all, i, a);
            first[a] += w * z[a];
            for (int b = 0; b <= a; b++) {
                second[a * n + b] += w * z[a] * z[b];
                information[a * n + b] += 4 * slope[a] * slope[b];
            }
        }
    }
}

/* Joins the parts' sums to the covariance and the information. */
static double join(const double *share, int n, double *covariance, double *information)
{
    double sum[SUMS] = {0}, *first = sum + 2, *second = first + GBEES_MAX_DIM, *j = second + GBEES_MATRIX;

    for (int k = 0; k < GBEES_WORKERS_PARTS; k++)
        for (int s = 0; s < SUMS; s++)
            sum[s] += share[k * SUMS + s];
    for (int a = 0; a < n; a++)
        for (int b = 0; b <= a; b++) {
            covariance[a * n + b] = second[a * n + b] / sum[0] - first[a] / sum[0] * (first[b] / sum[0]);
            covariance[b * n + a] = covariance[a * n + b] += a == b ? least_variance : 0;
            information[a * n + b] = information[b * n + a] = j[a * n + b] / sum[0];
        }
    return sum[0] * sum[0] / sum[1];
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
        spacing->effective = join(all.share, lattice->n, covariance, information);
        status = gbees_shape_find(lattice->n, covariance, information, &wanted, &spacing->shape, error);
    }
    free(all.root);
    free(all.share);
    return status;
}

/* ---- halves ---- */

/* Errors of sums fall with the density of points along an axis as exp(-c density^power): 2 for a Gaussian, less for
 * bent densities. */
static const double usual_power = 1.3, least_power = 1, most_power = 2;
/* Points become so much denser at most; along the axis that needs it most at least, if the error is known. */
static const double densest = 2, least_denser = 1.1;

enum { CLASSES = 1 << GBEES_MAX_DIM };

/* Sums of w, w d and w d^2 over points whose indices have the same parities: bit k of the class is that of index k.
 */
typedef struct class_sums {
    double mass, first[GBEES_MAX_DIM], second[GBEES_MAX_DIM];
} class_sums;

/* The weight of a point, 1 at most; 0 where it has left every bound. */
static double weight_of(const gbees_lattice *lattice, double beta, double best, uint32_t i)
{
    const double w = exp(lattice->log_weight[i] + (beta > 0 ? beta * lattice->gain[i] : 0) - best);
    double sum = 0;

    for (int j = 0; j < lattice->n; j++)
        sum += lattice->x[j][i];
    return isfinite(sum) ? w : 0;
}

/* Adds up the classes, of places relative to one of them. */
static void add_classes(const gbees_lattice *lattice, double beta, class_sums *sums)
{
    const uint32_t count = gbees_lattice_inner(lattice);
    const double best = gbees_lattice_most(lattice, 0, count, beta);
    const int n = lattice->n;
    uint32_t reference = count;

    for (uint32_t i = 0; i < count; i++) {
        const double w = weight_of(lattice, beta, best, i);
        unsigned parities = 0;

        if (!(w > 0))
            continue;
        reference = reference < count ? reference : i;
        for (int k = 0; k < n; k++)
            parities |= (lattice->site[i].z[k] & 1u) << k;
        sums[parities].mass += w;
        for (int j = 0; j < n; j++) {
            const double d = lattice->x[j][i] - lattice->x[j][reference];

            sums[parities].first[j] += w * d;
            sums[parities].second[j] += w * d * d;
        }
    }
}

/* The Walsh-Hadamard transform: entry c becomes the sum over points with an even sum of the indices that are bits of
 * c, less that over those with an odd one. */
static void transform(int n, class_sums *sums)
{
    for (int bit = 0; bit < n; bit++)
        for (int c = 0; c < 1 << n; c++) {
            class_sums *even = &sums[c & ~(1 << bit)], *odd = &sums[c | 1 << bit];
            double *a = &even->mass, *b = &odd->mass;

            for (size_t k = 0; k < sizeof *sums / sizeof *a && !(c >> bit & 1); k++) {
                const double low = a[k], high = b[k];

                a[k] = low + high;
                b[k] = low - high;
            }
        }
}

/* Half of how much the sums over both halves differ: 0.5 at most. */
static double difference(int n, const class_sums *all, const class_sums *halves)
{
    const double even = (all->mass + halves->mass) / 2, odd = (all->mass - halves->mass) / 2;
    double most = even > 0 && odd > 0 ? fabs(log(even / odd)) / 2 : 1;

    for (int j = 0; j < n && most < 0.5; j++) {
        const double mean = all->first[j] / all->mass, variance = all->second[j] / all->mass - mean * mean,
                     low = (all->first[j] + halves->first[j]) / 2 / even,
                     high = (all->first[j] - halves->first[j]) / 2 / odd,
                     second = (all->second[j] + halves->second[j]) / 2 / even - 2 * mean * low -
                              (all->second[j] - halves->second[j]) / 2 / odd + 2 * mean * high;

        most = fmax(most, fmax(fabs(low - high) / sqrt(variance), fabs(second) / variance) / 2);
    }
    return most < 0.5 ? fmax(most, 1e-15) : 0.5;
}

/* Sets half[n] to the differences between halves by the parity of each index. Those by the parity of a sum of indices
 * count for the axis among them with the largest: *worst, of the largest of all, which is returned. */
static double find_halves(const gbees_lattice *lattice, double beta, double *half, int *worst)
{
    class_sums sums[CLASSES] = {{.mass = 0}};
    const int n = lattice->n;
    double most = 0;
    int at = 1;

    add_classes(lattice, beta, sums);
    transform(n, sums);
    for (int c = 1; c < 1 << n; c++) {
        const double found = difference(n, &sums[0], &sums[c]);

        at = found > most ? c : at;
        most = fmax(most, found);
    }
    *worst = -1;
    for (int k = 0; k < n; k++) {
        half[k] = difference(n, &sums[0], &sums[1 << k]);
        if (at >> k & 1 && (*worst < 0 || half[k] > half[*worst]))
            *worst = k;
    }
    half[*worst] = most;
    return most;
}

double gbees_spacing_times(const gbees_lattice *lattice, double beta, const gbees_spacing_aim *aim, double *times)
{
    double half[GBEES_MAX_DIM], power = usual_power;
    int worst;
    const double most = find_halves(lattice, beta, half, &worst);

    if (aim->now > 0) /* the logarithm of the error with all points is 2^power times that with half of them */
        power = fmin(fmax(log2(log(fmin(aim->now, 0.5)) / log(most)), least_power), most_power);
    for (int k = 0; k < lattice->n; k++) {
        const double asked = fmin(pow(log(aim->wanted) / log(half[k]), 1 / power) / 2, densest);

        times[k] = fmax(asked, aim->now > 0 && k == worst ? fmax(aim->least, least_denser) : aim->least);
    }
    return exp(log(most) * exp2(usual_power));
}
