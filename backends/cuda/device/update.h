/* update.h - Bayes' rule at a measurement (paper, Eq. 4), in log space: it can't underflow to an empty density. */
#ifndef GBEES_CUDA_UPDATE_H
#define GBEES_CUDA_UPDATE_H

#include "device/advance.h"
#include "numerics/likelihood.h"

/* What is not asked for costs nothing: no register, either. */
#ifndef GBEES_LIKELIHOODS
#define GBEES_LIKELIHOODS (LIKELIHOOD_RESIDUALS | LIKELIHOOD_STUDENT | LIKELIHOOD_MODEL)
#endif
#ifndef GBEES_MEASURED
#define GBEES_MEASURED STATE_MAX_DIM
#endif

/* Doubles as integers of the same order, for the largest of many. */
GBEES_NUM uint64_t ordered_bits(double value)
{
    uint64_t bits = bits_of(value);

    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

GBEES_NUM double from_ordered(uint64_t bits)
{
    return double_of(bits >> 63 ? bits & ~((uint64_t)1 << 63) : ~bits);
}

GBEES_NUM void cell_centre(const gbees_setup *m, uint32_t slot, int cell, double *x)
{
    for (int k = 0; k < DIM; k++) {
        int32_t key = m->grid.key[(size_t)slot * DIM + (size_t)k];

        x[k] = m->origin[k] + m->width[k] * ((double)key * axis_edge(k)) + m->width[k] * cell_local(cell, k);
    }
}

/* y - h(x) along component j, as the measurement has it. */
GBEES_NUM double residual_of(const gbees_update_params *g, int j, const double *y)
{
    double residual = g->value[j] - y[j];

    if (!(GBEES_LIKELIHOODS & LIKELIHOOD_RESIDUALS))
        return residual;
    return g->missing >> j & 1 ? 0 : gbees_wrapped(residual, g->period[j]);
}

/* The log-likelihood at a point, relative to a perfect match; of the model's own likelihood as it is. */
GBEES_NUM double log_likelihood_at(const gbees_setup *m, const gbees_update_params *g, const double *x)
{
    double y[STATE_MAX_DIM], sum = 0;

    if (GBEES_LIKELIHOODS & LIKELIHOOD_MODEL && g->kind == LIKELIHOOD_MODEL)
        return gbees_own_log_likelihood(
            gbees_model_log_likelihood_d(g->function, g->time, x, m->parameters_d, g->value));
#pragma unroll
    for (int j = 0; j < STATE_MAX_DIM; j++)
        y[j] = 0;
    gbees_model_measure_d(g->function, g->time, x, m->parameters_d, y);
#pragma unroll
    for (int j = 0; j < GBEES_MEASURED; j++)
        y[j] = j < g->size ? residual_of(g, j, y) : 0;
#pragma unroll
    for (int j = 0; j < GBEES_MEASURED; j++) {
        double row = 0;

        if (j >= g->size)
            continue;
#pragma unroll
        for (int k = 0; k < GBEES_MEASURED; k++)
            if (k < g->size)
                row += g->inverse[j * g->size + k] * y[k];
        sum += y[j] * row;
    }
    sum *= -0.5;
    return GBEES_LIKELIHOODS & LIKELIHOOD_STUDENT && g->kind == LIKELIHOOD_STUDENT
               ? gbees_student_exponent(sum, g->measured, g->degrees)
               : sum;
}

/* Bit k: the likelihood of some cell of the brick changes by more than a hundredth inside the cell along axis k. */
GBEES_NUM uint32_t varying_axes(const gbees_setup *m, const gbees_update_params *g, uint32_t slot)
{
    uint32_t axes = 0;

    for (int axis = 0; axis < DIM; axis++) {
        double most = 0;

        for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE) {
            double x[DIM], shifted[DIM];

            cell_centre(m, slot, cell, x);
            double centre = log_likelihood_at(m, g, x);
#pragma unroll
            for (int k = 0; k < DIM; k++)
                shifted[k] = x[k] - (k == axis ? m->width[k] / 2 : 0);
            double low = log_likelihood_at(m, g, shifted);
#pragma unroll
            for (int k = 0; k < DIM; k++)
                shifted[k] = x[k] + (k == axis ? m->width[k] / 2 : 0);
            double high = log_likelihood_at(m, g, shifted);
            if (fmax(low, high) > (GBEES_LIKELIHOODS & LIKELIHOOD_MODEL ? g->lowest : gbees_lowest_log_likelihood()))
                most = fmax(most, fmax(fabs(low - centre), fabs(high - centre)));
        }
        axes |= (uint32_t)(warp_max(most) > 0.01) << axis;
    }
    return axes;
}

