/* sharpen.c - see sharpen.h. */
#include "sharpen.h"
#include "certify.h"
#include <math.h>

/* Of the law by which errors fall; for this part of the accuracy; in one go. Lattices that are not better by so much
 * are in vain. */
static const double exponent = 6, aim = 0.75, least_denser = 1.08, most_denser = 1.6, little_better = 0.9;

/* Replaces each lattice by one that is denser along all axes. Without memory for it the lattice stays. */
static int make_denser(gbees_engine *engine, double times, gbees_error *error)
{
    int status = GBEES_OK;

    for (int s = 0; s < engine->sets; s++)
        for (int g = 0; g < engine->parts && !status; g++) {
            gbees_lattice **lattice = &engine->set[s].lattice[g], *made = NULL;

            if (!*lattice)
                continue;
            status = gbees_flood_denser(&engine->past, &engine->source[g], &engine->set[s].rule, *lattice, times,
                                        &made, error);
            if (!status) {
                gbees_lattice_destroy(*lattice);
                *lattice = made;
            }
        }
    engine->totals.refinements++;
    engine->is_certified = 0;
    engine->figure = 0;
    return status;
}

/* How much denser lattices should be for an error that is smaller by a factor: that of a Gaussian falls with
 * exp(-2 pi^2 k^2), k points a deviation, those of bent densities with some part of the exponent. */
static double how_much(const gbees_engine *engine, double factor)
{
    const double k = engine->problem->frame_least;

    return fmin(fmax(sqrt(1 + log(factor) / (exponent * k * k)), least_denser), most_denser);
}

int gbees_engine_sharpen(gbees_engine *engine, gbees_error *error)
{
    const gbees_problem *problem = engine->problem;
    double least = INFINITY;
    int in_vain = 0, status = GBEES_OK;

    while (problem->accuracy > 0 && !status) {
        gbees_certificate certificate;

        status = gbees_engine_certify(engine, &certificate, error);
        const double bound =
            status ? NAN : gbees_certificate_error(&certificate, problem->dimension, problem->accuracy_of).bound;
        if (status || !(bound > problem->accuracy))
            break;
        in_vain = bound > little_better * least ? in_vain + 1 : 0;
        if (in_vain == 2) {
            engine->totals.warnings |= GBEES_WARNING_ACCURACY;
            break;
        }
        least = fmin(least, bound);
        status = make_denser(engine, how_much(engine, bound / (aim * problem->accuracy)), error);
        if (status == GBEES_ENOMEM) {
            engine->totals.warnings |= GBEES_WARNING_ACCURACY;
            return GBEES_OK;
        }
    }
    gbees_engine_count(engine);
    return status;
}
