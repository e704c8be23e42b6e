/* passes.c - factors the map between two frames as L U with complete pivoting; each row of U, then of L, is a map
 * along one axis. */
#include "passes.h"
#include <math.h>

/* An entry this close to an integer is rounded to it. At a cell index of 1000 that moves a point by 1e-10 of a cell.
 */
static const double rounding = 1e-13;
/* The map is singular if a pivot is less than this part of the largest one. */
static const double singular = 1e-14;

static double snap(double x)
{
    return fabs(x - nearbyint(x)) < rounding ? nearbyint(x) : x;
}

/* Sets m and b to the map between two frames. */
static int find_map(const gbees_moving_frame *from, const gbees_moving_frame *to, double *m, double *b)
{
    const int n = from->n, more = n + 1;
    double right[GBEES_MATRIX_MORE];

    for (int j = 0; j < n; j++) {
        for (int k = 0; k < n; k++)
            right[j * more + k] = from->a[j * n + k];
        right[j * more + n] = from->m[j] - to->m[j];
    }
    if (gbees_matrix_solve(n, to->a, more, right))
        return 1;
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < n; k++)
            m[j * n + k] = snap(right[j * more + k]);
        b[j] = snap(right[j * more + n]);
    }
    return 0;
}

static void swap(double *a, double *b)
{
    const double t = *a;

    *a = *b;
    *b = t;
}

static void swap_numbers(int *a, int *b)
{
    const int t = *a;

    *a = *b;
    *b = t;
}

/* Exchanges rows and columns so that the largest entry from row and column k on is the pivot. An entry that is larger
 * by rounding does not count, so that axes stay in order. */
static void exchange(int n, int k, double *m, gbees_passes *passes)
{
    int row = k, column = k;

    for (int i = k; i < n; i++)
        for (int j = k; j < n; j++)
            if (fabs(m[i * n + j]) > fabs(m[row * n + column]) * (1 + 1e-4)) {
                row = i;
                column = j;
            }
    for (int j = 0; j < n; j++)
        swap(&m[k * n + j], &m[row * n + j]);
    for (int i = 0; i < n; i++)
        swap(&m[i * n + k], &m[i * n + column]);
    swap_numbers(&passes->to[k], &passes->to[row]);
    swap_numbers(&passes->from[k], &passes->from[column]);
}

/* Factors m in place: U on and above the diagonal, below it L, whose diagonal is 1. Returns 1 if m is singular. */
static int factor(int n, double *m, gbees_passes *passes)
{
    for (int k = 0; k < n; k++) {
        exchange(n, k, m, passes);
        if (!(fabs(m[k * n + k]) > singular * fabs(m[0])))
            return 1;
        for (int i = k + 1; i < n; i++) {
            m[i * n + k] /= m[k * n + k];
            for (int j = k + 1; j < n; j++)
                m[i * n + j] -= m[i * n + k] * m[k * n + j];
        }
    }
    return 0;
}

static void append(gbees_passes *passes, const gbees_pass *pass)
{
    int changes = pass->scale != 1 || pass->shift != 0;

    for (int j = 0; j < passes->n; j++)
        changes = changes || pass->shear[j] != 0;
    if (changes)
        passes->pass[passes->count++] = *pass;
}

/* Lists the passes: the rows of U from the first one on, then those of L from the last one on. The last row of U has
 * its diagonal only, and becomes one pass with the last row of L. L leaves coordinate 0 as it is; so its shift comes
 * first, before other coordinates read it. */
static void list_passes(int n, const double *m, const double *b, gbees_passes *passes)
{
    const double first_shift = b[passes->to[0]];

    for (int k = 0; k < n; k++) {
        gbees_pass pass = {.axis = k, .scale = m[k * n + k], .shift = k == 0 ? first_shift : 0};

        for (int j = k + 1; j < n; j++)
            pass.shear[j] = m[k * n + j];
        if (k < n - 1 || n == 1)
            append(passes, &pass);
    }
    for (int k = n - 1; k > 0; k--) {
        gbees_pass pass = {.axis = k, .scale = k == n - 1 ? m[k * n + k] : 1};

        pass.shift = b[passes->to[k]] - m[k * n] * first_shift;
        for (int j = 0; j < k; j++)
            pass.shear[j] = m[k * n + j];
        append(passes, &pass);
    }
}

int gbees_passes_find(const gbees_moving_frame *from, const gbees_moving_frame *to, gbees_passes *passes,
                      gbees_error *error)
{
    double m[GBEES_MATRIX], b[GBEES_MAX_DIM];
    gbees_passes found = {.n = from->n};

    for (int j = 0; j < from->n; j++)
        found.from[j] = found.to[j] = j;
    if (find_map(from, to, m, b) || factor(from->n, m, &found))
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "a density can't be taken from one frame to another: one of "
                               "them is singular, or not finite");
    list_passes(from->n, m, b, &found);
    *passes = found;
    return GBEES_OK;
}
