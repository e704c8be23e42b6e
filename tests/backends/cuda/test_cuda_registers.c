/* test_cuda_registers.c - no kernel of a shipped model keeps registers in memory, whatever a scenario asks for: in
 * six dimensions, for the GPU that speeds were measured on. Where targets absorb, lines that they cut are arrays. */
#include "cuda/compile/build.h"
#include "cuda/compile/spec.h"
#include "cuda_fixture.h"

static cuda_api api;

static void start_test(void)
{
    char plugins[LENGTH];

    setup();
    ck_assert_msg(cuda_api_open(&api, CUDA_COMPILER, &error) == GBEES_OK, "%s", error.text);
    print(plugins, sizeof plugins, "%s/plugins/.libs", environment("GBEES_TOP_BUILD", "."));
    ck_assert_int_eq(gbees_registry_create(plugins, &registry, &error), GBEES_OK);
}

static void end_test(void)
{
    cuda_api_close(&api);
    teardown();
}

/* Options of a scenario, beside the scheme. */
enum { BOUND = 1, TURNED = 2, DOUBLE = 4, WIDE = 8, TIME_DEPENDENT = 16, UPDATES = 32, ABSORBS = 128 };

/* Of a simple model, and of those with the most code: the first run waits for the steps' program, and the compiler's
 * time grows with the size of its code. */
enum { QUICK = 64, MOST_BYTES = 90000 };

/* The programs that these options change. */
enum {
    STEPS = 1 << PROGRAM_STEPS,
    GRID = 1 << PROGRAM_GRID,
    UPDATE_KERNELS = 1 << PROGRAM_UPDATES | 1 << PROGRAM_LIKELIHOODS,
    ADVECTION = 1 << PROGRAM_ADVECT | 1 << PROGRAM_MARKS,
    ADVECT_ALL = 1 << PROGRAM_ADVECT_ALL,
    PRUNES = 1 << PROGRAM_PRUNES,
    INTEGRATION = 1 << PROGRAM_INTEGRATE | 1 << PROGRAM_FOLLOW /* a run does without: no program that it wants */
};

static const struct {
    const char *model;
    gbees_scheme scheme;
    int options, programs;
} asked[] = {
    /* These guard every change. */
    {"lorenz96", GBEES_SCHEME_SPLIT5, QUICK, STEPS | GRID | PRUNES | ADVECTION | ADVECT_ALL | INTEGRATION},
    {"lorenz96", GBEES_SCHEME_CTU, 0, STEPS},
    {"cr3bp", GBEES_SCHEME_SPLIT5, QUICK | BOUND | WIDE, STEPS | ADVECT_ALL},
    {"linear", GBEES_SCHEME_SPLIT5, UPDATES, UPDATE_KERNELS},
    {"cr3bp", GBEES_SCHEME_SPLIT5, ABSORBS, STEPS | GRID | PRUNES | ADVECT_ALL},
    /* These are like them. */
    {"lorenz96", GBEES_SCHEME_CTU, 0, ADVECTION | ADVECT_ALL},
    {"lorenz96", GBEES_SCHEME_SPLIT5, TIME_DEPENDENT, STEPS | ADVECT_ALL},
    {"linear", GBEES_SCHEME_SPLIT5, UPDATES, STEPS},
    {"lorenz96", GBEES_SCHEME_SPLIT7, 0, STEPS | ADVECTION | ADVECT_ALL},
    {"cr3bp", GBEES_SCHEME_SPLIT5, BOUND | UPDATES, STEPS | GRID | PRUNES | UPDATE_KERNELS | ADVECTION | ADVECT_ALL},
    {"lorenz96", GBEES_SCHEME_SPLIT5, DOUBLE, STEPS | GRID | PRUNES | ADVECTION | ADVECT_ALL},
    {"lorenz96", GBEES_SCHEME_SPLIT5_MP, 0, STEPS | ADVECTION | ADVECT_ALL},
    {"lorenz96", GBEES_SCHEME_CTU, 0, STEPS | ADVECTION | ADVECT_ALL},
    {"lorenz96", GBEES_SCHEME_CTU, DOUBLE, STEPS | ADVECTION | ADVECT_ALL},
    {"lorenz96", GBEES_SCHEME_SPLIT5, TURNED, STEPS | GRID | PRUNES | ADVECTION | ADVECT_ALL},
    {"lorenz96", GBEES_SCHEME_CTU, TURNED, ADVECTION},
    {"cr3bp", GBEES_SCHEME_SPLIT5, QUICK, STEPS | ADVECTION | ADVECT_ALL | INTEGRATION},
    {"cr3bp", GBEES_SCHEME_SPLIT5, BOUND | WIDE, GRID | PRUNES | ADVECTION},
    {"cr3bp", GBEES_SCHEME_CTU, BOUND | WIDE, STEPS | ADVECTION | ADVECT_ALL},
    {"linear", GBEES_SCHEME_CTU, 0, STEPS | INTEGRATION},
    {"linear", GBEES_SCHEME_SPLIT5, TURNED, GRID | PRUNES},
};
enum { ASKED = sizeof asked / sizeof *asked, USUAL = 5 };

static gbees_measurement measurements[] = {
    {.size = 1, .missing = 1, .likelihood = GBEES_LIKELIHOOD_STUDENT},
};

