/* test_grid_add.c - bricks that are added by all threads: the same, in the same slots, as one by one. */
#include "cpu/grid/grid.h"
#include "fixtures/suite.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { EDGE = 24, PARTS = 37 };

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % below);
}

/* Half of the bricks of a box, some of which were there and are gone again. */
static void fill(grid *g, int threads)
{
    gbees_error error;
    uint64_t state = 5;

    ck_assert_int_eq(grid_create(g, 3, 64, &error), 0);
    g->threads = threads;
    for (int32_t k = 0; k < EDGE * EDGE * EDGE; k++) {
        const int32_t key[8] = {k % EDGE - 7, k / EDGE % EDGE, k / EDGE / EDGE};

        ck_assert_int_eq(grid_reserve(g, 1, &error), 0);
        if (draw(&state, 3))
            grid_insert(g, key);
    }
    unsigned char *keep = malloc(g->count);
    ck_assert_ptr_nonnull(keep);
    for (uint32_t k = 0; k < g->count; k++)
        keep[k] = draw(&state, 4) != 0;
    ck_assert_int_eq(grid_compact(g, keep, &error), 0);
    free(keep);
}

/* Absent neighbours of bricks drawn at random, most of them several times; parts of any length, one of them empty. */
static size_t request(const grid *g, grid_requests *list)
{
    uint64_t state = 11;
    size_t requests = 0;

    for (int part = 0; part < PARTS; part++) {
        const uint32_t tries = part == 5 ? 0 : 100 + draw(&state, 4000);

        list[part] = (grid_requests){.request = malloc((tries + 1) * sizeof *list->request), .capacity = tries + 1};
        ck_assert_ptr_nonnull(list[part].request);
        for (uint32_t k = 0; k < tries; k++) {
            grid_request request = {.slot = g->used[draw(&state, g->count)], .d = (uint8_t)draw(&state, 6)};
            int32_t key[8];

            request.f = (uint8_t)draw(&state, 6);
            if (request.f >> 1 == request.d >> 1)
                request.f = request.d;
            grid_request_key(g, &request, key);
            request.hash = grid_hash(g, key);
            if (!grid_find(g, key))
                list[part].request[list[part].count++] = request;
        }
        requests += list[part].count;
    }
    return requests;
}

static void add_one_by_one(grid *g, const grid_requests *list)
{
    gbees_error error;

    for (int part = 0; part < PARTS; part++)
        for (size_t k = 0; k < list[part].count; k++) {
            int32_t key[8];

            grid_request_key(g, &list[part].request[k], key);
            ck_assert_int_eq(grid_reserve(g, 1, &error), 0);
            if (!grid_find(g, key))
                grid_add(g, key, grid_hash(g, key));
        }
}

START_TEST(slots_are_those_of_one_by_one)
{
    const int threads = (int[]){1, 2, 3, 8}[_i];
    grid one, all;
    grid_requests list[PARTS];
    gbees_error error;
    char text[200] = "";

    fill(&one, 1);
    fill(&all, threads);
    const uint32_t before = one.count;
    const size_t requests = request(&one, list);
    add_one_by_one(&one, list);
    ck_assert_int_eq(grid_add_requests(&all, list, PARTS, &error), 0);
    ck_assert_uint_gt(one.count, before + 1000);
    ck_assert_uint_gt(requests, 2 * (one.count - before)); /* most bricks were requested more than once */
    ck_assert_uint_eq(all.count, one.count);
    ck_assert_mem_eq(all.used, one.used, one.count * sizeof *one.used);
    for (uint32_t k = 0; k < one.count; k++)
        ck_assert_mem_eq(grid_key(&all, all.used[k]), grid_key(&one, one.used[k]), 3 * sizeof(int32_t));
    grid_link(&all, before);
    ck_assert_msg(grid_check(&all, text, sizeof text) == 0, "%s", text);
    for (int part = 0; part < PARTS; part++)
        free(list[part].request);
    grid_destroy(&one);
    grid_destroy(&all);
}
END_TEST

/* The grid stays as it was without a request, and without the capacity for the requests. */
START_TEST(nothing_is_added_without_requests_or_capacity)
{
    grid g;
    grid_requests list[2] = {{0}};
    gbees_error error;
    char text[200] = "";

    fill(&g, 2);
    const uint32_t before = g.count;
    ck_assert_int_eq(grid_add_requests(&g, list, 2, &error), 0);
    ck_assert_uint_eq(g.count, before);
    list[1].count = UINT32_MAX; /* more than there are slots: refused before any is read */
    ck_assert_int_eq(grid_add_requests(&g, list, 2, &error), GBEES_ENOMEM);
    ck_assert_uint_eq(g.count, before);
    ck_assert_msg(grid_check(&g, text, sizeof text) == 0, "%s", text);
    grid_destroy(&g);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("grid_add");
    TCase *requests = tcase_create("requests");

    tcase_set_timeout(requests, 60);
    tcase_add_loop_test(requests, slots_are_those_of_one_by_one, 0, 4);
    tcase_add_test(requests, nothing_is_added_without_requests_or_capacity);
    suite_add_tcase(suite, requests);
    return run_suite(suite);
}
