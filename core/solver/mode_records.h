/* mode_records.h - makes records of a density in several modes, and transfers such a density to the cells of one
 * grid. */
#ifndef GBEES_SOLVER_MODE_RECORDS_H
#define GBEES_SOLVER_MODE_RECORDS_H

#include "modes.h"

/* The modes of a record, and what they point to. */
typedef struct gbees_event_modes {
    int count;
    gbees_record_mode mode[GBEES_MODES_MOST];
    gbees_problem problem[GBEES_MODES_MOST];
    gbees_cells *cells[GBEES_MODES_MOST]; /* NULL: the observer wants none; else those of mode[k].cells */
} gbees_event_modes;

/* Makes the modes of a record, without cells; `all` receives the statistics of the whole density in the model's axes,
 * its peak in cells of the first mode. narrow receives gbees_warnings_record() of all. */
int gbees_mode_records_create(const gbees_modes *modes, const gbees_clock *clock, gbees_event_modes **made,
                              gbees_statistics *all, unsigned *narrow, gbees_error *error);
void gbees_mode_records_destroy(gbees_event_modes *modes);

/* Lists the cells of all modes, unsorted. */
int gbees_mode_records_collect(const gbees_modes *modes, gbees_event_modes *to, gbees_error *error);
/* Sorts them. */
int gbees_mode_records_sort(gbees_event_modes *modes, int threads, gbees_error *error);

/* Spreads the cells of all modes over a grid along the model's axes, of about ten cells a standard deviation, that
 * has a whole number of cells a standard deviation of the run's initial density. *flat receives a copy of the run's
 * problem with this grid, *cells the sorted cells; NULL: there would be too many. */
int gbees_mode_records_flatten(const gbees_event_modes *modes, const gbees_statistics *all, gbees_problem *flat,
                               gbees_cells **cells, gbees_error *error);

#endif
