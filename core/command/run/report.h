/* report.h - what gbees-run prints of a run: a table, or JSON Lines. */
#ifndef GBEES_COMMAND_RUN_REPORT_H
#define GBEES_COMMAND_RUN_REPORT_H

#include "command.h"
#include <gbees/rivals.h>

/* Mass that has been lost since a time. */
typedef struct gbees_loss {
    double since, outflow, pruned;
} gbees_loss;

typedef struct gbees_report {
    FILE *out;
    int json, quiet;                    /* quiet: no table */
    int unicode;                        /* the terminal can show a plus-minus sign */
    int width[GBEES_MAX_DIM];           /* columns of each state's moments; 0: the table has not begun */
    unsigned warned;                    /* gbees_warning bits that are on standard error already */
    gbees_certificate last;             /* of the last record that has one */
    gbees_worst worst;                  /* of all of them so far */
    gbees_loss loss, most_lost;         /* since the last measurements, or the start; the most of these */
    gbees_scores scores;                /* of records beside a truth */
    const gbees_comparison *comparison; /* of a run that is complete; NULL: none */
} gbees_report;

void gbees_report_start(gbees_report *report, const gbees_options *options, FILE *out);

/* Each fails as gbees_print_flush() does. */
int gbees_report_header(const gbees_report *report, const gbees_setup *setup, const gbees_totals *totals,
                        gbees_error *error);
/* Writes new warnings to standard error, one line each. */
int gbees_report_record(gbees_report *report, const gbees_record *record, gbees_error *error);
int gbees_report_jump(gbees_report *report, const gbees_problem *problem, int number, double time,
                      gbees_error *error);
int gbees_report_update(gbees_report *report, const gbees_problem *problem, int number, double time,
                        const gbees_evidence *evidence, gbees_error *error);
/* `failure` is NULL after a complete run. */
int gbees_report_summary(const gbees_report *report, const gbees_setup *setup, const gbees_summary *summary,
                         const gbees_error *failure, gbees_error *error);
/* Prints " (samples: -12.28 ± 0.03)": what else is known of a logarithm of evidence, and by what. */
void gbees_report_sampled(const gbees_report *report, const gbees_problem *problem, const gbees_evidence *evidence,
                          double sampled, double error);
/* Prints a line of jsonl.h's, and frees it; NULL: there was no memory. */
int gbees_report_put(const gbees_report *report, char *line, gbees_error *error);
/* One line on standard error, and the event "error" if JSON was asked for. */
void gbees_report_error(const gbees_report *report, const gbees_error *failure);

#endif
