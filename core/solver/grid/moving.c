/* moving.c - takes the steps of a moving grid: fits an affine field to the drift, moves the frame by the field's
 * exact flow, has the backend advect by the rest, and replaces the cells by others when they fit no longer. */
#include "moving.h"
#include "frame/relative.h"
#include "record/instants.h"
#include "resolve.h"
#include "solver/problem/frame.h"
#include <math.h>
#include <string.h>

enum { FIT_STEPS = 3, LOOK_STEPS = 5, TRIES = 6, COSTLY_RECORDS = 3 };

/* The most of ||A^-1 (dB/dt) A|| dt^2, the change of the field's gradient over a step, at a Courant number of 1; less
 * at a smaller one. */
static const double change_most = 0.02;
/* Cells that the drift crosses in a step, below which the grid does not grow. */
static const double negligible_part = 0.01;
/* The next step is this part of the limit, and at most growth_most times this one. A step is tried anew, shorter, if
 * it is more than beyond_limit times its limit. */
static const double part_of_limit = 0.95, growth_most = 1.25, beyond_limit = 1.02;
/* An update's cells: they become narrower where the standard deviation of what a measurement leaves has fewer of the
 * present ones than least_cells, by so much more than K allows at most; the most cells over the present ones, and how
 * many there may be in any case. */
static const double least_cells = 1.5, sharpest = 8, most_growth = 8, cells_always = 1e6;
/* The first step of all, as a part of the interval. */
static const double first_part = 1e-3;

/* ---- the field ---- */

/* Sends a frame to the engine; rate: as gbees_backend.frame_set() has it. */
static int send(const gbees_grid *grid, gbees_grid_frame *to, double dt, double time, double *rate,
                gbees_error *error)
{
    to->negligible = dt > 0 ? negligible_part / dt : 0;
    to->time_step = dt > 0 ? dt : INFINITY;
    return grid->backend->frame_set(grid->engine, to, time, rate, error);
}

/* Fits the field at `time` to the drift under the present density, taken to the frame `at`. The fit is made relative
 * to the field `guess`, to lose little to rounding. */
static int fit(gbees_moving *moving, const gbees_grid *grid, const gbees_moving_frame *at, const gbees_affine *guess,
               double time, gbees_affine *field, gbees_error *error)
{
    gbees_grid_frame frame;
    gbees_affine_sums sums;
    int status = gbees_relative_set(at, guess, &frame, error);

    if (!status)
        status = send(grid, &frame, 0, time, NULL, error);
    if (!status)
        status = grid->backend->frame_fit(grid->engine, time, &sums, error);
    if (status)
        return status;
    gbees_relative_to_drift(at->n, &frame, &sums);
    status = gbees_affine_fit(&sums, at, field, error);
    if (!status)
        gbees_motion_note(&moving->fits, time, field);
    return status;
}

/* ---- a step ---- */

/* A step that is being chosen. */
typedef struct trial {
    double dt, limit;   /* its length, and the longest that it may be */
    gbees_affine field; /* in its middle */
    int fitted;         /* whether the field has been fitted to the drift there */
} trial;

/* The longest step for a rate, with the change of the last two fits. */
static double limit_of(const gbees_moving *moving, const gbees_grid_frame *frame, int n, double courant, double rate)
{
    const gbees_motion_fits *fits = &moving->fits;
    double limit = courant / rate;

    if (fits->count > 1 && fits->time[1] > fits->time[0]) {
        const double change =
            gbees_relative_change(frame, n, &fits->fit[0], fits->time[0], &fits->fit[1], fits->time[1]);

        limit = fmin(limit, fmin(1, courant) * sqrt(change_most / change));
    }
    return limit;
}

/* Computes the field and the velocities in the middle of a step of trial->dt, and its limit. */
static int try_step(gbees_moving *moving, const gbees_grid *grid, double time, trial *t, gbees_error *error)
{
    const int n = moving->frame.n;
    const double middle = time + t->dt / 2;
    gbees_moving_frame at = moving->frame;
    gbees_grid_frame frame;
    gbees_affine predicted;
    double rate = 0;
    int status = gbees_motion_middle(&moving->fits, time, t->dt, &at, error);

    gbees_motion_predict(&moving->fits, n, middle, &predicted);
    t->field = predicted;
    if (!status && t->fitted)
        status = fit(moving, grid, &at, &predicted, middle, &t->field, error);
    if (!status)
        status = gbees_relative_set(&at, &t->field, &frame, error);
    if (!status)
        status = send(grid, &frame, t->dt, middle, &rate, error);
    t->limit = status ? 0 : limit_of(moving, &frame, n, grid->problem->numerics.courant, rate);
    return status;
}

