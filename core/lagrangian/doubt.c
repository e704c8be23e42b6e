/* doubt.c - what of a lattice's cells, and of the smaller ones, is in targets, and what of that is in doubt; see
 * cuts_private.h. */
#include "base/array.h"
#include "base/workers.h"
#include "cuts_private.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_NS = 500 /* that a cell takes */ };

/* The least that is thought to be in a target, of all. */
static const double least_inside = 1e-11;
/* An edge along which a function can't change by more than this part of what it may change by over a leaf does not
 * matter. */
static const double hardly = 0.25;

/* ---- cells ---- */

void gbees_cuts_cell(const gbees_cuts *cuts, uint32_t l, gbees_cell *cell)
{
    cell->of[0] = cuts->fields;
    cell->of[1] = &cuts->fine;
    cell->self = l | GBEES_FINE;
    memcpy(cell->point, cuts->leaf[l].point, sizeof cell->point);
    memcpy(cell->place, cuts->leaf[l].place, sizeof cell->place);
    memcpy(cell->near, cuts->leaf[l].near, sizeof cell->near);
}

/* Sets the cell of point i of the lattice; returns its mass. */
static double set_cell(const gbees_cuts *cuts, uint32_t i, gbees_cell *cell)
{
    gbees_cell_set(cuts->fields, i, cell);
    return exp(gbees_fields_weight(cuts->fields)[i] - cuts->most) * gbees_cell_average(cell);
}

double gbees_cuts_cell_mass(const gbees_cuts *cuts, uint32_t i)
{
    gbees_cell cell;

    return set_cell(cuts, i, &cell);
}

static double leaf_mass(const gbees_cuts *cuts, uint32_t l, const gbees_cell *cell)
{
    double log_mass = cuts->fine.lattice->log_weight[l] - cuts->most;

    for (int k = 0; k < cuts->fine.lattice->n; k++)
        log_mass -= cuts->leaf[l].level[k] * log(GBEES_LEAF_PARTS);
    return exp(log_mass) * gbees_cell_average(cell);
}

/* The largest share of what is in a target that a cell's doubt may be. */
static double rate(const gbees_cuts *cuts, const double *doubt, double mass)
{
    const int targets = cuts->fields->problem->target_count;
    double most = 0;

    for (int k = 0; k < targets; k++)
        most = fmax(most, doubt[k] * mass / fmax(cuts->inside[k], least_inside * cuts->all));
    return most;
}

/* Raises steepest[n] to what function k changes by over the edges of a cell; level[n]: how often they are divided. */
static void see_steps(const gbees_cell *cell, int k, const int8_t *level, double *steepest)
{
    for (int j = 0; j < cell->of[0]->lattice->n; j++) {
        double step = gbees_cell_step(cell, k, j);

        for (int d = 0; level && d < level[j]; d++)
            step *= GBEES_LEAF_PARTS;
        steepest[j] = step < INFINITY ? fmax(steepest[j], step) : steepest[j];
    }
}

/* How far function k may get from its value at a leaf's centre along an edge, as steep as it is anywhere. */
static double reach_along(const gbees_cuts *cuts, const gbees_leaf *leaf, int k, int edge)
{
    double step = cuts->steepest[k][edge];

    for (int d = 0; d < leaf->level[edge]; d++)
        step /= GBEES_LEAF_PARTS;
    return step / 2;
}

/* The same along all edges. */
static double reach_of(const gbees_cuts *cuts, const gbees_leaf *leaf, int k)
{
    double reach = 0;

    for (int j = 0; j < cuts->fields->lattice->n; j++)
        reach += reach_along(cuts, leaf, k, j);
    return reach;
}

unsigned gbees_cuts_unknown(const gbees_cuts *cuts, uint32_t l)
{
    const gbees_leaf *leaf = &cuts->leaf[l];
    unsigned unknown = 0;

    for (int k = 0; k < cuts->fields->problem->target_count && leaf->aside; k++) {
        const double little = hardly * reach_of(cuts, leaf, k);

        for (int j = 0; j < cuts->fields->lattice->n; j++)
            if (leaf->aside >> j & 1 && reach_along(cuts, leaf, k, j) > little)
                unknown |= 1u << j;
    }
    return unknown;
}

/* Sets doubt[k] of a leaf, and the edge along which it is to be divided. Where points are beside it, they say little
 * of how functions change in it. */
