/* certify.c - how far the sums over a lattice may be off: by how much they differ from those over lattices of the
 * same spacing that are turned and shifted otherwise (doc/method.md, "Lagrangian frame"; doc/accuracy.md). See
 * certify.h.
 *
 * The error of a sum over a lattice is a sum of Fourier coefficients of what is summed, with phases that depend on
 * where the lattice lies. A single figure of two lattices may agree by chance, but not all of them: so the bound of
 * each is the largest difference of any.
 */
#include "certify.h"
#include "base/workers.h"
#include <math.h>
#include <stdlib.h>

/* A figure is off by at most so many times the largest difference of any figure: tests/accuracy/lattices has no case
 * that is off by more. */
static const double safety = 3;
/* What lies beyond the rim, over what lies in it: weights fall by exp(2) in it, and their number grows. What it adds
 * to a variance is larger by its squared distance. */
static const double beyond_rim = 0.25;
/* The tolerance of a trajectory's steps counts so many times. */
static const double steps = 1e3;
/* Bins of a marginal, and how many deviations they reach to either side. */
enum { BINS = 1024, REACH = 10 };

/* Moments of a set in units of the first one's deviations. */
typedef struct figures {
    double log_mass, mean[GBEES_MAX_DIM], covariance[GBEES_MATRIX], rim, points;
} figures;

static int find_figures(const gbees_engine *engine, int set, figures *of, gbees_error *error)
{
    gbees_sums sums;
    const int status = gbees_engine_sums(engine, set, &sums, error);

    if (!status) {
        gbees_sums_moments(&sums, sums.total, of->mean, of->covariance);
        of->log_mass = gbees_sums_log_mass(&sums);
        of->rim = sums.rim / sums.total[0];
        of->points = sums.points;
    }
    gbees_sums_free(&sums);
    return status;
}

/* ---- marginals ---- */

/* The distribution functions of all marginals of a set: of[j][k] is the probability below bin k + 1. */
typedef struct marginals {
    const gbees_lattice_set *set;
    int parts, n;
    double low[GBEES_MAX_DIM], width[GBEES_MAX_DIM], log_mass;
    double (*of)[BINS];
} marginals;

/* How far the image of a lattice cell extends along a state, as the width of the uniform distribution that has its
 * variance; from the places of a point's neighbours. */
static double extent_of(const gbees_lattice *lattice, uint32_t i, int j)
{
    const double *x = lattice->x[j];
    double square = 0;

    for (int k = 0; k < lattice->n; k++) {
        const uint32_t below = lattice->beside[2 * k][i], above = lattice->beside[2 * k + 1][i];
        const double low = below == GBEES_NO_POINT || !isfinite(x[below]) ? x[i] : x[below];
        const double high = above == GBEES_NO_POINT || !isfinite(x[above]) ? x[i] : x[above];
        const double both = below == GBEES_NO_POINT || above == GBEES_NO_POINT ? 1 : 2;

        square += (high - low) * (high - low) / (both * both);
    }
    return sqrt(square);
}

/* Adds w uniformly between two places, in bins, to the second difference of the distribution function. */
static void add_ramp(double *second, double from, double to, double w)
{
    const double place[2] = {fmin(fmax(from, 0), BINS - 2), fmin(fmax(fmax(to, from + 1e-3), 1e-3), BINS - 1)};
    const double slope = w / (place[1] - place[0]);

    for (int side = 0; side < 2; side++) {
        const int k = (int)place[side];
        const double inside = place[side] - k, by = side ? -slope : slope;

        second[k] += by * (1 - inside);
        second[k + 1 < BINS ? k + 1 : k] += by * inside;
    }
}

static void fill_axis(void *context, size_t j)
{
    const marginals *m = context;
    double *bin = m->of[j], slope = 0, sum = 0;

    for (int g = 0; g < m->parts; g++) {
        const gbees_lattice *lattice = m->set->lattice[g];

        for (uint32_t i = 0; lattice && i < lattice->count; i++) {
            const double log_weight = lattice->log_weight[i] + lattice->log_volume - m->log_mass;

            if (!(log_weight > -40) || !isfinite(lattice->x[j][i]))
                continue;
            const double half = extent_of(lattice, i, (int)j) / 2, x = lattice->x[j][i] - m->low[j];

            add_ramp(bin, (x - half) / m->width[j], (x + half) / m->width[j], exp(log_weight));
        }
    }
    for (int k = 0; k < BINS; k++) {
        slope += bin[k];
        sum += slope;
        bin[k] = sum;
    }
}

