/* measurement.c - inverts the covariance of a measurement's noise, and computes the logarithm of the density's
 * constant factor and its exponent for Gaussian noise and for Student's t. */
#include "measurement.h"
#include "gaussian.h"
#include "numerics/likelihood.h"
#include <math.h>
#include <string.h>

/* The logarithm of the factor of Student's t density in `size` dimensions, from that of the Gaussian: both have the
 * same determinant, and other constants. */
static double student_norm(double gaussian_norm, int size, double degrees)
{
    int sign; /* of the gamma function: positive here */

    return gaussian_norm - 0.5 * size * log(0.5 * degrees) + lgamma_r(0.5 * (degrees + size), &sign) -
           lgamma_r(0.5 * degrees, &sign);
}

/* Sets the inverse covariance, the number of components and log_norm of the Gaussian. Returns 1 if there is no
 * inverse. */
static int invert(const gbees_measurement *m, measurement_terms *terms)
{
    double covariance[GBEES_MAX_DIM * GBEES_MAX_DIM], inverse[GBEES_MAX_DIM * GBEES_MAX_DIM];
    int from[GBEES_MAX_DIM];

    terms->measured = 0;
    for (int k = 0; k < m->size; k++)
        if (!(m->missing >> k & 1))
            from[terms->measured++] = k;
    const int count = terms->measured;
    for (int j = 0; j < count; j++)
        for (int k = 0; k < count; k++)
            covariance[j * count + k] = m->covariance[from[j] * m->size + from[k]];
    if (count < 1 || gaussian_invert(count, covariance, inverse, &terms->log_norm))
        return 1;
    for (int j = 0; j < count; j++)
        for (int k = 0; k < count; k++)
            terms->inverse[from[j] * m->size + from[k]] = inverse[j * count + k];
    return 0;
}

int measurement_prepare(const gbees_measurement *measurement, double time, measurement_terms *terms,
                        gbees_error *error)
{
    double more;

    *terms = (measurement_terms){.measured = measurement->size, .lowest = gbees_lowest_log_likelihood()};
    if (measurement->likelihood == GBEES_LIKELIHOOD_MODEL) {
        terms->lowest = -HUGE_VAL; /* its scale is not known */
        return 0;
    }
    if (invert(measurement, terms))
        return gbees_error_set(error, GBEES_EINPUT, "measurement at t = %.9g: covariance not positive definite",
                               time);
    if (measurement->likelihood == GBEES_LIKELIHOOD_STUDENT) {
        terms->log_norm = student_norm(terms->log_norm, terms->measured, measurement->degrees_of_freedom);
        return 0;
    }
    if (gbees_periods_set(&terms->periods, measurement->size, measurement->period, terms->inverse, &more))
        return gbees_error_set(error, GBEES_EINPUT,
                               "measurement at t = %.9g: the components with periods are too correlated for their "
                               "deviations, of many periods: measure a combination that is within one",
                               time);
    terms->log_norm += more;
    return 0;
}

double measurement_exponent(const gbees_measurement *m, const measurement_terms *terms, const double *y)
{
    double residual[GBEES_MAX_DIM];

    for (int j = 0; j < m->size; j++)
        residual[j] = m->missing >> j & 1 ? 0 : gbees_wrapped(m->value[j] - y[j], m->period[j]);
    double exponent = gbees_gaussian_exponent(m->size, residual, terms->inverse);
    if (terms->periods.count > 0)
        exponent = gbees_periods_exponent(&terms->periods, m->size, residual, terms->inverse, m->period, exponent);
    return m->likelihood == GBEES_LIKELIHOOD_STUDENT
               ? gbees_student_exponent(exponent, terms->measured, m->degrees_of_freedom)
               : exponent;
}
