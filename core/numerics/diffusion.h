/* diffusion.h - process noise as a Markov chain on the cells: the rates at which mass moves from a cell to others.
 *
 * With Q at the centre of cell i, mass moves from it to each of the cells
 *
 *     i +- e_j                            at the rate  a_j  = 1/2 (Q_jj / h_j^2 - sum_k |Q_jk| / (h_j h_k))
 *     i +- (e_j + sign(Q_jk) e_k), j < k  at the rate |b_jk| = 1/2 |Q_jk| / (h_j h_k)
 *
 * This conserves mass, and keeps cells positive where all a_j are positive (doc/method.md, "Diffusion"). Rates are
 * per unit of time.
 *
 * Arguments of all functions: q[k * stride] is entry k of Q, which has n entries, its diagonal, or, if `full`, n x n
 * entries by rows, of which the upper half is read; over[n]: 1 / h_j. All numbers are double, so that all engines
 * compute the same ones.
 */
#ifndef GBEES_NUMERICS_DIFFUSION_H
#define GBEES_NUMERICS_DIFFUSION_H

#include "qualifier.h"
#ifndef GBEES_DEVICE
#include <math.h>
#endif

/* The cells on each side of a face on which the mass through it depends in a sweep that adds noise. */
enum { GBEES_SPREAD_REACH = 4 };

/* Faults of Q along an axis j: it is not finite, Q_jj < 0, or a_j < 0. */
enum { GBEES_NOISE_FINE, GBEES_NOISE_NOT_FINITE, GBEES_NOISE_NEGATIVE, GBEES_NOISE_NOT_DOMINANT };

/* Q_jj / h_j^2: the variance along axis j, in cells, that is added per unit of time. */
GBEES_NUM double gbees_diffusion_spread(int n, int full, const double *q, int stride, const double *over, int j)
{
    return q[(full ? j * n + j : j) * stride] * over[j] * over[j];
}

/* b_jk for j < k, of the sign of Q_jk. */
GBEES_NUM double gbees_diffusion_pair(int n, const double *q, int stride, const double *over, int j, int k)
{
    return 0.5 * q[(j * n + k) * stride] * over[j] * over[k];
}

/* a_j by its formula, which may be negative. */
GBEES_NUM double gbees_diffusion_rest(int n, int full, const double *q, int stride, const double *over, int j)
{
    double rate = 0.5 * gbees_diffusion_spread(n, full, q, stride, over, j);

    if (full)
        for (int k = 0; k < n; k++)
            if (k != j)
                rate -= fabs(gbees_diffusion_pair(n, q, stride, over, j < k ? j : k, j < k ? k : j));
    return rate;
}

/* a_j, 0 at least. */
GBEES_NUM double gbees_diffusion_axis(int n, int full, const double *q, int stride, const double *over, int j)
{
    double rate = gbees_diffusion_rest(n, full, q, stride, over, j);

    return rate > 0 ? rate : 0; /* negative by rounding, or by a fault that gbees_diffusion_fault() reports */
}

/* The fault of Q along an axis, or GBEES_NOISE_FINE. */
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

/* The rate at which mass leaves a cell, to all neighbours together. */
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

/* The largest variance, in squares of a cell, that a step may add along an axis in n dimensions. Growth creates
 * neighbours once a step, and in a longer step more mass would move beyond them: sweeps add 1, explicit steps 4. A
 * brick in one dimension has 64 cells along its axis, five deviations of the largest variance, so that what the
 * sweeps spread stays in the brick and its neighbours, which growth then creates for each active brick
 * (gbees_shape_reach_far()). fixed: the time step is given; the sweeps then take more in several dimensions, too. */
GBEES_NUM double gbees_step_variance(int n, int swept, int fixed)
{
    return !swept ? 4 : n == 1 ? 64 * 64 / 25.0 : fixed ? 4 : 1;
}

/* x^y. A call, as the code of a power is long, and few faces need one. */
#ifdef GBEES_DEVICE
static __device__ __noinline__ double gbees_power(double x, double y)
#else
static inline double gbees_power(double x, double y)
#endif
{
    return pow(x, y);
}

/* The equal parts of a time step in each of which a sweep along an axis adds the noise, at most a cell squared, with
 * a margin for the rounding of the step. Where Q varies, cells below p* may have a larger one: to them a step may add
 * a quarter more (gbees_cfl_rate()). widest: the largest gbees_diffusion_spread() of all cells. */
GBEES_NUM int gbees_sweep_parts(double step, double widest, int varies)
{
    const double cells = step * widest * (1 - 1e-6);

    return cells <= (varies ? 1.25 : 1) ? 1 : (int)fmin(ceil(cells), 1e9);
}

/* The number of explicit steps into which a time step is divided, so that none takes more from a cell than its mass,
 * with a margin for the rounding of floats; 0 without noise. most: the largest gbees_diffusion_total() of a cell. */
GBEES_NUM double gbees_diffusion_steps(double step, double most)
{
    return ceil(step * most * (1 / 0.96875));
}

#endif
