/* targets.c - adds up what cells have inside of targets; see targets.h. */
#include "targets.h"
#include "base/fraction.h"
#include <math.h>
#include <string.h>

enum { BLOCK = 256, PLACES = 2 * GBEES_MAX_DIM + 1 /* of a cell: its centre, and those of its faces */ };

/* The places of some cells in the model's axes, x[place][state][cell]. */
typedef struct block {
    size_t count;
    double x[PLACES][GBEES_MAX_DIM][BLOCK], g[PLACES][BLOCK];
} block;

void gbees_target_values(const gbees_problem *problem, int k, double time, size_t count, const double *const *x,
                         double *out)
{
    static const double origin[GBEES_MAX_DIM];

    gbees_problem_own_functions(problem)->target_d(problem->targets[k].function, count, time, origin, x,
                                                   problem->parameters, out);
}

int gbees_target_fail(const gbees_problem *problem, int k, double time, gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENUMERIC,
                           "the function of the target %s of %s is not a number somewhere in the density at t = %g: "
                           "look for a division by zero, or a root or logarithm of a negative number",
                           gbees_problem_target_name(problem, k), problem->model->name, time);
}

/* edge[n][n]: row k has the edge of a cell along the grid's axis k, in the model's axes. */
static void find_edges(const gbees_problem *problem, double *edge)
{
    const int n = problem->dimension;

    for (int j = 0; j < n; j++) {
        double along[GBEES_MAX_DIM];

        (void)gbees_problem_edges(problem, j, along);
        for (int k = 0; k < n; k++)
            edge[k * n + j] = along[k];
    }
}

static void place_cells(const gbees_problem *problem, const double *edge, const int32_t *const *index, size_t first,
                        block *b)
{
    const int n = problem->dimension;

    for (size_t i = 0; i < b->count; i++) {
        double y[GBEES_MAX_DIM], x[GBEES_MAX_DIM];

        for (int j = 0; j < n; j++)
            y[j] = problem->mean[j] + problem->width[j] * index[j][first + i];
        gbees_problem_point(problem, y, x);
        for (int j = 0; j < n; j++) {
            b->x[0][j][i] = x[j];
            for (int k = 0; k < n; k++) {
                b->x[1 + 2 * k][j][i] = x[j] - edge[k * n + j] / 2;
                b->x[2 + 2 * k][j][i] = x[j] + edge[k * n + j] / 2;
            }
        }
    }
}

/* Evaluates a target's function at all places. */
static void evaluate(const gbees_target_sums *sums, int k, block *b)
{
    for (int place = 0; place < 2 * sums->problem->dimension + 1; place++) {
        const double *x[GBEES_MAX_DIM];

        for (int j = 0; j < GBEES_MAX_DIM; j++)
            x[j] = b->x[place][j];
        gbees_target_values(sums->problem, k, sums->time, b->count, x, b->g[place]);
    }
}

/* The part of cell i that is inside. */
static double part_inside(int n, const block *b, size_t i)
{
    double change[GBEES_MAX_DIM];

    for (int k = 0; k < n; k++) {
        change[k] = b->g[2 + 2 * k][i] - b->g[1 + 2 * k][i];
        change[k] = isfinite(change[k]) ? change[k] : 0;
    }
    return gbees_fraction_inside(n, b->g[0][i], change);
}

int gbees_target_sums_add(void *sums, size_t count, const int32_t *const *index, const double *p)
{
    gbees_target_sums *s = sums;
    const int n = s->problem->dimension;
    double edge[GBEES_MAX_ENTRIES];
    block b;

    find_edges(s->problem, edge);
    for (size_t first = 0; first < count; first += b.count) {
        b.count = count - first < BLOCK ? count - first : BLOCK;
        place_cells(s->problem, edge, index, first, &b);
        for (int k = 0; k < s->problem->target_count; k++) {
            if (s->problem->targets[k].kind == GBEES_TARGET_ABSORB)
                continue;
            evaluate(s, k, &b);
            for (size_t i = 0; i < b.count; i++) {
                if (isnan(b.g[0][i])) {
                    s->wrong = k + 1;
                    return 1;
                }
                exact_add(&s->inside[k], p[first + i] * part_inside(n, &b, i));
            }
        }
        for (size_t i = 0; i < b.count; i++)
            exact_add(&s->mass, p[first + i]);
    }
    return 0;
}

double gbees_target_sums_inside(const gbees_target_sums *sums, int k)
{
    const double mass = exact_value(&sums->mass);

    return mass > 0 ? exact_value(&sums->inside[k]) / mass : NAN;
}
