/* jsonl.h - the events of gbees-run --json: one JSON object a line.
 *
 * Each function returns the line without its line feed, to be freed by the caller, or NULL when there is no memory.
 * Numbers have 17 significant digits; what is not finite is null.
 */
#ifndef GBEES_RESULTS_RUN_JSONL_H
#define GBEES_RESULTS_RUN_JSONL_H

#include <gbees/rivals.h>

/* {"event":"record","leg","record","t","step","dt","cells","cells_above","mass_lost","mean","cov","entropy","wall_s",
 * "mass","mass_clipped","mass_outflow","mass_pruned","mass_normalised","since","warnings"};
 * mass_lost = mass_outflow + mass_pruned; warnings: texts; since:
 * {"mass_clipped","mass_outflow","mass_pruned","mass_normalised"} since the record before. With states on a circle
 * also "direction","resultant"; beside a truth
 * "truth": {"state","off","rmse","nees","rank"}. */
char *gbees_jsonl_record(const gbees_record *record);

/* {"event":"update","t","log_evidence"} */
char *gbees_jsonl_jump(const gbees_problem *problem, int number, double time);
char *gbees_jsonl_update(int number, double time, const gbees_evidence *evidence);

/* {"event":"progress","t","fraction","step","max_cells"} */
char *gbees_jsonl_progress(double time, double fraction, const gbees_totals *totals);

/* {"event":"summary","backend","threads","steps","cell_updates","raw_cell_updates","max_cells","wall_s","propagate_s",
 * "cells_per_s","peak_bytes","warnings"}; cells_per_s = cell_updates / propagate_s. With scores (else NULL) "truth",
 * too; with a comparison (else NULL) "compare".
 */
char *gbees_jsonl_summary(const char *backend, const gbees_summary *summary, const gbees_scores *scores,
                          const gbees_comparison *comparison);

/* {"event":"error","status","text"}; status is a word: gbees_status_name(). */
/* A run of those that an accuracy takes. */
char *gbees_jsonl_run(const gbees_refinement_step *step);
char *gbees_jsonl_error(const gbees_error *error);

#endif
