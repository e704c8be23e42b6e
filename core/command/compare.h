/* compare.h - what --compare keeps of a run, and the table that it prints. */
#ifndef GBEES_COMMAND_COMPARE_H
#define GBEES_COMMAND_COMPARE_H

#include <gbees/rivals.h>
#include <stdio.h>

/* Keeps a record, with its marginals along the states if its grid moves. */
int gbees_compare_keep(gbees_comparison *comparison, const gbees_record *record, gbees_error *error);

/* Prints a line a filter, with the largest errors of all records; of few records the errors of each; and the answer.
 * scores: of the grid beside a truth. */
void gbees_compare_print(FILE *out, const gbees_comparison *comparison, const gbees_summary *summary,
                         const gbees_scores *scores);

#endif
