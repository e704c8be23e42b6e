/* joint.c - sums cells and a filter's samples in the bins of a hash table, and compares both by Bhattacharyya's
 * coefficient. A bin is known by a hash of 64 bits of its index, as in audit/bins.c. */
#include "joint.h"
#include "audit/samples.h"
#include "base/cholesky.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = GBEES_MAX_DIM, BLOCK = SAMPLES_BLOCK, LEAST = 64 };

/* A seed that no filter uses. */
static const uint64_t gaussian_seed = (UINT64_C(1) << 62) + 100;

typedef struct bin {
    uint64_t key; /* 0: the place is free */
    double p;     /* of the cells */
    double q, v;  /* of the samples: sum of weights, and of their squares */
} bin;

struct gbees_joint {
    int n, size[N];
    double along[N][N], offset[N]; /* place along axis j, in cells: along[j] . x + offset[j] */
    double p;                      /* of all bins */
    size_t count, capacity;        /* 0 or a power of two, at least twice the count */
    bin *bins;                     /* open addressing */
};

/* ---- bins ---------------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t key, uint64_t more)
{
    key = (key ^ more) * UINT64_C(0xff51afd7ed558ccd);
    return key ^ key >> 32;
}

/* Of the bin that holds a point in cells, whose middles have whole numbers. */
static uint64_t find_key(const gbees_joint *joint, const double *place)
{
    uint64_t key = UINT64_C(0x9e3779b97f4a7c15);

    for (int j = 0; j < joint->n; j++) {
        const double cell = floor(fmin(fmax(place[j], -1e9), 1e9) + 0.5);

        key = mix(key, (uint32_t)(int32_t)floor((cell + joint->size[j] / 2) / joint->size[j]));
    }
    return key + (key == 0);
}

/* The bin of that key, or the free place where it belongs. */
static bin *find_bin(const gbees_joint *joint, uint64_t key)
{
    size_t at = (size_t)key & (joint->capacity - 1);

    while (joint->bins[at].key && joint->bins[at].key != key)
        at = (at + 1) & (joint->capacity - 1);
    return &joint->bins[at];
}

static int grow(gbees_joint *joint)
{
    gbees_joint larger = *joint;

    larger.capacity = joint->capacity ? 4 * joint->capacity : LEAST;
    larger.bins = calloc(larger.capacity, sizeof *larger.bins);
    if (!larger.bins)
        return GBEES_ENOMEM;
    for (size_t i = 0; i < joint->capacity; i++)
        if (joint->bins[i].key)
            *find_bin(&larger, joint->bins[i].key) = joint->bins[i];
    free(joint->bins);
    *joint = larger;
    return GBEES_OK;
}

static int add_cell(gbees_joint *joint, const double *place, double p)
{
    if (2 * (joint->count + 1) > joint->capacity && grow(joint))
        return GBEES_ENOMEM;
    const uint64_t key = find_key(joint, place);
    bin *at = find_bin(joint, key);
    joint->count += at->key == 0;
    at->key = key;
    at->p += p;
    joint->p += p;
    return GBEES_OK;
}

static int add_cells(gbees_joint *joint, const gbees_cells *cells)
{
    const size_t all = gbees_cells_count(cells);
    int32_t index[N][BLOCK], *columns[N];
    double p[BLOCK], place[N];
    int status = GBEES_OK;

    for (int j = 0; j < joint->n; j++)
        columns[j] = index[j];
    for (size_t first = 0, count; first < all && !status; first += count) {
        count = all - first < BLOCK ? all - first : BLOCK;
        gbees_cells_copy(cells, first, count, columns, p);
        for (size_t i = 0; i < count && !status; i++) {
            for (int j = 0; j < joint->n; j++)
                place[j] = index[j][i];
            status = add_cell(joint, place, p[i]);
        }
    }
    return status;
}

/* ---- the record ---------------------------------------------------------------------------------------------- */

/* Places along the axes of the record's grid, in cells from the middle of cell 0. */
static void set_axes(gbees_joint *joint, const gbees_problem *problem)
{
    const double *const inverse = gbees_problem_inverse(problem);
    const int n = joint->n;

    for (int j = 0; j < n; j++) {
        joint->offset[j] = -problem->mean[j] / problem->width[j];
        for (int k = 0; k < n; k++) {
            joint->along[j][k] = (problem->rotated ? inverse[j * n + k] : k == j) / problem->width[j];
            joint->offset[j] -= problem->rotated ? joint->along[j][k] * problem->centre[k] : 0;
        }
    }
}