/* Gauss's rule on [-1/2, 1/2]: five points an axis, three where more than three axes vary. */
GBEES_NUM double gauss_node(int nodes, int i)
{
    double outer = nodes == 5 ? 0.4530899229693320 : 0.3872983346207417;

    if (i == nodes / 2)
        return 0;
    if (nodes == 5 && (i == 1 || i == 3))
        outer = 0.2692346550528416;
    return i < nodes / 2 ? -outer : outer;
}

GBEES_NUM double gauss_weight(int nodes, int i)
{
    if (nodes == 3)
        return i == 1 ? 0.4444444444444444 : 0.2777777777777778;
    return i == 2 ? 0.2844444444444444 : i == 1 || i == 3 ? 0.2393143352496832 : 0.1184634425280945;
}

/* P of the cell beside another; 0 where there is none. */
GBEES_NUM double value_beside(const gbees_setup *m, const number *p, uint32_t slot, int cell, int direction)
{
    const int axis = direction >> 1, side = direction & 1 ? axis_edge(axis) - 1 : 0;
    const uint32_t there = cell_local(cell, axis) == side ? m->grid.neighbor[direction][slot] : slot;

    return (double)p[(size_t)there * CELLS + (size_t)gbees_shape_beside(&m->shape, cell, direction)];
}

/* How the density leans inside a cell, along the axes that count: slopes; 0 along the others. */
GBEES_NUM void find_slopes(const gbees_setup *m, const number *p, uint32_t slot, int cell, uint32_t axes,
                           double *slope)
{
    const double here = (double)p[(size_t)slot * CELLS + (size_t)cell];
    double sum = 0;

#pragma unroll
    for (int k = 0; k < DIM; k++) {
        slope[k] = 0;
        if (axes >> k & 1)
            slope[k] = gbees_cell_slope(value_beside(m, p, slot, cell, 2 * k), here,
                                        value_beside(m, p, slot, cell, 2 * k + 1));
        sum += fabs(slope[k]);
    }
#pragma unroll
    for (int k = 0; k < DIM; k++)
        slope[k] *= gbees_slope_share(sum);
}

/* The logarithm of the likelihood's average over a cell, weighted as the density leans inside it. */
GBEES_NUM double log_average(const gbees_setup *m, const gbees_update_params *g, const double *x, uint32_t axes,
                             const double *slope)
{
    const int nodes = count_bits(axes) > 3 ? 3 : 5;
    double top = -HUGE_VAL, sum = 0;
    int points = 1;

    for (int a = count_bits(axes); a > 0; a--)
        points *= nodes;
    for (int point = 0; point < points; point++) {
        double weight = 1, lean = 1, shifted[DIM];
        int digits = point;

#pragma unroll
        for (int k = 0; k < DIM; k++) {
            shifted[k] = x[k];
            if (axes >> k & 1) {
                const double place = gauss_node(nodes, digits % nodes);

                shifted[k] += m->width[k] * place;
                lean += slope[k] * place;
                weight *= gauss_weight(nodes, digits % nodes);
                digits /= nodes;
            }
        }
        double value = log_likelihood_at(m, g, shifted), highest = fmax(top, value);
        if (value != value)
            return value;
        sum = highest == -HUGE_VAL ? 0 : sum * exp(top - highest) + weight * lean * exp(value - highest);
        top = highest;
    }
    return top + log(sum);
}

/* What a cell's probability is multiplied with, as a logarithm. */
GBEES_NUM double cell_log_likelihood(const gbees_setup *m, const gbees_update_params *g, const number *p,
                                     uint32_t slot, int cell, uint32_t axes)
{
    double x[DIM], slope[DIM];

    cell_centre(m, slot, cell, x);
    if (!g->averages)
        return log_likelihood_at(m, g, x);
    find_slopes(m, p, slot, cell, axes, slope);
    return log_average(m, g, x, axes, slope);
}

