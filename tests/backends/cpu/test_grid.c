/* test_grid.c - the CPU backend's sparse grid under random insertions and prunes, against a sorted array of keys. */
#include "cpu/grid/grid.h"
#include "fixtures/suite.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG = 3 };

typedef struct row {
    uint64_t word[LONG];
} row;

/* A grid with three fields, and what it should hold: keys in lexicographic order. */
typedef struct rig {
    grid g;
    int n;
    row *kept;              /* survives a prune */
    unsigned char *small;   /* so does this */
    unsigned char *scratch; /* transient, the largest field */
    int32_t (*key)[8];
    size_t count, capacity;
    uint64_t state;
} rig;

static uint32_t draw(rig *r, uint32_t below)
{
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((r->state >> 33) % below);
}

static void rig_create(rig *r, int n, int cells, size_t scratch)
{
    gbees_error error;

    *r = (rig){.n = n, .state = 77 + (uint64_t)n};
    ck_assert_int_eq(grid_create(&r->g, n, cells, &error), 0);
    ck_assert_int_eq(grid_register(&r->g, (void **)&r->kept, sizeof *r->kept, 0, &error), 0);
    ck_assert_int_eq(grid_register(&r->g, (void **)&r->small, 1, 0, &error), 0);
    if (scratch)
        ck_assert_int_eq(grid_register(&r->g, (void **)&r->scratch, scratch, 1, &error), 0);
}

static void rig_destroy(rig *r)
{
    grid_destroy(&r->g);
    ck_assert_ptr_null(r->kept);
    ck_assert_ptr_null(r->scratch);
    free(r->key);
}

static int compare(const void *a, const void *b, void *context)
{
    const int32_t *x = a, *y = b;

    for (int j = 0; j < *(const int *)context; j++)
        if (x[j] != y[j])
            return x[j] < y[j] ? -1 : 1;
    return 0;
}

