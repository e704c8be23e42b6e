/* flood.c - finds the points of a lattice from neighbour to neighbour; see flood.h. */
#include "flood.h"
#include "base/array.h"
#include "base/workers.h"
#include "crossings.h"
#include "light.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* From the second measurement on points are kept that are lighter than the tail by exp() of this: the next one may
 * need them, which would begin at the start again. */
static const double beside_tail = 4;
enum { INDEX_MOST = 32000, FIND_NS = 40 /* that a look-up takes */ };

/* ---- geometry ---- */

/* A rotation that has no plane of symmetry with the axes: a product of plane rotations by angles that are no
 * fractions of each other. Axes below `first` stay. */
static void set_turn(int n, int first, double by, double *rotation)
{
    int number = 1;

    for (int k = 0; k < n * n; k++)
        rotation[k] = k % (n + 1) == 0;
    for (int a = first; a < n; a++)
        for (int b = a + 1; b < n; b++) {
            const double angle = fmod(by * sqrt(2.0 + 3 * number++), acos(-1));
            const double c = cos(angle), s = sin(angle);

            for (int q = 0; q < n; q++) {
                const double one = rotation[a * n + q], other = rotation[b * n + q];

                rotation[a * n + q] = c * one - s * other;
                rotation[b * n + q] = s * one + c * other;
            }
        }
}

/* The place of the mean in the lattice, [0, 1)^n: of an additive sequence of quadratic irrationals, and for another
 * turn half or a quarter of a cell from there, so that the largest errors of sums have other signs. */
static void set_shift(int n, int turn, double *shift)
{
    static const double by[] = {0, 0.5, 0.25, 0.75};

    for (int j = 0; j < n; j++)
        shift[j] = fmod(0.31 + gbees_root_of_prime(j) + by[turn & 3], 1);
}

/* The directions that lattices at the start lie along; NULL: none. */
static const double *along_of(const gbees_source *source)
{
    double square = 0;

    for (int k = 0; k < GBEES_MATRIX; k++)
        square += source->along[k] * source->along[k];
    return square > 0 ? source->along : NULL;
}

/* Creates a lattice with the edges base R / points about a mean, R a rotation that belongs to the turn, or 1; the
 * first of them lies along the first of the directions `along`, if there are some. */
static int create(const gbees_problem *problem, const double *mean, const double *base, double points, int turn,
                  int is_turned, const double *along, gbees_lattice **lattice, gbees_error *error)
{
    const int n = problem->dimension;
    static const double angle[] = {0.7548776662, 2.2360679775, 3.3166247904, 4.7958315233};
    double axes[GBEES_MATRIX], rotation[GBEES_MATRIX] = {0}, origin[GBEES_MAX_DIM], shift[GBEES_MAX_DIM];

    set_turn(n, along != NULL, is_turned ? angle[turn & 3] : 0, rotation);
    if (along)
        gbees_matrix_multiply(n, along, rotation, rotation);
    set_shift(n, turn, shift);
    gbees_matrix_multiply(n, base, rotation, axes);
    for (int k = 0; k < n * n; k++)
        axes[k] /= points;
    for (int j = 0; j < n; j++) {
        origin[j] = mean[j];
        for (int k = 0; k < n; k++)
            origin[j] += axes[j * n + k] * shift[k];
    }
    const int status = gbees_lattice_create(n, origin, axes, lattice, error);
    return status ? status : gbees_lattice_watch(*lattice, problem, error);
}

/* ---- the flood ---- */

static double value_of(const gbees_lattice *lattice, uint32_t i, const gbees_update *update)
{
    return update->beta > 0 ? lattice->log_weight[i] + update->beta * lattice->gain[i] : lattice->log_weight[i];
}

