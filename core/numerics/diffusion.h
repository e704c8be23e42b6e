/* diffusion.h - process noise as a Markov chain: the rates at which a cell gives to its neighbours.
 *
 * With Q of its own centre a cell gives, to each cell of
 *
 *     i +- e_j                            at the rate  a_j  = 1/2 (Q_jj / h_j^2 - sum_k |Q_jk| / (h_j h_k))
 *     i +- (e_j + sign(Q_jk) e_k), j < k  at the rate |b_jk| = 1/2 |Q_jk| / (h_j h_k)
 *
 * which is conservative, and positive where all a_j are (doc/method.md, "Diffusion").  q: n numbers, or the upper
 * half of a full n x n matrix, row by row, `stride` apart; over: 1 / h_j.  All in double, so that every engine
 * computes the same numbers.
 */
#ifndef GBEES_NUMERICS_DIFFUSION_H
#define GBEES_NUMERICS_DIFFUSION_H

#include "qualifier.h"
#ifndef GBEES_DEVICE
#include <math.h>
#endif

enum { GBEES_NOISE_FINE, GBEES_NOISE_NOT_FINITE, GBEES_NOISE_NEGATIVE, GBEES_NOISE_NOT_DOMINANT };

/* Q_jj in cells: the variance that a unit of time adds. */
GBEES_NUM double gbees_diffusion_spread(int n, int full, const double *q, int stride, const double *over, int j)
{
    return q[(full ? j * n + j : j) * stride] * over[j] * over[j];
}

/* b_jk, j < k: positive: the rate up (or down) both axes; negative: the rate up one and down the other. */
GBEES_NUM double gbees_diffusion_pair(int n, const double *q, int stride, const double *over, int j, int k)
{
    return 0.5 * q[(j * n + k) * stride] * over[j] * over[k];
}

/* a_j, which may be negative. */
GBEES_NUM double gbees_diffusion_rest(int n, int full, const double *q, int stride, const double *over, int j)
{
    double rate = 0.5 * gbees_diffusion_spread(n, full, q, stride, over, j);

    if (full)
        for (int k = 0; k < n; k++)
            if (k != j)
                rate -= fabs(gbees_diffusion_pair(n, q, stride, over, j < k ? j : k, j < k ? k : j));
    return rate;
}

GBEES_NUM double gbees_diffusion_axis(int n, int full, const double *q, int stride, const double *over, int j)
{
    double rate = gbees_diffusion_rest(n, full, q, stride, over, j);

    return rate > 0 ? rate : 0; /* less than 0 is rounding, or a fault that gbees_diffusion_fault() reports */
}

/* The fault of Q along an axis. */
GBEES_NUM int gbees_diffusion_fault(int n, int full, const double *q, int stride, const double *over, int j)
{
    double spread = gbees_diffusion_spread(n, full, q, stride, over, j);
    double rate = gbees_diffusion_rest(n, full, q, stride, over, j);

    if (!(rate - rate == 0))
        return GBEES_NOISE_NOT_FINITE;
    if (spread < 0)
        return GBEES_NOISE_NEGATIVE;
    return rate < -1e-9 * spread ? GBEES_NOISE_NOT_DOMINANT : GBEES_NOISE_FINE;
}

/* The rate at which a cell gives to all its neighbours together. */
GBEES_NUM double gbees_diffusion_total(int n, int full, const double *q, int stride, const double *over)
{
    double sum = 0;

    for (int j = 0; j < n; j++)
        sum += 2 * gbees_diffusion_axis(n, full, q, stride, over, j);
    for (int j = 0; full && j < n; j++)
        for (int k = j + 1; k < n; k++)
            sum += 2 * fabs(gbees_diffusion_pair(n, q, stride, over, j, k));
    return sum;
}

/* The CFL rate of a cell's noise; widest: its largest Q_jj in cells.  In a step of courant / rate the standard
 * deviation is two cells at most: growth inserts neighbours once a step, and with longer steps more mass would pass
 * them. */
GBEES_NUM double gbees_diffusion_step_rate(double courant, double widest)
{
    return courant * widest * 0.25;
}

/* The number of explicit steps of a time step, so many that none takes more from a cell than it holds, up to a
 * float's rounding; 0: there is no noise.  most: the largest total rate. */
GBEES_NUM double gbees_diffusion_steps(double step, double most)
{
    return ceil(step * most * (1 / 0.96875));
}

#endif