static void doubt_leaf(gbees_cuts *cuts, uint32_t l, const gbees_cell *cell, double *doubt)
{
    const unsigned unknown = gbees_cuts_unknown(cuts, l);

    cuts->edge[l] = (int8_t)gbees_cell_doubt(cell, doubt);
    for (int k = 0; k < cuts->fields->problem->target_count; k++)
        if (!unknown && doubt[k] > 0)
            see_steps(cell, k, cuts->leaf[l].level, cuts->steepest[k]);
        else if (unknown && fabs(gbees_cell_value(cell, k)) < reach_of(cuts, &cuts->leaf[l], k)) {
            doubt[k] = 1;
            cuts->edge[l] = GBEES_EDGE_PROBE;
        }
}

/* Adds what is in targets, and in doubt, of the leaves; sets the parts of the cells that are divided. */
static void sum_leaves(gbees_cuts *cuts)
{
    const int targets = cuts->fields->problem->target_count;

    for (uint32_t d = 0; d < cuts->divided_count; d++)
        cuts->divided[d] = (gbees_divided){.mass = 0};
    for (uint32_t l = 0; l < cuts->fine.lattice->count; l++) {
        double doubt[GBEES_MAX_TARGETS];
        gbees_cell cell;
        gbees_mass_parts parts;

        cuts->leaf_doubt[l] = 0;
        if (cuts->leaf[l].owner == GBEES_NO_POINT)
            continue;
        gbees_cuts_cell(cuts, l, &cell);
        const double mass = leaf_mass(cuts, l, &cell);
        if (!(mass > 0))
            continue;
        gbees_divided *of = &cuts->divided[cuts->leaf[l].owner];
        gbees_cell_parts(&cell, &parts);
        doubt_leaf(cuts, l, &cell, doubt);
        of->mass += mass;
        of->parts.gone += mass * parts.gone;
        of->parts.gone_before += mass * parts.gone_before;
        of->parts.wrong = of->parts.wrong ? of->parts.wrong : parts.wrong;
        for (int k = 0; k < targets; k++) {
            of->parts.now[k] += mass * parts.now[k];
            of->parts.before[k] += mass * parts.before[k];
            cuts->inside[k] += mass * parts.now[k];
            cuts->doubtful[k] += mass * doubt[k];
        }
        cuts->leaf_doubt[l] = rate(cuts, doubt, mass);
    }
}

/* ---- cells of the lattice ---- */

/* Of the parts of a pass over the cells. */
typedef struct pass {
    gbees_cuts *cuts;
    unsigned char *is_cut; /* [lattice's inner points] */
    struct {
        double all, certain[GBEES_MAX_TARGETS], steepest[GBEES_MAX_TARGETS][GBEES_MAX_DIM];
    } part[GBEES_WORKERS_PARTS];
} pass;

/* Sums up what is in targets of the cells that no boundary cuts, and marks the others. */
static void sum_part(void *context, size_t number)
{
    pass *all = context;
    const gbees_cuts *cuts = all->cuts;
    const size_t count = gbees_lattice_inner(cuts->fields->lattice), end = gbees_workers_first(count, number + 1);

    for (size_t i = gbees_workers_first(count, number); i < end; i++) {
        double doubt[GBEES_MAX_TARGETS];
        gbees_cell cell;
        gbees_mass_parts parts;
        const double mass = set_cell(cuts, (uint32_t)i, &cell);

        all->is_cut[i] = 0;
        if (!(mass > 0))
            continue;
        (void)gbees_cell_doubt(&cell, doubt);
        all->part[number].all += mass;
        for (int k = 0; k < cuts->fields->problem->target_count; k++)
            if (doubt[k] > 0) {
                all->is_cut[i] = 1;
                see_steps(&cell, k, NULL, all->part[number].steepest[k]);
            }
        if (all->is_cut[i])
            continue;
        gbees_cell_parts(&cell, &parts);
        for (int k = 0; k < cuts->fields->problem->target_count; k++)
            all->part[number].certain[k] += mass * parts.now[k];
    }
}

