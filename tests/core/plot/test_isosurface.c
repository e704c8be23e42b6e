/* test_isosurface.c - isosurfaces of gbees-plot: area, volume, orientation and normals of a sphere. */
#include "fixtures/suite.h"
#include "plot/isosurface.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>

static const double radius = 0.8, center[3] = {0.3, -2, 5};

/* A cone of height 1 + radius over the centre: density = 1 + radius - distance, so 1 on the sphere. */
static gbees_density *make_ball(void)
{
    gbees_density *d = calloc(1, sizeof *d);

    ck_assert_ptr_nonnull(d);
    *d = (gbees_density){.dimension = 3, .length = {48, 40, 60}, .width = {0.05, 0.06, 0.04}};
    d->value = malloc(gbees_density_count(d) * sizeof *d->value);
    ck_assert_ptr_nonnull(d->value);
    for (int j = 0; j < 3; j++)
        d->first[j] = center[j] - 0.5 * d->width[j] * (double)(d->length[j] - 1);
    for (size_t i = 0; i < gbees_density_count(d); i++) {
        const size_t k[3] = {i / d->length[2] / d->length[1], i / d->length[2] % d->length[1], i % d->length[2]};
        double square = 0;

        for (int j = 0; j < 3; j++)
            square += pow(d->first[j] + d->width[j] * (double)k[j] - center[j], 2);
        d->value[i] = fmax(0, 1 + radius - sqrt(square));
        d->peak = fmax(d->peak, d->value[i]);
    }
    return d;
}

/* Twice the area vector of a triangle. */
static void cross(const gbees_corner *corner, double out[3])
{
    double u[3], v[3];

    for (int j = 0; j < 3; j++) {
        u[j] = (double)corner[1].position[j] - (double)corner[0].position[j];
        v[j] = (double)corner[2].position[j] - (double)corner[0].position[j];
    }
    out[0] = u[1] * v[2] - u[2] * v[1];
    out[1] = u[2] * v[0] - u[0] * v[2];
    out[2] = u[0] * v[1] - u[1] * v[0];
}

START_TEST(sphere_has_its_area_and_volume)
{
    const double exact_area = 4 * 3.14159265358979 * radius * radius, exact_volume = exact_area * radius / 3;
    gbees_density *ball = make_ball();
    gbees_mesh mesh = {0};
    double area = 0, volume = 0;

    ck_assert_int_eq(gbees_mesh_add_isosurface(&mesh, ball, 1, NULL), GBEES_OK);
    ck_assert_uint_gt(mesh.count, 3000);
    for (size_t i = 0; i < mesh.count; i += 3) {
        double n[3], height = 0;

        cross(&mesh.corner[i], n);
        for (int j = 0; j < 3; j++)
            height += n[j] * ((double)mesh.corner[i].position[j] - center[j]);
        area += 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        volume += height / 6; /* positive only if the triangle looks outwards */
    }
    ck_assert_double_eq_tol(area, exact_area, 0.005 * exact_area);
    ck_assert_double_eq_tol(volume, exact_volume, 0.005 * exact_volume);
    gbees_mesh_free(&mesh);
    gbees_density_destroy(ball);
}
END_TEST

START_TEST(every_triangle_looks_outwards)
{
    gbees_density *ball = make_ball();
    gbees_mesh mesh = {0};

    ck_assert_int_eq(gbees_mesh_add_isosurface(&mesh, ball, 1, NULL), GBEES_OK);
    for (size_t i = 0; i < mesh.count; i += 3) {
        double n[3], height = 0;

        cross(&mesh.corner[i], n);
        for (int j = 0; j < 3; j++)
            height += n[j] * ((double)mesh.corner[i].position[j] - center[j]);
        ck_assert_double_ge(height, -1e-9);
    }
    gbees_mesh_free(&mesh);
    gbees_density_destroy(ball);
}
END_TEST

START_TEST(corners_lie_on_the_sphere_with_radial_normals)
{
    gbees_density *ball = make_ball();
    gbees_mesh mesh = {0};

    ck_assert_int_eq(gbees_mesh_add_isosurface(&mesh, ball, 1, NULL), GBEES_OK);
    for (size_t i = 0; i < mesh.count; i++) {
        double distance = 0, along = 0;

        for (int j = 0; j < 3; j++) {
            const double x = (double)mesh.corner[i].position[j] - center[j];

            distance += x * x;
            along += x * (double)mesh.corner[i].normal[j];
        }
        distance = sqrt(distance);
        ck_assert_double_eq_tol(distance, radius, 0.003);
        ck_assert_double_ge(along / distance, 0.999);
    }
    gbees_mesh_free(&mesh);
    gbees_density_destroy(ball);
}
END_TEST