/* The first length of a step to be tried: what is left of the interval or until noise is due, half of it, or
 * moving->step, so that no very short step remains at the end. */
static double first_length(const gbees_moving *moving, const gbees_clock *clock)
{
    const double all = clock->length - clock->elapsed;
    const double rest =
        moving->noise.any && moving->noise.due > clock->time ? fmin(all, moving->noise.due - clock->time) : all;
    const double wanted = moving->step > 0 ? moving->step : first_part * clock->length;

    return wanted >= rest ? rest : fmin(wanted, rest > 1.5 * wanted ? rest : rest / 2);
}

static int choose(gbees_moving *moving, const gbees_grid *grid, const gbees_clock *clock, trial *t,
                  gbees_error *error)
{
    int fresh = moving->fits.count == 0, status = GBEES_OK;

    *t = (trial){.dt = first_length(moving, clock), .fitted = fresh || moving->steps % FIT_STEPS == 0};
    if (fresh)
        status = fit(moving, grid, &moving->frame, &(gbees_affine){.rank = 0}, clock->time, &t->field, error);
    for (int tries = 0; !status && tries <= TRIES; tries++) {
        status = try_step(moving, grid, clock->time, t, error);
        if (!status && !(t->dt > beyond_limit * t->limit) && !fresh)
            return GBEES_OK;
        if (t->dt > beyond_limit * t->limit)
            t->dt = 0.9 * t->limit;
        else if (fresh && tries > 0) /* the field has been predicted again, with the slope of two fits */
            return status;
        t->fitted = t->fitted && fresh; /* between the last two fits, a prediction is as good as another fit */
        fresh = fresh && tries == 0;
    }
    if (!status && !(t->dt <= 2 * t->limit))
        status =
            gbees_error_set(error, GBEES_ENUMERIC,
                            "the frame of the grid can't follow the drift: of %d steps each shorter than the one "
                            "before the last, %g, is beyond its limit of %g",
                            TRIES + 1, t->dt, t->limit);
    return status;
}

static int step(gbees_moving *moving, gbees_grid *grid, gbees_clock *clock, gbees_error *error)
{
    trial t;
    const gbees_clock before = *clock;
    int status = gbees_moving_noise_plan(&moving->noise, grid->problem, &moving->frame, clock->time,
                                         clock->time + (clock->length - clock->elapsed), error);

    if (!status)
        status = choose(moving, grid, clock, &t, error);

    if (!status)
        status = grid->backend->advance(grid->engine, clock, 1, error);
    const double taken = clock->elapsed - before.elapsed;
    const gbees_moving_way way = {&moving->frame, &t.field, before.time, taken};
    if (!status && taken > 0)
        status = gbees_moving_noise_gather(&moving->noise, grid->problem, &way, error);
    if (!status && taken > 0)
        status = gbees_motion_step(&t.field, taken, &moving->frame, error);
    moving->step = fmin(growth_most * t.dt, part_of_limit * t.limit);
    moving->steps++;
    return status;
}

/* ---- the shape of the density ---- */

/* The density, in y, as its cells are chosen by it. */
typedef struct view {
    gbees_statistics statistics;
    double information[GBEES_MATRIX];
} view;

/* Finds the cells that fit the density, which has that much noise still to get: NULL, or its covariance. */
static int find_shape(gbees_moving *moving, const gbees_problem *problem, const view *seen, const double *noise,
                      gbees_error *error)
{
    const int n = moving->frame.n;
    const gbees_shape_rule rule = {.cells = problem->frame_least, .most = problem->frame_cells};
    view wider = *seen;

    for (int k = 0; noise && k < n * n; k++)
        wider.statistics.covariance[k] += noise[k];
    if (noise)
        gbees_shape_widen(n, noise, wider.information);
    return gbees_shape_find(n, wider.statistics.covariance, wider.information, &rule, &moving->shape, error);
}

/* Looks at the density. */
static int look(gbees_moving *moving, const gbees_grid *grid, const gbees_clock *clock, view *seen,
                gbees_error *error)
{
    const int n = moving->frame.n;
    int status = grid->backend->statistics(grid->engine, clock, &seen->statistics, error);

    if (!status)
        status = grid->backend->frame_information(grid->engine, seen->information, error);
    if (!status && moving->noise.any)
        status = gbees_moving_noise_check(grid->problem, &moving->frame, &seen->statistics, clock->time, error);
    if (!status)
        status = find_shape(moving, grid->problem, seen, NULL, error);
    memcpy(moving->noise.information, seen->information, (size_t)(n * n) * sizeof *seen->information);
    moving->checked = moving->steps;
    return status;
}

