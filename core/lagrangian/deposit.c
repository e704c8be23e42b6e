/* TEMPORARY */
#include "deposit.h"
int gbees_deposit_cells(const gbees_problem *problem, int lattices, gbees_lattice *const *lattice,
                        const double *log_factor, const gbees_deposit_options *options, gbees_initial_cells *cells,
                        gbees_deposit_report *report, gbees_error *error)
{ (void)problem;(void)lattices;(void)lattice;(void)log_factor;(void)options;(void)cells;(void)report; return gbees_error_set(error, GBEES_EINPUT, "no cells"); }
