/* certificate.h - certificates that say nothing yet, and what one says of an axis. */
#ifndef GBEES_RECORD_CERTIFICATE_H
#define GBEES_RECORD_CERTIFICATE_H

#include <gbees/record.h>

/* A difference that is worth a warning, in standard deviations; of logarithms of evidence the same number. */
#define GBEES_LARGEST_SILENT 0.1

/* Makes a certificate that says nothing yet of so many samples. */
void gbees_certificate_start(gbees_certificate *certificate, size_t samples);

/* What is worth a warning in a run that was asked for an accuracy; 0: for none. Who asks for less gets no warning of
 * what he asked for. */
double gbees_largest_silent(double accuracy);

/* Whether a mean or a standard deviation along an axis is off by more than `limit` standard deviations, less two
 * standard errors. */
int gbees_certificate_is_far_off(const gbees_certificate *certificate, int axis, double limit);

#endif
