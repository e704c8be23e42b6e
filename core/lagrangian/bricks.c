/* bricks.c - the hash table, and the list of its cells; see bricks.h. */
#include "bricks.h"
#include "base/array.h"
#include "base/workers.h"
#include <stdlib.h>
#include <string.h>

enum {
    FIRST = 16,  /* bricks that there is memory for at first */
    CELL_NS = 10 /* that sharpening a cell along an axis takes, in nanoseconds */
};

int gbees_bricks_open(gbees_bricks *bricks, int n, double bytes)
{
    static const signed char shifts[] = {0, 6, 4, 3, 2, 1, 1, 1, 1};

    *bricks = (gbees_bricks){.n = n, .shift = shifts[n], .entries = 1};
    for (int j = n - 1; j >= 0; j--) {
        bricks->step[j] = bricks->entries;
        bricks->entries <<= bricks->shift;
    }
    const double most = bytes / ((double)bricks->entries * sizeof *bricks->cell + sizeof *bricks->key + 16);

    bricks->most = most < UINT32_MAX / 2 ? (size_t)most : UINT32_MAX / 2;
    bricks->table_mask = 4 * FIRST - 1;
    bricks->table = calloc(bricks->table_mask + 1, sizeof *bricks->table);
    return !bricks->table;
}

void gbees_bricks_close(gbees_bricks *bricks)
{
    free(bricks->key);
    free(bricks->cell);
    free(bricks->table);
    *bricks = (gbees_bricks){0};
}

double gbees_bricks_bytes(const gbees_bricks *bricks)
{
    return (double)bricks->capacity * ((double)bricks->entries * sizeof *bricks->cell + sizeof *bricks->key) +
           (double)(bricks->table_mask + 1) * sizeof *bricks->table;
}

/* ---- the table ---- */

