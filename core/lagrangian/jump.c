/* jump.c - the image of points under a jump, and its Jacobian by central differences; see jump.h. */
#include "jump.h"
#include "frame/matrix.h"
#include <gbees/record.h>
#include <math.h>
#include <string.h>

enum { BLOCK = 64 };

/* The length of a difference, in deviations or in places, whichever is longer: the errors of its third order and of
 * rounding are then alike. Where images are far larger than what they came from rounding may hide the sign of a
 * determinant: then it is `longer`. */
static const double beside = 1e-5, longer = 1e-3;

static int not_finite(const gbees_point_jump *jump, const double *x, gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENUMERIC,
                           "the jump is not finite at a point of the density whose first state is %.9g: check jump() "
                           "of %s",
                           x[0], jump->problem->model->name);
}

static int folds(const gbees_point_jump *jump, const double *x, gbees_error *error)
{
    return gbees_error_set(error, GBEES_EUNSUPPORTED,
                           "the jump folds the density, where its first state is %.9g: points that go with the flow "
                           "have one density each, so give 'frame: fixed'%s",
                           x[0], jump->instant->function == GBEES_JUMP_AFFINE ? ", or another matrix" : "");
}

/* Sets g[j][side][i] to the images of count points with state `along` moved to both sides by h[i]. */
static void evaluate_beside(const gbees_point_jump *jump, size_t count, const double x[][BLOCK], int along,
                            const double *h, double g[GBEES_MAX_DIM][2][BLOCK])
{
    for (int side = 0; side < 2; side++) {
        double *to[GBEES_MAX_DIM];

        for (int j = 0; j < jump->problem->dimension; j++) {
            to[j] = g[j][side];
            memcpy(to[j], x[j], count * sizeof *to[j]);
        }
        for (size_t i = 0; i < count; i++)
            to[along][i] += side ? h[i] : -h[i];
        gbees_instant_points(jump->problem, jump->instant, jump->time, count, to);
    }
}

/* Sets determinant[i] at each of the points x[j][i], by differences of some length. */
static void find_determinants(const gbees_point_jump *jump, size_t count, const double x[][BLOCK], double length_of,
                              double *determinant)
{
    const int n = jump->problem->dimension;
    double jacobian[BLOCK][GBEES_MATRIX], g[GBEES_MAX_DIM][2][BLOCK], h[BLOCK];

    for (int k = 0; k < n; k++) {
        for (size_t i = 0; i < count; i++)
            h[i] = length_of * fmax(jump->scale[k], 1e-3 * fabs(x[k][i]));
        evaluate_beside(jump, count, x, k, h, g);
        for (size_t i = 0; i < count; i++) {
            const double length = (x[k][i] + h[i]) - (x[k][i] - h[i]);

            for (int j = 0; j < n; j++)
                jacobian[i][j * n + k] = (g[j][1][i] - g[j][0][i]) / length;
        }
    }
    for (size_t i = 0; i < count; i++)
        determinant[i] = gbees_matrix_determinant(n, jacobian[i]);
}

static int is_finite(int n, double *const *x, size_t i)
{
    double sum = 0;

    for (int j = 0; j < n; j++)
        sum += 0 * x[j][i];
    return sum == 0;
}

static double sign_of(double determinant)
{
    return determinant > 0 ? 1 : determinant < 0 ? -1 : 0;
}

/* The determinant at one point, by longer differences. */
static double determinant_at(const gbees_point_jump *jump, const double *x)
{
    double one[GBEES_MAX_DIM][BLOCK], determinant;

    for (int j = 0; j < jump->problem->dimension; j++)
        one[j][0] = x[j];
    find_determinants(jump, 1, (const double(*)[BLOCK])one, longer, &determinant);
    return determinant;
}

/* Adds the stretch of a block of points, whose places before were `from`; x: after. */
static int add_stretch(gbees_point_jump *jump, size_t count, const double from[][BLOCK], double *const *x,
                       const double *determinant, double *stretch, gbees_error *error)
{
    const int n = jump->problem->dimension;

    for (size_t i = 0; i < count; i++) {
        double before[GBEES_MAX_DIM], *column[GBEES_MAX_DIM];

        for (int j = 0; j < n; j++) {
            before[j] = from[j][i];
            column[j] = &before[j];
        }
        if (!is_finite(n, column, 0)) {
            for (int j = 0; j < n; j++)
                x[j][i] = before[j];
            continue;
        }
        if (!is_finite(n, x, i) || !isfinite(determinant[i]))
            return not_finite(jump, before, error);
        double found = determinant[i];

        jump->sign = jump->sign == 0 ? sign_of(found) : jump->sign;
        if (sign_of(found) != jump->sign && jump->instant->function != GBEES_JUMP_AFFINE)
            found = determinant_at(jump, before);
        if (found == 0 || sign_of(found) != jump->sign)
            return folds(jump, before, error);
        stretch[i] += log(fabs(found));
    }
    return GBEES_OK;
}

int gbees_point_jump_run(gbees_point_jump *jump, gbees_lattice *lattice, uint32_t first, uint32_t count,
                         gbees_error *error)
{
    const int n = lattice->n, is_affine = jump->instant->function == GBEES_JUMP_AFFINE;
    const double same = is_affine ? gbees_matrix_determinant(n, jump->instant->matrix) : 0;
    double from[GBEES_MAX_DIM][BLOCK], determinant[BLOCK], *x[GBEES_MAX_DIM] = {NULL};
    int status = GBEES_OK;

    for (uint32_t done = 0; done < count && !status; done += BLOCK) {
        const size_t some = count - done < BLOCK ? count - done : BLOCK;

        for (int j = 0; j < n; j++) {
            x[j] = lattice->x[j] + first + done;
            memcpy(from[j], x[j], some * sizeof *from[j]);
        }
        for (size_t i = 0; i < some; i++)
            determinant[i] = same;
        if (!is_affine)
            find_determinants(jump, some, (const double(*)[BLOCK])from, beside, determinant);
        gbees_instant_points(jump->problem, jump->instant, jump->time, some, x);
        status = add_stretch(jump, some, (const double(*)[BLOCK])from, x, determinant,
                             lattice->stretch + first + done, error);
    }
    return status;
}
