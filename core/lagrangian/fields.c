/* fields.c - parts of cells by functions that are linear over them; see fields.h. */
#include "fields.h"
#include "base/array.h"
#include "base/fraction.h"
#include <gbees/record.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A function that bends by as much as so many times what it changes by over a cell may as well be below 0 in all of
 * it. */
static const double much_bent = 12;

/* By how much of its change over a cell a function that bends may be shifted. */
static const double most_shifted = 1. / 8;

/* The most that the logarithm of a density is thought to change by over a cell. */
static const double steepest = 12;

/* ---- fields ---- */

static int grow(gbees_fields *fields, int k, uint32_t capacity)
{
    double *made = gbees_array_create(capacity, sizeof *made);

    if (!made)
        return 1;
    if (fields->count > 0)
        memcpy(made, fields->own[k], fields->count * sizeof *made);
    free(fields->own[k]);
    fields->own[k] = made;
    return 0;
}

int gbees_fields_extend(gbees_fields *fields, gbees_error *error)
{
    const gbees_problem *problem = fields->problem;
    const gbees_lattice *lattice = fields->lattice;
    const uint32_t first = fields->count, more = lattice->count - first;
    const int grows = lattice->count > fields->capacity;
    const uint32_t capacity = first > 0 ? 2 * lattice->count : lattice->count;
    const double *x[GBEES_MAX_DIM] = {NULL};

    for (int j = 0; j < lattice->n; j++)
        x[j] = lattice->x[j] + first;
    for (int k = 0; k < problem->target_count; k++) {
        if (problem->targets[k].kind != GBEES_TARGET_COUNT)
            continue;
        if (grows && grow(fields, k, capacity))
            return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for what is in targets");
        if (more > 0)
            gbees_target_values(problem, k, fields->time, more, x, fields->own[k] + first);
    }
    fields->capacity = grows ? capacity : fields->capacity;
    fields->count = lattice->count;
    return GBEES_OK;
}

void gbees_fields_clear(gbees_fields *fields)
{
    for (int k = 0; k < GBEES_MAX_TARGETS; k++)
        free(fields->own[k]);
    memset(fields, 0, sizeof *fields);
}

void gbees_cell_set(const gbees_fields *fields, uint32_t i, gbees_cell *cell)
{
    const gbees_lattice *lattice = fields->lattice;

    cell->of[0] = cell->of[1] = fields;
    cell->self = i;
    for (int k = 0; k < lattice->n; k++) {
        cell->point[k][0] = lattice->beside[2 * k][i];
        cell->point[k][1] = i;
        cell->point[k][2] = lattice->beside[2 * k + 1][i];
        cell->place[k] = cell->near[k] = 0;
    }
}

/* ---- values at a cell's points ---- */

/* Which function: of target k until now, or until the last measurement; or k < 0: the log weight. */
typedef struct which {
    int k, is_before;
} which;

static double value_of(const gbees_cell *cell, which w, uint32_t point)
{
    const gbees_fields *fields = cell->of[point >= GBEES_FINE];
    const gbees_lattice *lattice = fields->lattice;
    const uint32_t i = point & ~GBEES_FINE;

    if (w.k < 0)
        return gbees_fields_weight(fields)[i];
    return fields->own[w.k] ? fields->own[w.k][i] : w.is_before ? lattice->settled[w.k][i] : lattice->lowest[w.k][i];
}

/* Whether a point is there; one that was given up has no values. */
static int is_there(const gbees_cell *cell, uint32_t point)
{
    return point != GBEES_NO_POINT &&
           gbees_fields_weight(cell->of[point >= GBEES_FINE])[point & ~GBEES_FINE] > -INFINITY;
}

