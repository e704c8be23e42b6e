/* schema.c - the table of the keys of a scenario; see schema.h. */
#include "schema.h"
#include "base/text.h"
#include "schema_fields.h"
#include <gbees/problem.h>
#include <stdio.h>
#include <string.h>

static const char *const modes[] = {"default", "paper", "legacy", NULL};
static const char *const regrids[] = {"auto", NULL};
static const char *const lines[] = {"lines", NULL};
#define NAME(id, name, ...) name,
static const char *const schemes[] = {GBEES_SCHEME_ROWS(NAME) NULL};
#undef NAME
static const char *const memory_choices[] = {"stop", "raise_threshold", NULL};
static const char *const cell_values[] = {"points", "averages", NULL};
static const char *const precisions[] = {"mixed", "double", NULL};
static const char *const rotates[] = {"no", "yes", NULL};
static const char *const frames[] = {"fixed", "moving", "lagrangian", "auto", NULL};
static const char *const smooths[] = {"no", "yes", NULL};
/* In the order of gbees_accuracy_of. */
static const char *const accuracies[] = {"moments", "marginals", "density", NULL};
/* In the order of gbees_target_kind, and none of them. */
static const char *const targets[] = {"count", "absorb", "off", NULL};
static const char *const bounds[] = {"on", "off", NULL};

