/* compare.h - --compare: collects a run's records, and prints the table of filters. */
#ifndef GBEES_COMMAND_RUN_COMPARE_H
#define GBEES_COMMAND_RUN_COMPARE_H

#include <gbees/rivals.h>
#include <stdio.h>

/* Keeps a record, with its marginals along the states if its grid moves. */
int gbees_compare_keep(gbees_comparison *comparison, const gbees_record *record, gbees_error *error);

/* Prints a line a filter, with its largest errors over all records; if they are few, the errors at each; and the
 * answer. scores: of the grid beside a truth. */
void gbees_compare_print(FILE *out, const gbees_comparison *comparison, const gbees_summary *summary,
                         const gbees_scores *scores);

#endif
