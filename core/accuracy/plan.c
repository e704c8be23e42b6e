/* plan.c - chooses factors by which the cells of each leg become narrower. A leg's error is taken to fall with a
 * power of the width, the order that the last two runs have shown; factors of legs are made to differ by powers of
 * two, in the way that costs least. */
#include "plan.h"
#include <math.h>
#include <string.h>

enum {
    LEVEL_MOST = 8, /* powers of two between the cells of two legs */
    BASES = 8       /* factors of the first leg that are tried between a power of two and the next */
};
/* The assumed order of convergence: cells narrower by `factor` make the error smaller by factor^order. It is a guess
 * for the first step, and observed for later ones, between the bounds. On a grid that moves, whose cells follow the
 * density, errors fall with its cells' width as schemes promise it. */
static const double order_at_rest = 1, order_moving = 3, order_fine = 4, order_least = 0.6, order_most = 2;
/* Of a grid that moves: the most cells a standard deviation (K) over those along a Gaussian (k), in up to four
 * dimensions and in more, where all axes of a bent density together would take too many. For an accuracy below
 * `suits` the first run's k goes with its power -1 / order_moving (doc/notes/accuracy-runs.md). */
static const double most_per_cell = 14, most_per_cell_beyond_four = 6, suits = 0.05;
/* The least factor in one dimension, an eighth of an initial deviation: wider cells save nothing, as bricks have 64,
 * and reach so far out that a drift which grows there makes steps short. */
static const double least_of_line = 4;
/* Bounds of the factor from one run to the next. The error aimed at is a part of the allowed one, since one more run
 * costs more than a few more cells. */
static const double jump_most = 4, jump_least = 1.25, aim = 0.75;
/* The next run has at most cost_jump times the cell updates of this one, or of cheap_updates if this one had fewer.
 */
static const double cost_jump = 12, cheap_updates = 3e6;
/* An error of a deviation by which cells do not resolve it at all. */
static const double unresolved = 0.9;
/* The cost has been observed where it should have grown by this factor or more; the power with which it grows is at
 * least power_least. */
static const double least_growth = 1.5, power_least = 0.5;

/* For an accuracy of `coarse` or more, the leg before a leg gets more of its jump, and the cells along a smooth axis
 * may become wider. This takes a third of the updates there, on the average, and more of them for finer accuracies
 * (doc/notes/accuracy-runs.md). */
static const double coarse = 0.05;

/* The power of a leg's jump that the leg before it gets. */
static double part_before(const gbees_refinement *r)
{
    return r->problem->accuracy < coarse ? 0.5 : 0.75;
}

/* The least factor by which the cells along an axis of a leg that is refined become narrower. */
static double least_along(const gbees_refinement *r)
{
    return r->problem->accuracy < coarse ? 1 : 0.7;
}

/* The order of convergence that is assumed until two runs have shown one. */
static double first_order(const gbees_problem *problem)
{
    return problem->moving ? order_moving : gbees_plan_is_fine(problem) ? order_fine : order_at_rest;
}

double gbees_plan_first_factor(const gbees_problem *problem, int axis)
{
    const int is_line = problem->dimension == 1 && !problem->moving;
    const double given = sqrt(problem->covariance[axis * problem->dimension + axis]) / (2 * problem->width[axis]);
    const double own = is_line ? fmax(given, least_of_line) : given;

    return (problem->moving || gbees_plan_is_fine(problem)) && problem->accuracy < suits
               ? own * pow(suits / problem->accuracy, 1 / first_order(problem))
               : own;
}

double gbees_plan_frame_cells(const gbees_problem *problem, double factor)
{
    return (problem->dimension <= 4 ? most_per_cell : most_per_cell_beyond_four) * 2 * factor;
}

double gbees_plan_finer(const gbees_refinement *r, int leg)
{
    double product = 0;
    int axes = 0;

    for (int j = 0; j < r->problem->dimension; j++) {
        const double times = r->now.legs[leg].factor[j] / r->before.legs[leg].factor[j];

        if (times > 1.05) {
            product += log(times);
            axes++;
        }
    }
    return axes ? exp(product / axes) : 1;
}

