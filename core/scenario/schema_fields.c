/* schema_fields.c - tables of the keys of these maps: name, type, limits, and whether it is required. */
#include "schema_fields.h"
#include <gbees/problem.h>

static const char *const densities[] = {"all", "last", "none", NULL};
static const char *const updated[] = {"yes", "no", NULL};
static const char *const moments[] = {"every record", "every step", NULL};
static const char *const walls[] = {"reflect", "absorb", NULL};
static const char *const interpolations[] = {"linear", "cubic", NULL};
static const char *const files[] = {"run", "records", NULL};
#define NAME(id, name, text) name,
static const char *const likelihoods[] = {GBEES_LIKELIHOOD_ROWS(NAME) NULL};
#undef NAME

/* The fields of a likelihood, of one measurement and of a table: a constant initializer, which no function can give.
 */
#define LIKELIHOOD_FIELDS                                                                                            \
    {.name = "likelihood",                                                                                           \
     .kind = GBEES_KIND_CHOICE,                                                                                      \
     .choices = likelihoods,                                                                                         \
     .initial = "gaussian",                                                                                          \
     .text = "of the residuals: gaussian, student-t, or model: by its own log_likelihood()"},                        \
    {                                                                                                                \
        .name = "degrees_of_freedom", .kind = GBEES_KIND_NUMBER, GBEES_KEY_POSITIVE, .text = "of student-t"          \
    }

const gbees_schema_key gbees_schema_measurement_fields[] = {
    {.name = "time", .kind = GBEES_KIND_NUMBER, .required = 1, .text = "model time"},
    {.name = "function", .kind = GBEES_KIND_NAME, .text = "the model's function; may be left out if it has only one"},
    {.name = "value",
     .kind = GBEES_KIND_MEASURED,
     .required = 1,
     .text = "what was measured; ~ for a component that was not"},
    {.name = "covariance", .kind = GBEES_KIND_MATRIX, .text = "of the noise"},
    LIKELIHOOD_FIELDS,
    {.name = NULL},
};

const gbees_schema_key gbees_schema_table_fields[] = {
    {.name = "file", .kind = GBEES_KIND_PATH, .required = 1, .text = "a table: CSV or TSV"},
    {.name = "function", .kind = GBEES_KIND_NAME, .text = "of all rows; without it the columns' names say it"},
    {.name = "covariance", .kind = GBEES_KIND_MATRIX, .text = "of functions without a column"},
    {.name = "epoch",
     .kind = GBEES_KIND_NAME,
     .text = "the date of model time 0, where the table has dates: 2026-01-31T12:00:00Z"},
    {.name = "time_unit",
     .kind = GBEES_KIND_NUMBER,
     GBEES_KEY_POSITIVE,
     .initial = "1",
     .text = "seconds in a unit of the model's time, for dates"},
    LIKELIHOOD_FIELDS,
    {.name = NULL},
};

const gbees_schema_key gbees_schema_parameter_table_fields[] = {
    {.name = "file", .kind = GBEES_KIND_PATH, .text = "CSV or TSV, with a column time"},
    {.name = "column", .kind = GBEES_KIND_NAME, .initial = "the parameter's name", .text = "of the values"},
    {.name = "time", .kind = GBEES_KIND_NUMBERS, .text = "in place of a file: increasing times of the model"},
    {.name = "value", .kind = GBEES_KIND_NUMBERS, .text = "in place of a file: a value a time"},
    {.name = "interpolation",
     .kind = GBEES_KIND_CHOICE,
     .choices = interpolations,
     .initial = "linear",
     .text = "linear; or cubic, smooth and without an extremum between two rows"},
    {.name = NULL},
};

