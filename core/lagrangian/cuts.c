/* cuts.c - chooses cells by the doubt about them, and divides them; see cuts.h. */
#include "base/array.h"
#include "cuts_private.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 200,
    LEAST = 32768, /* points of smaller cells that a lattice of few points may have, and as many probes */
};

/* What may be in doubt, over what is in a target; and what of one cell is looked into when there are as many points
 * as there may be: it had seemed to be outside, and may not be. */
static const double enough = 3e-4, alarming = 1e-3;
/* Cells of less than this part of the largest doubt wait for the next round. */
static const double next_round = 0.01;

/* ---- division ---- */

/* Whether so much doubt is worth a division. */
static int is_worth(const gbees_cuts *cuts, double doubt, double least)
{
    return doubt > least && !(cuts->is_full && doubt < alarming);
}

/* Whether a leaf is in doubt, and is to have probes or is not too small to be divided. */
static int is_divisible(const gbees_cuts *cuts, uint32_t l, double least)
{
    if (cuts->edge[l] == GBEES_EDGE_PROBE)
        return cuts->leaf_doubt[l] > least;
    return is_worth(cuts, cuts->leaf_doubt[l], least) && cuts->leaf[l].level[cuts->edge[l]] < GBEES_LEAF_DEEPEST;
}

/* Divides the leaves that are most in doubt, or probes them. */
static int divide_leaves(gbees_cuts *cuts, uint32_t count, double least, gbees_error *error)
{
    int status = GBEES_OK;

    for (uint32_t l = 0; l < count && !status; l++)
        if (is_divisible(cuts, l, least))
            status = cuts->edge[l] == GBEES_EDGE_PROBE ? gbees_cuts_probe(cuts, l, error)
                                                       : gbees_cuts_divide(cuts, l, cuts->edge[l], error);
    return status;
}

/* Opens the cells that are most in doubt. */
static int open_cells(gbees_cuts *cuts, double least, gbees_error *error)
{
    int status = GBEES_OK;

    for (uint32_t c = 0; c < cuts->cut_count && !status; c++) {
        const uint32_t l = cuts->fine.lattice->count;
        double doubt[GBEES_MAX_TARGETS];
        gbees_cell cell;

        if (!is_worth(cuts, cuts->cut_doubt[c], least))
            continue;
        status = gbees_cuts_open(cuts, cuts->cut[c], error);
        if (status)
            break;
        gbees_cell_set(cuts->fields, cuts->cut[c], &cell);
        cuts->edge[l] = (int8_t)gbees_cell_doubt(&cell, doubt);
        cuts->leaf_doubt[l] = cuts->cut_doubt[c];
    }
    return status;
}

/* The largest doubt of a cell or leaf that can be divided; *count: of how many there is some. */
static double largest_doubt(const gbees_cuts *cuts, uint32_t *count)
{
    double most = 0;

    *count = 0;
    for (uint32_t c = 0; c < cuts->cut_count; c++)
        if (is_worth(cuts, cuts->cut_doubt[c], 0)) {
            most = fmax(most, cuts->cut_doubt[c]);
            (*count)++;
        }
    for (uint32_t l = 0; l < cuts->fine.lattice->count; l++)
        if (is_divisible(cuts, l, 0)) {
            most = fmax(most, cuts->leaf_doubt[l]);
            (*count)++;
        }
    return most;
}

/* Evaluates the points that have been added from number `first` on. */
static int evaluate(gbees_cuts *cuts, uint32_t first, gbees_error *error)
{
    const int status = gbees_past_evaluate(cuts->past, cuts->source, cuts->fine.lattice, first, &gbees_no_update,
                                           -INFINITY, NULL, error);

    return status ? status : gbees_fields_extend(&cuts->fine, error);
}

/* How near a leaf's centre is to a target: the least absolute value of the functions there. */
static double nearness(const gbees_cuts *cuts, uint32_t l)
{
    double least = INFINITY;
    gbees_cell cell;

    gbees_cuts_cell(cuts, l, &cell);
    for (int k = 0; k < cuts->fields->problem->target_count; k++)
        least = fmin(least, fabs(gbees_cell_value(&cell, k)));
    return least;
}

/* Probes the part of each leaf that has just been divided that is nearest to a target: how steep functions are there
 * is not known from further away, and without it all parts might look as if they were outside. */
static int probe_nearest(gbees_cuts *cuts, gbees_error *error)
{
    const uint32_t count = cuts->fine.lattice->count;
    int status = GBEES_OK;

    for (uint32_t l = 0; l < count && !status; l++) {
        if (!cuts->leaf[l].parted)
            continue;
        const uint32_t *part = cuts->leaf[l].point[cuts->edge[l]];
        uint32_t nearest = l;

        for (int s = 0; s < GBEES_LEAF_PARTS; s++)
            if (nearness(cuts, part[s] & ~GBEES_FINE) < nearness(cuts, nearest))
                nearest = part[s] & ~GBEES_FINE;
        cuts->leaf[l].parted = 0;
        status = gbees_cuts_probe(cuts, nearest, error);
    }
    return status ? status : evaluate(cuts, count, error);
}

