/* test_moving_remap.c - a backend's own remap() beside the solver's: the same cells in the same order with the same
 * bits, for any number of blocks, with diffusion, too; and what a backend can't do is left to the solver. */
#include "fixtures/backends.h"
#include "fixtures/suite.h"
#include "fixtures/world.h"
#include "frame/remap.h"
#include "record/cells.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double fraction = 1e-3;

static const struct model_case {
    const char *name;
    int n;
} models[] = {{"lorenz63", 3}, {"noise", 2}};

/* An engine with the initial density of a grid that moves. */
typedef struct rig {
    world w;
    gbees_engine *engine;
    gbees_moving_frame from;
} rig;

static void open_rig(rig *r, const struct model_case *model)
{
    const setting_list settings = {"frame=moving",   "accuracy=0",
                                   "threshold=1e-4", "factor=0.8",
                                   "scheme=split5",  model->n == 3 ? "precision=mixed" : "precision=double",
                                   "measurements=[]"};
    const gbees_engine_options options = {.threads = 1};
    const scenario_source source = {.settings = settings};

    *r = (rig){.from = {.n = model->n}};
    ck_assert_msg(world_open(&r->w, open_registry(), model->name, "shim") == 0, "%s", r->w.error.text);
    ck_assert_msg(world_make(&r->w, &source) == 0, "%s", r->w.error.text);
    ck_assert_msg(r->w.backend->create(r->w.problem, &options, &r->engine, &r->w.error) == 0, "%s", r->w.error.text);
    memcpy(r->from.m, r->w.problem->centre, sizeof r->from.m);
    memcpy(r->from.a, r->w.problem->rotation, sizeof r->from.a);
}

static void close_rig(rig *r)
{
    r->w.backend->destroy(r->engine);
    world_close(&r->w);
}

/* Cells that are turned about every axis, and stretched; some edges point the other way. */
static gbees_moving_frame other_frame(const gbees_moving_frame *from, double stretch)
{
    const int n = from->n;
    gbees_moving_frame to = *from;

    for (int k = 0; k < n; k++) {
        const int next = (k + 1) % n;

        for (int i = 0; i < n; i++) {
            const double a = to.a[i * n + k], b = to.a[i * n + next];

            to.a[i * n + k] = (k == 1 ? -1 : 1) * stretch * (cos(0.4) * a + sin(0.4) * b);
            to.a[i * n + next] = cos(0.4) * b - sin(0.4) * a;
        }
        to.m[k] += 0.3 * from->a[k * n + k];
    }
    return to;
}

/* The solver's list. */
static gbees_initial_cells expected(rig *r, const gbees_moving_frame *to, const gbees_remap_options *options)
{
    gbees_initial_cells list = {0};
    gbees_cells *cells = NULL;
    double dropped = 0;

    ck_assert_int_eq(
        gbees_cells_collect(r->w.backend, r->engine, fraction, r->from.n, 0, "a test", &cells, &r->w.error), 0);
    ck_assert_int_eq(gbees_cells_finish(cells, 1, &r->w.error), 0);
    ck_assert_int_eq(gbees_cells_list_by(cells, 1, &list, &r->w.error), 0);
    gbees_cells_destroy(cells);
    ck_assert_msg(gbees_remap(&list, &r->from, to, options, &dropped, &r->w.error) == 0, "%s", r->w.error.text);
    return list;
}

/* The backend's list; *done as gbees_backend.remap() sets it. */
static gbees_initial_cells found(rig *r, const gbees_moving_frame *to, const gbees_remap_options *options, int *done)
{
    gbees_initial_cells list = {0};
    gbees_remap_plan plan;

    ck_assert_int_eq(gbees_remap_plan_find(&r->from, to, options, &plan, &r->w.error), 0);
    ck_assert_msg(r->w.backend->remap(r->engine, &plan, fraction, &list, done, &r->w.error) == 0, "%s",
                  r->w.error.text);
    return list;
}

static void compare(const gbees_initial_cells *a, const gbees_initial_cells *b, int n)
{
    ck_assert_uint_gt(a->count, 100);
    ck_assert_uint_eq(a->count, b->count);
    ck_assert_mem_eq(a->p, b->p, a->count * sizeof *a->p);
    for (int j = 0; j < n; j++)
        ck_assert_mem_eq(a->index[j], b->index[j], a->count * sizeof *a->index[j]);
}

START_TEST(lists_are_the_solvers)
{
    static const char *const blocks[] = {"1", "3", "7"};
    static const double spread[] = {0.7, 1.4, 0};
    rig r;

    if (!is_built("shim"))
        return;
    (void)setenv("SHIM_BLOCKS", blocks[_i % 3], 1);
    open_rig(&r, &models[_i / 3]);
    for (int k = 0; k < 4; k++) {
        const gbees_moving_frame to = k == 3 ? r.from : other_frame(&r.from, k == 2 ? 0.4 : 1.1);
        const gbees_remap_options options = {.least = 1e-6, .threads = 1, .spread = k % 2 ? spread : NULL};
        int done = 0;
        gbees_initial_cells own = expected(&r, &to, &options), theirs = found(&r, &to, &options, &done);

        ck_assert_int_eq(done, 1);
        compare(&own, &theirs, r.from.n);
        gbees_initial_cells_clear(&own);
        gbees_initial_cells_clear(&theirs);
    }
    close_rig(&r);
}
END_TEST

/* Frames that differ too much: the solver says so. */
START_TEST(what_is_left_to_the_solver)
{
    const gbees_remap_options options = {.least = 0, .threads = 1};
    gbees_initial_cells none;
    gbees_moving_frame to;
    int done = 1;
    rig r;

    if (!is_built("shim"))
        return;
    open_rig(&r, &models[0]);
    to = r.from;
    for (int k = 0; k < 9; k++)
        to.a[k] *= 1e-6;
    none = found(&r, &to, &options, &done);
    ck_assert_int_eq(done, 0);
    ck_assert_uint_eq(none.count, 0);
    ck_assert_ptr_null(none.p);
    close_rig(&r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("moving_remap");
    TCase *tests = tcase_create("all");

    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, lists_are_the_solvers, 0, 6);
    tcase_add_test(tests, what_is_left_to_the_solver);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
