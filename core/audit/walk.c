/* walk.c - looks at the samples of a block, and lets those that have entered a target rest; see walk.h. */
#include "walk.h"
#include "bridge.h"
#include <math.h>
#include <string.h>

enum { BLOCK = SAMPLES_BLOCK, N = GBEES_MAX_DIM, DEPTH = 10 /* steps are halved so often at most */ };

/* A bridge is looked at whose 2 g g / (s^2 dt) is below that: exp(-32) is nothing. */
static const double far_off = 32;
/* Differences of g along F are taken over this part of the noise. */
static const double reach = 1e-3;

static void values(const gbees_walk *walk, int k, double t, const double *const *x, double *g)
{
    gbees_target_values(walk->montecarlo->problem, k, t, walk->count, x, g);
}

static int absorbs(const gbees_walk *walk, int k)
{
    return walk->montecarlo->problem->targets[k].kind == GBEES_TARGET_ABSORB;
}

/* The state along column c of F that is changed by entry j of it: of a diagonal Q it has one. */
static const double *entry_of(const gbees_walk *walk, int j, int c)
{
    const int full = walk->montecarlo->problem->model->diffusion == GBEES_FULL;

    return full ? j >= c ? walk->kicks.factor[j * walk->columns + c] : NULL : j == c ? walk->kicks.factor[j] : NULL;
}

/* Sets s^2 dt of each sample, where g is known. */
static void find_spread(const gbees_walk *walk, int k, double t, const double *g, double *spread)
{
    const double by = reach * sqrt(walk->noise.duration);
    double moved[N][BLOCK], there[BLOCK];
    const double *x[N] = {NULL};

    memset(spread, 0, walk->count * sizeof *spread);
    for (int c = 0; c < walk->columns; c++) {
        for (int j = 0; j < walk->montecarlo->problem->dimension; j++) {
            const double *entry = entry_of(walk, j, c);

            for (size_t i = 0; i < walk->count && entry; i++)
                moved[j][i] = walk->x[j][i] + by * entry[i];
            x[j] = entry ? moved[j] : walk->x[j];
        }
        values(walk, k, t, x, there);
        for (size_t i = 0; i < walk->count; i++)
            spread[i] += (there[i] - g[i]) / reach * ((there[i] - g[i]) / reach);
    }
}

/* Sets g in the middle between the places of the last look and those at time t. */
static void find_middle(const gbees_walk *walk, int k, double t, double *g)
{
    double middle[N][BLOCK];
    const double *x[N] = {NULL};

    for (int j = 0; j < walk->montecarlo->problem->dimension; j++) {
        for (size_t i = 0; i < walk->count; i++)
            middle[j][i] = (walk->seen[j][i] + walk->x[j][i]) / 2;
        x[j] = middle[j];
    }
    values(walk, k, (walk->seen_time + t) / 2, x, g);
}

/* The target that sample i has entered between the last look and time t: 1 + its number; 0: none. */
static unsigned char enter(const gbees_walk *walk, size_t i, double t)
{
    const int n = walk->montecarlo->problem->dimension;
    gbees_bridge bridge = {.problem = walk->montecarlo->problem,
                           .duration = walk->noise.duration,
                           .seed = walk->montecarlo->options.seed,
                           .sample = samples_number(walk->montecarlo, walk->block * BLOCK + i),
                           .number = walk->noise.number,
                           .columns = walk->columns};
    gbees_bridge_end a = {.time = walk->seen_time}, b = {.time = t};

    for (int j = 0; j < n; j++) {
        a.x[j] = walk->seen[j][i];
        b.x[j] = walk->x[j][i];
        for (int c = 0; c < walk->columns; c++) {
            const double *entry = entry_of(walk, j, c);

            bridge.factor[j][c] = entry ? entry[i] : 0;
        }
    }
    return (unsigned char)(1 + gbees_bridge_enters(&bridge, &a, &b));
}

void gbees_walk_look(gbees_walk *walk, double t)
{
    const gbees_problem *problem = walk->montecarlo->problem;
    double g[GBEES_MAX_TARGETS][BLOCK], spread[BLOCK], middle[BLOCK];
    unsigned char near[BLOCK] = {0};

    for (int k = 0; k < problem->target_count; k++) {
        if (!absorbs(walk, k))
            continue;
        values(walk, k, t, (const double *const *)walk->x, g[k]);
        find_spread(walk, k, t, g[k], spread);
        find_middle(walk, k, t, middle);
        for (size_t i = 0; i < walk->count; i++) {
            walk->smooth[k][i] = !(spread[i] > 0);
            near[i] |= spread[i] > 0 && (g[k][i] < 0 || 2 * walk->g[k][i] * g[k][i] < far_off * spread[i] ||
                                         gbees_bridge_doubts(walk->g[k][i], middle[i], g[k][i]));
            if (isnan(g[k][i]) && !walk->fate[i])
                walk->fate[i] = GBEES_WALK_LOST;
        }
    }
    for (size_t i = 0; i < walk->count; i++) {
        if (near[i] && !walk->fate[i])
            walk->fate[i] = enter(walk, i, t);
        for (int j = 0; j < problem->dimension; j++)
            if (walk->fate[i])
                walk->x[j][i] = walk->seen[j][i];
            else
                walk->seen[j][i] = walk->x[j][i];
        for (int k = 0; k < problem->target_count; k++)
            walk->g[k][i] = walk->fate[i] ? walk->g[k][i] : g[k][i];
    }
    walk->seen_time = t;
}

