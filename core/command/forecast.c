/* forecast.c - makes trials of a run. A trial is the run with cells that are wider along all axes. Trial by trial
 * they become narrower by 2^(1/2), as long as the next trial is expected to be short. p* is in proportion to a
 * cell's volume, so that it cuts off the same part of the density. Short is what this thread works for a short time:
 * a busy machine makes as many trials as an idle one. */
#include "forecast.h"
#include "base/seconds.h"
#include "base/text.h"
#include "extrapolate.h"
#include "io/scenario.h"
#include "progress.h"
#include "signals.h"
#include <math.h>
#include <stdlib.h>

enum { TRIALS = 24 };

static const double step = 1.4142135623730951; /* from one trial's cells to those of the next */
static const double first_deviations = 3;      /* of the initial density, that the widest cells measure */
static const double longest_s = 0.7;           /* that a trial is expected to take */
static const double all_s = 1.9;               /* that all take: the one that goes on then is given up */

/* ---- one trial ------------------------------------------------------------------------------------------------- */

typedef struct watch {
    double stop_s;         /* of gbees_seconds_worked() */
    gbees_history history; /* of the part of the trial's model time that is done */
    double worked_s;       /* that the trial took, with its initial density and records */
    int stopped;
} watch;

static int on_progress(void *context, double time, double fraction, const gbees_totals *totals, gbees_error *error)
{
    (void)time, (void)totals, (void)error;
    gbees_history_add(&((watch *)context)->history, fraction, gbees_seconds_worked());
    return GBEES_OK;
}

static int is_cancelled(void *context)
{
    watch *w = context;

    w->stopped |= gbees_seconds_worked() > w->stop_s;
    return w->stopped || gbees_signals_caught();
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
    int status = gbees_scenario_set(scenario, "accuracy=0", error);

    if (problem->moving) {
        gbees_text_add(&change, "factor=%.17g", problem->frame_least / (2 * width));
        if (!status)
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

static int run(const gbees_setup *setup, const gbees_options *options, const gbees_problem *problem, watch *w,
               gbees_summary *summary, gbees_error *error)
{
    const gbees_engine_options engine = {.threads = options->threads, .deterministic = options->deterministic};
    const gbees_observer observer = {.context = w, .progress = on_progress, .cancelled = is_cancelled, .no_cells = 1};
    gbees_solver *solver = NULL;
    int status = gbees_solver_create(problem, setup->backend, &engine, &solver, error);

    if (!status) {
        status = gbees_solver_run(solver, &observer, error);
        gbees_solver_summary(solver, summary);
    }
    gbees_solver_destroy(solver);
    return status;
}

/* Returns a status; *w tells whether the trial was cut short, and where. */
static int try_width(const gbees_setup *setup, const gbees_options *options, double width, gbees_trial *trial,
                     watch *w)
{
    gbees_scenario *scenario = NULL;
    gbees_problem *problem = NULL;
    gbees_summary summary = {0};
    gbees_error error = {0};
    const char *text = gbees_scenario_text(setup->scenario);
    int status = text ? gbees_scenario_create(text, "the scenario", &scenario, &error) : GBEES_ENOMEM;

    const double began_s = gbees_seconds_worked();

    w->history = (gbees_history){.count = 0};
    if (!status)
        status = widen(scenario, setup->problem, width, &error);
    if (!status)
        status = gbees_problem_create(setup->model, scenario, &problem, &error);
    if (!status)
        status = run(setup, options, problem, w, &summary, &error);
    gbees_problem_destroy(problem);
    gbees_scenario_destroy(scenario);
    w->worked_s = gbees_seconds_worked() - began_s;
    *trial = (gbees_trial){.width = width,
                           .cells = (double)summary.totals.max_cells,
                           .bytes = (double)summary.totals.peak_bytes,
                           .updates = summary.totals.cell_updates,
                           .seconds = summary.propagate_s};
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

/* What the next trial takes; the last took worked_s. */
static double expected_s(const gbees_trial *trial, int count, int dimension, double worked_s)
{
    const double most = worked_s * pow(step, dimension + 1);

    return count < 2 ? most : fmin(most, worked_s * trial[count - 1].updates / trial[count - 2].updates);
}

gbees_forecast gbees_forecast_make(const gbees_setup *setup, const gbees_options *options)
{
    const gbees_problem *problem = setup->problem;
    gbees_trial trial[TRIALS];
    watch w = {.stop_s = gbees_seconds_worked() + all_s};
    int count = 0, failed = 0;
    double least_s = 0, width = 0; /* what the run takes at least by the trials that did not reach its end */

    if (problem->cells)
        return (gbees_forecast){NAN, NAN, NAN, 0};
    for (int k = first_power(problem); k > 0 && !w.stopped && !(failed && count); k--) {
        const double expected = count ? expected_s(trial, count, problem->dimension, w.worked_s) : 0;

        if (expected > longest_s || gbees_seconds_worked() + expected > w.stop_s)
            break;
        failed = try_width(setup, options, width_of(k), &trial[count], &w);
        /* With cells that are narrower by a factor a run takes that many times more steps at least. */
        if (failed && width_of(k) * gbees_history_whole(&w.history) > least_s) {
            width = width_of(k);
            least_s = width * gbees_history_whole(&w.history);
        }
        count += !failed;
    }
    if (count == 0 && least_s > 0)
        return (gbees_forecast){NAN, least_s, width, 1};
    if (count == 1)
        return (gbees_forecast){NAN, trial[0].width * trial[0].seconds, trial[0].width, 1};
    gbees_forecast forecast = {NAN, NAN, NAN, 0};

    if (count > 0) {
        gbees_extrapolate_trials(trial, count, &forecast.bytes, &forecast.seconds);
        forecast.width = trial[count - 1].width;
    }
    return forecast;
}
