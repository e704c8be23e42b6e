/* report.c - prints the header, a line for each record and update, and the summary: as aligned columns or, with
 * --json, the lines of results/run/jsonl.c. */
#include "report.h"
#include "command/units.h"
#include "compare.h"
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

/* Prints a line of jsonl.h's and frees it. */
static int put_line(const gbees_report *report, char *line, gbees_error *error)
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

/* "error <=" before bounds, "error" before the reason why there are none. */
static void print_error(const gbees_report *report, const gbees_certificate *certificate, const char *text)
{
    (void)fprintf(report->out, "error%s %s\n",
                  certificate->reason[0] ? ""
                  : report->unicode      ? " \u2264"
                                         : " <=",
                  text);
}

/* A line for the last record's certificate, one for the worst of each figure, and what the figures are. */
static void print_certificates(const gbees_report *report, int n)
{
    static const char end[] = "at the end: ";
    char text[sizeof end + GBEES_CERTIFICATE_TEXT];

    if (!report->worst.count)
        return;
    memcpy(text, end, sizeof end);
    gbees_certificate_text(&report->last, n, report->unicode, text + sizeof end - 1, GBEES_CERTIFICATE_TEXT);
    print_error(report, &report->last, text);
    gbees_worst_text(&report->worst, n, report->unicode, text, sizeof text);
    print_error(report, &report->worst.certificate, text);
    if (!report->worst.certificate.reason[0])
        (void)fprintf(report->out, "%s\n",
                      report->unicode
                          ? "(marginals: Wasserstein's distance; cosine: \u03a3 pq / \u221a(\u03a3 p\u00b2 "
                            "\u03a3 q\u00b2) in bins as wide as the initial \u03c3)"
                          : "(marginals: Wasserstein's distance; cosine: sum pq / sqrt(sum p^2 sum q^2) "
                            "in bins as wide as the initial std)");
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
        return put_line(report, gbees_jsonl_record(record), error);
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

/* What tells the uncertainty of an evidence. */
static const char *teller_of(const gbees_problem *problem, const gbees_evidence *evidence)
{
    return gbees_problem_is_exact(problem) ? "other lattices" : evidence->by_points ? "lattices" : "samples";
}

/* " (samples: -12.28 ± 0.03)": what else is known of a logarithm of evidence. */
static void print_samples_evidence(const gbees_report *report, const char *by, double sampled, double error)
{

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
        return put_line(report, gbees_jsonl_update(number, time, evidence), error);
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
    print_samples_evidence(report, teller_of(problem, evidence), evidence->sampled, evidence->sampled_error);
    (void)fprintf(report->out, "\n");
    return gbees_print_flush(report->out, error);
}

int gbees_report_jump(gbees_report *report, const gbees_problem *problem, int number, double time, gbees_error *error)
{
    const gbees_instant *instant = &problem->instants[number - 1];

    if (report->json)
        return put_line(report, gbees_jsonl_jump(problem, number, time), error);
    if (report->quiet)
        return GBEES_OK;
    print_heads(report, problem, NULL);
    (void)fprintf(report->out, "instant %d at t = %.6g: %s", number, time, gbees_instant_name(problem, instant));
    gbees_print_numbers(report->out, instant->value, instant->size);
    (void)fprintf(report->out, "\n");
    return gbees_print_flush(report->out, error);
}

/* ---- the end ---- */

/* In per cent; what is nothing but rounding, on either side of 0, is 0. */
static double percent(double mass)
{
    return fabs(mass) < 1e-14 ? 0 : 100 * mass;
}

/* Ranks that have not shared the grid: it was too small for them to gain by it, or moves, and they have GPUs. */
static void print_ranks(const gbees_report *report, const gbees_totals *totals)
{
    if (totals->ranks > 1 && totals->imbalance >= totals->ranks)
        (void)fprintf(report->out,
                      "ranks: %d, and rank 0 had the whole grid: it moves, has circles, or was too small to gain by "
                      "sharing it\n",
                      totals->ranks);
}

/* The ledger since the start; after updates, each of which makes up for what was lost before it, what one interval
 * has lost at most. */
static void print_ledger(const gbees_report *report, const gbees_summary *summary)
{
    const gbees_totals *totals = &summary->totals;
    const gbees_loss *most = &report->most_lost;
    const double normalised = totals->mass_normalised, entered = gbees_totals_entered(totals);

    (void)fprintf(report->out, "mass: %.3g %% gained by clipping, ", percent(totals->mass_clipped));
    if (summary->updates > 0)
        (void)fprintf(report->out,
                      "%.3g %% lost through faces and %.3g %% by pruning between measurements at most (from t = "
                      "%.6g)",
                      percent(most->outflow), percent(most->pruned), most->since);
    else {
        (void)fprintf(report->out, "%.3g %% lost through faces, %.3g %% lost by pruning",
                      percent(totals->mass_outflow), percent(totals->mass_pruned));
        if (percent(normalised) != 0)
            (void)fprintf(report->out, ", %.3g %% %s by normalising", fabs(percent(normalised)),
                          normalised > 0 ? "added" : "taken away");
    }
    if (gbees_problem_absorbs(summary->problem))
        (void)fprintf(report->out, "; %.3g %% has entered targets", percent(entered));
    (void)fprintf(report->out, "; the sum is %.6g\n",
                  1 + totals->mass_clipped + normalised - totals->mass_outflow - totals->mass_pruned - entered);
}

/* The logarithm of the whole evidence; without it models can't be compared. */
static void print_evidence(const gbees_report *report, const gbees_summary *summary)
{
    if (summary->updates == 0)
        return;
    (void)fprintf(report->out, "log evidence of %d measurement%s: %.6g", summary->updates,
                  summary->updates == 1 ? "" : "s", summary->evidence.total);
    print_samples_evidence(report, teller_of(summary->problem, &summary->evidence), summary->evidence.total_sampled,
                           summary->evidence.total_error);
    (void)fprintf(report->out, "\n");
}

/* "RMSE 0.53 (0.48 to 0.58), NEES 3.1 (2.6 to 3.4 if the density is right), ranks 0.49 ..." */
static void print_scores(const gbees_report *report)
{
    gbees_score_summary s;

    if (!gbees_scores_summary(&report->scores, &s))
        return;
    (void)fprintf(report->out,
                  "truth: %zu record%s%s: RMSE %.4g (%.4g to %.4g), NEES %.4g (%.4g to %.4g if the density is "
                  "right)",
                  s.records, s.records == 1 ? "" : "s", s.updates_only ? " after measurements" : "", s.rmse.value,
                  s.rmse.low, s.rmse.high, s.nees.value, s.nees.low, s.nees.high);
    for (int j = 0; j < report->scores.dimension && !isnan(s.rank[0].value); j++)
        (void)fprintf(report->out, "%s %.3f", j ? "" : ", mean ranks", s.rank[j].value);
    if (!isnan(s.rank[0].value)) /* else records have no cells */
        (void)fprintf(report->out, " (%.3f to %.3f)", s.rank[0].low, s.rank[0].high);
    (void)fprintf(report->out, "\n");
}

static void print_points(const gbees_report *report, const gbees_totals *totals)
{
    char most[32], evaluations[32], bytes[32];

    (void)fprintf(report->out, "points: %s at most, %llu refinement%s, %s evaluations of the drift, %s\n",
                  gbees_units_count(most, sizeof most, (double)totals->max_cells),
                  (unsigned long long)totals->refinements, totals->refinements == 1 ? "" : "s",
                  gbees_units_count(evaluations, sizeof evaluations, totals->cell_updates),
                  gbees_units_bytes(bytes, sizeof bytes, (double)totals->peak_bytes));
}

/* Whether all records are within the accuracy; with samples of an audit on request it is these that say so. */
static void print_accuracy(const gbees_report *report, const gbees_summary *summary)
{
    const gbees_problem *problem = summary->problem;
    const double bound =
        gbees_certificate_error(&report->worst.certificate, problem->dimension, problem->accuracy_of).bound;
    const int met = bound <= problem->accuracy;

    (void)fprintf(report->out, "accuracy %g: %s\n", problem->accuracy,
                  met                                          ? "met"
                  : summary->warnings & GBEES_WARNING_ACCURACY ? "not met: denser points do not help"
                                                               : "not met");
}

static void print_summary(const gbees_report *report, const gbees_setup *setup, const gbees_summary *summary,
                          const char *state)
{
    const gbees_totals *totals = &summary->totals;
    const double rate = summary->propagate_s > 0 ? totals->cell_updates / summary->propagate_s : 0;
    char updates[32], per_s[32], most[32], bytes[32];

    (void)fprintf(report->out, "\n%s: %llu step%s in %.3g s (%.3g s of them propagation), %s %s/s\n", state,
                  (unsigned long long)totals->steps, totals->steps == 1 ? "" : "s", summary->wall_s,
                  summary->propagate_s, gbees_units_count(per_s, sizeof per_s, rate),
                  gbees_problem_is_exact(summary->problem) ? "drift evaluations" : "cells");
    if (gbees_problem_is_exact(summary->problem)) {
        print_points(report, totals);
    } else {
        (void)fprintf(report->out, "cells: %s at most, %s updates, %s\n",
                      gbees_units_count(most, sizeof most, (double)totals->max_cells),
                      gbees_units_count(updates, sizeof updates, totals->cell_updates),
                      gbees_units_bytes(bytes, sizeof bytes, (double)totals->peak_bytes));
        print_ledger(report, summary);
    }
    print_ranks(report, totals);
    print_evidence(report, summary);
    print_scores(report);
    print_certificates(report, summary->problem->dimension);
    if (gbees_problem_is_exact(summary->problem) && summary->problem->accuracy > 0)
        print_accuracy(report, summary);
    if (!gbees_problem_is_exact(summary->problem) && report->worst.certificate.points > 0)
        (void)fprintf(report->out,
                      "points that go with the flow, which certify this run, have its moments without the "
                      "grid's error: --set frame=lagrangian\n");
    gbees_print_warnings(report->out, summary->warnings, summary->problem, totals);
    if (setup->folder)
        (void)fprintf(report->out, "results: %s\n", setup->folder);
    if (report->comparison)
        gbees_compare_print(report->out, report->comparison, summary, &report->scores);
}

int gbees_report_summary(const gbees_report *report, const gbees_setup *setup, const gbees_summary *summary,
                         const gbees_error *failure, gbees_error *error)
{
    if (report->json)
        return put_line(
            report, gbees_jsonl_summary(setup->backend->name, summary, &report->scores, report->comparison), error);
    if (report->quiet)
        return GBEES_OK;
    print_summary(report, setup, summary,
                  !failure                              ? "done"
                  : failure->status == GBEES_ECANCELLED ? "cancelled"
                                                        : "failed");
    return gbees_print_flush(report->out, error);
}

void gbees_report_error(const gbees_report *report, const gbees_error *failure)
{
    (void)fprintf(stderr, "gbees-run: %s\n", failure->text);
    if (report->json)
        (void)put_line(report, gbees_jsonl_error(failure), NULL);
}
