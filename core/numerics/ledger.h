/* ledger.h - the ledger: the sum of P over all cells, and its changes since the start (doc/method.md, "The ledger"):
 *
 *     mass = 1 + clipped + normalised - outflow - pruned
 */
#ifndef GBEES_NUMERICS_LEDGER_H
#define GBEES_NUMERICS_LEDGER_H

#include "qualifier.h"

typedef struct gbees_mass_ledger {
    double mass;       /* sum of P */
    double clipped;    /* gained by setting negative cells to 0 */
    double outflow;    /* lost through faces without a neighbour, and beyond the bound */
    double pruned;     /* lost with pruned bricks */
    double normalised; /* gained, or lost if negative, by normalising the density */
    double rounded; /* gained by rounding in steps since this grid was made: no entry, but what is missing in one */
} gbees_mass_ledger;

/* The outflow of a step of a scheme that does not sum it at its faces (ctu), from the ledger before the step: what is
 * missing in `mass`, the sum of P after it. clipped: gained by clipping in the step. */
GBEES_NUM double gbees_ledger_missing(const gbees_mass_ledger *ledger, double mass, double clipped)
{
    return ledger->mass + clipped - mass;
}

/* Records a step. mass: the sum of P after it; clipped, outflow, entered: gained, lost, and taken by targets in this
 * step. */
GBEES_NUM void gbees_ledger_step(gbees_mass_ledger *ledger, double mass, double clipped, double outflow,
                                 double entered)
{
    ledger->rounded += mass - (ledger->mass + clipped - outflow - entered);
    ledger->clipped += clipped;
    ledger->outflow += outflow;
    ledger->mass = mass;
}

/* The part of its last digit by which each float of the next step is rounded up more often than down, negative: less,
 * so that the mass that rounding has made vanishes (dither.h): a pass takes back a hundredth of it. */
GBEES_NUM double gbees_ledger_lean(const gbees_mass_ledger *ledger)
{
    const double lean = ledger->mass > 0 ? -131072 * ledger->rounded / ledger->mass : 0;

    return lean > 0.25 ? 0.25 : lean < -0.25 ? -0.25 : lean;
}

/* Records a prune. mass: the sum of P after it. */
GBEES_NUM void gbees_ledger_prune(gbees_mass_ledger *ledger, double mass)
{
    ledger->pruned += ledger->mass - mass;
    ledger->mass = mass;
}

/* Records a division of all P by their sum. */
GBEES_NUM void gbees_ledger_normalise(gbees_mass_ledger *ledger)
{
    ledger->normalised += 1 - ledger->mass;
    ledger->mass = 1;
}

/* All mass that has been lost: what a mass budget limits. */
GBEES_NUM double gbees_ledger_lost(const gbees_mass_ledger *ledger)
{
    return ledger->outflow + ledger->pruned;
}

/* Mass without the effects of normalisations and prunes. An update, whose prune is already recorded, changes it only
 * by its normalisation; so the difference before and after the update is what gbees_ledger_update() records. */
GBEES_NUM double gbees_ledger_before_update(const gbees_mass_ledger *ledger)
{
    return ledger->mass - ledger->normalised + ledger->pruned;
}

/* Records an update, after its prune. before: the result of gbees_ledger_before_update() before the update. */
GBEES_NUM void gbees_ledger_update(gbees_mass_ledger *ledger, double before)
{
    ledger->normalised = ledger->mass + ledger->pruned - before;
}

#endif
