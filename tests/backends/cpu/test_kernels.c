/* test_kernels.c - all instruction sets of this build that the processor has compute the same bits: every kernel, in
 * every dimension and both precisions. */
#include "cpu/kernel/isa.h"
#include "fixtures/suite.h"
#include "kernel_fields.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

static char *lines_of(const kernel_set *set, fields_case how)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    ck_assert_ptr_nonnull(out);
    fields_write(out, set, how);
    ck_assert_int_eq(fclose(out), 0);
    return text;
}

/* Line by line. */
static void compare_lines(const char *what, const char *at, const char *with, const char *from)
{
    for (const char *end; (end = strchr(from, '\n')) != NULL; at += end + 1 - from, from = end + 1)
        ck_assert_msg(strncmp(at, from, (size_t)(end + 1 - from)) == 0, "%s and %s differ:\n%.*s\n%.*s", what, with,
                      (int)(end - from), at, (int)(end - from), from);
    ck_assert_str_eq(at, "");
}

START_TEST(instruction_sets_have_the_same_bits)
{
    const kernel_set *sets[ISA_MOST];
    const int count = isa_list(sets);
    const fields_case how = fields_case_of(_i);
    char *base = lines_of(sets[0], how);

    for (int k = 1; k < count; k++) {
        char *other = lines_of(sets[k], how);

        compare_lines(sets[k]->isa, other, sets[0]->isa, base);
        free(other);
    }
    free(base);
}
END_TEST

/* What the best instruction set makes of two ways of one case. */
static void compare_ways(fields_case how, const char *name, fields_case other_how, const char *other_name)
{
    const kernel_set *set = isa_choose(NULL);
    char *one = lines_of(set, how), *other = lines_of(set, other_how);

    compare_lines(name, one, other_name, other);
    free(one);
    free(other);
}

/* Where all faces of a brick flow one way ctu goes another way about them. */
START_TEST(flow_masks_change_no_bits)
{
    fields_case seeing = fields_case_of(_i), blind = seeing;

    blind.blind = 1;
    compare_ways(seeing, "with flow masks", blind, "without");
}
END_TEST

/* Drifts by planes, or by points. */
START_TEST(planes_change_no_bits)
{
    fields_case together = fields_case_of(_i), apart = together;

    apart.apart = 1;
    compare_ways(together, "by planes", apart, "by points");
}
END_TEST

START_TEST(a_name_is_the_most_that_is_used)
{
    const kernel_set *sets[ISA_MOST];
    const int count = isa_list(sets);

    ck_assert_int_ge(count, 1);
    ck_assert_ptr_eq(isa_choose(NULL), sets[count - 1]);
    ck_assert_ptr_eq(isa_choose("generic"), sets[0]);
    for (int k = 0; k < count; k++)
        ck_assert_ptr_eq(isa_choose(sets[k]->isa), sets[k]);
    ck_assert_ptr_null(isa_choose("avx"));
    ck_assert_ptr_null(isa_choose(""));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels");
    TCase *tcase = tcase_create("bits"), *more = add_long_case(suite, "more dimensions", 300);
    /* Of up to four dimensions: with more the code is the same, and takes longer.  Instruction sets are compared in
     * all. */
    const int usual = FIELDS_CASES / 8 * 4;

    tcase_add_loop_test(tcase, instruction_sets_have_the_same_bits, 0, FIELDS_CASES);
    tcase_add_loop_test(tcase, flow_masks_change_no_bits, 0, usual);
    tcase_add_loop_test(tcase, planes_change_no_bits, 0, usual);
    tcase_add_loop_test(more, flow_masks_change_no_bits, usual, FIELDS_CASES);
    tcase_add_loop_test(more, planes_change_no_bits, usual, FIELDS_CASES);
    tcase_add_test(tcase, a_name_is_the_most_that_is_used);
    tcase_set_timeout(tcase, 300);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
