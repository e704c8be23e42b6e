/* update.h - Bayes' rule at a measurement (paper, Eq. 4), with logarithms, so that products of small numbers do not
 * underflow.
 *
 * It takes three kernels: the largest log-likelihoods (find_best_pass()), P times the likelihood, to the spare rows
 * (multiply_pass()), and the division by the sum (normalise_pass()).  The prune that follows makes the result the
 * density.
 */
#ifndef GBEES_CUDA_UPDATE_H
#define GBEES_CUDA_UPDATE_H

#include "device/step_state.h"
#include "numerics/likelihood.h"

/* What the problem's measurements need, bits LIKELIHOOD_...: other code is not compiled, and takes no registers. */
#ifndef GBEES_LIKELIHOODS
#define GBEES_LIKELIHOODS (LIKELIHOOD_RESIDUALS | LIKELIHOOD_STUDENT | LIKELIHOOD_MODEL | LIKELIHOOD_PERIODS)
#endif
#ifndef GBEES_MEASURED
#define GBEES_MEASURED STATE_MAX_DIM
#endif

/* A double as an integer of the same order, for atomic maxima. */
GBEES_NUM uint64_t ordered_bits(double value)
{
    uint64_t bits = bits_of(value);

    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

/* The double of such an integer. */
GBEES_NUM double from_ordered(uint64_t bits)
{
    return double_of(bits >> 63 ? bits & ~((uint64_t)1 << 63) : ~bits);
}

/* Sets x[DIM] to the centre of a cell. */
GBEES_NUM void cell_centre(const gbees_setup *m, uint32_t slot, int cell, double *x)
{
    for (int k = 0; k < DIM; k++) {
        int32_t key = m->grid.key[(size_t)slot * DIM + (size_t)k];

        x[k] = m->origin[k] + m->width[k] * ((double)key * axis_edge(k)) + m->width[k] * cell_local(cell, k);
    }
}

/* ---- the likelihood at a point ---- */

/* Component j of the residual y - h(x), wrapped if it is periodic, 0 if it is missing. */
GBEES_NUM double residual_of(const gbees_update_params *u, int j, const double *y)
{
    double residual = u->value[j] - y[j];

    if (!(GBEES_LIKELIHOODS & LIKELIHOOD_RESIDUALS))
        return residual;
    return u->missing >> j & 1 ? 0 : gbees_wrapped(residual, u->period[j]);
}

/* The log-likelihood at x[DIM], relative to a perfect match; that of the model's own likelihood function as it is. */
GBEES_NUM double log_likelihood_at(const gbees_setup *m, const gbees_update_params *u, const double *x)
{
    double y[STATE_MAX_DIM], sum = 0;

    if (GBEES_LIKELIHOODS & LIKELIHOOD_MODEL && u->kind == LIKELIHOOD_MODEL)
        return gbees_own_log_likelihood(
            gbees_model_log_likelihood_d(u->function, u->time, x, model_parameters(m), u->value));
#pragma unroll
    for (int j = 0; j < STATE_MAX_DIM; j++)
        y[j] = 0;
    gbees_model_measure_d(u->function, u->time, x, model_parameters(m), y);
#pragma unroll
    for (int j = 0; j < GBEES_MEASURED; j++)
        y[j] = j < u->size ? residual_of(u, j, y) : 0;
#pragma unroll
    for (int j = 0; j < GBEES_MEASURED; j++) {
        double row = 0;

        if (j >= u->size)
            continue;
#pragma unroll
        for (int k = 0; k < GBEES_MEASURED; k++)
            if (k < u->size)
                row += u->inverse[j * u->size + k] * y[k];
        sum += y[j] * row;
    }
    sum *= -0.5;
    if (GBEES_LIKELIHOODS & LIKELIHOOD_PERIODS && u->periods.count > 0)
        return gbees_periods_exponent(&u->periods, u->size, y, u->inverse, u->period, sum);
    return GBEES_LIKELIHOODS & LIKELIHOOD_STUDENT && u->kind == LIKELIHOOD_STUDENT
               ? gbees_student_exponent(sum, u->measured, u->degrees)
               : sum;
}

/* ---- the likelihood's average over a cell ---- */

/* Sets side[0], side[1] to the log-likelihoods at the two faces of a cell along an axis, whose centre is x. */
GBEES_NUM void find_sides(const gbees_setup *m, const gbees_update_params *u, const double *x, int axis, double *side)
{
    double shifted[DIM];

    for (int upper = 0; upper < 2; upper++) {
#pragma unroll
        for (int k = 0; k < DIM; k++)
            shifted[k] = x[k] + (k != axis ? 0 : upper ? m->width[k] / 2 : -m->width[k] / 2);
        side[upper] = log_likelihood_at(m, u, shifted);
    }
}

/* An estimate of the highest log-likelihood inside a cell, from those at its centre and its faces. */
GBEES_NUM double highest_inside(const gbees_setup *m, const gbees_update_params *u, const double *x, double centre,
                                double lowest)
{
    double highest = centre, side[2];

    for (int axis = 0; axis < DIM && !(centre > lowest); axis++) {
        find_sides(m, u, x, axis, side);
        highest += gbees_likelihood_rise(side[0], centre, side[1]);
    }
    return highest;
}

/* The exponent of the Gaussian from which a log-likelihood was computed: itself, unless it is Student's t. */
GBEES_NUM double gaussian_of(const gbees_update_params *u, double value)
{
    return GBEES_LIKELIHOODS & LIKELIHOOD_STUDENT && u->kind == LIKELIHOOD_STUDENT
               ? gbees_student_gaussian(value, u->measured, u->degrees)
               : value;
}

/* Returns the numbers of parts along all axes (gbees_parts_along()), raised to those into which this cell is cut for
 * quadrature: 0 along an axis along which the log-likelihood does not vary. */
GBEES_NUM uint64_t raise_parts(const gbees_setup *m, const gbees_update_params *u, uint32_t slot, int cell,
                               uint64_t parts)
{
    const double lowest = GBEES_LIKELIHOODS & LIKELIHOOD_MODEL ? u->lowest : gbees_lowest_log_likelihood();
    double x[DIM], side[2];

    cell_centre(m, slot, cell, x);
    const double centre = log_likelihood_at(m, u, x), highest = highest_inside(m, u, x, centre, lowest);
    for (int axis = 0; axis < DIM; axis++) {
        find_sides(m, u, x, axis, side);
        if (!gbees_likelihood_varies(gbees_likelihood_change(side[0], centre, side[1], highest, lowest)))
            continue;
        const int own = gbees_likelihood_parts(
            gbees_likelihood_bend(gaussian_of(u, side[0]), gaussian_of(u, centre), gaussian_of(u, side[1])));
        const int more = own - gbees_parts_along(parts, axis);

        parts += more > 0 ? (uint64_t)more << 8 * axis : 0;
    }
    return parts;
}

/* The numbers of parts into which a brick's cells are cut along all axes: the most of any cell with P > 0.  A warp
 * finds them. */
GBEES_NUM uint64_t find_parts(const gbees_setup *m, const gbees_update_params *u, const number *p, uint32_t slot)
{
    uint64_t own = 0, parts = 0;

    for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE)
        if ((double)p[(size_t)slot * CELLS + (size_t)cell] > 0)
            own = raise_parts(m, u, slot, cell, own);
    for (int axis = 0; axis < DIM; axis++)
        parts |= (uint64_t)warp_max((double)gbees_parts_along(own, axis)) << 8 * axis;
    return gbees_parts_limited(parts);
}