START_TEST(level_above_the_peak_has_no_surface)
{
    gbees_density *ball = make_ball();
    gbees_mesh mesh = {0};

    ck_assert_int_eq(gbees_mesh_add_isosurface(&mesh, ball, 1.01 * ball->peak, NULL), GBEES_OK);
    ck_assert_uint_eq(mesh.count, 0);
    gbees_mesh_free(&mesh);
    gbees_density_destroy(ball);
}
END_TEST

/* ---- the density that the surfaces are made of ------------------------------------------------------------- */

/* The density of the first two states. */
static int make_density(const gbees_snapshot *snapshot, int factor, size_t most, gbees_density **made,
                        gbees_error *error)
{
    const gbees_density_choice choice = {.dimension = 2, .axis = {0, 1}, .factor = factor, .most = most};

    return gbees_density_create(snapshot, &choice, made, error);
}

static gbees_snapshot two_cells(int32_t index[2][2], double p[2])
{
    return (gbees_snapshot){.leg = 3,
                            .number = 7,
                            .dimension = 2,
                            .origin = {10, 20},
                            .width = {0.5, 2},
                            .count = 2,
                            .index = {index[0], index[1]},
                            .p = p};
}

START_TEST(density_is_probability_over_volume_at_the_cell)
{
    int32_t index[2][2] = {{-1, 2}, {5, 5}};
    double p[2] = {0.25, 0.75}, lo, hi;
    gbees_snapshot snapshot = two_cells(index, p);
    gbees_density *d;
    double sum = 0;

    ck_assert_int_eq(make_density(&snapshot, 1, 1000, &d, NULL), GBEES_OK);
    ck_assert_double_eq_tol(d->peak, 0.75, 1e-15);
    gbees_density_range(d, 0, 0.001, &lo, &hi);
    ck_assert_double_eq_tol(lo, 10 - 0.75, 1e-12);
    ck_assert_double_eq_tol(hi, 10 + 1.25, 1e-12);
    gbees_density_range(d, 1, 0.5, &lo, &hi);
    ck_assert_double_eq_tol(0.5 * (lo + hi), 30, 1e-12);
    gbees_density_destroy(d);
    ck_assert_int_eq(make_density(&snapshot, 4, 100000, &d, NULL), GBEES_OK);
    for (size_t i = 0; i < gbees_density_count(d); i++)
        sum += d->value[i] * d->width[0] * d->width[1];
    ck_assert_double_eq_tol(sum, 1, 1e-12);
    gbees_density_range(d, 0, 0.9, &lo, &hi);
    ck_assert_double_eq_tol(0.5 * (lo + hi), 11, 1e-12);
    gbees_density_destroy(d);
}
END_TEST

START_TEST(large_grids_are_coarsened_and_keep_their_probability)
{
    int32_t index[2][2] = {{-1000000, 1000000}, {0, 1}};
    double p[2] = {0.25, 0.75}, sum = 0;
    gbees_snapshot snapshot = two_cells(index, p);
    gbees_density *d;

    ck_assert_int_eq(make_density(&snapshot, 1, 5000, &d, NULL), GBEES_OK);
    ck_assert_uint_le(gbees_density_count(d), 5000);
    for (size_t i = 0; i < gbees_density_count(d); i++)
        sum += d->value[i] * d->width[0] * d->width[1];
    ck_assert_double_eq_tol(sum, 1, 1e-12);
    gbees_density_destroy(d);
}
END_TEST

/* In the states' own axes: cells that lie along a diagonal of them, where they are and as heavy as they are, however
 * coarse the picture. */
START_TEST(turned_grids_are_drawn_where_their_cells_are)
{
    enum { CELLS = 41 };
    int32_t along[CELLS], across[CELLS] = {0};
    double p[CELLS], mean[2] = {0}, sum = 0;
    const size_t most = _i ? 300 : 100000;
    gbees_snapshot snapshot = {.leg = 0,
                               .dimension = 2,
                               .origin = {10, 20},
                               .width = {0.5, 0.25},
                               .rotated = 1,
                               .rotation = {0.6, -0.8, 0.8, 0.6},
                               .count = CELLS,
                               .index = {along, across},
                               .p = p};
    gbees_density *d;

    for (int i = 0; i < CELLS; i++) {
        along[i] = i - 10;
        p[i] = 1.0 / CELLS;
    }
    ck_assert_int_eq(make_density(&snapshot, 1, most, &d, NULL), GBEES_OK);
    for (size_t i = 0; i < gbees_density_count(d); i++) {
        const double mass = d->value[i] * d->width[0] * d->width[1];

        sum += mass;
        mean[0] += mass * (d->first[0] + d->width[0] * (double)(i / d->length[1]));
        mean[1] += mass * (d->first[1] + d->width[1] * (double)(i % d->length[1]));
    }
    ck_assert_double_eq_tol(sum, 1, 1e-12);
    ck_assert_double_eq_tol(mean[0], 10 + 0.6 * 0.5 * 10, 1e-10);
    ck_assert_double_eq_tol(mean[1], 20 + 0.8 * 0.5 * 10, 1e-10);
    for (size_t k = 0; k < 2 * d->length[1]; k++) /* the border of zeros */
        ck_assert(d->value[k] == 0 && d->value[gbees_density_count(d) - 1 - k] == 0);
    gbees_density_destroy(d);
}
END_TEST

