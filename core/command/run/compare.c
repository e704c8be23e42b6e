/* compare.c - collects the records of a run for a comparison, and prints a table: a row a filter, a column a
 * measure. */
#include "compare.h"
#include "solver/grid/projection.h"
#include <math.h>

enum { LISTED = 40 /* records, at most, whose errors are printed one by one */ };

int gbees_compare_keep(gbees_comparison *comparison, const gbees_record *record, gbees_error *error)
{
    gbees_projection *projection = NULL;
    gbees_record with = *record;
    int status = GBEES_OK;

    if (record->problem->moving && record->cells)
        status = gbees_projection_create(record->problem, record->cells, &projection, error);
    with.projection = projection;
    if (!status)
        status = gbees_comparison_record(comparison, &with, error);
    gbees_projection_destroy(projection);
    return status;
}

/* In `columns`, right-justified; what is not known is a dash. */
static void print_number(FILE *out, int columns, int digits, double value)
{
    if (isnan(value))
        (void)fprintf(out, "%*s", columns, "-");
    else
        (void)fprintf(out, "%*.*g", columns, digits, value);
}

/* A Bhattacharyya coefficient. */
static void print_coefficient(FILE *out, int columns, double value)
{
    if (isnan(value))
        (void)fprintf(out, "%*s", columns, "-");
    else
        (void)fprintf(out, "%*.3f", columns, value);
}

static void print_heads(FILE *out, int measured, int scored)
{
    (void)fprintf(out, "\n%-6s %9s %9s %9s %9s %10s %9s", "method", "samples", "seconds", "e_m", "e_s", "Kolmogorov",
                  "BC");
    if (measured)
        (void)fprintf(out, " %12s %9s", "log evidence", "std error");
    if (scored)
        (void)fprintf(out, " %9s %9s", "RMSE", "NEES");
    (void)fprintf(out, "\n");
}

/* The end of a line: evidence and scores, as far as there are. */
static void print_rest(FILE *out, int measured, double log_evidence, double error, const gbees_scores *scores)
{
    gbees_score_summary s;

    if (measured) {
        print_number(out, 13, 6, log_evidence);
        print_number(out, 10, 2, error);
    }
    if (gbees_scores_summary(scores, &s)) {
        print_number(out, 10, 4, s.rmse.value);
        print_number(out, 10, 4, s.nees.value);
    }
    (void)fprintf(out, "\n");
}

static void print_result(FILE *out, int measured, const gbees_rival_result *r)
{
    (void)fprintf(out, "%-6s", gbees_rival_name(r->rival));
    print_number(out, 10, 9, r->samples ? (double)r->samples : NAN);
    print_number(out, 10, 3, r->seconds);
    if (r->failure.status) {
        (void)fprintf(out, "  failed: %s\n", r->failure.text);
        return;
    }
    print_number(out, 10, 2, r->worst.mean);
    print_number(out, 10, 2, r->worst.std);
    print_number(out, 11, 2, r->worst.kolmogorov);
    print_coefficient(out, 10, r->worst.bc);
    print_rest(out, measured, r->log_evidence, r->log_evidence_error, &r->scores);
}

static void print_records(FILE *out, const gbees_comparison *comparison)
{
    const int count = gbees_comparison_count(comparison);

    (void)fprintf(out, "\n%10s", "t");
    for (int k = 0; k < count; k++)
        (void)fprintf(out, "  %5s e_m     e_s   Kolm.      BC",
                      gbees_rival_name(gbees_comparison_result(comparison, k)->rival));
    (void)fprintf(out, "\n");
    for (size_t i = 0; i < gbees_comparison_records(comparison); i++) {
        double time;

        gbees_comparison_when(comparison, i, NULL, NULL, &time);
        print_number(out, 10, 6, time);
        for (int k = 0; k < count; k++) {
            const gbees_rival_result *r = gbees_comparison_result(comparison, k);
            const gbees_rival_error found = i < r->count ? r->records[i] : (gbees_rival_error){NAN, NAN, NAN, NAN};

            print_number(out, 11, 2, found.mean);
            print_number(out, 8, 2, found.std);
            print_number(out, 8, 2, found.kolmogorov);
            print_coefficient(out, 8, found.bc);
        }
        (void)fprintf(out, "\n");
    }
}

void gbees_compare_print(FILE *out, const gbees_comparison *comparison, const gbees_summary *summary,
                         const gbees_scores *scores)
{
    const int measured = summary->updates > 0;
    gbees_score_summary ignored;
    char answer[GBEES_ANSWER_TEXT];

    print_heads(out, measured, gbees_scores_summary(scores, &ignored) > 0);
    (void)fprintf(out, "%-6s%10s", "grid", "-");
    print_number(out, 10, 3, gbees_comparison_grid_seconds(comparison));
    (void)fprintf(out, "%10s%10s%11s%10s", "-", "-", "-", "-");
    print_rest(out, measured, summary->evidence.total, NAN, scores);
    for (int k = 0; k < gbees_comparison_count(comparison); k++)
        print_result(out, measured, gbees_comparison_result(comparison, k));
    if (gbees_comparison_records(comparison) <= LISTED)
        print_records(out, comparison);
    gbees_comparison_answer(comparison, answer, sizeof answer);
    (void)fprintf(out, "\n%s\n", answer);
}
