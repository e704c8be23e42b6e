/* snapshot.c - gbees_snapshot of gbees/results.h: a record that has been read back. */
#include <gbees/gbees.h>
#include <stdlib.h>

const gbees_snapshot_mode *gbees_snapshot_mode_of(const gbees_snapshot *snapshot, size_t cell)
{
    int mode = 0;

    while (mode + 1 < snapshot->mode_count && cell >= snapshot->mode[mode + 1].first)
        mode++;
    return snapshot->mode_count ? &snapshot->mode[mode] : NULL;
}

double gbees_snapshot_centre(const gbees_snapshot *snapshot, int j, size_t cell)
{
    const gbees_snapshot_mode *mode = gbees_snapshot_mode_of(snapshot, cell);
    const double *const edges = mode ? mode->rotation : snapshot->rotation;
    const int n = snapshot->dimension;
    double x = mode ? mode->origin[j] : snapshot->origin[j];

    if (!snapshot->rotated)
        return x + snapshot->width[j] * snapshot->index[j][cell];
    for (int k = 0; k < n; k++)
        x += edges[j * n + k] * (snapshot->width[k] * snapshot->index[k][cell]);
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
