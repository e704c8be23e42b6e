/* test_dormand_prince.c - core/numerics/dormand_prince.h: its coefficients, read from its text in extended precision,
 * obey the order conditions to more than a double's last digit, and are those that the functions have; its order. */
#include "fixtures/suite.h"
#include "numerics/dormand_prince.h"
#include <float.h>
#include <stdio.h>
#include <string.h>

enum { STAGES = GBEES_DORMAND_PRINCE_STAGES, ORDER = 8 };

static char text[20000];

static void read_text(void)
{
    char path[4096];
    const char *top = getenv("GBEES_TOP_SRC");

    (void)snprintf(path, sizeof path, "%s/core/numerics/dormand_prince.h", top ? top : ".");
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "no %s", path);
    const size_t size = fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    text[size] = '\0';
}

/* Reads the terms "NUMBER * k[INDEX...]" from *at up to the next semicolon into row[STAGES]. */
static void read_terms(const char *at, long double *row)
{
    const char *end = strchr(at, ';');
    long double sign = 1;

    memset(row, 0, STAGES * sizeof *row);
    while (at < end) {
        if (*at == '-' || *at == '+')
            sign = *at == '-' ? -1 : 1;
        if (*at < '0' || *at > '9') {
            at++;
            continue;
        }
        char *behind;
        const long double value = strtold(at, &behind);
        int stage = 1; /* k[stride] */

        ck_assert_int_eq(strncmp(behind, " * k[", 5), 0);
        if (behind[5] != 's')
            stage = (int)strtol(behind + 5, NULL, 10);
        row[stage] = sign * value;
        at = strchr(behind, ']');
    }
}

/* The text behind the head of a function. */
static const char *function_text(const char *name)
{
    char head[100];

    (void)snprintf(head, sizeof head, "gbees_dormand_prince_%s(", name);
    const char *at = strstr(text, head);
    ck_assert_msg(at != NULL, "no %s", head);
    return strchr(at, '{');
}

/* The coefficients. */
static long double a[STAGES][STAGES], node[STAGES], mean[STAGES], fifth[STAGES], third[STAGES];

static void read_all(void)
{
    read_text();
    for (int s = 1; s < STAGES; s++) {
        char head[20];

        (void)snprintf(head, sizeof head, "case %d:", s);
        read_terms(strstr(strstr(function_text("slope"), head), "return"), a[s]);
        node[s] = strtold(strstr(strstr(function_text("node"), head), "return ") + 7, NULL);
    }
    read_terms(strstr(function_text("mean"), "return"), mean);
    read_terms(strstr(function_text("fifth"), "return"), fifth);
    read_terms(strchr(strstr(function_text("third"), "return"), '('), third);
    for (int l = 0; l < STAGES; l++)
        fifth[l] = mean[l] - fifth[l]; /* now the weights of the methods of orders 5 and 3 */
}

/* ---- rooted trees: node 0 is the root, and each other node has a parent of a lower number -----------------------
 */

typedef struct tree {
    int size, parent[ORDER];
    long double density;        /* the product of the sizes of all subtrees */
    long double weight[STAGES]; /* the elementary weight at each stage */
} tree;

/* A tree in levels: depth[0] = 0, depth[k + 1] <= depth[k] + 1. Many stand for one tree; all conditions hold. */
static void measure_tree(int size, const int *depth, tree *t)
{
    int subtree[ORDER];
    long double weight[ORDER][STAGES];

    t->size = size;
    for (int k = 0; k < size; k++) {
        subtree[k] = 1;
        for (int s = 0; s < STAGES; s++)
            weight[k][s] = 1;
        for (t->parent[k] = k - 1; k > 0 && depth[t->parent[k]] >= depth[k];)
            t->parent[k]--;
    }
    t->density = 1;
    for (int k = size - 1; k >= 0; k--) {
        t->density *= subtree[k];
        if (k == 0)
            break;
        subtree[t->parent[k]] += subtree[k];
        for (int s = 0; s < STAGES; s++) {
            long double sum = 0;

            for (int l = 0; l < s; l++)
                sum += a[s][l] * weight[k][l];
            weight[t->parent[k]][s] *= sum;
        }
    }
    memcpy(t->weight, weight[0], sizeof t->weight);
}

/* The next level sequence of this size, in lexicographic order; 0: there is none. */
static int next_levels(int size, int *depth)
{
    for (int k = size - 1; k > 0; k--)
        if (depth[k] <= depth[k - 1]) {
            depth[k]++;
            for (int l = k + 1; l < size; l++)
                depth[l] = 1;
            return 1;
        }
    return 0;
}

/* The largest violation of an order condition for trees of this size. */
static long double violation(const long double *b, int size)
{
    int depth[ORDER + 1] = {0};
    long double most = 0;

    for (int k = 1; k < size; k++)
        depth[k] = 1;
    do {
        tree t;
        long double sum = 0;

        measure_tree(size, depth, &t);
        for (int s = 0; s < STAGES; s++)
            sum += b[s] * t.weight[s];
        most = fmaxl(most, fabsl(sum - 1 / t.density));
    } while (next_levels(size, depth));
    return most;
}

