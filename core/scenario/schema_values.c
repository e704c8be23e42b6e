/* schema_values.c - checked values of a scenario as numbers: lists are expanded to a dimension; see schema.h. */
#include "schema.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVERY_MOST = 1000000 };

const gbees_node *gbees_node_find(const gbees_node *map, const char *key)
{
    for (size_t i = 0; i + 1 < map->count; i += 2) {
        if (strcmp(map->items[i]->text, key) == 0)
            return map->items[i + 1];
    }
    return NULL;
}

int gbees_node_is_dots(const gbees_node *node)
{
    return node->kind == GBEES_NODE_SCALAR && strcmp(node->text, "...") == 0;
}

int gbees_node_is_null(const gbees_node *node)
{
    return node->kind == GBEES_NODE_SCALAR && (strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0);
}

double gbees_node_number(const gbees_node *node)
{
    double value = 0;

    (void)gbees_number_read(node->text, &value);
    return value;
}

int gbees_node_every(const gbees_node *node)
{
    static const char word[] = "every ";
    const size_t length = sizeof word - 1;

    if (node->kind != GBEES_NODE_SCALAR || strncmp(node->text, word, length) != 0)
        return 0;
    const char *digits = node->text + length;
    const size_t count = strspn(digits, "0123456789");
    const long number = count > 0 && !digits[count] ? strtol(digits, NULL, 10) : 0;
    return number >= 1 && number <= EVERY_MOST ? (int)number : 0;
}

int gbees_node_numbers(const gbees_node *node, const char *label, int n, const char *what, double *out,
                       gbees_error *error)
{
    const size_t size = (size_t)n;

    if (node->kind == GBEES_NODE_SCALAR) {
        for (size_t i = 0; i < size; i++)
            out[i] = gbees_node_number(node);
        return GBEES_OK;
    }
    int dots = gbees_node_is_dots(node->items[node->count - 1]);
    size_t given = node->count - (size_t)dots;

    if (dots ? given > size : given != size)
        return gbees_node_error(node, error, "%s: expected %d number%s (%s), found %zu%s", label, n,
                                n == 1 ? "" : "s", what, given, dots ? " and '...'" : "");
    for (size_t i = 0; i < size; i++)
        out[i] = gbees_node_number(node->items[i < given ? i : given - 1]);
    return GBEES_OK;
}

int gbees_node_matrix(const gbees_node *node, const char *label, int n, const char *what, double *out,
                      gbees_error *error)
{
    const size_t size = (size_t)n;

    if (node->items[0]->kind != GBEES_NODE_LIST) {
        int status = gbees_node_numbers(node, label, n, what, out, error);

        if (status)
            return status;
        /* From the last row up, each variance moves to its place on the diagonal before it is overwritten. */
        for (size_t i = size; i-- > 0;) {
            double variance = out[i];

            for (size_t j = 0; j < size; j++)
                out[i * size + j] = 0;
            out[i * size + i] = variance;
        }
        return GBEES_OK;
    }
    if (node->count != size)
        return gbees_node_error(node, error, "%s: expected %d row%s (%s), found %zu", label, n, n == 1 ? "" : "s",
                                what, node->count);
    for (size_t i = 0; i < size; i++) {
        char name[128];

        (void)snprintf(name, sizeof name, "%s: row %zu", label, i + 1);
        int status = gbees_node_numbers(node->items[i], name, n, what, out + i * size, error);
        if (status)
            return status;
    }
    return GBEES_OK;
}

unsigned gbees_node_missing(const gbees_node *node, int n)
{
    unsigned missing = 0;
    const gbees_node *item = NULL;

    for (size_t i = 0; i < (size_t)n; i++) {
        /* '...' goes on as the entry before it. */
        if (i < node->count && strcmp(node->items[i]->text, "...") != 0)
            item = node->items[i];
        missing |= item && gbees_node_is_null(item) ? 1u << i : 0;
    }
    return missing;
}
