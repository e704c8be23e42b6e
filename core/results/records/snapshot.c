/* snapshot.c - gbees_snapshot of gbees/results.h: a record that has been read back. */
#include <gbees/gbees.h>
#include <stdlib.h>

double gbees_snapshot_centre(const gbees_snapshot *snapshot, int j, size_t cell)
{
    const int n = snapshot->dimension;
    double x = snapshot->origin[j];

    if (!snapshot->rotated)
        return x + snapshot->width[j] * snapshot->index[j][cell];
    for (int k = 0; k < n; k++)
        x += snapshot->rotation[j * n + k] * (snapshot->width[k] * snapshot->index[k][cell]);
    return x;
}

void gbees_snapshot_destroy(gbees_snapshot *snapshot)
{
    if (!snapshot)
        return;
    for (int j = 0; j < GBEES_MAX_DIM; j++)
        free(snapshot->index[j]);
    free(snapshot->p);
    free((float *)snapshot->samples.x[0]); /* one block */
    free(snapshot);
}
