/* work.h - how many cells the steps have updated.
 *
 * Needed cells (P >= p*, and the cells downwind of these) are counted at prunes and records only.  The steps between
 * two counts are taken to have updated the mean of both.
 */
#ifndef GBEES_NUMERICS_WORK_H
#define GBEES_NUMERICS_WORK_H

#include "qualifier.h"

typedef struct gbees_work {
    double cell_updates;     /* of needed cells, up to the last count */
    double raw_cell_updates; /* of all cells of the bricks in use */
    double steps;            /* since the last count */
    uint64_t needed;         /* cells at the last count */
    uint64_t max_needed;     /* at any count */
} gbees_work;

/* A step over so many bricks. */
GBEES_NUM void gbees_work_step(gbees_work *work, uint32_t bricks, int cells_per_brick)
{
    work->steps++;
    work->raw_cell_updates += (double)bricks * cells_per_brick;
}

/* A count of needed cells. */
GBEES_NUM void gbees_work_count(gbees_work *work, uint64_t needed)
{
    work->cell_updates += work->steps * 0.5 * ((double)work->needed + (double)needed);
    work->steps = 0;
    work->needed = needed;
    work->max_needed = needed > work->max_needed ? needed : work->max_needed;
}

/* Updates of needed cells up to now: the steps since the last count are taken to have updated as many cells as it
 * found. */
GBEES_NUM double gbees_work_cell_updates(const gbees_work *work)
{
    return work->cell_updates + work->steps * (double)work->needed;
}

#endif
