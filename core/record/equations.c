/* equations.c - evaluates drift and noise along lines through the initial box: finds values that are missing,
 * dependence on time that the model does not declare, and jumps. */
#include "equations.h"
#include "base/cholesky.h"
#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    N = GBEES_MAX_DIM,
    INTERVALS = 32,         /* of a line */
    POINTS = INTERVALS + 1, /* of a line */
    CHORDS = 16,            /* lines beside those along the axes */
    HALVINGS = 32           /* of the interval in which a jump is looked for */
};

/* The least jump that is reported, over the component's largest value. */
static const double least_jump = 1e-3;
/* An eigenvalue of the diffusion may be below 0 by this part of its largest entry. */
static const double least_noise = 1e-9;

/* A straight line through the initial density, in the grid's axes, and what the drift is on it. */
typedef struct line {
    double from[N], to[N];
    double place[N][POINTS], drift[N][POINTS];
} line;

/* ---- lines ---- */

/* A number from -1 to 1. */
static double next_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

/* The middle and half of the size of the initial density: of all cells, or of one Gaussian, `number` counting on. */
static void find_box(const gbees_problem *problem, int number, double *middle, double *half)
{
    for (int j = 0; j < problem->dimension; j++) {
        double lo = -problem->extent[j], hi = problem->extent[j];

        if (problem->cells) {
            lo = hi = problem->cells->index[j][0];
            for (size_t i = 0; i < problem->cells->count; i += 1 + problem->cells->count / 1024) {
                lo = fmin(lo, problem->cells->index[j][i]);
                hi = fmax(hi, problem->cells->index[j][i]);
            }
        } else if (problem->gaussian_count > 0) {
            lo = problem->gaussians[number % problem->gaussian_count].lo[j];
            hi = problem->gaussians[number % problem->gaussian_count].hi[j];
        }
        middle[j] = problem->mean[j] + problem->width[j] * (lo + hi) / 2;
        half[j] = problem->width[j] * ((hi - lo) / 2 + 0.5);
    }
}

/* The first lines go along the axes through the middle, the others from side to side of the box. */
static void choose_line(const gbees_problem *problem, int number, line *l)
{
    const int n = problem->dimension;
    double middle[N], half[N];
    uint64_t state = (uint64_t)number * 7919 + 1;

    find_box(problem, number, middle, half);
    for (int j = 0; j < n; j++) {
        const double along = number < n ? (double)(j == number) : next_number(&state);
        const double beside = number < n ? 0 : 0.5 * next_number(&state);

        l->from[j] = middle[j] + half[j] * fmax(-1, fmin(1, beside - along));
        l->to[j] = middle[j] + half[j] * fmax(-1, fmin(1, beside + along));
    }
    for (int j = 0; j < n; j++)
        for (int i = 0; i < POINTS; i++)
            l->place[j][i] = l->from[j] + (l->to[j] - l->from[j]) * i / INTERVALS;
}

static int count_lines(const gbees_problem *problem)
{
    return problem->dimension + CHORDS;
}

static int noise_entries(const gbees_problem *problem)
{
    const int n = problem->dimension;

    return gbees_problem_noise(problem) == GBEES_FULL ? n * n : n;
}

/* A problem that an application has made for a backend of its own may have no functions. */
static int is_known(const gbees_problem *problem)
{
    return problem->functions && problem->functions->drift_d;
}

/* Evaluates the drift, n columns, or with `noise` the diffusion, n or n * n, on a line. */
static void evaluate(const gbees_problem *problem, const line *l, double time, int noise, double (*out)[POINTS])
{
    const double zero[N] = {0}, *offset[N] = {NULL};
    double *column[N * N] = {NULL};

    for (int j = 0; j < problem->dimension; j++)
        offset[j] = l->place[j];
    for (int k = 0; k < (noise ? noise_entries(problem) : problem->dimension); k++)
        column[k] = out[k];
    (noise ? problem->functions->diffusion_d : problem->functions->drift_d)(POINTS, time, zero, offset,
                                                                            problem->parameters, column);
}

/* ---- unwritten components, undeclared dependence on time ---- */

/* For each component of the drift: the number of points at which it is evaluated, of those where it is not a number,
 * and of those among the latter where the function of that component alone gives a number. */
typedef struct counts {
    int points[N], missing[N], unwritten[N];
} counts;

/* Adds the counts of a line's points. For a component that drift() has not written, a plugin's function of the whole
 * drift gives NaN, and the function of that component alone gives what was in memory. If that is NaN, too, the run
 * ends with the backend's error. The functions are the model's own, in its axes. */