static void compare_marginals(const marginals *a, const marginals *b, gbees_certificate *certificate)
{
    for (int j = 0; j < a->n; j++) {
        const double all = a->of[j][BINS - 1], others = b->of[j][BINS - 1];
        double area = 0, most = 0;

        for (int k = 0; k < BINS; k++) {
            const double off = fabs(a->of[j][k] / all - b->of[j][k] / others);

            area += off;
            most = fmax(most, off);
        }
        area *= 2.0 * REACH / BINS;
        certificate->marginal[j].value = fmax(certificate->marginal[j].value, area);
        certificate->kolmogorov[j].value = fmax(certificate->kolmogorov[j].value, most);
    }
}

static int find_marginals(gbees_engine *engine, const figures *all, gbees_certificate *certificate,
                          gbees_error *error)
{
    marginals of[GBEES_LAGRANGIAN_SETS];
    const int n = engine->problem->dimension;
    double(*bins)[BINS] = calloc((size_t)(engine->sets * n), sizeof *bins);
    int status = GBEES_OK;

    if (!bins)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the certificate of a record");
    for (int s = 0; s < engine->sets; s++) {
        of[s] = (marginals){.set = &engine->set[s],
                            .parts = engine->parts,
                            .n = n,
                            .log_mass = all[s].log_mass,
                            .of = bins + (size_t)(s * n)};
        for (int j = 0; j < n; j++) {
            const double deviation = sqrt(all[0].covariance[j * n + j]);

            of[s].low[j] = all[0].mean[j] - REACH * deviation;
            of[s].width[j] = fmax(2 * REACH * deviation / BINS, 1e-300);
        }
        for (int g = 0; g < engine->parts && !status; g++)
            status = engine->set[s].lattice[g] ? gbees_lattice_link(engine->set[s].lattice[g], engine->threads, error)
                                               : GBEES_OK;
        if (status)
            break;
        gbees_workers_run(gbees_workers_worth(engine->threads, all[s].points * 100), (size_t)n, fill_axis, &of[s]);
        if (s > 0)
            compare_marginals(&of[0], &of[s], certificate);
    }
    free(bins);
    return status;
}

/* ---- moments ---- */

/* Adds the differences of another set; returns the largest, that of the logarithms of the masses and those of the
 * covariances among them. */
static double compare_moments(int n, const figures *a, const figures *b, gbees_certificate *certificate)
{
    double deviation[GBEES_MAX_DIM], most = fabs(a->log_mass - b->log_mass);

    for (int j = 0; j < n; j++)
        deviation[j] = sqrt(a->covariance[j * n + j]);
    for (int j = 0; j < n; j++) {
        const double mean = fabs(b->mean[j] - a->mean[j]) / deviation[j];
        const double std = fabs(sqrt(b->covariance[j * n + j]) / deviation[j] - 1);

        certificate->mean[j].value = fmax(certificate->mean[j].value, mean);
        certificate->std[j].value = fmax(certificate->std[j].value, std);
        most = fmax(most, fmax(mean, std));
        for (int k = 0; k < j; k++)
            most =
                fmax(most, fabs(b->covariance[j * n + k] - a->covariance[j * n + k]) / (deviation[j] * deviation[k]));
    }
    return most;
}

int gbees_engine_certify(gbees_engine *engine, gbees_certificate *certificate, gbees_error *error)
{
    const int n = engine->problem->dimension;
    figures of[GBEES_LAGRANGIAN_SETS];
    double most = 0, bound;
    int status = GBEES_OK;

    if (engine->is_certified) {
        *certificate = engine->certificate;
        return GBEES_OK;
    }
    *certificate = (gbees_certificate){.estimate = NAN, .density = {NAN, NAN}};
    for (int s = 0; s < engine->sets && !status; s++) {
        status = find_figures(engine, s, &of[s], error);
        if (!status && s > 0)
            most = fmax(most, compare_moments(n, &of[0], &of[s], certificate));
    }
    if (!status)
        status = find_marginals(engine, of, certificate, error);
    if (status)
        return status;
    /* Lattices that were the record's before are off as before, but may agree by chance. */
    most = fmax(most, engine->figure);
    engine->figure = most;
    certificate->points = (uint64_t)of[0].points;
    /* What the tail leaves out, and the steps' errors, are the same in all lattices. */
    bound = safety * most + beyond_rim * 2 * engine->set[0].rule.tail / n * of[0].rim +
            steps * engine->problem->tolerance;
    for (int j = 0; j < n; j++) {
        certificate->mean[j].bound = certificate->std[j].bound = bound;
        certificate->marginal[j].bound = fmax(bound, safety * certificate->marginal[j].value);
        certificate->kolmogorov[j].bound = fmax(bound, safety * certificate->kolmogorov[j].value);
    }
    engine->certificate = *certificate;
    engine->is_certified = 1;
    return GBEES_OK;
}
