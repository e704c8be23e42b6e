/* test_cuda_api.c - each reason for not using a GPU has its own sentence: with a driver that is faked, and with the
 * libraries of CUDA found in the test's own folder only. */
#include "cuda/compile/offline.h"
#include "cuda/driver/arch.h"
#include "cuda_fixture.h"
#include <sys/stat.h>

static char nvrtc[LENGTH], nvjitlink[LENGTH]; /* files; "" if they are not there */
static int compiler_major;

static void path_of(void *symbol, char *path)
{
    Dl_info info;

    ck_assert(dladdr(symbol, &info));
    char *real = realpath(info.dli_fname, NULL);
    ck_assert_ptr_nonnull(real);
    print(path, LENGTH, "%s", real);
    free(real);
}

static void find_libraries(void)
{
    cuda_api api = {0};

    (void)unsetenv("GBEES_CUDA_LIBRARY_PATH");
    if (cuda_api_open(&api, CUDA_COMPILER | CUDA_LINKER, NULL))
        return;
    void *symbol;
    memcpy(&symbol, &api.nvrtcVersion, sizeof symbol);
    path_of(symbol, nvrtc);
    memcpy(&symbol, &api.nvJitLinkVersion, sizeof symbol);
    path_of(symbol, nvjitlink);
    compiler_major = api.compiler_major;
    cuda_api_close(&api);
}

static void start_test(void)
{
    setup();
    find_libraries();
    (void)setenv("GBEES_CUDA_LIBRARY_PATH", top, 1);
    (void)setenv("FAKE_CUDA_VERSION", "99000", 1);
}

static void add_driver(const char *module)
{
    copy("tests", module, "libcuda.so.1");
}

static void add_library(const char *file, const char *name)
{
    char path[LENGTH];

    print(path, sizeof path, "%s/%s", top, name);
    ck_assert_int_eq(symlink(file, path), 0);
}

static void declined(unsigned what, const char *text)
{
    cuda_api api = {0};

    ck_assert_int_eq(cuda_api_open(&api, what, &error), GBEES_EBACKEND);
    ck_assert_msg(strstr(error.text, text) != NULL, "'%s' is not in '%s'", text, error.text);
    ck_assert_ptr_null(strchr(error.text, '\n'));
    ck_assert_ptr_null(api.driver);
    ck_assert_ptr_null(api.compiler);
}

START_TEST(no_driver)
{
    char text[LENGTH];

    print(text, sizeof text, "the NVIDIA driver is not installed: libcuda.so.1 was not found in %s", top);
    declined(CUDA_DRIVER, text);
}
END_TEST

START_TEST(a_driver_that_is_no_library)
{
    write_text("libcuda.so.1", "not a library");
    declined(CUDA_DRIVER, "libcuda.so.1: "); /* and what dlerror() says of it */
}
END_TEST

START_TEST(a_driver_that_lacks_functions)
{
    add_driver("fake_backend");
    declined(CUDA_DRIVER, "the NVIDIA driver is too old, or incomplete: libcuda.so.1 has no cuInit");
}
END_TEST

START_TEST(a_driver_that_is_too_old)
{
    add_driver("fake_driver");
    (void)setenv("FAKE_CUDA_VERSION", "11040", 1);
    declined(CUDA_DRIVER, "the NVIDIA driver is too old: it is for CUDA 11.4, and 12.0 is needed: update it");
}
END_TEST

START_TEST(no_device)
{
    add_driver("fake_driver");
    (void)setenv("FAKE_CUDA_DEVICES", "0", 1);
    declined(CUDA_DRIVER, "no GPU was found: the NVIDIA driver is there, but sees no device");
    (void)setenv("FAKE_CUDA_DEVICES", "1", 1);
    (void)setenv("FAKE_CUDA_INIT", "100", 1); /* CUDA_ERROR_NO_DEVICE: what a driver says without a device file */
    declined(CUDA_DRIVER, "no GPU was found");
}
END_TEST

