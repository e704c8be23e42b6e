/* score.c - compares records with a truth: see gbees/truth.h. */
#include "base/cholesky.h"
#include "instants.h"
#include <gbees/gbees.h>
#include <math.h>
#include <string.h>

enum { BATCH = 4096, HALVINGS = 50, N = GBEES_MAX_DIM };

static const double two_sided = 1.959963984540054; /* normal deviations that hold 95 % */

/* ---- one record -------------------------------------------------------------------------------------------- */

/* (x - mean)' C^-1 (x - mean); NAN if C is not positive definite. */
static double distance(int n, const double *off, const double *covariance)
{
    double factor[N * N], r[N], sum = 0;

    if (gbees_cholesky_factor(n, covariance, factor))
        return NAN;
    gbees_cholesky_solve(n, factor, off, r);
    for (int j = 0; j < n; j++)
        sum += r[j] * r[j];
    return sum;
}

/* Adds the parts of cells that lie below x along each state; P is taken as uniform within a cell's extent along it.
 */
static void add_below(const gbees_problem *problem, size_t count, int32_t *const *index, const double *p,
                      const double *x, double *below)
{
    const int n = problem->dimension;
    double width[N], edge[N], y[N], centre[N];

    for (int j = 0; j < n; j++)
        width[j] = gbees_problem_edges(problem, j, edge);
    for (size_t i = 0; i < count; i++) {
        for (int j = 0; j < n; j++)
            y[j] = problem->mean[j] + problem->width[j] * index[j][i];
        gbees_problem_point(problem, y, centre);
        for (int j = 0; j < n; j++)
            below[j] += p[i] * fmin(fmax((x[j] - centre[j]) / width[j] + 0.5, 0), 1);
    }
}

/* Sets the part of the cells that lies below x, along each state; NAN without cells. */
static void find_ranks(const gbees_record *record, const double *x, double *rank)
{
    const gbees_problem *problem = record->problem;
    const gbees_cells *cells = record->cells;
    const int n = problem->dimension;
    const size_t count = cells ? gbees_cells_count(cells) : 0;
    int32_t list[N][BATCH], *index[N];
    double p[BATCH], below[N] = {0}, sum = 0;

    for (int j = 0; j < n; j++)
        index[j] = list[j];
    for (size_t first = 0, batch, end; first < count; first += batch) {
        if (gbees_cells_hold(cells, first, &end, NULL)) {
            sum = NAN;
            break;
        }
        batch = end - first < BATCH ? end - first : BATCH;
        gbees_cells_copy(cells, first, batch, index, p);
        for (size_t i = 0; i < batch; i++)
            sum += p[i];
        add_below(problem, batch, index, p, x, below);
    }
    for (int j = 0; j < n; j++)
        rank[j] = below[j] / sum;
}

/* Whether the record is of a time before its jumps, after which a truth is. */
static int is_before_jump(const gbees_record *record)
{
    const gbees_problem *problem = record->problem;
    const gbees_leg_start start = gbees_leg_start_of(problem, record->leg);
    const int next = start.instant + start.instant_count;

    return next < problem->instant_count && problem->instants[next].time <= record->time;
}

int gbees_truth_score(const gbees_truth *truth, const gbees_record *record, gbees_score *score)
{
    const double *x = is_before_jump(record) ? NULL : gbees_truth_at(truth, record->time);
    const int n = record->problem->dimension;
    double squares = 0;

    if (!x)
        return 0;
    *score = (gbees_score){.leg = record->leg, .number = record->number};
    for (int j = 0; j < n; j++) {
        score->state[j] = gbees_problem_around(record->problem, j, x[j]);
        score->off[j] = record->statistics.mean[j] - score->state[j];
        squares += score->off[j] * score->off[j];
    }
    score->rmse = sqrt(squares / n);
    score->nees = distance(n, score->off, record->statistics.covariance);
    find_ranks(record, score->state, score->rank);
    return 1;
}

/* ---- all records ------------------------------------------------------------------------------------------- */

void gbees_scores_add(gbees_scores *scores, int dimension, const gbees_score *score)
{
    struct gbees_score_sum *sum = &scores->sum[score->leg > 0 && score->number == 0];

    scores->dimension = dimension;
    sum->count++;
    sum->rmse += score->rmse;
    sum->rmse_squares += score->rmse * score->rmse;
    sum->nees += score->nees;
    for (int j = 0; j < dimension; j++)
        sum->rank[j] += score->rank[j];
}

/* The part of the gamma distribution of this shape that lies below x: a series. */
static double gamma_below(double shape, double x)
{
    int sign;
    double term = exp(shape * log(x) - x - lgamma_r(shape + 1, &sign)), sum = 0;

    for (double k = 1; term > 1e-12 * sum; k++) {
        sum += term;
        term *= x / (shape + k);
    }
    return sum;
}

/* The quantile of the chi-squared distribution at probability p. */
static double chi_squared(double degrees, double p)
{
    double low = 0, high = 2 * degrees + 40;

    for (int i = 0; i < HALVINGS; i++) {
        const double middle = 0.5 * (low + high);

        if (gamma_below(0.5 * degrees, 0.5 * middle) < p)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

size_t gbees_scores_summary(const gbees_scores *scores, gbees_score_summary *summary)
{
    const struct gbees_score_sum *after = &scores->sum[1], *sum = after->count > 0 ? after : &scores->sum[0];
    const double count = (double)sum->count, n = scores->dimension;

    *summary = (gbees_score_summary){.records = sum->count, .updates_only = after->count > 0};
    if (sum->count == 0)
        return 0;
    const double mean = sum->rmse / count, variance = fmax(0, sum->rmse_squares / count - mean * mean);
    const double error = sum->count > 1 ? two_sided * sqrt(variance / (count - 1)) : INFINITY;
    summary->rmse = (gbees_bounded){mean, mean - error, mean + error};
    summary->nees = (gbees_bounded){sum->nees / count, chi_squared(count * n, 0.025) / count,
                                    chi_squared(count * n, 0.975) / count};
    for (int j = 0; j < scores->dimension; j++)
        summary->rank[j] = (gbees_bounded){sum->rank[j] / count, 0.5 - two_sided / sqrt(12 * count),
                                           0.5 + two_sided / sqrt(12 * count)};
    return sum->count;
}