/* In the order of doc/scenario.md. */
static const gbees_schema_key scenario_keys[] = {
    {.name = "model", .kind = GBEES_KIND_NAME, .text = "if given, the plugin must be of that name"},
    {.name = "dimension",
     GBEES_KEY_WHOLE(1, 8),
     .initial = "the model's",
     .text = "number of states, for models of several dimensions"},
    {.name = "parameters",
     .kind = GBEES_KIND_PARAMETERS,
     .initial = "the model's",
     .text = "parameters of the model, by name"},
    {.name = "states",
     .kind = GBEES_KIND_REGRIDS,
     .choices = lines,
     .fields = gbees_schema_state_fields,
     .range = "a map with state, and period or lower and upper",
     .initial = "the model's",
     .text = "list of maps, each: state, period; or state, lower, at_lower, upper, at_upper: circles and walls; or "
             "lines: without those of the model"},
    {.name = "mean", .kind = GBEES_KIND_NUMBERS, .text = "mean of the initial Gaussian; also the centre of the grid"},
    {.name = "covariance",
     .kind = GBEES_KIND_MATRIX,
     .text = "covariance of the initial Gaussian: n variances, or n lists of n numbers"},
    {.name = "initial",
     .kind = GBEES_KIND_INITIAL,
     .fields = gbees_schema_gaussian_fields,
     .record = gbees_schema_record_fields,
     .text = "in place of mean and covariance: a list of Gaussians, each: weight, mean, covariance; or a record, "
             "{file: FOLDER, record: last}"},
    {.name = "factor",
     .kind = GBEES_KIND_BROADCAST,
     GBEES_KEY_POSITIVE,
     .initial = "1",
     .text = "cells per half a standard deviation: cell width = sigma / (2 factor)"},
    {.name = "width", .kind = GBEES_KIND_BROADCAST, GBEES_KEY_POSITIVE, .text = "cell widths, in place of factor"},
    {.name = "extent",
     .kind = GBEES_KIND_BROADCAST,
     GBEES_KEY_POSITIVE,
     .initial = "3",
     .text = "half-size of the initial box in standard deviations"},
    {.name = "rotate",
     .kind = GBEES_KIND_CHOICE,
     .choices = rotates,
     .initial = "no",
     .text = "yes: the grid's axes are the eigenvectors of the covariance; width, factor and extent go with them"},
    {.name = "frame",
     .kind = GBEES_KIND_CHOICE,
     .choices = frames,
     .initial = "fixed",
     .text =
         "moving: the grid follows the density, turns and stretches with it; lagrangian: points go with the flow, "
         "for models without noise; auto: lagrangian without noise, else fixed"},
    {.name = "frame_cells",
     .kind = GBEES_KIND_NUMBER,
     .range = "a number >= 1",
     .min = 1,
     .bounded = GBEES_KEY_MIN,
     .initial = "12; lagrangian 40",
     .text = "of a frame that moves: the most cells, or points, a standard deviation along any direction"},
    {.name = "points",
     .kind = GBEES_KIND_NUMBER,
     .range = "a number from 0.3 to 100",
     .min = 0.3,
     .max = 100,
     .bounded = GBEES_KEY_MIN | GBEES_KEY_MAX,
     .initial = "1, or by accuracy",
     .text = "of a Lagrangian frame: points a standard deviation where the density is close to a Gaussian"},
    {.name = "tail",
     .kind = GBEES_KIND_NUMBER,
     .range = "a number between 0 and 200",
     .min = 0,
     .max = 200,
     .bounded = GBEES_KEY_ABOVE_MIN | GBEES_KEY_MAX,
     .initial = "24 to 15, by dimension; of a grid p* or a mass budget",
     .text =
         "of a Lagrangian frame: points down to exp(-tail) of the peak are kept; below 1, and of a grid in place of "
         "p*: the smallest density, over the peak, that is to be right"},
    {.name = "tolerance",
     .kind = GBEES_KIND_NUMBER,
     .range = "a number > 0, at most 0.01",
     .min = 0,
     .max = 0.01,
     .bounded = GBEES_KEY_ABOVE_MIN | GBEES_KEY_MAX,
     .initial = "1e-9; with an accuracy 1e-4 of it, at most 1e-5",
     .text = "of a Lagrangian frame: error of a step along a trajectory, relative to the standard deviations"},
    {.name = "smooth",
     .kind = GBEES_KIND_CHOICE,
     .choices = smooths,
     .initial = "no",
     .text = "yes: with a Lagrangian frame, all records once more at the end, given all measurements"},
    {.name = "bound",
     .kind = GBEES_KIND_RANGE,
     .choices = bounds,
     .initial = "on where the model has one",
     .text = "whether cells outside of the model's bound are left out: on: of its range over the initial box, [low, "
             "high]: of this one"},
    {.name = "threshold",
     .kind = GBEES_KIND_NUMBER,
     GBEES_KEY_PART,
     .initial = "a mass budget; paper and legacy mode need it",
     .text = "p*: cells with less probability are not kept"},
    {.name = "mass_budget",
     .kind = GBEES_KIND_NUMBER,
     GBEES_KEY_PART,
     .text = "mass that may be lost in a unit of time: p* is steered to it, in place of threshold"},
    {.name = "mass_budget_total",
     .kind = GBEES_KIND_NUMBER,
     GBEES_KEY_PART,
     .initial = "a tenth of the accuracy, or 0.005",
     .text = "the same for the whole run"},
    {.name = "at_memory_limit",
     .kind = GBEES_KIND_CHOICE,
     .choices = memory_choices,
     .initial = "stop",
     .text = "what a run does at the limit of memory: stop with a checkpoint, or raise threshold and go on"},
    {.name = "accuracy",
     .kind = GBEES_KIND_NUMBER,
     .range = "a number >= 0 and < 1",
     .min = 0,
     .max = 1,
     .bounded = GBEES_KEY_MIN | GBEES_KEY_BELOW_MAX,
     .initial = "0.05, or 0 where another key says how fine the run is",
     .text = "the largest error that a record's certificate may tell: grids are made finer until it is reached; 0: "
             "any, there is one run"},
    {.name = "accuracy_of",
     .kind = GBEES_KIND_CHOICE,
     .choices = accuracies,
     .initial = "moments",
     .text = "what the accuracy is asked for of"},
    {.name = "start", .kind = GBEES_KIND_NUMBER, .initial = "0", .text = "model time at the start"},
    {.name = "end", .kind = GBEES_KIND_NUMBER, .text = "model time at the end"},
    {.name = "records",
     GBEES_KEY_WHOLE(1, 1000000),
     .initial = "1",
     .text = "records in each leg beside its initial one"},
    {.name = "tables",
     .kind = GBEES_KIND_TABLES,
     .record = gbees_schema_parameter_table_fields,
     .initial = "none",
     .text = "a map of parameters that follow data, each: FILE.csv, or a map: file, column, interpolation; or time, "
             "value"},
    {.name = "measurements",
     .kind = GBEES_KIND_MEASUREMENTS,
     .fields = gbees_schema_measurement_fields,
     .record = gbees_schema_table_fields,
     .initial = "none",
     .text = "list of maps, each: time, function, value, covariance; likelihood, degrees_of_freedom; or a table, "
             "{file: FILE.csv}"},
    {.name = "targets",
     .kind = GBEES_KIND_TARGETS,
     .choices = targets,
     .initial = "none",
     .text =
         "a map of the model's targets, each: count, the probability inside at each record; or absorb: what enters "
         "leaves the density and is counted; or off"},
    {.name = "instants",
     .kind = GBEES_KIND_INSTANTS,
     .fields = gbees_schema_instant_fields,
     .record = gbees_schema_instant_fields,
     .initial = "none",
     .text = "jumps of the state: a map, or a list of them, each: time or every, jump, value; matrix, covariance"},
    {.name = "regrid",
     .kind = GBEES_KIND_REGRIDS,
     .choices = regrids,
     .fields = gbees_schema_regrid_fields,
     .range = "a map with time and factor",
     .initial = "none",
     .text =
         "list of maps, each: time, factor: from this time on cells are so many times narrower; or auto: narrower "
         "before an update that they would not resolve"},
    {.name = "courant",
     .kind = GBEES_KIND_NUMBER,
     .range = "a number > 0, at most 1",
     .min = 0,
     .max = 1,
     .bounded = GBEES_KEY_ABOVE_MIN | GBEES_KEY_MAX,
     .initial = "1",
     .text = "epsilon of the step size"},
    {.name = "time_step",
     .kind = GBEES_KIND_NUMBER,
     GBEES_KEY_POSITIVE,
     .initial = "from courant",
     .text = "a fixed step in place of the CFL step, not above it; legacy mode needs it"},
    {.name = "prune_interval",
     GBEES_KEY_WHOLE(1, 1000000),
     .initial = "5, with ctu 20",
     .text = "steps between prunes"},
    {.name = "mode",
     .kind = GBEES_KIND_CHOICE,
     .choices = modes,
     .initial = "default",
     .text = "default, or as the existing codes: paper, legacy"},
    {.name = "scheme",
     .kind = GBEES_KIND_CHOICE,
     .choices = schemes,
     .initial = "split5",
     .text = "ctu: the paper's corner transport upwind; split5, split7: fifth and seventh order, positive, "
             "conservative; -mp: without new extrema; upwind: first order, to compare with"},
    {.name = "cell_values",
     .kind = GBEES_KIND_CHOICE,
     .choices = cell_values,
     .initial = "averages with split schemes, else points",
     .text = "the density at cell centres, or its averages over cells"},
    {.name = "precision",
     .kind = GBEES_KIND_CHOICE,
     .choices = precisions,
     .initial = "mixed; in one dimension with noise double",
     .text = "of storage and fluxes; paper and legacy mode are double"},
    {.name = "output",
     .kind = GBEES_KIND_OUTPUT,
     .record = gbees_schema_output_fields,
     .text = "what is written to disk, a map of: densities (all, last, none, every N, or a list of times), moments "
             "(every record, every step), files (run, records)"},
    {.name = NULL},
};

