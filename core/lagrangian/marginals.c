/* marginals.c - deposits the first set's marginals on lines whose entries are a part of a deviation, or of what is
 * thin in them, and the second set's to tell how far they may be off; see marginals.h. */
#include "marginals.h"
#include "deposit.h"
#include "sharpen.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = GBEES_MAX_DIM };

/* Entries of a line a standard deviation; at least so many where the density is thinner, and at most: two a cell of
 * the record, if its cells are narrow. A deposit smears it by some .3 of one, which is taken back where it is wide.
 */
static const double entries = 8, least_thin = 2.5, most_entries = 64, most_entries_narrow = 512;
/* Parts are so far apart, in entries. */
static const double apart = 0.5;
/* Lines end where they have less than this part of their largest entry. */
static const double least_entry = 1e-12;
/* Lattices that misplace more of a marginal than is asked for are made denser: so often, up to so many points. */
static const double places_share = 2.5; /* of the accuracy of moments, in deviations */
enum { ROUNDS = 3, POINTS_MOST = 100000 };
enum { RESOLVED_MOST = 6 }; /* times that entries are made narrower */

/* Marginals that are being made. */
typedef struct making {
    gbees_engine *engine;
    gbees_problem *grid;      /* whose cells are the lines' entries */
    double deviation[N];      /* along its axes */
    double least[N];          /* the narrowest entries */
    double misplaced;         /* as that of the marginals */
    gbees_marginals *of[2];   /* of two sets */
    gbees_lattice **lattice;  /* [parts]: those of a set */
    gbees_own_marginals *own; /* what is made of them */
} making;

/* Sets the lines: about the mean, so many entries a deviation. */
static int set_lines(making *m, gbees_error *error)
{
    const double *inverse = gbees_problem_inverse(m->grid);
    double mean[N], covariance[GBEES_MATRIX];
    const int n = m->grid->dimension;
    gbees_sums sums;
    const int status = gbees_engine_all_sums(m->engine, &sums, error);

    if (status)
        return status;
    gbees_sums_moments(&sums, mean, covariance);
    gbees_problem_place(m->grid, mean, m->grid->mean);
    for (int j = 0; j < n; j++) {
        double variance = m->grid->rotated ? 0 : covariance[j * n + j];

        for (int a = 0; a < n && m->grid->rotated; a++)
            for (int b = 0; b < n; b++)
                variance += inverse[j * n + a] * covariance[a * n + b] * inverse[j * n + b];
        m->deviation[j] = sqrt(fmax(0, variance));
        m->least[j] =
            fmax(m->deviation[j] / most_entries_narrow, fmin(m->deviation[j] / most_entries, m->grid->width[j] / 2));
        m->grid->width[j] = fmax(m->deviation[j] / entries, 1e-14 * fabs(m->grid->mean[j]) + 1e-300);
    }
    return GBEES_OK;
}

/* Deposits the marginals of a set. Nothing is made if that misplaces more entries than `most`; 0: it may be any. */
static int deposit(making *m, int set, double most, double *misplaced, gbees_error *error)
{
    const gbees_deposit_options how = {
        .threads = m->engine->threads, .least = least_entry, .apart = apart, .misplaced = most};
    gbees_deposit_report done = {0};

    free(m->of[set]);
    m->of[set] = NULL;
    const int status = gbees_deposit_marginals(m->grid, gbees_engine_list(m->engine, set, m->lattice), m->lattice,
                                               NULL, &how, &m->of[set], &done, error);
    *misplaced = done.misplaced;
    return status;
}

/* Deposits those of the first set. Makes all lattices denser as long as they are misplaced by more than is asked for,
 * if that does not make too many points. */
static int place(making *m, gbees_error *error)
{
    const double most = places_share * m->engine->problem->accuracy * entries;
    double misplaced;

    for (int round = 0;; round++) {
        const int status = deposit(m, 0, round < ROUNDS ? most : 0, &misplaced, error);

        m->misplaced = misplaced / entries;
        if (status || m->of[0])
            return status;
        const double times = fmin(pow(misplaced / most, 0.25) * 1.1, 2);

        if ((double)m->engine->totals.points * pow(times, m->grid->dimension) > POINTS_MOST ||
            gbees_engine_make_denser(m->engine, times, 0, error)) /* what there is will do */
            round = ROUNDS - 1;
        gbees_engine_count(m->engine);
    }
}

/* The width of entries that suits a line, in those that it has. */
static double thinness_of(const making *m, int j)
{
    const gbees_marginal_line own = {.length = m->of[0]->length[j], .p = m->of[0]->line[j]};

    return gbees_line_thinness(&own) / least_thin;
}

