/* ranges.c - circles and walls: the model's states that are no lines, and what the scenario's key `states` says of
 * them; and the grid that fits to them (doc/method.md, "Circles and walls").
 *
 * A circle, and the space between two walls, is a whole number of bricks: the cells' width follows from that. Walls
 * are at faces of bricks: so cell 0 is near the initial mean, not at it. A Gaussian on a circle is that and its
 * images a period away, each cut to the range: a mixture.
 */
#include "builder.h"
#include "numerics/neighbour.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_CELLS = 8,   /* of a circle, and between walls: a sweep reads four beyond a face */
    MOST_IMAGES = 4096 /* Gaussians, with their images */
};

/* ---- what is asked for ------------------------------------------------------------------------------------ */

int builder_is_closed(const builder *b, int j)
{
    const gbees_state_range *range = &b->range[j];

    return range->period > 0 || range->at[0] != GBEES_END_OPEN || range->at[1] != GBEES_END_OPEN;
}

int builder_has_walls(const builder *b)
{
    int walls = 0;

    for (int j = 0; j < b->problem->dimension; j++)
        walls |= b->range[j].at[0] != GBEES_END_OPEN || b->range[j].at[1] != GBEES_END_OPEN;
    return walls;
}

int builder_is_any_closed(const builder *b)
{
    int closed = 0;

    for (int j = 0; j < b->problem->dimension; j++)
        closed |= builder_is_closed(b, j);
    return closed;
}

/* The key `states`; NULL: only the card has ranges. */
static const gbees_node *node_of(const builder *b)
{
    return builder_find(b, "states");
}

