/* bound.c - the range of the model's bound J(x): cells outside of it are never made (doc/method.md, "Bounds"). */
#include "builder.h"
#include "scenario/scenario.h"
#include <math.h>
#include <stdio.h>

enum { ROW = 256 };

/* J at the cell centres of the initial box, row by row along the last axis. */
typedef struct walk {
    const gbees_problem *problem;
    double offset[GBEES_MAX_DIM][ROW], value[ROW];
    double low, high;          /* seen so far */
    double from, to;           /* the model's range of J */
    int found;                 /* 1: a value in this range was seen */
    double bad[GBEES_MAX_DIM]; /* where J is not finite */
} walk;

/* Evaluates J at the centres of cells first ... first + count - 1 along the last axis, at `index` along the others.
 * Returns 1, with w->bad set, if it is not finite at one of them. */
static int walk_row(walk *w, const int *index, int first, int count)
{
    const gbees_problem *problem = w->problem;
    const int n = problem->dimension, last = n - 1;
    const double *offset[GBEES_MAX_DIM];

    for (int j = 0; j < n; j++) {
        offset[j] = w->offset[j];
        for (int i = 0; i < count; i++)
            w->offset[j][i] = problem->width[j] * (j == last ? first + i : index[j]);
    }
    problem->functions->bound_d((size_t)count, problem->start, problem->mean, offset, problem->parameters, w->value);
    for (int i = 0; i < count; i++) {
        double value = w->value[i];

        if (!isfinite(value)) {
            double place[GBEES_MAX_DIM];

            for (int j = 0; j < n; j++)
                place[j] = problem->mean[j] + w->offset[j][i];
            gbees_problem_point(problem, place, w->bad);
            return 1;
        }
        w->low = value < w->low ? value : w->low;
        w->high = value > w->high ? value : w->high;
        w->found |= value >= w->from && value <= w->to;
    }
    return 0;
}

/* Moves `index` to the next row of the box; 0 after the last. */
static int next_row(const gbees_problem *problem, int *index)
{
    for (int j = problem->dimension - 2; j >= 0; j--) {
        if (++index[j] <= problem->extent[j])
            return 1;
        index[j] = -problem->extent[j];
    }
    return 0;
}

static int walk_box(walk *w)
{
    const gbees_problem *problem = w->problem;
    const int half = problem->extent[problem->dimension - 1];
    int index[GBEES_MAX_DIM], bad = 0;

    for (int j = 0; j < problem->dimension; j++)
        index[j] = -problem->extent[j];
    do {
        for (int first = -half; first <= half && !bad; first += ROW)
            bad = walk_row(w, index, first, half - first + 1 < ROW ? half - first + 1 : ROW);
    } while (!bad && next_row(problem, index));
    return bad;
}

static int not_finite(const builder *b, const walk *w)
{
    char place[256] = "";
    size_t length = 0;

    for (int j = 0; j < b->problem->dimension && length < sizeof place; j++)
        length += (size_t)snprintf(place + length, sizeof place - length, "%s%.9g", j ? ", " : "", w->bad[j]);
    return gbees_error_set(b->error, GBEES_ENUMERIC,
                           "bound: %s of %s is not finite in the initial box, at (%s): move or shrink the box "
                           "(mean, extent), or give 'bound: off'",
                           b->model->bound->name, b->model->name, place);
}

int builder_set_bound(builder *b)
{
    gbees_problem *problem = b->problem;
    const gbees_node *node = builder_find(b, "bound");
    int given = node && node->kind == GBEES_NODE_LIST;
    walk w = {.problem = problem, .low = INFINITY, .high = -INFINITY, .from = -INFINITY, .to = INFINITY};

    const gbees_node *instants = builder_find(b, "instants");

    if (instants && instants->count > 0) /* the dynamics conserve J, and jumps do not */
        return !node || builder_is_set(b, "bound", "off")
                   ? GBEES_OK
                   : gbees_node_error(node, b->error,
                                      "bound: jumps take the density out of it: leave 'bound' or "
                                      "'instants' out");
    if ((!given && builder_is_set(b, "bound", "off")) || (!node && !problem->functions->bound_d) || problem->moving ||
        gbees_problem_is_exact(problem)) /* which cells are inside would change in each step */
        return GBEES_OK;
    if (!problem->functions->bound_d || !b->model->bound)
        return gbees_node_error(node, b->error, "bound: %s has none: remove it", b->model->name);
    if (given) {
        w.from = gbees_node_number(node->items[0]);
        w.to = gbees_node_number(node->items[1]);
    }
    if (walk_box(&w))
        return not_finite(b, &w);
    if (!w.found)
        return gbees_node_error(node, b->error,
                                "bound: no cell of the initial box has %s from %g to %g: there it runs from %.9g to "
                                "%.9g",
                                b->model->bound->name, w.from, w.to, w.low, w.high);
    /* Rounding of J must not exclude a cell on the range's edge. */
    double slack = given ? 0 : 1e-9 * (w.high - w.low) + 1e-13 * fmax(fabs(w.low), fabs(w.high));
    problem->bounded = 1;
    problem->bound_low = (given ? w.from : w.low) - slack;
    problem->bound_high = (given ? w.to : w.high) + slack;
    return GBEES_OK;
}
