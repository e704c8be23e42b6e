/* refinement.c - runs on finer and finer grids, until the error is what was asked for: whether and how there is to be
 * another (doc/accuracy.md, "Asking for an accuracy"). See gbees/refinement.h; what a run shows: run_records.c. */
#include "plan.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = GBEES_MAX_DIM, RUNS_MOST = 9, RETRIES_MOST = 2 };
/* The relative error of a standard deviation over the mass lost in the tails: two or three (doc/measuring.md), and up
 * to this where the tails are long. */
static const double most_per_loss = 12, some = 0.25;     /* some: a part of an error that is worth a run */
static const double retry_jump = 4, retry_budget = 0.01; /* of a first run that has failed, for the next one */
static const double most_left = 0.75;    /* of the error, where half the time step has not been in vain */
static const double small_excess = 1.25; /* an error that is at most so many times what is allowed is small */

/* ---- create ---- */

/* Whether the problem asks for an accuracy, and leaves the grid to the plan. */
static int check(const gbees_problem *problem, gbees_error *error)
{
    if (!(problem->accuracy > 0))
        return gbees_error_set(error, GBEES_EUSAGE, "the scenario asks for no accuracy");
    if (problem->cells)
        return gbees_error_set(
            error, GBEES_EUSAGE,
            "accuracy: the initial density is a record, whose grid is given: leave 'accuracy' out, "
            "or for a model without noise give 'frame: lagrangian'");
    if (problem->numerics.mode != GBEES_MODE_DEFAULT)
        return gbees_error_set(error, GBEES_EUSAGE,
                               "accuracy: paper and legacy mode keep the grid that is given: leave 'accuracy' out");
    if (problem->regrid_auto || problem->regrid_count > 0)
        return gbees_error_set(
            error, GBEES_EUSAGE,
            "accuracy: it chooses when the grid changes, and 'regrid' does, too: leave one of them out ('regrid: []' "
            "hides that of a file)");
    return GBEES_OK;
}

/* A run whose first leg has the factors legs[0] has; it takes the array. */
static run_result first_run(const gbees_problem *problem, leg_result *legs)
{
    leg_result first = {.time = problem->start};

    memcpy(first.factor, legs->factor, sizeof first.factor);
    *legs = first;
    return (run_result){.kept = 1, .leg_count = 1, .legs = legs, .effective = 1, .unsure_effective = 1};
}

int gbees_refinement_create(const gbees_problem *problem, gbees_refinement **refinement, gbees_error *error)
{
    const int status = check(problem, error);

    if (status)
        return status;
    gbees_refinement *made = calloc(1, sizeof *made);
    leg_result *leg = calloc(1, sizeof *leg);
    if (!made || !leg) {
        free(made);
        free(leg);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to plan runs");
    }
    *made = (gbees_refinement){.problem = problem,
                               .run = 1,
                               .best = INFINITY,
                               .selected = 1,
                               .least = 1,
                               .kept = 1,
                               .spared = 1,
                               .courant = problem->numerics.courant * (gbees_plan_is_fine(problem) ? 0.5 : 1)};
    made->samples = gbees_plan_samples_for(problem->accuracy, 1);
    made->budget = gbees_plan_budget(problem);
    for (int j = 0; j < problem->dimension; j++)
        leg->factor[j] = gbees_plan_first_factor(problem, j);
    made->now = first_run(problem, leg);
    *refinement = made;
    return GBEES_OK;
}

void gbees_plan_free_run(const run_result *run)
{
    for (size_t k = 0; run->records && k < run->record_count; k++)
        gbees_histogram_destroy(run->records[k].histogram);
    free(run->legs);
    free(run->records);
}

void gbees_refinement_destroy(gbees_refinement *refinement)
{
    if (!refinement)
        return;
    gbees_plan_free_run(&refinement->now);
    gbees_plan_free_run(&refinement->before);
    gbees_histogram_destroy(refinement->pending);
    free(refinement);
}

/* ---- the next run ---- */

/* The largest ratio of error to what is allowed, over the legs. */
static double worst_ratio(const gbees_refinement *r)
{
    double worst = 0;

    for (int l = 0; l < r->now.leg_count; l++)
        worst = fmax(worst, r->now.legs[l].worst);
    return worst;
}

/* Whether finer cells have been in vain in any leg. */
static int is_any_in_vain(const gbees_refinement *r)
{
    int in_vain = 0;

    for (int l = 0; l < r->now.leg_count; l++)
        in_vain = in_vain || gbees_plan_was_in_vain(r, l);
    return in_vain;
}

/* Whether finer cells would help little: the error is small already, or finer cells have been in vain. */
static int is_near(const gbees_refinement *r)
{
    return is_any_in_vain(r) || worst_ratio(r) < small_excess;
}

