/* work.h - the number of cells that the steps have updated.
 *
 * Needed cells (those with P >= p*, and their downwind neighbours) are counted at prunes and at records only. Each
 * step between two counts is assumed to have updated the mean of the two.
 */
#ifndef GBEES_NUMERICS_WORK_H
#define GBEES_NUMERICS_WORK_H

#include "qualifier.h"

typedef struct gbees_work {
    double cell_updates;     /* updates of needed cells, up to the last count */
    double raw_cell_updates; /* updates of all cells of resident bricks */
    double steps;            /* steps since the last count */
    uint64_t needed;         /* needed cells at the last count */
    uint64_t max_needed;     /* largest number of needed cells at any count */
} gbees_work;

/* Records a step over so many bricks. */
GBEES_NUM void gbees_work_step(gbees_work *work, uint32_t bricks, int cells_per_brick)
{
    work->steps++;
    work->raw_cell_updates += (double)bricks * cells_per_brick;
}

/* Records a count of needed cells. */
GBEES_NUM void gbees_work_count(gbees_work *work, uint64_t needed)
{
    work->cell_updates += work->steps * 0.5 * ((double)work->needed + (double)needed);
    work->steps = 0;
    work->needed = needed;
    work->max_needed = needed > work->max_needed ? needed : work->max_needed;
}

/* Updates of needed cells up to now; each step since the last count is assumed to have updated as many as it found.
 */
GBEES_NUM double gbees_work_cell_updates(const gbees_work *work)
{
    return work->cell_updates + work->steps * (double)work->needed;
}

#endif
