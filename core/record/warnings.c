/* warnings.c - which warnings hold of a run, and the texts of all. */
#include "warnings.h"
#include "base/time_tolerance.h"
#include "equations.h"
#include <gbees/gbees.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double most_cut_off = 0.015; /* of the initial Gaussian, by its box */
static const double widest_cell = 1.5;    /* in standard deviations */
static const double most_lost = 0.1;      /* of the mass, since the start or an update */
static const double budget_margin = 1.6;  /* a budget is held within this factor */

/* ---- the initial Gaussian and its grid ---- */

/* The fraction of a Gaussian along an axis between the outer faces of its box, `lo` and `hi` cells from the
 * grid's centre. */
static double inside_of(const gbees_problem *problem, int axis, double mean, double variance, double lo, double hi)
{
    double width = problem->width[axis], middle = (mean - problem->mean[axis]) / width, scale = sqrt(2 * variance);

    return 0.5 * (erf((hi + 0.5 - middle) * width / scale) - erf((lo - 0.5 - middle) * width / scale));
}

/* The fraction of a Gaussian along an axis between the walls that it has, of which the rest is no state. */
static double between_walls(const gbees_problem *problem, int axis, double mean, double variance)
{
    const gbees_axis_range *range = &problem->range[axis];

    return inside_of(problem, axis, mean, variance,
                     range->end[0] >= GBEES_END_REFLECT ? (double)range->first : -INFINITY,
                     range->end[1] >= GBEES_END_REFLECT ? (double)range->last : INFINITY);
}

double gbees_warnings_cut_off(const gbees_problem *problem)
{
    double inside = problem->gaussian_count > 0 ? 0 : 1;
    int n = problem->dimension;

    if (problem->cells)
        return 0;
    for (int j = 0; j < n && problem->gaussian_count == 0; j++)
        inside *= erf((problem->extent[j] + 0.5) * problem->width[j] / sqrt(2 * problem->covariance[j * n + j]));
    for (int g = 0; g < problem->gaussian_count; g++) {
        const gbees_gaussian *gaussian = &problem->gaussians[g];
        double mass = gaussian->weight;

        for (int j = 0; j < n; j++) {
            const double mean = gaussian->mean[j], variance = gaussian->covariance[j * n + j];

            mass *= inside_of(problem, j, mean, variance, gaussian->lo[j], gaussian->hi[j]) /
                    between_walls(problem, j, mean, variance);
        }
        inside += mass;
    }
    return 1 - inside;
}

/* The largest width of a cell, along *axis, in conditional standard deviations (the other states held): a
 * correlated density is a ridge, narrower than its marginal. */