static int check_memory(const gbees_past *past, const gbees_lattice *lattice, gbees_error *error)
{
    const double bytes = (double)lattice->count * (double)gbees_lattice_point_bytes(lattice->n);

    if (past->bytes_most == 0 || bytes <= (double)past->bytes_most)
        return GBEES_OK;
    return gbees_error_set(error, GBEES_ENOMEM,
                           "the lattice has %u points and would take more than the %.3g bytes that it may: give a "
                           "smaller 'points', 'frame_cells' or 'tail', or more memory",
                           lattice->count, (double)past->bytes_most);
}

/* The points of a wave, some of whose neighbours are missing. */
typedef struct wave {
    const gbees_lattice *lattice;
    const gbees_update *update;
    double least; /* points of a log weight above it have all neighbours; NAN: all points */
    uint32_t first, count;
    uint16_t *missing; /* [count]: bit s is set where there is none beside it on side s */
} wave;

static void find_missing(void *context, size_t part)
{
    const wave *all = context;
    const size_t end = gbees_workers_first(all->count, part + 1);

    for (size_t k = gbees_workers_first(all->count, part); k < end; k++) {
        const uint32_t i = all->first + (uint32_t)k;
        unsigned missing = 0;

        for (int side = 0; side < 2 * all->lattice->n && !(value_of(all->lattice, i, all->update) <= all->least);
             side++) {
            const gbees_site site = gbees_site_beside(&all->lattice->site[i], side);

            missing |= (unsigned)(gbees_lattice_find(all->lattice, &site) == GBEES_NO_POINT) << side;
        }
        all->missing[k] = (uint16_t)missing;
    }
}

/* Adds a point beside another, unless it is there. */
static int add_beside(gbees_lattice *lattice, uint32_t i, int side, gbees_error *error)
{
    const gbees_site site = gbees_site_beside(&lattice->site[i], side);

    if (abs(site.z[side / 2]) > INDEX_MOST)
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "the density extends over more than %d points of the lattice that resolves it: give "
                               "a less precise measurement, or a smaller 'points' or 'frame_cells'",
                               2 * INDEX_MOST);
    return gbees_lattice_find(lattice, &site) == GBEES_NO_POINT ? gbees_lattice_append(lattice, &site, error)
                                                                : GBEES_OK;
}

/* Adds the neighbours that are missing of the points from number `first` on that are above exp(least); NAN: of all.
 */
static int add_wave(const gbees_past *past, gbees_lattice *lattice, uint32_t first, const gbees_update *update,
                    double least, gbees_error *error)
{
    wave all = {
        .lattice = lattice, .update = update, .least = least, .first = first, .count = lattice->count - first};
    int status = GBEES_OK;

    all.missing = gbees_array_create(all.count, sizeof *all.missing);
    if (!all.missing)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the points of a lattice");
    gbees_workers_run(gbees_workers_worth(past->threads, (double)all.count * 2 * lattice->n * FIND_NS),
                      GBEES_WORKERS_PARTS, find_missing, &all);
    for (uint32_t k = 0; k < all.count && !status; k++)
        for (int side = 0; all.missing[k] >> side && !status; side++)
            if (all.missing[k] >> side & 1)
                status = add_beside(lattice, first + k, side, error);
    free(all.missing);
    return status;
}

/* Removes the points whose weight is exp(least) or less, and sorts the others. most[count]: of a point whose weight
 * is 0, what its log weight may be. */
static int trim(gbees_lattice *lattice, const gbees_update *update, double least, const double *most,
                gbees_error *error)
{
    unsigned char *keep = gbees_array_create(lattice->count, 1);
    int status = keep ? GBEES_OK : gbees_error_set(error, GBEES_ENOMEM, "not enough memory to trim a lattice");

    for (uint32_t i = 0; i < lattice->count && !status; i++) {
        const double value = value_of(lattice, i, update);

        keep[i] = gbees_crossings_reach(lattice, i, update->beta) > least;
        if (!keep[i])
            status = gbees_light_note(lattice, &lattice->site[i], fmax(value, most[i]), error);
    }
    if (!status)
        gbees_lattice_keep(lattice, keep);
    free(keep);
    gbees_lattice_uncross(lattice);
    gbees_lattice_forget(lattice);
    return status ? status : gbees_lattice_sort(lattice, error);
}

