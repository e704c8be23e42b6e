/* refinement.c - which grid the next run is to have, so that its error is what was asked for (doc/method.md, "An
 * accuracy"). See gbees.h. */
#include "roughness.h"
#include <gbees/gbees.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    N = GBEES_MAX_DIM,
    SAMPLES_LEAST = 10000,
    SAMPLES_MOST = 1 << 22,
    RUNS_MOST = 9,
    LEVEL_MOST = 8,
    BASES = 8,                /* factors of the first leg that are tried between a power of two and the next */
    ROUGHNESS_CELLS = 1 << 22 /* of a record whose roughness is computed, at most */
};
/* What a factor of finer cells is taken from: a run finer by `factor` has an error smaller by factor^order. The first
 * order is a guess, later ones are observed. */
static const double first_order = 1, order_least = 0.6, order_most = 2;
/* Finer by so much at a time; the aim is a little below what is needed, as a run more costs more than cells. */
static const double jump_most = 4, jump_least = 1.25, aim = 0.75;
/* The next run costs at most so many times this one, or this one if it cost so little. */
static const double cost_jump = 12, cheap_updates = 3e6;
static const double small_excess = 1.25; /* an error that is at most so many times what is allowed is small */
static const double budget_share = 0.1, budget_most = 0.01; /* of the accuracy: mass that may be lost over the run */
static const double cut_share = 0.05;   /* of the accuracy: what the initial box may cut off */
/* Cells are made finer along other axes, too, when their roughness comes within this factor of the largest. */

/* A leg of one run. */
typedef struct leg_result {
    double time;         /* it begins */
    double factor[N];    /* cells per half a standard deviation of the initial density */
    double start, worst; /* largest ratio of error to what is allowed: at its record 0; at the others */
    double rough[N];     /* sum over its records */
    double updates;      /* at its end, since the run's start */
} leg_result;

typedef struct run_result {
    int leg_count;
    leg_result *legs;
    double error, time;  /* the largest bound, and where */
    int unknown;         /* a record has no certificate */
    double effective;    /* the least share of samples that is effective */
    double sample_bound; /* the largest part of a bound that is the samples' */
} run_result;

struct gbees_refinement {
    const gbees_problem *problem; /* as asked for: with accuracy */
    int run;                      /* from 1: the one that goes on, or the next */
    run_result now, before;       /* `before`: of the run before; no legs in the first */
    double best;                  /* the least error of a run so far; infinite: none */
    size_t samples;
    double budget; /* mass that may be lost over the next run */
};

/* ---- create ---- */

/* Cells per half a standard deviation along an axis of the problem's own grid. */
static double factor_of(const gbees_problem *problem, int axis)
{
    return sqrt(problem->covariance[axis * problem->dimension + axis]) / (2 * problem->width[axis]);
}

static size_t samples_for(double accuracy, double share)
{
    /* Twice the standard error of a mean, 2 / sqrt(effective), is a quarter of the accuracy. */
    const double wanted = 1.1 * 64 / (accuracy * accuracy) / share;

    return wanted < SAMPLES_LEAST ? SAMPLES_LEAST : wanted > SAMPLES_MOST ? SAMPLES_MOST : (size_t)wanted;
}

int gbees_refinement_create(const gbees_problem *problem, gbees_refinement **refinement, gbees_error *error)
{
    if (!(problem->accuracy > 0))
        return gbees_error_set(error, GBEES_EUSAGE, "the scenario asks for no accuracy");
    if (problem->cells)
        return gbees_error_set(
            error, GBEES_EUSAGE,
            "accuracy: the initial density is a record, whose grid is given: leave 'accuracy' out, "
            "or give 'regrid'");
    if (problem->numerics.mode != GBEES_MODE_DEFAULT)
        return gbees_error_set(error, GBEES_EUSAGE,
                               "accuracy: paper and legacy mode keep the grid that is given: leave 'accuracy' out");
    gbees_refinement *made = calloc(1, sizeof *made);
    leg_result *leg = calloc(1, sizeof *leg);
    if (!made || !leg) {
        free(made);
        free(leg);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to plan runs");
    }
    *made = (gbees_refinement){.problem = problem, .run = 1, .best = INFINITY};
    made->samples = samples_for(problem->accuracy, 1);
    made->budget = fmin(budget_most, budget_share * problem->accuracy);
    for (int j = 0; j < problem->dimension; j++)
        leg->factor[j] = factor_of(problem, j);
    leg->time = problem->start;
    made->now = (run_result){.leg_count = 1, .legs = leg, .effective = 1};
    *refinement = made;
    return GBEES_OK;
}