static void count_missing(const gbees_problem *problem, const line *l, counts *seen)
{
    const gbees_functions *functions = &problem->model->functions[problem->dimension - problem->model->dim_min];
    const double zero[N] = {0}, *offset[N] = {NULL};
    double x[N][POINTS], all[N][POINTS], alone[POINTS], *out[N];

    for (int i = 0; i < POINTS; i++) {
        double from[N], to[N];

        for (int j = 0; j < problem->dimension; j++)
            from[j] = l->place[j][i];
        gbees_problem_point(problem, from, to);
        for (int j = 0; j < problem->dimension; j++)
            x[j][i] = to[j];
    }
    for (int j = 0; j < N; j++) {
        offset[j] = x[j];
        out[j] = all[j];
    }
    functions->drift_d(POINTS, problem->start, zero, offset, problem->parameters, out);
    for (int j = 0; j < problem->dimension; j++) {
        functions->component_d[j](POINTS, problem->start, zero, offset, problem->parameters, alone);
        for (int i = 0; i < POINTS; i++) {
            seen->points[j]++;
            seen->missing[j] += isnan(all[j][i]) != 0;
            seen->unwritten[j] += isnan(all[j][i]) && !isnan(alone[i]);
        }
    }
}

int gbees_equations_check_written(const gbees_problem *problem, gbees_error *error)
{
    counts seen = {{0}, {0}, {0}};
    line l;

    for (int number = 0; is_known(problem) && number < count_lines(problem); number++) {
        choose_line(problem, number, &l);
        count_missing(problem, &l, &seen);
    }
    for (int j = 0; j < problem->dimension; j++)
        if (seen.unwritten[j] > 0)
            return gbees_error_set(error, GBEES_EMODEL,
                                   "%s: component %d of the drift, d%s/dt, is not a number at %d of %d points of the "
                                   "initial density: drift() must write all of its components at each call",
                                   problem->model->name, j + 1, problem->model->states[j].name, seen.missing[j],
                                   seen.points[j]);
    return GBEES_OK;
}

/* Whether the drift, or with `noise` the diffusion, at `time` differs from that at the start. */
static int differs(const gbees_problem *problem, const line *l, double time, int noise)
{
    const int entries = noise ? noise_entries(problem) : problem->dimension;
    double then[N * N][POINTS], now[N * N][POINTS];

    evaluate(problem, l, problem->start, noise, then);
    evaluate(problem, l, time, noise, now);
    for (int k = 0; k < entries; k++)
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): any bit that differs does */
        if (memcmp(then[k], now[k], sizeof now[k]) != 0)
            return 1;
    return 0;
}

/* Compares drift and noise at the start with those at the end, in the middle, and at a time that is no simple
 * fraction of the run or of a period. */
static int check_time(const gbees_problem *problem, const line *l, gbees_error *error)
{
    static const double at[] = {1, 0.5, 0.38196601125010515};

    for (int k = 0; k < 3; k++)
        for (int noise = 0; noise < 2; noise++) {
            const double time = problem->start + at[k] * (problem->end - problem->start);

            if (noise && !problem->functions->diffusion_d)
                continue;
            if (differs(problem, l, time, noise))
                return gbees_error_set(error, GBEES_EMODEL,
                                       "%s: the %s is not the same at t = %g and at t = %g: say .flags = "
                                       "GBEES_TIME_DEPENDENT on the card, else a run has that of one time",
                                       problem->model->name, noise ? "diffusion" : "drift", problem->start, time);
        }
    return GBEES_OK;
}

int gbees_equations_check_time(const gbees_problem *problem, gbees_error *error)
{
    int status = GBEES_OK;
    line l;

    if (!is_known(problem) || problem->model->flags & GBEES_TIME_DEPENDENT)
        return GBEES_OK;
    for (int number = 0; !status && number < count_lines(problem); number++) {
        choose_line(problem, number, &l);
        status = check_time(problem, &l, error);
    }
    return status;
}

/* ---- noise that no process has ---- */

/* Whether Q at one point of a line is a covariance, but for rounding. Where it is no number a run says so. */
static int is_covariance(int n, double (*q)[POINTS], int point)
{
    double shifted[N * N], factor[N * N], most = 0, sum = 0;

    for (int k = 0; k < n * n; k++) {
        shifted[k] = q[k][point];
        most = fmax(most, fabs(shifted[k]));
        sum += shifted[k];
    }
    for (int j = 0; j < n; j++)
        shifted[j * n + j] += least_noise * most;
    return most == 0 || !isfinite(sum) || gbees_cholesky_factor(n, shifted, factor) == 0;
}

