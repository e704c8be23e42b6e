/* budget.c - sets p* after each prune, from the mass that was lost since the prune before and the mass that may be
 * lost in that time. The first p* comes from a spectrum: the mass in the cells below each power of 1/2. */
#include "budget.h"
#include "base/time_tolerance.h"
#include <math.h>

static const double LOWEST = 1e-18, HIGHEST = 1e-3; /* limits of p* */

/* p* has been lowered in vain if IN_VAIN consecutive prunes have measured a rate of loss of more than MARGIN times
 * the budget, and the last of these rates is more than half of the largest. */
enum { IN_VAIN = 8, BRICK = 64 /* cells */ };
static const double MARGIN = 1.6;

/* In one dimension, while more than OVER times what may be lost has been, p* does not rise, but falls by so many
 * octaves over the length of the run: a prune that has lost little says nothing where losses come a brick at a time.
 * What the first part of a run loses counts as lost within EARLY of it. */
static const double OVER = 1.05, OCTAVES = 64, EARLY = 0.02;

/* A prune that has lost nothing lets p* rise, unless more has been lost so far than may be: where a brick has
 * thousands of cells a deviation, losses come a whole brick at a time, with many prunes between them. If p* times the
 * number of cells exceeds BULK, p* rises by at most an eighth of an octave a prune, else by an octave: on a density
 * that is the same in many cells, p* would otherwise rise past all of them at once, before a loss is measured. */
static const double BULK = 1.0 / 16, FASTEST = 2, FASTEST_IN_BULK = 1.0905077326652577;

void budget_spectrum_add(budget_spectrum *spectrum, double p)
{
    int exponent = 0;

    if (!(p > 0))
        return;
    (void)frexp(p, &exponent); /* 2^(exponent - 1) <= p < 2^exponent */
    int octave = exponent > 0 ? 0 : -exponent;
    spectrum->mass[octave < BUDGET_OCTAVES ? octave : BUDGET_OCTAVES - 1] += p;
}

/* The mass in cells with P < 2^-octave. */
static double mass_below(const budget_spectrum *spectrum, int octave)
{
    double sum = 0;

    for (int k = BUDGET_OCTAVES - 1; k >= octave; k--)
        sum += spectrum->mass[k];
    return sum;
}

/* The mass that the first prune may drop: a hundredth of a unit time's budget, and half of the whole run's where that
 * is less, in a run shorter than a fiftieth of a unit. */
static double first_loss(const gbees_problem *problem)
{
    return problem->mass_budget * fmin(0.01, 0.5 * gbees_budget_time(problem->start, problem->end));
}

/* What p* is multiplied by where a grid begins, 1/2 to 1: one that moves may be replaced too often for a prune to
 * measure what that loses, so that p* falls at each move while more has been lost than may be. */
static double overspent_factor(const gbees_problem *problem, const gbees_initial_cells *cells)
{
    const double allowed = problem->mass_budget * (cells->time - problem->start);

    return cells->dropped > 0 && allowed > 0 && cells->lost > allowed ? fmax(sqrt(allowed / cells->lost), 0.5) : 1;
}

void mass_budget_start(mass_budget *budget, const gbees_problem *problem, const budget_spectrum *spectrum)
{
    const gbees_initial_cells *cells = problem->cells;
    const double before = cells ? cells->lost : 0;
    int octave = 10;

    *budget = (mass_budget){.problem = problem,
                            .threshold = problem->threshold,
                            .before = before,
                            .time = gbees_problem_initial_time(problem),
                            .lost = before};
    if (cells && cells->dropped > 0) { /* it counts as lost since the prune before */
        budget->lost -= cells->dropped;
        budget->moved = 1;
    }
    if (problem->raise_threshold && cells)
        budget->threshold = fmax(problem->threshold, cells->threshold);
    if (!(problem->mass_budget > 0))
        return;
    if (cells && cells->threshold > 0) {
        budget->threshold = fmin(fmax(cells->threshold * overspent_factor(problem, cells), LOWEST), HIGHEST);
        return;
    }
    while (ldexp(1, -octave) > LOWEST && mass_below(spectrum, octave) > first_loss(problem))
        octave++;
    budget->threshold = ldexp(1, -octave);
}

double mass_budget_least(const gbees_problem *problem, double cells)
{
    return fmax(LOWEST, first_loss(problem) / cells / 2);
}

