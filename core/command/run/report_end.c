/* report_end.c - prints the summary of a run: its work, losses, evidence, certificates and warnings. */
#include "command/units.h"
#include "compare.h"
#include "report.h"
#include "results/run/jsonl.h"
#include <math.h>
#include <string.h>

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
    gbees_report_sampled(report, summary->problem, &summary->evidence, summary->evidence.total_sampled,
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

    (void)fprintf(report->out, "accuracy %g of the %s: %s\n", problem->accuracy,
                  gbees_print_accuracy_of(problem->accuracy_of), bound <= problem->accuracy ? "met" : "not met");
}

static void print_summary(const gbees_report *report, const gbees_setup *setup, const gbees_summary *summary,
                          const gbees_error *failure)
{
    const char *state = !failure ? "done" : failure->status == GBEES_ECANCELLED ? "cancelled" : "failed";
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
    if (!failure && gbees_problem_is_exact(summary->problem) && summary->problem->accuracy > 0)
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
        return gbees_report_put(
            report, gbees_jsonl_summary(setup->backend->name, summary, &report->scores, report->comparison), error);
    if (report->quiet)
        return GBEES_OK;
    print_summary(report, setup, summary, failure);
    return gbees_print_flush(report->out, error);
}
