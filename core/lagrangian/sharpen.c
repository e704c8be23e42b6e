/* sharpen.c - see sharpen.h. */
#include "sharpen.h"
#include "certify.h"
#include "spacing.h"
#include <math.h>

/* The error of sums is made this part of what the accuracy leaves for it, and of what it is. Lattices that are not
 * better by so much are in vain. */
static const double aim = 0.6, least_better = 0.7, little_better = 0.9;
/* What lies beyond the tail may be this part of the accuracy, and is made this part of it if it is more. */
static const double most_beyond = 0.3, wanted_beyond = 0.1;
/* Errors so many times as large as the distances of points explain are those of points that are missing. Lattices
 * that were denser along some axes in vain become so much denser along all; tails that are too short so much longer.
 */
static const double unexplained = 5, denser = 1.25, longer = 2;

/* By what lattices are replaced. */
typedef struct change {
    const gbees_spacing_aim *aim; /* by lattices of this error; NULL: by `times` */
    double times;                 /* so many times denser along all axes; 0: they only get a longer tail */
} change;

static int replace(const gbees_engine *engine, int set, int part, const change *by, gbees_error *error)
{
    const gbees_lattice_rule *rule = &engine->set[set].rule;
    const gbees_source *source = &engine->source[part];
    gbees_lattice **lattice = &engine->set[set].lattice[part], *made = NULL;
    double times[GBEES_MAX_DIM];

    gbees_lattice_drop_border(*lattice);
    if (!by->aim && by->times == 0)
        return gbees_flood_grow(&engine->past, source, rule, *lattice, (*lattice)->count, &gbees_no_update, error);
    for (int k = 0; k < GBEES_MAX_DIM; k++)
        times[k] = by->times;
    if (by->aim)
        gbees_spacing_times(*lattice, 0, by->aim, times);
    const int status =
        gbees_flood_denser(&engine->past, source, rule, *lattice, times, &gbees_no_update, &made, error);
    if (!status) {
        gbees_lattice_destroy(*lattice);
        *lattice = made;
    }
    return status;
}

static int replace_all(gbees_engine *engine, const change *by, gbees_error *error)
{
    int status = GBEES_OK;

    for (int s = 0; s < engine->sets; s++)
        for (int g = 0; g < engine->parts && !status; g++)
            if (engine->set[s].lattice[g])
                status = replace(engine, s, g, by, error);
    engine->totals.refinements++;
    gbees_engine_change(engine);
    engine->figure = 0;
    return status;
}

int gbees_engine_make_denser(gbees_engine *engine, double times, gbees_error *error)
{
    return replace_all(engine, &(change){.times = times}, error);
}

/* Whether the error of the first set is more than the distances of its points explain: then points are missing. */
static int is_incomplete(const gbees_engine *engine)
{
    const gbees_spacing_aim any = {.wanted = 1e-4, .least = 1};
    double times[GBEES_MAX_DIM], explained = 0;

    for (int g = 0; g < engine->parts; g++)
        if (engine->set[0].lattice[g])
            explained = fmax(explained, gbees_spacing_times(engine->set[0].lattice[g], 0, &any, times));
    return engine->figure > unexplained * explained;
}

/* Makes the lattices such that the bound becomes less than the accuracy: denser along the axes that need it, or with
 * a longer tail; or both, and denser along all axes, where that has been in vain. */
static int improve(gbees_engine *engine, double slack, int in_vain, gbees_error *error)
{
    const double beyond = engine->beyond / engine->problem->accuracy, now = engine->figure;
    const int is_short = beyond > most_beyond, is_missing = is_incomplete(engine);
    const double rest = (1 / slack - (is_short ? beyond : 0)) / aim;
    const gbees_spacing_aim wanted = {
        .now = now, .wanted = fmin(now / rest, now * least_better), .least = in_vain ? denser : 1};
    const int is_enough = !in_vain && (is_short ? rest <= 1 : is_missing);

    for (int s = 0; s < engine->sets; s++)
        engine->set[s].rule.tail +=
            fmax(is_short ? log(beyond / wanted_beyond) : 0, in_vain || is_missing ? longer : 0);
    return replace_all(engine, &(change){.aim = is_enough ? NULL : &wanted}, error);
}

/* The accuracy over what is certified. */
static int find_slack(gbees_engine *engine, double *slack, gbees_error *error)
{
    const gbees_problem *problem = engine->problem;
    gbees_certificate certificate;
    const int status = gbees_engine_certify(engine, &certificate, error);

    if (!status)
        *slack =
            problem->accuracy / gbees_certificate_error(&certificate, problem->dimension, problem->accuracy_of).bound;
    return status;
}

int gbees_engine_sharpen(gbees_engine *engine, gbees_error *error)
{
    double slack = 0, most = 0;
    int in_vain = 0, status = GBEES_OK;

    while (engine->problem->accuracy > 0 && !status) {
        status = find_slack(engine, &slack, error);
        if (status || slack >= 1)
            break;
        in_vain = slack * little_better < most ? in_vain + 1 : 0;
        if (in_vain == 2) {
            engine->totals.warnings |= GBEES_WARNING_ACCURACY;
            break;
        }
        most = fmax(most, slack);
        status = improve(engine, slack, in_vain, error);
        if (status == GBEES_ENOMEM) {
            engine->totals.warnings |= GBEES_WARNING_ACCURACY;
            return GBEES_OK;
        }
    }
    gbees_engine_count(engine);
    return status;
}