/* Whether the parabola through g at the beginning, in the middle and at the end of a step is below 0 in it. */
static int dips(double begin, double middle, double end)
{
    const double bend = 2 * (begin - 2 * middle + end), slope = 4 * middle - 3 * begin - end;

    return middle < 0 || end < 0 ||
           (bend > 0 && slope < 0 && -slope < 2 * bend && begin - slope * slope / (4 * bend) < 0);
}

/* Takes sample i along the drift from x at time t, by two steps. Returns the target that it enters where noise does
 * not act, 1 + its number; 0: none. Where it is in doubt, steps are halved. */
static unsigned char flow_into(gbees_walk *walk, size_t i, double t, double dt, double *x, int depth)
{
    const gbees_problem *problem = walk->montecarlo->problem;
    double place[3][N], *at[N], g[3];
    const double *from[N] = {NULL};
    unsigned char entered = 0;
    int doubts = 0, likely = 0;

    for (int half = 0; half < 3; half++) {
        memcpy(place[half], half ? place[half - 1] : x, sizeof *place);
        for (int j = 0; j < problem->dimension; j++)
            at[j] = &place[half][j];
        if (half)
            gbees_flow_step(walk->montecarlo, &walk->work, 1, t + dt / 2 * (half - 1), dt / 2, at);
    }
    for (int k = problem->target_count - 1; k >= 0; k--) {
        if (!absorbs(walk, k) || !walk->smooth[k][i])
            continue;
        for (int half = 0; half < 3; half++) {
            for (int j = 0; j < problem->dimension; j++)
                from[j] = &place[half][j];
            gbees_target_values(problem, k, t + dt / 2 * half, 1, from, &g[half]);
        }
        doubts |= gbees_bridge_doubts(g[0], g[1], g[2]);
        likely += dips(g[0], g[1], g[2]);
        entered = dips(g[0], g[1], g[2]) ? (unsigned char)(1 + k) : entered;
    }
    if ((doubts || likely > 1) && depth < DEPTH) {
        entered = flow_into(walk, i, t, dt / 2, x, depth + 1);
        return entered ? entered : flow_into(walk, i, t + dt / 2, dt / 2, x, depth + 1);
    }
    memcpy(x, place[2], sizeof *place);
    return entered;
}

/* Looks for the target that sample i has entered in a step from its place in start[]. */
static void flow_again(gbees_walk *walk, size_t i, double t, double dt, const double (*start)[BLOCK])
{
    double x[N] = {0};

    for (int j = 0; j < walk->montecarlo->problem->dimension; j++)
        x[j] = start[j][i];
    walk->fate[i] = flow_into(walk, i, t, dt, x, 0);
    for (int j = 0; j < walk->montecarlo->problem->dimension && walk->fate[i]; j++)
        walk->seen[j][i] = start[j][i];
}

void gbees_walk_flow(gbees_walk *walk, double t, double dt)
{
    const gbees_problem *problem = walk->montecarlo->problem;
    const int n = problem->dimension;
    double start[N][BLOCK], begin[GBEES_MAX_TARGETS][BLOCK], end[BLOCK];

    for (int j = 0; j < n; j++)
        memcpy(start[j], walk->x[j], walk->count * sizeof **start);
    for (int k = 0; k < problem->target_count; k++)
        if (absorbs(walk, k))
            values(walk, k, t, (const double *const *)walk->x, begin[k]);
    gbees_flow_step(walk->montecarlo, &walk->work, walk->count, t, dt / 2, walk->x);
    gbees_walk_look(walk, t + dt / 2);
    gbees_flow_step(walk->montecarlo, &walk->work, walk->count, t + dt / 2, dt / 2, walk->x);
    for (int k = 0; k < problem->target_count; k++) {
        if (!absorbs(walk, k))
            continue;
        values(walk, k, t + dt, (const double *const *)walk->x, end);
        for (size_t i = 0; i < walk->count; i++) {
            if (!walk->fate[i] && walk->smooth[k][i] &&
                (walk->g[k][i] < 0 || end[i] < 0 || gbees_bridge_doubts(begin[k][i], walk->g[k][i], end[i])))
                flow_again(walk, i, t, dt, (const double(*)[BLOCK])start);
        }
    }
}

void gbees_walk_kick(gbees_walk *walk, const samples_noise *noise)
{
    walk->noise = *noise;
    walk->columns = gbees_samples_kick(walk->montecarlo, walk->block, noise, walk->x, &walk->kicks)
                        ? walk->montecarlo->problem->dimension
                        : 0;
}

void gbees_walk_begin(gbees_walk *walk, const gbees_montecarlo *montecarlo, size_t block, double t, double *const *x,
                      unsigned char *fate)
{
    walk->montecarlo = montecarlo;
    walk->block = block;
    walk->count = samples_in_block(montecarlo, block);
    walk->x = x;
    walk->fate = fate;
    walk->columns = 0;
    walk->kicks.drawn = 0;
    walk->seen_time = t;
    for (int j = 0; j < montecarlo->problem->dimension; j++)
        memcpy(walk->seen[j], x[j], walk->count * sizeof *x[j]);
    for (int k = 0; k < montecarlo->problem->target_count; k++)
        if (absorbs(walk, k))
            values(walk, k, t, (const double *const *)x, walk->g[k]);
}
