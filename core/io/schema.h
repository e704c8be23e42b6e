/* schema.h - the keys of a scenario: what each of them takes, and what it means.
 *
 * One table checks scenarios, expands lists to a dimension, and is what lists of keys are printed from.
 */
#ifndef GBEES_IO_SCHEMA_H
#define GBEES_IO_SCHEMA_H

#include "yaml_tree.h"

typedef enum gbees_kind {
    GBEES_KIND_NUMBER,
    GBEES_KIND_INTEGER,
    GBEES_KIND_NAME,        /* printable ASCII */
    GBEES_KIND_CHOICE,      /* one of `choices` */
    GBEES_KIND_NUMBERS,     /* a list; '...' at its end repeats the entry before it */
    GBEES_KIND_MEASURED,    /* the same, with ~ or null for a number that there is not */
    GBEES_KIND_BROADCAST,   /* the same, or one number for all */
    GBEES_KIND_RANGE,       /* one of `choices`, or a list of two numbers, the lower one first */
    GBEES_KIND_MATRIX,      /* n variances, '...' allowed, or n lists of n numbers */
    GBEES_KIND_PARAMETERS,  /* a map of numbers */
    GBEES_KIND_PATH,        /* of a file or folder */
    GBEES_KIND_INITIAL,     /* a list of maps with the keys `fields`, or a map with those of `record` */
    GBEES_KIND_MEASUREMENTS /* a list of maps with the keys `fields` */
} gbees_kind;

typedef struct gbees_schema_key {
    const char *name;
    gbees_kind kind;
    const char *range;          /* in words, for errors: "a number > 0" */
    double min, max;            /* of a number or of each of a list's, if `bounded` */
    int bounded;                /* bit 0: min is a bound, bit 1: min itself is out; bits 2 and 3: the same for max */
    int required;               /* of a map in a list: must be there */
    const char *const *choices; /* ends with NULL */
    const struct gbees_schema_key *fields, *record; /* each ends with a NULL name */
    const char *initial; /* what holds if neither the scenario nor the model gives it, in words; or NULL */
    const char *text;    /* one line of documentation */
} gbees_schema_key;

/* Each key in the order of the manual: the first after NULL, NULL after the last. */
const gbees_schema_key *gbees_schema_next(const gbees_schema_key *key);
const gbees_schema_key *gbees_schema_find(const char *name);
/* ": did you mean 'threshold'?", or "" - cut to fit. */
const char *gbees_schema_hint(const gbees_schema_key *keys, const char *name, char *hint, size_t size);

/* Whether `value` may stand for the key; `label` names it in errors. */
int gbees_schema_check(const gbees_schema_key *key, const gbees_node *value, const char *label, gbees_error *error);

/* Whether an entry of a list is '...'. */
int gbees_node_is_dots(const gbees_node *node);

/* Values of a map by key, NULL if there is none. */
const gbees_node *gbees_node_find(const gbees_node *map, const char *key);
/* A checked number. */
double gbees_node_number(const gbees_node *node);
/* A checked list or single number, as n numbers; `what` says why n in errors: "dimension 3". */
int gbees_node_numbers(const gbees_node *node, const char *label, int n, const char *what, double *out,
                       gbees_error *error);
/* ~ or null. */
int gbees_node_is_null(const gbees_node *node);
/* Of a checked measured value of n components: bit k if component k is not there. Its number reads as 0. */
unsigned gbees_node_missing(const gbees_node *node, int n);
/* A checked matrix, n x n row-major. */
int gbees_node_matrix(const gbees_node *node, const char *label, int n, const char *what, double *out,
                      gbees_error *error);

#endif