/* Whether lost mass may explain a part of an error. Then the next run loses less, which costs little, if finer cells
 * would hardly make the error smaller, or all of it may be explained. If the mass was not the cause, that run's loss
 * is too small to explain its error, and this is 0. fraction: of the density that a measurement has selected, of
 * which the loss is so much more; 1: none. */
static int is_truncated(const gbees_refinement *r, const gbees_totals *totals, double fraction, double part)
{
    const double lost = gbees_totals_lost(r->problem, totals) / fraction;

    return fmax(most_per_loss, r->now.reach) * lost > part * worst_ratio(r) * r->problem->accuracy;
}

/* Takes what a measurement has selected as a tail if finer cells have made the error no smaller, and lost mass may
 * explain the error after that measurement, though not before it. */
static void note_loss(gbees_refinement *r, const gbees_totals *totals)
{
    if (r->before.leg_count > 0 && r->now.error >= r->before.error && is_any_in_vain(r) &&
        !is_truncated(r, totals, 1, some) && is_truncated(r, totals, r->least, some))
        r->selected = fmin(r->selected, r->least);
}

static int is_met(const gbees_refinement *r)
{
    return !r->now.unknown && r->now.error <= r->problem->accuracy;
}

/* Whether estimates are within the accuracy, and no allowed number of samples could certify the error. */
static int is_estimated(const gbees_refinement *r)
{
    const double accuracy = r->problem->accuracy;

    return r->now.unknown && r->now.error <= accuracy && r->now.estimate <= accuracy &&
           (r->fixed || gbees_plan_is_hopeless(r->now.effective));
}

/* By what runs are compared: the largest error of a record, by the run before where nothing certifies it. */
static double error_of(const run_result *run)
{
    return !run->unknown ? run->error : isnan(run->estimate) ? INFINITY : fmax(run->error, run->estimate);
}

/* Makes the plan the next run's. */
static int begin_next(gbees_refinement *r, double (*factor)[N], gbees_error *error)
{
    leg_result *legs = calloc((size_t)r->now.leg_count, sizeof *legs);

    if (!legs)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to plan runs");
    for (int l = 0; l < r->now.leg_count; l++) {
        legs[l].time = r->now.legs[l].time;
        memcpy(legs[l].factor, factor[l], sizeof legs[l].factor);
    }
    gbees_plan_free_run(&r->before);
    r->before = r->now;
    r->now = (run_result){
        .kept = r->kept, .leg_count = r->before.leg_count, .legs = legs, .effective = 1, .unsure_effective = 1};
    r->run++;
    r->selected = r->least = 1;
    return GBEES_OK;
}

int gbees_refinement_retry(gbees_refinement *r, int status)
{
    leg_result *legs = r->now.legs;

    if (status != GBEES_EUNSUPPORTED || r->run > 1 || r->retried == RETRIES_MOST)
        return 0;
    for (int j = 0; j < r->problem->dimension; j++)
        legs->factor[j] *= retry_jump;
    r->now.legs = NULL;
    gbees_plan_free_run(&r->now);
    gbees_histogram_destroy(r->pending);
    r->pending = NULL;
    r->now = first_run(r->problem, legs);
    r->budget *= retry_budget;
    r->updated = 0;
    r->selected = r->least = 1;
    r->retried++;
    return 1;
}

/* Estimates the error of the log evidence where samples can't tell: from the difference to the run before, for an
 * error in proportion to the root of the cells' width. Without noise orders of .6 to .8 were measured
 * (doc/measuring.md). The cells of the run before must be at least gbees_plan_least_finer times as wide in each leg
 * where they differ. */
static double estimate_evidence(const gbees_refinement *r, const gbees_summary *summary)
{
    double finer = INFINITY;

    if (summary->updates == 0 || !isnan(summary->evidence.total_error))
        return NAN;
    for (int leg = 0; leg < r->now.leg_count && leg < r->before.leg_count; leg++) {
        const double here = gbees_plan_finer(r, leg);

        if (here > gbees_plan_least_finer)
            finer = fmin(finer, here);
    }
    return isinf(finer) ? NAN : fabs(summary->evidence.total - r->before.evidence) / fmin(1, sqrt(finer) - 1);
}

/* Whether the next run is to have half the time step on the same cells: finer cells have been in vain, or the last
 * half has not been. One that was in vain is taken back, and there is no further one. */
static int halves_step(gbees_refinement *r)
{
    const int helped = r->halved == 1 && r->now.error < most_left * r->before.error;

    if (r->halved == 1 && !helped) {
        r->courant *= 2;
        r->halved = -1;
    }
    if (r->now.unknown || r->problem->numerics.time_step > 0 || r->halved < 0 || (!helped && !is_any_in_vain(r)))
        return 0;
    r->courant /= 2;
    r->halved = 1;
    return 1;
}

/* Whether samples lack a tail that this run's grid has kept, and the run's before: then they differ from both alike,
 * whatever the cells are, but where these do not resolve a deviation at all. */
