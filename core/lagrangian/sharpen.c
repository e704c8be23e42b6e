/* sharpen.c - see sharpen.h. */
#include "sharpen.h"
#include "certify.h"
#include <math.h>

/* Of the law by which errors fall; for this part of the accuracy; in one go. Lattices that are not better by so much
 * are in vain. */
static const double exponent = 6, aim = 0.6, least_denser = 1.08, most_denser = 1.6, little_better = 0.9;
/* What lies beyond the tail may be this part of the accuracy, and is made this part of it if it is more. */
static const double most_beyond = 0.3, wanted_beyond = 0.1;

/* Replaces a lattice by one that is denser along all axes; times 1: adds the points of a longer tail to it. */
static int sharpen_one(const gbees_engine *engine, int set, int part, double times, gbees_error *error)
{
    const gbees_lattice_rule *rule = &engine->set[set].rule;
    const gbees_source *source = &engine->source[part];
    gbees_lattice **lattice = &engine->set[set].lattice[part], *made = NULL;

    if (times == 1)
        return gbees_flood_grow(&engine->past, source, rule, *lattice, (*lattice)->count, &gbees_no_update, error);
    const int status = gbees_flood_denser(&engine->past, source, rule, *lattice, times, &made, error);
    if (!status) {
        gbees_lattice_destroy(*lattice);
        *lattice = made;
    }
    return status;
}

/* Makes each lattice denser along all axes, `longer` being added to its tail. */
static int sharpen_all(gbees_engine *engine, double times, double longer, gbees_error *error)
{
    int status = GBEES_OK;

    for (int s = 0; s < engine->sets; s++) {
        engine->set[s].rule.tail += longer;
        for (int g = 0; g < engine->parts && !status; g++)
            if (engine->set[s].lattice[g])
                status = sharpen_one(engine, s, g, times, error);
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

/* Makes the lattices such that the bound becomes less than the accuracy. */
static int improve(gbees_engine *engine, double bound, gbees_error *error)
{
    const double accuracy = engine->problem->accuracy, beyond = engine->beyond;
    const int is_short = beyond > most_beyond * accuracy;
    const double rest = (bound - (is_short ? beyond : 0)) / (aim * accuracy);

    return sharpen_all(engine, rest > 1 || !is_short ? how_much(engine, rest) : 1,
                       is_short ? log(beyond / (wanted_beyond * accuracy)) : 0, error);
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
        status = improve(engine, bound, error);
        if (status == GBEES_ENOMEM) {
            engine->totals.warnings |= GBEES_WARNING_ACCURACY;
            return GBEES_OK;
        }
    }
    gbees_engine_count(engine);
    return status;
}