void gbees_refinement_destroy(gbees_refinement *refinement)
{
    if (!refinement)
        return;
    free(refinement->now.legs);
    free(refinement->before.legs);
    free(refinement);
}

size_t gbees_refinement_samples(const gbees_refinement *refinement)
{
    return refinement->samples;
}

/* ---- the scenario of a run ---- */

/* The initial box's half-size, in standard deviations, that cuts off no more than a part of the accuracy. */
static double extent_for(const gbees_problem *problem)
{
    double extent = 3;

    while (problem->dimension * erfc(extent / sqrt(2)) > cut_share * problem->accuracy)
        extent += 0.05;
    return extent;
}

static void add_list(char *text, size_t size, const double *numbers, int n)
{
    for (int j = 0; j < n; j++) {
        const size_t used = strlen(text);

        (void)snprintf(text + used, size - used, "%s%.15g", j ? ", " : "[", numbers[j]);
    }
    const size_t used = strlen(text);
    (void)snprintf(text + used, size - used, "]");
}

/* Powers of two between the cells of a leg and those of the first. */
static int level_of(const run_result *run, int leg, int axis)
{
    return (int)lround(log2(run->legs[leg].factor[axis] / run->legs[0].factor[axis]));
}

static int levels_differ(const run_result *run, int a, int b, int n)
{
    for (int j = 0; j < n; j++)
        if (level_of(run, a, j) != level_of(run, b, j))
            return 1;
    return 0;
}

static int set_regrids(const gbees_refinement *r, gbees_scenario *scenario, gbees_error *error)
{
    const int n = r->problem->dimension;
    const size_t size = 64 + (size_t)r->now.leg_count * (64 + (size_t)n * 24);
    char *text = calloc(size, 1);
    int written = 0;

    if (!text)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to plan runs");
    (void)snprintf(text, size, "regrid=[");
    for (int l = 1; l < r->now.leg_count; l++) {
        double factor[N];
        size_t used = strlen(text);

        if (!levels_differ(&r->now, l, l - 1, n))
            continue;
        for (int j = 0; j < n; j++)
            factor[j] = ldexp(1, level_of(&r->now, l, j));
        (void)snprintf(text + used, size - used, "%s{time: %.17g, factor: ", written++ ? ", " : "",
                       r->now.legs[l].time);
        add_list(text, size, factor, n);
        used = strlen(text);
        (void)snprintf(text + used, size - used, "}");
    }
    (void)snprintf(text + strlen(text), size - strlen(text), "]");
    int status = gbees_scenario_set(scenario, text, error);
    free(text);
    return status;
}

int gbees_refinement_scenario(const gbees_refinement *r, gbees_scenario *scenario, gbees_error *error)
{
    char text[64 + N * 24];

    (void)snprintf(text, sizeof text, "factor=");
    add_list(text, sizeof text, r->now.legs[0].factor, r->problem->dimension);
    int status = gbees_scenario_set(scenario, text, error);
    (void)snprintf(text, sizeof text, "extent=%.15g", extent_for(r->problem));
    if (!status)
        status = gbees_scenario_set(scenario, text, error);
    (void)snprintf(text, sizeof text, "mass_budget_total=%.15g", r->budget);
    if (!status)
        status = gbees_scenario_set(scenario, text, error);
    return status ? status : set_regrids(r, scenario, error);
}

/* ---- a run's records ---- */

/* Adds the leg that a record begins. A leg of the plan keeps its factors; others have those of the leg before. */
static int open_leg(gbees_refinement *r, int leg, gbees_error *error)
{
    run_result *now = &r->now;

    while (now->leg_count <= leg) {
        leg_result *legs = realloc(now->legs, ((size_t)now->leg_count + 1) * sizeof *legs);

        if (!legs)
            return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to plan runs");
        now->legs = legs;
        legs[now->leg_count] = legs[now->leg_count - 1];
        legs[now->leg_count].start = legs[now->leg_count].worst = 0;
        memset(legs[now->leg_count].rough, 0, sizeof legs->rough);
        now->leg_count++;
    }
    return GBEES_OK;
}

