/* bins.c - puts samples and cells into bins and estimates the difference of both densities from the bins' masses.
 * Bins are divided into partitions by their hash. Each part of the samples, or of the cells, adds to hash tables of
 * its own, one a partition; so partitions can be merged independently. A bin is identified by a 64-bit hash of its
 * index: that two of millions of bins have the same is less likely than an error of the memory. */
#include "bins.h"
#include "samples.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    GROUPS = GBEES_BINS_GROUPS,
    PARTS = GBEES_WORKERS_PARTS,
    PARTITIONS = PARTS,
    BLOCK = SAMPLES_BLOCK,
    LEAST = 64
};

typedef struct entry {
    uint64_t key; /* 0: the place is free */
    double sum;
} entry;

/* Open addressing. The capacity is 0 or a power of two, at least twice the count. */
typedef struct table {
    size_t count, capacity;
    entry *entries;
} table;

/* Sums over the bins, for one group of samples or for all; cross: of products of the group's weight and that of all.
 */
typedef struct overlap {
    double both, p, q, weight, square, cross;
} overlap;

struct gbees_bins {
    int dimension, size[GBEES_MAX_DIM];
    table samples[PARTS][PARTITIONS], cells[PARTS][PARTITIONS];
    double square[PARTS];                   /* of the weights, by part */
    overlap merged[PARTITIONS][GROUPS + 1]; /* of each group; the last: of all */
};

gbees_bins *gbees_bins_create(int dimension, const int *size)
{
    gbees_bins *bins = calloc(1, sizeof *bins);

    if (!bins)
        return NULL;
    bins->dimension = dimension;
    memcpy(bins->size, size, (size_t)dimension * sizeof *size);
    return bins;
}

void gbees_bins_destroy(gbees_bins *bins)
{
    for (size_t part = 0; bins && part < PARTS; part++)
        for (size_t partition = 0; partition < PARTITIONS; partition++) {
            free(bins->samples[part][partition].entries);
            free(bins->cells[part][partition].entries);
        }
    free(bins);
}

/* ---- a table ---- */

/* The entry with that key, or the place where it belongs. The lowest bits of keys of a partition are equal. */
static entry *find(const table *in, uint64_t key)
{
    size_t at = (size_t)(key >> 8) & (in->capacity - 1);

    while (in->entries[at].key && in->entries[at].key != key)
        at = (at + 1) & (in->capacity - 1);
    return &in->entries[at];
}

static int grow(table *in)
{
    table larger = {in->count, in->capacity ? 4 * in->capacity : LEAST, NULL};

    larger.entries = calloc(larger.capacity, sizeof *larger.entries);
    if (!larger.entries)
        return GBEES_ENOMEM;
    for (size_t i = 0; i < in->capacity; i++)
        if (in->entries[i].key)
            *find(&larger, in->entries[i].key) = in->entries[i];
    free(in->entries);
    in->capacity = larger.capacity;
    in->entries = larger.entries;
    return GBEES_OK;
}

static int add(table *to, uint64_t key, double value)
{
    if (2 * (to->count + 1) > to->capacity && grow(to))
        return GBEES_ENOMEM;
    entry *at = find(to, key);
    to->count += at->key == 0;
    at->key = key;
    at->sum += value;
    return GBEES_OK;
}

static int add_block(table *to, size_t count, const uint64_t *key, const double *value)
{
    for (size_t i = 0; i < count; i++)
        if (add(&to[key[i] % PARTITIONS], key[i], value[i]))
            return GBEES_ENOMEM;
    return GBEES_OK;
}

/* ---- adding ---- */

/* Continues the keys of bins by an axis along which the cells' indices are whole numbers cell[i]. */
GBEES_PROCESSOR_CLONES static void mix_axis(size_t count, const double *restrict cell, int size,
                                            uint64_t *restrict key)
{
    /* Exact: the quotient of two whole numbers of less than 53 bits together never rounds up to a whole number. */
    const double half = size / 2, width = size;

    for (size_t i = 0; i < count; i++) {
        uint64_t mixed = key[i] ^ (uint32_t)(int32_t)floor((cell[i] + half) / width);

        mixed *= UINT64_C(0xff51afd7ed558ccd);
        key[i] = mixed ^ mixed >> 32;
    }
}

