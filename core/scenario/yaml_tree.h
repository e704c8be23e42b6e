/* yaml_tree.h - a YAML document as a tree of scalars, lists and maps with their places. Aliases are copied, and
 * size and depth are bounded, so that no input is expensive. A node's source is the text in front of ":LINE:COLUMN: "
 * in errors; line 0 stands for a source without lines (--set), column 0 for one without columns. */
#ifndef GBEES_SCENARIO_YAML_TREE_H
#define GBEES_SCENARIO_YAML_TREE_H

#include <gbees/error.h>
#include <stddef.h>

enum {
    GBEES_INPUT_BYTES = 1 << 24, /* of a scenario or a measurement file */
    GBEES_NODE_DEPTH = 8,
    GBEES_NODE_COUNT = 1000000
};

typedef enum gbees_node_kind { GBEES_NODE_SCALAR, GBEES_NODE_LIST, GBEES_NODE_MAP } gbees_node_kind;

typedef struct gbees_node {
    gbees_node_kind kind;
    int line, column; /* counted from 1 */
    char *source;     /* its own only where it differs from the parent's, which it else points to */
    char *text;       /* of a scalar; has no NUL inside */
    size_t count, capacity;
    struct gbees_node **items; /* of a list; of a map: key, value, key, value, ... (count = 2 x pairs) */
} gbees_node;

/* Parses one YAML document; *node is NULL if the text has none.  lines == 0: nodes get line 0. */
int gbees_yaml_parse(const char *text, size_t length, const char *source, int lines, gbees_node **node,
                     gbees_error *error);

/* NULL if memory runs out.  `parent` may be NULL; the new node is added to it. It has no column. */
gbees_node *gbees_node_create(gbees_node *parent, gbees_node_kind kind, const char *source, int line,
                              const char *text);
gbees_node *gbees_node_copy(gbees_node *parent, const gbees_node *node);
void gbees_node_destroy(gbees_node *node);

/* Writes "SOURCE:LINE:COLUMN: text" ("SOURCE:LINE: text" where there are no columns, "SOURCE text" where there are no
 * lines: "--set threshold: ...") with GBEES_EINPUT, which it returns. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
int gbees_node_error(const gbees_node *node, gbees_error *error, const char *format, ...);

/* Describes a node for errors: 'abc', nothing, a list, a map. */
enum { GBEES_NODE_WORDS = 64 };
const char *gbees_node_describe(const gbees_node *node, char words[GBEES_NODE_WORDS]);

/* A finite decimal number that is the whole of `text`, whatever the locale: 1 if it is one. */
int gbees_number_read(const char *text, double *value);
/* The shortest text that gbees_number_read turns into the same bits. */
enum { GBEES_NUMBER_TEXT = 40 };
const char *gbees_number_write(double value, char text[GBEES_NUMBER_TEXT]);

/* The whole file, NUL-terminated, to be freed by the caller; refuses NUL bytes and more than `most` bytes, a number
 * of MiB. */
int gbees_input_read(const char *path, size_t most, char **text, size_t *length, gbees_error *error);

#endif