/* The ratio of a record's error to what is allowed: the accuracy, less what the samples themselves can't tell. */
static double ratio_of(double accuracy, gbees_difference error)
{
    const double allowed = accuracy - (error.bound - error.value);

    return error.bound <= accuracy ? error.bound / accuracy : fmax(error.value, 0) / fmax(allowed, accuracy / 2);
}

int gbees_refinement_record(gbees_refinement *r, const gbees_record *record, gbees_error *error)
{
    const gbees_certificate *certificate = record->certificate;
    const int n = r->problem->dimension;
    run_result *now = &r->now;
    int status = open_leg(r, record->leg, error);

    if (status)
        return status;
    leg_result *leg = &now->legs[record->leg];
    const gbees_difference difference =
        certificate ? gbees_certificate_error(certificate, n, r->problem->accuracy_of) : (gbees_difference){NAN, NAN};
    if (record->number == 0)
        leg->time = record->time;
    leg->updates = record->totals.cell_updates;
    if (isnan(difference.bound)) {
        now->unknown = 1;
        if (certificate && certificate->effective > 0)
            now->effective = fmin(now->effective, certificate->effective / (double)certificate->samples);
        return GBEES_OK;
    }
    const double ratio = ratio_of(r->problem->accuracy, difference);
    if (record->number == 0)
        leg->start = ratio;
    else
        leg->worst = fmax(leg->worst, ratio);
    if (!(difference.bound <= now->error)) {
        now->error = difference.bound;
        now->time = record->time;
    }
    now->effective = fmin(now->effective, certificate->effective / (double)certificate->samples);
    now->sample_bound = fmax(now->sample_bound, difference.bound - difference.value);
    if (record->cells && gbees_cells_count(record->cells) > 0 &&
        gbees_cells_count(record->cells) <= ROUGHNESS_CELLS) {
        double rough[N];

        status = gbees_roughness(record->cells, n, rough, error);
        for (int j = 0; j < n && !status; j++)
            leg->rough[j] += rough[j];
    }
    return status;
}

/* ---- the next run ---- */

/* How many times finer a leg is than in the run before: the geometric mean over the axes that are. */
static double finer_than_before(const gbees_refinement *r, int leg)
{
    double product = 0;
    int axes = 0;

    for (int j = 0; j < r->problem->dimension; j++) {
        const double times = r->now.legs[leg].factor[j] / r->before.legs[leg].factor[j];

        if (times > 1.05) {
            product += log(times);
            axes++;
        }
    }
    return axes ? exp(product / axes) : 1;
}

/* The order that the run before and this one show in a leg. */
static double observed_order(const gbees_refinement *r, int leg)
{
    if (leg >= r->before.leg_count)
        return first_order;
    const double now = r->now.legs[leg].worst, before = r->before.legs[leg].worst, finer = finer_than_before(r, leg);
    if (!(finer > 1.05) || !(now > 0) || !(before > 0))
        return first_order;
    return fmin(fmax(log(before / now) / log(finer), order_least), order_most);
}

/* How many times finer a leg is to be: 1 where it is fine enough. */
static double jump_for(const gbees_refinement *r, int leg, double ratio)
{
    if (!(ratio > 1))
        return 1;
    return fmin(fmax(pow(ratio / aim, 1 / observed_order(r, leg)), jump_least), jump_most);
}

/* Whether finer cells in a leg have not helped it: its error comes from elsewhere. */
static int was_in_vain(const gbees_refinement *r, int leg)
{
    return leg < r->before.leg_count && finer_than_before(r, leg) > 1.3 && r->now.legs[leg].worst > 1 &&
           r->now.legs[leg].worst > 0.75 * r->before.legs[leg].worst;
}

/* Makes a leg finer by `jump`: along the axis with the largest roughness first, along others as soon as theirs is as
 * large, roughness going with the width; or along all axes. */
