/* sharpen.c - see sharpen.h. */
#include "sharpen.h"
#include "certify.h"
#include "targets.h"
#include <math.h>

/* Of the law by which errors fall; for this part of the accuracy, of lattices that are limited for that one; in one
 * go. Lattices that are not better by so much are in vain. */
static const double without_cells = 0.75; /* of the accuracy of marginals */
static const double exponent = 6, aim = 0.6, limited_aim = 0.8, least_denser = 1.08, most_denser = 1.6,
                    little_better = 0.9;
/* What lies beyond the tail may be this part of the accuracy, and is made this part of it if it is more. */
static const double most_beyond = 0.3, wanted_beyond = 0.1;
/* Of 2^n points, of a lattice that becomes denser for what lies between points. */
static const uint64_t most_points = 1 << 20;
/* With the accuracy so many times what is certified an update's lattices could have been less dense. They are at most
 * so many times denser than the problem asks for. */
static const double much_slack = 3, sharpest = 4;

/* Replaces a lattice by one that is denser along all axes; times 1: adds the points of a longer tail to it. */
static int sharpen_one(const gbees_engine *engine, int set, int part, double times, gbees_error *error)
{
    const gbees_lattice_rule *rule = &engine->set[set].rule;
    const gbees_source *source = &engine->source[part];
    gbees_lattice **lattice = &engine->set[set].lattice[part], *made = NULL;

    gbees_lattice_drop_border(*lattice);
    if (times == 1)
        return gbees_flood_grow(&engine->past, source, rule, *lattice, (*lattice)->count, &gbees_no_update, error);
    const int status = gbees_flood_denser(&engine->past, source, rule, *lattice, times, &made, error);
    if (!status) {
        gbees_lattice_destroy(*lattice);
        *lattice = made;
    }
    return status;
}

int gbees_engine_make_denser(gbees_engine *engine, double times, double longer, gbees_error *error)
{
    int status = GBEES_OK;

    gbees_engine_put_back(engine);
    engine->whole_beyond *= exp(-longer);
    for (int s = 0; s < engine->sets; s++) {
        engine->set[s].rule.tail += longer;
        for (int g = 0; g < engine->parts && !status; g++)
            if (engine->set[s].lattice[g])
                status = sharpen_one(engine, s, g, times, error);
    }
    engine->totals.refinements++;
    gbees_engine_change(engine);
    engine->figure = 0;
    return status ? status : gbees_engine_take_off(engine, error);
}

/* What has been reached by making lattices denser. */
typedef struct progress {
    double times;        /* how much denser they are than at first */
    double first, slack; /* the accuracy over what is certified: at first, and now */
} progress;

/* How much denser lattices should be for an error that is smaller by a factor: that of a Gaussian falls with
 * exp(-2 pi^2 k^2), k points a deviation, those of bent densities with some part of the exponent. Where it has turned
 * out to fall more slowly, as it did until now; where lattices are too coarse for that, or no better than samples, as
 * that of independent samples does. */
static double how_much(const gbees_engine *engine, const progress *so_far, double factor)
{
    const double k = engine->problem->frame_least, slowest = engine->problem->dimension / 2.0;
    double denser = sqrt(1 + log(factor) / (exponent * k * k));

    if (so_far->times > 1 || engine->limited) {
        const double power = so_far->times > 1 ? log(so_far->slack / so_far->first) / log(so_far->times) : slowest;
        denser = fmax(denser, pow(factor, 1 / fmax(power, slowest)));
    }
    return fmin(fmax(denser, least_denser), most_denser);
}

/* Makes the lattices such that the bound becomes less than the accuracy. */
static int improve(gbees_engine *engine, progress *so_far, gbees_error *error)
{
    const double beyond = engine->beyond / engine->problem->accuracy;
    const int is_short = beyond > most_beyond;
    const double rest = (1 / so_far->slack - (is_short ? beyond : 0)) / (engine->limited ? limited_aim : aim);
    const double denser = rest > 1 || !is_short ? how_much(engine, so_far, rest) : 1;

    so_far->times *= denser;
    return gbees_engine_make_denser(engine, denser, is_short ? log(beyond / wanted_beyond) : 0, error);
}

/* The accuracy over what is certified; of marginals less what cells may be off (certify.c). */
static int find_slack(gbees_engine *engine, double *slack, gbees_error *error)
{
    const gbees_problem *problem = engine->problem;
    gbees_certificate certificate;
    const int status = gbees_engine_certify(engine, &certificate, error);

    if (!status)
        *slack =
            problem->accuracy / gbees_certificate_error(&certificate, problem->dimension, problem->accuracy_of).bound;
    if (problem->accuracy_of == GBEES_ACCURACY_MARGINALS)
        *slack *= without_cells;
    return status;
}

/* Whether something lies between the points, which lattices show once they are dense enough. */
static int is_hidden(const gbees_engine *engine)
{
    return 2 * engine->between.bound > engine->problem->accuracy &&
           engine->sums[0].points < (double)(most_points >> engine->problem->dimension);
}

int gbees_engine_sharpen(gbees_engine *engine, double *times, gbees_error *error)
{
    progress now = {.times = 1};
    double most = 0;
    int in_vain = 0, status = GBEES_OK;

    *times = 1;
    while (engine->problem->accuracy > 0 && !status) {
        status = find_slack(engine, &now.slack, error);
        if (status || now.slack >= 1 || now.slack == 0) /* targets have taken all */
            break;
        now.first = now.first > 0 ? now.first : now.slack;
        in_vain = now.slack * little_better < most && !is_hidden(engine) ? in_vain + 1 : 0;
        if (in_vain == 2) {
            engine->totals.warnings |= GBEES_WARNING_ACCURACY;
            break;
        }
        most = fmax(most, now.slack);
        status = improve(engine, &now, error);
        *times = now.times;
        if (status == GBEES_ENOMEM) {
            engine->totals.warnings |= GBEES_WARNING_ACCURACY;
            return GBEES_OK;
        }
    }
    gbees_engine_count(engine);
    return status;
}

int gbees_engine_sharpen_update(gbees_engine *engine, gbees_error *error)
{
    double times, slack = 0;
    int status = gbees_engine_sharpen(engine, &times, error);

    if (!status && times == 1 && engine->sharp > 1)
        status = find_slack(engine, &slack, error);
    engine->sharp =
        fmin(fmax(slack > much_slack ? engine->sharp / least_denser : engine->sharp * times, 1), sharpest);
    return status;
}

void gbees_engine_set_density(gbees_engine *engine)
{
    for (int s = 0; s < engine->sets; s++) {
        engine->set[s].rule.points = engine->problem->frame_least * engine->sharp;
        engine->set[s].rule.most = engine->problem->frame_cells * engine->sharp * engine->set[s].raised;
    }
}