const gbees_schema_key *gbees_schema_next(const gbees_schema_key *key)
{
    key = key ? key + 1 : scenario_keys;
    return key->name ? key : NULL;
}

const gbees_schema_key *gbees_schema_find(const gbees_schema_key *keys, const char *name)
{
    for (keys = keys ? keys : scenario_keys; keys->name; keys++) {
        if (strcmp(keys->name, name) == 0)
            return keys;
    }
    return NULL;
}

int gbees_schema_choice(const gbees_schema_key *keys, const char *name, const gbees_node *value)
{
    const char *const *choices = gbees_schema_find(keys, name)->choices;
    int place = 0;

    while (value && choices[place + 1] && strcmp(value->text, choices[place]) != 0)
        place++;
    return place;
}

const char *gbees_schema_hint(const gbees_schema_key *keys, const char *name, char *hint, size_t size)
{
    const char *names[sizeof scenario_keys / sizeof *scenario_keys];
    size_t count = 0;

    for (const gbees_schema_key *key = keys ? keys : scenario_keys; key->name; key++)
        names[count++] = key->name;
    const char *nearest = gbees_text_nearest(name, names, count);
    hint[0] = 0;
    if (nearest)
        (void)snprintf(hint, size, ": did you mean '%s'?", nearest);
    return hint;
}
