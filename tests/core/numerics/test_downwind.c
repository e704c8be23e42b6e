/* test_downwind.c - core/numerics: which cells and bricks active cells need, and keys of neighbours, beside plain
 * transcriptions cell by cell. */
#include "fixtures/suite.h"
#include "numerics/downwind.h"
#include "numerics/neighbour.h"
#include <check.h>
#include <string.h>

enum { BRICKS = 3 * 3 * 3 * 3 * 3 * 3 * 3 * 3 }; /* a brick and all around it, in up to eight dimensions */

/* A generator of the tests' own: the same sets on every machine. */
static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* The number of a brick beside the middle one, at[n] = -1, 0 or 1 bricks away along each axis. */
static int brick_number(int n, const int *at)
{
    int number = 0;

    for (int j = 0; j < n; j++)
        number = 3 * number + at[j] + 1;
    return number;
}

/* The brick in a pair of directions (-1: none) from the middle one. */
static int brick_at(int n, int d, int f)
{
    int at[8] = {0};

    if (d >= 0)
        at[d / 2] += d % 2 ? 1 : -1;
    if (f >= 0 && f != d)
        at[f / 2] += f % 2 ? 1 : -1;
    return brick_number(n, at);
}

/* Marks the cell that lies one step in d, and with f >= 0 one in f, from a cell of the middle brick. */
static void need_cell(const gbees_shape *shape, int cell, int d, int f, uint64_t *needed)
{
    int at[8] = {0}, local[8], target = 0;

    for (int j = 0; j < shape->n; j++) {
        local[j] = cell % shape->edge[j];
        cell /= shape->edge[j];
        local[j] += d / 2 == j ? d % 2 ? 1 : -1 : 0;
        local[j] += f >= 0 && f / 2 == j ? f % 2 ? 1 : -1 : 0;
        at[j] = local[j] < 0 ? -1 : local[j] >= shape->edge[j] ? 1 : 0;
        local[j] -= at[j] * shape->edge[j];
    }
    for (int j = shape->n - 1; j >= 0; j--)
        target = target * shape->edge[j] + local[j];
    needed[brick_number(shape->n, at)] |= (uint64_t)1 << target;
}

/* The rule, cell by cell: needed[BRICKS] gets the cells that the active ones need beside themselves. */
static void need_plainly(const gbees_shape *shape, uint64_t active, const uint64_t *flow, uint64_t *needed)
{
    for (int cell = 0; cell < shape->cells; cell++)
        for (int d = 0; d < 2 * shape->n && active >> cell & 1; d++) {
            if (!(flow[d] >> cell & 1))
                continue;
            need_cell(shape, cell, d, -1, needed);
            for (int f = 0; f < 2 * shape->n; f++)
                if (f / 2 != d / 2 && flow[f] >> cell & 1)
                    need_cell(shape, cell, d, f, needed);
        }
}

/* Adds what cells need in a pair of directions. */
static void add_downwind(const gbees_shape *shape, uint64_t cells, int d, int f, uint64_t *needed)
{
    const gbees_downwind to = gbees_downwind_of(shape, cells, d, f);

    needed[brick_at(shape->n, -1, -1)] |= to.own;
    needed[brick_at(shape->n, d, -1)] |= to.beside_d;
    needed[brick_at(shape->n, f, -1)] |= to.beside_f;
    needed[brick_at(shape->n, d, f)] |= to.beyond;
}

/* Sets active cells and flow masks: few or many, in some directions or all. */
static uint64_t draw_flow(const gbees_shape *shape, uint64_t *state, uint64_t *flow)
{
    const int sparse = draw(state) % 2, thin = draw(state) % 3 == 0;

    for (int d = 0; d < 2 * shape->n; d++) {
        flow[d] = draw(state) & (sparse ? draw(state) : shape->all) & shape->all;
        flow[d] = thin && draw(state) % 2 ? 0 : flow[d];
    }
    return draw(state) & (sparse ? draw(state) & draw(state) : shape->all) & shape->all;
}