/* Sets what of some of the cut cells is in targets and in doubt. */
static void share_part(void *context, size_t number)
{
    gbees_cuts *cuts = context;
    const size_t end = gbees_workers_first(cuts->cut_count, number + 1);
    const int targets = cuts->fields->problem->target_count;

    for (size_t c = gbees_workers_first(cuts->cut_count, number); c < end; c++) {
        double doubt[GBEES_MAX_TARGETS], *share = cuts->share + 2 * (size_t)targets * c;
        gbees_cell cell;
        gbees_mass_parts parts;
        const double mass = set_cell(cuts, cuts->cut[c], &cell);

        gbees_cell_parts(&cell, &parts);
        (void)gbees_cell_doubt(&cell, doubt);
        for (int k = 0; k < targets; k++) {
            share[k] = mass * parts.now[k];
            share[targets + k] = mass * doubt[k];
        }
    }
}

/* Lists the cells that have been marked. */
static int list_cells(gbees_cuts *cuts, const unsigned char *is_cut, int threads, gbees_error *error)
{
    const uint32_t count = gbees_lattice_inner(cuts->fields->lattice);
    const size_t targets = (size_t)cuts->fields->problem->target_count;

    for (uint32_t i = 0; i < count; i++)
        cuts->cut_count += is_cut[i];
    cuts->cut = gbees_array_create(cuts->cut_count, sizeof *cuts->cut);
    cuts->cut_doubt = gbees_array_create(cuts->cut_count, sizeof *cuts->cut_doubt);
    cuts->share = gbees_array_create(cuts->cut_count, 2 * targets * sizeof *cuts->share);
    if (!cuts->cut || !cuts->cut_doubt || !cuts->share)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the cells that a target cuts");
    for (uint32_t i = 0, c = 0; i < count; i++)
        if (is_cut[i])
            cuts->cut[c++] = i;
    gbees_workers_run(threads, GBEES_WORKERS_PARTS, share_part, cuts);
    return GBEES_OK;
}

int gbees_cuts_find(gbees_cuts *cuts, gbees_error *error)
{
    const uint32_t count = gbees_lattice_inner(cuts->fields->lattice);
    const int threads = gbees_workers_worth(cuts->past->threads, (double)count * CELL_NS);
    unsigned char *is_cut = malloc(count > 0 ? count : 1);
    pass *all = calloc(1, sizeof *all);

    if (!all || !is_cut) {
        free(is_cut);
        free(all);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for what is in targets");
    }
    *all = (pass){.cuts = cuts, .is_cut = is_cut};
    gbees_workers_run(threads, GBEES_WORKERS_PARTS, sum_part, all);
    for (int p = 0; p < GBEES_WORKERS_PARTS; p++) {
        cuts->all += all->part[p].all;
        for (int k = 0; k < GBEES_MAX_TARGETS; k++) {
            cuts->certain[k] += all->part[p].certain[k];
            for (int j = 0; j < GBEES_MAX_DIM; j++)
                cuts->steepest[k][j] = fmax(cuts->steepest[k][j], all->part[p].steepest[k][j]);
        }
    }
    const int status = list_cells(cuts, is_cut, threads, error);
    free(is_cut);
    free(all);
    return status;
}

/* ---- all ---- */

void gbees_cuts_sum(gbees_cuts *cuts)
{
    const int targets = cuts->fields->problem->target_count;

    memset(cuts->doubtful, 0, sizeof cuts->doubtful);
    memcpy(cuts->inside, cuts->certain, sizeof cuts->inside);
    for (uint32_t c = 0; c < cuts->cut_count; c++) {
        const double *share = cuts->share + 2 * (size_t)targets * c;

        for (int k = 0; k < targets && cuts->number[cuts->cut[c]] == GBEES_NO_POINT; k++) {
            cuts->inside[k] += share[k];
            cuts->doubtful[k] += share[targets + k];
        }
    }
    sum_leaves(cuts);
    for (uint32_t c = 0; c < cuts->cut_count; c++)
        cuts->cut_doubt[c] = cuts->number[cuts->cut[c]] == GBEES_NO_POINT
                                 ? rate(cuts, cuts->share + 2 * (size_t)targets * c + targets, 1)
                                 : 0;
}

double gbees_cuts_worst(const gbees_cuts *cuts)
{
    double most = 0;

    for (int k = 0; k < cuts->fields->problem->target_count; k++)
        most = fmax(most, cuts->doubtful[k] / fmax(cuts->inside[k], least_inside * cuts->all));
    return most;
}
