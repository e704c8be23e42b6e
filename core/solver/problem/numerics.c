/* numerics.c - fills problem->numerics from the mode and the keys that refine it. */
#include "builder.h"
#include "scenario/scenario.h"
#include "scenario/schema.h"
#include <string.h>

/* Checks a key that a mode determines: it may be given with the mode's value only. */
static int check_mode(const builder *b, const char *mode, const char *key, const char *expected)
{
    const gbees_node *node = builder_find(b, key);

    if (!node || strcmp(node->text, expected) == 0)
        return GBEES_OK;
    return gbees_node_error(node, b->error, "%s: mode %s has %s '%s', found '%s': remove one of the two", key, mode,
                            key, expected, node->text);
}

static int set_mode(const builder *b, gbees_numerics *numerics, const gbees_node *mode)
{
    int legacy = strcmp(mode->text, "legacy") == 0;

    if (builder_has_noise(b, 0))
        return gbees_node_error(mode, b->error, "mode: %s has no diffusion, and the model has: remove 'mode: %s'",
                                mode->text, mode->text);

    numerics->mode = legacy ? GBEES_MODE_LEGACY : GBEES_MODE_PAPER;
    numerics->precision = GBEES_DOUBLE;
    int status = check_mode(b, mode->text, "scheme", "ctu");
    if (!status)
        status = check_mode(b, mode->text, "cell_values", "points");
    if (!status)
        status = check_mode(b, mode->text, "precision", "double");
    if (!status && legacy && !builder_find(b, "time_step"))
        status = gbees_node_error(mode, b->error, "mode: legacy has a fixed step: give 'time_step'");
    return status;
}

/* Sets what P is; the unsplit schemes have points only. */
static int set_cell_values(const builder *b, gbees_numerics *numerics)
{
    int split = gbees_scheme_is_split(numerics->scheme);

    numerics->cell_values =
        split && !builder_is_set(b, "cell_values", "points") ? GBEES_CELL_AVERAGES : GBEES_CELL_POINTS;
    if (!split && builder_is_set(b, "cell_values", "averages"))
        return gbees_node_error(builder_find(b, "cell_values"), b->error,
                                "cell_values: scheme %s has 'points', found 'averages': remove it, or choose "
                                "'scheme: split5'",
                                gbees_scheme_get(numerics->scheme)->name);
    return GBEES_OK;
}

/* The precision that the scenario asks for; by default mixed. In one dimension noise spreads cells for millions of
 * steps, and what these add to a float is too little to be rounded without a bias: 2e-3 of the mass in 5e5 steps.
 * There doubles cost next to nothing. */
static gbees_precision precision_of(const builder *b)
{
    if (!builder_find(b, "precision"))
        return b->problem->dimension == 1 && builder_has_noise(b, 1) ? GBEES_DOUBLE : GBEES_MIXED;
    return builder_is_set(b, "precision", "double") ? GBEES_DOUBLE : GBEES_MIXED;
}

int builder_set_numerics(builder *b)
{
    gbees_numerics *numerics = &b->problem->numerics;
    const gbees_node *mode = builder_find(b, "mode");

    numerics->scheme = GBEES_SCHEME_CTU;
    numerics->cell_values = GBEES_CELL_POINTS;
    numerics->courant = builder_number(b, "courant", 1);
    numerics->time_step = builder_number(b, "time_step", 0);
    numerics->prune_interval = (int)builder_number(b, "prune_interval", 20);
    if (mode && strcmp(mode->text, "default") != 0)
        return set_mode(b, numerics, mode);
    numerics->mode = GBEES_MODE_DEFAULT;
    const gbees_node *scheme = builder_find(b, "scheme");
    numerics->scheme = scheme ? (gbees_scheme)gbees_schema_choice(NULL, "scheme", scheme) : GBEES_SCHEME_SPLIT5;
    /* A prune sorts the bricks; sweeps are slower over bricks that were made since. */
    if (gbees_scheme_is_split(numerics->scheme))
        numerics->prune_interval = (int)builder_number(b, "prune_interval", 5);
    numerics->precision = precision_of(b);
    return set_cell_values(b, numerics);
}
