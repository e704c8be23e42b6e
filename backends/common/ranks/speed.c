/* speed.c - makes weights of the ranks' speeds: see speed.h. */
#include "speed.h"
#include <stdlib.h>

/* The fastest rank's speed over the slowest one's, below which all count as equally fast: cuts are not chosen by
 * what else a machine happens to do. */
static const double ALIKE = 1.25;

int speeds_create(rank_speeds *speeds, const gbees_parallel *parallel, double least_s)
{
    const size_t ranks = (size_t)parallel->ranks;

    *speeds = (rank_speeds){.parallel = parallel, .least_s = least_s};
    speeds->all = calloc(ranks, sizeof *speeds->all);
    speeds->weight = malloc(ranks * sizeof *speeds->weight);
    for (size_t r = 0; r < ranks && speeds->weight; r++)
        speeds->weight[r] = 1;
    return !speeds->all || !speeds->weight;
}

void speeds_destroy(rank_speeds *speeds)
{
    free(speeds->all);
    free(speeds->weight);
    *speeds = (rank_speeds){0};
}

void speeds_add(rank_speeds *speeds, double bricks, double seconds, double all)
{
    if (2 * bricks * speeds->parallel->ranks < all)
        return;
    speeds->own.bricks += bricks;
    speeds->own.seconds += seconds;
}

void speeds_agree(rank_speeds *speeds)
{
    const gbees_parallel *parallel = speeds->parallel;
    const rank_speed *all = speeds->all;
    double slowest = 1e300, fastest = 0, sum = 0;

    parallel->gather(parallel->context, &speeds->own, sizeof speeds->own, speeds->all);
    for (int r = 0; r < parallel->ranks; r++) {
        if (!(all[r].bricks > 0 && all[r].seconds >= speeds->least_s))
            return;
        const double speed = all[r].bricks / all[r].seconds;

        slowest = speed < slowest ? speed : slowest;
        fastest = speed > fastest ? speed : fastest;
        sum += speed;
    }
    for (int r = 0; r < parallel->ranks; r++)
        speeds->weight[r] = fastest > ALIKE * slowest ? all[r].bricks / all[r].seconds * parallel->ranks / sum : 1;
    speeds->own = (rank_speed){0};
}

double speeds_load(const rank_speeds *speeds, double bricks)
{
    return bricks / speeds->weight[speeds->parallel->rank];
}
