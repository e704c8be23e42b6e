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

int gbees_certificate_is_far_off(const gbees_certificate *certificate, int axis)
{
    const gbees_difference mean = certificate->mean[axis], std = certificate->std[axis];

    /* Value - 2 standard errors: at least so far off. */
    return 2 * mean.value - mean.bound > GBEES_LARGEST_SILENT || 2 * std.value - std.bound > GBEES_LARGEST_SILENT;
}

int gbees_certificate_warns(const gbees_certificate *certificate, int dimension)
{
    for (int j = 0; j < dimension; j++)
        if (gbees_certificate_is_far_off(certificate, j))
            return 1;
    return 0;
}
