/* cuts.c - chooses cells by the doubt about them, and divides them; see cuts.h. */
#include "base/array.h"
#include "base/workers.h"
#include "cuts_private.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEEPEST = 7, /* times along an edge */
    INDEX_MOST = 32000,
    ROUNDS = 60,
    LEAST = 16384, /* smaller cells that a lattice of few points may have */
    CELL_NS = 500  /* that a cell takes */
};

/* What may be in doubt, over what is in a target; and the least that is thought to be in one, of all. */
static const double enough = 3e-4, least_inside = 1e-11;
/* Cells of less than this part of the largest doubt wait for the next round. */
static const double next_round = 0.01;

/* ---- cells ---- */

static void cell_of(const gbees_cuts *cuts, uint32_t l, gbees_cell *cell)
{
    cell->of[0] = cuts->fields;
    cell->of[1] = &cuts->fine;
    cell->self = l | GBEES_FINE;
    memcpy(cell->point, cuts->leaf[l].point, sizeof cell->point);
    memcpy(cell->place, cuts->leaf[l].place, sizeof cell->place);
}

/* The mass of a cell in units of exp(most). */
static double mass_of(const gbees_cuts *cuts, uint32_t i)
{
    gbees_cell cell;

    gbees_cell_set(cuts->fields, i, &cell);
    return exp(gbees_fields_weight(cuts->fields)[i] - cuts->most) * gbees_cell_average(&cell);
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

/* ---- sums ---- */

/* Of the parts of a pass over the cells. */
typedef struct pass {
    gbees_cuts *cuts;
    struct {
        double all, inside[GBEES_MAX_TARGETS], doubtful[GBEES_MAX_TARGETS];
    } part[GBEES_WORKERS_PARTS];
} pass;

/* What is in targets, and in doubt, of cells that are not divided. */
static void sum_cells(void *context, size_t number)
{
    pass *all = context;
    gbees_cuts *cuts = all->cuts;
    const size_t count = gbees_lattice_inner(cuts->fields->lattice), end = gbees_workers_first(count, number + 1);

    for (size_t i = gbees_workers_first(count, number); i < end; i++) {
        double doubt[GBEES_MAX_TARGETS];
        gbees_cell cell;
        gbees_parts parts;

        const double mass = mass_of(cuts, (uint32_t)i);
        all->part[number].all += mass;
        if (cuts->number[i] != GBEES_NO_POINT || !(mass > 0))
            continue;
        gbees_cell_set(cuts->fields, (uint32_t)i, &cell);
        gbees_cell_parts(&cell, &parts);
        (void)gbees_cell_doubt(&cell, doubt);
        for (int k = 0; k < cuts->fields->problem->target_count; k++) {
            all->part[number].inside[k] += mass * parts.now[k];
            all->part[number].doubtful[k] += mass * doubt[k];
        }
        cuts->doubt[i] = rate(cuts, doubt, mass);
    }
}

/* The same of the leaves, whose divided cells get their parts. */
static void sum_leaves(gbees_cuts *cuts)
{
    const int targets = cuts->fields->problem->target_count;

    for (uint32_t d = 0; d < cuts->divided_count; d++)
        cuts->divided[d] = (gbees_divided){.mass = 0};
    for (uint32_t l = 0; l < cuts->fine.lattice->count; l++) {
        gbees_divided *of = &cuts->divided[cuts->leaf[l].owner];
        double doubt[GBEES_MAX_TARGETS];
        gbees_cell cell;
        gbees_parts parts;

        cell_of(cuts, l, &cell);
        const double mass = leaf_mass(cuts, l, &cell);
        if (!(mass > 0)) {
            cuts->leaf_doubt[l] = 0;
            continue;
        }
        gbees_cell_parts(&cell, &parts);
        cuts->edge[l] = (int8_t)gbees_cell_doubt(&cell, doubt);
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

/* Sums up all cells: what is in targets, and what of that is in doubt. */
static int sum_up(gbees_cuts *cuts, gbees_error *error)
{
    pass *all = calloc(1, sizeof *all);

    if (!all)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for what is in targets");
    all->cuts = cuts;
    gbees_workers_run(gbees_workers_worth(cuts->past->threads, (double)cuts->fields->lattice->count * CELL_NS),
                      GBEES_WORKERS_PARTS, sum_cells, all);
    memset(cuts->inside, 0, sizeof cuts->inside);
    memset(cuts->doubtful, 0, sizeof cuts->doubtful);
    cuts->all = 0;
    for (int p = 0; p < GBEES_WORKERS_PARTS; p++) {
        cuts->all += all->part[p].all;
        for (int k = 0; k < GBEES_MAX_TARGETS; k++) {
            cuts->inside[k] += all->part[p].inside[k];
            cuts->doubtful[k] += all->part[p].doubtful[k];
        }
    }
    free(all);
    sum_leaves(cuts);
    return GBEES_OK;
}

/* The largest share of a target that is in doubt. */
static double worst(const gbees_cuts *cuts)
{
    double most = 0;

    for (int k = 0; k < cuts->fields->problem->target_count; k++)
        most = fmax(most, cuts->doubtful[k] / fmax(cuts->inside[k], least_inside * cuts->all));
    return most;
}

/* ---- division ---- */

/* Divides the leaves that are most in doubt. */
static int divide_leaves(gbees_cuts *cuts, uint32_t count, double least, gbees_error *error)
{
    int status = GBEES_OK;

    for (uint32_t l = 0; l < count && !status; l++)
        if (cuts->leaf_doubt[l] > least && cuts->leaf[l].level[cuts->edge[l]] < cuts->deepest)
            status = gbees_cuts_divide(cuts, l, cuts->edge[l], error);
    return status;
}

/* Opens the cells that are most in doubt. */
static int open_cells(gbees_cuts *cuts, double least, gbees_error *error)
{
    const uint32_t count = gbees_lattice_inner(cuts->fields->lattice);
    int status = GBEES_OK;

    for (uint32_t i = 0; i < count && !status; i++)
        if (cuts->number[i] == GBEES_NO_POINT && cuts->doubt[i] > least) {
            const uint32_t l = cuts->fine.lattice->count;
            double doubt[GBEES_MAX_TARGETS];
            gbees_cell cell;

            status = gbees_cuts_open(cuts, i, error);
            if (status)
                break;
            gbees_cell_set(cuts->fields, i, &cell);
            cuts->edge[l] = (int8_t)gbees_cell_doubt(&cell, doubt);
            cuts->leaf_doubt[l] = cuts->doubt[i];
        }
    return status;
}

/* The largest doubt of a cell or leaf that can be divided; *count: of how many there is some. */
static double largest_doubt(const gbees_cuts *cuts, uint32_t *count)
{
    const uint32_t cells = gbees_lattice_inner(cuts->fields->lattice);
    double most = 0;

    *count = 0;
    for (uint32_t i = 0; i < cells; i++)
        if (cuts->number[i] == GBEES_NO_POINT && cuts->doubt[i] > 0) {
            most = fmax(most, cuts->doubt[i]);
            (*count)++;
        }
    for (uint32_t l = 0; l < cuts->fine.lattice->count; l++)
        if (cuts->leaf_doubt[l] > 0 && cuts->leaf[l].level[cuts->edge[l]] < cuts->deepest) {
            most = fmax(most, cuts->leaf_doubt[l]);
            (*count)++;
        }
    return most;
}

/* Divides cells until little is in doubt. */
static int refine(gbees_cuts *cuts, gbees_error *error)
{
    const uint32_t points = gbees_lattice_inner(cuts->fields->lattice), most_leaves = points > LEAST ? points : LEAST;
    int status = GBEES_OK;

    for (int round = 0; round < ROUNDS && !status; round++) {
        uint32_t count;

        status = sum_up(cuts, error);
        const double most = largest_doubt(cuts, &count);
        if (status || most == 0 || worst(cuts) < enough || cuts->fine.lattice->count >= most_leaves)
            break;
        const double least = fmax(most * next_round, enough / count);
        const uint32_t leaves = cuts->fine.lattice->count;
        status = open_cells(cuts, least, error);
        const uint32_t first = cuts->fine.lattice->count;
        if (!status)
            status = divide_leaves(cuts, first, least, error);
        if (!status && cuts->fine.lattice->count == leaves)
            break;
        if (!status)
            status = gbees_past_evaluate(cuts->past, cuts->source, cuts->fine.lattice, first, &gbees_no_update,
                                         -INFINITY, error);
        if (!status)
            status = gbees_fields_extend(&cuts->fine, error);
    }
    return status ? status : sum_up(cuts, error);
}

/* ---- make ---- */

/* How often cells can be divided along an edge, so that their indices are in range. */
static void choose_unit(const gbees_lattice *lattice, gbees_cuts *cuts)
{
    int most = 0;

    for (uint32_t i = 0; i < lattice->count; i++)
        for (int k = 0; k < lattice->n; k++)
            most = abs(lattice->site[i].z[k]) > most ? abs(lattice->site[i].z[k]) : most;
    cuts->unit = 1;
    while (cuts->deepest < DEEPEST && (most + 1) * cuts->unit * GBEES_LEAF_PARTS <= INDEX_MOST) {
        cuts->unit *= GBEES_LEAF_PARTS;
        cuts->deepest++;
    }
}

static int make_fine(gbees_cuts *cuts, gbees_error *error)
{
    const gbees_lattice *lattice = cuts->fields->lattice;
    double axes[GBEES_MATRIX];
    int status;

    choose_unit(lattice, cuts);
    for (int k = 0; k < lattice->n * lattice->n; k++)
        axes[k] = lattice->axes[k] / cuts->unit;
    cuts->fine = (gbees_fields){.problem = cuts->fields->problem, .time = cuts->fields->time};
    status = gbees_lattice_create(lattice->n, lattice->origin, axes, &cuts->fine.lattice, error);
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
        made->doubt = gbees_array_create(count, sizeof *made->doubt);
        made->number = gbees_array_create(count, sizeof *made->number);
    }
    if (!made || !made->doubt || !made->number) {
        gbees_cuts_destroy(made);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the cells that a target cuts");
    }
    for (uint32_t i = 0; i < count; i++) {
        made->most = fmax(made->most, gbees_fields_weight(fields)[i]);
        made->doubt[i] = 0;
        made->number[i] = GBEES_NO_POINT;
    }
    for (uint32_t i = 0; i < count; i++)
        made->all += exp(gbees_fields_weight(fields)[i] - made->most);
    status = make_fine(made, error);
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
    free(cuts->doubt);
    free(cuts->number);
    free(cuts->leaf);
    free(cuts->leaf_doubt);
    free(cuts->edge);
    free(cuts->divided);
    free(cuts);
}

/* ---- results ---- */

void gbees_cuts_parts(const gbees_cuts *cuts, uint32_t i, gbees_parts *parts)
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

    return (number == GBEES_NO_POINT ? mass_of(cuts, i) : cuts->divided[number].mass) * exp(cuts->most - most);
}

double gbees_cuts_doubt(const gbees_cuts *cuts, int k)
{
    return cuts->all > 0 ? cuts->doubtful[k] / cuts->all : 0;
}

uint32_t gbees_cuts_count(const gbees_cuts *cuts)
{
    return cuts->fine.lattice->count;
}
