/* certify.c - how far the mean of sums over lattices of the same spacing may be off: by how much it differs from
 * those over each of them, which are turned and shifted otherwise (doc/lagrangian.md; doc/accuracy.md). See
 * certify.h.
 *
 * The error of a sum over a lattice is a sum of Fourier coefficients of what is summed, with phases that depend on
 * where the lattice lies. A single figure of two lattices may agree by chance, but not all of them: so the bound of
 * each is the largest difference of any.
 */
#include "certify.h"
#include "base/workers.h"
#include "between.h"
#include "targets.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is left, of 1, that is more than rounding. */
static const double least_left = 1e-12;

/* What lies beyond the rim, over what lies in it: weights fall by exp(2) in it, and their number grows. It is a
 * variance that it adds most to: a Gaussian's rim lies at a squared distance of 2 tail deviations, that of a density
 * which is bent may lie further. */
static const double beyond_rim = 0.25;
/* What lies beyond is a geometric series if shares of a variance fall so from what is within the rim to the rim; no
 * more slowly than this is believed. */
static const double most_slowly = 0.9;
/* The tolerance of a trajectory's steps counts so many times. */
static const double steps = 1e3;
/* Errors of sums over a density with edges are those of few numbers, which differ less than independent ones. */
static const double edge_safety = 2;
/* Bins of a marginal, and how many deviations they reach to either side. */
enum { BINS = 1024, REACH = 10 };

/* Moments of a set, or of all, and the entropy, up to what all have in common. */
typedef struct figures {
    double entropy, log_mass, mean[GBEES_MAX_DIM], covariance[GBEES_MATRIX], points;
    double rim, rim_share; /* the rim's part of the mass, and of a variance, */
    double falls;          /* and of that, over the part of what is within it */
} figures;

static void set_figures(const gbees_sums *sums, figures *of)
{
    gbees_sums_moments(sums, of->mean, of->covariance);
    of->log_mass = gbees_sums_log_mass(sums);
    of->entropy = of->log_mass - sums->log_density / sums->total[0];
    of->rim = sums->shell[0].w / sums->total[0];
    of->rim_share = gbees_sums_share(sums, 0);
    of->falls = of->rim_share / fmax(gbees_sums_share(sums, 1), 1e-300);
    of->points = sums->points;
}

/* ---- marginals ---- */

/* The marginals of a set. */
typedef struct marginals {
    const gbees_lattice_set *set;
    int parts, n;
    double low[GBEES_MAX_DIM], width[GBEES_MAX_DIM], log_mass;
    /* of[j][k]: the probability below bin k + 1 along state j; first the second differences of that */
    double (*of)[BINS];
    double (*share)[BINS]; /* [GBEES_WORKERS_PARTS][n]: the second differences by a part of the points */
} marginals;

/* How far the image of a lattice cell extends along a state, as the width of the uniform distribution that has its
 * variance; from the places of a point's neighbours, beside[2 n]. */