/* Both ways to go through the pairs: by number, as a GPU's lanes do, and along an outflow, as the processor does. */
START_TEST(cells_downwind_are_those_of_the_rule)
{
    uint64_t state = 88172645463325252u;

    for (int cells = 1; cells <= 64; cells += 63)
        for (int round = 0; round < 40; round++) {
            static uint64_t plain[BRICKS], by_number[BRICKS], by_outflow[BRICKS];
            uint64_t flow[16], active;
            gbees_outflow out;
            gbees_shape shape;

            gbees_shape_set(&shape, _i, cells);
            active = draw_flow(&shape, &state, flow);
            memset(plain, 0, sizeof plain);
            memset(by_number, 0, sizeof by_number);
            memset(by_outflow, 0, sizeof by_outflow);
            need_plainly(&shape, active, flow, plain);
            for (int pair = 0; pair < 2 * _i * _i; pair++) {
                int d, f;

                gbees_pair(_i, pair, &d, &f);
                add_downwind(&shape,
                             gbees_downwind_from(gbees_leaving(&shape, active, flow[d], d, 0),
                                                 gbees_leaving(&shape, active, flow[f], f, 0)),
                             d, f, by_number);
            }
            gbees_outflow_set(&shape, active, flow, 0, &out);
            for (int i = 0; i < out.count; i++)
                for (int k = i; k < out.count; k++)
                    add_downwind(&shape, gbees_outflow_pair(&out, i, k), out.direction[i], out.direction[k],
                                 by_outflow);
            ck_assert_mem_eq(by_number, plain, sizeof plain);
            ck_assert_mem_eq(by_outflow, plain, sizeof plain);
        }
}
END_TEST

/* Bricks that growth inserts: those in which the rule needs a cell. */
START_TEST(bricks_downwind_are_those_with_a_needed_cell)
{
    uint64_t state = 1442695040888963407u;

    for (int cells = 1; cells <= 64; cells += 63)
        for (int round = 0; round < 40; round++) {
            static uint64_t plain[BRICKS];
            static unsigned char found[BRICKS];
            const int every = round % 4 == 0; /* probability may flow in all directions */
            uint64_t flow[16], active;
            gbees_outflow out;
            gbees_shape shape;

            gbees_shape_set(&shape, _i, cells);
            active = draw_flow(&shape, &state, flow);
            for (int d = 0; d < 2 * _i && every; d++)
                flow[d] = shape.all;
            memset(plain, 0, sizeof plain);
            memset(found, 0, sizeof found);
            need_plainly(&shape, active, flow, plain);
            gbees_outflow_set(&shape, active, every ? NULL : flow, 1, &out);
            for (int i = 0; i < out.count; i++)
                for (int k = i; k < out.count; k++)
                    if (gbees_outflow_pair(&out, i, k))
                        found[brick_at(_i, out.direction[i], out.direction[k])] = 1;
            for (int b = 0; b < BRICKS; b++)
                ck_assert_int_eq(found[b], plain[b] != 0 && b != brick_at(_i, -1, -1));
        }
}
END_TEST

START_TEST(each_pair_has_one_number)
{
    int seen[16][16] = {{0}};

    for (int pair = 0; pair < 2 * _i * _i; pair++) {
        int d = -1, f = -1;

        gbees_pair(_i, pair, &d, &f);
        ck_assert_int_ge(d, 0);
        ck_assert_int_lt(f, 2 * _i);
        ck_assert(f == d || f / 2 > d / 2);
        ck_assert(gbees_is_pair(d, f));
        ck_assert_int_eq(seen[d][f]++, 0);
    }
    for (int d = 0; d < 2 * _i; d++)
        for (int f = 0; f < 2 * _i; f++)
            ck_assert_int_eq(gbees_is_pair(d, f), seen[d][f]);
}
END_TEST

START_TEST(keys_move_by_a_brick)
{
    const int32_t key[8] = {0, -1, 1, 7, -8, 1000000, -1000000, 3};
    gbees_shape shape;

    gbees_shape_set(&shape, 8, 64);

    for (int d = -1; d < 16; d++)
        for (int f = -1; f < 16; f++) {
            int32_t plain[8], to[8];

            if (d < 0 && f >= 0)
                continue;
            memcpy(plain, key, sizeof plain);
            if (d >= 0)
                plain[d / 2] += d % 2 ? 1 : -1;
            if (f >= 0 && f != d)
                plain[f / 2] += f % 2 ? 1 : -1;
            gbees_key_move(&shape, key, d, f, to);
            ck_assert_mem_eq(to, plain, sizeof plain);
            for (int j = 0; j < 8; j++)
                ck_assert_int_eq(gbees_key_beside(&shape, key[j], j, d, f), plain[j]);
        }
}
END_TEST