/* The cell that each place is in. */
GBEES_PROCESSOR_CLONES static void find_cells(size_t count, const double *restrict place, double *restrict cell)
{
    for (size_t i = 0; i < count; i++) {
        const double above = place[i] > -1e9 ? place[i] : -1e9;

        cell[i] = floor((above < 1e9 ? above : 1e9) + 0.5);
    }
}

static void start_keys(size_t count, uint64_t *key)
{
    for (size_t i = 0; i < count; i++)
        key[i] = UINT64_C(0x9e3779b97f4a7c15);
}

/* Finishes the hashes by a last multiplication, and replaces 0, which marks a free place. */
static void finish_keys(size_t count, uint64_t *key)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t mixed = key[i] * UINT64_C(0xc4ceb9fe1a85ec53);

        key[i] = mixed ^ mixed >> 32;
        key[i] += key[i] == 0;
    }
}

int gbees_bins_add_cells(gbees_bins *bins, size_t part, const gbees_cells *cells)
{
    const size_t all = gbees_cells_count(cells), last = gbees_workers_first(all, part + 1);
    int32_t index[GBEES_MAX_DIM][BLOCK], *columns[GBEES_MAX_DIM];
    uint64_t key[BLOCK];
    double p[BLOCK], cell[BLOCK];
    int status = GBEES_OK;

    for (int j = 0; j < bins->dimension; j++)
        columns[j] = index[j];
    for (size_t first = gbees_workers_first(all, part), count; first < last && !status; first += count) {
        count = last - first < BLOCK ? last - first : BLOCK;
        gbees_cells_copy(cells, first, count, columns, p);
        start_keys(count, key);
        for (int j = 0; j < bins->dimension; j++) {
            for (size_t i = 0; i < count; i++)
                cell[i] = index[j][i];
            mix_axis(count, cell, bins->size[j], key);
        }
        finish_keys(count, key);
        status = add_block(bins->cells[part], count, key, p);
    }
    return status;
}

int gbees_bins_add_samples(gbees_bins *bins, size_t part, size_t count, const double *const *place,
                           const double *weight)
{
    uint64_t key[BLOCK];
    double cell[BLOCK];
    int status = GBEES_OK;

    for (size_t first = 0, some; first < count && !status; first += some) {
        some = count - first < BLOCK ? count - first : BLOCK;
        start_keys(some, key);
        for (int j = 0; j < bins->dimension; j++) {
            find_cells(some, place[j] + first, cell);
            mix_axis(some, cell, bins->size[j], key);
        }
        finish_keys(some, key);
        for (size_t i = 0; i < some; i++)
            bins->square[part] += weight[first + i] * weight[first + i];
        status = add_block(bins->samples[part], some, key, weight + first);
    }
    return status;
}

/* ---- the difference ---- */

/* A bin of a partition, with the sums of all parts. */
typedef struct bin {
    double p, weight[GROUPS];
} bin;

/* Adds the entries of a part's table to column `column` of the bins; `numbers` has each bin's number + 1. */
static int merge_table(const table *from, table *numbers, bin *list, int column)
{
    for (size_t i = 0; i < from->capacity; i++) {
        const entry *e = &from->entries[i];

        if (!e->key)
            continue;
        if (2 * (numbers->count + 1) > numbers->capacity && grow(numbers))
            return GBEES_ENOMEM;
        entry *at = find(numbers, e->key);
        if (!at->key)
            *at = (entry){e->key, (double)numbers->count++};
        bin *to = &list[(size_t)at->sum];
        *(column < GROUPS ? &to->weight[column] : &to->p) += e->sum;
    }
    return GBEES_OK;
}

static void add_bin(overlap *sums, double p, double weight, double all)
{
    sums->both += p * weight;
    sums->p += p * p;
    sums->q += weight * weight;
    sums->weight += weight;
    sums->cross += weight * all;
}

static void sum_bins(const bin *list, size_t count, overlap *sums)
{
    for (size_t i = 0; i < count; i++) {
        double weight = 0;

        for (int g = 0; g < GROUPS; g++)
            weight += list[i].weight[g];
        for (int g = 0; g < GROUPS; g++)
            add_bin(&sums[g], list[i].p, list[i].weight[g], weight);
        add_bin(&sums[GROUPS], list[i].p, weight, weight);
    }
}

