/* extrapolate.h - predicts the memory of a run from that of smaller runs. */
#ifndef GBEES_COMMAND_RUN_EXTRAPOLATE_H
#define GBEES_COMMAND_RUN_EXTRAPOLATE_H

/* What a run on wider cells took. */
typedef struct gbees_trial {
    double width; /* of its cells, in widths of the run's, > 1 */
    double cells; /* the most */
    double bytes; /* the most */
} gbees_trial;

/* The bytes of a run on cells of width 1; NAN if a trial has nothing to extrapolate from. The narrowest cells are
 * last, count >= 2. */
double gbees_extrapolate_bytes(const gbees_trial *trial, int count);

#endif