/* The largest log L and log P L over cells with P > 0. */
GBEES_NUM void find_best_pass(const gbees_setup *m, const gbees_update_params *g, gbees_findings *found)
{
    const gbees_state *s = &found->state;
    const number *p = rows_of(m, s->current);
    double likely = -HUGE_VAL, heavy = -HUGE_VAL;

    for (uint32_t slot = 1 + warp_index(); slot <= s->count; slot += warp_count()) {
        uint32_t axes = g->averages ? varying_axes(m, g, slot) : 0;

        for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE) {
            double value = (double)p[(size_t)slot * CELLS + (size_t)cell];

            if (!(value > 0))
                continue;
            double log_l = cell_log_likelihood(m, g, p, slot, cell, axes);
            if (log_l != log_l)
                atomic_min_64(&found->invalid, (uint64_t)slot * CELLS + (uint64_t)cell);
            likely = fmax(likely, log_l);
            heavy = fmax(heavy, log(value) + log_l);
        }
    }
    likely = warp_max(likely);
    heavy = warp_max(heavy);
    if (warp_lane() == 0) {
        atomic_max_64(&found->likely, ordered_bits(likely));
        atomic_max_64(&found->heavy, ordered_bits(heavy));
    }
}

/* P becomes P L over its largest value, in the spare rows: cells beside must still be what they were. Their sum. None
 * is made if no cell can have been what was measured, or a likelihood is no number: the host will say so. */
GBEES_NUM void multiply_pass(const gbees_setup *m, const gbees_update_params *g, gbees_findings *found)
{
    const gbees_state *s = &found->state;
    const double likely = from_ordered(found->likely), heaviest = from_ordered(found->heavy);
    const number *p = rows_of(m, s->current);
    number *to = rows_of(m, s->current ? 0 : 1);
    gbees_exact_sum sum = {0, 0};

    if (is_grid_leader()) {
        found->log_likely = likely;
        found->log_heavy = heaviest;
    }
    if (!(likely >= g->lowest && likely > -HUGE_VAL) || found->invalid != ~(uint64_t)0)
        return;
    for (uint32_t slot = 1 + warp_index(); slot <= s->count; slot += warp_count()) {
        uint32_t axes = g->averages ? varying_axes(m, g, slot) : 0;

        for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE) {
            const size_t at = (size_t)slot * CELLS + (size_t)cell;
            const double value = (double)p[at];

            to[at] = 0;
            if (!(value > 0))
                continue;
            to[at] = (number)exp(log(value) + cell_log_likelihood(m, g, p, slot, cell, axes) - heaviest);
            exact_add(&sum, (double)to[at]);
        }
    }
    sum.high = warp_add(sum.high);
    sum.low = warp_add(sum.low);
    if (warp_lane() == 0) {
        atomic_add_64(&found->moment[0].high, sum.high);
        atomic_add_64(&found->moment[0].low, sum.low);
    }
}

/* P *= factor; their sum. */
GBEES_NUM void scale_pass(const gbees_setup *m, gbees_state *s, int which, double factor)
{
    number *p = rows_of(m, which);
    int64_t mass = 0;

    for (uint32_t slot = 1 + warp_index(); slot <= s->count; slot += warp_count())
        for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE) {
            number *at = p + (size_t)slot * CELLS + (size_t)cell;

            *at = (number)((double)*at * factor);
            mass += gbees_fixed((double)*at);
        }
    mass = warp_add(mass);
    if (warp_lane() == 0)
        atomic_add_64(&s->marked_mass, mass);
}

GBEES_NUM double updated_sum(const gbees_findings *found)
{
    return (double)found->moment[0].high * (1 / 65536.0) + (double)found->moment[0].low * (1 / 4503599627370496.0);
}

/* What multiply_pass() has made, over its sum. */
GBEES_NUM void normalise_pass(const gbees_setup *m, gbees_findings *found)
{
    const double sum = updated_sum(found);

    if (sum > 0)
        scale_pass(m, &found->state, spare_of(found->state.current), 1 / sum);
}

/* The density is what normalise_pass() has made, for a prune to go on with; 0: it has made none. */
GBEES_NUM int take_over(const gbees_setup *m, gbees_findings *found, step_state *b)
{
    if (!(updated_sum(found) > 0))
        return 0;
    if (is_block_leader()) {
        b->current = spare_of(b->current);
        b->mass = gbees_fixed_value(found->state.marked_mass);
    }
    grid_barrier(m, &found->state); /* all have read the mass before another one is counted */
    return 1;
}

#endif
