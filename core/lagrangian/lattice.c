/* lattice.c - a sparse lattice of points: arrays that grow, and a hash table of sites; see lattice.h. */
#include "lattice.h"
#include "base/array.h"
#include "base/workers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST = 256, /* points that a lattice has memory for at first */
    FIND_NS = 40 /* that a look-up takes */
};

int gbees_lattice_create(int n, const double *origin, const double *axes, gbees_lattice **lattice, gbees_error *error)
{
    const double volume = fabs(gbees_matrix_determinant(n, axes));
    gbees_lattice *made;

    if (!(volume > 0) || !isfinite(volume))
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "the lattice that fits the density has cells of volume %g: double precision can't "
                               "hold it in the coordinates of the start",
                               volume);
    made = calloc(1, sizeof *made);
    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a lattice");
    made->n = n;
    memcpy(made->origin, origin, (size_t)n * sizeof *origin);
    memcpy(made->axes, axes, (size_t)(n * n) * sizeof *axes);
    made->log_volume = log(volume);
    *lattice = made;
    return GBEES_OK;
}

/* Forgets the neighbours, as points are added or removed. */
static void unlink_points(gbees_lattice *lattice)
{
    for (int side = 0; side < 2 * lattice->n; side++) {
        free(lattice->beside[side]);
        lattice->beside[side] = NULL;
    }
}

void gbees_lattice_destroy(gbees_lattice *lattice)
{
    if (!lattice)
        return;
    free(lattice->site);
    for (int j = 0; j < lattice->n; j++)
        free(lattice->x[j]);
    free(lattice->log_weight);
    free(lattice->gain);
    free(lattice->stretch);
    free(lattice->table);
    unlink_points(lattice);
    free(lattice);
}

uint64_t gbees_lattice_point_bytes(int n)
{
    return sizeof(gbees_site) + (uint64_t)(n + 3) * sizeof(double) + (uint64_t)(4 + 2 * n) * sizeof(uint32_t);
}

/* Replaces an array by one of `bytes`, of which the first `kept` are the old one's. Returns 1 if there is no memory.
 */
static int move_array(void *array, size_t kept, size_t bytes)
{
    void **old = array, *made = gbees_array_create(bytes, 1);

    if (!made)
        return 1;
    if (kept)
        memcpy(made, *old, kept);
    free(*old);
    *old = made;
    return 0;
}

int gbees_lattice_reserve(gbees_lattice *lattice, uint64_t capacity, gbees_error *error)
{
    const size_t size = sizeof(double), kept = lattice->count;
    int failed = capacity > UINT32_MAX / 4;

    if (capacity <= lattice->capacity)
        return GBEES_OK;
    if (!failed)
        failed = move_array(&lattice->site, kept * sizeof *lattice->site, capacity * sizeof *lattice->site) ||
                 move_array(&lattice->log_weight, kept * size, capacity * size) ||
                 move_array(&lattice->gain, kept * size, capacity * size) ||
                 move_array(&lattice->stretch, kept * size, capacity * size);
    for (int j = 0; j < lattice->n && !failed; j++)
        failed = move_array(&lattice->x[j], kept * size, capacity * size);
    if (failed)
        return gbees_error_set(error, GBEES_ENOMEM,
                               "not enough memory for a lattice of %llu points: give fewer by a smaller 'points', "
                               "'frame_cells' or 'tail'",
                               (unsigned long long)capacity);
    lattice->capacity = (uint32_t)capacity;
    return GBEES_OK;
}

void gbees_lattice_start(const gbees_lattice *lattice, const gbees_site *site, double *x0)
{
    const int n = lattice->n;

    for (int j = 0; j < n; j++) {
        x0[j] = lattice->origin[j];
        for (int k = 0; k < n; k++)
            x0[j] += lattice->axes[j * n + k] * site->z[k];
    }
}

/* ---- the hash table ---- */