/* A circle of five bricks, and the same five between walls. */
START_TEST(keys_go_around_and_end_at_walls)
{
    gbees_shape circle, walls;

    gbees_shape_set(&circle, 2, 64);
    gbees_shape_set(&walls, 2, 64);
    gbees_shape_close(&circle, 1, GBEES_AT_OTHER_END, GBEES_AT_OTHER_END, -16, 23);
    gbees_shape_close(&walls, 1, GBEES_AT_REFLECTOR, GBEES_AT_ABSORBER, -16, 23);
    ck_assert(gbees_shape_is_closed(&circle, 1) && gbees_shape_is_closed(&walls, 1));
    ck_assert(!gbees_shape_is_closed(&circle, 0));
    for (int32_t key = -2; key <= 2; key++)
        for (int up = 0; up < 2; up++) {
            const int32_t next = key + (up ? 1 : -1);
            const int beyond = next < -2 || next > 2;

            ck_assert_int_eq(gbees_key_beside(&circle, key, 1, 2 + up, 2 + up), beyond ? -key : next);
            ck_assert_int_eq(gbees_key_beside(&walls, key, 1, 2 + up, 2 + up), beyond ? key : next);
            ck_assert_int_eq(gbees_is_at_wall(&walls, key, 2 + up), beyond);
            ck_assert(!gbees_is_at_wall(&circle, key, 2 + up));
            ck_assert_int_eq(gbees_key_around(&circle, 1, key + (up ? 5 : -5)), key);
        }
}
END_TEST

/* Of pencils on a circle of five bricks: slots 1 to 5 in the order of the keys; a ring, and one that lacks a brick. */
START_TEST(rings_begin_with_the_lowest_key)
{
    const uint32_t ring[] = {0, 2, 3, 4, 5, 1}, open[] = {0, 2, 3, 4, 0, 0}, alone[] = {0, 1};
    gbees_shape shape;

    gbees_shape_set(&shape, 1, 64);
    gbees_shape_close(&shape, 0, GBEES_AT_OTHER_END, GBEES_AT_OTHER_END, -128, 191);
    for (uint32_t slot = 1; slot <= 5; slot++) {
        ck_assert_int_eq(gbees_begins_ring(&shape, 0, (int32_t)slot - 3, ring, slot), slot == 1);
        ck_assert(!gbees_begins_ring(&shape, 0, (int32_t)slot - 3, open, slot));
    }
    gbees_shape_close(&shape, 0, GBEES_AT_OTHER_END, GBEES_AT_OTHER_END, 0, 63);
    ck_assert(gbees_begins_ring(&shape, 0, 0, alone, 1));
}
END_TEST

START_TEST(keys_are_so_many_bricks_outside)
{
    for (int32_t key = -6; key <= 6; key++) {
        int64_t away = 0;

        for (int32_t at = key; at < -2; at++)
            away++;
        for (int32_t at = key; at > 1; at--)
            away++;
        ck_assert_int_eq(gbees_key_outside(key, -2, 2), away);
        ck_assert_int_eq(gbees_key_outside(key, INT32_MIN, INT32_MAX), 0);
    }
    ck_assert_int_eq(gbees_key_outside(INT32_MAX, INT32_MIN, INT32_MIN), (int64_t)INT32_MAX - INT32_MIN + 1);
    ck_assert_int_eq(gbees_key_outside(INT32_MIN, INT32_MAX, INT32_MAX), (int64_t)INT32_MAX - INT32_MIN);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("downwind");
    TCase *rule = tcase_create("rule");

    tcase_set_timeout(rule, 60);
    tcase_add_loop_test(rule, cells_downwind_are_those_of_the_rule, 1, 9);
    tcase_add_loop_test(rule, bricks_downwind_are_those_with_a_needed_cell, 1, 9);
    tcase_add_loop_test(rule, each_pair_has_one_number, 1, 9);
    tcase_add_test(rule, keys_move_by_a_brick);
    tcase_add_test(rule, keys_go_around_and_end_at_walls);
    tcase_add_test(rule, rings_begin_with_the_lowest_key);
    tcase_add_test(rule, keys_are_so_many_bricks_outside);
    suite_add_tcase(suite, rule);
    return run_suite(suite);
}
