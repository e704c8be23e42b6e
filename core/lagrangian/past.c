/* past.c - trajectories through all measurements so far; see past.h. */
#include "past.h"
#include "base/workers.h"
#include <gbees/audit.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1024, LIKELIHOOD_NS = 60, DENSITY_NS = 40 /* that a point takes */ };

const gbees_update gbees_no_update = {.beta = 0};

int gbees_past_add(gbees_past *past, const gbees_update *update, const double *scale, gbees_error *error)
{
    if (past->count == past->capacity) {
        const int capacity = past->capacity ? 2 * past->capacity : 16;
        gbees_past_measurement *grown = realloc(past->of, (size_t)capacity * sizeof *grown);

        if (!grown)
            return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a measurement");
        past->of = grown;
        past->capacity = capacity;
    }
    gbees_past_measurement *added = &past->of[past->count++];
    *added = (gbees_past_measurement){
        .measurement = *update->measurement, .time = past->now, .log_peak = update->log_peak};
    memcpy(added->scale, scale, sizeof added->scale);
    return GBEES_OK;
}

/* ---- blocks of points ---- */

/* What the blocks of points share. */
typedef struct weighing {
    const gbees_past *past;
    const gbees_source *source; /* of the initial density; or NULL: the likelihood of `measurement` */
    const gbees_measurement *measurement;
    double time;
    gbees_lattice *lattice;
    uint32_t first;
    double *out; /* [points from `first` on] */
    atomic_int status;
    gbees_error error;
} weighing;

/* Where a point has left every bound the likelihood is 0; where it is anywhere else and not a number, it is an error.
 */
static int check(const weighing *all, size_t count, double *const *x, double *out)
{
    for (size_t i = 0; i < count; i++) {
        double sum = 0;

        for (int j = 0; j < all->lattice->n; j++)
            sum += x[j][i];
        if (!isfinite(sum))
            out[i] = -INFINITY;
        else if (!(out[i] < INFINITY))
            return GBEES_ENUMERIC;
    }
    return GBEES_OK;
}

static void weigh_block(void *context, size_t block)
{
    weighing *all = context;
    gbees_lattice *lattice = all->lattice;
    const uint32_t first = all->first + (uint32_t)block * BLOCK;
    const uint32_t count = lattice->count - first < BLOCK ? lattice->count - first : BLOCK;
    double *x[GBEES_MAX_DIM] = {NULL}, *out = all->out + block * BLOCK;
    gbees_error error = {0};
    int status;

    for (int j = 0; j < lattice->n; j++)
        x[j] = lattice->x[j] + first;
    if (all->source) {
        gbees_source_log_density(all->source, count, x, out);
        return;
    }
    status = gbees_measurement_log_likelihood(all->past->problem, all->measurement, all->time, count,
                                              (const double *const *)x, out, &error);
    if (!status && check(all, count, x, out))
        status =
            gbees_error_set(&error, GBEES_ENUMERIC,
                            "the likelihood of the measurement at t = %g is not a number at a trajectory", all->time);
    if (status && !atomic_exchange(&all->status, status))
        all->error = error;
}

/* Runs weigh_block() over all points from all->first on. */
static int weigh(weighing *all, gbees_error *error)
{
    const size_t points = all->lattice->count - all->first;
    const double each = all->source ? DENSITY_NS : LIKELIHOOD_NS;

    gbees_workers_run(gbees_workers_worth(all->past->threads, (double)points * each), (points + BLOCK - 1) / BLOCK,
                      weigh_block, all);
    if (atomic_load(&all->status))
        return gbees_error_set(error, (gbees_status)atomic_load(&all->status), "%s", all->error.text);
    return GBEES_OK;
}

static int add_likelihood(const gbees_past *past, const gbees_measurement *measurement, double time,
                          gbees_lattice *lattice, uint32_t first, gbees_error *error)
{
    weighing all = {.past = past,
                    .measurement = measurement,
                    .time = time,
                    .lattice = lattice,
                    .first = first,
                    .out = lattice->gain + first};
    const int status = weigh(&all, error);

    for (uint32_t i = first; i < lattice->count && !status; i++) {
        lattice->log_weight[i] += lattice->gain[i];
        lattice->gain[i] = 0;
        if (lattice->log_weight[i] == -INFINITY)
            lattice->x[0][i] = NAN; /* so that it is not integrated any further */
    }
    return status;
}

static int is_cancelled(const gbees_past *past, gbees_error *error)
{
    if (!past->cancelled || !past->cancelled(past->context))
        return GBEES_OK;
    return gbees_error_set(error, GBEES_ECANCELLED, "stopped at t = %.6g", past->now);
}

static int advance(const gbees_past *past, gbees_lattice *lattice, uint32_t first, const double *scale, double from,
                   double to, gbees_error *error)
{
    double *x[GBEES_MAX_DIM] = {NULL};
    const int status = is_cancelled(past, error);

    if (status || from == to || first == lattice->count)
        return status;
    for (int j = 0; j < lattice->n; j++)
        x[j] = lattice->x[j] + first;
    return gbees_trajectories_run(past->trajectories, lattice->count - first, x, lattice->stretch + first,
                                  &(gbees_travel){from, to, scale, past->tolerance}, error);
}

int gbees_past_weigh(const gbees_past *past, gbees_lattice *lattice, const gbees_measurement *measurement,
                     gbees_error *error)
{
    weighing all = {
        .past = past, .measurement = measurement, .time = past->now, .lattice = lattice, .out = lattice->gain};

    return weigh(&all, error);
}

/* Leaves the points where they are that can gain no weight above `least` by the likelihoods from number k on. */
static void give_up(const gbees_past *past, gbees_lattice *lattice, uint32_t first, int k, const gbees_update *update,
                    double least)
{
    double more = update->beta > 0 ? update->beta * update->log_peak : 0;

    for (; k < past->count; k++)
        more += past->of[k].log_peak;
    for (uint32_t i = first; i < lattice->count; i++)
        if (!(lattice->log_weight[i] + more > least)) {
            lattice->log_weight[i] = -INFINITY;
            lattice->x[0][i] = NAN; /* so that it is not integrated any further */
        }
}

int gbees_past_evaluate(const gbees_past *past, const gbees_source *source, gbees_lattice *lattice, uint32_t first,
                        const gbees_update *update, double least, gbees_error *error)
{
    weighing begin = {
        .past = past, .source = source, .lattice = lattice, .first = first, .out = lattice->log_weight + first};
    const double *scale = past->scale;
    double time = past->start;
    int status = weigh(&begin, error);

    for (int k = 0; k < past->count && !status; k++) {
        const gbees_past_measurement *of = &past->of[k];

        give_up(past, lattice, first, k, update, least);
        status = advance(past, lattice, first, scale, time, of->time, error);
        if (!status)
            status = add_likelihood(past, &of->measurement, of->time, lattice, first, error);
        time = of->time;
        scale = of->scale;
    }
    if (!status) {
        give_up(past, lattice, first, past->count, update, least);
        status = advance(past, lattice, first, scale, time, past->now, error);
    }
    if (status || !update->measurement)
        return status;
    weighing last = {.past = past,
                     .measurement = update->measurement,
                     .time = past->now,
                     .lattice = lattice,
                     .first = first,
                     .out = lattice->gain + first};
    return weigh(&last, error);
}

int gbees_past_advance(const gbees_past *past, gbees_lattice *lattice, const double *scale, double time,
                       gbees_error *error)
{
    return advance(past, lattice, 0, scale, past->now, time, error);
}
