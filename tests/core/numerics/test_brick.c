/* test_brick.c - core/numerics: the shape of a brick, sets of its cells as bit masks, and the hash of a key. */
#include "fixtures/suite.h"
#include "numerics/brick.h"
#include "numerics/buzhash.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

/* A generator of the tests' own: the same sets on every machine. */
static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* A cell's local coordinates by division, axis 0 fastest, and back. */
static void coordinates(const gbees_shape *shape, int cell, int *local)
{
    for (int j = 0; j < shape->n; j++) {
        local[j] = cell % shape->edge[j];
        cell /= shape->edge[j];
    }
}

static int number(const gbees_shape *shape, const int *local)
{
    int cell = 0;

    for (int j = shape->n - 1; j >= 0; j--)
        cell = cell * shape->edge[j] + local[j];
    return cell;
}

START_TEST(edges_multiply_to_the_cells)
{
    for (int cells = 1; cells <= 64; cells += 63) {
        gbees_shape shape;
        int product = 1, least = 64, most = 1;

        gbees_shape_set(&shape, _i, cells);
        for (int j = 0; j < _i; j++) {
            ck_assert_int_eq(shape.edge[j], 1 << shape.log2_edge[j]);
            ck_assert_int_eq(1 << shape.shift[j], product); /* the stride */
            product *= shape.edge[j];
            least = shape.edge[j] < least ? shape.edge[j] : least;
            most = shape.edge[j] > most ? shape.edge[j] : most;
        }
        ck_assert_int_eq(product, cells);
        ck_assert_int_eq(shape.n, _i);
        ck_assert_int_eq(shape.cells, cells);
        ck_assert_int_le(most, 2 * least); /* as near to a cube as powers of two allow */
        ck_assert_uint_eq(shape.all, cells == 64 ? UINT64_MAX : 1);
    }
}
END_TEST

START_TEST(masks_are_the_sides)
{
    for (int cells = 1; cells <= 64; cells += 63) {
        gbees_shape shape;

        gbees_shape_set(&shape, _i, cells);
        for (int cell = 0; cell < cells; cell++) {
            int local[8];

            coordinates(&shape, cell, local);
            ck_assert_int_eq(number(&shape, local), cell);
            for (int j = 0; j < _i; j++) {
                ck_assert_int_eq(gbees_shape_local(&shape, cell, j), local[j]);
                ck_assert_int_eq((int)(gbees_shape_side(&shape, 2 * j) >> cell & 1), local[j] == 0);
                ck_assert_int_eq((int)(gbees_shape_side(&shape, 2 * j + 1) >> cell & 1),
                                 local[j] == shape.edge[j] - 1);
            }
        }
        for (int d = 0; d < 2 * _i; d++)
            ck_assert_uint_eq(gbees_shape_side(&shape, d) & ~shape.all, 0);
    }
}
END_TEST

/* Where the cells of a set come to lie one cell further: in the brick, and in the neighbour. */
static void shift_cells(const gbees_shape *shape, uint64_t set, int direction, uint64_t *inside, uint64_t *across)
{
    int axis = direction / 2;

    *inside = *across = 0;
    for (int cell = 0; cell < shape->cells; cell++) {
        int local[8];

        if (!(set >> cell & 1))
            continue;
        coordinates(shape, cell, local);
        local[axis] += direction % 2 ? 1 : -1;
        int stays = local[axis] >= 0 && local[axis] < shape->edge[axis];
        local[axis] = (local[axis] + shape->edge[axis]) % shape->edge[axis];
        *(stays ? inside : across) |= (uint64_t)1 << number(shape, local);
    }
}

START_TEST(sets_move_like_their_cells)
{
    uint64_t state = 88172645463325252u;

    for (int cells = 1; cells <= 64; cells += 63) {
        gbees_shape shape;

        gbees_shape_set(&shape, _i, cells);
        for (int direction = 0; direction < 2 * _i; direction++)
            for (int round = 0; round < 200; round++) {
                uint64_t inside, across, set = draw(&state) & shape.all;

                set = round == 0 ? shape.all : round == 1 ? 0 : round < 100 ? set & draw(&state) : set;
                shift_cells(&shape, set, direction, &inside, &across);
                ck_assert_uint_eq(gbees_shape_inside(&shape, set, direction), inside);
                ck_assert_uint_eq(gbees_shape_across(&shape, set, direction), across);
            }
    }
}
END_TEST

START_TEST(there_and_back_loses_nothing)
{
    uint64_t state = 1442695040888963407u;

    for (int cells = 1; cells <= 64; cells += 63) {
        gbees_shape shape;

        gbees_shape_set(&shape, _i, cells);
        for (int direction = 0; direction < 2 * _i; direction++) {
            uint64_t set = draw(&state) & shape.all;
            int back = gbees_opposite(direction);

            ck_assert_int_eq(back / 2, direction / 2);
            ck_assert_int_ne(back, direction);
            uint64_t stayed = gbees_shape_inside(&shape, gbees_shape_inside(&shape, set, direction), back);
            uint64_t went = gbees_shape_across(&shape, gbees_shape_across(&shape, set, direction), back);
            ck_assert_uint_eq(stayed | went, set);
            ck_assert_uint_eq(stayed & went, 0);
        }
    }
}
END_TEST

