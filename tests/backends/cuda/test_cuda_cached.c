/* test_cuda_cached.c - what the cache of kernels is for: programs that need not be compiled again, and a compiler
 * that need not be opened. */
#include "cuda/compile/compiler_note.h"
#include "cuda/compile/toolchain.h"
#include "cuda_fixture.h"

static void start_test(void)
{
    setup();
    (void)setenv("XDG_CACHE_HOME", top, 1);
    (void)unsetenv("GBEES_CACHE");
}

/* ---- programs ---- */

static const char text[] =
    "static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])\n{ dxdt[0] = x[0]; }\n";
static const char text2[] =
    "static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])\n{ dxdt[0] = x[1]; }\n";

/* Whether the program came from the cache. */
static int built(cuda_api *api, const program_spec *spec)
{
    program p = {0};

    ck_assert_msg(program_build(api, spec, &p, &error) == GBEES_OK, "%s", error.text);
    int from_cache = p.from_cache;
    ck_assert_ptr_nonnull(p.image);
    ck_assert_ptr_nonnull(p.report);
    program_destroy(NULL, &p);
    return from_cache;
}

/* Each change makes a program of its own; each of them is found again. */
START_TEST(all_that_a_program_depends_on)
{
    enum { CHANGES = 10 };
    const gbees_model model = model_of("mine.c", text), model2 = model_of("mine.c", text2);
    cuda_api api = {0};
    program_spec specs[CHANGES];

    ck_assert_int_eq(cuda_api_open(&api, CUDA_COMPILER | CUDA_LINKER, &error), GBEES_OK);
    for (int i = 0; i < CHANGES; i++) {
        specs[i] = spec_of(&model, 2, "sm_90", 0);
        specs[i].defines[7] = "A=1";
        specs[i].defines[8] = "B=1";
        specs[i].define_count = 8;
    }
    specs[1].model = &model2;
    specs[2].dimension = 3;
    specs[3].define_count = 9;
    specs[4].defines[7] = "A=2";
    print(specs[5].arch, sizeof specs[5].arch, "sm_80");
    specs[6].no_contraction = 1;
    specs[7].separate = 1;
    specs[9].shape = (program_shape){8, 2, 1};
    print(specs[8].arch, sizeof specs[8].arch, "sm_999"); /* PTX */
    for (int i = 0; i < CHANGES; i++)
        ck_assert_msg(!built(&api, &specs[i]), "%d was in the cache", i);
    for (int i = 0; i < CHANGES; i++)
        ck_assert_msg(built(&api, &specs[i]), "%d was not in the cache", i);
    api.compiler_minor += 1;
    ck_assert_int_eq(built(&api, &specs[0]), 0);
    ck_assert_int_eq(built(&api, &specs[0]), 1);
    api.linker_minor += 1;
    ck_assert_int_eq(built(&api, &specs[0]), 1); /* no linker had a part in it */
    ck_assert_int_eq(built(&api, &specs[7]), 0);
    (void)setenv("GBEES_CACHE", "off", 1);
    ck_assert_int_eq(built(&api, &specs[0]), 0);
    cuda_api_close(&api);
}
END_TEST

START_TEST(a_cache_full_of_garbage)
{
    const gbees_model model = model_of("mine.c", text);
    program_spec spec = spec_of(&model, 2, "sm_90", 0);
    cuda_api api = {0};
    program fresh = {0}, again = {0};

    ck_assert_int_eq(cuda_api_open(&api, CUDA_COMPILER, &error), GBEES_OK);
    ck_assert_int_eq(program_build(&api, &spec, &fresh, &error), GBEES_OK);
    run("for f in \"$XDG_CACHE_HOME\"/gbees/*; do head -c 5000 /dev/zero > \"$f\"; done");
    ck_assert_int_eq(program_build(&api, &spec, &again, &error), GBEES_OK);
    ck_assert_int_eq(again.from_cache, 0);
    program_destroy(NULL, &again);
    ck_assert_int_eq(program_build(&api, &spec, &again, &error), GBEES_OK);
    ck_assert_int_eq(again.from_cache, 1);
    ck_assert_uint_eq(again.image_size, fresh.image_size);
    ck_assert_mem_eq(again.image, fresh.image, fresh.image_size);
    ck_assert_str_eq(again.report, fresh.report);
    program_destroy(NULL, &again);
    program_destroy(NULL, &fresh);
    cuda_api_close(&api);
}
END_TEST

/* ---- what is known of the compiler ---- */

/* Whether the compiler had to be opened to know of it. */
static int opens_compiler(cuda_api *api)
{
    ck_assert_msg(toolchain_open(api, 0, &error) == GBEES_OK, "%s", error.text);
    ck_assert_int_gt(api->architecture_count, 0);
    ck_assert_int_eq(api->compiler != NULL, api->nvrtcVersion != NULL);
    return api->compiler != NULL;
}

