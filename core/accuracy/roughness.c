/* roughness.c - see roughness.h. */
#include "roughness.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A record's cells in arrays, in lexicographic order. */
typedef struct cell_arrays {
    int n;
    size_t count;
    int32_t *index[GBEES_MAX_DIM];
    double *p;
} cell_arrays;

static void arrays_free(cell_arrays *a)
{
    for (int j = 0; j < a->n; j++)
        free(a->index[j]);
    free(a->p);
}

static int arrays_make(cell_arrays *a, const gbees_cells *cells, int n, gbees_error *error)
{
    int whole = 1;

    *a = (cell_arrays){.n = n, .count = gbees_cells_count(cells)};
    for (int j = 0; j < n; j++)
        whole = (a->index[j] = malloc((a->count + 1) * sizeof *a->index[j])) && whole;
    a->p = malloc((a->count + 1) * sizeof *a->p);
    if (!whole || !a->p) {
        arrays_free(a);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the roughness of %zu cells", a->count);
    }
    gbees_cells_copy(cells, 0, a->count, a->index, a->p);
    return GBEES_OK;
}

/* Whether cell `at` lies before (-1), on (0) or behind (1) the cell that is `shift` beyond cell i along an axis. */
static int compare(const cell_arrays *a, size_t at, size_t i, int axis, int shift)
{
    for (int j = 0; j < a->n; j++) {
        const int64_t wanted = (int64_t)a->index[j][i] + (j == axis ? shift : 0);

        if (a->index[j][at] != wanted)
            return a->index[j][at] < wanted ? -1 : 1;
    }
    return 0;
}

/* P of the cell beside cell i; *at moves on through the list as i does, as both are in the same order. */
static double beside(const cell_arrays *a, size_t *at, size_t i, int axis, int shift)
{
    int order = 1;

    while (*at < a->count && (order = compare(a, *at, i, axis, shift)) < 0)
        ++*at;
    return *at < a->count && order == 0 ? a->p[*at] : 0;
}

int gbees_roughness(const gbees_cells *cells, int n, double *rough, gbees_error *error)
{
    cell_arrays a;
    int status = arrays_make(&a, cells, n, error);

    if (status)
        return status;
    for (int j = 0; j < n; j++) {
        size_t below = 0, above = 0;

        rough[j] = 0;
        for (size_t i = 0; i < a.count; i++)
            rough[j] += fabs(beside(&a, &above, i, j, 1) - 2 * a.p[i] + beside(&a, &below, i, j, -1));
    }
    arrays_free(&a);
    return GBEES_OK;
}