static double extent_of(int n, const double *x, uint32_t i, const uint32_t *beside)
{
    double square = 0;

    for (int k = 0; k < n; k++) {
        const uint32_t below = beside[2 * k], above = beside[2 * k + 1];
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

/* Adds a point of weight w to the marginals of a part. */
static void add_to_marginals(const marginals *m, const gbees_lattice *lattice, uint32_t i, double w,
                             double (*second)[BINS])
{
    uint32_t beside[2 * GBEES_MAX_DIM];

    for (int side = 0; side < 2 * m->n; side++)
        beside[side] = lattice->beside[side][i];
    for (int j = 0; j < m->n; j++) {
        const double half = extent_of(m->n, lattice->x[j], i, beside) / 2, x = lattice->x[j][i] - m->low[j];

        if (isfinite(x))
            add_ramp(second[j], (x - half) / m->width[j], (x + half) / m->width[j], w);
    }
}

static void fill_part(void *context, size_t part)
{
    const marginals *m = context;
    double(*second)[BINS] = m->share + part * (size_t)m->n;

    memset(second, 0, (size_t)m->n * sizeof *second);
    for (int g = 0; g < m->parts; g++) {
        const gbees_lattice *lattice = m->set->lattice[g];
        const size_t count = lattice ? gbees_lattice_inner(lattice) : 0, end = gbees_workers_first(count, part + 1);

        for (size_t i = gbees_workers_first(count, part); i < end; i++) {
            const double log_weight = lattice->log_weight[i] + lattice->log_volume - m->log_mass;

            if (log_weight > -40)
                add_to_marginals(m, lattice, (uint32_t)i, exp(log_weight), second);
        }
    }
}

/* Joins the parts' second differences along a state, and sums them up twice. */
static void sum_axis(const marginals *m, int j)
{
    double slope = 0, sum = 0;

    for (int k = 0; k < BINS; k++) {
        for (int part = 0; part < GBEES_WORKERS_PARTS; part++)
            slope += m->share[part * m->n + j][k];
        m->of[j][k] = sum += slope;
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
    double(*bins)[BINS] = calloc((size_t)((engine->sets + GBEES_WORKERS_PARTS) * n), sizeof *bins);
    int status = GBEES_OK;

    if (!bins)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the certificate of a record");
    for (int s = 0; s < engine->sets; s++) {
        of[s] = (marginals){.set = &engine->set[s],
                            .parts = engine->parts,
                            .n = n,
                            .log_mass = all[s].log_mass,
                            .of = bins + (size_t)(s * n),
                            .share = bins + (size_t)(engine->sets * n)};
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
        gbees_workers_run(gbees_workers_worth(engine->threads, all[s].points * 40 * n), GBEES_WORKERS_PARTS,
                          fill_part, &of[s]);
        for (int j = 0; j < n; j++)
            sum_axis(&of[s], j);
        if (s > 0)
            compare_marginals(&of[0], &of[s], certificate);
    }
    free(bins);
    return status;
}

/* ---- moments ---- */

/* Adds the differences of another set; returns the largest, among them that of the logarithms of the masses, those of
 * the covariances, and that of the entropy for a state: by so much deviations that are off by as many parts change
 * it. */
static double compare_moments(int n, const figures *a, const figures *b, gbees_certificate *certificate)
{
    double deviation[GBEES_MAX_DIM], most = fmax(fabs(a->log_mass - b->log_mass), fabs(a->entropy - b->entropy) / n);

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

/* What lies beyond the tail never comes back: where targets have taken most it is a larger part of what is left, and
 * all that is known of it where they have taken all. now: by what is left at the rim */
static void set_beyond(gbees_engine *engine, double now)
{
    const double left = gbees_engine_left(engine);

    engine->whole_beyond = fmax(engine->whole_beyond, now * left);
    engine->beyond = left >= 1 ? now : left > least_left ? fmax(now, engine->whole_beyond / left) : INFINITY;
}

/* What is left of a cell that a target has cut stays at the cell's point: moments are off by as much as the variance
 * of a cell, h^2 / 12, or up to three times that, times the share of such cells, in all lattices. h is that of a
 * Gaussian with as many effective points, (2 sqrt(pi) / h)^n. */
static double cut_error(const gbees_engine *engine)
{
    const gbees_entered *of = &engine->entered[0];
    const gbees_sums *sums = &engine->sums[0];
    const double effective = sums->total[0] * sums->total[0] / sums->squares,
                 h = 2 * sqrt(acos(-1)) / pow(effective, 1.0 / sums->n);

    return of->left > 0 && of->cut > 0 ? of->cut / of->left * h * h / 4 : 0;
}

/* What lies beyond the rim, as a part of the mass or of a variance. */
static double find_beyond(const gbees_engine *engine, const figures *all)
{
    const int n = engine->problem->dimension;
    const double ratio = fmin(all->falls, most_slowly), most = fmax(beyond_rim, ratio / (1 - ratio));

    return fmax(beyond_rim * 2 * engine->set[0].rule.tail / n * all->rim, most * all->rim_share);
}

static int certify(gbees_engine *engine, gbees_certificate *certificate, gbees_error *error)
{
    const int n = engine->problem->dimension;
    figures all, of[GBEES_LAGRANGIAN_SETS];
    gbees_sums sums;
    double most = 0, bound;
    int status = gbees_engine_all_sums(engine, &sums, error);

    if (status)
        return status;
    *certificate = (gbees_certificate){.estimate = NAN, .density = {NAN, NAN}};
    set_figures(&sums, &all);
    for (int s = 0; s < engine->sets; s++) {
        set_figures(&engine->sums[s], &of[s]);
        most = fmax(most, compare_moments(n, &all, &of[s], certificate));
    }
    status = find_marginals(engine, of, certificate, error);
    if (status)
        return status;
    /* Lattices that were the record's before are off as before, but may agree by chance. */
    most = fmax(most, engine->figure);
    engine->figure = most;
    certificate->points = (uint64_t)all.points;
    /* What the tail leaves out, and the steps' errors, are the same in all lattices. */
    set_beyond(engine, find_beyond(engine, &all));
    engine->between.bound = gbees_between_bound(engine, all.log_mass);
    bound = GBEES_SETS_SAFETY * (engine->between.is_edged ? edge_safety : 1) * most + engine->beyond +
            cut_error(engine) + engine->between.bound + engine->between.missed + steps * engine->problem->tolerance +
            (engine->problem->cells ? engine->problem->cells->error : 0);
    for (int j = 0; j < n; j++) {
        certificate->mean[j].bound = certificate->std[j].bound = bound;
        certificate->marginal[j].bound = fmax(bound, GBEES_SETS_SAFETY * certificate->marginal[j].value);
        certificate->kolmogorov[j].bound = fmax(bound, GBEES_SETS_SAFETY * certificate->kolmogorov[j].value);
    }
    engine->certificate = *certificate;
    engine->is_certified = 1;
    return GBEES_OK;
}

/* Adds by how much the cells that were made are off along each axis of the grid. */
static int add_cells(gbees_engine *engine, gbees_certificate *certificate, gbees_error *error)
{
    const gbees_problem *problem = engine->problem;
    double mean[GBEES_MAX_DIM], covariance[GBEES_MATRIX], edge[GBEES_MAX_DIM];
    gbees_sums sums;
    const int n = problem->dimension, status = gbees_engine_all_sums(engine, &sums, error);

    if (status)
        return status;
    gbees_sums_moments(&sums, mean, covariance);
    for (int j = 0; j < n; j++) {
        double away = 0, at_edge = 0;

        (void)gbees_problem_edges(problem, j, edge);
        for (int k = 0; k < n; k++) {
            away += fabs(edge[k]) * engine->off[k];
            at_edge = edge[k] != 0 ? fmax(at_edge, engine->off_edge[k]) : at_edge;
        }
        certificate->marginal[j].bound += away / sqrt(covariance[j * n + j]);
        certificate->kolmogorov[j].bound = fmin(1, certificate->kolmogorov[j].bound + at_edge);
    }
    return GBEES_OK;
}

int gbees_engine_certify(gbees_engine *engine, gbees_certificate *certificate, gbees_error *error)
{
    const int status = engine->is_certified ? GBEES_OK : certify(engine, certificate, error);

    if (status)
        return status;
    *certificate = engine->certificate;
    certificate->variation = engine->variation;
    return engine->variation > 0 ? add_cells(engine, certificate, error) : GBEES_OK;
}
