/* periods.h - the Gaussian likelihood of a residual some of whose components have a period, as angles do: the sum of
 * the Gaussians of all residuals that are whole periods apart (doc/method.md, "Bayes update").
 *
 * With the residual r reduced to within half a period and the inverse A of its covariance, a vector k of whole
 * numbers of the periods T has the term exp(-r^T A r / 2 - k^T b - k^T G k / 2), b_i = T_i (A r)_i, G_ij = T_i A_ij
 * T_j. With G = U^T D U, U unit upper triangular, and U^T D e = b, the last two are (sum of d_i e_i^2 - cost) / 2,
 * where
 *
 *     cost = sum over i of d_i (k_i + e_i + sum over j > i of U_ij k_j)^2.
 *
 * So the terms are found from the last k_i to the first, each from the nearest number outwards, until the cost
 * exceeds the least one by so much that a term is below rounding (Schnorr and Euchner's enumeration of a lattice). */
#ifndef GBEES_NUMERICS_PERIODS_H
#define GBEES_NUMERICS_PERIODS_H

#include "qualifier.h"
#include <math.h>

enum {
    GBEES_PERIODS_MOST = 8,              /* components */
    GBEES_PERIODS_TERMS_MOST = 1 << 16,  /* of a sum, as far as is known beforehand */
    GBEES_PERIODS_VISITS_MOST = 1 << 20, /* of a sum: ends it for residuals beyond all numbers */
};

/* What the sums of a measurement share. */
typedef struct gbees_periods {
    int count;                         /* components with a period; 0: there is one term */
    int component[GBEES_PERIODS_MOST]; /* which */
    double factor[GBEES_PERIODS_MOST * (GBEES_PERIODS_MOST + 1) / 2]; /* d_i, U_ij: at gbees_periods_at(i, j) */
    double at_match; /* the logarithm of the sum for a residual of 0 */
} gbees_periods;

/* The residual of a component with a period, reduced to within half a period; unchanged if the period is 0. */
GBEES_NUM double gbees_wrapped(double residual, double period)
{
    return period > 0 ? residual - period * rint(residual / period) : residual;
}

/* Terms whose cost is above the least one by more are below e^-40 of the largest. */
GBEES_NUM double gbees_periods_cut(void)
{
    return 80;
}

/* Where U_ij is, or d_i if j = i; j >= i. */
GBEES_NUM int gbees_periods_at(int i, int j)
{
    return j * (j + 1) / 2 + i;
}

/* Sets e[count] from b[count]; returns the sum of d_i e_i^2. */
GBEES_NUM double gbees_periods_solve(const gbees_periods *p, const double *b, double *e)
{
    double sum = 0;

    for (int i = 0; i < p->count; i++) {
        double left = b[i];

        for (int l = 0; l < i; l++)
            left -= p->factor[gbees_periods_at(l, i)] * p->factor[gbees_periods_at(l, l)] * e[l];
        e[i] = left / p->factor[gbees_periods_at(i, i)];
        sum += left * e[i];
    }
    return sum;
}

/* Where the cost of component i is least, for those after it as they are. */
GBEES_NUM double gbees_periods_centre(const gbees_periods *p, int i, const double *e, const double *k)
{
    double centre = -e[i];

    for (int j = i + 1; j < p->count; j++)
        centre -= p->factor[gbees_periods_at(i, j)] * k[j];
    return centre;
}

/* The logarithm of the sum over k of exp(-k^T b - k^T G k / 2). */
GBEES_NUM double gbees_periods_log_sum(const gbees_periods *p, const double *b)
{
    double e[GBEES_PERIODS_MOST], k[GBEES_PERIODS_MOST], centre[GBEES_PERIODS_MOST], step[GBEES_PERIODS_MOST];
    double cost[GBEES_PERIODS_MOST + 1], least = HUGE_VAL, sum = 0;
    const double most = gbees_periods_solve(p, b, e);
    int i = p->count, enters = 1, is_moved = 0; /* whether i begins anew; whether the nearest k is not 0 */

    cost[i--] = 0;
    for (int visits = 0; i < p->count && visits < GBEES_PERIODS_VISITS_MOST; visits++) {
        if (enters) {
            centre[i] = gbees_periods_centre(p, i, e, k);
            k[i] = rint(centre[i]);
            step[i] = centre[i] > k[i] ? 1 : -1;
        } else { /* the next one on the other side */
            k[i] += step[i];
            step[i] = -step[i] + (step[i] > 0 ? -1 : 1);
        }
        cost[i] = cost[i + 1] + p->factor[gbees_periods_at(i, i)] * (k[i] - centre[i]) * (k[i] - centre[i]);
        enters = cost[i] <= least + gbees_periods_cut() && i > 0;
        if (enters)
            i--;
        else if (!(cost[i] <= least + gbees_periods_cut()))
            i++;
        else if (cost[0] < least) {
            sum = 1 + sum * exp(0.5 * (cost[0] - least));
            least = cost[0];
            is_moved = 0;
            for (int j = 0; j < p->count; j++)
                is_moved |= k[j] != 0;
        } else
            sum += exp(0.5 * (least - cost[0]));
    }
    return (is_moved ? 0.5 * (most - least) : 0) + log(sum);
}

