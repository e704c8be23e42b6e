/* coupling.c - how strongly the velocity along one axis depends on the others: it limits the time step of split
 * schemes at Courant numbers above 1 (doc/method.md, "Courant numbers above 1").
 *
 * J_jk = dv_j/dx_k h_k / h_j, j != k: in cells of axis j a unit of time, for a cell of axis k.  A brick's J comes
 * from the drift at the centres of its 2n sides; |J|^2 is the mean of the squared Frobenius norms over all bricks
 * with a cell above p*, weighted with their mass.
 */
#include "engine.h"
#include "ranks.h"
#include <math.h>
#include <stdlib.h>

/* Sets offset[n][2n] to the centres of a brick's sides, relative to the centre of its lowest cell: points 2k and 2k +
 * 1 are those of the sides across axis k. */
static void make_points(const gbees_engine *e, double (*offset)[2 * GBEES_MAX_DIM])
{
    const gbees_shape *shape = &e->g.shape;

    for (int j = 0; j < shape->n; j++)
        for (int point = 0; point < 2 * shape->n; point++) {
            double middle = 0.5 * (shape->edge[j] - 1), half = 0.5 * shape->edge[j];
            double side = point & 1 ? half : -half;

            offset[j][point] = e->problem->width[j] * (middle + (point >> 1 == j ? side : 0));
        }
}

/* The squared Frobenius norm of a brick's J, off the diagonal. */
static double squares_of_brick(const gbees_engine *e, uint32_t slot, double time, const double *const *offset)
{
    const gbees_problem *problem = e->problem;
    const gbees_shape *shape = &e->g.shape;
    const int n = shape->n;
    double base[GBEES_MAX_DIM], v[2 * GBEES_MAX_DIM], sum = 0;

    engine_base(e, slot, base);
    for (int j = 0; j < n; j++) {
        problem->functions->component_d[j]((size_t)(2 * n), time, base, offset, e->tables.parameters_d, v);
        for (int k = 0; k < n; k++) {
            double across = (v[2 * k + 1] - v[2 * k]) / (shape->edge[k] * problem->width[j]);

            sum += k == j ? 0 : across * across;
        }
    }
    return sum;
}

/* Sums over a chunk of bricks. */
typedef struct coupled {
    double mass, squares; /* of P; of the squared norms times the bricks' masses */
    uint32_t bad;         /* 1 + the number k of a used brick whose J is not finite; 0: none */
} coupled;

/* All ranks: sets the sums of *total to those over the bricks of all ranks. bricks[count]: the sums of each. */
static void sum_among_ranks(gbees_engine *e, const coupled *bricks, coupled *total)
{
    exact_sum sums[2] = {{{0}}};

    for (uint32_t k = 0; k < e->g.count; k++) {
        exact_add(&sums[0], bricks[k].mass);
        exact_add(&sums[1], bricks[k].squares);
    }
    ranks_sum_exactly(e, sums, 2);
    total->mass = exact_value(&sums[0]);
    total->squares = exact_value(&sums[1]);
}

int engine_couple(gbees_engine *e, double time, gbees_error *error)
{
    /* Among ranks sums go brick by brick. */
    const uint32_t chunk = e->ranks ? 1 : engine_chunk(e), chunks = e->ranks ? e->g.count : engine_chunks(e);
    coupled *parts = calloc(chunks + 1u, sizeof *parts), total = {0};
    double points[GBEES_MAX_DIM][2 * GBEES_MAX_DIM];
    const double *offset[GBEES_MAX_DIM];

    int status =
        parts ? 0 : gbees_error_set(error, GBEES_ENOMEM, "out of memory for the Jacobian over %u bricks", e->g.count);
    if (e->ranks)
        status = ranks_agree(e, status, error);
    if (status) {
        free(parts);
        return status;
    }
    make_points(e, points);
    for (int j = 0; j < GBEES_MAX_DIM; j++)
        offset[j] = points[j];
#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) schedule(static)
    for (uint32_t at = 0; at < chunks; at++) {
        coupled part = {0}; /* on the stack: neighbours in parts[] share cache lines */

        for (uint32_t k = at * chunk; k < (e->ranks ? at + 1 : engine_chunk_end(e, at)); k++) {
            uint32_t slot = e->g.used[k];

            if (!e->rows.active[slot])
                continue;
            double mass = e->kernel->sum_rows(&e->context, e->rows.p, k, k + 1),
                   squares = squares_of_brick(e, slot, time, offset);
            if (!isfinite(squares)) {
                part.bad = k + 1;
                continue;
            }
            part.mass += mass;
            part.squares += mass * squares;
        }
        parts[at] = part;
    }
    for (uint32_t at = 0; at < chunks; at++) {
        total.mass += parts[at].mass;
        total.squares += parts[at].squares;
        total.bad = parts[at].bad ? parts[at].bad : total.bad;
    }
    if (e->ranks)
        sum_among_ranks(e, parts, &total);
    free(parts);
    e->coupling = total.mass > 0 ? sqrt(total.squares / total.mass) : 0;
    /* With Courant numbers up to 1 the coupling is not used. */
    return total.bad && e->context.scheme.reach > 1 ? engine_drift_error(e, e->g.used[total.bad - 1], time, error)
                                                    : 0;
}