int gbees_moving_fits(const gbees_moving *moving)
{
    return !gbees_shape_is_outgrown(&moving->shape) && !moving->noise.is_due;
}

/* Sets moving->shape to cells along whose edges the noise that is due is diagonal, and spread[n] to what it adds
 * along them. Where the present cells fit, and noise is diagonal in them, they are kept. */
static int turn_to_noise(gbees_moving *moving, const gbees_grid *grid, const view *seen, double time, double *spread,
                         double *thinned, gbees_error *error)
{
    const int n = moving->frame.n;
    const gbees_moving_noise *noise = &moving->noise;
    double due[GBEES_MATRIX] = {0};
    gbees_affine field;
    const gbees_moving_way ahead = {&moving->frame, &field, time, noise->until - time};
    int status = GBEES_OK;

    gbees_motion_predict(&moving->fits, n, time + ahead.length / 2, &field);
    if (ahead.length > 0)
        status = gbees_moving_noise_find(grid->problem, &ahead, due, error);
    for (int k = 0; k < n * n; k++)
        due[k] += noise->gathered[k];
    if (!status)
        status = find_shape(moving, grid->problem, seen, due, error);
    if (status)
        return status;
    if (noise->is_of_jump)
        *thinned = gbees_moving_noise_thins(n, seen->statistics.covariance, due);
    if (!gbees_shape_is_outgrown(&moving->shape))
        gbees_shape_keep(n, &moving->shape);
    return gbees_shape_turn(n, due, &moving->shape, spread)
               ? gbees_error_set(error, GBEES_ENUMERIC, "no cells were found along which the process noise lies")
               : GBEES_OK;
}

/* Sets the frame of the cells that fit the density, about its mean; where the edges stay, so does the frame. */
static void set_frame(const gbees_moving *moving, const view *seen, gbees_moving_frame *to)
{
    const int n = moving->frame.n;

    if (gbees_shape_is_kept(n, &moving->shape))
        return;
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            to->m[j] += moving->frame.a[j * n + k] * seen->statistics.mean[k];
    gbees_matrix_multiply(n, moving->frame.a, moving->shape.edges, to->a);
}

/* Replaces the cells by those of moving->shape, with the noise to->spread that is due, or NULL. */
static int remap(gbees_moving *moving, gbees_grid *grid, const gbees_clock *clock, const view *seen,
                 gbees_grid_target *to, gbees_error *error)
{
    int status = gbees_moving_noise_apply(&moving->noise, moving->frame.n, moving->shape.edges, to->spread, error);

    if (status)
        return status;
    set_frame(moving, seen, &to->frame);
    to->threshold =
        moving->threshold * fmin(1, moving->cells / ((double)seen->statistics.cells * moving->shape.growth));
    status = gbees_grid_remap(grid, clock, &moving->frame, to, error);
    if (status)
        return status;
    moving->frame = to->frame;
    moving->shape.longest = moving->shape.growth = 1; /* until the next look */
    moving->replaced++;
    return gbees_moving_place(moving, grid, clock->time, error);
}

int gbees_moving_sharpen(gbees_moving *moving, gbees_grid *grid, const gbees_clock *clock,
                         const gbees_measurement *measurement, gbees_error *error)
{
    const int n = moving->frame.n;
    const gbees_problem *problem = grid->problem;
    gbees_shape_rule rule = {.cells = problem->frame_least, .most = sharpest * problem->frame_cells};
    gbees_grid_target to = {.frame = moving->frame};
    view seen;
    int status = look(moving, grid, clock, &seen, error);
    const gbees_frame_shape present = moving->shape;
    const double cells = (double)seen.statistics.cells;
    const double most =
        fmin(gbees_resolve_cells_most(problem, grid->options.memory_bytes), fmax(cells_always, most_growth * cells));

    if (status)
        return status;
    gbees_resolve_information(problem, &moving->frame, seen.statistics.mean, measurement, clock->time,
                              seen.information);
    status = gbees_shape_find(n, seen.statistics.covariance, seen.information, &rule, &moving->shape, error);
    if (!status && moving->shape.longest <= problem->frame_least / least_cells) {
        moving->shape = present;
        return GBEES_OK;
    }
    while (!status && moving->shape.growth * cells > most && rule.most > rule.cells) {
        rule.most = fmax(rule.most / 1.5, rule.cells);
        status = gbees_shape_find(n, seen.statistics.covariance, seen.information, &rule, &moving->shape, error);
    }
    return status ? status : remap(moving, grid, clock, &seen, &to, error);
}

