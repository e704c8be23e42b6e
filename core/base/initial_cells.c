/* initial_cells.c - allocates, sums and frees lists of cells. */
#include "initial_cells.h"
#include "array.h"
#include <stdlib.h>
#include <string.h>

double gbees_initial_cells_sum(const gbees_initial_cells *cells)
{
    double sum = 0;

    for (size_t i = 0; i < cells->count; i++)
        sum += cells->p[i];
    return sum;
}

void gbees_initial_cells_clear(gbees_initial_cells *cells)
{
    for (int j = 0; j < GBEES_MAX_DIM; j++)
        free(cells->index[j]);
    free(cells->p);
    memset(cells->index, 0, sizeof cells->index);
    cells->p = NULL;
    cells->count = 0;
}

int gbees_initial_cells_reserve(gbees_initial_cells *cells, int n, size_t count)
{
    int whole = 1;

    for (int j = 0; j < n; j++)
        whole = (cells->index[j] = gbees_array_create(count, sizeof *cells->index[j])) && whole;
    cells->p = gbees_array_create(count, sizeof *cells->p);
    if (whole && cells->p)
        return 0;
    gbees_initial_cells_clear(cells);
    return 1;
}