START_TEST(a_driver_that_does_not_start)
{
    add_driver("fake_driver");
    (void)setenv("FAKE_CUDA_INIT", "803", 1);
    declined(CUDA_DRIVER, "the NVIDIA driver can't be used: the GPU failed while initialising it: "
                          "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (system has unsupported");
    (void)setenv("FAKE_CUDA_INIT", "12345", 1);
    declined(CUDA_DRIVER, "an unknown error (the driver has no text for it)");
}
END_TEST

START_TEST(a_driver)
{
    cuda_api api = {0};

    add_driver("fake_driver");
    (void)setenv("FAKE_CUDA_VERSION", "12040", 1);
    ck_assert_msg(cuda_api_open(&api, CUDA_DRIVER, &error) == GBEES_OK, "%s", error.text);
    ck_assert_int_eq(api.driver_version, 12040);
    ck_assert(api.cuMemAlloc && api.cuLaunchKernelEx && api.cuEventElapsedTime);
    ck_assert(!api.nvrtcVersion && !api.nvJitLinkVersion);
    ck_assert_int_eq(cuda_check(&api, CUDA_SUCCESS, "nothing was done", &error), GBEES_OK);
    ck_assert_int_eq(cuda_check(&api, CUDA_ERROR_OUT_OF_MEMORY, "bricks were made", &error), GBEES_ENOMEM);
    ck_assert_str_eq(error.text, "the GPU failed while bricks were made: CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
    cuda_api_close(&api);
    ck_assert(!api.driver && !api.cuMemAlloc);
    cuda_api_close(&api);
}
END_TEST

START_TEST(what_the_driver_refuses)
{
    cuda_api api = {0};
    program p = {.image = calloc(1, 64), .image_size = 64};
    CUfunction function = NULL;

    add_driver("fake_driver");
    ck_assert_int_eq(cuda_api_open(&api, CUDA_DRIVER, &error), GBEES_OK);
    ck_assert_int_eq(program_load(&api, &p, &error), GBEES_EBACKEND);
    ck_assert_str_eq(error.text, "the GPU failed while loading its kernels: an unknown error (the driver has no "
                                 "text for it)");
    ck_assert_ptr_null(p.module);
    ck_assert_int_eq(program_function(&api, &p, "gbees_step", &function, &error), GBEES_EBACKEND);
    ck_assert_ptr_nonnull(strstr(error.text, "while looking up the kernel gbees_step: "));
    program_destroy(&api, &p);
    ck_assert_ptr_null(p.image);
    cuda_api_close(&api);
}
END_TEST

START_TEST(no_compiler)
{
    add_driver("fake_driver");
    declined(CUDA_DRIVER | CUDA_COMPILER, "NVRTC, CUDA's run-time compiler, is not installed: libnvrtc.so.13 was not "
                                          "found in /tmp/");
    declined(CUDA_COMPILER, "install it (NVIDIA's package cuda-nvrtc), or set CUDA_HOME to the CUDA toolkit");
}
END_TEST

START_TEST(a_compiler_that_is_none)
{
    char text[LENGTH];

    copy("tests", "fake_backend", "libnvrtc.so");
    print(text, sizeof text, "; %s/libnvrtc.so lacks functions, or is of another version", top);
    declined(CUDA_COMPILER, text);
}
END_TEST

START_TEST(no_linker)
{
    if (!nvrtc[0])
        return;
    add_library(nvrtc, "libnvrtc.so");
    declined(CUDA_COMPILER | CUDA_LINKER, "nvJitLink, CUDA's run-time linker, is not installed: ");
}
END_TEST

START_TEST(a_compiler_that_is_too_new_for_the_driver)
{
    char text[64];

    if (compiler_major <= 12)
        return;
    add_driver("fake_driver");
    add_library(nvrtc, "libnvrtc.so");
    (void)setenv("FAKE_CUDA_VERSION", "12040", 1);
    print(text, sizeof text, "needs a driver for CUDA %d.0: update the driver, or", compiler_major);
    declined(CUDA_DRIVER | CUDA_COMPILER, text);
    ck_assert_ptr_nonnull(strstr(error.text, "the NVIDIA driver is too old: it is for CUDA 12.4, and NVRTC "));
}
END_TEST

/* "" if it can be used. */
static const char *probe(const char *capability)
{
    static char text[512];

    (void)setenv("FAKE_CUDA_CAPABILITY", capability, 1);
    int refusal = cuda_probe(text, sizeof text);
    ck_assert_int_eq(refusal != 0, text[0] != '\0');
    return text;
}

START_TEST(an_architecture_that_the_compiler_does_not_know)
{
    if (!nvrtc[0])
        return;
    add_driver("fake_driver");
    add_library(nvrtc, "libnvrtc.so");
    ck_assert_str_eq(probe("90"), "");
    ck_assert_str_eq(probe("990"), ""); /* newer ones take PTX */
    ck_assert_ptr_nonnull(strstr(probe("35"), "compute capability 3.5, is unknown to NVRTC "));
    ck_assert_ptr_nonnull(strstr(probe("35"), ": install the NVRTC of an older CUDA"));
}
END_TEST

START_TEST(targets)
{
    cuda_api api = {0};
    cuda_target target = {0};
    static const char *const wrong[] = {"", "90", "sm_", "sm_9x", "sm_90a", "compute_90", "sm_-90", "sm_99999999"};

    if (!nvrtc[0])
        return;
    (void)unsetenv("GBEES_CUDA_LIBRARY_PATH");
    ck_assert_int_eq(cuda_api_open(&api, CUDA_COMPILER, &error), GBEES_OK);
    ck_assert_int_eq(cuda_target_choose(&api, "sm_90", &target, &error), GBEES_OK);
    ck_assert_str_eq(target.name, "sm_90");
    ck_assert_int_eq(target.is_ptx, 0);
    ck_assert_int_eq(cuda_target_choose(&api, "sm_93", &target, &error), GBEES_OK);
    ck_assert_str_eq(target.name, "compute_90");
    ck_assert_int_eq(target.is_ptx, 1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_int_eq(cuda_target_choose(&api, wrong[i], &target, &error), GBEES_EUSAGE);
        ck_assert_ptr_nonnull(strstr(error.text, "is no GPU architecture: it should be like sm_90"));
    }
    cuda_api_close(&api);
}
END_TEST

START_TEST(toolkits_are_searched)
{
    cuda_api api = {0};
    char path[LENGTH];

    if (!nvrtc[0])
        return;
    (void)unsetenv("GBEES_CUDA_LIBRARY_PATH");
    (void)setenv("CUDA_HOME", top, 1);
    make_folder("lib64");
    add_library(nvrtc, "lib64/libnvrtc.so.13");
    ck_assert_int_eq(cuda_api_open(&api, CUDA_COMPILER, &error), GBEES_OK);
    void *symbol;
    memcpy(&symbol, &api.nvrtcVersion, sizeof symbol);
    path_of(symbol, path);
    ck_assert_str_eq(path, nvrtc);
    cuda_api_close(&api);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuda_api");
    TCase *tests = tcase_create("all");

    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, start_test, teardown);
    tcase_add_test(tests, no_driver);
    tcase_add_test(tests, a_driver_that_is_no_library);
    tcase_add_test(tests, a_driver_that_lacks_functions);
    tcase_add_test(tests, a_driver_that_is_too_old);
    tcase_add_test(tests, no_device);
    tcase_add_test(tests, a_driver_that_does_not_start);
    tcase_add_test(tests, a_driver);
    tcase_add_test(tests, what_the_driver_refuses);
    tcase_add_test(tests, no_compiler);
    tcase_add_test(tests, a_compiler_that_is_none);
    tcase_add_test(tests, no_linker);
    tcase_add_test(tests, a_compiler_that_is_too_new_for_the_driver);
    tcase_add_test(tests, an_architecture_that_the_compiler_does_not_know);
    tcase_add_test(tests, targets);
    tcase_add_test(tests, toolkits_are_searched);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
