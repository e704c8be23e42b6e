/* schema.h - the keys of a scenario: the values that each takes, and what it means.
 *
 * One table serves the checks of scenarios (schema_check.c), their expansion to a dimension (schema_values.c), and
 * the printed lists of keys.
 */
#ifndef GBEES_SCENARIO_SCHEMA_H
#define GBEES_SCENARIO_SCHEMA_H

#include "yaml_tree.h"

typedef enum gbees_kind {
    GBEES_KIND_NUMBER,
    GBEES_KIND_INTEGER,
    GBEES_KIND_NAME,         /* printable ASCII */
    GBEES_KIND_CHOICE,       /* one of `choices` */
    GBEES_KIND_NUMBERS,      /* a list of numbers; '...' at its end repeats the last one */
    GBEES_KIND_MEASURED,     /* a list of numbers, with ~ or null for a component that was not measured */
    GBEES_KIND_BROADCAST,    /* a list of numbers, or one number for all axes */
    GBEES_KIND_RANGE,        /* one of `choices`, or a list [low, high] */
    GBEES_KIND_MATRIX,       /* n variances, '...' allowed, or n lists of n numbers */
    GBEES_KIND_PARAMETERS,   /* a map of numbers */
    GBEES_KIND_TARGETS,      /* a map of words, each one of `choices` */
    GBEES_KIND_TABLES,       /* a map of paths, or of maps with the keys of `record` */
    GBEES_KIND_PATH,         /* of a file or folder */
    GBEES_KIND_INITIAL,      /* a list of maps with the keys `fields`, or a map with those of `record` */
    GBEES_KIND_MEASUREMENTS, /* a list of maps with the keys `fields`, or a map with those of `record` */
    GBEES_KIND_INSTANTS,     /* a map with the keys `fields`, or a list of such maps */
    GBEES_KIND_REGRIDS,      /* the first of `choices`, or a list of maps with the keys `fields`, as `range` says */
    GBEES_KIND_DENSITIES,    /* one of `choices`, 'every N', or a list of times */
    GBEES_KIND_OUTPUT        /* a map with the keys of `record` */
} gbees_kind;

/* Bits of gbees_schema_key.bounded. ABOVE_MIN and BELOW_MAX exclude the bound itself. */
enum { GBEES_KEY_MIN = 1, GBEES_KEY_ABOVE_MIN = 3, GBEES_KEY_MAX = 4, GBEES_KEY_BELOW_MAX = 12 };

typedef struct gbees_schema_key {
    const char *name;
    gbees_kind kind;
    const char *range;                              /* in words, for errors: "a number > 0"; NULL: any */
    double min, max;                                /* of a number, or of each number of a list */
    int bounded;                                    /* which of them hold: GBEES_KEY_ bits */
    int required;                                   /* a map without this key is an error */
    const char *const *choices;                     /* ends with NULL */
    const struct gbees_schema_key *fields, *record; /* each ends with a NULL name */
    const char *initial; /* the default, in words, if neither scenario nor model gives a value; or NULL */
    const char *text;    /* one line of documentation */
} gbees_schema_key;

/* What a number may be, as a part of a key's initializer. */
#define GBEES_KEY_POSITIVE .range = "a number > 0", .bounded = GBEES_KEY_ABOVE_MIN
#define GBEES_KEY_PART                                                                                               \
    .range = "a number between 0 and 1", .max = 1, .bounded = GBEES_KEY_ABOVE_MIN | GBEES_KEY_BELOW_MAX
#define GBEES_KEY_WHOLE(least, most)                                                                                 \
    .kind = GBEES_KIND_INTEGER, .range = "a whole number from " #least " to " #most, .min = least, .max = most,      \
    .bounded = GBEES_KEY_MIN | GBEES_KEY_MAX

static inline const char *gbees_schema_range(const gbees_schema_key *key)
{
    return key->range ? key->range : "a number";
}

/* The key of a scenario after `key`, in the order of the manual. NULL gives the first; after the last comes NULL. */
const gbees_schema_key *gbees_schema_next(const gbees_schema_key *key);
/* The key of that name in a table that ends with a NULL name (NULL: the keys of a scenario); NULL if there is none.
 */
const gbees_schema_key *gbees_schema_find(const gbees_schema_key *keys, const char *name);
/* The place among the choices of such a key of a value that gbees_schema_check() has accepted; 0: NULL. */
int gbees_schema_choice(const gbees_schema_key *keys, const char *name, const gbees_node *value);
/* Writes ": did you mean 'threshold'?" or "" to `hint`, cut to `size`, and returns it. `keys` as above. */
const char *gbees_schema_hint(const gbees_schema_key *keys, const char *name, char *hint, size_t size);

/* Checks a value of the key; `label` names the key in errors. */
int gbees_schema_check(const gbees_schema_key *key, const gbees_node *value, const char *label, gbees_error *error);

/* Whether the values of a map's keys are entries of their own, "KEY.NAME": each source gives some of them. */
static inline int gbees_schema_has_parts(const gbees_schema_key *key)
{
    return key->kind == GBEES_KIND_PARAMETERS || key->kind == GBEES_KIND_OUTPUT || key->kind == GBEES_KIND_TARGETS ||
           key->kind == GBEES_KIND_TABLES;
}

/* Whether an entry of a list is '...'. */
int gbees_node_is_dots(const gbees_node *node);
/* Whether an entry of a list is ~ or null. */
int gbees_node_is_null(const gbees_node *node);

/* The functions below read values that gbees_schema_check() has accepted. */

/* The value of a key of a map, NULL if there is none. */
const gbees_node *gbees_node_find(const gbees_node *map, const char *key);
double gbees_node_number(const gbees_node *node);
/* N of 'every N', a whole number from 1 to 1000000; 0: the node is no such text. */
int gbees_node_every(const gbees_node *node);
/* Expands a list or a single number to out[n]; `what` gives the reason for n in errors: "dimension 3". */
int gbees_node_numbers(const gbees_node *node, const char *label, int n, const char *what, double *out,
                       gbees_error *error);
/* Of a measured value of n components: bit k if component k was not measured (it then reads as 0). */
unsigned gbees_node_missing(const gbees_node *node, int n);
/* Expands n variances, or n rows, to out[n * n], row-major. */
int gbees_node_matrix(const gbees_node *node, const char *label, int n, const char *what, double *out,
                      gbees_error *error);

#endif