static void refine_leg(const gbees_refinement *r, int leg, double jump, int all, double *factor)
{
    const leg_result *now = &r->now.legs[leg];
    const int n = r->problem->dimension;
    double most = 0;

    for (int j = 0; j < n; j++)
        most = fmax(most, now->rough[j]);
    for (int j = 0; j < n; j++) {
        const double along = most > 0 && !all ? fmax(1, jump * sqrt(now->rough[j] / most)) : jump;

        factor[j] = now->factor[j] * along;
    }
}

/* The cost of a run with other factors, in cell updates: cells go with the product of the factors, steps with the
 * largest. *more: how many times as many cells a leg has at most. */
static double predict(const gbees_refinement *r, const double (*factor)[N], double *more)
{
    double sum = 0, before = 0;

    *more = 1;

    for (int l = 0; l < r->now.leg_count; l++) {
        const leg_result *leg = &r->now.legs[l];
        double cells = 1, steps = 0;

        for (int j = 0; j < r->problem->dimension; j++) {
            cells *= factor[l][j] / leg->factor[j];
            steps = fmax(steps, factor[l][j] / leg->factor[j]);
        }
        *more = fmax(*more, cells);
        sum += (leg->updates - before) * cells * steps;
        before = leg->updates;
    }
    return sum;
}

/* Later legs differ from the first by powers of two along each axis, and are not coarser than needed. */
static void round_axis(const gbees_refinement *r, int axis, double base, const double (*needed)[N],
                       double (*factor)[N])
{
    factor[0][axis] = base;
    for (int l = 1; l < r->now.leg_count; l++) {
        const double level = ceil(log2(needed[l][axis] / base) - 0.1);

        factor[l][axis] = ldexp(base, (int)fmin(fmax(level, -LEVEL_MOST), LEVEL_MOST));
    }
}

/* Rounds the needed factors: the first leg is made finer, axis by axis, by less than two, where this lets the others
 * be coarser and costs less in all. Returns the predicted updates. */
static double round_factors(const gbees_refinement *r, const double (*needed)[N], double (*factor)[N], double *more)
{
    double least = 0;

    for (int j = 0; j < r->problem->dimension; j++)
        round_axis(r, j, needed[0][j], needed, factor);
    for (int j = 0; j < r->problem->dimension; j++) {
        double best = needed[0][j];

        least = INFINITY;
        for (int k = 0; k < BASES; k++) {
            const double base = needed[0][j] * exp2((double)k / BASES);

            round_axis(r, j, base, needed, factor);
            const double cost = predict(r, (const double(*)[N])factor, more);
            if (cost < least) {
                least = cost;
                best = base;
            }
        }
        round_axis(r, j, best, needed, factor);
    }
    return predict(r, (const double(*)[N])factor, more);
}

/* Sets the factors of all legs that the errors of this run ask for, each jump to the power of `scale`.
 *
 * An error of a leg may come from the legs before it: surely what it begins with; and a density that was smeared
 * before may show it only when the flow contracts it later. So the leg before gets the root of a leg's jump, or all
 * of it where finer cells in the leg itself have been in vain. */
static void set_needed(const gbees_refinement *r, double scale, double (*needed)[N])
{
    double from_next = 1; /* the jump that the leg after this one asks for */
    int all = 0;          /* along all axes */

    for (int l = r->now.leg_count - 1; l >= 0; l--) {
        const leg_result *leg = &r->now.legs[l];
        const int in_vain = was_in_vain(r, l);
        const double own = jump_for(r, l, leg->worst), jump = fmax(own, from_next);

        refine_leg(r, l, pow(jump, scale), all || in_vain, needed[l]);
        from_next = l > 0 ? fmax(in_vain ? own : sqrt(own), jump_for(r, l - 1, leg->start / aim)) : 1;
        all = in_vain;
    }
}

/* Sets the factors of all legs for the next run, whose cost grows by no more than a few times, so that all runs
 * together cost little more than the last. Returns its predicted updates. */