static uint32_t hash(const gbees_site *site)
{
    uint64_t half[2];

    memcpy(half, site, sizeof half);
    half[0] = (half[0] ^ (half[1] * 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;
    half[0] ^= half[0] >> 29;
    return (uint32_t)((half[0] * 0x94d049bb133111ebu) >> 32);
}

static void insert(gbees_lattice *lattice, uint32_t point)
{
    uint32_t slot = hash(&lattice->site[point]) & lattice->table_mask;

    while (lattice->table[slot] != GBEES_NO_POINT)
        slot = (slot + 1) & lattice->table_mask;
    lattice->table[slot] = point;
}

/* Makes a table for at least `points` points, with those that there are. */
static int make_table(gbees_lattice *lattice, uint64_t points, gbees_error *error)
{
    uint64_t slots = 1024;

    while (slots < 2 * points)
        slots *= 2;
    free(lattice->table);
    lattice->table = gbees_array_create(slots, sizeof *lattice->table);
    if (!lattice->table)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a lattice of %llu points",
                               (unsigned long long)points);
    memset(lattice->table, 0xff, slots * sizeof *lattice->table);
    lattice->table_mask = (uint32_t)(slots - 1);
    for (uint32_t i = 0; i < lattice->count; i++)
        insert(lattice, i);
    return GBEES_OK;
}

int gbees_lattice_index(gbees_lattice *lattice, gbees_error *error)
{
    return lattice->table ? GBEES_OK : make_table(lattice, lattice->capacity, error);
}

uint32_t gbees_lattice_find(const gbees_lattice *lattice, const gbees_site *site)
{
    uint32_t slot = hash(site) & lattice->table_mask;

    while (lattice->table[slot] != GBEES_NO_POINT) {
        if (memcmp(&lattice->site[lattice->table[slot]], site, sizeof *site) == 0)
            return lattice->table[slot];
        slot = (slot + 1) & lattice->table_mask;
    }
    return GBEES_NO_POINT;
}

/* ---- neighbours ---- */

static void link_part(void *context, size_t k)
{
    gbees_lattice *lattice = context;
    const size_t end = gbees_workers_first(lattice->count, k + 1);

    for (size_t i = gbees_workers_first(lattice->count, k); i < end; i++)
        for (int side = 0; side < 2 * lattice->n; side++) {
            gbees_site site = lattice->site[i];
            int16_t *z = &site.z[side / 2];

            *z = (int16_t)(*z + (side & 1 ? 1 : -1));
            lattice->beside[side][i] = gbees_lattice_find(lattice, &site);
        }
}

int gbees_lattice_link(gbees_lattice *lattice, int threads, gbees_error *error)
{
    int status = gbees_lattice_index(lattice, error);

    if (status || lattice->beside[0])
        return status;
    for (int side = 0; side < 2 * lattice->n; side++) {
        lattice->beside[side] = gbees_array_create(lattice->count, sizeof *lattice->beside[side]);
        if (!lattice->beside[side]) {
            unlink_points(lattice);
            return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the neighbours of %u points",
                                   lattice->count);
        }
    }
    gbees_workers_run(gbees_workers_worth(threads, (double)lattice->count * 2 * lattice->n * FIND_NS),
                      GBEES_WORKERS_PARTS, link_part, lattice);
    return GBEES_OK;
}

/* ---- points ---- */

int gbees_lattice_append(gbees_lattice *lattice, const gbees_site *site, gbees_error *error)
{
    const uint32_t i = lattice->count;
    double x0[GBEES_MAX_DIM];
    int status = GBEES_OK;

    if (i == lattice->capacity)
        status = gbees_lattice_reserve(lattice, i ? 2 * (uint64_t)i : FIRST, error);
    if (!status && lattice->table && 2 * (uint64_t)i > lattice->table_mask)
        status = make_table(lattice, 2 * (uint64_t)i, error);
    if (status)
        return status;
    if (lattice->beside[0])
        unlink_points(lattice);
    lattice->site[i] = *site;
    gbees_lattice_start(lattice, site, x0);
    for (int j = 0; j < lattice->n; j++)
        lattice->x[j][i] = x0[j];
    lattice->log_weight[i] = lattice->gain[i] = lattice->stretch[i] = 0;
    lattice->count++;
    if (lattice->table)
        insert(lattice, i);
    return GBEES_OK;
}

void gbees_lattice_keep(gbees_lattice *lattice, const unsigned char *keep)
{
    uint32_t to = 0;

    for (uint32_t i = 0; i < lattice->count; i++) {
        if (!keep[i])
            continue;
        lattice->site[to] = lattice->site[i];
        for (int j = 0; j < lattice->n; j++)
            lattice->x[j][to] = lattice->x[j][i];
        lattice->log_weight[to] = lattice->log_weight[i];
        lattice->gain[to] = lattice->gain[i];
        lattice->stretch[to++] = lattice->stretch[i];
    }
    if (to == lattice->count)
        return;
    lattice->count = to;
    unlink_points(lattice);
    free(lattice->table);
    lattice->table = NULL;
}