static size_t hash(const gbees_bricks *bricks, const int32_t *key)
{
    uint64_t h = 0;

    for (int j = 0; j < bricks->n; j++) {
        h = (h ^ (uint32_t)key[j]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    return (size_t)h;
}

/* The place in the table of a brick, or where it has to be entered. */
static size_t slot_of(const gbees_bricks *bricks, const int32_t *key)
{
    size_t slot = hash(bricks, key) & bricks->table_mask;

    while (bricks->table[slot] &&
           memcmp(bricks->key[bricks->table[slot] - 1], key, (size_t)bricks->n * sizeof *key) != 0)
        slot = (slot + 1) & bricks->table_mask;
    return slot;
}

/* Doubles the memory. Returns 1 if there is none. */
static int grow(gbees_bricks *bricks)
{
    const size_t capacity = bricks->capacity ? 2 * bricks->capacity : FIRST;
    gbees_brick_cell *cell = gbees_array_create(capacity * bricks->entries, sizeof *cell);
    void *key = realloc(bricks->key, capacity * sizeof *bricks->key);
    uint32_t *table = calloc(4 * capacity, sizeof *table);

    if (key)
        bricks->key = key;
    if (!cell || !key || !table) {
        free(cell);
        free(table);
        return 1;
    }
    if (bricks->count)
        memcpy(cell, bricks->cell, bricks->count * bricks->entries * sizeof *cell);
    free(bricks->cell);
    free(bricks->table);
    bricks->cell = cell;
    bricks->table = table;
    bricks->table_mask = 4 * capacity - 1;
    bricks->capacity = capacity;
    for (size_t b = 0; b < bricks->count; b++)
        bricks->table[slot_of(bricks, bricks->key[b])] = (uint32_t)(b + 1);
    return 0;
}

/* Returns the brick that holds a cell, made if there was none; SIZE_MAX: there is no memory. */
static size_t find(gbees_bricks *bricks, const int32_t *index)
{
    int32_t key[GBEES_MAX_DIM] = {0};

    for (int j = 0; j < bricks->n; j++)
        key[j] = index[j] >> bricks->shift;
    size_t slot = slot_of(bricks, key);

    if (bricks->table[slot])
        return bricks->table[slot] - 1;
    if (bricks->count >= bricks->most)
        return SIZE_MAX;
    if (bricks->count == bricks->capacity) {
        if (grow(bricks))
            return SIZE_MAX;
        slot = slot_of(bricks, key);
    }
    const size_t made = bricks->count++;

    memcpy(bricks->key[made], key, sizeof key);
    memset(bricks->cell + made * bricks->entries, 0, bricks->entries * sizeof *bricks->cell);
    bricks->table[slot] = (uint32_t)(made + 1);
    return made;
}

gbees_brick_cell *gbees_bricks_at(gbees_bricks *bricks, const int32_t *index)
{
    const int32_t mask = (1 << bricks->shift) - 1, *key = bricks->count ? bricks->key[bricks->last] : NULL;
    int same = key != NULL;
    size_t at = 0;

    for (int j = 0; j < bricks->n; j++) {
        same &= key && key[j] == index[j] >> bricks->shift;
        at += (size_t)(index[j] & mask) * bricks->step[j];
    }
    const size_t found = same ? bricks->last : find(bricks, index);
    if (found == SIZE_MAX)
        return NULL;
    bricks->last = found;
    return bricks->cell + found * bricks->entries + at;
}

int gbees_bricks_merge(gbees_bricks *to, const gbees_bricks *from, double factor)
{
    for (size_t b = 0; b < from->count; b++) {
        int32_t index[GBEES_MAX_DIM];

        for (int j = 0; j < from->n; j++)
            index[j] = from->key[b][j] * (1 << from->shift);
        const size_t found = find(to, index);
        if (found == SIZE_MAX)
            return 1;
        gbees_brick_cell *cell = to->cell + found * to->entries;
        const gbees_brick_cell *more = from->cell + b * from->entries;

        for (size_t i = 0; i < to->entries && factor == 1; i++) {
            cell[i].mass += more[i].mass;
            cell[i].whole += more[i].whole;
            cell[i].spread += more[i].spread;
        }
        for (size_t i = 0; i < to->entries && factor != 1; i++) {
            cell[i].mass += (int64_t)((double)more[i].mass * factor + 0.5);
            cell[i].whole += (int64_t)((double)more[i].whole * factor + 0.5);
            cell[i].spread += (int64_t)((double)more[i].spread * factor + 0.5);
        }
    }
    return 0;
}

double gbees_bricks_total(const gbees_bricks *bricks)
{
    int64_t total = 0; /* whose bits do not depend on the order of the bricks, as threads have made them */

    for (size_t i = 0; i < bricks->count * bricks->entries; i++)
        total += bricks->cell[i].mass;
    return (double)total / GBEES_BRICKS_ONE;
}

/* ---- sharpening ---- */

/* The cells of the brick beside another one along an axis; NULL: there is none. */
static const gbees_brick_cell *beside(const gbees_bricks *bricks, size_t b, int axis, int by)
{
    int32_t key[GBEES_MAX_DIM];

    memcpy(key, bricks->key[b], sizeof key);
    key[axis] += by;
    const uint32_t found = bricks->table[slot_of(bricks, key)];
    return found ? bricks->cell + (found - 1) * bricks->entries : NULL;
}

/* What the differences between a row's cells are taken of. A spreading over a width w multiplies waves by sinc(w k /
 * 2)^3, k the wave number; its inverse is 1 + w^2/8 k^2 + 17/1920 w^4 k^4 + 4.7226e-4 w^6 k^6 + ..., and powers of k
 * are differences of neighbours, of which there are more terms: -k^2 = d2 - d4/12 + d6/90 - ..., k^4 = d4 - d6/6 +
 * ...
 */
typedef struct terms {
    double mass, first, third, fifth;
} terms;

static terms terms_of(const gbees_brick_cell *cell, double ratio)
{
    const double mass = (double)cell->mass,
                 square = cell->whole ? ratio * (double)cell->spread / (double)cell->whole : 0,
                 second = mass * square / 8, fourth = mass * square * square * (17 / 1920.),
                 sixth = mass * square * square * square * 4.7226e-4;

    return (terms){mass, second, second / 12 + fourth, second / 90 + fourth / 6 + sixth};
}

/* What goes up from the cell at[2] to the one above it. */
static int64_t flow_of(const terms *at)
{
    const double low = at[2].mass, high = at[3].mass, limit = (low < high ? low : high) / 4,
                 third = at[4].third - 3 * at[3].third + 3 * at[2].third - at[1].third,
                 fifth = at[5].fifth - 5 * at[4].fifth + 10 * at[3].fifth - 10 * at[2].fifth + 5 * at[1].fifth -
                         at[0].fifth,
                 flow = at[3].first - at[2].first - third + fifth;

    return (int64_t)(flow > limit ? limit : flow < -limit ? -limit : flow);
}

typedef struct sharpening {
    gbees_bricks *bricks;
    int axis;
    double ratio;  /* of the square of the width along this axis to the one that cells hold */
    int64_t *flow; /* of each cell, to the one above it */
} sharpening;

/* Finds what goes up from the cells of a brick. */
static void find_flows(const sharpening *s, size_t b)
{
    enum { LONGEST = 64 };
    const gbees_bricks *bricks = s->bricks;
    const size_t step = bricks->step[s->axis], cells = (size_t)1 << bricks->shift;
    const gbees_brick_cell *own = bricks->cell + b * bricks->entries, *low = beside(bricks, b, s->axis, -1),
                           *high = beside(bricks, b, s->axis, 1);
    int64_t *const flow = s->flow + b * bricks->entries;
    terms row[LONGEST + 5] = {{0}};

    for (size_t i = 0; i < bricks->entries; i++) {
        if (i / step % cells != 0)
            continue;
        for (size_t k = 0; k < 2 && k < cells && low; k++)
            row[1 - k] = terms_of(&low[i + (cells - 1 - k) * step], s->ratio);
        for (size_t k = 0; k < cells; k++)
            row[2 + k] = terms_of(&own[i + k * step], s->ratio);
        for (size_t k = 0; k < 3 && k < cells && high; k++)
            row[2 + cells + k] = terms_of(&high[i + k * step], s->ratio);
        for (size_t k = 0; k < cells; k++)
            flow[i + k * step] = flow_of(row + k);
    }
}

static void find_part(void *context, size_t part)
{
    const sharpening *s = context;
    const size_t end = gbees_workers_first(s->bricks->count, part + 1);

    for (size_t b = gbees_workers_first(s->bricks->count, part); b < end; b++)
        find_flows(s, b);
}

/* Adds what comes from below, and takes off what goes up. Nothing goes up where there is no brick. */
static void add_part(void *context, size_t part)
{
    const sharpening *s = context;
    const gbees_bricks *bricks = s->bricks;
    const size_t step = bricks->step[s->axis], cells = (size_t)1 << bricks->shift, entries = bricks->entries,
                 end = gbees_workers_first(bricks->count, part + 1);

    for (size_t b = gbees_workers_first(bricks->count, part); b < end; b++) {
        const gbees_brick_cell *low = beside(bricks, b, s->axis, -1);
        const int64_t *own = s->flow + b * entries, *below = low ? s->flow + (low - bricks->cell) : NULL;

        for (size_t i = 0; i < entries; i++) {
            const int is_first = i / step % cells == 0;
            const int64_t from = !is_first ? own[i - step] : below ? below[i + (cells - 1) * step] : 0;

            bricks->cell[b * entries + i].mass += from - own[i];
        }
    }
}

int gbees_bricks_sharpen(gbees_bricks *bricks, const double *ratio, int threads)
{
    const size_t all = bricks->count * bricks->entries;
    sharpening s = {.bricks = bricks, .flow = gbees_array_create(all, sizeof *s.flow)};

    if (!s.flow)
        return 1;
    threads = gbees_workers_worth(threads, (double)all * CELL_NS);
    for (s.axis = 0; s.axis < bricks->n; s.axis++) {
        s.ratio = ratio[s.axis];
        gbees_workers_run(threads, GBEES_WORKERS_PARTS, find_part, &s);
        gbees_workers_run(threads, GBEES_WORKERS_PARTS, add_part, &s);
    }
    free(s.flow);
    return 0;
}

/* ---- the list ---- */

typedef struct brick_place {
    int32_t key[GBEES_MAX_DIM];
    size_t at; /* of the brick's first sum */
} brick_place;

static int compare_places(const void *a, const void *b)
{
    const brick_place *p = a, *q = b;

    for (int j = 0; j < GBEES_MAX_DIM; j++)
        if (p->key[j] != q->key[j])
            return p->key[j] < q->key[j] ? -1 : 1;
    return 0;
}

/* A walk through all cells in lexicographic order. */
typedef struct walk {
    const gbees_bricks *bricks;
    const brick_place *place; /* sorted */
    int64_t least;            /* cells below are passed over */
    gbees_initial_cells *to;
    int32_t cell[GBEES_MAX_DIM];
} walk;

static void emit(walk *w, int64_t sum)
{
    gbees_initial_cells *to = w->to;

    if (sum < w->least)
        return;
    for (int j = 0; j < w->bricks->n; j++)
        to->index[j][to->count] = w->cell[j];
    to->p[to->count++] = (double)sum;
}

/* Walks through the cells of bricks `first` to `end` - 1, whose keys agree before axis j, with an offset in them. */
static void walk_axis(walk *w, int j, size_t first, size_t end, size_t offset)
{
    const int side = 1 << w->bricks->shift;

    for (size_t next; first < end; first = next) {
        const int32_t key = w->place[first].key[j];

        for (next = first + 1; next < end && w->place[next].key[j] == key;)
            next++;
        for (int k = 0; k < side; k++) {
            const size_t at = offset + (size_t)k * w->bricks->step[j];

            w->cell[j] = key * side + k;
            if (j == w->bricks->n - 1)
                emit(w, w->bricks->cell[w->place[first].at + at].mass);
            else
                walk_axis(w, j + 1, first, next, at);
        }
    }
}

/* The largest sum, and the number of those of at least `least`. */
static int64_t largest(const gbees_bricks *bricks, int64_t least, size_t *count)
{
    int64_t most = 0;

    *count = 0;
    for (size_t i = 0; i < bricks->count * bricks->entries; i++) {
        const int64_t mass = bricks->cell[i].mass;

        most = mass > most ? mass : most;
        *count += mass >= least;
    }
    return most;
}

static int make_list(size_t count, int n, gbees_initial_cells *cells)
{
    int failed = 0;

    for (int j = 0; j < n; j++) {
        cells->index[j] = gbees_array_create(count, sizeof *cells->index[j]);
        failed |= !cells->index[j];
    }
    cells->p = gbees_array_create(count, sizeof *cells->p);
    return failed || !cells->p;
}

int gbees_bricks_list(gbees_bricks *bricks, double least, gbees_initial_cells *cells, double *dropped)
{
    walk w = {.bricks = bricks, .to = cells};
    size_t count;

    const double from = least * (double)largest(bricks, 1, &count), total = gbees_bricks_total(bricks);
    w.least = from > 1 ? (int64_t)from : 1;
    largest(bricks, w.least, &count);
    brick_place *place = gbees_array_create(bricks->count, sizeof *place);
    w.place = place;
    if (!place || make_list(count, bricks->n, cells)) {
        for (int j = 0; j < bricks->n; j++) {
            free(cells->index[j]);
            cells->index[j] = NULL;
        }
        free(cells->p);
        cells->p = NULL;
        free(place);
        return 1;
    }
    for (size_t b = 0; b < bricks->count; b++) {
        memcpy(place[b].key, bricks->key[b], sizeof place[b].key);
        place[b].at = b * bricks->entries;
    }
    qsort(place, bricks->count, sizeof *place, compare_places);
    walk_axis(&w, 0, 0, bricks->count, 0);
    free(place);
    double kept = 0;
    for (size_t i = 0; i < cells->count; i++)
        kept += cells->p[i];
    for (size_t i = 0; i < cells->count; i++)
        cells->p[i] /= kept;
    *dropped = 1 - kept / (total * GBEES_BRICKS_ONE);
    return 0;
}
