/* temper.c - see temper.h. */
#include "temper.h"
#include "crossings.h"
#include "light.h"
#include <math.h>
#include <string.h>

enum { ROUNDS = 100, HALVINGS = 4, MOST_HALVINGS = 48, RAISES = 40 };

/* Lattices on the way to the last one only have to show where the weights are: their points along an axis over those
 * of the last one, but not below so many a deviation; and the tolerance of their trajectories. */
static const double rough_points = 0.75, least_rough = 0.75, rough_tolerance = 1e-5;
/* A lattice's cells may be too long by this factor in the end; on the way after a part of the likelihood; and after
 * all of it for the last lattice to be made. The second is that of parts with a deviation of .45 cells, whose sums
 * are off by a twentieth at most: points that stand alone seem to be too far apart by 1.5 to 2.1, however thin the
 * parts are that they happen to lie in. */
static const double too_long = 1.3, far_too_long = 1.5, nearly_right = 1.3;
/* A Gaussian of that deviation has so many effective points along an axis, or more. */
static const double least_effective = 1.4;

/* Where the rule's `most` does not allow for that, so many points for each of the 2^n corners of a cell make the sums
 * those of samples. With fewer it is raised by steps of the second factor, unless beta gains the third. */
static const double as_samples = 64, raise = 2, little_gained = 1.5;

/* In one and two dimensions, while points are `few`, no more than such a share may be in parts so thin that a point
 * is heavier than those beside it by exp(2): there they become denser by steps of the third factor. */
static const double most_isolated = 1e-3, few = 5000, denser = 1.5;
/* The factor by which beta becomes larger from one look at the weights to the next. */
static const double step_of_beta = 4;

/* Of 2^n points, of a lattice that tells no part of a measurement and becomes denser for that, and of one that looks
 * for what it leaves; the latter is dense enough once what is measured is not where neighbours say it is on no more
 * than this share of edges. */
static const uint32_t most_points = 1 << 20, most_looked_at = 1 << 11;
static const double most_bent = 0.02; /* in two dimensions; else none */
/* Where what a measurement finds is as wide as half a cell, or more, neighbours tell it. */
static const double steep_enough = 4;
/* A tail is longer by multiples of this, so that the lattices of all sets have the same one. */
static const double step_of_tail = 4;

/* A measurement that leads further down from the peak is a mistake: of a Gaussian these are 14 deviations. */
static const double furthest = 100;

/* By how much a lattice's cells are too long along some direction, or more, whatever the rule's `most` allows. */
static double longest_of(const gbees_lattice_rule *rule, const gbees_frame_shape *shape, int n)
{
    return shape->longest * fmax(1, rule->points * sqrt(shape->lambda[n - 1]) / shape->cells[n - 1]);
}

/* Whether a lattice tells the weights at beta well enough to make another one of them, of which the share `isolated`
 * at most may lie in parts that are far thinner than others. */
static int tells(const gbees_past *past, const gbees_lattice *lattice, const gbees_lattice_rule *rule, double beta,
                 double isolated, gbees_spacing *spacing)
{
    const int n = lattice->n;
    gbees_error ignored; /* weights whose shape is not found are not told */

    if (gbees_spacing_find(lattice, rule, beta, past->threads, spacing, &ignored) ||
        spacing->effective < pow(least_effective, n) || spacing->isolated > isolated)
        return 0;
    return longest_of(rule, &spacing->shape, n) < far_too_long ||
           (spacing->shape.limited && spacing->effective >= as_samples * (double)(1 << n));
}

/* A part of the likelihood that changes weights by some factor of e at most. */
static double least_beta(const gbees_lattice *lattice)
{
    double least = INFINITY, most = -INFINITY;

    for (uint32_t i = 0; i < lattice->count; i++)
        if (lattice->log_weight[i] > -INFINITY && lattice->gain[i] > -INFINITY) {
            least = fmin(least, lattice->gain[i]);
            most = fmax(most, lattice->gain[i]);
        }
    return most - least > 1 ? 1 / (most - least) : 1;
}