/* A Gaussian along a diagonal, half a cell a deviation across it: its ridge is level, without an island in each cell.
 * Cubics through the values themselves would make it go up and down by 1.14. */
START_TEST(a_thin_density_has_a_ridge)
{
    enum { HALF = 16, POINTS = 4, CELLS = (2 * HALF + 1) * (2 * HALF + 1) };
    static int32_t index[2][CELLS];
    static double p[CELLS];
    gbees_snapshot snapshot = {
        .dimension = 2, .width = {1, 1}, .count = CELLS, .index = {index[0], index[1]}, .p = p};
    gbees_density *d;
    double least = INFINITY, most = 0;

    for (int i = 0; i < CELLS; i++) {
        index[0][i] = i / (2 * HALF + 1) - HALF;
        index[1][i] = i % (2 * HALF + 1) - HALF;
        p[i] = 0;
        for (int point = 0; point < POINTS * POINTS; point++) {
            const double x = index[0][i] + (point % POINTS + 0.5) / POINTS - 0.5,
                         y = index[1][i] + (point / POINTS + 0.5) / POINTS - 0.5;

            p[i] += exp(-0.25 * (pow((x + y) / 8, 2) + pow((x - y) / 0.5, 2)));
        }
    }
    ck_assert_int_eq(make_density(&snapshot, 4, 1 << 20, &d, NULL), GBEES_OK);
    for (size_t i = 0; i < d->length[0]; i++) { /* both states have the same cells */
        const double x = d->first[0] + d->width[0] * (double)i, ridge = exp(-0.25 * pow(2 * x / 8, 2));

        if (fabs(x) < 10) {
            least = fmin(least, d->value[i * d->length[1] + i] / ridge);
            most = fmax(most, d->value[i * d->length[1] + i] / ridge);
        }
    }
    ck_assert_msg(most < 1.12 * least, "%.3g to %.3g", least, most);
    gbees_density_destroy(d);
}
END_TEST

START_TEST(record_without_cells_is_refused)
{
    int32_t index[2][2] = {{0}};
    double p[2] = {0, 0};
    gbees_snapshot snapshot = two_cells(index, p);
    gbees_density *d = NULL;
    gbees_error error;

    ck_assert_int_eq(make_density(&snapshot, 1, 1000, &d, &error), GBEES_EINPUT);
    ck_assert_str_eq(error.text, "leg 3, record 7 holds no probability: there is nothing to draw");
    snapshot.count = 0;
    ck_assert_int_eq(make_density(&snapshot, 1, 1000, &d, &error), GBEES_EINPUT);
    ck_assert_str_eq(error.text, "leg 3, record 7 has no cells: there is nothing to draw");
    ck_assert_ptr_null(d);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("isosurface");
    TCase *surface = tcase_create("surface"), *density = tcase_create("density");

    tcase_set_timeout(surface, 60);
    tcase_add_test(surface, sphere_has_its_area_and_volume);
    tcase_add_test(surface, every_triangle_looks_outwards);
    tcase_add_test(surface, corners_lie_on_the_sphere_with_radial_normals);
    tcase_add_test(surface, level_above_the_peak_has_no_surface);
    suite_add_tcase(suite, surface);
    tcase_set_timeout(density, 60);
    tcase_add_test(density, density_is_probability_over_volume_at_the_cell);
    tcase_add_test(density, large_grids_are_coarsened_and_keep_their_probability);
    tcase_add_loop_test(density, turned_grids_are_drawn_where_their_cells_are, 0, 2);
    tcase_add_test(density, a_thin_density_has_a_ridge);
    tcase_add_test(density, record_without_cells_is_refused);
    suite_add_tcase(suite, density);
    return run_suite(suite);
}