/* A lattice that grows. */
typedef struct flood {
    const gbees_past *past;
    const gbees_source *source;
    const gbees_update *update;
    gbees_lattice *lattice;
    double *most; /* [lattice->count]: as gbees_past_evaluate() sets it, else -INFINITY */
    size_t capacity;
} flood;

/* Evaluates the points from number `first` on; those from number `start` on are new to `most`. */
static int evaluate(flood *f, uint32_t start, uint32_t first, double least, gbees_error *error)
{
    const int status = check_memory(f->past, f->lattice, error);

    if (status)
        return status;
    if (gbees_array_reserve(&f->most, f->lattice->count, &f->capacity, sizeof *f->most))
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the points of a lattice");
    for (uint32_t i = start; i < f->lattice->count; i++)
        f->most[i] = -INFINITY;
    return first == f->lattice->count
               ? GBEES_OK
               : gbees_past_evaluate(f->past, f->source, f->lattice, first, f->update, least, f->most, error);
}

int gbees_flood_grow(const gbees_past *past, const gbees_source *source, const gbees_lattice_rule *rule,
                     gbees_lattice *lattice, uint32_t first, const gbees_update *update, gbees_error *error)
{
    const double kept = rule->tail + (past->measured > 1 ? beside_tail : 0);
    const double more = update->beta > 0 ? update->beta * update->log_peak : 0;
    flood f = {.past = past, .source = source, .update = update, .lattice = lattice};
    /* Points next to old ones may all lie beyond an edge, or beside what is between them. */
    const int has_all_beside = first == 0 && gbees_crossings_are_found(lattice, update->measurement);
    double best = -INFINITY;
    int status = gbees_lattice_index(lattice, error);

    for (uint32_t start = 0; start < lattice->count && !status;) {
        const uint32_t end = lattice->count;

        status = evaluate(&f, start, start ? start : first, best - kept, error);
        best = status ? best : fmax(best, gbees_lattice_most(lattice, start, end, update->beta));
        if (!status && start == 0)
            status = gbees_light_keep(lattice, more, best - kept, error);
        if (!status)
            status = add_wave(past, lattice, start, update,
                              start > 0 || !(has_all_beside || best == -INFINITY) ? best - rule->tail : NAN, error);
        start = end;
    }
    /* Where all weights are 0 the caller finds it. */
    if (!status && best > -INFINITY && update->beta > 0)
        status = gbees_crossings_find(past, lattice, update->measurement, error);
    if (!status && best > -INFINITY)
        status = trim(lattice, update, best - kept, f.most, error);
    free(f.most);
    return status;
}

int gbees_flood_border(const gbees_past *past, const gbees_source *source, gbees_lattice *lattice, gbees_error *error)
{
    const uint32_t inner = lattice->count;
    int status = gbees_lattice_index(lattice, error);

    if (!status)
        status = add_wave(past, lattice, 0, &gbees_no_update, -INFINITY, error);
    if (!status)
        status = gbees_past_evaluate(past, source, lattice, inner, &gbees_no_update, -INFINITY, NULL, error);
    lattice->border = lattice->count - inner;
    if (status)
        gbees_lattice_drop_border(lattice);
    return status;
}

/* ---- the first lattice ---- */

/* Adds all sites within a radius of the one at -shift, in rows along the last axis. */
static int add_ball(gbees_lattice *lattice, const double *shift, double radius, int axis, gbees_site *site,
                    double square, gbees_error *error)
{
    const double left = radius * radius - square;
    const int last = axis == lattice->n - 1;
    int status = GBEES_OK;

    if (left < 0)
        return GBEES_OK;
    const int to = (int)floor(sqrt(left) - shift[axis]);
    for (int z = (int)ceil(-sqrt(left) - shift[axis]); z <= to && !status; z++) {
        site->z[axis] = (int16_t)z;
        status = last ? gbees_lattice_append(lattice, site, error)
                      : add_ball(lattice, shift, radius, axis + 1, site,
                                 square + (z + shift[axis]) * (z + shift[axis]), error);
    }
    site->z[axis] = 0;
    return status;
}