/* The largest beta above `done` up to which the lattice tells the weights, and their spacing at it; else `done`.
 * Parts that become too thin one after the other are seen on the way, not at its end, where they lie between points.
 * Returns 0 if it tells none. */
static double find_beta(const gbees_past *past, const gbees_lattice *lattice, const gbees_lattice_rule *rule,
                        double done, double isolated, gbees_spacing *spacing)
{
    double found = 0, most = done > 0 ? done : least_beta(lattice) / step_of_beta;
    gbees_spacing trial;

    do {
        most = fmin(1, most * step_of_beta);
        if (!tells(past, lattice, rule, most, isolated, &trial))
            break;
        found = most;
        *spacing = trial;
    } while (most < 1);
    for (int k = 0; found < 1 && (k < HALVINGS || (found == 0 && done == 0 && k < MOST_HALVINGS)); k++) {
        const double least = fmax(done, found), beta = least > 0 ? sqrt(least * most) : most / step_of_beta;

        if (tells(past, lattice, rule, beta, isolated, &trial)) {
            found = beta;
            *spacing = trial;
        } else
            most = beta;
    }
    if (found > 0 || done == 0)
        return found;
    /* A lattice that has been made of them: another will be finer. */
    (void)tells(past, lattice, rule, done, 1, spacing);
    return spacing->shape.longest > 0 ? done : 0;
}

/* What lattices on the way have. */
static gbees_lattice_rule roughen(const gbees_lattice_rule *rule)
{
    gbees_lattice_rule rough = *rule;
    const double by = fmin(fmax(rough_points, least_rough / rule->points), 1);

    rough.points *= by;
    rough.most *= by;
    return rough;
}

/* Raises the rule's `most` until cells at beta are shorter than the lattice's. */
static void allow_denser(const gbees_past *past, const gbees_lattice *lattice, double beta, gbees_lattice_rule *rule,
                         gbees_lattice_rule *rough, gbees_spacing *spacing)
{
    for (int k = 0; k < RAISES && spacing->shape.limited && (k == 0 || spacing->shape.longest < far_too_long); k++) {
        rule->most *= raise;
        *rough = roughen(rule);
        (void)tells(past, lattice, rough, beta, 1, spacing);
    }
}

/* As find_beta(), with denser points where few of them tell nothing of parts that are thinner than the rest, or the
 * rule's `most` is in the way. */
static double choose_beta(const gbees_past *past, const gbees_lattice *lattice, gbees_lattice_rule *rule,
                          gbees_lattice_rule *rough, double done, gbees_spacing *spacing)
{
    gbees_spacing strict;
    const int is_strict = lattice->n <= 2 && lattice->count < few;
    const double safe = is_strict ? find_beta(past, lattice, rough, done, most_isolated, &strict) : 0;

    if (safe == 1) { /* what is told strictly is told */
        *spacing = strict;
        return 1;
    }
    const double beta = find_beta(past, lattice, rough, done, 1, spacing);
    if (safe > 0 && safe < beta) {
        *spacing = strict;
        if (safe < little_gained * done) {
            rule->points *= denser;
            rule->most *= denser;
            *rough = roughen(rule);
            (void)tells(past, lattice, rough, safe, 1, spacing);
        }
        return safe;
    }
    if (beta < little_gained * done && beta < 1 && spacing->shape.limited)
        allow_denser(past, lattice, beta, rule, rough, spacing);
    return beta;
}

/* Replaces the lattice by one of other edges. */
static int refine(const gbees_past *past, const gbees_source *source, const gbees_lattice_rule *rule,
                  const gbees_update *update, const gbees_spacing *spacing, gbees_lattice **lattice,
                  gbees_error *error)
{
    gbees_lattice *made = NULL;
    double edges[GBEES_MATRIX];

    memcpy(edges, spacing->shape.axes, sizeof edges);
    if (gbees_crossings_are_found(*lattice, update->measurement) && (*lattice)->n == 1)
        edges[0] = fmin(edges[0], 1); /* it has been made as dense as what is measured asks for (look_between()) */
    const int status = gbees_flood_anew(past, source, rule, *lattice, edges, update, &made, error);

    if (status)
        return status;
    gbees_lattice_destroy(*lattice);
    *lattice = made;
    return GBEES_OK;
}

