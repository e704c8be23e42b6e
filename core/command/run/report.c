/* report.c - prints the header, and a line for each record and update: as aligned columns or, with --json, the lines
 * of results/run/jsonl.c. The summary is report_end.c. */
#include "report.h"
#include "command/units.h"
#include "record/instants.h"
#include "results/run/json_util.h"
#include "results/run/jsonl.h"
#include <langinfo.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOMENT_LEAST = 16, MOMENT_MOST = 22 }; /* columns of one "mean ± std" */

void gbees_report_start(gbees_report *report, const gbees_options *options, FILE *out)
{
    *report = (gbees_report){.out = out,
                             .json = options->json,
                             .quiet = options->quiet,
                             .unicode = !strcmp(nl_langinfo(CODESET), "UTF-8")};
}

/* ---- JSON ---- */

int gbees_report_put(const gbees_report *report, char *line, gbees_error *error)
{
    if (!line)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a line of JSON");
    (void)fprintf(report->out, "%s\n", line);
    free(line);
    return gbees_print_flush(report->out, error);
}

static int put_start(const gbees_report *report, const gbees_setup *setup, int threads, gbees_error *error)
{
    const gbees_problem *problem = setup->problem;
    json_t *states = json_array();

    for (int j = 0; j < problem->dimension; j++)
        (void)json_array_append_new(states, gbees_json_text(setup->model->states[j].name));
    return gbees_print_json(report->out,
                            json_pack("{s:s, s:s, s:s, s:i, s:o, s:f, s:f, s:s, s:i, s:o}", "event", "start",
                                      "version", gbees_version(), "model", setup->model->name, "dimension",
                                      problem->dimension, "states", states, "start", problem->start, "end",
                                      problem->end, "backend", setup->backend->name, "threads", threads, "output",
                                      gbees_json_text(setup->folder)),
                            error);
}

/* ---- the table ---- */

/* A mean to a thousandth of the standard deviation at most: what is nearer to 0 is 0. */
static double rounded_mean(double mean, double std)
{
    const double unit = std > 0 ? pow(10, floor(log10(std)) - 3) : 0;

    return fabs(mean) < unit / 2 ? 0 : mean;
}

/* "4.882 \u00b1 8.79", with fewer digits if it would be wider. Returns the number of columns. */
static int moment_text(char *text, size_t size, const gbees_report *report, double mean, double variance, int width)
{
    const double std = sqrt(variance > 0 ? variance : 0);
    int columns = INT_MAX;

    for (int digits = 4; digits > 1 && columns > width; digits--)
        /* Either sign has two bytes, but that of Unicode one column. */
        columns = snprintf(text, size, "%.*g %s %.*g", digits, rounded_mean(mean, std),
                           report->unicode ? "\u00b1" : "+-", digits - 1, std) -
                  report->unicode;
    return columns;
}

/* A state's mean and deviation; of one on a circle direction and resultant, "1.274 (R 0.66)". */
static void print_moment(const gbees_report *report, const gbees_record *record, int j)
{
    const gbees_statistics *now = &record->statistics;
    const int n = record->problem->dimension, width = report->width[j];
    char text[64];
    int columns;

    if (record->problem->period[j] > 0 && isfinite(now->direction[j])) {
        const double spread = (1 - now->resultant[j]) * record->problem->period[j];

        columns =
            snprintf(text, sizeof text, "%.4g (R %.3g)", rounded_mean(now->direction[j], spread), now->resultant[j]);
    } else if (isnan(now->mean[j]))
        columns = snprintf(text, sizeof text, "none left"); /* targets have taken all */
    else
        columns = moment_text(text, sizeof text, report, now->mean[j], now->covariance[j * n + j], width);
    (void)fprintf(report->out, "  %s%*s", text, j + 1 == n || columns > width ? 0 : width - columns, "");
}

/* The heads of the table, before its first line. A column is as wide as the first record's moment, or somewhat wider.
 */
static void print_heads(gbees_report *report, const gbees_problem *problem, const gbees_statistics *first)
{
    const int n = problem->dimension;
    char text[64];

    if (report->width[0])
        return;
    (void)fprintf(report->out, "\nleg record          t    steps    %s    mass",
                  gbees_problem_is_exact(problem) ? "points" : " cells");
    for (int j = 0; j < n; j++) {
        const int columns =
            first ? moment_text(text, sizeof text, report, first->mean[j], first->covariance[j * n + j], MOMENT_MOST)
                  : 0;

        report->width[j] = columns > MOMENT_LEAST ? columns : MOMENT_LEAST;
        (void)fprintf(report->out, "  %-*s", j + 1 < n ? report->width[j] : 0, problem->model->states[j].name);
    }
    (void)fprintf(report->out, "\n");
}