/* The order that the run before and this one show in a leg. */
static double observed_order(const gbees_refinement *r, int leg)
{
    const double first = first_order(r->problem);

    if (leg >= r->before.leg_count)
        return first;
    const double now = r->now.legs[leg].worst, before = r->before.legs[leg].worst, finer = gbees_plan_finer(r, leg);
    if (!(finer > 1.05) || !(now > 0) || !(before > 0))
        return first;
    return fmin(fmax(log(before / now) / log(finer), order_least), fmax(order_most, first));
}

/* How many times finer a leg is to be: 1 where it is fine enough. */
static double jump_for(const gbees_refinement *r, int leg, double ratio)
{
    if (!(ratio > 1))
        return 1;
    return fmin(fmax(pow(ratio / aim, 1 / observed_order(r, leg)), jump_least), jump_most);
}

int gbees_plan_is_unresolved(const gbees_refinement *r, int leg)
{
    const leg_result *of = &r->now.legs[leg];

    return r->problem->model->diffusion && of->narrow &&
           fmax(of->start, of->worst) * r->problem->accuracy > unresolved;
}

int gbees_plan_was_in_vain(const gbees_refinement *r, int leg)
{
    return !gbees_plan_is_unresolved(r, leg) && leg < r->before.leg_count && gbees_plan_finer(r, leg) > 1.3 &&
           r->now.legs[leg].worst > 1 && r->now.legs[leg].worst > 0.75 * r->before.legs[leg].worst;
}

/* Multiplies a leg's factors by `jump`: along each axis if `all` is set, else along the axis with the largest
 * roughness, and along the others by less, at least least_along(): roughness falls with the square of the width, and
 * should become equal. */
static void refine_leg(const gbees_refinement *r, int leg, double jump, int all, double *factor)
{
    const leg_result *now = &r->now.legs[leg];
    const int n = r->problem->dimension;
    double most = 0;

    for (int j = 0; j < n; j++)
        most = fmax(most, now->rough[j]);
    for (int j = 0; j < n; j++) {
        const double along = most > 0 && !all ? fmax(least_along(r), jump * sqrt(now->rough[j] / most)) : jump;

        factor[j] = now->factor[j] * along;
    }
}

/* What a run's cost would be with other factors, in cell updates, if cells went with the product of the factors and
 * steps with the largest. *more: how many times as many cells a leg has at most. */
static double scaled_cost(const run_result *run, int dimension, const double (*factor)[GBEES_MAX_DIM], double *more)
{
    double sum = 0, before = 0;

    *more = 1;
    for (int l = 0; l < run->leg_count; l++) {
        const leg_result *leg = &run->legs[l];
        double cells = 1, steps = 0;

        for (int j = 0; j < dimension; j++) {
            cells *= factor[l][j] / leg->factor[j];
            steps = fmax(steps, factor[l][j] / leg->factor[j]);
        }
        *more = fmax(*more, cells);
        sum += (leg->updates - before) * cells * steps;
        before = leg->updates;
    }
    return sum;
}

/* What the next run's cost would be by scaled_cost() of this one. */
static double predict(const gbees_refinement *r, const double (*factor)[GBEES_MAX_DIM], double *more)
{
    return scaled_cost(&r->now, r->problem->dimension, factor, more);
}

/* The power of the ratio of scaled_cost() to a run's cost with which the cost has grown from the run before to this
 * one. A density that has become a thin sheet has fewer cells than the product of the factors says, as a sheet of one
 * cell stays one; so the power is 1 or less. 1 if there was no run before, or its cells were hardly wider. */
static double growth_power(const gbees_refinement *r, double updates, double (*work)[GBEES_MAX_DIM])
{
    const int legs = r->before.leg_count;
    double more;

    if (legs < 1 || legs != r->now.leg_count || !(r->before.legs[legs - 1].updates > 0))
        return 1;
    for (int l = 0; l < legs; l++)
        memcpy(work[l], r->now.legs[l].factor, sizeof work[l]);
    const double before = r->before.legs[legs - 1].updates;
    const double scaled =
        scaled_cost(&r->before, r->problem->dimension, (const double(*)[GBEES_MAX_DIM])work, &more) / before;
    if (!(scaled > least_growth) || !(updates > before))
        return 1;
    return fmin(fmax(log(updates / before) / log(scaled), power_least), 1);
}