/* Takes the cells and leaves of more than `least` doubt one step further. Returns an error, or sets *goes_on. */
static int go_on(gbees_cuts *cuts, double least, int *goes_on, gbees_error *error)
{
    const uint64_t before = cuts->divisions;
    int status = open_cells(cuts, least, error);
    const uint32_t first = cuts->fine.lattice->count;

    if (!status)
        status = divide_leaves(cuts, first, least, error);
    if (!status)
        status = evaluate(cuts, first, error);
    if (!status)
        status = probe_nearest(cuts, error);
    *goes_on = cuts->divisions > before;
    return status;
}

/* Divides cells until little is in doubt. */
static int refine(gbees_cuts *cuts, gbees_error *error)
{
    const uint32_t points = gbees_lattice_inner(cuts->fields->lattice), full = points > LEAST ? points : LEAST;
    int status = GBEES_OK, goes_on = 1;

    gbees_cuts_sum(cuts);
    for (int round = 0; round < ROUNDS && !status && goes_on; round++) {
        uint32_t count;

        cuts->is_full = cuts->fine.lattice->count >= full;
        const double most = largest_doubt(cuts, &count);
        if (most == 0 || gbees_cuts_worst(cuts) < enough || cuts->fine.lattice->count >= 2 * full)
            break;
        status = go_on(cuts, fmax(most * next_round, enough / count), &goes_on, error);
        gbees_cuts_sum(cuts);
    }
    return status;
}

/* ---- make ---- */

static int make_fine(gbees_cuts *cuts, gbees_error *error)
{
    const gbees_lattice *lattice = cuts->fields->lattice;

    cuts->fine = (gbees_fields){.problem = cuts->fields->problem, .time = cuts->fields->time};
    const int status = gbees_lattice_create(lattice->n, lattice->origin, lattice->axes, &cuts->fine.lattice, error);
    return status ? status : gbees_lattice_watch(cuts->fine.lattice, cuts->fields->problem, error);
}

int gbees_cuts_make(const gbees_past *past, const gbees_source *source, const gbees_fields *fields, gbees_cuts **cuts,
                    gbees_error *error)
{
    const uint32_t count = gbees_lattice_inner(fields->lattice);
    gbees_cuts *made = calloc(1, sizeof *made);
    int status;

    if (made) {
        *made = (gbees_cuts){.past = past, .source = source, .fields = fields, .most = -INFINITY};
        made->number = gbees_array_create(count, sizeof *made->number);
    }
    if (!made || !made->number) {
        gbees_cuts_destroy(made);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the cells that a target cuts");
    }
    for (uint32_t i = 0; i < count; i++) {
        made->most = fmax(made->most, gbees_fields_weight(fields)[i]);
        made->number[i] = GBEES_NO_POINT;
    }
    status = make_fine(made, error);
    if (!status)
        status = gbees_cuts_find(made, error);
    if (!status)
        status = refine(made, error);
    if (status)
        gbees_cuts_destroy(made);
    else
        *cuts = made;
    return status;
}

void gbees_cuts_destroy(gbees_cuts *cuts)
{
    if (!cuts)
        return;
    gbees_lattice_destroy(cuts->fine.lattice);
    gbees_fields_clear(&cuts->fine);
    free(cuts->number);
    free(cuts->cut);
    free(cuts->cut_doubt);
    free(cuts->share);
    free(cuts->leaf);
    free(cuts->leaf_doubt);
    free(cuts->edge);
    free(cuts->divided);
    free(cuts);
}

/* ---- results ---- */

void gbees_cuts_parts(const gbees_cuts *cuts, uint32_t i, gbees_mass_parts *parts)
{
    gbees_cell cell;

    if (cuts->number[i] == GBEES_NO_POINT) {
        gbees_cell_set(cuts->fields, i, &cell);
        gbees_cell_parts(&cell, parts);
        return;
    }
    const gbees_divided *of = &cuts->divided[cuts->number[i]];
    *parts = of->parts;
    for (int k = 0; k < GBEES_MAX_TARGETS && of->mass > 0; k++) {
        parts->now[k] /= of->mass;
        parts->before[k] /= of->mass;
    }
    parts->gone /= of->mass > 0 ? of->mass : 1;
    parts->gone_before /= of->mass > 0 ? of->mass : 1;
}

double gbees_cuts_mass(const gbees_cuts *cuts, uint32_t i, double most)
{
    const uint32_t number = cuts->number[i];

    return (number == GBEES_NO_POINT ? gbees_cuts_cell_mass(cuts, i) : cuts->divided[number].mass) *
           exp(cuts->most - most);
}

double gbees_cuts_doubt(const gbees_cuts *cuts, int k)
{
    return cuts->all > 0 ? cuts->doubtful[k] / cuts->all : 0;
}

uint32_t gbees_cuts_count(const gbees_cuts *cuts)
{
    return cuts->fine.lattice->count;
}
