/* isosurface.c - marching tetrahedra: each cube of cell centres is six tetrahedra around its diagonal, and a plane
 * cuts a tetrahedron in one or two triangles; no table of 256 cases, no ambiguous ones. */
#include "isosurface.h"
#include "base/array.h"
#include <math.h>
#include <stdlib.h>

/* Corners of a cube are numbered by the bits of their offsets (axis 0 is bit 0). */
static const int tetrahedra[6][4] = {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7},
                                     {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}};

typedef struct cube {
    double value[8];
    double position[8][3]; /* in cells */
    double gradient[8][3];
} cube;

void gbees_mesh_free(gbees_mesh *mesh)
{
    free(mesh->corner);
    *mesh = (gbees_mesh){0};
}

static int reserve(gbees_mesh *mesh, size_t more, gbees_error *error)
{
    return gbees_array_reserve(&mesh->corner, mesh->count + more, &mesh->capacity, sizeof *mesh->corner)
               ? gbees_error_set(error, GBEES_ENOMEM, "not enough memory for an isosurface of %zu triangles",
                                 mesh->count / 3)
               : GBEES_OK;
}

static double at(const gbees_density *density, const size_t k[3])
{
    return density->value[(k[0] * density->length[1] + k[1]) * density->length[2] + k[2]];
}

static void gradient(const gbees_density *density, const size_t k[3], double g[3])
{
    for (int d = 0; d < 3; d++) {
        size_t lo[3] = {k[0], k[1], k[2]}, hi[3] = {k[0], k[1], k[2]};

        lo[d] -= k[d] > 0;
        hi[d] += k[d] + 1 < density->length[d];
        g[d] = (at(density, hi) - at(density, lo)) / (double)(hi[d] > lo[d] ? hi[d] - lo[d] : 1);
    }
}

/* Where the level lies on the edge from corner a (inside) to corner b (outside). */
static gbees_corner cut(const gbees_density *density, const cube *c, int a, int b, double level)
{
    const double u = (level - c->value[a]) / (c->value[b] - c->value[a]);
    double normal[3], length = 0;
    gbees_corner corner;

    for (int d = 0; d < 3; d++) {
        const double place = c->position[a][d] + u * (c->position[b][d] - c->position[a][d]);

        normal[d] = -(c->gradient[a][d] + u * (c->gradient[b][d] - c->gradient[a][d])) / density->width[d];
        length += normal[d] * normal[d];
        corner.position[d] = (float)(density->first[d] + density->width[d] * place);
    }
    length = length > 0 ? sqrt(length) : 1;
    for (int d = 0; d < 3; d++)
        corner.normal[d] = (float)(normal[d] / length);
    return corner;
}

/* Orders the corners so that the triangle looks away from the inside corner `inner` of the cube. */
static void add_triangle(gbees_mesh *mesh, const gbees_density *density, const double inner[3], gbees_corner a,
                         gbees_corner b, gbees_corner c)
{
    double u[3], v[3], w[3], volume;

    for (int d = 0; d < 3; d++) {
        u[d] = (double)b.position[d] - (double)a.position[d];
        v[d] = (double)c.position[d] - (double)a.position[d];
        w[d] = density->first[d] + density->width[d] * inner[d] - (double)a.position[d];
    }
    volume =
        (u[1] * v[2] - u[2] * v[1]) * w[0] + (u[2] * v[0] - u[0] * v[2]) * w[1] + (u[0] * v[1] - u[1] * v[0]) * w[2];
    mesh->corner[mesh->count++] = a;
    mesh->corner[mesh->count++] = volume > 0 ? c : b;
    mesh->corner[mesh->count++] = volume > 0 ? b : c;
}

static void cut_tetrahedron(gbees_mesh *mesh, const gbees_density *density, const cube *c, const int corner[4],
                            double level)
{
    int in[4], out[4], ins = 0, outs = 0;
    gbees_corner p[4];

    for (int k = 0; k < 4; k++)
        if (c->value[corner[k]] >= level)
            in[ins++] = corner[k];
        else
            out[outs++] = corner[k];
    if (ins == 0 || outs == 0)
        return;
    if (ins == 2) { /* a quadrangle, its corners in ring order */
        p[0] = cut(density, c, in[0], out[0], level);
        p[1] = cut(density, c, in[0], out[1], level);
        p[2] = cut(density, c, in[1], out[1], level);
        p[3] = cut(density, c, in[1], out[0], level);
        add_triangle(mesh, density, c->position[in[0]], p[0], p[1], p[2]);
        add_triangle(mesh, density, c->position[in[1]], p[0], p[2], p[3]);
        return;
    }
    for (int k = 0; k < 3; k++)
        p[k] = ins == 1 ? cut(density, c, in[0], out[k], level) : cut(density, c, in[k], out[0], level);
    add_triangle(mesh, density, c->position[in[0]], p[0], p[1], p[2]);
}

static void fill_cube(const gbees_density *density, const size_t k[3], cube *c)
{
    for (int b = 0; b < 8; b++) {
        const size_t at_corner[3] = {k[0] + (size_t)(b & 1), k[1] + (size_t)(b >> 1 & 1), k[2] + (size_t)(b >> 2)};

        c->value[b] = at(density, at_corner);
        for (int d = 0; d < 3; d++)
            c->position[b][d] = (double)at_corner[d];
        gradient(density, at_corner, c->gradient[b]);
    }
}

/* How many of the four corners of cubes at (a, b, k) and (a, b, k - 1) are inside. */
static int count_inside(const gbees_density *density, size_t a, size_t b, size_t k, double level)
{
    int inside = 0;

    for (size_t c = 0; c < 4; c++)
        inside += at(density, (size_t[]){a + (c & 1), b + (c >> 1), k}) >= level;
    return inside;
}

static int add_cube(gbees_mesh *mesh, const gbees_density *density, const size_t k[3], double level,
                    gbees_error *error)
{
    cube c;

    if (reserve(mesh, 36, error))
        return GBEES_ENOMEM;
    fill_cube(density, k, &c);
    for (int t = 0; t < 6; t++)
        cut_tetrahedron(mesh, density, &c, tetrahedra[t], level);
    return GBEES_OK;
}

/* Whether any of the four rows of corners of the cubes at (a, b) reaches the level: where the density is low, whole
 * rows of cubes are passed over. */
static int reaches(const gbees_density *density, size_t a, size_t b, double level)
{
    const size_t length = density->length[2];

    for (size_t c = 0; c < 4; c++) {
        const double *row = &density->value[((a + (c & 1)) * density->length[1] + b + (c >> 1)) * length];

        for (size_t k = 0; k < length; k++)
            if (row[k] >= level)
                return 1;
    }
    return 0;
}

int gbees_mesh_add_isosurface(gbees_mesh *mesh, const gbees_density *density, double level, gbees_error *error)
{
    for (size_t a = 0; a + 1 < density->length[0]; a++)
        for (size_t b = 0; b + 1 < density->length[1]; b++) {
            if (!reaches(density, a, b, level))
                continue;
            int before = count_inside(density, a, b, 0, level);

            for (size_t k = 0; k + 1 < density->length[2]; k++) {
                const int after = count_inside(density, a, b, k + 1, level), inside = before + after;

                before = after;
                if (inside > 0 && inside < 8 && add_cube(mesh, density, (size_t[]){a, b, k}, level, error))
                    return GBEES_ENOMEM;
            }
        }
    return GBEES_OK;
}
