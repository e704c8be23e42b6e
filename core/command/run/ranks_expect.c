/* ranks_expect.c - models the time of a step as computation, which ranks divide, and exchange, which grows with the
 * surface of a rank's box. */
#include "ranks_expect.h"
#include "numerics/brick.h"
#include <math.h>

gbees_ranks_forecast gbees_ranks_expect(const gbees_problem *problem, int ranks, double bytes, double box_cells,
                                        double box_bytes)
{
    /* Of a brick: the cells that a sweep reads beyond a cut, in cells; the sweeps that packing, sending and unpacking
     * a ghost take as long as; bricks of the rank with most over the mean. */
    enum { READ = 3 };
    static const double exchange = 1, imbalance = 1.05;
    const int n = problem->dimension;
    gbees_shape shape;
    double pieces[GBEES_MAX_DIM], ghosts = 0, left = ranks;

    gbees_shape_set(&shape, n, 64);
    const double bricks = fmax(1, bytes / box_bytes * box_cells / shape.cells), across = pow(bricks, 1.0 / n);
    for (int j = 0; j < n; j++)
        pieces[j] = 1;
    for (int j = 0; left > 1; j = (j + 1) % n, left /= 2) /* in two along each axis in turn */
        pieces[j] *= left < 2 ? left : 2;
    for (int j = 0; j < n; j++) {
        const double sides = 2 * (1 - 1 / pieces[j]); /* with a neighbour, on average */

        ghosts += sides * ceil((double)READ / shape.edge[j]) * pieces[j] / across;
    }
    return (gbees_ranks_forecast){.ghosts = ghosts,
                                  .bytes = bytes / ranks * (1 + ghosts),
                                  .efficiency = ranks > 1 ? 1 / (imbalance * (1 + (1 + exchange) * ghosts / n)) : 1};
}
