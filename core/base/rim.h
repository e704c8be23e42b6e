/* rim.h - how far from its peak a Gaussian may be cut off. */
#ifndef GBEES_BASE_RIM_H
#define GBEES_BASE_RIM_H

/* Returns the tail below which hardly anything lies: leaving out all beyond exp(-tail) of the peak of a Gaussian in n
 * dimensions makes its variances smaller by at most about a fraction `most`. From 4 to 60. */
double gbees_rim_tail(int n, double most);
/* The tail of which what lies beyond takes a tenth of an accuracy; with measurements, which may make it larger, a
 * hundredth. */
double gbees_rim_tail_for(int n, double accuracy, int is_measured);

#endif
