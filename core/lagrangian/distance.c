/* distance.c - see distance.h. */
#include "distance.h"
#include <math.h>

static double entry_of(const gbees_line *of, int64_t i)
{
    return i < of->first || i >= of->first + of->length ? 0 : of->p[i - of->first];
}

static double sum_of(const gbees_line *of)
{
    double sum = 0;

    for (int64_t i = 0; i < of->length; i++)
        sum += of->p[i];
    return sum;
}

gbees_line_distance gbees_line_compare(const gbees_line *a, const gbees_line *b, int split)
{
    const int64_t end_a = a->first + a->length, end_b = b->first + b->length, end = end_a > end_b ? end_a : end_b;
    const double sum_a = sum_of(a), sum_b = sum_of(b);
    double apart = 0, cell = 0;
    gbees_line_distance found = {0};

    for (int64_t i = a->first < b->first ? a->first : b->first; i < end; i++) {
        const double more = entry_of(a, i) / sum_a - entry_of(b, i) / sum_b, before = apart;

        apart += more;
        cell += more;
        found.wasserstein +=
            before * apart >= 0 ? fabs(before + apart) / 2 : (before * before + apart * apart) / (2 * fabs(more));
        if ((i + 1) % split != 0 && i + 1 < end)
            continue;
        found.kolmogorov = fmax(found.kolmogorov, fabs(apart));
        found.variation += fabs(cell) / 2;
        cell = 0;
    }
    return found;
}

double gbees_line_width(const gbees_line *of)
{
    const double sum = sum_of(of);
    double information = 0;

    for (int64_t i = of->first - 1; i < of->first + of->length; i++) {
        const double low = fmax(entry_of(of, i), 0), high = fmax(entry_of(of, i + 1), 0),
                     root = sqrt(high) - sqrt(low);

        information += 4 * root * root / sum;
    }
    return 1 / sqrt(information);
}

/* The order of two cells: below 0, 0, or above. */
static int order_of(int n, const gbees_initial_cells *a, size_t i, const gbees_initial_cells *b, size_t k)
{
    for (int j = 0; j < n; j++)
        if (a->index[j][i] != b->index[j][k])
            return a->index[j][i] < b->index[j][k] ? -1 : 1;
    return 0;
}

gbees_cells_distance gbees_cells_compare(int n, const gbees_initial_cells *a, const gbees_initial_cells *b)
{
    double aa = 0, ab = 0, bb = 0, apart = 0;

    for (size_t i = 0, k = 0; i < a->count || k < b->count;) {
        const int order = i == a->count ? 1 : k == b->count ? -1 : order_of(n, a, i, b, k);
        const double p = order <= 0 ? a->p[i++] : 0, q = order >= 0 ? b->p[k++] : 0;

        aa += p * p;
        ab += p * q;
        bb += q * q;
        apart += fabs(p - q);
    }
    return (gbees_cells_distance){fmin(1, ab / sqrt(aa * bb)), fmin(1, apart / 2)};
}