/* Whether the measurement is impossible at some points: where so few are left that they tell nothing of it, no part
 * of it leaves more. */
static int has_edges(const gbees_lattice *lattice)
{
    for (uint32_t i = 0; i < lattice->count; i++)
        if (lattice->gain[i] == -INFINITY && lattice->log_weight[i] > -INFINITY && isfinite(lattice->x[0][i]))
            return 1;
    return 0;
}

/* Replaces the lattice by one of so many times the points along each axis, before the measurement, and weighs them.
 */
static int look_closer(const gbees_past *past, const gbees_source *source, const gbees_lattice_rule *rule,
                       const gbees_update *update, double times, gbees_lattice **lattice, gbees_error *error)
{
    gbees_lattice *made = NULL;

    for (uint32_t i = 0; i < (*lattice)->count; i++)
        (*lattice)->gain[i] = 0;
    const int status = gbees_flood_denser(past, source, rule, *lattice, times, &made, error);
    if (status)
        return status;
    gbees_lattice_destroy(*lattice);
    *lattice = made;
    return gbees_past_weigh(past, made, update->measurement, error);
}

/* The tail that what a measurement finds between neighbours asks for: it leaves parts that are so much narrower than
 * the density before it, and the variance of parts that are far from each other is so much larger than theirs. */
static double tail_for(const gbees_past *past, const gbees_lattice *lattice, const gbees_lattice_rule *rule)
{
    const double narrower = log1p(lattice->steepest * rule->points * rule->points);

    return fmax(rule->tail, past->problem->tail + step_of_tail * round(narrower / step_of_tail));
}

/* Makes the lattice so wide and so dense, before the measurement, that neighbours tell what it finds between them
 * (crossings.h). */
static int look_between(const gbees_past *past, const gbees_source *source, gbees_lattice_rule *rule,
                        const gbees_update *update, gbees_lattice **lattice, gbees_tempering *done,
                        gbees_error *error)
{
    const uint32_t most = most_looked_at << (*lattice)->n;
    double bent = 1;
    int status = gbees_crossings_find(past, *lattice, update->measurement, error);
    const double tail = status ? rule->tail : tail_for(past, *lattice, rule);
    const int steep = (*lattice)->steepest > steep_enough;

    if (!status && tail > rule->tail) {
        rule->tail = tail;
        status = look_closer(past, source, rule, update, 1, lattice, error);
        done->refinements++;
    }
    while (!status && steep) {
        status = gbees_lattice_index(*lattice, error);
        if (!status)
            status = gbees_crossings_bent(past, source, *lattice, update->measurement, &bent, error);
        if (status || bent <= ((*lattice)->n == 2 ? most_bent : 0) || (*lattice)->count >= most)
            break;
        status = look_closer(past, source, rule, update, 2, lattice, error);
        done->refinements++;
    }
    return status;
}

/* The log weight before the measurement of the point with the largest one after a part of it. */
static double weight_of_best(const gbees_lattice *lattice, double beta)
{
    double most = -INFINITY, weight = -INFINITY;

    for (uint32_t i = 0; i < lattice->count; i++)
        if (lattice->gain[i] > -INFINITY && lattice->log_weight[i] + beta * lattice->gain[i] > most) {
            most = lattice->log_weight[i] + beta * lattice->gain[i];
            weight = lattice->log_weight[i];
        }
    return weight;
}

