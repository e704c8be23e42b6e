/* roughness.c - sums the absolute second differences of P along each axis, over all cells of a record in their
 * sorted order. */
#include "roughness.h"
#include <math.h>

/* Whether cell `at` lies before (-1), on (0) or behind (1) the cell that is `shift` beyond cell i along an axis. */
static int compare(const gbees_initial_cells *a, int n, size_t at, size_t i, int axis, int shift)
{
    for (int j = 0; j < n; j++) {
        const int64_t wanted = (int64_t)a->index[j][i] + (j == axis ? shift : 0);

        if (a->index[j][at] != wanted)
            return a->index[j][at] < wanted ? -1 : 1;
    }
    return 0;
}

/* P of the cell that is `shift` beyond cell i along an axis, 0 if it is absent. *at is a cursor: the neighbours of
 * cells i in rising order lie in rising order, too, so it only moves forward. */
static double beside(const gbees_initial_cells *a, int n, size_t *at, size_t i, int axis, int shift)
{
    int order = 1;

    while (*at < a->count && (order = compare(a, n, *at, i, axis, shift)) < 0)
        ++*at;
    return *at < a->count && order == 0 ? a->p[*at] : 0;
}

int gbees_roughness(const gbees_cells *cells, int n, double *rough, gbees_error *error)
{
    gbees_initial_cells a = {0};
    int status = gbees_cells_list(cells, &a, error);

    if (status)
        return status;
    for (int j = 0; j < n; j++) {
        size_t below = 0, above = 0;

        rough[j] = 0;
        for (size_t i = 0; i < a.count; i++)
            rough[j] += fabs(beside(&a, n, &above, i, j, 1) - 2 * a.p[i] + beside(&a, n, &below, i, j, -1));
    }
    gbees_initial_cells_clear(&a);
    return GBEES_OK;
}
