/* bins.c - see bins.h.  A hash table with open addressing; the key is a bin's index along all axes. */
#include "bins.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16384, GROUPS = GBEES_BINS_GROUPS };

typedef struct bin {
    int32_t index[GBEES_MAX_DIM];
    int used;
    double p, weight[GROUPS];
} bin;

struct gbees_bins {
    int dimension, size[GBEES_MAX_DIM];
    size_t count, capacity; /* the capacity is a power of two, at least twice the count */
    bin *table;
    double square[GROUPS]; /* of the weights, by group */
};

gbees_bins *gbees_bins_create(int dimension, const int *size)
{
    gbees_bins *bins = calloc(1, sizeof *bins);

    if (!bins)
        return NULL;
    bins->dimension = dimension;
    memcpy(bins->size, size, (size_t)dimension * sizeof *size);
    bins->capacity = 1024;
    bins->table = calloc(bins->capacity, sizeof *bins->table);
    if (!bins->table) {
        free(bins);
        return NULL;
    }
    return bins;
}

void gbees_bins_destroy(gbees_bins *bins)
{
    if (!bins)
        return;
    free(bins->table);
    free(bins);
}

static size_t hash_of(const gbees_bins *bins, const int32_t *index)
{
    uint64_t hash = UINT64_C(0x9e3779b97f4a7c15);

    for (int j = 0; j < bins->dimension; j++) {
        hash ^= (uint32_t)index[j];
        hash *= UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    return (size_t)hash & (bins->capacity - 1);
}

/* The bin with that index, or the place where it belongs. */
static bin *find(const gbees_bins *bins, const int32_t *index)
{
    const size_t size = (size_t)bins->dimension * sizeof *index;
    size_t at = hash_of(bins, index);

    while (bins->table[at].used && memcmp(bins->table[at].index, index, size) != 0)
        at = (at + 1) & (bins->capacity - 1);
    return &bins->table[at];
}

static int grow(gbees_bins *bins)
{
    gbees_bins larger = *bins;

    larger.capacity = 2 * bins->capacity;
    larger.table = calloc(larger.capacity, sizeof *larger.table);
    if (!larger.table)
        return GBEES_ENOMEM;
    for (size_t i = 0; i < bins->capacity; i++)
        if (bins->table[i].used)
            *find(&larger, bins->table[i].index) = bins->table[i];
    free(bins->table);
    *bins = larger;
    return GBEES_OK;
}

/* Finds or adds a bin.  NULL without memory. */
static bin *insert(gbees_bins *bins, const int32_t *index)
{
    if (2 * (bins->count + 1) > bins->capacity && grow(bins))
        return NULL;
    bin *at = find(bins, index);
    if (!at->used) {
        at->used = 1;
        memcpy(at->index, index, (size_t)bins->dimension * sizeof *index);
        bins->count++;
    }
    return at;
}

/* The bin of a cell along an axis. */
static int32_t bin_of(const gbees_bins *bins, int axis, int64_t cell)
{
    const int64_t size = bins->size[axis], shifted = cell + size / 2;

    return (int32_t)(shifted >= 0 ? shifted / size : -((-shifted + size - 1) / size));
}

int gbees_bins_add_cells(gbees_bins *bins, const gbees_cells *cells)
{
    const size_t count = gbees_cells_count(cells), n = (size_t)bins->dimension;
    int32_t *index = malloc(n * BLOCK * sizeof *index), *columns[GBEES_MAX_DIM];
    double *p = malloc(BLOCK * sizeof *p);
    int status = index && p ? GBEES_OK : GBEES_ENOMEM;

    for (size_t first = 0; first < count && !status; first += BLOCK) {
        const size_t some = count - first < BLOCK ? count - first : BLOCK;

        for (size_t j = 0; j < n; j++)
            columns[j] = index + j * BLOCK;
        gbees_cells_copy(cells, first, some, columns, p);
        for (size_t i = 0; i < some && !status; i++) {
            int32_t at[GBEES_MAX_DIM];
            bin *to;

            for (size_t j = 0; j < n; j++)
                at[j] = bin_of(bins, (int)j, columns[j][i]);
            to = insert(bins, at);
            if (to)
                to->p += p[i];
            else
                status = GBEES_ENOMEM;
        }
    }
    free(index);
    free(p);
    return status;
}

int gbees_bins_add_sample(gbees_bins *bins, const double *place, double weight, int group)
{
    int32_t at[GBEES_MAX_DIM];

    for (int j = 0; j < bins->dimension; j++) {
        const double cell = floor(fmin(fmax(place[j], -1e9), 1e9) + 0.5);

        at[j] = bin_of(bins, j, (int64_t)cell);
    }
    bin *to = insert(bins, at);
    if (!to)
        return GBEES_ENOMEM;
    to->weight[group] += weight;
    bins->square[group] += weight * weight;
    return GBEES_OK;
}

int gbees_bins_merge(gbees_bins *bins, const gbees_bins *other)
{
    for (size_t i = 0; i < other->capacity; i++) {
        const bin *from = &other->table[i];
        bin *to = from->used ? insert(bins, from->index) : NULL;

        if (from->used && !to)
            return GBEES_ENOMEM;
        for (int g = 0; g < GROUPS && to; g++)
            to->weight[g] += from->weight[g];
        if (to)
            to->p += from->p;
    }
    for (int g = 0; g < GROUPS; g++)
        bins->square[g] += other->square[g];
    return GBEES_OK;
}

/* ---- the difference ---- */

/* Sums over the bins, for one group of samples or for all. */
typedef struct overlap {
    double both, p, q, weight, square;
} overlap;

/* NAN if the samples say nothing about sum q^2. */
static double difference_of(const overlap *sums)
{
    const double q = (sums->q - sums->square) / (sums->weight * sums->weight - sums->square);

    return q > 0 && sums->p > 0 ? 1 - sums->both / sums->weight / sqrt(sums->p * q) : NAN;
}

static void add_bin(overlap *sums, double p, double weight)
{
    sums->both += p * weight;
    sums->p += p * p;
    sums->q += weight * weight;
    sums->weight += weight;
}

void gbees_bins_difference(const gbees_bins *bins, double *difference, double *error)
{
    overlap all = {0}, group[GROUPS] = {{0}};
    double sum = 0, square = 0;

    for (size_t i = 0; i < bins->capacity; i++) {
        const bin *b = &bins->table[i];
        double weight = 0;

        if (!b->used)
            continue;
        for (int g = 0; g < GROUPS; g++) {
            add_bin(&group[g], b->p, b->weight[g]);
            weight += b->weight[g];
        }
        add_bin(&all, b->p, weight);
    }
    for (int g = 0; g < GROUPS; g++) {
        group[g].square = bins->square[g];
        all.square += bins->square[g];
        const double d = difference_of(&group[g]);
        sum += d;
        square += d * d;
    }
    *difference = difference_of(&all);
    *error = sqrt(fmax(0, square - sum * sum / GROUPS) / (GROUPS - 1) / GROUPS);
    if (!isfinite(*difference) || !isfinite(sum))
        *difference = *error = NAN;
}
