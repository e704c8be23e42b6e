/* spread.c - spreads parts; see spread.h. */
#include "spread.h"
#include "base/clones.h"
#include <math.h>
#include <string.h>

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

/* Where a part lies: in the cells from `index` on, along some axes also in those above, which have the share `upper`.
 */
typedef struct place {
    int32_t index[GBEES_MAX_DIM];
    double upper[GBEES_MAX_DIM];
    int axis[GBEES_MAX_DIM]; /* first those along which the cells above are in the same brick, then the others */
    int inner, all;
    double mass, spread;
} place;

/* Sorts the axes along which there are two cells. */
static void find_axes(const gbees_bricks *bricks, place *p)
{
    const int32_t mask = (1 << bricks->shift) - 1;
    int outer[GBEES_MAX_DIM], count = 0;

    p->inner = 0;
    for (int j = 0; j < bricks->n; j++) {
        if (p->upper[j] >= 1) { /* all of it is in the upper cell */
            p->index[j]++;
            p->upper[j] = 0;
        }
        if (p->upper[j] > 0)
            *((p->index[j] & mask) < mask ? &p->axis[p->inner++] : &outer[count++]) = j;
    }
    memcpy(p->axis + p->inner, outer, (size_t)count * sizeof *outer);
    p->all = p->inner + count;
}

/* Adds to the cells of one brick, from its lowest one on: a share of the mass; and if the centre may be in it, all
 * mass and its spread. */
static void add_block(const gbees_bricks *bricks, const place *p, double mass, int has_centre, gbees_brick_cell *cell)
{
    double share[1 << GBEES_MAX_DIM];
    size_t at[1 << GBEES_MAX_DIM], count = 1, centre = 0;

    share[0] = mass;
    at[0] = 0;
    for (int k = 0; k < p->inner; k++, count *= 2) {
        const double upper = p->upper[p->axis[k]];
        const size_t step = bricks->step[p->axis[k]];

        centre += upper > 0.5 ? step : 0;
        for (size_t c = 0; c < count; c++) {
            at[count + c] = at[c] + step;
            share[count + c] = share[c] * upper;
            share[c] -= share[count + c];
        }
    }
    for (size_t c = 0; c < count; c++)
        cell[at[c]].mass += (int64_t)(share[c] + 0.5);
    if (has_centre) {
        cell[centre].whole += (int64_t)(p->mass + 0.5);
        cell[centre].spread += (int64_t)(p->spread + 0.5);
    }
}

/* Adds the mass of a part to the cells that it lies in, and its square width to what the cell of its centre holds.
 * Returns 1 if there is no memory. */
static int add_part(gbees_bricks *bricks, place *p)
{
    find_axes(bricks, p);
    for (int brick = 0; brick < 1 << (p->all - p->inner); brick++) {
        int32_t index[GBEES_MAX_DIM];
        double mass = p->mass;
        int has_centre = 1;

        memcpy(index, p->index, sizeof index);
        for (int k = p->inner; k < p->all; k++) {
            const int j = p->axis[k], above = brick >> (k - p->inner) & 1;

            index[j] += above;
            mass *= above ? p->upper[j] : 1 - p->upper[j];
            has_centre &= above == (p->upper[j] > 0.5);
        }
        gbees_brick_cell *cell = gbees_bricks_at(bricks, index);
        if (!cell)
            return 1;
        add_block(bricks, p, mass, has_centre, cell);
    }
    return 0;
}

/* Adds parts `first` to `end` - 1 of a batch, RUN at most. Returns 1 if there is no memory. */
GBEES_PROCESSOR_CLONES static int spread_run(const gbees_parts *parts, const int *states, size_t first, size_t end,
                                             gbees_bricks *bricks)
{
    const int n = bricks->n;
    const double unit = parts->share * GBEES_BRICKS_ONE;
    double square = 0;
    double above[GBEES_MAX_DIM][RUN], mass[RUN];
    int32_t lower[GBEES_MAX_DIM][RUN];

    for (int j = 0; j < n; j++)
        share_axis(parts->place[states[j]] + first, parts->width[states[j]], end - first, lower[j], above[j]);
    for (int j = 0; j < n; j++)
        square += parts->width[states[j]] * parts->width[states[j]] / n;
    for (size_t t = 0; t < end - first; t++)
        mass[t] = exp(parts->log_mass[first + t]) * unit;
    for (size_t t = 0; t < end - first; t++) {
        place p;

        p.mass = mass[t];
        p.spread = mass[t] * square;
        for (int j = 0; j < n; j++) {
            p.index[j] = lower[j][t];
            p.upper[j] = above[j][t];
        }
        if (mass[t] >= 0.5 && add_part(bricks, &p))
            return 1;
    }
    return 0;
}

int gbees_parts_spread(const gbees_parts *parts, const int *states, gbees_bricks *bricks)
{
    for (size_t first = 0; first < parts->batch; first += RUN)
        if (spread_run(parts, states, first, first + RUN < parts->batch ? first + RUN : parts->batch, bricks))
            return 1;
    return 0;
}
