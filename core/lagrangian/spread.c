/* spread.c - spreads parts; see spread.h. */
#include "spread.h"
#include "base/clones.h"
#include <math.h>

enum { RUN = 64 /* parts whose cells are found at once */ };

/* Sets the lower of the two cells that each part is spread over along an axis, and the share of the upper one: of a
 * quadratic B-spline with knots `width` apart, 1/3 at most, about the part's place. */
GBEES_PROCESSOR_CLONES static void share_axis(const double *place, double width, size_t batch, int32_t *lower,
                                              double *upper)
{
    const double scale = 1 / width;

    for (size_t t = 0; t < batch; t++) { /* |x| for the larger of two, as comparisons would not be vectorised */
        const double below = floor(place[t]), from = (place[t] - below - 0.5) * scale, far = fabs(from),
                     rest = 0.75 - 0.5 * (far - fabs(far - 1.5)), inner = 0.25 - 0.5 * (far - fabs(far - 0.5)),
                     half = 0.5 - rest * rest * rest * (1 / 6.) + inner * inner * inner * 0.5;

        lower[t] = (int32_t)below;
        upper[t] = 0.5 + copysign(half, from);
    }
}

/* Adds the mass of a part to the cells around a corner, and its square width to what the cell of its centre holds.
 * Returns 1 if there is no memory. */
static int add_part(gbees_bricks *bricks, double mass, double square, const int32_t *index, const double *upper)
{
    gbees_brick_cell *cell = gbees_bricks_at(bricks, index);
    double share[1 << GBEES_MAX_DIM];
    size_t at[1 << GBEES_MAX_DIM], count = 1, centre = 0;

    if (!cell)
        return 1;
    share[0] = mass;
    at[0] = 0;
    for (int j = 0; j < bricks->n; j++) {
        const size_t step = bricks->step[j];

        centre += upper[j] > 0.5 ? step : 0;
        for (size_t c = 0; c < count && upper[j] == 1; c++)
            at[c] += step;
        if (upper[j] == 0 || upper[j] == 1)
            continue;
        for (size_t c = 0; c < count; c++) {
            at[count + c] = at[c] + step;
            share[count + c] = share[c] * upper[j];
            share[c] -= share[count + c];
        }
        count *= 2;
    }
    for (size_t c = 0; c < count; c++)
        cell[at[c]].mass += (int64_t)(share[c] + 0.5);
    cell[centre].whole += (int64_t)(mass + 0.5);
    cell[centre].spread += (int64_t)(mass * square + 0.5);
    return 0;
}

/* Adds parts `first` to `end` - 1 of a batch, RUN at most. Returns 1 if there is no memory. */
GBEES_PROCESSOR_CLONES static int spread_run(const gbees_parts *parts, const int *states, size_t first, size_t end,
                                             gbees_bricks *bricks)
{
    const int n = bricks->n;
    const double unit = parts->share * GBEES_BRICKS_ONE;
    double square = 0;
    double above[GBEES_MAX_DIM][RUN], mass[RUN], upper[GBEES_MAX_DIM];
    int32_t lower[GBEES_MAX_DIM][RUN], index[GBEES_MAX_DIM];

    for (int j = 0; j < n; j++)
        share_axis(parts->place[states[j]] + first, parts->width[states[j]], end - first, lower[j], above[j]);
    for (int j = 0; j < n; j++)
        square += parts->width[states[j]] * parts->width[states[j]] / n;
    for (size_t t = 0; t < end - first; t++)
        mass[t] = exp(parts->log_mass[first + t]) * unit;
    for (size_t t = 0; t < end - first; t++) {
        for (int j = 0; j < n; j++) {
            index[j] = lower[j][t];
            upper[j] = above[j][t];
        }
        if (mass[t] >= 0.5 && add_part(bricks, mass[t], square, index, upper))
            return 1;
    }
    return 0;
}

int gbees_spread(const gbees_parts *parts, const int *states, gbees_bricks *bricks)
{
    for (size_t first = 0; first < parts->batch; first += RUN)
        if (spread_run(parts, states, first, first + RUN < parts->batch ? first + RUN : parts->batch, bricks))
            return 1;
    return 0;
}
