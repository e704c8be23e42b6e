/* ranks_expect.h - predicts the memory and the efficiency of a run on several ranks, by a model. */
#ifndef GBEES_COMMAND_RUN_RANKS_EXPECT_H
#define GBEES_COMMAND_RUN_RANKS_EXPECT_H

#include <gbees/gbees.h>

/* What a rank has of a grid, and what ranks gain, by a model (doc/cluster.md, "What to expect"). */
typedef struct gbees_ranks_forecast {
    double ghosts;     /* copies of neighbours' bricks that a rank has, over its own */
    double bytes;      /* of a rank */
    double efficiency; /* speed over that of one rank, over the number of ranks */
} gbees_ranks_forecast;

/* Of a grid that takes so many bytes on one rank; `box_cells` of them take `box_bytes`. */
gbees_ranks_forecast gbees_ranks_expect(const gbees_problem *problem, int ranks, double bytes, double box_cells,
                                        double box_bytes);

#endif