int gbees_moving_replace(gbees_moving *moving, gbees_grid *grid, const gbees_clock *clock, gbees_error *error)
{
    double spread[GBEES_MAX_DIM] = {0};
    gbees_grid_target to = {.frame = moving->frame, .spread = moving->noise.is_due ? spread : NULL};
    view seen;
    int status = look(moving, grid, clock, &seen, error);

    if (!status && to.spread)
        status = turn_to_noise(moving, grid, &seen, clock->time, spread, &to.thinned, error);
    return status ? status : remap(moving, grid, clock, &seen, &to, error);
}

/* ---- the run ---- */

int gbees_moving_start(gbees_moving *moving, gbees_grid *grid, gbees_error *error)
{
    const gbees_problem *problem = grid->problem;
    const gbees_clock clock = {.time = problem->start};
    gbees_totals totals;
    view seen;

    if (!grid->backend->frame_set)
        return gbees_error_set(error, GBEES_EUSAGE,
                               "frame: the backend '%s' has no grids that move: use --backend cpu, or 'frame: fixed'",
                               grid->backend->name);
    *moving = (gbees_moving){.frame = {.n = problem->dimension}};
    memcpy(moving->frame.m, problem->centre, sizeof problem->centre);
    memcpy(moving->frame.a, problem->rotation, sizeof problem->rotation);
    grid->backend->totals(grid->engine, &totals);
    moving->cells = (double)totals.max_cells;
    moving->threshold = totals.threshold;
    moving->noise.any = problem->model->diffusion || gbees_instants_with_error(problem);
    moving->noise.due = problem->model->diffusion ? 0 : INFINITY;
    return look(moving, grid, &clock, &seen, error);
}

/* Puts the engine's grid where the frame is now, with the velocity of a field. */
static int place(const gbees_moving *moving, const gbees_grid *grid, const gbees_affine *field, double time,
                 double *rate, gbees_error *error)
{
    gbees_grid_frame frame;
    const int status = gbees_relative_set(&moving->frame, field, &frame, error);

    return status ? status : send(grid, &frame, moving->step, time, rate, error);
}

int gbees_moving_place(const gbees_moving *moving, const gbees_grid *grid, double time, gbees_error *error)
{
    gbees_affine field;
    double rate;

    gbees_motion_predict(&moving->fits, moving->frame.n, time, &field);
    return place(moving, grid, &field, time, &rate, error);
}

int gbees_moving_note(gbees_moving *moving, gbees_grid *grid, double time, gbees_error *error)
{
    gbees_affine field;
    int status = place(moving, grid, &(gbees_affine){.rank = 0}, time, &moving->rate_at_rest, error);

    gbees_motion_predict(&moving->fits, moving->frame.n, time, &field);
    if (!status)
        status = place(moving, grid, &field, time, &moving->rate, error);
    moving->costly = moving->rate > moving->rate_at_rest ? moving->costly + 1 : 0;
    return status;
}

unsigned gbees_moving_warnings(const gbees_moving *moving)
{
    return (moving->shape.limited > 0 ? GBEES_WARNING_FRAME_CELLS : 0u) |
           (moving->costly >= COSTLY_RECORDS ? GBEES_WARNING_FRAME_COST : 0u);
}

int gbees_moving_restart(gbees_moving *moving, gbees_grid *grid, const gbees_clock *clock, gbees_error *error)
{
    view seen;

    moving->fits.count = 0;
    moving->steps = 0;
    moving->step *= 0.1;
    int status = look(moving, grid, clock, &seen, error);
    if (!status && !gbees_moving_fits(moving))
        status = gbees_moving_replace(moving, grid, clock, error);
    return status;
}

int gbees_moving_jump(gbees_moving *moving, gbees_grid *grid, const gbees_clock *clock, const gbees_instant *instant,
                      gbees_error *error)
{
    int status = GBEES_OK;

    gbees_motion_jump(instant->matrix, instant->value, &moving->frame);
    if (instant->has_error)
        status = gbees_moving_noise_jump(&moving->noise, &moving->frame, instant->covariance, error);
    return status ? status : gbees_moving_restart(moving, grid, clock, error);
}

int gbees_moving_advance(gbees_moving *moving, gbees_grid *grid, gbees_clock *clock, uint64_t max_steps,
                         gbees_error *error)
{
    int status = GBEES_OK;
    view seen;

    for (uint64_t k = 0; !status && k < max_steps && clock->elapsed < clock->length; k++) {
        status = step(moving, grid, clock, error);
        if (!status && moving->steps >= moving->checked + LOOK_STEPS)
            status = look(moving, grid, clock, &seen, error);
        if (!status && !gbees_moving_fits(moving))
            break;
    }
    return status;
}