START_TEST(keys_round_down)
{
    for (int n = 1; n <= 8; n++) {
        gbees_shape shape;

        gbees_shape_set(&shape, n, 64);
        for (int j = 0; j < n; j++)
            for (int32_t index = -200; index <= 200; index++) {
                int32_t key = gbees_shape_key(&shape, j, index), local = index - key * shape.edge[j];

                ck_assert_int_ge(local, 0);
                ck_assert_int_lt(local, shape.edge[j]);
            }
        ck_assert_int_eq(gbees_shape_key(&shape, 0, -1), -1);
        ck_assert_int_eq(gbees_shape_key(&shape, 0, -shape.edge[0]), -1);
        ck_assert_int_eq(gbees_shape_key(&shape, 0, -shape.edge[0] - 1), -2);
    }
}
END_TEST

static uint64_t rotate(uint64_t x, int by)
{
    return by % 64 ? x << by % 64 | x >> (64 - by % 64) : x;
}

START_TEST(hash_is_a_cyclic_polynomial)
{
    int32_t run[100];
    uint64_t state = 2862933555777941757u;

    for (int i = 0; i < 100; i++)
        run[i] = (int32_t)(draw(&state) % 2001) - 1000;
    for (int n = 1; n <= 8; n++)
        for (int i = 0; i + n < 100; i++) {
            uint64_t sum = 0;
            /* Rolling on: what leaves is taken out, what enters is put in. */
            uint64_t next = rotate(gbees_buzhash(run + i, n), 1) ^ rotate(gbees_buzhash_symbol(run[i]), n) ^
                            gbees_buzhash_symbol(run[i + n]);

            for (int j = 0; j < n; j++)
                sum ^= rotate(gbees_buzhash_symbol(run[i + j]), n - 1 - j);
            ck_assert_uint_eq(gbees_buzhash(run + i, n), sum);
            ck_assert_uint_eq(gbees_buzhash(run + i + 1, n), next);
        }
}
END_TEST

START_TEST(hash_depends_on_the_order_and_the_sign)
{
    const int32_t a[3] = {1, 2, 3}, b[3] = {3, 2, 1}, c[3] = {-1, 2, 3}, d[3] = {0, 0, 0};

    ck_assert_uint_ne(gbees_buzhash(a, 3), gbees_buzhash(b, 3));
    ck_assert_uint_ne(gbees_buzhash(a, 3), gbees_buzhash(c, 3));
    ck_assert_uint_ne(gbees_buzhash(d, 3), gbees_buzhash(d, 2));
}
END_TEST

/* 7^6 neighbouring bricks in a table at most half full: as many share an entry as of random keys. */
START_TEST(low_bits_of_a_dense_box_collide_little)
{
    enum { SIZE = 1 << 18, EDGE = 7, KEYS = EDGE * EDGE * EDGE * EDGE * EDGE * EDGE };
    unsigned char *load = calloc(SIZE, 1);
    int most = 0, used = 0;

    ck_assert_ptr_nonnull(load);
    for (int i = 0; i < KEYS; i++) {
        int32_t key[6];

        for (int j = 0, rest = i; j < 6; j++, rest /= EDGE)
            key[j] = rest % EDGE - EDGE / 2;
        size_t at = gbees_buzhash(key, 6) & (SIZE - 1);
        used += load[at] == 0;
        most = ++load[at] > most ? load[at] : most;
    }
    /* Random keys would use SIZE (1 - exp(-KEYS / SIZE)) entries: 94788. */
    ck_assert_int_gt(used, 93000);
    ck_assert_int_lt(most, 12);
    free(load);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("brick");
    TCase *shape = tcase_create("shape"), *hash = tcase_create("hash");

    tcase_set_timeout(shape, 60);
    tcase_add_loop_test(shape, edges_multiply_to_the_cells, 1, 9);
    tcase_add_loop_test(shape, masks_are_the_sides, 1, 9);
    tcase_add_loop_test(shape, sets_move_like_their_cells, 1, 9);
    tcase_add_loop_test(shape, there_and_back_loses_nothing, 1, 9);
    tcase_add_test(shape, keys_round_down);
    tcase_set_timeout(hash, 60);
    tcase_add_test(hash, hash_is_a_cyclic_polynomial);
    tcase_add_test(hash, hash_depends_on_the_order_and_the_sign);
    tcase_add_test(hash, low_bits_of_a_dense_box_collide_little);
    suite_add_tcase(suite, shape);
    suite_add_tcase(suite, hash);
    return run_suite(suite);
}