/* Whether a part of the measurement leads to where there is a density; `peak`: the log weight at its peak. */
static int is_possible(const gbees_past *past, const gbees_lattice *lattice, double beta, double peak,
                       gbees_error *error)
{
    const double weight = weight_of_best(lattice, beta);

    if (weight > peak - furthest)
        return 1;
    if (weight == -INFINITY)
        (void)gbees_error_set(error, GBEES_EUNSUPPORTED, "the likelihood is 0 at all points of the density");
    else
        (void)gbees_error_set(
            error, GBEES_EUNSUPPORTED,
            "the measurement at t = %.9g is supported by no point: it leads to where the density is "
            "less than exp(-%g) of its peak; check its value, unit and covariance",
            past->now, furthest);
    return 0;
}

/* Adds the gains to the weights. */
static void finish(gbees_lattice *lattice, gbees_tempering *done)
{
    for (uint32_t i = 0; i < lattice->count; i++) {
        done->log_likelihood_max = fmax(done->log_likelihood_max, lattice->gain[i]);
        lattice->log_weight[i] += lattice->gain[i];
        lattice->gain[i] = 0;
    }
    gbees_lattice_uncross(lattice);
}

int gbees_temper(const gbees_past *past, const gbees_source *source, gbees_lattice_rule *rule,
                 const gbees_update *update, gbees_lattice **lattice, gbees_tempering *done, gbees_error *error)
{
    gbees_past roughly = *past;
    gbees_update part = *update;
    const double peak = gbees_lattice_most(*lattice, 0, (*lattice)->count, 0);
    const uint64_t made = done->refinements;
    int is_rough = 0, status = gbees_past_weigh(past, *lattice, update->measurement, error);

    if (!status)
        status = look_between(past, source, rule, update, lattice, done, error);
    if (!status && has_edges(*lattice))
        done->is_edged = (*lattice)->has_edges = 1;
    gbees_lattice_rule rough = roughen(rule);
    roughly.tolerance = fmax(past->tolerance, rough_tolerance);
    part.beta = 0;
    for (int round = 0; !status; round++) {
        gbees_spacing spacing = {.effective = 0}, last = {.effective = 0};
        const double before = part.beta;

        const int may_be_denser = part.beta == 0 && (*lattice)->count < most_points >> (*lattice)->n;

        if (!(may_be_denser && done->is_edged) && !is_possible(past, *lattice, part.beta, peak, error))
            return GBEES_EUNSUPPORTED;
        status = gbees_lattice_link(*lattice, past->threads, error);
        if (!status)
            status = gbees_light_enter_impossible(*lattice, error);
        if (!status && !(*lattice)->reach) /* else look_between() has found them */
            status = gbees_crossings_find(past, *lattice, update->measurement, error);
        if (!status)
            part.beta = choose_beta(past, *lattice, rule, &rough, before, &spacing);
        if (!status && part.beta == 0 && may_be_denser) { /* it does not even tell the density before */
            status = look_closer(past, source, rule, update, 2, lattice, error);
            done->refinements++;
            continue;
        }
        if (!status && part.beta == 1)
            status = gbees_spacing_find(*lattice, rule, 1, past->threads, &last, error);
        if (status || (part.beta == 1 && !is_rough && last.shape.longest < too_long)) {
            done->limited = last.shape.limited > done->limited ? last.shape.limited : done->limited;
            break;
        }
        if (part.beta == 0 || round == ROUNDS)
            return gbees_error_set(error, GBEES_ENUMERIC,
                                   "no lattice was found that resolves the density after the measurement at t = %g: "
                                   "give a larger 'frame_cells', or a less precise measurement",
                                   past->now);
        is_rough = part.beta < 1 || spacing.shape.longest > nearly_right;
        status = is_rough ? refine(&roughly, source, &rough, &part, &spacing, lattice, error)
                          : refine(past, source, rule, &part, &last, lattice, error);
        done->refinements++;
    }
    if (!status && done->refinements == made) /* else it has all points that the new weights need */
        status = gbees_flood_grow(past, source, rule, *lattice, (*lattice)->count, update, error);
    if (!status)
        finish(*lattice, done);
    if ((*lattice)->has_edges) /* sites without a point are for those who look for edges */
        gbees_lattice_forget(*lattice);
    return status;
}