static int lacks_samples(const gbees_refinement *r)
{
    for (int l = 0; l < r->now.leg_count; l++)
        if (gbees_plan_is_unresolved(r, l))
            return 0;
    return r->now.kept < 1 && r->now.kept == r->before.kept && r->kept == r->now.kept && !r->now.unknown &&
           !is_met(r) && r->now.error > most_left * r->before.error;
}

/* What the run has shown, as the step to the next one tells it, and whether it is the best one. */
static void judge(gbees_refinement *r, const gbees_summary *summary, size_t samples, gbees_refinement_step *step)
{
    gbees_plan_judge_unsure(&r->now);
    const int lacks = gbees_plan_lacks_tail(r), met = r->now.unknown ? -1 : is_met(r) && !lacks;
    r->now.work = summary->totals.cell_updates;
    *step = (gbees_refinement_step){.run = r->run,
                                    .unsure = r->now.unsure,
                                    .met = met,
                                    .error = r->now.unknown ? NAN : r->now.error,
                                    .time = r->now.time,
                                    .updates = r->now.work,
                                    .seconds = summary->wall_s,
                                    .samples = r->now.by_points ? 0 : samples};
    memcpy(step->unsure_time, r->now.unsure_time, sizeof step->unsure_time);
    step->best = step->met == 1 || r->run == 1 || error_of(&r->now) < r->best;
    if (!lacks) /* samples may have lost it, too: a run that keeps it is better, whatever they say */
        r->best = fmin(r->best, error_of(&r->now));
}

/* Chooses the cells of the next run, and what it is to change in their place if they are not to blame: sets
 * factor[leg], and the step's cell updates. `factor` has room for twice the legs. Returns by how much the number of
 * cells grows. */
static double choose_cells(gbees_refinement *r, const gbees_totals *totals, size_t samples,
                           gbees_refinement_step *step, double (*factor)[N])
{
    const int legs = r->now.leg_count, tail = step->met != 1 && gbees_plan_lacks_tail(r);
    const int blind = gbees_plan_is_blind(r);
    const int truncated = !tail && step->met == 0 && !blind && is_truncated(r, totals, 1, is_near(r) ? some : 1);
    double cells;

    r->insists = !tail && !truncated && (blind || (step->met == 0 && gbees_plan_samples_suffice(r, samples)));
    const int halves = !tail && !truncated && !r->insists && step->met == 0 && halves_step(r);
    if (!tail && !truncated && !r->insists && !halves) {
        step->next_updates = gbees_plan_factors(r, step->updates, factor + legs, factor, &cells);
        return cells;
    }
    const double finer = r->insists ? gbees_plan_spare(r, step->updates) : 1; /* what samples leave room for */
    r->spared *= finer;
    r->budget /= truncated ? 4 : 1;
    for (int l = 0; l < legs; l++)
        for (int j = 0; j < r->problem->dimension; j++)
            factor[l][j] = finer * r->now.legs[l].factor[j];
    cells = tail        ? gbees_plan_keep_tail(r)
            : truncated ? 1.3 /* a smaller loss takes somewhat more of them */
                        : pow(finer, r->problem->dimension);
    step->next_updates = cells * step->updates * finer * (halves ? 2 : 1);
    return cells;
}

int gbees_refinement_finish(gbees_refinement *r, const gbees_summary *summary, gbees_refinement_step *step,
                            gbees_error *error)
{
    const size_t wanted = r->samples, samples = r->now.samples > 0 ? r->now.samples : wanted;
    double(*factor)[N] = calloc(2 * (size_t)r->now.leg_count, sizeof *factor);

    if (!factor)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to plan runs");
    judge(r, summary, samples, step);
    gbees_plan_choose_samples(r);
    if (step->met == 0)
        note_loss(r, &summary->totals);
    const int blind = gbees_plan_is_blind(r);
    const double cells = choose_cells(r, &summary->totals, samples, step, factor);
    gbees_plan_set_threshold(r, cells * (double)summary->totals.max_cells);
    step->next_bytes = (double)summary->totals.peak_bytes * cells;
    /* The samples' part of the time is not repeated, unless there are more of them. */
    step->next_seconds = step->updates > 0 ? summary->propagate_s * step->next_updates / step->updates : 0;
    step->estimate = r->now.unknown ? r->now.estimate : NAN;
    step->evidence_estimate = estimate_evidence(r, summary);
    r->now.evidence = summary->evidence.total;
    step->samples_needed = r->samples;
    step->samples_few =
        step->met != 1 && (gbees_plan_samples_are_few(r) || (blind && !gbees_plan_samples_can_grow(r, samples)));
    step->next =
        step->met != 1 && !step->samples_few && !lacks_samples(r) && !is_estimated(r) && r->run < RUNS_MOST &&
        (step->next_updates > 1.02 * step->updates || r->samples > wanted || (r->insists && r->samples > samples));
    int status = step->next ? begin_next(r, factor, error) : GBEES_OK;
    free(factor);
    return status;
}
