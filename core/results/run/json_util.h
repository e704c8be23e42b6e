/* json_util.h - values for jansson that are always valid JSON. */
#ifndef GBEES_RESULTS_RUN_JSON_UTIL_H
#define GBEES_RESULTS_RUN_JSON_UTIL_H

#include <gbees/rivals.h>
#include <jansson.h>

/* null when x is not finite. */
json_t *gbees_json_real(double x);
/* An integer when it is one that a double holds exactly, else a real. */
json_t *gbees_json_count(double x);
json_t *gbees_json_unsigned(uint64_t x);
/* A string; bytes that are not UTF-8 become '?', NULL becomes null. */
json_t *gbees_json_text(const char *text);
/* Returns what was made, or drops it and returns NULL if some of it is missing. */
json_t *gbees_json_whole(json_t *made, int bad);
json_t *gbees_json_vector(int n, const double *x);
json_t *gbees_json_matrix(int n, const double *x);

/* The texts of the warnings, as an array. */
json_t *gbees_json_warnings(unsigned warnings, const gbees_problem *problem, const gbees_totals *totals);

/* Appends backend, threads, ... warnings: the summary of --json and of run.json. Negative when out of memory. */
int gbees_json_add_summary(json_t *object, const char *backend, const gbees_summary *summary);

/* A record beside a truth of n states; all scores of a run, NULL if there is none. */
json_t *gbees_json_score(int n, const gbees_score *score);
json_t *gbees_json_scores(const gbees_scores *scores);

/* Filters beside a run's records; NULL without memory. */
json_t *gbees_json_comparison(const gbees_comparison *comparison);

/* Adds what one of the runs for an accuracy has shown. Returns 0, or -1 if memory ran out. */
int gbees_json_add_run(json_t *object, const gbees_refinement_step *step);

#endif