/* Of a grid that moves, a diffusion with entries beside the diagonal, along the axes through the initial density. */
static int check_noise(const gbees_problem *problem, gbees_error *error)
{
    const int n = problem->dimension;
    double q[N * N][POINTS];
    line l;

    if (!problem->moving || !is_known(problem) || !problem->functions->diffusion_d ||
        gbees_problem_noise(problem) != GBEES_FULL)
        return GBEES_OK;
    for (int number = 0; number < n; number++) {
        choose_line(problem, number, &l);
        evaluate(problem, &l, problem->start, 1, q);
        for (int i = 0; i < POINTS; i++)
            if (!is_covariance(n, q, i))
                return gbees_error_set(
                    error, GBEES_EMODEL,
                    "%s: the diffusion is no covariance about the initial density: it has a negative eigenvalue, so "
                    "that a variance would shrink; correlations are between -1 and 1",
                    problem->model->name);
    }
    return GBEES_OK;
}

int gbees_equations_check(const gbees_problem *problem, gbees_error *error)
{
    int status = gbees_equations_check_written(problem, error);

    if (!status)
        status = gbees_equations_check_time(problem, error);
    return status ? status : check_noise(problem, error);
}

/* ---- jumps ---- */

/* Returns component j at the point of a line that is `part` (0 ... 1) of the way along it; sets y to that point, in
 * the grid's axes. */
static double drift_at(const gbees_problem *problem, const line *l, int j, double part, double *y)
{
    const double zero[1] = {0}, *offset[N] = {NULL};
    double value;

    for (int k = 0; k < problem->dimension; k++) {
        y[k] = l->from[k] + (l->to[k] - l->from[k]) * part;
        offset[k] = zero;
    }
    problem->functions->component_d[j](1, problem->start, y, offset, problem->parameters, &value);
    return value;
}

/* Returns the interval (>= 1) whose change differs most from that of its neighbours; sets *usual to theirs. */
static int roughest_interval(const double *drift, double *usual)
{
    double most = -1;
    int roughest = 1;

    for (int i = 1; i + 1 < INTERVALS; i++) {
        const double beside = (drift[i] - drift[i - 1] + drift[i + 2] - drift[i + 1]) / 2;
        const double off = fabs(drift[i + 1] - drift[i] - beside);

        if (off > most) {
            most = off;
            roughest = i;
            *usual = beside;
        }
    }
    return roughest;
}

/* Finds the jump of component j on a line: bisects the roughest interval, each time into the half whose change
 * exceeds the usual one more. The change that is left at the end is the jump; for a continuous drift it is some 1e-9
 * of the interval's change. */
static gbees_jump find_jump(const gbees_problem *problem, const line *l, int j)
{
    double usual = 0, lo = roughest_interval(l->drift[j], &usual), hi = lo + 1;
    gbees_jump found = {.axis = j, .before = l->drift[j][(int)lo], .after = l->drift[j][(int)hi]};

    for (int k = 0; k < HALVINGS; k++) {
        const double middle = (lo + hi) / 2, value = drift_at(problem, l, j, middle / INTERVALS, found.y);
        const double expected = usual * (hi - lo) / 2;

        if (fabs(value - found.before - expected) > fabs(found.after - value - expected)) {
            hi = middle;
            found.after = value;
        } else {
            lo = middle;
            found.before = value;
        }
    }
    return found;
}

int gbees_equations_jump(const gbees_problem *problem, gbees_jump *jump)
{
    const int lines = is_known(problem) ? count_lines(problem) : 0;
    double most = least_jump, scale[N] = {0};
    line l[N + CHORDS];
    int found = 0;

    for (int number = 0; number < lines; number++) {
        choose_line(problem, number, &l[number]);
        evaluate(problem, &l[number], problem->start, 0, l[number].drift);
        for (int j = 0; j < problem->dimension; j++)
            for (int i = 0; i < POINTS; i++)
                scale[j] = fmax(scale[j], fabs(l[number].drift[j][i]));
    }
    for (int number = 0; number < lines; number++)
        for (int j = 0; j < problem->dimension; j++) {
            const gbees_jump here = find_jump(problem, &l[number], j);
            const double size = fabs(here.after - here.before) / scale[j];

            if (size > most && isfinite(size)) {
                most = size;
                *jump = here;
                found = 1;
            }
        }
    return found;
}

int gbees_equations_noisy(const gbees_problem *problem, double time, const double *y)
{
    const double zero[1] = {0}, *offset[GBEES_MAX_DIM];
    double q[GBEES_MAX_DIM * GBEES_MAX_DIM] = {0}, *out[GBEES_MAX_DIM * GBEES_MAX_DIM];
    int found = 0;

    for (int j = 0; j < GBEES_MAX_DIM; j++)
        offset[j] = zero;
    for (int k = 0; k < GBEES_MAX_DIM * GBEES_MAX_DIM; k++)
        out[k] = &q[k];
    problem->functions->diffusion_d(1, time, y, offset, problem->parameters, out);
    for (int k = 0; k < GBEES_MAX_DIM * GBEES_MAX_DIM; k++)
        found = found || q[k] != 0;
    return found;
}
