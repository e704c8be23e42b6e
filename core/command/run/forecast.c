/* forecast.c - makes trials of a run. A trial is the run with cells that are wider along all axes. Trial by trial
 * they become narrower by 2^(1/2), for some two seconds. p* is in proportion to a cell's volume, so that it cuts off
 * the same part of the density. What counts is how long this thread works: a busy machine makes as many trials as an
 * idle one. */
#include "forecast.h"
#include "base/seconds.h"
#include "base/text.h"
#include "extrapolate.h"
#include "scenario/scenario.h"
#include "signals.h"
#include <math.h>

enum { TRIALS = 24 };

static const double step = 1.4142135623730951; /* from one trial's cells to those of the next */
static const double first_deviations = 3;      /* of the initial density, that the widest cells measure */
static const double all_s = 1.9;               /* that all trials take: the one that goes on then is given up */

/* ---- one trial ------------------------------------------------------------------------------------------------- */

typedef struct watch {
    double stop_s; /* of gbees_seconds_worked() */
    double steps;  /* that the whole run takes at the trial's pace; NAN: not known */
} watch;

static int is_cancelled(void *context)
{
    const watch *of = context;

    return gbees_seconds_worked() > of->stop_s || gbees_signals_caught();
}

static int see_pace(void *context, double time, double fraction, const gbees_totals *totals, gbees_error *error)
{
    watch *of = context;

    (void)time, (void)error;
    of->steps = fraction > 0 ? (double)totals->steps / fraction : NAN;
    return GBEES_OK;
}

static int set(gbees_scenario *scenario, gbees_text *change, gbees_error *error)
{
    const int status = change->failed ? gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a forecast")
                                      : gbees_scenario_set(scenario, change->data, error);

    gbees_text_free(change);
    return status;
}

static int widen(gbees_scenario *scenario, const gbees_problem *problem, double width, gbees_error *error)
{
    gbees_text change = {0};
    int status = GBEES_OK;

    if (problem->moving) {
        gbees_text_add(&change, "factor=%.17g", problem->frame_least / (2 * width));
        status = set(scenario, &change, error);
        gbees_text_add(&change, "frame_cells=%.17g", problem->frame_cells / width);
    } else {
        for (int j = 0; j < problem->dimension; j++)
            gbees_text_add(&change, "%s%.17g", j ? "," : "width=[", width * problem->width[j]);
        gbees_text_add(&change, "]");
    }
    if (!status)
        status = set(scenario, &change, error);
    gbees_text_free(&change);
    if (!status && problem->mass_budget <= 0) {
        gbees_text_add(&change, "threshold=%.17g", problem->threshold * pow(width, problem->dimension));
        status = set(scenario, &change, error);
    }
    return status;
}

static int run(const gbees_setup *setup, const gbees_options *options, const gbees_problem *problem, watch *of,
               gbees_trial *trial, gbees_error *error)
{
    const gbees_engine_options engine = {.threads = options->threads, .deterministic = options->deterministic};
    const gbees_observer observer = {.context = of, .cancelled = is_cancelled, .progress = see_pace, .no_cells = 1};
    gbees_solver *solver = NULL;
    gbees_summary summary = {0};
    int status = gbees_solver_create(problem, setup->backend, &engine, &solver, error);

    if (!status) {
        status = gbees_solver_run(solver, &observer, error);
        gbees_solver_summary(solver, &summary);
    }
    gbees_solver_destroy(solver);
    trial->cells = (double)summary.totals.max_cells;
    trial->bytes = (double)summary.totals.peak_bytes;
    return status;
}

/* Returns a status: not 0 if the trial did not come to its end in time. */
static int try_width(const gbees_setup *setup, const gbees_options *options, watch *of, gbees_trial *trial)
{
    gbees_scenario *scenario = NULL;
    gbees_problem *problem = NULL;
    gbees_error error = {0};
    int status = gbees_scenario_copy_once(setup->scenario, &scenario, &error);

    if (!status)
        status = widen(scenario, setup->problem, trial->width, &error);
    if (!status)
        status = gbees_problem_create(setup->model, scenario, &problem, &error);
    if (!status)
        status = run(setup, options, problem, of, trial, &error);
    gbees_problem_destroy(problem);
    gbees_scenario_destroy(scenario);
    return status;
}

/* ---- all of them ----------------------------------------------------------------------------------------------- */

/* Powers of 2^(1/2), exactly where they are whole numbers: half a cell more or less of the initial box matters. */
static double width_of(int k)
{
    return ldexp(k % 2 ? step : 1, k / 2);
}

/* The first trial's power. */
static int first_power(const gbees_problem *problem)
{
    double least = problem->moving ? problem->frame_least : INFINITY; /* cells a deviation */

    for (int j = 0; j < problem->dimension && !problem->moving; j++)
        least = fmin(least, sqrt(problem->covariance[j * problem->dimension + j]) / problem->width[j]);
    return (int)fmin(fmax(ceil(log(first_deviations * least) / log(step)), 2), TRIALS);
}

gbees_forecast gbees_forecast_make(const gbees_setup *setup, const gbees_options *options)
{
    watch of = {gbees_seconds_worked() + all_s, NAN};
    gbees_trial trial[TRIALS];
    int count = 0;

    if (setup->problem->cells)
        return (gbees_forecast){NAN, NAN, NAN};
    for (int k = first_power(setup->problem), failed = 0; k > 0 && !(failed && count); k--) {
        trial[count].width = width_of(k);
        failed = gbees_seconds_worked() > of.stop_s || try_width(setup, options, &of, &trial[count]);
        count += !failed;
    }
    return count < 2 ? (gbees_forecast){NAN, NAN, count ? NAN : of.steps}
                     : (gbees_forecast){gbees_extrapolate_bytes(trial, count), trial[count - 1].width, NAN};
}
