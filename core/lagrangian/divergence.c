/* divergence.c - see divergence.h. */
#include "divergence.h"
#include <math.h>
#include <stdlib.h>

#define SAME 1e-7         /* relative differences of the divergence that is called constant */
#define STRETCH_SAME 1e-4 /* and differences that make less than that of a stretch on the whole way */

void gbees_probes_choose(int n, size_t count, double *const *x, gbees_probes *p)
{
    const size_t some = count < GBEES_BATCH ? count : GBEES_BATCH;

    *p = (gbees_probes){0};
    for (int j = 0; j < n; j++)
        p->column[j] = p->x[j];
    for (size_t k = 0; k < some; k++) {
        const size_t i = count / some * k + count % some * k / some;
        int finite = 1;

        for (int j = 0; j < n; j++) {
            p->x[j][p->count] = x[j][i];
            finite &= isfinite(x[j][i]) != 0;
        }
        p->count += finite != 0;
    }
}

void gbees_divergence_beside(const gbees_probes *p, gbees_journey *w)
{
    double drift[GBEES_MAX_DIM][GBEES_BATCH], origin[GBEES_MAX_DIM] = {0}, *out[GBEES_MAX_DIM];

    for (int j = 0; j < GBEES_MAX_DIM; j++)
        out[j] = drift[j];
    w->functions->drift_d(p->count, w->from, origin, p->column, w->problem->parameters, out);
    for (int j = 0; j < w->problem->dimension; j++) {
        double far = 0;

        for (size_t i = 0; i < p->count; i++) {
            const double way = fabs(drift[j][i]) * w->first;

            far = fmax(far, fabs(p->x[j][i]) + (isfinite(way) ? way : 0));
        }
        w->beside[j] = fmax(3e-5 * w->scale[j], 1e-7 * far);
    }
}

/* Whether the divergence at those probes that are finite, at least half, is *rate, which the first one sets if it is
 * NAN. */
static int is_same(const gbees_journey *w, const gbees_probes *p, double time, double *rate)
{
    const double way = fabs(w->to - w->from);
    double sum[GBEES_BATCH], size[GBEES_BATCH] = {0};
    size_t finite = 0;
    int same = 1;

    gbees_batch_divergence(w, p->count, NULL, time, p->column, sum, size);
    for (size_t i = 0; i < p->count; i++) {
        if (!isfinite(sum[i]))
            continue;
        if (isnan(*rate))
            *rate = sum[i];
        same &= fabs(sum[i] - *rate) <= fmax(SAME * size[i], STRETCH_SAME / way);
        finite++;
    }
    return same && 2 * finite >= p->count;
}

/* Whether the divergence is the same at both lists of probes at one time; then it is *rate. */
static int is_uniform(const gbees_journey *w, const gbees_probes *start, const gbees_probes *end, double time,
                      double *rate)
{
    *rate = NAN;
    return is_same(w, start, time, rate) && is_same(w, end, time, rate);
}

/* Adds to *sum the integral of a divergence that is the same everywhere, by Gauss's rule of five times. Returns 0 if
 * it is not the same. */
static int integrate_rate(const gbees_journey *w, const gbees_probes *start, const gbees_probes *end, double from,
                          double to, double *sum)
{
    static const double node[] = {0, 0.5384693101056831, 0.9061798459386640},
                        weight[] = {0.5688888888888889, 0.4786286704993665, 0.2369268850561891};
    const double middle = from + (to - from) / 2, half = (to - from) / 2;

    for (int k = -2; k <= 2; k++) {
        double rate;

        if (!is_uniform(w, start, end, middle + (k < 0 ? -half : half) * node[abs(k)], &rate))
            return 0;
        *sum += half * weight[abs(k)] * rate;
    }
    return 1;
}

int gbees_divergence_is_constant(const gbees_journey *w, const gbees_probes *start, double *rate,
                                 uint64_t *evaluations)
{
    const double middle = w->from + (w->to - w->from) / 2;
    gbees_probes end = *start;
    double *column[GBEES_MAX_DIM], whole = 0, halves = 0;

    *rate = NAN;
    if (start->count == 0 || !is_same(w, start, w->from, rate))
        return 0;
    for (int j = 0; j < w->problem->dimension; j++)
        end.column[j] = column[j] = end.x[j];
    *evaluations += gbees_batch_run(w, 0, end.count, column, NULL, NULL);
    if (!(w->problem->model->flags & GBEES_TIME_DEPENDENT))
        return is_same(w, &end, w->from, rate);
    if (!integrate_rate(w, start, &end, w->from, w->to, &whole) ||
        !integrate_rate(w, start, &end, w->from, middle, &halves) ||
        !integrate_rate(w, start, &end, middle, w->to, &halves))
        return 0;
    *rate = halves / (w->to - w->from);
    return fabs(whole - halves) <= STRETCH_SAME;
}