START_TEST(a_compiler_that_is_known_stays_closed)
{
    const gbees_model model = model_of("mine.c", text), model2 = model_of("mine.c", text2);
    program_spec spec = spec_of(&model, 2, "sm_90", 0), other = spec_of(&model2, 2, "sm_90", 0);
    cuda_api open = {0}, known = {0};
    program p = {0};

    ck_assert_int_eq(opens_compiler(&open), 1);
    ck_assert_int_eq(built(&open, &spec), 0);
    compiler_note_write(&open);
    ck_assert_int_eq(opens_compiler(&known), 0);
    ck_assert_int_eq(known.compiler_major, open.compiler_major);
    ck_assert_int_eq(known.compiler_minor, open.compiler_minor);
    ck_assert_int_eq(known.architecture_count, open.architecture_count);
    ck_assert_mem_eq(known.architectures, open.architectures, sizeof open.architectures);
    ck_assert_int_eq(built(&known, &spec), 1);
    ck_assert_int_eq(program_find(&known, &other, &p, &error), GBEES_OK);
    ck_assert_ptr_null(p.image);
    ck_assert_int_eq(cuda_api_open_compiler(&known, &error), GBEES_OK);
    ck_assert_int_eq(built(&known, &other), 0);
    cuda_api_close(&known);
    cuda_api_close(&open);
}
END_TEST

/* Another way of looking for it, another driver, no cache: it is opened. */
START_TEST(a_note_holds_for_one_compiler)
{
    cuda_api api = {0};
    char link[LENGTH];
    Dl_info info;
    void *symbol;

    (void)unsetenv("CUDA_PATH");
    ck_assert_int_eq(opens_compiler(&api), 1);
    memcpy(&symbol, &api.nvrtcVersion, sizeof symbol);
    ck_assert(dladdr(symbol, &info));
    print(link, sizeof link, "%s/libnvrtc.so", top); /* where GBEES_CUDA_LIBRARY_PATH will say */
    ck_assert_int_eq(symlink(info.dli_fname, link), 0);
    compiler_note_write(&api);
    cuda_api_close(&api);
    ck_assert_int_eq(opens_compiler(&api), 0);
    (void)setenv("GBEES_CACHE", "off", 1);
    ck_assert_int_eq(opens_compiler(&api), 1);
    cuda_api_close(&api);
    (void)unsetenv("GBEES_CACHE");
    (void)setenv("CUDA_PATH", top, 1);
    ck_assert_int_eq(opens_compiler(&api), 1);
    cuda_api_close(&api);
    (void)setenv("GBEES_CUDA_LIBRARY_PATH", top, 1);
    ck_assert_int_eq(opens_compiler(&api), 1);
    cuda_api_close(&api);
    (void)unsetenv("GBEES_CUDA_LIBRARY_PATH");
    (void)unsetenv("CUDA_PATH");
    ck_assert_int_eq(opens_compiler(&api), 0);
    api.driver_version = 12040;
    ck_assert_int_eq(compiler_note_read(&api), 0);
    api.driver_version = 0;
    ck_assert_int_eq(compiler_note_read(&api), 1);
    cuda_api_close(&api);
}
END_TEST

/* Changed, or gone.  The file is one of ours, and the "compiler" any function of it. */
START_TEST(a_note_of_another_file)
{
    cuda_api api = {.compiler_major = 13, .compiler_minor = 7, .architectures = {80, 90}, .architecture_count = 2};
    cuda_api known = {0};
    char path[LENGTH];

    copy("tests", "fake_driver", "libnvrtc.so");
    print(path, sizeof path, "%s/libnvrtc.so", top);
    (void)setenv("TMP_LIBRARY", path, 1);
    void *library = dlopen(path, RTLD_NOW);
    ck_assert_ptr_nonnull(library);
    void *symbol = dlsym(library, "cuInit");
    memcpy(&api.nvrtcVersion, &symbol, sizeof symbol);
    compiler_note_write(&api);
    ck_assert_int_eq(compiler_note_read(&known), 1);
    ck_assert_int_eq(known.compiler_major, 13);
    ck_assert_int_eq(known.compiler_minor, 7);
    ck_assert_int_eq(known.architecture_count, 2);
    ck_assert_int_eq(known.architectures[1], 90);
    run("sleep 0.05; touch \"$TMP_LIBRARY\"");
    ck_assert_int_eq(compiler_note_read(&known), 0);
    compiler_note_write(&api);
    ck_assert_int_eq(compiler_note_read(&known), 1);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(compiler_note_read(&known), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuda_cached");
    TCase *tests = tcase_create("all");

    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, start_test, teardown);
    tcase_add_test(tests, a_note_of_another_file);
    if (can_compile()) {
        tcase_add_test(tests, all_that_a_program_depends_on);
        tcase_add_test(tests, a_cache_full_of_garbage);
        tcase_add_test(tests, a_compiler_that_is_known_stays_closed);
        tcase_add_test(tests, a_note_holds_for_one_compiler);
    }
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