int gbees_bins_merge(gbees_bins *bins, size_t partition)
{
    table numbers = {0};
    size_t most = 1;
    int status = GBEES_OK;

    for (size_t part = 0; part < PARTS; part++)
        most += bins->samples[part][partition].count + bins->cells[part][partition].count;
    bin *list = calloc(most, sizeof *list);
    if (!list)
        return GBEES_ENOMEM;
    for (size_t part = 0; part < PARTS && !status; part++)
        status = merge_table(&bins->samples[part][partition], &numbers, list, (int)(part * GROUPS / PARTS));
    for (size_t part = 0; part < PARTS && !status; part++)
        status = merge_table(&bins->cells[part][partition], &numbers, list, GROUPS);
    sum_bins(list, numbers.count, bins->merged[partition]);
    free(numbers.entries);
    free(list);
    return status;
}

/* NAN if the samples say nothing about sum q^2. */
static double difference_of(const overlap *sums)
{
    const double q = (sums->q - sums->square) / (sums->weight * sums->weight - sums->square);

    return q > 0 && sums->p > 0 ? 1 - sums->both / sums->weight / sqrt(sums->p * q) : NAN;
}

/* The difference without group number `out` (GROUPS: of all groups), with sum q^2 from pairs of samples in different
 * groups. */
static double difference_between(const overlap *sums, int out)
{
    const overlap none = {0}, *all = &sums[GROUPS], *left = out < GROUPS ? &sums[out] : &none;
    const double weight = all->weight - left->weight;
    double q = all->q - 2 * left->cross + left->q, pairs = weight * weight;

    for (int g = 0; g < GROUPS; g++) {
        q -= g == out ? 0 : sums[g].q;
        pairs -= g == out ? 0 : sums[g].weight * sums[g].weight;
    }
    return q > 0 && pairs > 0 && all->p > 0 ? 1 - (all->both - left->both) / weight / sqrt(all->p * q / pairs) : NAN;
}

/* The difference by all groups, its standard error by leaving out each in turn (the jackknife). */
static void jackknife(const overlap *sums, double *difference, double *error)
{
    double sum = 0, square = 0;

    for (int g = 0; g < GROUPS; g++) {
        const double d = difference_between(sums, g);

        sum += d;
        square += d * d;
    }
    *difference = difference_between(sums, GROUPS);
    *error = isfinite(sum) ? sqrt(fmax(0, square - sum * sum / GROUPS) * (GROUPS - 1) / GROUPS) : NAN;
}

/* The difference by all samples, its standard error from the spread of the groups. */
static void spread(const overlap *sums, double *difference, double *error)
{
    double sum = 0, square = 0;

    for (int g = 0; g < GROUPS; g++) {
        const double d = difference_of(&sums[g]);

        sum += d;
        square += d * d;
    }
    *difference = difference_of(&sums[GROUPS]);
    *error = isfinite(sum) ? sqrt(fmax(0, square - sum * sum / GROUPS) / (GROUPS - 1) / GROUPS) : NAN;
}

void gbees_bins_difference(const gbees_bins *bins, int dependent, double *difference, double *error)
{
    overlap sums[GROUPS + 1] = {{0}};

    for (size_t partition = 0; partition < PARTITIONS; partition++)
        for (int g = 0; g <= GROUPS; g++) {
            const overlap *more = &bins->merged[partition][g];

            sums[g] = (overlap){sums[g].both + more->both,
                                sums[g].p + more->p,
                                sums[g].q + more->q,
                                sums[g].weight + more->weight,
                                0,
                                sums[g].cross + more->cross};
        }
    for (int part = 0; part < PARTS; part++) {
        sums[part * GROUPS / PARTS].square += bins->square[part];
        sums[GROUPS].square += bins->square[part];
    }
    (dependent ? jackknife : spread)(sums, difference, error);
    if (!isfinite(*difference) || !isfinite(*error))
        *difference = *error = NAN;
}

gbees_difference gbees_bins_bound(double difference, double error)
{
    return (gbees_difference){difference, fmax(0, difference) + 2 * error};
}