static double widest_of(const gbees_problem *problem, const double *covariance, int *axis)
{
    double inverse[GBEES_MAX_DIM * GBEES_MAX_DIM], most = 0;
    int n = problem->dimension;

    memcpy(inverse, covariance, (size_t)(n * n) * sizeof *inverse);
    if (LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', n, inverse, n) || LAPACKE_dpotri(LAPACK_ROW_MAJOR, 'L', n, inverse, n))
        return 0; /* not positive definite: gbees_problem_create() reports it */
    for (int j = 0; j < n; j++) {
        double width = problem->width[j] * sqrt(inverse[j * n + j]);

        if (width > most) {
            most = width;
            *axis = j;
        }
    }
    return most;
}

/* widest_of() the narrowest Gaussian of the initial density; 0 if that is a list of cells. */
static double widest(const gbees_problem *problem, int *axis)
{
    double most = 0;

    if (problem->cells)
        return 0;
    if (problem->gaussian_count == 0)
        return widest_of(problem, problem->covariance, axis);
    for (int g = 0; g < problem->gaussian_count; g++) {
        int along = 0;
        double width = widest_of(problem, problem->gaussians[g].covariance, &along);

        if (width > most) {
            most = width;
            *axis = along;
        }
    }
    return most;
}

/* ---- the ledger ---- */

double gbees_warnings_lost(const gbees_problem *problem, const gbees_totals *totals)
{
    if (totals->mass_normalised == 0 || problem->numerics.mode != GBEES_MODE_DEFAULT)
        return gbees_totals_lost(problem, totals);
    return fmax(0, gbees_totals_lost(problem, totals) - totals->mass_clipped - totals->mass_normalised);
}

/* Whether more than the budget of the whole run has been lost. */
static int is_overspent(const gbees_problem *problem, const gbees_totals *totals)
{
    return problem->mass_budget > 0 &&
           gbees_totals_lost(problem, totals) >
               budget_margin * problem->mass_budget * gbees_budget_time(problem->start, problem->end);
}

/* The warning of lost mass: one at most, as they advise differently. None if the backend has set
 * GBEES_WARNING_BUDGET_FLOOR or _MEMORY, which say why a budget is not held. */
static unsigned loss_of(const gbees_problem *problem, const gbees_totals *totals)
{
    if (totals->warnings & (GBEES_WARNING_BUDGET_FLOOR | GBEES_WARNING_BUDGET_MEMORY))
        return 0;
    if (is_overspent(problem, totals))
        return GBEES_WARNING_BUDGET_SPENT;
    return gbees_warnings_lost(problem, totals) > most_lost ? GBEES_WARNING_MASS_LOST : 0;
}

unsigned gbees_warnings(const gbees_problem *problem, const gbees_totals *totals)
{
    unsigned found = totals ? totals->warnings : 0;
    gbees_jump jump;
    int axis;

    if (gbees_problem_is_exact(problem))
        return found;
    if (gbees_warnings_cut_off(problem) > most_cut_off)
        found |= GBEES_WARNING_BOX;
    if (widest(problem, &axis) > widest_cell)
        found |= GBEES_WARNING_WIDTH;
    if (totals)
        return found | loss_of(problem, totals);
    return gbees_equations_jump(problem, &jump) ? found | GBEES_WARNING_JUMP : found;
}

/* ---- texts ---- */

static void describe_box(const gbees_problem *problem, const gbees_totals *totals, char *text, size_t size)
{
    (void)totals;
    (void)snprintf(
        text, size,
        "the initial box cuts off %.3g %% of the Gaussian before the run begins: give a larger 'extent', 3 or "
        "more",
        100 * gbees_warnings_cut_off(problem));
}

static void describe_width(const gbees_problem *problem, const gbees_totals *totals, char *text, size_t size)
{
    int axis = 0;
    double width = widest(problem, &axis);

    (void)totals;
    (void)snprintf(text, size,
                   "the cells are %.3g standard deviations of the initial Gaussian wide along axis %d: too coarse to "
                   "resolve it; give a larger 'factor' or a smaller 'width'",
                   width, axis + 1);
}

/* Whether most of the losses are outflow of a grid with a bound, which lets out what the scheme's errors carry there;
 * a threshold that is too large causes outflow, too. */
static int may_be_bound(const gbees_problem *problem, const gbees_totals *totals)
{
    return problem->bounded && totals->mass_outflow > totals->mass_pruned;
}

static void describe_loss(const gbees_problem *problem, const gbees_totals *totals, char *text, size_t size)
{
    const double lately = gbees_warnings_lost(problem, totals);
    char losses[160];

    if (lately < gbees_totals_lost(problem, totals))
        (void)snprintf(losses, sizeof losses,
                       "more than %.3g %% of the mass has been lost since an update (%.3g %% since the last one)",
                       100 * most_lost, 100 * lately);
    else
        (void)snprintf(
            losses, sizeof losses,
            "losses since the start add up to %.3g %% of the mass, %.3g %% through faces and %.3g %% by pruning",
            100 * gbees_totals_lost(problem, totals), 100 * totals->mass_outflow, 100 * totals->mass_pruned);
    (void)snprintf(
        text, size, "%s: give a smaller '%s'%s", losses, problem->mass_budget > 0 ? "mass_budget" : "threshold",
        may_be_bound(problem, totals) ? ", or, as the bound lets mass out, too, a larger 'factor' or 'bound: off'"
                                      : "");
}

static void describe_saddle(const gbees_problem *problem, const gbees_totals *totals, char *text, size_t size)
{
    const double lost = gbees_warnings_lost(problem, totals), cut_off = gbees_warnings_cut_off(problem);
    const double rate = lost / gbees_budget_time(problem->start, problem->end);
    int length = snprintf(text, size, "%.2g of the probability has been lost (%.2g a unit of time)", lost, rate);

    if (lost < cut_off)
        length = snprintf(text, size, "the initial box leaves out up to %.2g of the probability", cut_off);
    (void)snprintf(
        text + length, size - (size_t)length,
        ", more than a tenth of what is beyond a saddle of the drift: that, and the rate across it, may be "
        "wrong; give 'tail: 1e-10' in place of a threshold or budget");
}

static void describe_jump(const gbees_problem *problem, const gbees_totals *totals, char *text, size_t size)
{
    const int n = problem->dimension;
    double x[GBEES_MAX_DIM];
    gbees_jump jump = {0};
    char place[96] = "";

    (void)totals;
    if (!gbees_equations_jump(problem, &jump))
        return;
    gbees_problem_point(problem, jump.y, x);
    for (int j = 0, used = 0; j < n && used < (int)sizeof place; j++)
        used += snprintf(place + used, sizeof place - (size_t)used, "%s%.4g", j ? ", " : "", x[j]);
    (void)snprintf(
        text, size,
        "the drift is not continuous: at x = (%s) component %d jumps from %.4g to %.4g; there schemes are of "
        "first order: look at the certificates (error <=)",
        place, jump.axis + 1, jump.before, jump.after);
}

static void describe_blow_up(const gbees_problem *problem, const gbees_totals *totals, char *text, size_t size)
{
    (void)problem;
    (void)snprintf(text, size,
                   "trajectories have left every bound in finite time, or come where the drift is not a number: the "
                   "first before t = %.6g, %.3g %% of the probability now; means, deviations and densities are those "
                   "of what is left",
                   totals->lost_since, 100 * totals->mass_outflow);
}

/* Of p* that memory has raised, with a budget or without. */
static void describe_memory(const gbees_problem *problem, const gbees_totals *totals, char *text, size_t size)
{
    const double budget = problem->mass_budget, gone = 100 * gbees_totals_lost(problem, totals);

    if (budget > 0)
        (void)snprintf(text, size,
                       "memory does not allow the mass budget of %g a unit of time: p* has been raised (now %.3g), "
                       "and %.3g %% of the mass has been lost; give more memory (--max-memory) or wider cells",
                       budget, totals->threshold, gone);
    else
        (void)snprintf(
            text, size,
            "memory does not allow the threshold %g: it has been raised (now %.3g), and %.3g %% of the mass "
            "has been lost; give more memory (--max-memory) or wider cells",
            problem->threshold, totals->threshold, gone);
}

static void describe_floor(const gbees_problem *problem, const gbees_totals *totals, char *text, size_t size)
{
    (void)snprintf(text, size,
                   "no threshold holds the mass budget of %g a unit of time: %.3g %% of the mass has been lost, "
                   "though p* has been lowered (now %.3g); %s",
                   problem->mass_budget, 100 * gbees_totals_lost(problem, totals), totals->threshold,
                   may_be_bound(problem, totals) ? "the bound lets mass out: give a larger 'factor', or 'bound: off'"
                                                 : "give finer cells");
}

static void describe_spent(const gbees_problem *problem, const gbees_totals *totals, char *text, size_t size)
{
    const double budget = problem->mass_budget;

    (void)snprintf(
        text, size,
        "the mass budget is not held: %.3g %% of the mass has been lost, of %.3g %% for the whole run "
        "(%g a unit of time); %s",
        100 * gbees_totals_lost(problem, totals), 100 * budget * gbees_budget_time(problem->start, problem->end),
        budget,
        may_be_bound(problem, totals)
            ? "give a smaller budget or a larger 'factor', or, as the bound lets mass out, too, 'bound: off'"
            : "give a smaller budget, finer cells or a larger 'extent'");
}

static void describe_audit(const gbees_problem *problem, const gbees_totals *totals, char *text, size_t size)
{
    (void)totals;
    (void)snprintf(text, size,
                   "the audit says that a mean or a standard deviation is off by more than %g standard deviations "
                   "(error <=): give a larger 'factor'%s",
                   fmax(0.1, problem->accuracy), problem->mass_budget > 0 ? "" : " and a smaller 'threshold'");
}

static void describe_accuracy(const gbees_problem *problem, const gbees_totals *totals, char *text, size_t size)
{
    (void)totals;
    (void)snprintf(text, size, "the accuracy that was asked for, %g, is not certified at every record (error <=): %s",
                   problem->accuracy,
                   gbees_problem_walls(problem) > 0 ? "samples do not know of walls; compare with a larger 'factor'"
                   : !gbees_problem_is_exact(problem)
                       ? "give more time (--max-time), memory or samples (--audit), or ask for less"
                   : problem->accuracy_of == GBEES_ACCURACY_MARGINALS
                       ? "give narrower cells (a larger 'factor'), or write none ('output: {densities: none}')"
                       : "denser points do not help; give a larger 'frame_cells' or 'tail', or more memory");
}

static void describe_narrow(const gbees_problem *problem, const gbees_totals *totals, char *text, size_t size)
{
    (void)totals;
    (void)snprintf(
        text, size, "%s",
        gbees_problem_is_exact(problem)
            ? "cells of a record are wider than the density or a part of it: its marginals are right at the "
              "edges of cells, and tell nothing within them; give a larger 'factor', or write none "
              "('output: {densities: none}'); moments and evidence do not come from cells"
            : "a marginal's standard deviation is below 1.5 cells (0: below what one cell has): the grid "
              "does not resolve the density there, and widens it; give a larger 'factor', or smaller "
              "widths along its axis, or after an update 'regrid: auto'");
}

static void describe_tail(const gbees_problem *problem, const gbees_totals *totals, char *text, size_t size)
{
    (void)totals;
    (void)snprintf(text, size,
                   "a measurement lies where the density is cut off or hardly resolved: its evidence is a bound at "
                   "best, mean and deviations are uncertain; give a smaller %s, a larger 'extent' and a larger "
                   "'factor'",
                   problem->mass_budget > 0 ? "mass budget" : "'threshold'");
}

static void describe_evidence(const gbees_problem *problem, const gbees_totals *totals, char *text, size_t size)
{
    (void)totals;
    (void)snprintf(text, size,
                   "the evidence differs from the audit's by more than .1 and three times its error (at the "
                   "measurements, or of all): it depends on the grid; give a larger 'factor'%s",
                   problem->mass_budget > 0 ? "" : " and a smaller 'threshold'");
}

/* A warning's text: a sentence, or a function that writes one with numbers. */
typedef struct warning_text {
    gbees_warning warning;
    void (*describe)(const gbees_problem *problem, const gbees_totals *totals, char *text, size_t size);
    const char *sentence;
} warning_text;

/* A row for each row of GBEES_WARNING_ROWS. */
static const warning_text texts[] = {
    {GBEES_WARNING_BOX, describe_box, NULL},
    {GBEES_WARNING_WIDTH, describe_width, NULL},
    {GBEES_WARNING_MASS_LOST, describe_loss, NULL},
    {GBEES_WARNING_BUDGET_MEMORY, describe_memory, NULL},
    {GBEES_WARNING_BUDGET_FLOOR, describe_floor, NULL},
    {GBEES_WARNING_BUDGET_SPENT, describe_spent, NULL},
    {GBEES_WARNING_AUDIT, describe_audit, NULL},
    {GBEES_WARNING_NARROW, describe_narrow, NULL},
    {GBEES_WARNING_ACCURACY, describe_accuracy, NULL},
    {GBEES_WARNING_JUMP, describe_jump, NULL},
    {GBEES_WARNING_TAIL, describe_tail, NULL},
    {GBEES_WARNING_EVIDENCE, describe_evidence, NULL},
    {GBEES_WARNING_FRAME_CELLS, NULL,
     "'frame_cells' keeps the cells wider than the density asks for, where it is thinner than a Gaussian or in "
     "parts: "
     "look at the certificates (error <=), and give a larger 'frame_cells', 'frame: lagrangian', or with noise "
     "'frame: fixed'"},
    {GBEES_WARNING_FRAME_COST, NULL,
     "the grid that moves has needed shorter steps than one at rest, at three records in a row: the drift is far "
     "from "
     "affine where the density is; 'frame: fixed' may be faster"},
    {GBEES_WARNING_AUDIT_LOST, NULL,
     "samples of the model can't be computed: how far the records are off from then on is not known; their "
     "certificates say why"},
    {GBEES_WARNING_BLOW_UP, describe_blow_up, NULL},
    {GBEES_WARNING_SADDLE, describe_saddle, NULL},
    {GBEES_WARNING_ROUNDING, NULL,
     "the mass is not what the ledger says: rounding has made or lost more than a millionth of it, as cells are "
     "floats to which many steps have added too little; give 'precision: double'"},
    {GBEES_WARNING_PART, NULL,
     "a measurement may have selected a part of the initial density that p* cuts off: the grid, and samples, may "
     "lack it, and certificates do not show it; give 'threshold: 1e-12' and no accuracy, or, without noise, 'frame: "
     "lagrangian'"},
};
enum { TEXTS = sizeof texts / sizeof *texts };

#define BIT(id, bit, condition) | 1u << (bit)
_Static_assert((0u GBEES_WARNING_ROWS(BIT)) == (1u << GBEES_WARNING_COUNT) - 1,
               "each bit from 0 on is one warning's");
#undef BIT
_Static_assert((int)TEXTS == (int)GBEES_WARNING_COUNT, "each warning has a text");

void gbees_warning_text(gbees_warning warning, const gbees_problem *problem, const gbees_totals *totals, char *text,
                        size_t size)
{
    const warning_text *row = texts;

    if (problem->first) /* texts describe the grid of the run's start */
        problem = problem->first;
    while (row < texts + TEXTS - 1 && row->warning != warning)
        row++;
    if (row->describe)
        row->describe(problem, totals, text, size);
    else
        (void)snprintf(text, size, "%s", row->sentence);
}
