/* lattice_order.c - the neighbours of a lattice's points, and the points in the order of their sites; see lattice.h.
 */
#include "base/array.h"
#include "base/workers.h"
#include "lattice.h"
#include <stdlib.h>
#include <string.h>

enum { FIND_NS = 40 /* that a look-up takes */ };

/* The order of two sites: below 0, 0, or above 0. */
static int compare_sites(int n, const gbees_site *a, const gbees_site *b)
{
    int order = 0;

    for (int j = 0; j < n && order == 0; j++)
        order = a->z[j] - b->z[j];
    return order;
}

static int is_sorted(const gbees_lattice *lattice)
{
    for (uint32_t i = 1; i < lattice->count; i++)
        if (compare_sites(lattice->n, &lattice->site[i - 1], &lattice->site[i]) >= 0)
            return 0;
    return 1;
}

/* The first point of a sorted lattice whose site is not below another. */
static uint32_t first_from(const gbees_lattice *lattice, const gbees_site *site)
{
    uint32_t lo = 0, hi = lattice->count;

    while (lo < hi) {
        const uint32_t middle = lo + (hi - lo) / 2;

        if (compare_sites(lattice->n, &lattice->site[middle], site) < 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* Of sorted points the neighbours along one side ascend, too. */
static void link_sorted_part(void *context, size_t k)
{
    gbees_lattice *lattice = context;
    const size_t first = gbees_workers_first(lattice->count, k), end = gbees_workers_first(lattice->count, k + 1);

    for (int side = 0; side < 2 * lattice->n && first < end; side++) {
        gbees_site site = gbees_site_beside(&lattice->site[first], side);
        uint32_t other = first_from(lattice, &site);

        for (size_t i = first; i < end; i++) {
            int order = 1;

            site = gbees_site_beside(&lattice->site[i], side);
            while (other < lattice->count && (order = compare_sites(lattice->n, &lattice->site[other], &site)) < 0)
                other++;
            lattice->beside[side][i] = other < lattice->count && order == 0 ? other : GBEES_NO_POINT;
        }
    }
}

static void link_part(void *context, size_t k)
{
    gbees_lattice *lattice = context;
    const size_t end = gbees_workers_first(lattice->count, k + 1);

    for (size_t i = gbees_workers_first(lattice->count, k); i < end; i++)
        for (int side = 0; side < 2 * lattice->n; side++) {
            const gbees_site site = gbees_site_beside(&lattice->site[i], side);

            lattice->beside[side][i] = gbees_lattice_find(lattice, &site);
        }
}

int gbees_lattice_link(gbees_lattice *lattice, int threads, gbees_error *error)
{
    const int sorted = is_sorted(lattice), status = sorted ? GBEES_OK : gbees_lattice_index(lattice, error);

    if (status || lattice->beside[0])
        return status;
    for (int side = 0; side < 2 * lattice->n; side++) {
        lattice->beside[side] = gbees_array_create(lattice->count, sizeof *lattice->beside[side]);
        if (!lattice->beside[side]) {
            gbees_lattice_unlink(lattice);
            return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the neighbours of %u points",
                                   lattice->count);
        }
    }
    gbees_workers_run(gbees_workers_worth(threads, (double)lattice->count * 2 * lattice->n * FIND_NS),
                      GBEES_WORKERS_PARTS, sorted ? link_sorted_part : link_part, lattice);
    return GBEES_OK;
}

/* ---- order ---- */

/* Puts a list of points, order[count], into the order of their index along an axis, and of the list where that is the
 * same. Returns 1 if there is no memory. */
static int sort_along(const gbees_lattice *lattice, int axis, uint32_t *order, uint32_t *sorted)
{
    int lo = lattice->site[0].z[axis], hi = lo;

    for (uint32_t i = 0; i < lattice->count; i++) {
        const int z = lattice->site[i].z[axis];

        lo = z < lo ? z : lo;
        hi = z > hi ? z : hi;
    }
    uint32_t *first = calloc((size_t)(hi - lo) + 2, sizeof *first);
    if (!first)
        return 1;
    for (uint32_t i = 0; i < lattice->count; i++)
        first[lattice->site[i].z[axis] - lo + 1]++;
    for (int z = 0; z <= hi - lo; z++)
        first[z + 1] += first[z];
    for (uint32_t i = 0; i < lattice->count; i++)
        sorted[first[lattice->site[order[i]].z[axis] - lo]++] = order[i];
    memcpy(order, sorted, lattice->count * sizeof *order);
    free(first);
    return 0;
}

/* Moves entry order[i] of an array to place i, through `spare`. */
static void permute(const gbees_lattice *lattice, const uint32_t *order, double *array, double *spare)
{
    for (uint32_t i = 0; i < lattice->count; i++)
        spare[i] = array[order[i]];
    memcpy(array, spare, lattice->count * sizeof *array);
}

static void permute_all(gbees_lattice *lattice, const uint32_t *order, gbees_site *spare)
{
    double **column[GBEES_LATTICE_COLUMNS];
    const int columns = gbees_lattice_columns(lattice, column);

    for (uint32_t i = 0; i < lattice->count; i++)
        spare[i] = lattice->site[order[i]];
    memcpy(lattice->site, spare, lattice->count * sizeof *spare);
    for (int j = 0; j < lattice->n; j++)
        permute(lattice, order, lattice->x[j], (double *)spare);
    for (int k = 0; k < columns; k++)
        permute(lattice, order, *column[k], (double *)spare);
}

int gbees_lattice_sort(gbees_lattice *lattice, gbees_error *error)
{
    if (is_sorted(lattice))
        return GBEES_OK;
    uint32_t *order = gbees_array_create(lattice->count, sizeof *order);
    void *spare = gbees_array_create(lattice->count, sizeof *lattice->site);
    int failed = !order || !spare;

    for (uint32_t i = 0; i < lattice->count && !failed; i++)
        order[i] = i;
    for (int axis = lattice->n; axis-- > 0 && !failed;)
        failed = sort_along(lattice, axis, order, spare);
    if (!failed) {
        permute_all(lattice, order, spare);
        gbees_lattice_forget(lattice);
    }
    free(order);
    free(spare);
    return failed ? gbees_error_set(error, GBEES_ENOMEM, "not enough memory to sort the %u points of a lattice",
                                    lattice->count)
                  : GBEES_OK;
}
