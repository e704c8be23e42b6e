/* compiler_fixture.h - for tests that compile and link for a GPU: NVRTC and nvJitLink, without a cache. */
#ifndef GBEES_TESTS_COMPILER_FIXTURE_H
#define GBEES_TESTS_COMPILER_FIXTURE_H

#include "cuda/compile/build.h"
#include "cuda/compile/compile.h"
#include "cuda_fixture.h"

static cuda_api api;

static inline void start_test(void)
{
    setup();
    (void)setenv("GBEES_CACHE", "off", 1);
    ck_assert_msg(cuda_api_open(&api, CUDA_COMPILER | CUDA_LINKER, &error) == GBEES_OK, "%s", error.text);
}

static inline void end_test(void)
{
    cuda_api_close(&api);
    teardown();
}

static inline TCase *add_case(Suite *suite, const char *name)
{
    TCase *tests = tcase_create(name);

    tcase_set_timeout(tests, 300);
    tcase_add_checked_fixture(tests, start_test, end_test);
    suite_add_tcase(suite, tests);
    return tests;
}

#endif