/* Whether the term of k = 0 alone counts, where the components are independent of each other: those of k_i = 1 and -1
 * are the next ones. */
GBEES_NUM int gbees_periods_are_far(const gbees_periods *p, const double *b)
{
    for (int i = 0; i < p->count; i++) {
        if (!(p->factor[gbees_periods_at(i, i)] - 2 * fabs(b[i]) > gbees_periods_cut()))
            return 0;
        for (int j = 0; j < i; j++)
            if (p->factor[gbees_periods_at(j, i)] != 0)
                return 0;
    }
    return 1;
}

/* The logarithm of the likelihood of residual[n], whose components are within half a period, relative to that of 0.
 * exponent: -r^T A r / 2; inverse: A[n][n]. */
GBEES_NUM double gbees_periods_exponent(const gbees_periods *p, int n, const double *residual, const double *inverse,
                                        const double *period, double exponent)
{
    double b[GBEES_PERIODS_MOST];

    if (p->count == 0 || !(exponent > -HUGE_VAL))
        return exponent;
    for (int i = 0; i < p->count; i++) {
        const int row = p->component[i];

        b[i] = 0;
        for (int j = 0; j < n; j++)
            b[i] += inverse[row * n + j] * residual[j];
        b[i] *= period[row];
    }
    return exponent + ((gbees_periods_are_far(p, b) ? 0 : gbees_periods_log_sum(p, b)) - p->at_match);
}

/* Integrates the Gaussian of inverse[n][n] over component j, whose row and column become 0. */
GBEES_NUM void gbees_periods_integrate(int n, int j, double *inverse)
{
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            if (a != j && b != j)
                inverse[a * n + b] -= inverse[a * n + j] * inverse[j * n + b] / inverse[j * n + j];
    for (int a = 0; a < n; a++)
        inverse[a * n + j] = inverse[j * n + a] = 0;
}

/* Sets the factors of G; returns the number of terms of a sum, about. Infinite: G is not positive. */
GBEES_NUM double gbees_periods_factor(gbees_periods *p, int n, const double *period, const double *inverse)
{
    const int m = p->count;
    double terms = 1;

    for (int i = 0; i < m; i++)
        for (int j = i; j < m; j++) {
            const int row = p->component[i], column = p->component[j];
            double left = period[row] * inverse[row * n + column] * period[column];

            for (int l = 0; l < i; l++)
                left -= p->factor[gbees_periods_at(l, l)] * p->factor[gbees_periods_at(l, i)] *
                        p->factor[gbees_periods_at(l, j)];
            p->factor[gbees_periods_at(i, j)] = j > i ? left / p->factor[gbees_periods_at(i, i)] : left;
            if (j == i)
                terms *= left > 0 ? 1 + 2 * sqrt(gbees_periods_cut() / left) : HUGE_VAL;
        }
    return terms;
}

/* Prepares the sums for components with period[n] of a Gaussian whose covariance has inverse[n][n], with 0 in the
 * rows and columns of those that were not measured. A component whose deviation, given the others, is 1.4 periods or
 * more has any value with the same probability, to rounding: `inverse` is integrated over it. *log_factor: the
 * logarithm of the likelihood of a residual of 0 over that of the one Gaussian. Returns 1 if a sum has too many
 * terms. */
GBEES_NUM int gbees_periods_set(gbees_periods *p, int n, const double *period, double *inverse, double *log_factor)
{
    double none[GBEES_PERIODS_MOST] = {0};

    p->count = 0;
    p->at_match = *log_factor = 0;
    for (int j = 0; j < n; j++)
        if (period[j] > 0 && inverse[j * n + j] > 0 && inverse[j * n + j] * period[j] * period[j] < 0.5) {
            *log_factor += 0.5 * log(6.283185307179586 / inverse[j * n + j]) - log(period[j]);
            gbees_periods_integrate(n, j, inverse);
            j = -1; /* others are wider now */
        }
    for (int j = 0; j < n; j++)
        if (period[j] > 0 && inverse[j * n + j] > 0)
            p->component[p->count++] = j;
    if (gbees_periods_factor(p, n, period, inverse) > GBEES_PERIODS_TERMS_MOST)
        return 1;
    p->at_match = p->count > 0 ? gbees_periods_log_sum(p, none) : 0;
    *log_factor += p->at_match;
    return 0;
}

#endif