/* P of the cell beside a cell; 0 if that is absent. */
GBEES_NUM double value_beside(const gbees_setup *m, const number *p, uint32_t slot, int cell, int direction)
{
    const int axis = direction >> 1, side = direction & 1 ? axis_edge(axis) - 1 : 0;
    const uint32_t there = cell_local(cell, axis) == side ? m->grid.neighbor[direction][slot] : slot;

    return (double)p[(size_t)there * CELLS + (size_t)gbees_shape_beside(&m->shape, cell, direction)];
}

/* Sets slope[DIM] to the slopes of the density over P inside a cell, limited so that it is nowhere negative; 0 along
 * axes without parts. */
GBEES_NUM void find_slopes(const gbees_setup *m, const number *p, uint32_t slot, int cell, uint64_t parts,
                           double *slope)
{
    const double here = (double)p[(size_t)slot * CELLS + (size_t)cell];
    double sum = 0;

#pragma unroll
    for (int k = 0; k < DIM; k++) {
        slope[k] = 0;
        if (gbees_parts_along(parts, k))
            slope[k] = gbees_cell_slope(value_beside(m, p, slot, cell, 2 * k), here,
                                        value_beside(m, p, slot, cell, 2 * k + 1));
        sum += fabs(slope[k]);
    }
#pragma unroll
    for (int k = 0; k < DIM; k++)
        slope[k] *= gbees_slope_limiter(sum);
}

/* The logarithm of the likelihood's average over a cell, weighted with the density's slopes inside it: Gauss
 * quadrature along the axes that have parts, added up as a running log-sum-exp. */
