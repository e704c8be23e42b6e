/* test_palette.c - the 256 colours of an image of an animation. */
#include "fixtures/suite.h"
#include "plot/palette.h"
#include <check.h>
#include <stdlib.h>

enum { SIDE = 512 };

static int difference(const unsigned char *color, uint32_t pixel)
{
    int most = 0;

    for (int c = 0; c < 3; c++) {
        const int d = abs((int)color[c] - (int)(pixel >> (16 - 8 * c) & 255));

        most = d > most ? d : most;
    }
    return most;
}

/* Few colours, of different kinds, are as they are; white too, beside what is nearly white. */
START_TEST(few_colors_are_exact)
{
    static const uint32_t pixel[] = {0xffffff, 0xfdfdfd, 0x000000, 0x12a4c8, 0xff0000ffu & 0xffffff, 0xffffff};
    gbees_palette palette = {0};

    ck_assert(gbees_palette_make(&palette, 6, pixel));
    ck_assert_int_eq(palette.count, 5);
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(difference(palette.color[gbees_palette_color(&palette, pixel[i])], pixel[i]), 0);
}
END_TEST

START_TEST(an_image_that_is_white)
{
    static const uint32_t pixel[] = {0xffffff, 0xffffff};
    gbees_palette palette = {0};

    ck_assert(gbees_palette_make(&palette, 2, pixel));
    ck_assert_int_eq(difference(palette.color[gbees_palette_color(&palette, pixel[0])], 0xffffff), 0);
}
END_TEST

/* All shades of two colours: no colour is off by more than three of the 32 parts that kinds divide it in. */
START_TEST(many_colors_are_near)
{
    uint32_t *pixel = malloc(SIDE * SIDE * sizeof *pixel);
    gbees_palette *palette = calloc(1, sizeof *palette);
    int worst = 0;

    ck_assert(pixel && palette);
    for (uint32_t i = 0; i < SIDE * SIDE; i++)
        pixel[i] = (i % SIDE / 2) << 16 | (i / SIDE / 2) << 8 | 128;
    ck_assert(gbees_palette_make(palette, SIDE * SIDE, pixel));
    ck_assert_int_eq(palette->count, GBEES_PALETTE_COLORS);
    for (int i = 0; i < SIDE * SIDE; i++) {
        const int d = difference(palette->color[gbees_palette_color(palette, pixel[i])], pixel[i]);

        worst = d > worst ? d : worst;
    }
    ck_assert_int_le(worst, 24);
    free(palette);
    free(pixel);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("palette");
    TCase *tests = tcase_create("palette");

    tcase_add_test(tests, few_colors_are_exact);
    tcase_add_test(tests, an_image_that_is_white);
    tcase_add_test(tests, many_colors_are_near);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