static int find_state(const builder *b, const gbees_node *name, int *state)
{
    const char *nearest = NULL;

    for (int j = 0; j < b->problem->dimension; j++) {
        if (strcmp(b->model->states[j].name, name->text) == 0) {
            *state = j;
            return GBEES_OK;
        }
        nearest = builder_nearer(name->text, b->model->states[j].name, nearest);
    }
    return gbees_node_error(name, b->error, "states: %s has no state '%s'%s%s%s", b->model->name, name->text,
                            nearest ? ": did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

/* What is at an end by its keys, as lower and at_lower: a place alone is a wall that reflects. */
static int set_wall(const builder *b, const gbees_node *map, const char *key, int up, gbees_state_range *range)
{
    char at[16];
    const gbees_node *place = gbees_node_find(map, key), *what;

    (void)snprintf(at, sizeof at, "at_%s", key);
    what = gbees_node_find(map, at);
    if (what && !place)
        return gbees_node_error(what, b->error, "states: %s: give '%s', the place of the wall, too", at, key);
    if (place)
        *(up ? &range->upper : &range->lower) = gbees_node_number(place);
    range->at[up] = !place                                      ? GBEES_END_OPEN
                    : what && strcmp(what->text, "absorb") == 0 ? GBEES_END_ABSORB
                                                                : GBEES_END_REFLECT;
    return GBEES_OK;
}

/* Sets the range of the state that an entry of the list is about. */
static int set_range(builder *b, const gbees_node *map)
{
    const gbees_node *period = gbees_node_find(map, "period");
    gbees_state_range range = {.period = period ? gbees_node_number(period) : 0};
    int state = 0, status = find_state(b, gbees_node_find(map, "state"), &state);

    if (!status)
        status = set_wall(b, map, "lower", 0, &range);
    if (!status)
        status = set_wall(b, map, "upper", 1, &range);
    if (!status && period && (range.at[0] || range.at[1]))
        status = gbees_node_error(period, b->error, "states: %s: it has a period or walls, not both",
                                  b->model->states[state].name);
    if (!status)
        b->range[state] = range;
    return status;
}

static int check_range(const builder *b, int j)
{
    const gbees_state_range *range = &b->range[j];
    const char *name = b->model->states ? b->model->states[j].name : "";

    if (!(range->period >= 0) || !isfinite(range->period))
        return gbees_error_set(b->error, GBEES_EMODEL, "%s: state %s has the period %g: it must be positive",
                               b->model->name, name, range->period);
    if (range->at[0] && range->at[1] && !(range->lower < range->upper))
        return gbees_node_error(node_of(b), b->error,
                                "states: %s: the lower wall, %g, is not below the upper one, %g", name, range->lower,
                                range->upper);
    return GBEES_OK;
}

int builder_set_states(builder *b)
{
    const gbees_node *list = node_of(b);
    int status = GBEES_OK;

    for (int j = 0; b->model->ranges && j < b->problem->dimension; j++)
        if (!(b->unrolled && b->model->ranges[j].period > 0))
            b->range[j] = b->model->ranges[j];
    if (list && list->kind != GBEES_NODE_LIST) /* lines */
        memset(b->range, 0, sizeof b->range);
    for (size_t i = 0; list && list->kind == GBEES_NODE_LIST && i < list->count && !status; i++)
        status = set_range(b, list->items[i]);
    for (int j = 0; j < b->problem->dimension && !status; j++)
        status = check_range(b, j);
    return status;
}

/* ---- the grid --------------------------------------------------------------------------------------------- */

static int outside(const builder *b, int j, double mean)
{
    const gbees_state_range *range = &b->range[j];
    const int up = range->at[1] && !(mean < range->upper);

    return gbees_node_error(builder_find(b, builder_find(b, "initial") ? "initial" : "mean"), b->error,
                            "mean: %s = %g is outside of the state's %s wall, %g: give one inside",
                            b->model->states[j].name, mean, up ? "upper" : "lower", up ? range->upper : range->lower);
}

/* Whether a number is inside of a state's walls. */
static int is_inside(const gbees_state_range *range, double x)
{
    return !(range->at[0] && !(x > range->lower)) && !(range->at[1] && !(x < range->upper));
}

/* The number of cells of a range of this length, a whole number of bricks, for cells about `width` wide. */
static double cells_of(const gbees_shape *shape, int j, double length, double width)
{
    const double edge = shape->edge[j], least = ceil(LEAST_CELLS / edge) * edge;

    return fmax(least, edge * round(length / (width * edge)));
}

/* The middle of a circle's cells, in cells from cell 0: a face where their number is even. */
static double middle_of(const gbees_axis_range *range)
{
    return 0.5 * ((double)range->first + range->last);
}

/* Sets a problem's width, cell 0 and range along an axis from the state's range and the width that is asked for. */
static void close_axis(const gbees_state_range *state, const gbees_shape *shape, int j, gbees_problem *problem)
{
    const int32_t edge = shape->edge[j];
    gbees_axis_range *range = &problem->range[j];
    double *h = &problem->width[j], *mean = &problem->mean[j], count = 0, below;

    if (state->period > 0 || (state->at[0] && state->at[1])) {
        const double length = state->period > 0 ? state->period : state->upper - state->lower;

        count = fmin(cells_of(shape, j, length, *h), INT_MAX / 4 / edge * edge);
        *h = length / count;
    }
    *range = (gbees_axis_range){.end = {state->at[0], state->at[1]}};
    if (state->period > 0) {
        range->end[0] = range->end[1] = GBEES_END_CIRCLE;
        range->first = -((int32_t)count / edge / 2) * edge;
        range->last = range->first + (int32_t)count - 1;
        *mean -= *h * middle_of(range); /* the range is about the mean */
        problem->period[j] = state->period;
        return;
    }
    below = state->at[0] ? *mean - state->lower : 0; /* of the mean, to the lower wall or, negative, the upper one */
    below = !state->at[0] ? *mean - state->upper : below;
    below = round((below / *h - 0.5) / edge) * edge; /* cells from the wall to cell 0 */
    if (state->at[0]) {
        below = fmax(below, 0);
        below = state->at[1] ? fmin(below, count - edge) : below;
        range->first = (int32_t)-below;
        range->last = (int32_t)(count - 1 - below);
        *mean = state->lower + (below + 0.5) * *h;
        return;
    }
    below = fmin(below, -edge);
    range->last = (int32_t)-below - 1;
    *mean = state->upper + (below + 0.5) * *h;
}

/* Makes the one Gaussian of the problem a mixture of one. */
static int make_mixture(builder *b)
{
    gbees_problem *problem = b->problem;
    gbees_gaussian *one;

    if (problem->gaussian_count > 0)
        return GBEES_OK;
    one = calloc(1, sizeof *one);
    if (!one)
        return builder_no_memory(b);
    one->weight = 1;
    memcpy(one->mean, problem->mean, sizeof one->mean);
    memcpy(one->covariance, problem->covariance, sizeof one->covariance);
    problem->gaussians = one;
    problem->gaussian_count = 1;
    return GBEES_OK;
}

/* Adds the images of all Gaussians along a circle that reach into the range. */
static int add_images(builder *b, int j, double extent)
{
    gbees_problem *problem = b->problem;
    const int n = problem->dimension, count = problem->gaussian_count;
    const double period = b->range[j].period;
    const double middle = problem->mean[j] + problem->width[j] * middle_of(&problem->range[j]);
    gbees_gaussian *all = NULL;
    int made = 0;

    for (int pass = 0; pass < 2; pass++) { /* the first one counts them */
        if (pass == 1 && made > MOST_IMAGES)
            return gbees_node_error(
                builder_find(b, "covariance"), b->error,
                "covariance: the initial density goes around %s too often: give a smaller 'extent'",
                b->model->states[j].name);
        all = pass == 1 ? calloc((size_t)made, sizeof *all) : NULL;
        if (pass == 1 && !all)
            return builder_no_memory(b);
        made = 0;
        for (int g = 0; g < count; g++) {
            const gbees_gaussian *from = &problem->gaussians[g];
            const double half = fmin(extent * sqrt(from->covariance[j * n + j]), MOST_IMAGES * period);
            const double near = from->mean[j] - period * round((from->mean[j] - middle) / period);
            const int images = (int)floor(half / period) + 1;

            for (int k = -images; k <= images; k++, made++)
                if (all) {
                    all[made] = *from;
                    all[made].mean[j] = near + k * period;
                }
        }
    }
    free((void *)problem->gaussians);
    problem->gaussians = all;
    problem->gaussian_count = made;
    return GBEES_OK;
}

int builder_close_axes(builder *b, const double *extent)
{
    gbees_problem *problem = b->problem;
    gbees_shape shape;
    int status = builder_is_any_closed(b) ? make_mixture(b) : GBEES_OK;

    gbees_shape_set(&shape, problem->dimension, 64);
    for (int j = 0; j < problem->dimension && !status; j++) {
        if (!builder_is_closed(b, j))
            continue;
        for (int g = 0; g < problem->gaussian_count && !status; g++)
            if (!is_inside(&b->range[j], problem->gaussians[g].mean[j]))
                status = outside(b, j, problem->gaussians[g].mean[j]);
        close_axis(&b->range[j], &shape, j, problem);
        if (!status && b->range[j].period > 0)
            status = add_images(b, j, extent[j]);
    }
    return status;
}

void builder_unroll(builder *b)
{
    for (int j = 0; j < b->problem->dimension; j++)
        if (b->range[j].period > 0) {
            b->problem->period[j] = b->range[j].period;
            b->range[j].period = 0;
        }
}

/* Whether the cells that are given, of an initial record, are those of the range. */
static int fits(const builder *b, int j)
{
    gbees_problem given = *b->problem;
    const gbees_initial_cells *cells = b->problem->cells;
    gbees_shape shape;
    int fit;

    gbees_shape_set(&shape, given.dimension, 64);
    close_axis(&b->range[j], &shape, j, &given);
    fit = fabs(given.width[j] - b->problem->width[j]) <= 1e-9 * given.width[j];
    if (!gbees_problem_is_circle(&given, j)) {
        const double off = (given.mean[j] - b->problem->mean[j]) / given.width[j], bricks = off / shape.edge[j];

        fit = fit && fabs(bricks - round(bricks)) < 1e-6;
        given.range[j].first += (int32_t)round(off);
        given.range[j].last += (int32_t)round(off);
    }
    for (size_t i = 0; i < cells->count && fit; i++)
        fit = !(given.range[j].end[0] && cells->index[j][i] < given.range[j].first) &&
              !(given.range[j].end[1] && cells->index[j][i] > given.range[j].last);
    b->problem->range[j] = given.range[j];
    b->problem->period[j] = given.period[j];
    return fit;
}

int builder_close_record(builder *b)
{
    for (int j = 0; j < b->problem->dimension; j++)
        if (builder_is_closed(b, j) && !fits(b, j))
            return gbees_node_error(builder_find(b, "initial"), b->error,
                                    "initial: file: the record's cells do not fit to the %s of %s: begin with a "
                                    "record of such a run",
                                    b->range[j].period > 0 ? "period" : "walls", b->model->states[j].name);
    return GBEES_OK;
}

/* ---- walls at which noise ends --------------------------------------------------------------------------- */

/* Sets the drift along state j and Q_jj at the wall, of a place whose state k is `off` from the mean. */
static void find_at_wall(const gbees_problem *problem, int j, double wall, int k, double off, double *f, double *q)
{
    const double zero[1] = {0}, *offset[GBEES_MAX_DIM];
    double y[GBEES_MAX_DIM], drift[GBEES_MAX_DIM], noise[GBEES_MAX_DIM * GBEES_MAX_DIM] = {0};
    double *to[GBEES_MAX_DIM], *out[GBEES_MAX_DIM * GBEES_MAX_DIM];

    memcpy(y, problem->mean, sizeof y);
    y[k] += off;
    y[j] = wall;
    for (int l = 0; l < GBEES_MAX_DIM; l++) {
        offset[l] = zero;
        to[l] = &drift[l];
    }
    for (int l = 0; l < GBEES_MAX_DIM * GBEES_MAX_DIM; l++)
        out[l] = &noise[l];
    problem->functions->drift_d(1, problem->start, y, offset, problem->parameters, to);
    problem->functions->diffusion_d(1, problem->start, y, offset, problem->parameters, out);
    *f = drift[j];
    *q = noise[j];
}

/* Whether at a wall that reflects there is no noise, and the drift leads inwards, wherever the other states are: the
 * density stays on its side by itself. */
static int is_natural(const builder *b, int j, int up)
{
    static const double away[] = {0, -1, 1, -10, 10, -100, 100}; /* standard deviations of another state */
    const gbees_problem *problem = b->problem;
    const double wall = up ? b->range[j].upper : b->range[j].lower;
    const int n = problem->dimension;
    double f, q, inside;

    if (b->range[j].at[up] != GBEES_END_REFLECT || !gbees_problem_noise_in_sweeps(problem) ||
        b->model->flags & GBEES_TIME_DEPENDENT)
        return 0;
    find_at_wall(problem, j, problem->mean[j], j, 0, &f, &inside);
    if (!(inside > 0))
        return 0;
    for (int k = 0; k < n; k++)
        for (size_t i = 0; i < sizeof away / sizeof *away; i++) {
            find_at_wall(problem, j, wall, k, away[i] * sqrt(problem->covariance[k * n + k]), &f, &q);
            if (!(q <= 1e-12 * inside) || !(up ? f < 0 : f > 0))
                return 0;
        }
    return 1;
}

/* Opens the walls at which a sweep needs none, and is more accurate without. What lay beyond is cut off already. */
static void open_walls(builder *b, int j)
{
    for (int up = 0; up < 2; up++)
        if (is_natural(b, j, up))
            b->problem->range[j].end[up] = GBEES_END_OPEN;
}

/* ---- what circles and walls do not go with ---------------------------------------------------------------- */

/* Whether the drift at a place is not that a period further. */
static int is_no_period(const builder *b, int j)
{
    const gbees_problem *problem = b->problem;
    double at[2] = {0, problem->period[j]}, zeros[2] = {0}, out[GBEES_MAX_DIM][2], *to[GBEES_MAX_DIM];
    const double *offset[GBEES_MAX_DIM];
    int differs = 0;

    for (int k = 0; k < problem->dimension; k++) {
        offset[k] = k == j ? at : zeros;
        to[k] = out[k];
    }
    problem->functions->drift_d(2, problem->start, problem->mean, offset, problem->parameters, to);
    for (int k = 0; k < problem->dimension; k++)
        differs |= fabs(out[k][1] - out[k][0]) > 1e-6 * (fabs(out[k][0]) + fabs(out[k][1])) + 1e-9;
    return differs;
}

/* Whether a target's function at some places around a circle is not that a period further. */
static int is_target_of_lines(const builder *b, int j, int function)
{
    enum { PLACES = 8 };
    const gbees_problem *problem = b->problem;
    double at[2 * PLACES], zeros[2 * PLACES] = {0}, g[2 * PLACES];
    const double *offset[GBEES_MAX_DIM];
    int differs = 0;

    for (int k = 0; k < problem->dimension; k++)
        offset[k] = k == j ? at : zeros;
    for (int i = 0; i < 2 * PLACES; i++)
        at[i] = problem->period[j] * (i % PLACES * 0.618034 + i / PLACES);
    problem->functions->target_d(function, 2 * PLACES, problem->start, problem->mean, offset, problem->parameters, g);
    for (int i = 0; i < PLACES; i++)
        differs |= fabs(g[i + PLACES] - g[i]) > 1e-6 * (fabs(g[i]) + fabs(g[i + PLACES])) + 1e-9;
    return differs;
}

/* Sets the error for a key, or if it is not given for the state, that a closed axis does not go with. A circle that
 * only the model has is then a line: see gbees_problem_create(). */
static int refuse(builder *b, int j, const char *key, const char *what, const char *remedy)
{
    const gbees_node *node = builder_find(b, key);

    b->unroll = b->range[j].period > 0 && !node_of(b);
    return gbees_node_error(node ? node : node_of(b), b->error, "%s: %s: %s is %s: %s, or 'states: lines'",
                            node ? key : "states", what, b->model->states[j].name,
                            b->range[j].period > 0 ? "on a circle" : "between walls", remedy);
}

static int check_closed(builder *b, int j)
{
    const gbees_problem *problem = b->problem;

    if (problem->numerics.mode != GBEES_MODE_DEFAULT)
        return refuse(b, j, "mode", "paper and legacy mode have lines only", "remove it");
    if (!gbees_scheme_is_split(problem->numerics.scheme))
        return refuse(b, j, "scheme", "ctu has lines only", "give 'scheme: split5'");
    if (gbees_problem_engine_noise(problem) && !gbees_problem_noise_in_sweeps(problem))
        return refuse(b, j, "scheme", "process noise goes around circles and ends at walls by sweeps only",
                      "give a diagonal Q and 'scheme: split5'");
    if (problem->regrid_auto || problem->regrid_count)
        return refuse(b, j, "regrid", "cells keep their width there", "remove it");
    if (problem->instant_count > 0)
        return refuse(b, j, "instants", "a jump may lead out of it", "leave it out");
    for (int k = 0; k < problem->target_count; k++)
        if (b->range[j].period > 0 && is_target_of_lines(b, j, problem->targets[k].function))
            return refuse(b, j, "targets", "a target is another one a period further", "give it the period");
    return GBEES_OK;
}

/* Refuses a period of a state that its equations don't have. */
static int check_period(const builder *b, int j)
{
    const double period = b->problem->period[j];

    if (!(period > 0) || !is_no_period(b, j))
        return GBEES_OK;
    return gbees_node_error(node_of(b), b->error,
                            "states: the drift is another one a period further: %s is on a circle: give the drift's "
                            "period, or 'states: lines'",
                            b->model->states[j].name);
}

int builder_check_states(builder *b)
{
    int status = GBEES_OK;

    for (int j = 0; j < b->problem->dimension && !status; j++) {
        status = check_period(b, j);
        if (!status && builder_is_closed(b, j))
            status = check_closed(b, j);
        if (!status)
            open_walls(b, j);
    }
    return status;
}

int builder_check_frame(builder *b)
{
    const int rotated = builder_is_set(b, "rotate", "yes"), points = builder_is_set(b, "frame", "lagrangian");

    for (int j = 0; j < b->problem->dimension; j++)
        if (builder_is_closed(b, j) &&
            (rotated || builder_is_set(b, "frame", "moving") || (points && !(b->range[j].period > 0))))
            return refuse(b, j, rotated ? "rotate" : "frame",
                          "only a grid at rest along the states has circles and walls", "remove it");
    return GBEES_OK;
}