START_TEST(coefficients_obey_the_order_conditions)
{
    const struct {
        const char *name;
        const long double *b;
        int order;
    } methods[] = {{"mean", mean, 8}, {"fifth", fifth, 5}, {"third", third, 3}};
    /* of sums whose terms are as large as 43, and of 28 digits */
    const long double rounding = fmaxl(200 * LDBL_EPSILON, 1e-26L);

    read_all();
    for (int s = 0; s < STAGES; s++) {
        long double sum = 0;

        for (int l = 0; l < s; l++)
            sum += a[s][l];
        ck_assert_msg(fabsl(sum - node[s]) <= rounding, "stage %d: %Lg", s, sum - node[s]);
    }
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (int size = 1; size <= ORDER; size++) {
            const long double off = violation(methods[m].b, size);

            if (size <= methods[m].order)
                ck_assert_msg(off <= rounding, "%s: order %d is violated by %Lg", methods[m].name, size, off);
            else
                ck_assert_msg(off > 1e-4L, "%s is of order %d", methods[m].name, size);
        }
}
END_TEST

START_TEST(functions_have_the_coefficients_of_the_text)
{
    read_all();
    for (int l = 0; l < STAGES; l++) {
        double k[STAGES] = {0}, pair[2 * STAGES] = {0};

        k[l] = pair[2 * l] = 1;
        for (int s = 1; s < STAGES; s++) {
            ck_assert(gbees_dormand_prince_slope(s, k, 1) == (double)a[s][l]);
            ck_assert(gbees_dormand_prince_slope(s, pair, 2) == (double)a[s][l]);
            ck_assert(gbees_dormand_prince_node(s) == (double)node[s]);
        }
        const double middle = gbees_dormand_prince_mean(k, 1);

        ck_assert(middle == (double)mean[l]);
        ck_assert_double_eq_tol(gbees_dormand_prince_fifth(k, 1), (double)(mean[l] - fifth[l]), 1e-16);
        ck_assert_double_eq_tol(gbees_dormand_prince_third(k, 1, middle), (double)(mean[l] - third[l]), 1e-15);
    }
}
END_TEST

/* ---- on a closed form: y' = -2 t y^2, y = 1 / (1 + t^2) ----------------------------------------------------------
 */

static double exact(double t)
{
    return 1 / (1 + t * t);
}

/* Takes a step of h from *y at t; returns its error as it is estimated. */
static double step(double t, double h, double *y)
{
    double k[STAGES];

    k[0] = -2 * t * *y * *y;
    for (int s = 1; s < STAGES; s++) {
        const double at = *y + h * gbees_dormand_prince_slope(s, k, 1);

        k[s] = -2 * (t + gbees_dormand_prince_node(s) * h) * at * at;
    }
    const double middle = gbees_dormand_prince_mean(k, 1);

    *y += h * middle;
    return gbees_dormand_prince_error(fabs(h * gbees_dormand_prince_fifth(k, 1)),
                                      fabs(h * gbees_dormand_prince_third(k, 1, middle)));
}

/* The error at t = 0.4 after so many steps from t = -1, the largest estimate of a step's, and its own largest error.
 */
static double run(int steps, double *estimate, double *local)
{
    const double h = 1.4 / steps;
    double y = exact(-1);

    *estimate = *local = 0;
    for (int i = 0; i < steps; i++) {
        const double t = -1 + i * h;
        double own = exact(t);

        (void)step(t, h, &own);
        *local = fmax(*local, fabs(own - exact(t + h)));
        *estimate = fmax(*estimate, step(t, h, &y));
    }
    return fabs(y - exact(0.4));
}

START_TEST(order_is_eight)
{
    double estimate[2], local[2];
    const double coarse = run(8, &estimate[0], &local[0]), fine = run(16, &estimate[1], &local[1]);

    ck_assert_msg(log2(coarse / fine) > 7.7 && log2(coarse / fine) < 8.5, "%g, %g", coarse, fine);
    ck_assert_msg(log2(local[0] / local[1]) > 8.5, "%g, %g", local[0], local[1]);
    ck_assert_msg(log2(estimate[0] / estimate[1]) > 7 && log2(estimate[0] / estimate[1]) < 9.5, "%g, %g", estimate[0],
                  estimate[1]);
    for (int i = 0; i < 2; i++)
        ck_assert_msg(estimate[i] > local[i], "the error is %g, not %g", local[i], estimate[i]);
}
END_TEST

START_TEST(lengths_follow_errors)
{
    ck_assert_double_eq(gbees_dormand_prince_error(0, 0), 0);
    ck_assert_double_eq(gbees_dormand_prince_error(0, 1), 0);
    ck_assert_double_eq_tol(gbees_dormand_prince_error(1e-200, 1e-190), 0, 1e-190);
    ck_assert_double_nan(gbees_dormand_prince_error(NAN, 1));
    ck_assert_double_nan(gbees_dormand_prince_error(1, NAN));
    ck_assert_double_eq_tol(gbees_dormand_prince_factor(1), 0.9, 1e-15);
    ck_assert_double_eq_tol(gbees_dormand_prince_factor(1.0 / 256), 1.8, 1e-15);
    ck_assert_double_eq(gbees_dormand_prince_factor(0), 6);
    ck_assert_double_eq(gbees_dormand_prince_factor(1e-30), 6);
    ck_assert_double_eq(gbees_dormand_prince_factor(1e30), 0.2);
    ck_assert_double_eq(gbees_dormand_prince_factor(INFINITY), 0.2);
    ck_assert_double_eq(gbees_dormand_prince_factor(NAN), 0.2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dormand_prince");
    TCase *tcase = tcase_create("pair");

    tcase_add_test(tcase, coefficients_obey_the_order_conditions);
    tcase_add_test(tcase, functions_have_the_coefficients_of_the_text);
    tcase_add_test(tcase, order_is_eight);
    tcase_add_test(tcase, lengths_follow_errors);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