/* Where a key is in the model, or where it would go. */
static size_t position(rig *r, const int32_t *key, int *found)
{
    size_t lo = 0, hi = r->count;

    while (lo < hi) {
        size_t middle = (lo + hi) / 2;

        if (compare(r->key[middle], key, &r->n) < 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    *found = lo < r->count && compare(r->key[lo], key, &r->n) == 0;
    return lo;
}

/* What the fields of a brick hold: its key, mixed. */
static uint64_t mixed(const int32_t *key, int n)
{
    uint64_t sum = 7;

    for (int j = 0; j < n; j++)
        sum = sum * 1000003u + (uint32_t)key[j];
    return sum;
}

static void write_fields(rig *r, uint32_t slot, const int32_t *key)
{
    for (uint64_t w = 0; w < LONG; w++)
        r->kept[slot].word[w] = mixed(key, r->n) + w;
    r->small[slot] = (unsigned char)mixed(key, r->n);
    if (r->scratch)
        r->scratch[slot] = 1;
}

/* Into the grid and into the model, unless it is there. */
static void insert(rig *r, const int32_t *key)
{
    int found;
    size_t at = position(r, key, &found);
    gbees_error error;

    ck_assert_int_eq(grid_find(&r->g, key) != 0, found);
    if (found)
        return;
    ck_assert_int_eq(grid_reserve(&r->g, 1, &error), 0);
    uint32_t slot = grid_insert(&r->g, key);
    ck_assert_uint_ne(slot, 0);
    ck_assert_uint_eq(grid_find(&r->g, key), slot);
    write_fields(r, slot, key);
    if (r->count == r->capacity) {
        r->capacity = 2 * r->capacity + 64;
        r->key = realloc(r->key, r->capacity * sizeof *r->key);
        ck_assert_ptr_nonnull(r->key);
    }
    memmove(r->key + at + 1, r->key + at, (r->count - at) * sizeof *r->key);
    memcpy(r->key[at], key, (size_t)r->n * sizeof *key);
    r->count++;
}

static void prune(rig *r, uint32_t keep_percent)
{
    unsigned char *keep = malloc(r->g.count + 1u);
    size_t kept = 0;
    gbees_error error;

    ck_assert_ptr_nonnull(keep);
    for (uint32_t k = 0; k < r->g.count; k++)
        keep[k] = draw(r, 100) < keep_percent;
    /* The model: those whose flag is set, by the flags of the slots. */
    unsigned char *flag = calloc(r->g.capacity + 1u, 1);
    ck_assert_ptr_nonnull(flag);
    for (uint32_t k = 0; k < r->g.count; k++)
        flag[r->g.used[k]] = keep[k];
    for (size_t k = 0; k < r->count; k++)
        if (flag[grid_find(&r->g, r->key[k])])
            memmove(r->key[kept++], r->key[k], sizeof r->key[k]);
    ck_assert_int_eq(grid_compact(&r->g, keep, &error), 0);
    r->count = kept;
    free(keep);
    free(flag);
}

static void check_neighbors(const rig *r, uint32_t slot)
{
    int32_t key[8];

    memcpy(key, grid_key(&r->g, slot), (size_t)r->n * sizeof *key);
    for (int d = 0; d < 2 * r->n; d++) {
        key[d / 2] += d % 2 ? 1 : -1;
        ck_assert_uint_eq(grid_neighbor(&r->g, slot, d), grid_find(&r->g, key));
        key[d / 2] -= d % 2 ? 1 : -1;
    }
}

static void check_null_brick(const rig *r)
{
    static const row empty;

    if (!r->g.capacity)
        return;
    ck_assert_mem_eq(&r->kept[0], &empty, sizeof empty);
    ck_assert_uint_eq(r->small[0], 0);
    for (int j = 0; j < r->n; j++)
        ck_assert_int_eq(grid_key(&r->g, 0)[j], 0);
    for (int d = 0; d < 2 * r->n; d++)
        ck_assert_uint_eq(grid_neighbor(&r->g, 0, d), 0);
    if (r->scratch)
        ck_assert_uint_eq(r->scratch[0], 0);
}

/* All of the grid against the model; given `ordered`, in the order that a prune leaves. */
static void agree(rig *r, int ordered)
{
    char text[200] = "";

    ck_assert_msg(grid_check(&r->g, text, sizeof text) == 0, "%s", text);
    ck_assert_uint_eq(r->g.count, r->count);
    ck_assert(2 * (uint64_t)r->g.count <= r->g.table_size);
    for (uint32_t k = 0; k < r->g.count; k++) {
        uint32_t slot = r->g.used[k];
        const int32_t *key = grid_key(&r->g, slot);
        int found;

        (void)position(r, key, &found);
        ck_assert_int_eq(found, 1);
        ck_assert_uint_eq(grid_find(&r->g, key), slot);
        for (uint64_t w = 0; w < LONG; w++)
            ck_assert_uint_eq(r->kept[slot].word[w], mixed(key, r->n) + w);
        ck_assert_uint_eq(r->small[slot], (unsigned char)mixed(key, r->n));
        check_neighbors(r, slot);
        if (ordered)
            ck_assert(slot == k + 1 && (k == 0 || compare(grid_key(&r->g, k), key, &r->n) < 0));
    }
    check_null_brick(r);
}

static void random_rounds(int n, int cells, size_t scratch)
{
    rig r;
    const uint32_t span = n == 1 ? 900 : n == 3 ? 12 : n == 6 ? 4 : 3;

    rig_create(&r, n, cells, scratch);
    for (int round = 0; round < 12; round++) {
        for (int k = 0; k < 600; k++) {
            int32_t key[8];

            for (int j = 0; j < n; j++)
                key[j] = (int32_t)draw(&r, span) - (int32_t)span / 2 + round % 3;
            insert(&r, key);
        }
        agree(&r, 0);
        if (r.scratch)
            memset(r.scratch + scratch, 0xab, scratch * r.g.count); /* whatever it holds must not leak */
        prune(&r, round == 5 ? 0 : round == 6 ? 100 : 20 + draw(&r, 70));
        agree(&r, 1);
    }
    rig_destroy(&r);
}

static const int dimensions[] = {1, 3, 6, 8};

/* With a transient field, large or small, and without. */
START_TEST(random_insertions_and_prunes)
{
    random_rounds(dimensions[_i], 64, 64);
    random_rounds(dimensions[_i], 1, 1);
    random_rounds(dimensions[_i], 64, 0);
}
END_TEST

START_TEST(keys_far_out_and_negative)
{
    rig r;
    const int32_t far = GRID_KEY_LIMIT - 1;
    const int32_t key[][8] = {{far, -far, 0}, {-far, far, 1}, {far - 1, -far, 0}, {0, 0, 0}, {-1, -1, -1}};

    rig_create(&r, 3, 64, 64);
    for (size_t k = 0; k < sizeof key / sizeof key[0]; k++)
        insert(&r, key[k]);
    agree(&r, 0);
    ck_assert_uint_eq(grid_neighbor(&r.g, grid_find(&r.g, key[0]), 0), grid_find(&r.g, key[2]));
    prune(&r, 100);
    agree(&r, 1);
    rig_destroy(&r);
}
END_TEST

START_TEST(an_empty_grid_has_no_bricks)
{
    const int32_t key[3] = {0};
    char text[100];
    rig r;
    gbees_error error;

    rig_create(&r, 3, 64, 64);
    ck_assert_uint_eq(grid_find(&r.g, key), 0);
    ck_assert_int_eq(grid_compact(&r.g, NULL, &error), 0);
    ck_assert_int_eq(grid_check(&r.g, text, sizeof text), 0);
    ck_assert_uint_eq(grid_bytes(&r.g), 0);
    rig_destroy(&r);
}
END_TEST

START_TEST(fields_are_registered_in_time)
{
    void *late = &late;
    rig r;
    gbees_error error;

    rig_create(&r, 2, 64, 64);
    ck_assert_int_eq(grid_reserve(&r.g, 1, &error), 0);
    ck_assert_int_eq(grid_register(&r.g, &late, 8, 0, &error), GBEES_EUSAGE);
    ck_assert_ptr_nonnull(strstr(error.text, "too late"));
    ck_assert_ptr_eq(late, (void *)&late);
    rig_destroy(&r);
    rig_create(&r, 2, 64, 64);
    ck_assert_int_eq(grid_register(&r.g, &late, GRID_ROW + 1, 0, &error), GBEES_EUSAGE);
    ck_assert_ptr_nonnull(strstr(error.text, "too long"));
    rig_destroy(&r);
}
END_TEST

/* Capacity that was reserved suffices: no insertion moves an array. */
START_TEST(no_insertion_moves_reserved_arrays)
{
    rig r;
    gbees_error error;

    rig_create(&r, 2, 1, 0);
    ck_assert_int_eq(grid_reserve(&r.g, 5000, &error), 0);
    const row *kept = r.kept;
    const uint64_t table = r.g.table_size;
    for (int32_t k = 0; k < 5000; k++)
        insert(&r, (int32_t[8]){k / 70, k % 70});
    ck_assert_ptr_eq(r.kept, kept);
    ck_assert_uint_eq(r.g.table_size, table);
    agree(&r, 0);
    rig_destroy(&r);
}
END_TEST

/* A field goes on in rows of its own making, with the slots that it has. */
START_TEST(rows_are_replaced)
{
    rig r;
    gbees_error error;
    static const row empty;

    rig_create(&r, 2, 64, 0);
    for (int32_t k = 0; k < 3000; k++)
        insert(&r, (int32_t[8]){k / 70, k % 70});
    row *rows = grid_rows_create(&r.g, (void **)&r.kept, &error);
    ck_assert_ptr_nonnull(rows);
    ck_assert_mem_eq(rows, &empty, sizeof empty);
    ck_assert_uint_ge(r.g.peak_bytes, r.g.count * (r.g.slot_bytes + sizeof *rows));
    memcpy(rows + 1, r.kept + 1, (r.g.capacity - 1) * sizeof *rows);
    grid_rows_replace(&r.g, (void **)&r.kept, rows);
    ck_assert_ptr_eq(r.kept, rows);
    agree(&r, 0);
    for (int32_t k = 3000; k < 6000; k++) /* the heap grows */
        insert(&r, (int32_t[8]){k / 70, k % 70});
    agree(&r, 0);
    prune(&r, 50);
    agree(&r, 1);
    rig_destroy(&r);
}
END_TEST

/* Links made together are those that are made one after the other: by several threads, in any order of keys. */
START_TEST(bricks_are_linked_together)
{
    enum { EDGE = 30 };
    rig r;
    gbees_error error;
    char text[200] = "";

    rig_create(&r, 3, 64, 0);
    r.g.threads = 3;
    ck_assert_int_eq(grid_reserve(&r.g, EDGE * EDGE * EDGE, &error), 0);
    for (uint32_t i = 0; i < EDGE * EDGE * EDGE; i++) {
        uint32_t k = i * 7919u % (EDGE * EDGE * EDGE);
        const int32_t key[8] = {(int32_t)(k % EDGE) - 9, (int32_t)(k / EDGE % EDGE), (int32_t)(k / EDGE / EDGE)};
        const uint64_t hash = grid_hash(&r.g, key);

        ck_assert_uint_eq(grid_find_hashed(&r.g, key, hash), 0);
        uint32_t slot = grid_add(&r.g, key, hash);
        ck_assert_uint_eq(grid_find_hashed(&r.g, key, hash), slot);
        if (i == 999)
            grid_link(&r.g, 0);
    }
    ck_assert_int_ne(grid_check(&r.g, text, sizeof text), 0);
    grid_link(&r.g, 1000);
    ck_assert_msg(grid_check(&r.g, text, sizeof text) == 0, "%s", text);
    rig_destroy(&r);
}
END_TEST

/* From nothing to 2e5 bricks, with threads where there are many. */
START_TEST(grows_to_many_bricks)
{
    enum { EDGE = 59 }; /* cubed: 205379 */
    rig r;
    gbees_error error;
    char text[200] = "";
    uint32_t made = 0;

    rig_create(&r, 3, 64, 32);
    r.g.threads = 3;
    for (uint32_t i = 0; i < EDGE * EDGE * EDGE; i++) {
        uint32_t k = (uint32_t)((uint64_t)i * 104729u % (EDGE * EDGE * EDGE)); /* every one, in disorder */
        const int32_t key[8] = {(int32_t)(k % EDGE) - 30, (int32_t)(k / EDGE % EDGE), (int32_t)(k / EDGE / EDGE)};

        ck_assert_int_eq(grid_reserve(&r.g, 1, &error), 0);
        write_fields(&r, grid_insert(&r.g, key), key);
    }
    ck_assert_uint_eq(r.g.count, EDGE * EDGE * EDGE);
    ck_assert_msg(grid_check(&r.g, text, sizeof text) == 0, "%s", text);
    ck_assert(r.g.peak_bytes > 0 && r.g.peak_bytes <= grid_bytes(&r.g));
    unsigned char *keep = malloc(r.g.count);
    ck_assert_ptr_nonnull(keep);
    for (uint32_t k = 0; k < r.g.count; k++)
        made += keep[k] = grid_key(&r.g, r.g.used[k])[0] % 3 != 0;
    ck_assert_int_eq(grid_compact(&r.g, keep, &error), 0);
    free(keep);
    ck_assert_uint_eq(r.g.count, made);
    ck_assert_msg(grid_check(&r.g, text, sizeof text) == 0, "%s", text);
    for (uint32_t k = 0; k < r.g.count; k++) {
        const int32_t *key = grid_key(&r.g, k + 1);

        ck_assert(key[0] % 3 != 0 && r.kept[k + 1].word[0] == mixed(key, 3));
        ck_assert(k == 0 || compare(grid_key(&r.g, k), key, &r.n) < 0);
    }
    rig_destroy(&r);
}
END_TEST

/* ---- grid_check sees what is wrong ---- */

static void complains(const rig *r, const char *about)
{
    char text[200] = "";

    ck_assert_int_ne(grid_check(&r->g, text, sizeof text), 0);
    ck_assert_msg(strstr(text, about) != NULL, "\"%s\" does not say \"%s\"", text, about);
}

START_TEST(check_finds_what_is_wrong)
{
    rig r;

    rig_create(&r, 2, 64, 64);
    for (int32_t k = 0; k < 300; k++)
        insert(&r, (int32_t[8]){k / 20, k % 20});
    agree(&r, 0);
    grid *g = &r.g;

    g->neighbor[3][g->used[50]] ^= 1;
    complains(&r, "wrong neighbour in direction 3");
    g->neighbor[3][g->used[50]] ^= 1;

    uint32_t saved = g->used[7];
    g->used[7] = g->used[8];
    complains(&r, "listed twice");
    g->used[7] = 0;
    complains(&r, "out of range");
    g->used[7] = saved;

    saved = g->free[0];
    g->free[0] = g->used[7];
    complains(&r, "free slot");
    g->free[0] = saved;

    g->free_count--;
    complains(&r, "is not capacity");
    g->free_count++;

    g->key[2 * g->used[60]] += 1000;
    complains(&r, "slot");
    g->key[2 * g->used[60]] -= 1000;

    uint64_t at = 0;
    while (g->table[at])
        at++;
    g->table[at] = g->used[0];
    complains(&r, "the table has 301 entries for 300 bricks");
    g->table[at] = 0;

    for (at = 0; g->table[at] != g->used[0];)
        at++;
    g->table[at] = 0;
    complains(&r, "not found under its key");
    g->table[at] = g->used[0];
    agree(&r, 0);
    rig_destroy(&r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("grid");
    TCase *grids = tcase_create("grid");

    tcase_set_timeout(grids, 60);
    tcase_add_loop_test(grids, random_insertions_and_prunes, 0, 4);
    tcase_add_test(grids, keys_far_out_and_negative);
    tcase_add_test(grids, an_empty_grid_has_no_bricks);
    tcase_add_test(grids, fields_are_registered_in_time);
    tcase_add_test(grids, no_insertion_moves_reserved_arrays);
    tcase_add_test(grids, rows_are_replaced);
    tcase_add_test(grids, bricks_are_linked_together);
    tcase_add_test(grids, grows_to_many_bricks);
    tcase_add_test(grids, check_finds_what_is_wrong);
    suite_add_tcase(suite, grids);
    return run_suite(suite);
}
