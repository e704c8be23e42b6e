/* progress.h - shows the progress of a run: a bar that redraws itself, or JSON Lines; and says when a run would take
 * days. */
#ifndef GBEES_COMMAND_RUN_PROGRESS_H
#define GBEES_COMMAND_RUN_PROGRESS_H

#include "options.h"
#include <gbees/backend.h>
#include <stdio.h>

typedef struct gbees_progress {
    gbees_progress_kind kind;
    FILE *stream;
    int drawn; /* a bar is on the terminal's last line */
    double seen_s, seen_updates, seen_steps;
    double cells, cells_per_s; /* lately */
    double first_s, first; /* when the first step was seen, and the part of the run that was done then; -1: not yet */
    double left_s;         /* at the mean pace since then; -1: not known yet */
    double began_s;
    int has_warned; /* 1: that the run would take days has been said, or is not to be said */
} gbees_progress;

void gbees_progress_start(gbees_progress *progress, gbees_progress_kind kind, FILE *stream);
void gbees_progress_show(gbees_progress *progress, double time, double fraction, const gbees_totals *totals);
/* Erases the bar, so that other text can be printed. */
void gbees_progress_clear(gbees_progress *progress);

#endif