/* Sets value[3] to a function at the points along an edge; beyond where there is none it is linear. */
static void values_along(const gbees_cell *cell, which w, int k, double *value)
{
    const uint32_t *point = cell->point[k];
    int there[3];

    for (int s = 0; s < 3; s++) {
        value[s] = is_there(cell, point[s]) ? value_of(cell, w, point[s]) : NAN;
        there[s] = isfinite(value[s]);
    }
    if (!there[1])
        value[1] = value_of(cell, w, cell->self);
    if (!there[0])
        value[0] = there[2] ? 2 * value[1] - value[2] : value[1];
    if (!there[2])
        value[2] = 2 * value[1] - value[0];
    if (cell->near[k]) { /* of the parabola through them, an edge's length apart */
        const double slope = value[2] - value[0], bend = 2 * (value[0] - 2 * value[1] + value[2]);

        value[0] = value[1] - slope + bend;
        value[2] = value[1] + slope + bend;
    }
}

/* The most that a function changes by from one of the three points along an edge to the next. */
static double step_of(const double *value)
{
    return fmax(fabs(value[1] - value[0]), fabs(value[2] - value[1]));
}

/* How a function changes over the cell along an edge; *bend: its second difference. */
static double change_over(const gbees_cell *cell, which w, int k, double *bend)
{
    double value[3];

    values_along(cell, w, k, value);
    *bend = value[0] - 2 * value[1] + value[2];
    return (value[2] - value[0]) / 2 + cell->place[k] * *bend;
}

/* The same, but no more than between two of the points: so what a function can't reach (gbees_cell_doubt()) it does
 * not. */
static double limited_change(const gbees_cell *cell, which w, int k, double *bend)
{
    double value[3];

    values_along(cell, w, k, value);
    const double change = change_over(cell, w, k, bend), most = step_of(value);
    return fmin(fmax(change, -most), most);
}

static int dimension_of(const gbees_cell *cell)
{
    return cell->of[0]->lattice->n;
}

/* ---- parts ---- */

/* Gauss and Legendre's rule of five points, over an edge of length 1. */
static const double gauss_at[] = {0, 0.269234655052841, 0.453089922969332},
                    gauss_share[] = {0.284444444444444, 0.239314335249683, 0.118463442528095};

/* The average over an edge of a density whose logarithm is a quadratic, over that at the centre. Sets *centroid to
 * its centroid from there, in lengths of the edge. */
static double average_along(double slope, double bend, double *centroid)
{
    double sum = gauss_share[0], moment = 0;

    slope = fmax(fmin(slope, steepest), -steepest);
    bend = fmin(bend, steepest);
    for (int q = 1; q < 3; q++) {
        const double share = gauss_share[q] * exp(bend * gauss_at[q] * gauss_at[q] / 2);

        sum += share * 2 * cosh(slope * gauss_at[q]);
        moment += share * gauss_at[q] * 2 * sinh(slope * gauss_at[q]);
    }
    *centroid = moment / sum;
    return sum;
}

/* By how much the average of a function over a cell's mass, of which gbees_fraction_of_mass() has what is linear in
 * the slopes of the logarithm of the density, is larger than that has. change[k]: of the function along edge k. */
static double beyond_slopes(const gbees_cell *cell, const double *change, const double *slope, const double *bend)
{
    const int n = dimension_of(cell);
    double excess = 0, length;
    const double along = gbees_fraction_slope(n, change, slope, &length);

    for (int k = 0; k < n; k++) {
        double centroid;

        (void)average_along(slope[k], bend[k], &centroid);
        excess += change[k] * (centroid - slope[k] / 12);
    }
    const double model =
        fabs(along) > 0.1 ? 0.5 / tanh(along / 2) - 1 / along - along / 12 : -along * along * along / 720;
    return length > 0 ? excess - length * model : 0;
}

/* The part of the cell's mass where a function is below 0. A quadratic is replaced by the linear function of the same
 * average over the mass, so that boundaries that bend have on average, over where they cut cells, the right part of
 * these. */