static int count_measurements(const gbees_problem *problem)
{
    int count = 0;

    while (count < problem->measurement_count && problem->measurements[count].time <= problem->end)
        count++;
    return count;
}

/* " (others from t = 0.5, 1)" */
static void print_regrids(const gbees_report *report, const gbees_problem *problem)
{
    if (problem->regrid_auto)
        (void)fprintf(report->out, " (narrower where an update needs it)");
    for (int k = 0; k < problem->regrid_count; k++)
        (void)fprintf(report->out, "%s %.6g", k ? "," : " (others from t =", problem->regrids[k].time);
    if (problem->regrid_count > 0)
        (void)fprintf(report->out, ")");
}

/* What the cells are. */
static void print_grid(const gbees_report *report, const gbees_problem *problem)
{
    if (gbees_problem_is_exact(problem)) {
        (void)fprintf(report->out, "points that go with the flow, %.3g to %.3g a standard deviation",
                      problem->frame_least, problem->frame_cells);
        return;
    }
    if (problem->moving) {
        (void)fprintf(report->out, "a grid that moves, %.3g to %.3g cells a standard deviation", problem->frame_least,
                      problem->frame_cells);
        if (problem->model->bound)
            (void)fprintf(report->out, ", without the bound of %s", problem->model->bound->name);
        return;
    }
    (void)fprintf(report->out, "cells of");
    gbees_print_numbers(report->out, problem->width, problem->dimension);
    print_regrids(report, problem);
}

int gbees_report_header(const gbees_report *report, const gbees_setup *setup, const gbees_totals *totals,
                        gbees_error *error)
{
    const gbees_problem *problem = setup->problem;
    const int measurements = count_measurements(problem);

    if (report->json)
        return put_start(report, setup, totals->threads, error);
    if (report->quiet)
        return GBEES_OK;
    (void)fprintf(report->out, "%s: %s\n", setup->model->name, setup->model->title);
    (void)fprintf(report->out, "dimension %d, t = %.6g to %.6g, %d measurement%s; ", problem->dimension,
                  problem->start, problem->end, measurements, measurements == 1 ? "" : "s");
    print_grid(report, problem);
    if (gbees_problem_is_exact(problem))
        (void)fprintf(report->out, ", exp(-%.3g) of the peak; ", problem->tail);
    else if (problem->mass_budget > 0)
        (void)fprintf(report->out, ", mass budget %.6g a unit of time; ", problem->mass_budget);
    else
        (void)fprintf(report->out, ", P >= %.6g; ", problem->threshold);
    (void)fprintf(report->out, "%s mode\n", gbees_print_mode(problem->numerics.mode));
    (void)fprintf(report->out, "backend %s, %d thread%s", setup->backend->name, totals->threads,
                  totals->threads == 1 ? "" : "s");
    if (totals->ranks > 1)
        (void)fprintf(report->out, " on each of %d ranks", totals->ranks);
    (void)fprintf(report->out, "; results in %s\n", setup->folder ? setup->folder : "no folder (--no-output)");
    return gbees_print_flush(report->out, error);
}

static void report_warnings(gbees_report *report, const gbees_record *record)
{
    const unsigned fresh = record->warnings & ~report->warned;
    char text[GBEES_WARNING_TEXT];

    report->warned |= fresh;
    for (int k = 0; k < GBEES_WARNING_COUNT && !report->quiet; k++) {
        if (!(fresh & 1u << k))
            continue;
        gbees_warning_text((gbees_warning)(1 << k), record->problem, &record->totals, text, sizeof text);
        (void)fprintf(stderr, "gbees-run: warning: at t = %.6g: %s\n", record->time, text);
    }
}

/* Adds up what has been lost since the last measurements, or the start, and keeps the most of it. */
static void note_loss(gbees_report *report, const gbees_record *record)
{
    gbees_loss *now = &report->loss;

    if (record->number == 0)
        *now = (gbees_loss){.since = record->time};
    now->outflow += record->number == 0 ? 0 : record->since.outflow;
    now->pruned += record->number == 0 ? 0 : record->since.pruned;
    if (now->outflow + now->pruned >= report->most_lost.outflow + report->most_lost.pruned)
        report->most_lost = *now;
}