static double volume_of_ball(int n, double radius)
{
    return exp(0.5 * n * log(acos(-1)) - lgamma(0.5 * n + 1) + n * log(radius));
}

/* Adds the site next to a place in the model's axes, unless it is there. */
static int add_near(gbees_lattice *lattice, const double *inverse, const double *x0, gbees_error *error)
{
    const int n = lattice->n;
    gbees_site site = {{0}};

    for (int j = 0; j < n; j++) {
        double z = 0;

        for (int k = 0; k < n; k++)
            z += inverse[j * n + k] * (x0[k] - lattice->origin[k]);
        if (!(fabs(z) < INDEX_MOST))
            return gbees_error_set(
                error, GBEES_ENUMERIC,
                "the density extends over more than %d points of the lattice that resolves it: give "
                "a less precise measurement, or a smaller 'points' or 'frame_cells'",
                2 * INDEX_MOST);
        site.z[j] = (int16_t)lround(z);
    }
    return gbees_lattice_find(lattice, &site) == GBEES_NO_POINT ? gbees_lattice_append(lattice, &site, error)
                                                                : GBEES_OK;
}

static int invert_axes(const gbees_lattice *lattice, double *inverse, gbees_error *error)
{
    const int n = lattice->n;

    for (int k = 0; k < n * n; k++)
        inverse[k] = k % (n + 1) == 0;
    return gbees_matrix_solve(n, lattice->axes, n, inverse)
               ? gbees_error_set(error, GBEES_ENUMERIC, "the axes of a lattice are singular in double precision")
               : GBEES_OK;
}

/* Adds a site for each of a record's cells of more than exp(-tail) of the largest P. */
static int add_cells(const gbees_problem *problem, double tail, gbees_lattice *lattice, gbees_error *error)
{
    const gbees_initial_cells *cells = problem->cells;
    double inverse[GBEES_MATRIX], most = 0, y[GBEES_MAX_DIM], x[GBEES_MAX_DIM];
    int status = invert_axes(lattice, inverse, error);

    if (!status)
        status = gbees_lattice_index(lattice, error);
    for (size_t i = 0; i < cells->count; i++)
        most = fmax(most, cells->p[i]);
    for (size_t i = 0; i < cells->count && !status; i++) {
        if (cells->p[i] < exp(-tail) * most)
            continue;
        for (int j = 0; j < lattice->n; j++)
            y[j] = problem->mean[j] + problem->width[j] * cells->index[j][i];
        gbees_problem_point(problem, y, x);
        status = add_near(lattice, inverse, x, error);
    }
    return status;
}

int gbees_flood_begin(const gbees_past *past, const gbees_source *source, const gbees_lattice_rule *rule,
                      gbees_lattice **lattice, gbees_error *error)
{
    const int n = past->problem->dimension;
    gbees_site site = {{0}};
    double shift[GBEES_MAX_DIM];
    const double radius = sqrt(2 * rule->tail) * rule->points;
    gbees_lattice *made = NULL;
    int status = create(past->problem, source->mean, source->root, rule->points, rule->turn, 1, along_of(source),
                        &made, error);

    if (status) {
        gbees_lattice_destroy(made);
        return status;
    }
    set_shift(n, rule->turn, shift);
    if (past->problem->cells) {
        status = gbees_lattice_reserve(made, 1024, error);
        if (!status)
            status = add_cells(past->problem, rule->tail, made, error);
        if (!status)
            status = gbees_flood_grow(past, source, rule, made, 0, &gbees_no_update, error);
    } else {
        status = gbees_lattice_reserve(made, (uint64_t)(1.05 * volume_of_ball(n, radius)) + 1024, error);
        if (!status)
            status = add_ball(made, shift, radius, 0, &site, 0, error);
        if (!status)
            status = check_memory(past, made, error);
        if (!status)
            status = gbees_past_evaluate(past, source, made, 0, &gbees_no_update, -INFINITY, NULL, error);
    }
    if (status)
        gbees_lattice_destroy(made);
    else
        *lattice = made;
    return status;
}