static double part_below(const gbees_cell *cell, which w)
{
    const double here = value_of(cell, w, cell->self);
    const int n = dimension_of(cell);
    double change[GBEES_MAX_DIM] = {0}, slope[GBEES_MAX_DIM] = {0}, log_bend[GBEES_MAX_DIM] = {0};
    double bend, changes = 0, bends = 0;

    if (here == INFINITY)
        return 0;
    for (int k = 0; k < n; k++) {
        change[k] = limited_change(cell, w, k, &bend);
        changes += fabs(change[k]);
        bends += bend;
    }
    const double level = here + copysign(fmin(fabs(bends) / 24, most_shifted * changes), bends);
    double part = gbees_fraction_inside(n, level, change);
    if (part == 0 || part == 1)
        return part;
    for (int k = 0; k < n; k++)
        slope[k] = change_over(cell, (which){.k = -1}, k, &log_bend[k]);
    part = gbees_fraction_inside(n, level + beyond_slopes(cell, change, slope, log_bend), change);
    return gbees_fraction_of_mass(n, part, change, slope);
}

/* Sets part[k] to what has entered each target that absorbs; returns the sum, at most 1. */
static double parts_entered(const gbees_cell *cell, int is_before, double *part)
{
    const gbees_problem *problem = cell->of[0]->problem;
    double sum = 0;

    for (int k = 0; k < problem->target_count; k++)
        if (problem->targets[k].kind == GBEES_TARGET_ABSORB)
            sum += part[k] = part_below(cell, (which){k, is_before});
    for (int k = 0; k < problem->target_count && sum > 1; k++)
        part[k] /= sum;
    return fmin(sum, 1);
}

void gbees_cell_parts(const gbees_cell *cell, gbees_mass_parts *parts)
{
    const gbees_problem *problem = cell->of[0]->problem;

    *parts = (gbees_mass_parts){.wrong = 0};
    for (int k = 0; k < problem->target_count; k++)
        if (isnan(value_of(cell, (which){.k = k}, cell->self)) && is_there(cell, cell->self))
            parts->wrong = k + 1;
    if (parts->wrong)
        return;
    parts->gone_before = parts_entered(cell, 1, parts->before);
    parts->gone = parts_entered(cell, 0, parts->now);
    for (int k = 0; k < problem->target_count; k++)
        if (problem->targets[k].kind == GBEES_TARGET_COUNT)
            parts->now[k] = (1 - parts->gone) * part_below(cell, (which){.k = k});
}

double gbees_cell_average(const gbees_cell *cell)
{
    double average = 1;

    for (int k = 0; k < dimension_of(cell); k++) {
        double bend, centroid;
        const double slope = change_over(cell, (which){.k = -1}, k, &bend);

        average *= average_along(slope, bend, &centroid);
    }
    return average;
}

double gbees_cell_value(const gbees_cell *cell, int k)
{
    return value_of(cell, (which){.k = k}, cell->self);
}

double gbees_cell_step(const gbees_cell *cell, int k, int edge)
{
    double value[3];

    values_along(cell, (which){.k = k}, edge, value);
    return step_of(value);
}

int gbees_cell_doubt(const gbees_cell *cell, double *doubt)
{
    const gbees_problem *problem = cell->of[0]->problem;
    double most = 0;
    int edge = 0;

    for (int k = 0; k < problem->target_count; k++) {
        const which w = {.k = k};
        double reach = 0, changes = 0, bends = 0, most_bent = 0;
        int along = 0;

        for (int j = 0; j < dimension_of(cell); j++) {
            double value[3];

            values_along(cell, w, j, value);
            const double bend = fabs(value[0] - 2 * value[1] + value[2]);
            reach += step_of(value) / 2;
            changes += fabs(value[2] - value[0]) / 2;
            bends += bend;
            if (bend > most_bent) {
                most_bent = bend;
                along = j;
            }
        }
        doubt[k] = fabs(value_of(cell, w, cell->self)) < reach ? fmin(bends / (much_bent * changes + bends), 1) : 0;
        if (doubt[k] > most) {
            most = doubt[k];
            edge = along;
        }
    }
    return edge;
}
