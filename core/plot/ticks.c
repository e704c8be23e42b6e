/* ticks.c - chooses 1, 2 or 5 times a power of ten as the step, and formats ticks, times and moments with the
 * digits that tell them apart. */
#include "ticks.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Writes a true minus sign, three bytes in place of one. */
static void sign(char *text, size_t size)
{
    static const char minus[] = "\u2212";
    const size_t length = strlen(text);

    if (text[0] == '-' && length + 2 < size) {
        memmove(text + 3, text + 1, length);
        memcpy(text, minus, sizeof minus - 1);
    }
}

static void strip_zeros(char *text)
{
    if (strchr(text, '.') && !strchr(text, 'e')) {
        size_t n = strlen(text);

        while (text[n - 1] == '0')
            n--;
        if (text[n - 1] == '.')
            n--;
        text[n] = '\0';
    }
}

static double round_step(double raw)
{
    const double power = pow(10, floor(log10(raw)));
    const double ratio = raw / power;

    return power * (ratio <= 1.0001 ? 1 : ratio <= 2.0001 ? 2 : ratio <= 5.0001 ? 5 : 10);
}

static int is_finite_range(double lo, double hi)
{
    return isfinite(lo) && isfinite(hi) && hi > lo && (hi - lo) > 1e-12 * fmax(fabs(lo), fabs(hi));
}

/* The number of multiples of `step` in lo .. hi. */
static double count_multiples(double lo, double hi, double step)
{
    return floor(hi / step + 1e-6) - ceil(lo / step - 1e-6) + 1;
}

/* The least round step with at most `most` multiples in lo .. hi; if it has one alone, 3 or 4 times a power of ten
 * may do better. */
static double choose_step(double lo, double hi, int most)
{
    double step = round_step((hi - lo) / (most + 1));

    while (count_multiples(lo, hi, step) > most)
        step = round_step(1.5 * step);
    if (count_multiples(lo, hi, step) >= 2)
        return step;
    for (double power = pow(10, floor(log10(step) + 1e-6)), k = 0; k < 2; k++, power /= 10)
        for (int digit = 4; digit >= 3; digit--) {
            const double count = count_multiples(lo, hi, digit * power);

            if (count >= 2 && count <= most)
                return digit * power;
        }
    return step;
}

void gbees_ticks_make(gbees_ticks *ticks, double lo, double hi, int most)
{
    double step, first, largest;
    int decimals;

    *ticks = (gbees_ticks){.count = 0};
    if (!is_finite_range(lo, hi))
        return;
    if (most > GBEES_TICKS_MAX)
        most = GBEES_TICKS_MAX;
    if (most < 2)
        most = 2;
    step = choose_step(lo, hi, most);
    first = ceil(lo / step - 1e-6);
    largest = fmax(fabs(lo), fabs(hi));
    if (largest >= 1e5 || largest < 1e-2)
        ticks->exponent = (int)floor(log10(largest));
    decimals = (int)-floor(log10(step) - ticks->exponent + 1e-6);
    decimals = decimals < 0 ? 0 : decimals > 9 ? 9 : decimals;
    for (double k = first; k * step <= hi + 1e-6 * step && ticks->count < most; k += 1) {
        char *text = ticks->text[ticks->count];

        ticks->value[ticks->count] = k * step;
        (void)snprintf(text, sizeof ticks->text[0], "%.*f", decimals, k * step / pow(10, ticks->exponent));
        if (k == 0)
            (void)snprintf(text, sizeof ticks->text[0], "0");
        sign(text, sizeof ticks->text[0]);
        ticks->count++;
    }
}

static void power_of_ten(int exponent, char *text, size_t size)
{
    static const char *const digits[] = {"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                                         "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
    const int absolute = exponent < 0 ? -exponent : exponent;

    (void)snprintf(text, size, "10%s%s%s%s", exponent < 0 ? "\u207b" : "",
                   absolute >= 100 ? digits[absolute / 100 % 10] : "",
                   absolute >= 10 ? digits[absolute / 10 % 10] : "", digits[absolute % 10]);
}

void gbees_ticks_title(const gbees_ticks *ticks, const char *name, const char *unit, char *text, size_t size)
{
    const int has_unit = unit && unit[0] && strcmp(unit, "-") != 0;
    char power[48] = "";

    if (ticks->exponent)
        power_of_ten(ticks->exponent, power, sizeof power);
    if (has_unit || power[0])
        (void)snprintf(text, size, "%s (%s%s%s)", name, power, has_unit && power[0] ? " " : "", has_unit ? unit : "");
    else
        (void)snprintf(text, size, "%s", name);
}

void gbees_ticks_time(double time, double range, char *text, size_t size)
{
    char plain[64];

    if (range <= 0)
        range = fabs(time);
    if (fabs(time) < 1e-9 * range)
        (void)snprintf(plain, sizeof plain, "0");
    else if (range < 1e-3 || range >= 1e7)
        (void)snprintf(plain, sizeof plain, "%.4g", time);
    else
        (void)snprintf(plain, sizeof plain, "%.*f", range < 0.1 ? 6 : range < 100 ? 3 : range < 1e4 ? 1 : 0, time);
    strip_zeros(plain);
    sign(plain, sizeof plain);
    (void)snprintf(text, size, "%s", plain);
}

void gbees_ticks_moments(const char *name, double mean, double std, char *text, size_t size)
{
    const double largest = fmax(fabs(mean), std);
    const int is_scaled = largest >= 1e5 || (largest > 0 && largest < 1e-2);
    const int exponent = is_scaled ? (int)floor(log10(largest)) : 0;
    const double unit = pow(10, exponent);
    int decimals = std > 0 ? (int)-floor(log10(std / unit)) + 1 : 3;
    char number[64], power[48] = "";

    decimals = decimals < 0 ? 0 : decimals > 9 ? 9 : decimals;
    (void)snprintf(number, sizeof number, "%.*f", decimals, mean / unit);
    sign(number, sizeof number);
    if (exponent)
        power_of_ten(exponent, power, sizeof power);
    (void)snprintf(text, size, "%s = %s%s \u00b1 %.*f%s%s", name, exponent ? "(" : "", number, decimals, std / unit,
                   exponent ? ") " : "", power);
}
