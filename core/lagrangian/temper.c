/* temper.c - see temper.h. */
#include "temper.h"
#include <math.h>

enum { ROUNDS = 60, HALVINGS = 12 };

/* A lattice's cells may be too long by this factor after a measurement, and by that after a part of one, which is
 * followed by another lattice. */
static const double too_long = 1.3, far_too_long = 2.5;

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

/* Replaces the lattice by one that fits the weights at beta. */
static int refine(const gbees_past *past, const gbees_source *source, const gbees_lattice_rule *rule,
                  const gbees_measurement *measurement, double beta, const gbees_spacing *spacing,
                  gbees_lattice **lattice, gbees_error *error)
{
    gbees_lattice *made = NULL;
    const int status =
        gbees_flood_anew(past, source, rule, *lattice, spacing->shape.axes, measurement, beta, &made, error);

    if (status)
        return status;
    gbees_lattice_destroy(*lattice);
    *lattice = made;
    return GBEES_OK;
}

static int is_possible(const gbees_lattice *lattice)
{
    for (uint32_t i = 0; i < lattice->count; i++)
        if (lattice->log_weight[i] + lattice->gain[i] > -INFINITY)
            return 1;
    return 0;
}

/* Adds the gains to the weights, and the points that the new weights need; removes what they don't. */
static int finish(const gbees_past *past, const gbees_source *source, const gbees_lattice_rule *rule,
                  const gbees_measurement *measurement, gbees_lattice *lattice, gbees_tempering *done,
                  gbees_error *error)
{
    int status = gbees_flood_grow(past, source, rule, lattice, lattice->count, measurement, 1, error);

    for (uint32_t i = 0; i < lattice->count && !status; i++) {
        done->log_likelihood_max = fmax(done->log_likelihood_max, lattice->gain[i]);
        lattice->log_weight[i] += lattice->gain[i];
        lattice->gain[i] = 0;
    }
    return status ? status : gbees_flood_trim(rule, lattice, error);
}

int gbees_temper(const gbees_past *past, const gbees_source *source, const gbees_lattice_rule *rule,
                 const gbees_measurement *measurement, gbees_lattice **lattice, gbees_tempering *done,
                 gbees_error *error)
{
    double beta = 0;
    int status = gbees_past_weigh(past, *lattice, measurement, error);

    if (!status && !is_possible(*lattice))
        return gbees_error_set(error, GBEES_EUNSUPPORTED, "the likelihood is 0 at all points of the density");
    for (int round = 0; !status; round++) {
        gbees_spacing spacing = {.effective = 0};

        status = gbees_lattice_link(*lattice, past->threads, error);
        if (!status)
            beta = find_beta(past, *lattice, rule, beta, &spacing);
        if (status || (beta == 1 && spacing.shape.longest < too_long))
            break;
        if (beta == 0 || round == ROUNDS)
            return gbees_error_set(error, GBEES_ENUMERIC,
                                   "no lattice was found that resolves the density after the measurement at t = %g: "
                                   "give a larger 'points' or 'frame_cells', or a less precise measurement",
                                   past->now);
        status = refine(past, source, rule, measurement, beta, &spacing, lattice, error);
        done->refinements++;
    }
    return status ? status : finish(past, source, rule, measurement, *lattice, done, error);
}
