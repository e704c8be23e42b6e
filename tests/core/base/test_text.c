/* test_text.c - core/base/text: a string that grows, and the nearest of some names. */
#include "base/text.h"
#include "fixtures/suite.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

START_TEST(empty_text_is_an_empty_string)
{
    gbees_text text = {0};
    char *data = gbees_text_take(&text);

    ck_assert_ptr_nonnull(data);
    ck_assert_str_eq(data, "");
    free(data);
    gbees_text_free(&text);
}
END_TEST

START_TEST(appends_are_joined)
{
    gbees_text text = {0};

    gbees_text_add(&text, "%s-%d", "a", 7);
    gbees_text_add(&text, "%s", "");
    gbees_text_add(&text, "|%.3f|", 0.5);
    ck_assert_int_eq(text.failed, 0);
    ck_assert_str_eq(text.data, "a-7|0.500|");
    ck_assert_uint_eq(text.length, strlen(text.data));
    gbees_text_free(&text);
    ck_assert_ptr_null(text.data);
    ck_assert_uint_eq(text.length, 0);
}
END_TEST

START_TEST(grows_over_any_length)
{
    enum { TIMES = 3000 };
    gbees_text text = {0};
    char chunk[300];

    memset(chunk, 'x', sizeof chunk - 1);
    chunk[sizeof chunk - 1] = '\0';
    for (int i = 0; i < TIMES; i++) {
        gbees_text_add(&text, "%d%s", i % 10, chunk);
        ck_assert_uint_lt(text.length, text.capacity);
    }
    ck_assert_uint_eq(text.length, TIMES * sizeof chunk);
    ck_assert_uint_eq(strlen(text.data), text.length);
    for (size_t i = 0; i < TIMES; i++)
        ck_assert_int_eq(text.data[i * sizeof chunk], '0' + (int)(i % 10));
    gbees_text_free(&text);
}
END_TEST

/* vsnprintf() can't convert the value, which is no character: what was asked for is missing, and the text says so. */
START_TEST(a_format_that_fails_is_a_failure)
{
    gbees_text text = {0};

    gbees_text_add(&text, "before");
    gbees_text_add(&text, "%lc", (wint_t)0xD800);
    ck_assert_int_eq(text.failed, 1);
    ck_assert_ptr_null(gbees_text_take(&text));
}
END_TEST

START_TEST(take_hands_over_and_starts_anew)
{
    gbees_text text = {0};

    gbees_text_add(&text, "first");
    char *first = gbees_text_take(&text);
    ck_assert_ptr_null(text.data);
    gbees_text_add(&text, "second");
    ck_assert_str_eq(first, "first");
    ck_assert_str_eq(text.data, "second");
    free(first);
    gbees_text_free(&text);
}
END_TEST

START_TEST(failed_text_takes_no_more_and_gives_null)
{
    gbees_text text = {0};

    gbees_text_add(&text, "some");
    text.failed = 1;
    gbees_text_add(&text, "more");
    ck_assert_str_eq(text.data, "some");
    ck_assert_ptr_null(gbees_text_take(&text));
    ck_assert_int_eq(text.failed, 0);
    ck_assert_ptr_null(text.data);
}
END_TEST

static const char *const names[] = {"lorenz63", "lorenz96", "template", "cr3bp", "van_der_pol"};
static const size_t name_count = sizeof names / sizeof names[0];

static const struct {
    const char *typed, *meant;
} typos[] = {
    {"lorenz63", "lorenz63"},       {"lorens63", "lorenz63"}, {"lorenz93", "lorenz63"}, {"loren96", "lorenz96"},
    {"lorrenz96", "lorenz96"},      {"tmplate", "template"},  {"cr3pb", "cr3bp"},       {"vanderpol", "van_der_pol"},
    {"van-der-pol", "van_der_pol"}, {"Template", "template"}, {"LORENZ96", "lorenz96"},
};

START_TEST(typing_errors_find_what_was_meant)
{
    const char *found = gbees_text_nearest(typos[_i].typed, names, name_count);

    ck_assert_ptr_nonnull(found);
    ck_assert_str_eq(found, typos[_i].meant);
}
END_TEST

START_TEST(strangers_find_nothing)
{
    ck_assert_ptr_null(gbees_text_nearest("pendulum", names, name_count));
    ck_assert_ptr_null(gbees_text_nearest("", names, name_count));
    ck_assert_ptr_null(gbees_text_nearest("x", names, name_count));
    ck_assert_ptr_null(gbees_text_nearest("lorenz63", NULL, 0));
}
END_TEST

START_TEST(limit_is_one_and_a_third_of_the_length)
{
    const char *const one[] = {"abcdef"};

    ck_assert_ptr_eq(gbees_text_nearest("abcxyz", one, 1), one[0]); /* 3 = 1 + 6/3 */
    ck_assert_ptr_null(gbees_text_nearest("abwxyz", one, 1));       /* 4 */
}
END_TEST

START_TEST(overlong_names_do_no_harm)
{
    char typed[1000];
    const char *found;

    memset(typed, 'a', sizeof typed - 1);
    typed[sizeof typed - 1] = '\0';
    found = gbees_text_nearest(typed, names, name_count);
    ck_assert_ptr_null(found);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("text");
    TCase *tcase = tcase_create("text");

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, empty_text_is_an_empty_string);
    tcase_add_test(tcase, appends_are_joined);
    tcase_add_test(tcase, grows_over_any_length);
    tcase_add_test(tcase, a_format_that_fails_is_a_failure);
    tcase_add_test(tcase, take_hands_over_and_starts_anew);
    tcase_add_test(tcase, failed_text_takes_no_more_and_gives_null);
    tcase_add_loop_test(tcase, typing_errors_find_what_was_meant, 0, (int)(sizeof typos / sizeof typos[0]));
    tcase_add_test(tcase, strangers_find_nothing);
    tcase_add_test(tcase, limit_is_one_and_a_third_of_the_length);
    tcase_add_test(tcase, overlong_names_do_no_harm);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
