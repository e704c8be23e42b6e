/* regrids.c - the scenario's key `regrid`: from which time on the grid is another, or that updates decide it. */
#include "builder.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int set_level(const builder *b, const gbees_node *node, const char *label, gbees_regrid *regrid)
{
    const int n = b->problem->dimension;
    double factor[GBEES_MAX_DIM];
    char part[64];

    (void)snprintf(part, sizeof part, "%s: factor", label);
    int status = gbees_node_numbers(node, part, n, b->size, factor, b->error);
    for (int j = 0; j < n && !status; j++) {
        int exponent;

        if (frexp(factor[j], &exponent) != 0.5) /* the mantissa of a power of two */
            status = gbees_node_error(node, b->error, "%s: expected a power of two (0.5, 2, 4 ...), found %g", part,
                                      factor[j]);
        regrid->level[j] = exponent - 1;
    }
    return status;
}

static int by_time(const void *a, const void *b)
{
    const gbees_regrid *left = a, *right = b;

    return (left->time > right->time) - (left->time < right->time);
}

static int check_times(const builder *b, const gbees_node *list, const gbees_regrid *regrids, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (regrids[i].time == regrids[i - 1].time)
            return gbees_node_error(list, b->error, "regrid: the time %g is given twice", regrids[i].time);
    return GBEES_OK;
}

/* Whether an initial record has been made on the grid of this time or a later one. */
static int is_in_record(const builder *b, double time)
{
    return b->resumed && time < b->problem->start;
}

int builder_set_regrids(builder *b)
{
    const gbees_node *list = builder_find(b, "regrid");
    size_t count = 0;
    int status = GBEES_OK;

    if (!list || gbees_problem_is_exact(b->problem) || (list->kind == GBEES_NODE_LIST && list->count == 0))
        return GBEES_OK;
    if (b->problem->numerics.mode != GBEES_MODE_DEFAULT)
        return gbees_node_error(list, b->error, "regrid: paper and legacy mode have one grid: leave it out");
    if (list->kind == GBEES_NODE_SCALAR) {
        b->problem->regrid_auto = 1;
        return GBEES_OK;
    }
    gbees_regrid *regrids = calloc(list->count, sizeof *regrids);
    b->problem->regrids = regrids;
    if (!regrids)
        return builder_no_memory(b);
    for (size_t i = 0; i < list->count && !status; i++) {
        char label[48];

        (void)snprintf(label, sizeof label, "regrid %zu", i + 1);
        regrids[count].time = gbees_node_number(gbees_node_find(list->items[i], "time"));
        status = set_level(b, gbees_node_find(list->items[i], "factor"), label, &regrids[count]);
        if (!is_in_record(b, regrids[count].time))
            count++;
    }
    qsort(regrids, count, sizeof *regrids, by_time);
    b->problem->regrid_count = (int)count;
    return status ? status : check_times(b, list, regrids, count);
}
