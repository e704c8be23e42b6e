/* bridge.c - distances to the boundaries of targets in units of the noise, and the halving of bridges; see bridge.h.
 */
#include "bridge.h"
#include "samples.h"
#include <gbees/record.h>
#include <math.h>

enum {
    N = GBEES_MAX_DIM,
    DEPTH = 12, /* bridges are halved so often at most */
    CALLS = 4   /* of random numbers for one bridge: two for its middle, two for eight targets */
};

/* Differences of g along F are taken over this part of the noise. */
static const double reach = 1e-3;
/* A boundary counts that has been crossed with at least this probability. */
static const double least_chance = 1e-4;
/* It bends if it leaves its tangent by more than this part of the noise, as far along it as the noise leads. */
static const double most_bend = 0.125;

/* The way from an end to a boundary along which noise leads there most likely. */
typedef struct way {
    double far;            /* its length, in units of the noise: the root of a time */
    double foot[N], slope; /* where it ends; the change of g over a unit */
    double g;              /* at the end */
} way;

static double value_at(const gbees_bridge *bridge, int k, double time, const double *place)
{
    const double *x[N] = {NULL};
    double g;

    for (int j = 0; j < bridge->problem->dimension; j++)
        x[j] = &place[j];
    gbees_target_values(bridge->problem, k, time, 1, x, &g);
    return g;
}

/* to = from + by F along. */
static void move(const gbees_bridge *bridge, const double *from, double by, const double *along, double *to)
{
    for (int j = 0; j < bridge->problem->dimension; j++) {
        to[j] = from[j];
        for (int c = 0; c < bridge->columns; c++)
            to[j] += by * bridge->factor[j][c] * along[c];
    }
}

/* The way from an end to the boundary of target k: by Newton's method from the end, and once more from where that
 * leads, with the same slope, so that its length is of second order where g bends. Infinite where noise does not lead
 * there; below 0 inside. */
static way find_way(const gbees_bridge *bridge, int k, const gbees_bridge_end *end)
{
    const double g = value_at(bridge, k, end->time, end->x), by = reach * sqrt(bridge->duration);
    double normal[N] = {0}, square = 0, place[N];
    way to = {.far = g < 0 ? -INFINITY : INFINITY, .g = g};

    for (int c = 0; c < bridge->columns && !(g < 0); c++) {
        double along[N] = {0};

        along[c] = 1;
        move(bridge, end->x, by, along, place);
        normal[c] = (g - value_at(bridge, k, end->time, place)) / by;
        square += normal[c] * normal[c];
    }
    if (!(square > 0))
        return to;
    to.slope = sqrt(square);
    to.far = g / to.slope;
    move(bridge, end->x, to.far / to.slope, normal, to.foot);
    to.far = fmax(to.far / 2, to.far + value_at(bridge, k, end->time, to.foot) / to.slope);
    return to;
}

/* Whether the boundary bends within the noise of a duration, at the end of a way at this time. */
static int bends(const gbees_bridge *bridge, int k, double time, const way *to, double duration)
{
    const double middle = value_at(bridge, k, time, to->foot), by = sqrt(duration);
    double sum = 0;

    for (int c = 0; c < bridge->columns; c++) {
        double along[N] = {0}, above[N], below[N];

        along[c] = 1;
        move(bridge, to->foot, by, along, above);
        move(bridge, to->foot, -by, along, below);
        sum += fabs(value_at(bridge, k, time, above) + value_at(bridge, k, time, below) - 2 * middle);
    }
    return !(sum <= most_bend * to->slope * by);
}

/* Draws the middle of a bridge; *mean: the middle between its ends. */
static void find_middle(const gbees_bridge *bridge, const gbees_bridge_end *mean, double duration, uint64_t id,
                        gbees_bridge_end *middle)
{
    double z[N];

    for (int call = 0; 4 * call < bridge->columns; call++)
        gbees_samples_normals(bridge->seed, bridge->sample, bridge->number, CALLS * id + (uint64_t)call,
                              SAMPLES_FOR_BRIDGE, &z[4 * call]);
    move(bridge, mean->x, sqrt(duration) / 2, z, middle->x);
    middle->time = mean->time;
}

/* Draws which target the bridge enters: the first of those drawn. */
static int draw(const gbees_bridge *bridge, const double *chance, uint64_t id)
{
    const int count = bridge->problem->target_count;
    double u[GBEES_MAX_TARGETS];

    for (int call = 0; 4 * call < count; call++)
        gbees_samples_uniforms(bridge->seed, bridge->sample, bridge->number, CALLS * id + 2 + (uint64_t)call,
                               SAMPLES_FOR_BRIDGE, &u[4 * call]);
    for (int k = 0; k < count; k++)
        if (u[k] < chance[k])
            return k;
    return -1;
}

/* A part of the bridge: number `id` of the tree, whose halves are 2 id and 2 id + 1. */
typedef struct part {
    const gbees_bridge_end *a, *b;
    gbees_bridge_end mean; /* the middle between them */
    double duration;
    uint64_t id;
} part;

/* Sets the probability that the part has been in target k. Returns whether that is not to be trusted, as the boundary
 * bends, or g does between the ends. */
static int find_chance(const gbees_bridge *bridge, const part *of, int k, double *chance)
{
    const way from = find_way(bridge, k, of->a), to = find_way(bridge, k, of->b);

    *chance = from.far > 0 && to.far > 0 ? exp(-2 * from.far * to.far / of->duration) : 1;
    if (!(from.slope > 0 && to.slope > 0))
        return 0;
    const double middle = value_at(bridge, k, of->mean.time, of->mean.x);
    if (gbees_bridge_doubts(from.g, middle, to.g))
        return 1;
    return *chance > least_chance &&
           (fabs(from.g - 2 * middle + to.g) > most_bend * from.slope * sqrt(of->duration) ||
            bends(bridge, k, of->a->time, &from, of->duration) || bends(bridge, k, of->b->time, &to, of->duration));
}

static int enters(const gbees_bridge *bridge, const gbees_bridge_end *a, const gbees_bridge_end *b, double duration,
                  uint64_t id)
{
    const gbees_problem *problem = bridge->problem;
    part of = {a, b, {.time = (a->time + b->time) / 2}, duration, id};
    double chance[GBEES_MAX_TARGETS] = {0};
    gbees_bridge_end middle;
    int doubts = 0, likely = 0;

    for (int j = 0; j < problem->dimension; j++)
        of.mean.x[j] = (a->x[j] + b->x[j]) / 2;
    for (int k = 0; k < problem->target_count; k++) {
        if (problem->targets[k].kind != GBEES_TARGET_ABSORB)
            continue;
        doubts |= find_chance(bridge, &of, k, &chance[k]);
        likely += chance[k] > least_chance;
    }
    if (id >> DEPTH || bridge->columns == 0 || (!doubts && likely < 2))
        return draw(bridge, chance, id);
    find_middle(bridge, &of.mean, duration, id, &middle);
    const int entered = enters(bridge, a, &middle, duration / 2, 2 * id);
    return entered >= 0 ? entered : enters(bridge, &middle, b, duration / 2, 2 * id + 1);
}

int gbees_bridge_enters(const gbees_bridge *bridge, const gbees_bridge_end *a, const gbees_bridge_end *b)
{
    return enters(bridge, a, b, bridge->duration, 1);
}

int gbees_bridge_doubts(double begin, double middle, double end)
{
    return begin > 0 && end > 0 && !(2 * fabs(begin - 2 * middle + end) <= fmin(fmin(begin, middle), end));
}