GBEES_NUM double log_average(const gbees_setup *m, const gbees_update_params *u, const double *x, uint64_t parts,
                             const double *slope)
{
    const int nodes = gbees_gauss_points(gbees_parts_axes(parts)), points = (int)gbees_parts_points(parts);
    double top = -HUGE_VAL, sum = 0;

    for (int point = 0; point < points; point++) {
        double weight = 1, density = 1, shifted[DIM];
        int digits = point;

#pragma unroll
        for (int k = 0; k < DIM; k++) {
            const int along = gbees_parts_along(parts, k);

            shifted[k] = x[k];
            if (along) {
                const int node = digits % (along * nodes);
                const double place = gbees_cell_node(nodes, along, node);

                shifted[k] += m->width[k] * place;
                density += slope[k] * place;
                weight *= gbees_cell_weight(nodes, along, node);
                digits /= along * nodes;
            }
        }
        double value = log_likelihood_at(m, u, shifted), highest = fmax(top, value);
        if (value != value)
            return value;
        sum = highest == -HUGE_VAL ? 0 : sum * exp(top - highest) + weight * density * exp(value - highest);
        top = highest;
    }
    return top + log(sum);
}

/* The logarithm of the factor for a cell's P: the likelihood's average, or its value at the cell's centre. */
GBEES_NUM double cell_log_likelihood(const gbees_setup *m, const gbees_update_params *u, const number *p,
                                     uint32_t slot, int cell, uint64_t parts)
{
    double x[DIM], slope[DIM];

    cell_centre(m, slot, cell, x);
    if (!u->averages)
        return log_likelihood_at(m, u, x);
    find_slopes(m, p, slot, cell, parts, slope);
    return log_average(m, u, x, parts, slope);
}

/* ---- passes ---- */

/* Updates found->likely and found->heavy by the largest log L and log P L over cells with P > 0, and found->invalid
 * by the lowest cell whose likelihood is not a number. */
GBEES_NUM void find_best_pass(const gbees_setup *m, const gbees_update_params *u, gbees_findings *found)
{
    const gbees_state *s = &found->state;
    const number *p = rows_of(m, s->current);
    double likely = -HUGE_VAL, heavy = -HUGE_VAL;

    for (uint32_t slot = 1 + warp_index(); slot <= s->count; slot += warp_count()) {
        const uint64_t parts = u->averages ? find_parts(m, u, p, slot) : 0;

        for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE) {
            double value = (double)p[(size_t)slot * CELLS + (size_t)cell];

            if (!(value > 0))
                continue;
            double log_l = cell_log_likelihood(m, u, p, slot, cell, parts);
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

/* Sets the spare rows to P L over its largest value, as slopes of other cells still need P, and adds their sum to
 * found->moment[0].  Does nothing if no cell supports the measurement, or a likelihood is not a number: then the sum
 * stays 0, and the host reports the error. */
GBEES_NUM void multiply_pass(const gbees_setup *m, const gbees_update_params *u, gbees_findings *found)
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
    if (!(likely >= u->lowest && likely > -HUGE_VAL) || found->invalid != ~(uint64_t)0)
        return;
    for (uint32_t slot = 1 + warp_index(); slot <= s->count; slot += warp_count()) {
        const uint64_t parts = u->averages ? find_parts(m, u, p, slot) : 0;

        for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE) {
            const size_t at = (size_t)slot * CELLS + (size_t)cell;
            const double value = (double)p[at];

            to[at] = 0;
            if (!(value > 0))
                continue;
            to[at] = (number)exp(log(value) + cell_log_likelihood(m, u, p, slot, cell, parts) - heaviest);
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

/* Multiplies all P of rows `which` by a factor; adds their sum to marked_mass. */
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

/* The sum of what multiply_pass() has computed; 0: it has done nothing. */
GBEES_NUM double updated_sum(const gbees_findings *found)
{
    return (double)found->moment[0].high * (1 / 65536.0) + (double)found->moment[0].low * (1 / 4503599627370496.0);
}

/* Divides what multiply_pass() has computed by its sum. */
GBEES_NUM void normalise_pass(const gbees_setup *m, gbees_findings *found)
{
    const double sum = updated_sum(found);

    if (sum > 0)
        scale_pass(m, &found->state, spare_of(found->state.current), 1 / sum);
}

/* Makes the result of normalise_pass() the density, before a prune.  Returns 0 if there is none. */
GBEES_NUM int take_over(const gbees_setup *m, gbees_findings *found, step_state *b)
{
    if (!(updated_sum(found) > 0))
        return 0;
    if (is_block_leader()) {
        b->current = spare_of(b->current);
        b->run.ledger.mass = gbees_fixed_value(found->state.marked_mass);
    }
    grid_barrier(m, &found->state); /* all blocks have read the mass before the prune counts it anew */
    return 1;
}

#endif