/* ---- another lattice ---- */

/* Sets mean[n] to the weighted mean of the starts of a lattice's points. Returns the largest log weight. */
static double find_mean(const gbees_lattice *lattice, const gbees_update *update, double *mean)
{
    const int n = lattice->n;
    const double best = gbees_lattice_most(lattice, 0, gbees_lattice_inner(lattice), update->beta);
    double sum = 0, z[GBEES_MAX_DIM] = {0};

    for (uint32_t i = 0; i < gbees_lattice_inner(lattice); i++) {
        const double w = exp(value_of(lattice, i, update) - best);

        sum += w;
        for (int j = 0; j < n; j++)
            z[j] += w * lattice->site[i].z[j];
    }
    for (int j = 0; j < n; j++) {
        mean[j] = lattice->origin[j];
        for (int k = 0; k < n; k++)
            mean[j] += lattice->axes[j * n + k] * z[k] / sum;
    }
    return best;
}

/* Adds the sites of a new lattice next to the points of the old one that are above exp(least): all of them, as a part
 * of the density that stands apart is found from its own points alone. */
static int add_seeds(const gbees_lattice *old, const gbees_update *update, double least, gbees_lattice *lattice,
                     gbees_error *error)
{
    double inverse[GBEES_MATRIX], x0[GBEES_MAX_DIM];
    int status = invert_axes(lattice, inverse, error);

    if (!status)
        status = gbees_lattice_reserve(lattice, 1024, error);
    if (!status)
        status = gbees_lattice_index(lattice, error);
    for (uint32_t i = 0; i < gbees_lattice_inner(old) && !status; i++) {
        if (!(gbees_crossings_reach(old, i, update->beta) > least))
            continue;
        gbees_lattice_start(old, &old->site[i], x0);
        status = add_near(lattice, inverse, x0, error);
    }
    return status;
}

int gbees_flood_anew(const gbees_past *past, const gbees_source *source, const gbees_lattice_rule *rule,
                     const gbees_lattice *old, const double *edges, const gbees_update *update, gbees_lattice **made,
                     gbees_error *error)
{
    double mean[GBEES_MAX_DIM], base[GBEES_MATRIX];
    const double best = find_mean(old, update, mean);
    gbees_lattice *lattice = NULL;
    int status;

    gbees_matrix_multiply(old->n, old->axes, edges, base);
    status = create(past->problem, mean, base, 1, rule->turn, old->has_edges, NULL, &lattice, error);
    if (!status) {
        lattice->has_edges = old->has_edges;
        status = add_seeds(old, update, best - rule->tail, lattice, error);
    }
    if (!status)
        status = gbees_flood_grow(past, source, rule, lattice, 0, update, error);
    if (status)
        gbees_lattice_destroy(lattice);
    else
        *made = lattice;
    return status;
}

int gbees_flood_denser(const gbees_past *past, const gbees_source *source, const gbees_lattice_rule *rule,
                       const gbees_lattice *old, double times, gbees_lattice **made, gbees_error *error)
{
    const int n = old->n;
    double edges[GBEES_MATRIX];

    if (past->measured == 0 && !past->problem->cells) { /* of which all points are known */
        gbees_lattice_rule denser = *rule;
        denser.points = times * exp((log(fabs(gbees_matrix_determinant(n, source->root))) - old->log_volume) / n);
        return gbees_flood_begin(past, source, &denser, made, error);
    }
    for (int k = 0; k < n * n; k++)
        edges[k] = k % (n + 1) == 0 ? 1 / times : 0;
    return gbees_flood_anew(past, source, rule, old, edges, &gbees_no_update, made, error);
}
