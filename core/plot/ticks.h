/* ticks.h - chooses round numbers along an axis, and formats numbers for figures. */
#ifndef GBEES_PLOT_TICKS_H
#define GBEES_PLOT_TICKS_H

#include <stddef.h>

enum { GBEES_TICKS_MAX = 12 };

typedef struct gbees_ticks {
    int count;
    double value[GBEES_TICKS_MAX];
    char text[GBEES_TICKS_MAX][24]; /* value / 10^exponent */
    int exponent;                   /* 0 unless the numbers are very large or very small */
} gbees_ticks;

/* Round values (1, 2 or 5 times a power of ten) inside [lo, hi], at most `most` of them, fewer if need be. */
void gbees_ticks_make(gbees_ticks *ticks, double lo, double hi, int most);

/* "name", "name (unit)", "name (10⁻⁶ unit)": the axis' title; a unit of "" or "-" is none. */
void gbees_ticks_title(const gbees_ticks *ticks, const char *name, const char *unit, char *text, size_t size);

/* "x = 1.23 +- 0.40": a mean and a standard deviation, with two digits of the latter. */
void gbees_ticks_moments(const char *name, double mean, double std, char *text, size_t size);

/* Writes a time with as many digits as distinguish times within `range`. */
void gbees_ticks_time(double time, double range, char *text, size_t size);

#endif