const gbees_schema_key gbees_schema_instant_fields[] = {
    {.name = "time", .kind = GBEES_KIND_NUMBER, .text = "model time"},
    {.name = "every",
     .kind = GBEES_KIND_NUMBER,
     GBEES_KEY_POSITIVE,
     .text = "in place of time: again and again after so much time, from the start on"},
    {.name = "jump",
     .kind = GBEES_KIND_NAME,
     .initial = "shift",
     .text = "shift: x + value; linear: matrix x + value; or a function of the model, by its name"},
    {.name = "value", .kind = GBEES_KIND_NUMBERS, .text = "what is added, or the function takes"},
    {.name = "matrix", .kind = GBEES_KIND_MATRIX, .text = "of linear"},
    {.name = "covariance", .kind = GBEES_KIND_MATRIX, .text = "of the error that is added"},
    {.name = NULL},
};

const gbees_schema_key gbees_schema_regrid_fields[] = {
    {.name = "time", .kind = GBEES_KIND_NUMBER, .required = 1, .text = "model time"},
    {.name = "factor",
     .kind = GBEES_KIND_BROADCAST,
     .range = "a power of two from 1/1024 to 1024",
     .min = 1.0 / 1024,
     .max = 1024,
     .bounded = GBEES_KEY_MIN | GBEES_KEY_MAX,
     .required = 1,
     .text = "how many times narrower than at the start: a power of two, one or an axis each"},
    {.name = NULL},
};

const gbees_schema_key gbees_schema_state_fields[] = {
    {.name = "state", .kind = GBEES_KIND_NAME, .required = 1, .text = "name of the model's state"},
    {.name = "period",
     .kind = GBEES_KIND_NUMBER,
     GBEES_KEY_POSITIVE,
     .text = "the state is on a circle: the drift's period, 6.283185307179586 of an angle"},
    {.name = "lower", .kind = GBEES_KIND_NUMBER, .text = "place of a wall below"},
    {.name = "at_lower",
     .kind = GBEES_KIND_CHOICE,
     .choices = walls,
     .initial = "reflect",
     .text = "what the wall does: reflect; absorb: what reaches it leaves the density"},
    {.name = "upper", .kind = GBEES_KIND_NUMBER, .text = "place of a wall above"},
    {.name = "at_upper", .kind = GBEES_KIND_CHOICE, .choices = walls, .initial = "reflect", .text = "as at_lower"},
    {.name = NULL},
};

const gbees_schema_key gbees_schema_gaussian_fields[] = {
    {.name = "weight",
     .kind = GBEES_KIND_NUMBER,
     GBEES_KEY_POSITIVE,
     .initial = "1",
     .text = "its weight, up to a factor that is the same for all"},
    {.name = "mean", .kind = GBEES_KIND_NUMBERS, .required = 1, .text = "of this Gaussian"},
    {.name = "covariance", .kind = GBEES_KIND_MATRIX, .required = 1, .text = "of this Gaussian"},
    {.name = NULL},
};

const gbees_schema_key gbees_schema_record_fields[] = {
    {.name = "file", .kind = GBEES_KIND_PATH, .required = 1, .text = "a results folder, or one of its records"},
    {.name = "record",
     .kind = GBEES_KIND_NAME,
     .initial = "last",
     .text = "of a folder: last, its number among all from 0, or its name, leg1_record0"},
    {.name = "updated",
     .kind = GBEES_KIND_CHOICE,
     .choices = updated,
     .initial = "whether it is a leg's record 0",
     .text = "whether the record contains the measurements at its time already"},
    {.name = NULL},
};

const gbees_schema_key gbees_schema_output_fields[] = {
    {.name = "densities",
     .kind = GBEES_KIND_DENSITIES,
     .choices = densities,
     .range = "a time",
     .initial = "all",
     .text = "records that are written: all, those at the end, none, every N of the run, or those at these times"},
    {.name = "moments",
     .kind = GBEES_KIND_CHOICE,
     .choices = moments,
     .initial = "every record",
     .text = "when the time series has a row: at records alone, or after each step, too"},
    {.name = "files",
     .kind = GBEES_KIND_CHOICE,
     .choices = files,
     .initial = "run",
     .text = "one file for the run, run.h5, or one for each record"},
    {.name = NULL},
};
