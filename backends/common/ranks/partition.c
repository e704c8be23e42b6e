/* partition.c - a tree of cuts, one of which divides each part's ranks in two halves. A cut is at the bin of a
 * histogram of the part's bricks that costs least: the larger load of both sides, plus the fraction of the bricks
 * beside the cut. */
#include "partition.h"
#include <limits.h>
#include <stdlib.h>

int partition_create(partition *p, int n, int ranks, const int *layers)
{
    *p = (partition){.n = n, .ranks = ranks, .parts = 1, .part = calloc((size_t)ranks, sizeof *p->part)};
    if (!p->part)
        return 1;
    p->part[0] = (partition_part){.first = 0, .ranks = ranks};
    for (int j = 0; j < n; j++) {
        p->layers[j] = layers[j];
        p->part[0].box.lo[j] = INT32_MIN;
        p->part[0].box.hi[j] = INT32_MAX;
    }
    return 0;
}

void partition_destroy(partition *p)
{
    free(p->part);
    *p = (partition){0};
}

int partition_contains(int n, const partition_box *box, const int32_t *key)
{
    int j = 0;

    while (j < n && key[j] >= box->lo[j] && key[j] < box->hi[j])
        j++;
    return j == n;
}

int partition_are_near(int n, const partition_box *a, const partition_box *b, const int *layers)
{
    for (int j = 0; j < n; j++)
        if ((int64_t)a->lo[j] - b->hi[j] >= layers[j] || (int64_t)b->lo[j] - a->hi[j] >= layers[j])
            return 0;
    return 1;
}

int partition_find(const partition *p, const int32_t *key)
{
    int part = 0;

    while (part < p->parts - 1 && !partition_contains(p->n, &p->part[part].box, key))
        part++;
    return part;
}

int partition_is_open(const partition *p)
{
    return p->parts < p->ranks;
}

void partition_set_bins(const partition *p, const int32_t *lo, const int32_t *hi, partition_bins *bins)
{
    for (int j = 0; j < p->n; j++) {
        const int64_t length = (int64_t)hi[j] - lo[j] + 1;
        int shift = 0;

        while (length >> shift > PARTITION_BINS - 1)
            shift++;
        bins->first[j] = lo[j];
        bins->shift[j] = shift;
        bins->count[j] = length > 0 ? (int)((length - 1) >> shift) + 1 : 0;
    }
}

/* The histogram of a part along an axis, [PARTITION_BINS]. */
static int64_t *histogram_of(const partition *p, int64_t *counts, int part, int axis)
{
    return counts + ((size_t)part * (size_t)p->n + (size_t)axis) * PARTITION_BINS;
}

void partition_count(const partition *p, const partition_bins *bins, const int32_t *key, int64_t *counts)
{
    const int part = partition_find(p, key);

    for (int j = 0; j < p->n; j++)
        histogram_of(p, counts, part, j)[(key[j] - bins->first[j]) >> bins->shift[j]]++;
}

/* A cut along an axis, at the first key of a bin, and its cost (cost_of()). */
typedef struct cut {
    int axis, bin;
    double cost;
} cut;

/* The cost of a cut before bin b, which leaves `below` of `all` bricks on its lower side, where a `fraction` is
 * even: the larger load of both sides, relative to an even one, plus the fraction of bricks beside the cut, whose
 * rows are exchanged before one of a step's n sweeps. */
static double cost_of(const int64_t *histogram, int bins, int b, int64_t below, int64_t all, double fraction, int n,
                      int layers)
{
    const double under = (double)below / ((double)all * fraction),
                 over = (double)(all - below) / ((double)all * (1 - fraction));
    int64_t beside = 0;

    for (int k = b - layers; k < b + layers; k++)
        beside += k >= 0 && k < bins ? histogram[k] : 0;
    return (under > over ? under : over) + (double)beside / (double)all / n;
}

/* The part of a part's bricks that its lower half of ranks should have. */
static double fraction_below(const partition_part *whole, const double *weight)
{
    double below = 0, all = 0;

    for (int r = 0; r < whole->ranks; r++) {
        below += r < whole->ranks / 2 ? weight[whole->first + r] : 0;
        all += weight[whole->first + r];
    }
    return below / all;
}

/* Chooses the cut of a part with the least cost; its bin is below 0 if no cut divides the part's bricks. */
static cut choose(const partition *p, const partition_bins *bins, const int64_t *counts, const double *weight,
                  int part)
{
    const double fraction = fraction_below(&p->part[part], weight);
    cut best = {.axis = 0, .bin = -1, .cost = 1e300};

    for (int j = 0; j < p->n; j++) {
        if (p->layers[j] == 0)
            continue;
        const int64_t *histogram = counts + ((size_t)part * (size_t)p->n + (size_t)j) * PARTITION_BINS;
        int64_t all = 0, below = 0;

        for (int b = 0; b < bins->count[j]; b++)
            all += histogram[b];
        for (int b = 1; b < bins->count[j] && all > 0; b++) {
            below += histogram[b - 1];
            if (below == 0 || below == all)
                continue;
            const double cost = cost_of(histogram, bins->count[j], b, below, all, fraction, p->n, p->layers[j]);
            if (cost < best.cost)
                best = (cut){.axis = j, .bin = b, .cost = cost};
        }
    }
    return best;
}

/* The key along axis 0 at which a part is cut whose bricks no cut divides: above all bricks; of an axis that is not
 * cut, which new bricks may be anywhere on, above all keys. */
static int32_t beyond(const partition *p, const partition_bins *bins, const partition_box *box)
{
    const int64_t end = (int64_t)bins->first[0] + ((int64_t)bins->count[0] << bins->shift[0]);

    return p->layers[0] > 0 && end > box->lo[0] && end < box->hi[0] ? (int32_t)end : box->hi[0];
}

void partition_cut(partition *p, const partition_bins *bins, const int64_t *counts, const double *weight)
{
    const int parts = p->parts;
    int at = parts;

    for (int k = 0; k < parts; k++) {
        partition_part *low = &p->part[k];

        if (low->ranks == 1)
            continue;
        const cut c = choose(p, bins, counts, weight, k);
        const int32_t key = c.bin < 0 ? beyond(p, bins, &low->box)
                                      : (int32_t)(bins->first[c.axis] + ((int64_t)c.bin << bins->shift[c.axis]));
        partition_part *high = &p->part[at++];

        *high = *low;
        low->box.hi[c.axis] = high->box.lo[c.axis] = key;
        low->ranks /= 2;
        high->ranks -= low->ranks;
        high->first += low->ranks;
    }
    p->parts = at;
    if (partition_is_open(p))
        return;
    for (int k = 0; k < p->parts; k++) /* sorts the parts: part r is rank r's */
        while (p->part[k].first != k) {
            const partition_part other = p->part[p->part[k].first];

            p->part[p->part[k].first] = p->part[k];
            p->part[k] = other;
        }
}