/* Sets the bins' sizes from the standard deviations of the run's initial density. A record on a grid along the
 * model's axes, of a run whose grid has others, has these deviations in its own problem. */
static void set_sizes(gbees_joint *joint, const gbees_problem *start, const gbees_problem *problem)
{
    const int n = joint->n;
    const gbees_problem *from = start->rotated && !problem->rotated ? problem : start;

    for (int j = 0; j < n; j++) {
        const double cells = round(sqrt(fmax(0, from->covariance[j * n + j])) / problem->width[j]);

        joint->size[j] = (int)fmin(1e6, fmax(1, cells));
    }
}

int gbees_joint_create(const gbees_problem *start, const gbees_record *record, gbees_joint **joint,
                       gbees_error *error)
{
    const size_t cells = record->cells ? gbees_cells_count(record->cells) : 0;

    *joint = NULL;
    if (cells == 0 || cells > GBEES_COMPARED_CELLS)
        return GBEES_OK;
    gbees_joint *made = calloc(1, sizeof *made);
    if (made) {
        made->n = record->problem->dimension;
        set_axes(made, record->problem);
        set_sizes(made, start, record->problem);
    }
    if (!made || add_cells(made, record->cells)) {
        gbees_joint_destroy(made);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to compare a record of %zu cells", cells);
    }
    *joint = made;
    return GBEES_OK;
}

void gbees_joint_destroy(gbees_joint *joint)
{
    if (joint)
        free(joint->bins);
    free(joint);
}

/* ---- the coefficient ----------------------------------------------------------------------------------------- */

static void clear_samples(gbees_joint *joint)
{
    for (size_t i = 0; i < joint->capacity; i++)
        joint->bins[i].q = joint->bins[i].v = 0;
}

/* Adds a sample at a point in the model's axes, if a bin with cells holds it. */
static void add_sample(gbees_joint *joint, const double *x, double weight)
{
    double place[N];

    for (int j = 0; j < joint->n; j++) {
        place[j] = joint->offset[j];
        for (int k = 0; k < joint->n; k++)
            place[j] += joint->along[j][k] * x[k];
    }
    bin *at = find_bin(joint, find_key(joint, place));
    at->q += at->key ? weight : 0;
    at->v += at->key ? weight * weight : 0;
}

/* `weight` is that of all samples. */
static double find_coefficient(const gbees_joint *joint, double weight)
{
    double sum = 0;

    for (size_t i = 0; i < joint->capacity; i++) {
        const bin *b = &joint->bins[i];

        if (b->q > 0)
            sum += sqrt(b->p * b->q) * (1 + b->v / (8 * b->q * b->q));
    }
    return fmin(1, sum / sqrt(joint->p * weight));
}

double gbees_joint_samples(gbees_joint *joint, const gbees_montecarlo *samples)
{
    double x[N], weight = 0;

    clear_samples(joint);
    for (size_t i = 0; i < samples->count; i++) {
        for (int j = 0; j < joint->n; j++)
            x[j] = samples->x[j][i];
        add_sample(joint, x, samples->weight[i]);
        weight += samples->weight[i];
    }
    return find_coefficient(joint, weight);
}

double gbees_joint_gaussian(gbees_joint *joint, const gbees_filter_moments *moments)
{
    const int n = joint->n;
    double root[N * N], z[N + 4], x[N];

    if (gbees_cholesky_factor(n, moments->covariance, root))
        return NAN;
    clear_samples(joint);
    for (uint64_t i = 0; i < GBEES_JOINT_SAMPLES; i++) {
        for (int j = 0; j < n; j += 4)
            gbees_samples_normals(gaussian_seed, i, 0, (uint64_t)j / 4, SAMPLES_FOR_START, z + j);
        for (int j = 0; j < n; j++) {
            x[j] = moments->mean[j];
            for (int k = 0; k <= j; k++)
                x[j] += root[j * n + k] * z[k];
        }
        add_sample(joint, x, 1);
    }
    return find_coefficient(joint, GBEES_JOINT_SAMPLES);
}