/* "            moon: 0.1004 entered (error <= 2e-06); corridor: 0.312 inside" */
static void print_targets(const gbees_report *report, const gbees_record *record)
{
    const gbees_problem *problem = record->problem;

    for (int k = 0; k < problem->target_count; k++) {
        const gbees_target_state *state = &record->targets[k];

        (void)fprintf(report->out, "%s%s: %.4g %s", k ? "; " : "           ", gbees_problem_target_name(problem, k),
                      state->probability, problem->targets[k].kind == GBEES_TARGET_ABSORB ? "entered" : "inside");
        if (!isnan(state->bound))
            (void)fprintf(report->out, " (error %s %.2g)", report->unicode ? "\u2264" : "<=", state->bound);
    }
    if (problem->target_count > 0)
        (void)fprintf(report->out, "\n");
}

int gbees_report_record(gbees_report *report, const gbees_record *record, gbees_error *error)
{
    const gbees_statistics *now = &record->statistics;
    const int n = record->problem->dimension;
    char cells[32];

    report_warnings(report, record);
    if (record->smoothed && !report->json && !report->quiet && record->leg == 0 && record->number == 0) {
        (void)fprintf(report->out, "\nsmoothed: given all measurements");
        report->width[0] = 0; /* the heads come once more */
    }
    note_loss(report, record);
    if (record->score)
        gbees_scores_add(&report->scores, n, record->score);
    if (record->certificate) {
        report->last = *record->certificate;
        gbees_worst_add(&report->worst, record->certificate, n, record->time);
    }
    if (report->json)
        return gbees_report_put(report, gbees_jsonl_record(record), error);
    if (report->quiet)
        return GBEES_OK;
    print_heads(report, record->problem, now);
    (void)fprintf(report->out, "%3d %6d %10.6g %8llu %9s %7.4f", record->leg, record->number, record->time,
                  (unsigned long long)record->totals.steps,
                  gbees_units_count(cells, sizeof cells, (double)now->cells), now->mass);
    for (int j = 0; j < n; j++)
        print_moment(report, record, j);
    (void)fprintf(report->out, "\n");
    print_targets(report, record);
    return gbees_print_flush(report->out, error);
}

void gbees_report_sampled(const gbees_report *report, const gbees_problem *problem, const gbees_evidence *evidence,
                          double sampled, double error)
{
    const char *by = gbees_problem_is_exact(problem) ? "other lattices"
                     : evidence->by_points           ? "lattices"
                                                     : "samples";

    if (isnan(sampled))
        (void)fprintf(report->out, " (its uncertainty is not known)");
    else
        (void)fprintf(report->out, " (%s: %.6g %s %.2g)", by, sampled, report->unicode ? "\u00b1" : "+-", error);
}

int gbees_report_update(gbees_report *report, const gbees_problem *problem, int number, double time,
                        const gbees_evidence *evidence, gbees_error *error)
{
    const gbees_measurement *measurement = &problem->measurements[number - 1];

    if (report->json)
        return gbees_report_put(report, gbees_jsonl_update(number, time, evidence), error);
    if (report->quiet)
        return GBEES_OK;
    print_heads(report, problem, NULL);
    (void)fprintf(report->out, "measurement %d at t = %.6g: %s =", number, time,
                  problem->model->measurements[measurement->function].name);
    for (int i = 0; i < measurement->size; i++)
        if (measurement->missing >> i & 1)
            (void)fprintf(report->out, " ~");
        else
            gbees_print_numbers(report->out, &measurement->value[i], 1);
    (void)fprintf(report->out, ", log evidence %.6g", evidence->log_evidence);
    gbees_report_sampled(report, problem, evidence, evidence->sampled, evidence->sampled_error);
    (void)fprintf(report->out, "\n");
    return gbees_print_flush(report->out, error);
}

int gbees_report_jump(gbees_report *report, const gbees_problem *problem, int number, double time, gbees_error *error)
{
    const gbees_instant *instant = &problem->instants[number - 1];

    if (report->json)
        return gbees_report_put(report, gbees_jsonl_jump(problem, number, time), error);
    if (report->quiet)
        return GBEES_OK;
    print_heads(report, problem, NULL);
    (void)fprintf(report->out, "instant %d at t = %.6g: %s", number, time, gbees_instant_name(problem, instant));
    gbees_print_numbers(report->out, instant->value, instant->size);
    (void)fprintf(report->out, "\n");
    return gbees_print_flush(report->out, error);
}

void gbees_report_error(const gbees_report *report, const gbees_error *failure)
{
    (void)fprintf(stderr, "gbees-run: %s\n", failure->text);
    if (report->json)
        (void)gbees_report_put(report, gbees_jsonl_error(failure), NULL);
}
