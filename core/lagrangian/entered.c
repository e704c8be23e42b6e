/* entered.c - sums over a lattice's cells of what is in targets; see entered.h. */
#include "entered.h"
#include "base/array.h"
#include "base/workers.h"
#include "cuts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINT_NS = 300 /* that a point takes, with its parts in targets */ };

/* Of what is left where all points have entered: as good as nothing, with moments of which nothing is known
 * (certify.c). */
static const double log_none = -600;

/* What the parts of a pass over a lattice share. */
typedef struct pass {
    const gbees_fields *fields;
    const gbees_cuts *cuts;
    double *log_left; /* [count]: of each point's cell */
    gbees_entered part[GBEES_WORKERS_PARTS];
} pass;

/* Sums of weights over a lattice are far better than those of cells' masses; so what was there are weights, and what
 * is in targets, which has an edge, are masses. */
static void add_cell(const pass *all, uint32_t i, const gbees_mass_parts *parts, gbees_entered *sums)
{
    const gbees_problem *problem = all->fields->problem;
    const double unit = sums->most - all->fields->lattice->log_volume;
    const double mass = gbees_cuts_mass(all->cuts, i, unit);

    sums->before += exp(gbees_fields_weight(all->fields)[i] - unit) - mass * parts->gone_before;
    sums->masses += mass * (1 - parts->gone_before);
    sums->cut += parts->gone > 0 && parts->gone < 1 ? mass * (1 - parts->gone) : 0;
    for (int k = 0; k < problem->target_count; k++)
        sums->inside[k] += mass * (parts->now[k] - parts->before[k]);
}

static void sum_part(void *context, size_t number)
{
    pass *all = context;
    const gbees_lattice *lattice = all->fields->lattice;
    gbees_entered *sums = &all->part[number];
    const size_t inner = gbees_lattice_inner(lattice), end = gbees_workers_first(lattice->count, number + 1);

    for (size_t i = gbees_workers_first(lattice->count, number); i < end; i++) {
        gbees_mass_parts parts = {.gone = 0};

        all->log_left[i] = 0;
        /* A point that has left every bound is in no target. */
        if (!(gbees_fields_weight(all->fields)[i] > -INFINITY) || !isfinite(lattice->x[0][i]))
            parts.wrong = 0;
        else if (i < inner)
            gbees_cuts_parts(all->cuts, (uint32_t)i, &parts);
        else {
            gbees_cell cell;

            gbees_cell_set(all->fields, (uint32_t)i, &cell);
            gbees_cell_parts(&cell, &parts);
        }
        sums->wrong = sums->wrong ? sums->wrong : parts.wrong;
        all->log_left[i] = parts.gone < 1 ? log1p(-parts.gone) : -INFINITY;
        if (i < inner)
            add_cell(all, (uint32_t)i, &parts, sums);
    }
}

static void add(const gbees_entered *part, gbees_entered *sums)
{
    sums->before += part->before;
    sums->masses += part->masses;
    sums->cut += part->cut;
    for (int k = 0; k < GBEES_MAX_TARGETS; k++)
        sums->inside[k] += part->inside[k];
    sums->wrong = sums->wrong ? sums->wrong : part->wrong;
}

static void set_weights(gbees_lattice *lattice, const double *log_left)
{
    int any = 0;

    if (!lattice->whole)
        return;
    if (!lattice->is_taken_off)
        memcpy(lattice->whole, lattice->log_weight, lattice->count * sizeof *lattice->whole);
    lattice->is_taken_off = 1;
    for (uint32_t i = 0; i < lattice->count; i++) {
        lattice->log_weight[i] = lattice->whole[i] + log_left[i];
        any |= lattice->log_weight[i] > -INFINITY;
    }
    for (uint32_t i = 0; i < lattice->count && !any; i++)
        lattice->log_weight[i] = lattice->whole[i] + log_none;
}

/* Runs the pass, and adds its parts. */
static int sum_up(const gbees_past *past, const gbees_fields *fields, const gbees_cuts *cuts, gbees_entered *sums,
                  gbees_error *error)
{
    gbees_lattice *lattice = fields->lattice;
    pass *all = malloc(sizeof *all);
    double *log_left = gbees_array_create(lattice->count, sizeof *log_left);
    int status = GBEES_OK;

    if (all && log_left) {
        *all = (pass){.fields = fields, .cuts = cuts, .log_left = log_left};
        for (int k = 0; k < GBEES_WORKERS_PARTS; k++)
            all->part[k] = (gbees_entered){.most = sums->most};
        gbees_workers_run(gbees_workers_worth(past->threads, (double)lattice->count * POINT_NS), GBEES_WORKERS_PARTS,
                          sum_part, all);
        for (int k = 0; k < GBEES_WORKERS_PARTS; k++)
            add(&all->part[k], sums);
        set_weights(lattice, log_left);
    } else
        status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory for what is in targets");
    free(all);
    free(log_left);
    return status;
}

int gbees_entered_take_off(const gbees_past *past, const gbees_source *source, gbees_lattice *lattice,
                           gbees_entered *sums, gbees_error *error)
{
    gbees_fields fields = {.problem = past->problem, .time = past->now, .lattice = lattice};
    const gbees_entered others = *sums; /* lattices */
    gbees_cuts *cuts = NULL;
    int status;

    if (past->problem->target_count == 0)
        return GBEES_OK;
    status = gbees_lattice_link(lattice, past->threads, error);
    if (!status)
        status = gbees_fields_extend(&fields, error);
    if (!status)
        status = gbees_cuts_make(past, source, &fields, &cuts, error);
    if (!status)
        status = sum_up(past, &fields, cuts, sums, error);
    sums->left = sums->before;
    for (int k = 0; k < past->problem->target_count && !status; k++)
        sums->left -= past->problem->targets[k].kind == GBEES_TARGET_ABSORB ? sums->inside[k] : 0;
    const double before = sums->before - others.before, masses = sums->masses - others.masses;
    const double off = before > 0 ? fabs(masses / before - 1) : 0;
    for (int k = 0; k < past->problem->target_count && !status; k++)
        sums->doubt[k] += gbees_cuts_doubt(cuts, k) * before + off * fabs(sums->inside[k] - others.inside[k]);
    sums->cells += status ? 0 : gbees_cuts_count(cuts);
    gbees_cuts_destroy(cuts);
    gbees_fields_clear(&fields);
    return status;
}

void gbees_entered_put_back(gbees_lattice *lattice)
{
    if (lattice->is_taken_off)
        memcpy(lattice->log_weight, lattice->whole, lattice->count * sizeof *lattice->whole);
    lattice->is_taken_off = 0;
}
