/* speed.c - makes weights of the ranks' speeds: see speed.h. */
#include "speed.h"
#include <stdlib.h>

/* The fastest rank's speed over the slowest one's, below which all count as equally fast: cuts are not chosen by
 * what else a machine happens to do. */
static const double ALIKE = 1.25;

double *speed_equal_weights(int ranks)
{
    double *weight = malloc((size_t)ranks * sizeof *weight);

    for (int r = 0; r < ranks && weight; r++)
        weight[r] = 1;
    return weight;
}

void speed_add(rank_speed *speed, double bricks, double seconds, double all, int ranks)
{
    if (2 * bricks * ranks < all)
        return;
    speed->bricks += bricks;
    speed->seconds += seconds;
}

void speed_agree(const gbees_parallel *parallel, double least_s, rank_speed *own, rank_speed *all, double *weight)
{
    double slowest = 1e300, fastest = 0, sum = 0;

    parallel->gather(parallel->context, own, sizeof *own, all);
    for (int r = 0; r < parallel->ranks; r++) {
        if (!(all[r].bricks > 0 && all[r].seconds >= least_s))
            return;
        const double speed = all[r].bricks / all[r].seconds;

        slowest = speed < slowest ? speed : slowest;
        fastest = speed > fastest ? speed : fastest;
        sum += speed;
    }
    for (int r = 0; r < parallel->ranks; r++)
        weight[r] = fastest > ALIKE * slowest ? all[r].bricks / all[r].seconds * parallel->ranks / sum : 1;
    *own = (rank_speed){0};
}
