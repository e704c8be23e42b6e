/* warnings.h - warnings that need a record's statistics; private to the library. */
#ifndef GBEES_RECORD_WARNINGS_H
#define GBEES_RECORD_WARNINGS_H

#include <gbees/gbees.h>

/* GBEES_WARNING_NARROW if a marginal along one of the grid's axes is narrower than 1.5 cells, else 0: there a scheme
 * widens the density by more than its own width.  Of points that go with the flow, if the record has cells, than half
 * a cell. The statistics are in the grid's axes. */
unsigned gbees_warnings_record(const gbees_problem *problem, const gbees_statistics *statistics, int with_cells);

/* GBEES_WARNING_NARROW if more than a twentieth of a marginal of points lies in cells that are far wider than the part of
 * the density in them, whatever its deviation, else 0. */
unsigned gbees_warnings_marginals(const gbees_problem *problem, const gbees_marginals *marginals);

/* GBEES_WARNING_ACCURACY if the certificate of points is not within the accuracy that was asked for, else 0. */
unsigned gbees_warnings_certificate(const gbees_problem *problem, const gbees_certificate *certificate);

/* GBEES_WARNING_ROUNDING if a record's mass is not the one of its ledger, else 0. */
unsigned gbees_warnings_ledger(const gbees_problem *problem, const gbees_record *record);

/* The part of the initial Gaussian or mixture that its box leaves out: exact without correlations, else an upper bound
 * (Sidak's inequality). 0 for a record. */
double gbees_warnings_cut_off(const gbees_problem *problem);

/* What has been lost since the last update, which has made up for what was lost before it. */
double gbees_warnings_lost(const gbees_problem *problem, const gbees_totals *totals);

/* GBEES_ENUMERIC if what a record has left of the mass is no density of the model's any more, or if its mass is more
 * than 1, which no scheme makes: then a sum is wrong somewhere. */
int gbees_warnings_mass(const gbees_problem *problem, const gbees_record *record, gbees_error *error);

#endif
