/* certificate.c - what certificates say: the worst axis, the error that an accuracy is compared with, warnings. */
#include "certificate.h"
#include <math.h>
#include <string.h>

enum { N = GBEES_MAX_DIM };

void gbees_certificate_start(gbees_certificate *certificate, size_t samples)
{
    const gbees_difference unknown = {NAN, NAN};

    memset(certificate, 0, sizeof *certificate);
    certificate->samples = samples;
    for (int j = 0; j < N; j++)
        certificate->mean[j] = certificate->std[j] = certificate->marginal[j] = certificate->kolmogorov[j] = unknown;
    certificate->density = unknown;
    certificate->estimate = NAN;
}

gbees_difference gbees_certificate_worst(const gbees_difference *list, int dimension, int *axis)
{
    int worst = 0;

    for (int j = 0; j < dimension; j++) {
        if (isnan(list[j].bound)) {
            worst = j;
            break;
        }
        worst = list[j].bound > list[worst].bound ? j : worst;
    }
    if (axis)
        *axis = worst;
    return list[worst];
}

static gbees_difference larger(gbees_difference a, gbees_difference b)
{
    return isnan(a.bound) || a.bound > b.bound ? a : b;
}

gbees_difference gbees_certificate_error(const gbees_certificate *certificate, int dimension, gbees_accuracy_of of)
{
    if (of == GBEES_ACCURACY_DENSITY)
        return certificate->density;
    if (of == GBEES_ACCURACY_MARGINALS)
        return gbees_certificate_worst(certificate->marginal, dimension, NULL);
    return larger(gbees_certificate_worst(certificate->mean, dimension, NULL),
                  gbees_certificate_worst(certificate->std, dimension, NULL));
}

double gbees_largest_silent(double accuracy)
{
    return fmax(GBEES_LARGEST_SILENT, accuracy);
}

int gbees_certificate_is_far_off(const gbees_certificate *certificate, int axis, double limit)
{
    const gbees_difference mean = certificate->mean[axis], std = certificate->std[axis];

    /* Value - 2 standard errors: at least so far off. */
    return 2 * mean.value - mean.bound > limit || 2 * std.value - std.bound > limit;
}

int gbees_certificate_warns(const gbees_certificate *certificate, int dimension, double accuracy)
{
    for (int j = 0; j < dimension; j++)
        if (gbees_certificate_is_far_off(certificate, j, gbees_largest_silent(accuracy)))
            return 1;
    return 0;
}

/* ---- the worst of several ---- */

/* Takes the figure along all axes, if its worst one is worse; NAN is the worst. */
static void take_worse(gbees_worst *worst, int figure, gbees_difference *to, const gbees_difference *from,
                       int dimension, double time)
{
    const double before = gbees_certificate_worst(to, dimension, NULL).bound,
                 now = gbees_certificate_worst(from, dimension, NULL).bound;

    if (isnan(before) || now <= before)
        return;
    memcpy(to, from, (size_t)dimension * sizeof *to);
    worst->time[figure] = time;
}

void gbees_worst_add(gbees_worst *worst, const gbees_certificate *certificate, int dimension, double time)
{
    gbees_certificate *to = &worst->certificate;

    if (worst->count++ == 0 || (certificate->reason[0] && !to->reason[0])) {
        *to = *certificate;
        for (int k = 0; k < GBEES_FIGURES; k++)
            worst->time[k] = time;
        return;
    }
    if (to->reason[0])
        return;
    take_worse(worst, GBEES_FIGURE_MEAN, to->mean, certificate->mean, dimension, time);
    take_worse(worst, GBEES_FIGURE_STD, to->std, certificate->std, dimension, time);
    take_worse(worst, GBEES_FIGURE_MARGINAL, to->marginal, certificate->marginal, dimension, time);
    if (!(certificate->points > 0 && isnan(certificate->density.bound))) { /* else it has not been compared */
        if (to->points > 0 && isnan(to->density.bound))
            to->density.bound = -INFINITY;
        take_worse(worst, GBEES_FIGURE_DENSITY, &to->density, &certificate->density, 1, time);
    }
    if (certificate->variation > to->variation) {
        to->variation = certificate->variation;
        worst->time[GBEES_FIGURE_VARIATION] = time;
    }
    to->uncompared = certificate->uncompared > to->uncompared ? certificate->uncompared : to->uncompared;
    if (certificate->samples > 0 && (to->points > 0 || certificate->effective < to->effective)) {
        to->points = 0;
        to->instead = certificate->instead;
        to->effective = certificate->effective;
        to->samples = certificate->samples;
    }
}
