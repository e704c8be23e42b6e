/* test_note.c - the note of gbees-plot: which record's certificate it tells, and how. */
#include "fixtures/suite.h"
#include "plot/draw.h"
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHOTS = 3 };

static gbees_shot shots[SHOTS];
static gbees_gallery gallery;

/* Records at t = 0, 1, 2 of two states, each certified, the one at t = 1 with the largest bound of the moments, that
 * at t = 0 with the largest one of the marginals. */
static void set_up(void)
{
    static const double bound[SHOTS] = {0.125, 0.5, 0.25};

    memset(shots, 0, sizeof shots);
    for (int k = 0; k < SHOTS; k++) {
        gbees_certificate *c = &shots[k].certificate;

        shots[k].time = k;
        shots[k].certified = 1;
        *c = (gbees_certificate){.samples = 1000, .effective = 900};
        c->std[1].bound = bound[k];
        c->marginal[0].bound = 10.0 - k;
    }
    gallery = (gbees_gallery){.dimension = 2, .count = SHOTS, .shot = shots};
}

static const char *note(size_t first, size_t last)
{
    static char text[GBEES_CERTIFICATE_TEXT];

    gbees_gallery_note(&gallery, first, last, text, sizeof text);
    return text;
}

START_TEST(one_record_has_its_own)
{
    ck_assert_str_eq(note(2, 2),
                     "error \u2264 mean 0 \u03c3, std 0.25, marginals 8 \u03c3, density (1 \u2212 cosine) 0 "
                     "(1000 samples, 900 effective)");
}
END_TEST

/* Each figure has the time of its own worst. */
START_TEST(several_have_the_worst)
{
    ck_assert_ptr_nonnull(strstr(note(0, 2), "error \u2264 worst: mean 0 \u03c3 at t = 0, std 0.5 at t = 1, "
                                             "marginals 10 \u03c3 at t = 0, density (1 \u2212 cosine) 0 at t = 0 ("));
    shots[1].certified = 0;
    ck_assert_ptr_nonnull(strstr(note(0, 2), " std 0.25 at t = 2, marginals 10 "));
}
END_TEST

/* What can't be told is worse than any bound. */
START_TEST(records_that_are_not_certifiable)
{
    gbees_certificate *c = &shots[0].certificate;

    for (int j = 0; j < 2; j++)
        c->mean[j].bound = c->std[j].bound = NAN;
    (void)snprintf(c->reason, sizeof c->reason, "not certifiable with 1000 samples");
    ck_assert_str_eq(note(0, 0), "error: not certifiable with 1000 samples");
    ck_assert_str_eq(note(0, 2), "error worst, at t = 0: not certifiable with 1000 samples");
}
END_TEST

/* Without certificates there is no note, and it takes no room. */
START_TEST(records_without_certificates)
{
    ck_assert_double_gt(gbees_note_height(&gallery), 0);
    for (int k = 0; k < SHOTS; k++)
        shots[k].certified = 0;
    ck_assert_str_eq(note(0, 2), "");
    ck_assert_double_eq(gbees_note_height(&gallery), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("note");
    TCase *tests = tcase_create("note");

    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, one_record_has_its_own);
    tcase_add_test(tests, several_have_the_worst);
    tcase_add_test(tests, records_that_are_not_certifiable);
    tcase_add_test(tests, records_without_certificates);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