/* Makes entries narrower along axes where the density is thin. Returns whether it has. */
static int resolve(making *m)
{
    int changed = 0;

    for (int j = 0; j < m->grid->dimension; j++) {
        const double width = m->grid->width[j], thin = thinness_of(m, j);

        if (!(thin < 1) || !(width > m->least[j]))
            continue;
        m->grid->width[j] = fmax(width * fmin(thin, 0.5), m->least[j]);
        changed = 1;
    }
    return changed;
}

static double smeared_of(const making *m, int j)
{
    const double *p = m->of[0]->line[j];
    double most = 0;

    for (size_t k = 1; k < m->of[0]->length[j]; k++)
        most = fmax(most, p[k - 1] + p[k]);
    return thinness_of(m, j) < 1 ? most : 0;
}

static gbees_marginal_line line_of(const making *m, int set, int j)
{
    return (gbees_marginal_line){m->grid->mean[j] + (m->of[set]->first[j] - 0.5) * m->grid->width[j],
                                 m->grid->width[j], m->of[set]->length[j], m->of[set]->line[j]};
}

size_t gbees_own_marginals_values(const gbees_own_marginals *own, int n)
{
    size_t values = 0;

    for (int j = 0; j < n; j++)
        values += own->line[j].length + 1;
    return values;
}

gbees_own_marginals *gbees_own_marginals_create(const gbees_own_marginals *from, int n)
{
    gbees_own_marginals *made = malloc(sizeof *made + gbees_own_marginals_values(from, n) * sizeof(double));
    double *value = made ? (double *)(void *)(made + 1) : NULL;

    if (!made)
        return NULL;
    *made = *from;
    for (int j = 0; j < n; j++) {
        made->line[j].below = value;
        value += made->line[j].length + 1;
    }
    return made;
}

/* Makes the lines' distribution functions. Returns 1 if there is no memory. */
static int join(making *m)
{
    const int n = m->grid->dimension;
    gbees_own_marginals own = {.rotated = m->grid->rotated, .misplaced = m->misplaced};

    memcpy(own.rotation, m->grid->rotation, sizeof own.rotation);
    memcpy(own.deviation, m->deviation, sizeof own.deviation);
    for (int j = 0; j < n; j++) {
        const gbees_marginal_line line = line_of(m, 0, j);

        own.line[j] = (gbees_smooth_line){line.low, line.width, line.length, NULL};
        own.smeared[j] = smeared_of(m, j);
    }
    m->own = gbees_own_marginals_create(&own, n);
    for (int j = 0; j < n && m->own; j++) {
        const gbees_marginal_line other = line_of(m, 1, j);
        const double *p = m->of[0]->line[j]; /* its sum is 1 */
        const gbees_smooth_line *line = &m->own->line[j];
        double sum = 0;

        for (size_t k = 0; k < line->length; k++) {
            line->below[k] = sum;
            sum += p[k];
        }
        line->below[line->length] = 1;
        const gbees_line_distance off = gbees_line_compare(&other, line);
        m->own->wasserstein = fmax(m->own->wasserstein, off.wasserstein / m->deviation[j]);
        m->own->kolmogorov = fmax(m->own->kolmogorov, off.kolmogorov);
    }
    return !m->own;
}

static int make(making *m, gbees_error *error)
{
    double misplaced;
    int status = set_lines(m, error);

    if (!status)
        status = place(m, error);
    for (int round = 0; round < RESOLVED_MOST && !status && resolve(m); round++)
        status = deposit(m, 0, 0, &misplaced, error);
    if (!status)
        status = deposit(m, 1, 0, &misplaced, error);
    if (!status && join(m))
        status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the marginals of a density");
    return status;
}

/* Whether marginals are along the axes of a grid. */
static int are_along(const gbees_own_marginals *own, const gbees_problem *grid)
{
    const size_t size = (size_t)(grid->dimension * grid->dimension) * sizeof *own->rotation;

    return own->rotated == grid->rotated && (!own->rotated || memcmp(own->rotation, grid->rotation, size) == 0);
}

int gbees_engine_marginals(gbees_engine *engine, const gbees_problem *grid, const gbees_own_marginals **made,
                           gbees_error *error)
{
    making m = {.engine = engine};
    int status = GBEES_OK;

    if (!engine->marginals || !are_along(engine->marginals, grid)) {
        m.grid = malloc(sizeof *m.grid);
        m.lattice = calloc((size_t)engine->parts, sizeof *m.lattice);
        if (m.grid && m.lattice) {
            *m.grid = *grid;
            status = make(&m, error);
        } else
            status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the marginals of a density");
        free(m.grid);
        free(m.lattice);
        free(m.of[0]);
        free(m.of[1]);
        if (!status) {
            free(engine->marginals);
            engine->marginals = m.own;
        }
    }
    *made = engine->marginals;
    return status;
}