/* Sets an axis' factors: `base` in the first leg, and in later legs the least base * 2^k that is not below `needed`.
 */
static void round_axis(const gbees_refinement *r, int axis, double base, const double (*needed)[GBEES_MAX_DIM],
                       double (*factor)[GBEES_MAX_DIM])
{
    factor[0][axis] = base;
    for (int l = 1; l < r->now.leg_count; l++) {
        const double level = ceil(log2(needed[l][axis] / base) - 0.1);

        factor[l][axis] = ldexp(base, (int)fmin(fmax(level, -LEVEL_MOST), LEVEL_MOST));
    }
}

/* Rounds the needed factors so that legs differ by powers of two: tries, axis by axis, first legs that are finer than
 * needed by less than two, and keeps the one that costs least in all. Returns the predicted updates. */
static double round_factors(const gbees_refinement *r, const double (*needed)[GBEES_MAX_DIM],
                            double (*factor)[GBEES_MAX_DIM], double *more)
{
    double least = 0;

    for (int j = 0; j < r->problem->dimension; j++)
        round_axis(r, j, needed[0][j], needed, factor);
    for (int j = 0; j < r->problem->dimension; j++) {
        double best = needed[0][j];

        least = INFINITY;
        for (int k = 0; k < BASES; k++) {
            const double base = needed[0][j] * exp2((double)k / BASES);

            round_axis(r, j, base, needed, factor);
            const double cost = predict(r, (const double(*)[GBEES_MAX_DIM])factor, more);
            if (cost < least) {
                least = cost;
                best = base;
            }
        }
        round_axis(r, j, best, needed, factor);
    }
    return predict(r, (const double(*)[GBEES_MAX_DIM])factor, more);
}

/* Sets the factors of all legs that the errors of this run ask for, each jump to the power of `scale`.
 *
 * An error of a leg may come from the legs before it: that of its first record does, and a density that was smeared
 * in one leg may show it only when the flow contracts it in a later one. So the leg before gets a part of a leg's
 * jump, or all of it if finer cells in the leg itself have not helped. */
static void set_needed(const gbees_refinement *r, double scale, double (*needed)[GBEES_MAX_DIM])
{
    double from_next = 1; /* the jump that the leg after this one needs in this one */
    int all = 0;          /* 1: that is along all axes */

    for (int l = r->now.leg_count - 1; l >= 0; l--) {
        const leg_result *leg = &r->now.legs[l];
        const int in_vain = gbees_plan_was_in_vain(r, l);
        const double own = jump_for(r, l, leg->worst), jump = fmax(own, from_next);

        refine_leg(r, l, pow(jump, scale), all || in_vain, needed[l]);
        from_next = l > 0 ? fmax(in_vain ? own : pow(own, part_before(r)), jump_for(r, l - 1, leg->start / aim)) : 1;
        all = in_vain;
    }
}

/* Sets the factors of all legs for the next run, whose cost grows by no more than a few times, so that all runs
 * together cost little more than the last. Returns its predicted updates. */
double gbees_plan_factors(const gbees_refinement *r, double updates, double (*needed)[GBEES_MAX_DIM],
                          double (*factor)[GBEES_MAX_DIM], double *more)
{
    const double most = updates < cheap_updates ? cost_jump * cheap_updates : cost_jump * updates;
    const double power = growth_power(r, updates, needed);
    double cost = 0;

    for (double scale = 1; scale > 0.1; scale *= 0.85) {
        set_needed(r, scale, needed);
        cost = round_factors(r, (const double(*)[GBEES_MAX_DIM])needed, factor, more);
        if (cost <= most)
            break;
    }
    /* `most` is a limit for the cost without the power: with shorter jumps a plan finds better ratios of the legs'
     * factors (doc/notes/accuracy-runs.md). */
    return cost > updates && updates > 0 ? updates * pow(cost / updates, power) : cost;
}
