/* leaves.c - adds and divides the smaller cells of a lattice; see cuts_private.h. */
#include "base/array.h"
#include "cuts_private.h"
#include <string.h>

/* Adds the point of a leaf, at a multi-index. */
static int add_point(gbees_cuts *cuts, const int32_t *z, uint32_t *number, gbees_error *error)
{
    const gbees_lattice *lattice = cuts->fields->lattice;
    const int n = lattice->n;
    double x0[GBEES_MAX_DIM];
    const uint32_t count = cuts->fine.lattice->count;
    size_t capacity[] = {cuts->capacity, cuts->capacity};

    if (gbees_array_grow(&cuts->leaf, count, &capacity[0], sizeof *cuts->leaf) ||
        gbees_array_grow(&cuts->leaf_doubt, count, &capacity[1], sizeof *cuts->leaf_doubt) ||
        gbees_array_grow(&cuts->edge, count, &cuts->capacity, sizeof *cuts->edge))
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the cells that a target cuts");
    *number = count;
    for (int j = 0; j < n; j++) {
        x0[j] = lattice->origin[j];
        for (int k = 0; k < n; k++)
            x0[j] += lattice->axes[j * n + k] * z[k] / GBEES_LEAF_UNITS;
    }
    return gbees_lattice_append_between(cuts->fine.lattice, x0, error);
}

/* Makes a cell of the lattice one that can be divided: its one leaf has its point. */
int gbees_cuts_open(gbees_cuts *cuts, uint32_t i, gbees_error *error)
{
    const gbees_lattice *lattice = cuts->fields->lattice;
    gbees_lattice *fine = cuts->fine.lattice;
    gbees_leaf leaf = {.owner = cuts->divided_count};
    gbees_cell cell;
    uint32_t l;

    for (int k = 0; k < lattice->n; k++)
        leaf.z[k] = lattice->site[i].z[k] * GBEES_LEAF_UNITS;
    if (gbees_array_grow(&cuts->divided, cuts->divided_count, &cuts->divided_capacity, sizeof *cuts->divided))
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the cells that a target cuts");
    const int status = add_point(cuts, leaf.z, &l, error);
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
    memcpy(leaf.point, cell.point, sizeof cell.point);
    cuts->leaf[l] = leaf;
    cuts->number[i] = cuts->divided_count++;
    return GBEES_OK;
}

/* Adds probes on both sides of a leaf along an edge, `step` away; sets number[0] and number[2] to them. */
static int add_beside(gbees_cuts *cuts, uint32_t l, int edge, int32_t step, uint32_t *number, gbees_error *error)
{
    for (int part = 0; part < GBEES_LEAF_PARTS; part += 2) {
        gbees_leaf probe = {.owner = GBEES_NO_POINT};

        memcpy(probe.z, cuts->leaf[l].z, sizeof probe.z);
        probe.z[edge] += (part - 1) * step;
        const int status = add_point(cuts, probe.z, &number[part], error);
        if (status)
            return status;
        cuts->leaf[number[part]] = probe;
    }
    return GBEES_OK;
}

/* The length of a leaf along an edge, in units of its index. */
static int32_t length_of(const gbees_leaf *leaf, int edge)
{
    int32_t length = GBEES_LEAF_UNITS;

    for (int level = 0; level < leaf->level[edge]; level++)
        length /= GBEES_LEAF_PARTS;
    return length;
}

/* Divides a leaf along an edge: it becomes the middle of three. */
int gbees_cuts_divide(gbees_cuts *cuts, uint32_t l, int edge, gbees_error *error)
{
    uint32_t number[GBEES_LEAF_PARTS] = {0, l, 0};
    const int status = add_beside(cuts, l, edge, length_of(&cuts->leaf[l], edge) / GBEES_LEAF_PARTS, number, error);

    if (status)
        return status;
    cuts->divisions++;
    cuts->leaf[l].level[edge]++;
    cuts->leaf[l].near[edge] = 0;
    cuts->leaf[l].aside &= (uint8_t) ~(1u << edge);
    for (int part = 0; part < GBEES_LEAF_PARTS; part++) {
        gbees_leaf *made = &cuts->leaf[number[part]], from = cuts->leaf[l];

        if (part != 1) {
            memcpy(from.z, made->z, sizeof from.z);
            from.aside = (uint8_t)((1u << cuts->fields->lattice->n) - 1);
        }
        *made = from;
        made->place[edge] = (int8_t)(part - 1);
        for (int s = 0; s < GBEES_LEAF_PARTS; s++)
            made->point[edge][s] = number[s] | GBEES_FINE;
        made->parted = (int8_t)(part == 1);
    }
    return GBEES_OK;
}

int gbees_cuts_probe(gbees_cuts *cuts, uint32_t l, gbees_error *error)
{
    const unsigned unknown = gbees_cuts_unknown(cuts, l);
    int status = GBEES_OK;

    cuts->divisions++;
    for (int k = 0; k < cuts->fields->lattice->n && !status; k++) {
        uint32_t number[GBEES_LEAF_PARTS] = {0, l, 0};

        if (!(unknown >> k & 1))
            continue;
        status = add_beside(cuts, l, k, length_of(&cuts->leaf[l], k) / 2, number, error);
        if (status)
            break;
        for (int s = 0; s < GBEES_LEAF_PARTS; s++)
            cuts->leaf[l].point[k][s] = number[s] | GBEES_FINE;
        cuts->leaf[l].place[k] = 0;
        cuts->leaf[l].near[k] = 1;
        cuts->leaf[l].aside &= (uint8_t) ~(1u << k);
    }
    return status;
}
