/* leaves.c - adds and divides the smaller cells of a lattice; see cuts_private.h. */
#include "cuts_private.h"
#include <stdlib.h>
#include <string.h>

static int grow(void *array, size_t size, size_t count)
{
    void **old = array, *grown = realloc(*old, size * count);

    if (!grown)
        return 1;
    *old = grown;
    return 0;
}

/* Adds a leaf's point. */
static int add_point(gbees_cuts *cuts, const gbees_site *site, uint32_t *number, gbees_error *error)
{
    const uint32_t count = cuts->fine.lattice->count;

    if (count == cuts->capacity) {
        const uint32_t capacity = count ? 2 * count : 1024;

        if (grow(&cuts->leaf, sizeof *cuts->leaf, capacity) ||
            grow(&cuts->leaf_doubt, sizeof *cuts->leaf_doubt, capacity) ||
            grow(&cuts->edge, sizeof *cuts->edge, capacity))
            return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the cells that a target cuts");
        cuts->capacity = capacity;
    }
    *number = count;
    return gbees_lattice_append(cuts->fine.lattice, site, error);
}

/* Makes a cell of the lattice one that can be divided: its one leaf has its point. */
int gbees_cuts_open(gbees_cuts *cuts, uint32_t i, gbees_error *error)
{
    const gbees_lattice *lattice = cuts->fields->lattice;
    gbees_lattice *fine = cuts->fine.lattice;
    gbees_site site = lattice->site[i];
    gbees_cell cell;
    uint32_t l;

    for (int k = 0; k < lattice->n; k++)
        site.z[k] = (int16_t)(site.z[k] * cuts->unit);
    if (cuts->divided_count == cuts->divided_capacity) {
        cuts->divided_capacity = cuts->divided_capacity ? 2 * cuts->divided_capacity : 256;
        if (grow(&cuts->divided, sizeof *cuts->divided, cuts->divided_capacity))
            return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the cells that a target cuts");
    }
    const int status = add_point(cuts, &site, &l, error);
    if (status)
        return status;
    for (int j = 0; j < lattice->n; j++)
        fine->x[j][l] = lattice->x[j][i];
    fine->log_weight[l] = gbees_fields_weight(cuts->fields)[i];
    for (int k = 0; k < GBEES_MAX_TARGETS; k++)
        if (fine->lowest[k]) {
            fine->lowest[k][l] = lattice->lowest[k][i];
            fine->settled[k][l] = lattice->settled[k][i];
        }
    gbees_cell_set(cuts->fields, i, &cell);
    cuts->leaf[l] = (gbees_leaf){.owner = cuts->divided_count};
    memcpy(cuts->leaf[l].point, cell.point, sizeof cell.point);
    cuts->number[i] = cuts->divided_count++;
    return GBEES_OK;
}

/* Divides a leaf along an edge: it becomes the middle of three. */
int gbees_cuts_divide(gbees_cuts *cuts, uint32_t l, int edge, gbees_error *error)
{
    const gbees_lattice *fine = cuts->fine.lattice;
    int step = cuts->unit, status = GBEES_OK;
    uint32_t number[GBEES_LEAF_PARTS] = {0, l, 0};

    for (int level = 0; level <= cuts->leaf[l].level[edge]; level++)
        step /= GBEES_LEAF_PARTS;
    for (int side = -1; side <= 1 && !status; side += 2) {
        gbees_site site = fine->site[l];

        site.z[edge] = (int16_t)(site.z[edge] + side * step);
        status = add_point(cuts, &site, &number[side + 1], error);
    }
    if (status)
        return status;
    cuts->leaf[l].level[edge]++;
    for (int part = 0; part < GBEES_LEAF_PARTS; part++) {
        gbees_leaf *made = &cuts->leaf[number[part]];

        *made = cuts->leaf[l];
        made->place[edge] = (int8_t)(part - 1);
        for (int s = 0; s < GBEES_LEAF_PARTS; s++)
            made->point[edge][s] = number[s] | GBEES_FINE;
    }
    cuts->leaf[l].place[edge] = 0;
    return GBEES_OK;
}