/* All that is compiled for; the sizes do not matter. `time_dependent`: the model again, but with a drift in time. */
static gbees_problem problem_of(int k, gbees_model *time_dependent)
{
    const int options = asked[k].options;
    const gbees_model *model = NULL;

    ck_assert_int_eq(gbees_registry_model(registry, asked[k].model, &model, &error), GBEES_OK);
    *time_dependent = *model;
    time_dependent->flags |= GBEES_TIME_DEPENDENT;
    gbees_problem problem = {
        .model = options & TIME_DEPENDENT ? time_dependent : model,
        .dimension = 6,
        .bounded = (options & BOUND) != 0,
        .rotated = (options & TURNED) != 0,
        .measurement_count = options & UPDATES ? 1 : 0,
        .measurements = measurements,
        .target_count = options & ABSORBS ? 1 : 0,
        .targets = {{0, GBEES_TARGET_ABSORB}},
        .numerics = {.scheme = asked[k].scheme, .precision = options & DOUBLE ? GBEES_DOUBLE : GBEES_MIXED}};

    problem.mean[0] = options & WIDE ? 1 : 0; /* the width is none */
    return problem;
}

static void check(const program *p, int k, int part)
{
    int lines = 0;

    for (const char *line = p->report; *line; line = strchr(line, '\n') + 1, lines++) {
        int registers, stack = -1, spilled = -1, reloaded = -1;

        ck_assert_int_eq(sscanf(line, "%*[^:]: %d registers, %d bytes of stack, %d spilled, %d reloaded", &registers,
                                &stack, &spilled, &reloaded),
                         4);
        ck_assert_msg((stack == 0 || asked[k].options & ABSORBS) && spilled == 0 && reloaded == 0,
                      "%s, scheme %d, options %d, part %d: %.*s", asked[k].model, (int)asked[k].scheme,
                      asked[k].options, part + 1, (int)strcspn(line, "\n"), line);
    }
    ck_assert_int_gt(lines, 0);
    if (part == PROGRAM_STEPS && asked[k].options & QUICK) {
        ck_assert_uint_lt(p->image_size, MOST_BYTES);
        ck_assert_int_eq(lines, 1); /* one kernel, and nothing else */
    }
}

START_TEST(no_kernel_keeps_registers_in_memory)
{
    gbees_model time_dependent;
    const gbees_problem problem = problem_of(_i, &time_dependent);

    for (int part = 0; part < PROGRAMS; part++) {
        program_spec spec;
        program p = {0};

        if (!(asked[_i].programs >> part & 1))
            continue;
        ck_assert(program_has_samples(part) || program_is_wanted(&problem, part));
        cuda_spec_set(&spec, &problem, "sm_90", part, 0);
        ck_assert_msg(program_build(&api, &spec, &p, &error) == GBEES_OK, "%s", error.text);
        check(&p, _i, part);
        program_destroy(NULL, &p);
    }
}
END_TEST

static program_shape built(const program_spec *spec, int from_cache)
{
    program p = {0};

    ck_assert_int_eq(from_cache ? program_find(&api, spec, &p, &error) : program_build(&api, spec, &p, &error),
                     GBEES_OK);
    ck_assert_ptr_nonnull(p.image);
    ck_assert_int_eq(p.from_cache, from_cache);
    const program_shape shape = p.shape;
    program_destroy(NULL, &p);
    return shape;
}

/* A program keeps its spec's shape unless it spills; the cache finds the shape that it was compiled with. */
START_TEST(a_shape_is_the_first_that_suffices)
{
    gbees_model time_dependent;
    gbees_problem problem = problem_of(0, &time_dependent);
    program_spec spec;

    (void)setenv("GBEES_CACHE", "on", 1);
    (void)setenv("XDG_CACHE_HOME", top, 1);
    for (int heavy = 0; heavy < 2; heavy++) {
        problem.bounded = heavy;
        problem.mean[0] = heavy; /* positions in double */
        problem.model = found(heavy ? "cr3bp" : "lorenz96");
        cuda_spec_set(&spec, &problem, "sm_90", PROGRAM_MARKS, 0);
        spec.shape = (program_shape){8, 4, 0};
        for (int from_cache = 0; from_cache < 2; from_cache++) {
            const program_shape shape = built(&spec, from_cache);

            const int threads = shape.warps * shape.blocks, asked_for = spec.shape.warps * spec.shape.blocks;

            ck_assert_int_eq(shape.low_registers, heavy);
            ck_assert_int_eq(threads < asked_for, heavy);
        }
    }
}
END_TEST

int main(void)
{
    if (!can_compile())
        return 77;
    (void)setenv("GBEES_CACHE", "off", 1);
    Suite *suite = suite_create("cuda_registers");
    TCase *tests = tcase_create("all");

    tcase_set_timeout(tests, 300);
    tcase_add_checked_fixture(tests, start_test, end_test);
    tcase_add_loop_test(tests, no_kernel_keeps_registers_in_memory, 0, USUAL);
    tcase_add_test(tests, a_shape_is_the_first_that_suffices);
    suite_add_tcase(suite, tests);
    tests = add_long_case(suite, "more", 300);
    tcase_add_checked_fixture(tests, start_test, end_test);
    tcase_add_loop_test(tests, no_kernel_keeps_registers_in_memory, USUAL, ASKED);
    return run_suite(suite);
}
