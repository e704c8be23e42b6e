/* lattice.c - a sparse lattice of points: arrays that grow, and a hash table of sites; see lattice.h. */
#include "lattice.h"
#include "base/array.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 256 /* points that a lattice has memory for at first */ };

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

void gbees_lattice_unlink(gbees_lattice *lattice)
{
    for (int side = 0; side < 2 * lattice->n; side++) {
        free(lattice->beside[side]);
        lattice->beside[side] = NULL;
    }
}

void gbees_lattice_uncross(gbees_lattice *lattice)
{
    free(lattice->reach);
    free(lattice->crossing);
    lattice->reach = NULL;
    lattice->crossing = NULL;
    lattice->crossing_count = lattice->crossing_capacity = 0;
    lattice->steepest = 0;
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
    for (int k = 0; k < GBEES_MAX_TARGETS; k++) {
        free(lattice->lowest[k]);
        free(lattice->settled[k]);
    }
    free(lattice->whole);
    free(lattice->block);
    free(lattice->slot);
    free(lattice->light);
    gbees_lattice_uncross(lattice);
    gbees_lattice_unlink(lattice);
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

int gbees_lattice_columns(gbees_lattice *lattice, double ***list)
{
    int count = 0;

    list[count++] = &lattice->log_weight;
    list[count++] = &lattice->gain;
    list[count++] = &lattice->stretch;
    for (int k = 0; k < GBEES_MAX_TARGETS && lattice->whole; k++)
        if (lattice->lowest[k]) {
            list[count++] = &lattice->lowest[k];
            list[count++] = &lattice->settled[k];
        }
    if (lattice->whole)
        list[count++] = &lattice->whole;
    return count;
}

int gbees_lattice_watch(gbees_lattice *lattice, const gbees_problem *problem, gbees_error *error)
{
    int failed = 0;

    if (!gbees_problem_absorbs(problem))
        return GBEES_OK;
    for (int k = 0; k < problem->target_count; k++)
        if (problem->targets[k].kind == GBEES_TARGET_ABSORB)
            failed |= move_array(&lattice->lowest[k], 0, FIRST * sizeof(double)) ||
                      move_array(&lattice->settled[k], 0, FIRST * sizeof(double));
    failed |= move_array(&lattice->whole, 0, FIRST * sizeof(double));
    if (failed)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the targets of a lattice");
    lattice->capacity = 0; /* the other arrays have none */
    return GBEES_OK;
}

int gbees_lattice_reserve(gbees_lattice *lattice, uint64_t capacity, gbees_error *error)
{
    const size_t size = sizeof(double), kept = lattice->count;
    double **column[GBEES_LATTICE_COLUMNS];
    const int columns = gbees_lattice_columns(lattice, column);
    int failed = capacity > UINT32_MAX / 4;

    if (capacity <= lattice->capacity)
        return GBEES_OK;
    if (!failed)
        failed = move_array(&lattice->site, kept * sizeof *lattice->site, capacity * sizeof *lattice->site);
    for (int k = 0; k < columns && !failed; k++)
        failed = move_array(column[k], kept * size, capacity * size);
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
    half[0] *= 0x9e3779b97f4a7c15u;
    half[0] ^= half[0] >> 32;
    half[0] = (half[0] + half[1]) * 0xbf58476d1ce4e5b9u;
    half[0] ^= half[0] >> 29;
    half[0] *= 0x94d049bb133111ebu;
    return (uint32_t)(half[0] ^ half[0] >> 32);
}

/* The key of a site's block. */
static gbees_site key_of(const gbees_lattice *lattice, const gbees_site *site)
{
    gbees_site key = *site;
    int16_t *last = &key.z[lattice->n - 1];

    *last = (int16_t)(*last >> 3);
    return key;
}

/* The slot of a block's key: its own, or the empty one where it would be. */
static uint32_t slot_of(const gbees_lattice *lattice, const gbees_site *key)
{
    uint32_t slot = hash(key) & lattice->slot_mask;

    while (lattice->slot[slot] != GBEES_NO_POINT &&
           memcmp(&lattice->block[lattice->slot[slot]].key, key, sizeof *key) != 0)
        slot = (slot + 1) & lattice->slot_mask;
    return slot;
}

/* Makes slots for twice as many blocks as there are, and enters these. */
static int make_slots(gbees_lattice *lattice)
{
    uint64_t slots = 256;
    uint32_t *made;

    while (slots < 4 * ((uint64_t)lattice->block_count + 1))
        slots *= 2;
    made = gbees_array_create(slots, sizeof *made);
    if (!made)
        return 1;
    memset(made, 0xff, slots * sizeof *made);
    free(lattice->slot);
    lattice->slot = made;
    lattice->slot_mask = (uint32_t)(slots - 1);
    for (uint32_t k = 0; k < lattice->block_count; k++)
        made[slot_of(lattice, &lattice->block[k].key)] = k;
    return 0;
}

/* Enters the number of a site's point into the table. Returns 1 if there is no memory. */
static int insert(gbees_lattice *lattice, const gbees_site *site, uint32_t point)
{
    const gbees_site key = key_of(lattice, site);
    uint32_t slot;

    if (2 * (uint64_t)lattice->block_count >= lattice->slot_mask && make_slots(lattice))
        return 1;
    slot = slot_of(lattice, &key);
    if (lattice->slot[slot] == GBEES_NO_POINT) {
        const uint32_t count = lattice->block_count;

        if (count == lattice->block_capacity) {
            const uint32_t capacity = count ? 2 * count : FIRST;

            if (move_array(&lattice->block, count * sizeof *lattice->block, capacity * sizeof *lattice->block))
                return 1;
            lattice->block_capacity = capacity;
        }
        lattice->block[count].key = key;
        memset(lattice->block[count].point, 0xff, sizeof lattice->block[count].point);
        lattice->slot[slot] = lattice->block_count++;
    }
    lattice->block[lattice->slot[slot]].point[site->z[lattice->n - 1] & (GBEES_SITE_BLOCK - 1)] = point;
    return 0;
}

int gbees_lattice_enter_light(gbees_lattice *lattice, const gbees_site *site)
{
    return insert(lattice, site, GBEES_LIGHT_POINT);
}

static void drop_table(gbees_lattice *lattice)
{
    free(lattice->block);
    free(lattice->slot);
    lattice->block = NULL;
    lattice->slot = NULL;
    lattice->block_count = lattice->block_capacity = lattice->slot_mask = 0;
}

void gbees_lattice_forget(gbees_lattice *lattice)
{
    gbees_lattice_unlink(lattice);
    drop_table(lattice);
}

int gbees_lattice_index(gbees_lattice *lattice, gbees_error *error)
{
    int failed = lattice->block ? 0 : make_slots(lattice);

    if (lattice->block)
        return GBEES_OK;
    for (uint32_t i = 0; i < lattice->count && !failed; i++)
        failed = insert(lattice, &lattice->site[i], i);
    if (!failed && !lattice->block) /* of an empty lattice */
        failed = move_array(&lattice->block, 0, (lattice->block_capacity = FIRST) * sizeof *lattice->block);
    if (!failed)
        return GBEES_OK;
    drop_table(lattice);
    return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the table of %u points", lattice->count);
}

uint32_t gbees_lattice_find(const gbees_lattice *lattice, const gbees_site *site)
{
    const gbees_site key = key_of(lattice, site);
    const uint32_t block = lattice->slot[slot_of(lattice, &key)];

    return block == GBEES_NO_POINT ? GBEES_NO_POINT
                                   : lattice->block[block].point[site->z[lattice->n - 1] & (GBEES_SITE_BLOCK - 1)];
}

/* ---- points ---- */

double gbees_lattice_most(const gbees_lattice *lattice, uint32_t first, uint32_t end, double beta)
{
    double most = -INFINITY;

    for (uint32_t i = first; i < end; i++)
        most = fmax(most, lattice->log_weight[i] + (beta > 0 ? beta * lattice->gain[i] : 0));
    return most;
}

/* Adds a point at x0, with a site. */
static int append(gbees_lattice *lattice, const gbees_site *site, const double *x0, gbees_error *error)
{
    const uint32_t i = lattice->count;
    double **column[GBEES_LATTICE_COLUMNS];
    const int columns = gbees_lattice_columns(lattice, column);
    int status = GBEES_OK;

    if (i == lattice->capacity)
        status = gbees_lattice_reserve(lattice, i ? 2 * (uint64_t)i : FIRST, error);
    if (status)
        return status;
    if (lattice->beside[0])
        gbees_lattice_unlink(lattice);
    lattice->site[i] = *site;
    for (int j = 0; j < lattice->n; j++)
        lattice->x[j][i] = x0[j];
    for (int k = 0; k < columns; k++)
        (*column[k])[i] = 0;
    if (lattice->block && insert(lattice, site, i))
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the table of %u points", i);
    lattice->count++;
    return GBEES_OK;
}

int gbees_lattice_append(gbees_lattice *lattice, const gbees_site *site, gbees_error *error)
{
    double x0[GBEES_MAX_DIM];

    gbees_lattice_start(lattice, site, x0);
    return append(lattice, site, x0, error);
}

int gbees_lattice_append_between(gbees_lattice *lattice, const double *x0, gbees_error *error)
{
    return append(lattice, &(gbees_site){{0}}, x0, error);
}

void gbees_lattice_drop_border(gbees_lattice *lattice)
{
    if (lattice->border == 0)
        return;
    lattice->count -= lattice->border;
    lattice->border = 0;
    gbees_lattice_forget(lattice);
}

void gbees_lattice_keep(gbees_lattice *lattice, const unsigned char *keep)
{
    double **column[GBEES_LATTICE_COLUMNS];
    const int columns = gbees_lattice_columns(lattice, column);
    uint32_t to = 0;

    for (uint32_t i = 0; i < lattice->count; i++) {
        if (!keep[i])
            continue;
        lattice->site[to] = lattice->site[i];
        for (int j = 0; j < lattice->n; j++)
            lattice->x[j][to] = lattice->x[j][i];
        for (int k = 0; k < columns; k++)
            (*column[k])[to] = (*column[k])[i];
        to++;
    }
    if (to == lattice->count)
        return;
    lattice->count = to;
    gbees_lattice_forget(lattice);
}