/* The wanted rate of loss: the budget, corrected so that what was lost too much or too little is made up for within a
 * tenth of the run. */
static double wanted_rate(const gbees_problem *problem, double time, double lost)
{
    double wanted = problem->mass_budget, span = 0.1 * (problem->end - problem->start);
    double rate = wanted + (wanted * (time - problem->start) - lost) / span;

    return fmin(fmax(rate, wanted / 4), wanted * 4);
}

/* Counts the prunes at which the budget is exceeded, and warns if p* has been lowered in vain, or can't be lowered.
 * rate: of loss since the last prune; lost: all mass that was lost until `time`: while it is below the budget, more
 * may be lost. */
static void watch_floor(mass_budget *budget, double rate, double time, double lost)
{
    const gbees_problem *problem = budget->problem;

    if (!(rate > MARGIN * problem->mass_budget) || lost <= problem->mass_budget * (time - problem->start)) {
        budget->in_vain = 0;
        return;
    }
    budget->worst = budget->in_vain == 0 ? rate : fmax(budget->worst, rate);
    budget->in_vain++;
    if (budget->threshold <= LOWEST || (budget->in_vain > IN_VAIN && rate > budget->worst / 2))
        budget->warnings |= GBEES_WARNING_BUDGET_FLOOR;
}

int mass_budget_is_short(double brick_bytes, uint32_t bricks, double limit)
{
    return 2 * brick_bytes * bricks > limit;
}

/* The p* of a problem without a mass budget after a prune. */
static double raised(double threshold, int short_of_memory)
{
    return short_of_memory ? fmax(threshold, fmin(2 * threshold, HIGHEST)) : threshold;
}

/* The highest p* of a mass budget. In one dimension a density has but a few bricks: one that is dropped takes no more
 * than half of what the whole run may lose. */
static double highest(const gbees_problem *problem)
{
    const double whole = problem->mass_budget * gbees_budget_time(problem->start, problem->end);

    return problem->dimension == 1 ? fmin(HIGHEST, whole / (2 * BRICK)) : HIGHEST;
}

/* The p* of a mass budget after a prune; `lost` is the mass lost so far. */
static double steered(mass_budget *budget, double time, double lost, double cells, int short_of_memory)
{
    const gbees_problem *problem = budget->problem;
    const double rate = (lost - budget->lost) / (time - budget->time), wanted = wanted_rate(problem, time, lost);

    watch_floor(budget, rate, time, lost);
    const double allowed = problem->mass_budget * (time - problem->start), length = problem->end - problem->start;
    const int is_overspent = lost > allowed;
    const int is_far_over =
        problem->dimension == 1 && lost > OVER * (allowed + problem->mass_budget * EARLY * length);
    const double fastest = is_overspent && !(rate > 0) ? 1
                           : is_far_over               ? fmax(0.5, exp2(-OCTAVES * (time - budget->time) / length))
                           : budget->threshold * cells > BULK ? FASTEST_IN_BULK
                                                              : FASTEST;
    double factor = rate > 0 ? fmin(fmax(sqrt(wanted / rate), 0.5), fastest) : fastest;
    if (short_of_memory)
        factor = 2;
    return fmin(fmax(budget->threshold * factor, LOWEST), highest(problem));
}

void mass_budget_steer(mass_budget *budget, double time, const gbees_mass_ledger *ledger, double cells,
                       int short_of_memory)
{
    const gbees_problem *problem = budget->problem;
    const double lost =
        budget->before + (gbees_problem_wall_absorbs(problem) ? ledger->pruned : gbees_ledger_lost(ledger));
    const double elapsed = time - budget->time;

    /* An update's prune takes no time: its loss counts, but is no rate. What the first prune of a grid that has moved
     * drops is one, of the time until the next one. */
    if (mass_budget_changes_threshold(problem) && elapsed > 1e-9 * (problem->end - problem->start)) {
        if (short_of_memory)
            budget->warnings |= GBEES_WARNING_BUDGET_MEMORY;
        budget->threshold = problem->mass_budget > 0 ? steered(budget, time, lost, cells, short_of_memory)
                                                     : raised(budget->threshold, short_of_memory);
        budget->time = time;
    }
    if (elapsed > 0 || !budget->moved)
        budget->lost = lost;
    budget->moved = 0;
}
