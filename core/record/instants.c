/* instants.c - jumps of points; see instants.h. */
#include "instants.h"
#include <gbees/record.h>
#include <string.h>

enum { BLOCK = 256 };

int gbees_instants_with_error(const gbees_problem *problem)
{
    int count = 0;

    for (int k = 0; k < problem->instant_count; k++)
        count += problem->instants[k].has_error;
    return count;
}

int gbees_instant_is_shift(const gbees_problem *problem, const gbees_instant *instant)
{
    const int n = problem->dimension;
    int is = instant->function == GBEES_JUMP_AFFINE;

    for (int k = 0; k < n * n && is; k++)
        is = instant->matrix[k] == (k % (n + 1) == 0);
    return is;
}

const char *gbees_instant_name(const gbees_problem *problem, const gbees_instant *instant)
{
    if (instant->function != GBEES_JUMP_AFFINE)
        return problem->model->jumps[instant->function].name;
    return gbees_instant_is_shift(problem, instant) ? "shift" : "linear";
}

/* x <- matrix x + value */
static void move(int n, const gbees_instant *instant, size_t count, double *const *x)
{
    for (size_t i = 0; i < count; i++) {
        double from[GBEES_MAX_DIM];

        for (int j = 0; j < n; j++)
            from[j] = x[j][i];
        for (int j = 0; j < n; j++) {
            x[j][i] = instant->value[j];
            for (int k = 0; k < n; k++)
                x[j][i] += instant->matrix[j * n + k] * from[k];
        }
    }
}

void gbees_instant_points(const gbees_problem *problem, const gbees_instant *instant, double time, size_t count,
                          double *const *x)
{
    static const double origin[GBEES_MAX_DIM] = {0};
    const int n = problem->dimension;
    double from[GBEES_MAX_DIM][BLOCK], *to[GBEES_MAX_DIM] = {NULL};
    const double *offset[GBEES_MAX_DIM] = {NULL};

    if (instant->function == GBEES_JUMP_AFFINE) {
        move(n, instant, count, x);
        return;
    }
    for (size_t first = 0; first < count; first += BLOCK) {
        const size_t some = count - first < BLOCK ? count - first : BLOCK;

        for (int j = 0; j < n; j++) {
            memcpy(from[j], x[j] + first, some * sizeof *from[j]);
            offset[j] = from[j];
            to[j] = x[j] + first;
        }
        gbees_problem_own_functions(problem)->jump_d(instant->function, some, time, origin, offset,
                                                     problem->parameters, instant->value, to);
    }
}
