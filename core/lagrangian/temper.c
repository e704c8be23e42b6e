/* temper.c - see temper.h. */
#include "temper.h"
#include <math.h>

enum { ROUNDS = 60, HALVINGS = 12 };

/* Lattices on the way to the last one only have to show where the weights are: their points along an axis over those
 * of the last one, but not below so many a deviation; and the tolerance of their trajectories. */
static const double rough_points = 0.75, least_rough = 0.75, rough_tolerance = 1e-5;
/* A lattice's cells may be too long by this factor in the end; on the way after a part of the likelihood; and after
 * all of it for the last lattice to be made. */
static const double too_long = 1.3, far_too_long = 2.5, nearly_right = 1.3;

/* A measurement that leads further down from the peak is a mistake: of a Gaussian these are 14 deviations. */
static const double furthest = 100;

/* Whether a lattice tells the weights at beta well enough to make another one of them. */
static int tells(const gbees_past *past, const gbees_lattice *lattice, const gbees_lattice_rule *rule, double beta,
                 gbees_spacing *spacing)
{
    gbees_error ignored; /* weights whose shape is not found are not told */

    return gbees_spacing_find(lattice, rule, beta, past->threads, spacing, &ignored) == GBEES_OK &&
           spacing->effective >= (double)(1 << lattice->n) && spacing->shape.longest < far_too_long;
}

/* The largest beta above `done` whose weights the lattice tells, and their spacing; else `done`. Returns 0 if it
 * tells none. */
static double find_beta(const gbees_past *past, const gbees_lattice *lattice, const gbees_lattice_rule *rule,
                        double done, gbees_spacing *spacing)
{
    double least = done, most = 1, found = 0;
    gbees_spacing trial;

    if (tells(past, lattice, rule, 1, spacing))
        return 1;
    for (int k = 0; k < HALVINGS || (found == 0 && k < 4 * HALVINGS); k++) {
        const double beta = least > 0 ? sqrt(least * most) : most / 4;

        if (tells(past, lattice, rule, beta, &trial)) {
            least = found = beta;
            *spacing = trial;
            if (most - least < 0.2 * (least - done))
                break;
        } else
            most = beta;
    }
    if (found > 0 || done == 0)
        return found;
    (void)tells(past, lattice, rule, done, spacing); /* a lattice that has been made of them: another will be finer */
    return spacing->shape.longest > 0 ? done : 0;
}

/* Replaces the lattice by one of other edges. */
static int refine(const gbees_past *past, const gbees_source *source, const gbees_lattice_rule *rule,
                  const gbees_update *update, const gbees_spacing *spacing, gbees_lattice **lattice,
                  gbees_error *error)
{
    gbees_lattice *made = NULL;
    const int status = gbees_flood_anew(past, source, rule, *lattice, spacing->shape.axes, update, &made, error);

    if (status)
        return status;
    gbees_lattice_destroy(*lattice);
    *lattice = made;
    return GBEES_OK;
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

int gbees_temper(const gbees_past *past, const gbees_source *source, const gbees_lattice_rule *rule,
                 const gbees_update *update, gbees_lattice **lattice, gbees_tempering *done, gbees_error *error)
{
    const gbees_lattice_rule rough = roughen(rule);
    gbees_past roughly = *past;
    gbees_update part = *update;
    const double peak = gbees_lattice_most(*lattice, 0, (*lattice)->count, 0);
    const uint64_t before = done->refinements;
    int is_rough = 0, status = gbees_past_weigh(past, *lattice, update->measurement, error);

    roughly.tolerance = fmax(past->tolerance, rough_tolerance);
    part.beta = 0;
    for (int round = 0; !status; round++) {
        gbees_spacing spacing = {.effective = 0}, last = {.effective = 0};

        if (!is_possible(past, *lattice, part.beta, peak, error))
            return GBEES_EUNSUPPORTED;
        status = gbees_lattice_link(*lattice, past->threads, error);
        if (!status)
            part.beta = find_beta(past, *lattice, &rough, part.beta, &spacing);
        if (!status && part.beta == 1)
            status = gbees_spacing_find(*lattice, rule, 1, past->threads, &last, error);
        if (status || (part.beta == 1 && !is_rough && last.shape.longest < too_long))
            break;
        if (part.beta == 0 || round == ROUNDS)
            return gbees_error_set(error, GBEES_ENUMERIC,
                                   "no lattice was found that resolves the density after the measurement at t = %g: "
                                   "give a larger 'points' or 'frame_cells', or a less precise measurement",
                                   past->now);
        is_rough = part.beta < 1 || spacing.shape.longest > nearly_right;
        status = is_rough ? refine(&roughly, source, &rough, &part, &spacing, lattice, error)
                          : refine(past, source, rule, &part, &last, lattice, error);
        done->refinements++;
    }
    if (!status && done->refinements == before) /* else it has all points that the new weights need */
        status = gbees_flood_grow(past, source, rule, *lattice, (*lattice)->count, update, error);
    if (!status)
        finish(*lattice, done);
    return status;
}