static double plan(const gbees_refinement *r, double updates, double (*needed)[N], double (*factor)[N], double *more)
{
    const double most = updates < cheap_updates ? cost_jump * cheap_updates : cost_jump * updates;
    double cost = 0;

    for (double scale = 1; scale > 0.1; scale *= 0.85) {
        set_needed(r, scale, needed);
        cost = round_factors(r, (const double(*)[N])needed, factor, more);
        if (cost <= most)
            break;
    }
    return cost;
}

/* Whether finer cells would help little: the error is small already, or finer cells have been in vain. */
static int is_near(const gbees_refinement *r)
{
    double worst = 0;
    int in_vain = 0;

    for (int l = 0; l < r->now.leg_count; l++) {
        worst = fmax(worst, r->now.legs[l].worst);
        in_vain = in_vain || was_in_vain(r, l);
    }
    return in_vain || worst < small_excess;
}

/* Whether lost mass may explain an error: a standard deviation is off by two or three times what is lost in the tails
 * (doc/accuracy.md). */
static int is_truncated(const gbees_refinement *r, const gbees_totals *totals)
{
    const double lost = totals->mass_outflow + totals->mass_pruned;
    double worst = 0;

    for (int l = 0; l < r->now.leg_count; l++)
        worst = fmax(worst, r->now.legs[l].worst);
    return 3 * lost > 0.25 * worst * r->problem->accuracy;
}

static int is_met(const gbees_refinement *r)
{
    return !r->now.unknown && r->now.error <= r->problem->accuracy;
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
    free(r->before.legs);
    r->before = r->now;
    r->now = (run_result){.leg_count = r->before.leg_count, .legs = legs, .effective = 1};
    r->run++;
    return GBEES_OK;
}

/* Takes more samples for the next run: as many as an update leaves effective, as the accuracy needs; and more where
 * their own error is a large part of what is left. */
static void choose_samples(gbees_refinement *r)
{
    const double accuracy = r->problem->accuracy;
    const size_t first = samples_for(accuracy, fmax(r->now.effective, 1e-3));

    if ((r->now.unknown || r->now.sample_bound > 0.3 * accuracy) && first > r->samples)
        r->samples = first;
    else if (!r->now.unknown && r->now.error > accuracy && is_near(r) && r->now.sample_bound > accuracy / 6)
        r->samples = 4 * r->samples < SAMPLES_MOST ? 4 * r->samples : SAMPLES_MOST;
}

int gbees_refinement_finish(gbees_refinement *r, const gbees_summary *summary, gbees_refinement_step *step,
                            gbees_error *error)
{
    const int legs = r->now.leg_count;
    const double updates = summary->totals.cell_updates;
    double cells, (*factor)[N] = calloc(2 * (size_t)legs, sizeof *factor);

    if (!factor)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to plan runs");
    *step = (gbees_refinement_step){.run = r->run,
                                    .met = r->now.unknown ? -1 : is_met(r),
                                    .error = r->now.unknown ? NAN : r->now.error,
                                    .time = r->now.time,
                                    .updates = updates,
                                    .seconds = summary->wall_s,
                                    .samples = r->samples};
    step->best = step->met == 1 || r->run == 1 || (!r->now.unknown && r->now.error < r->best);
    if (!r->now.unknown)
        r->best = fmin(r->best, r->now.error);
    choose_samples(r);
    const int near = step->met == 0 && is_near(r), truncated = near && is_truncated(r, &summary->totals);
    if (truncated || (near && r->samples > step->samples)) { /* the same cells */
        r->budget /= truncated ? 4 : 1;
        for (int l = 0; l < legs; l++)
            memcpy(factor[l], r->now.legs[l].factor, sizeof factor[l]);
        cells = truncated ? 1.3 : 1; /* a smaller loss takes somewhat more of them */
        step->next_updates = cells * updates;
    } else
        step->next_updates = plan(r, updates, factor + legs, factor, &cells);
    step->next_bytes = (double)summary->totals.peak_bytes * cells;
    /* The samples' part of the time is not repeated, unless there are more of them. */
    step->next_seconds = updates > 0 ? summary->propagate_s * step->next_updates / updates : 0;
    step->next =
        step->met != 1 && r->run < RUNS_MOST && (step->next_updates > 1.02 * updates || r->samples > step->samples);
    int status = step->next ? begin_next(r, factor, error) : GBEES_OK;
    free(factor);
    return status;
}
