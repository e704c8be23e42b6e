/* units.c - chooses the unit and the digits of a count, of bytes, and of a duration. */
#include "units.h"
#include <math.h>
#include <stdio.h>

static char *scaled(char *text, size_t size, double value, double base, const char *const *units, int count)
{
    int unit = 0;

    while (unit + 1 < count && value >= 0.9995 * base) {
        value /= base;
        unit++;
    }
    (void)snprintf(text, size, unit && value < 999.5 ? "%.3g%s" : "%.0f%s", value, units[unit]);
    return text;
}

char *gbees_units_count(char *text, size_t size, double value)
{
    static const char *const units[] = {"", "k", "M", "G", "T"};

    return scaled(text, size, value, 1000, units, 5);
}

char *gbees_units_bytes(char *text, size_t size, double bytes)
{
    static const char *const units[] = {" bytes", " KiB", " MiB", " GiB", " TiB"};

    return scaled(text, size, bytes, 1024, units, 5);
}

char *gbees_units_duration(char *text, size_t size, double seconds)
{
    const long whole = seconds < 1e9 ? (long)(seconds + 0.5) : 1000000000L;

    if (whole >= 3600)
        (void)snprintf(text, size, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
    else
        (void)snprintf(text, size, "%ld:%02ld", whole / 60, whole % 60);
    return text;
}

char *gbees_units_rough(char *text, size_t size, double seconds)
{
    static const struct {
        double seconds; /* of one; a number is given in the largest unit of which there are two at least */
        const char *name;
    } units[] = {{365.25 * 86400, "years"}, {86400, "days"}, {3600, "hours"},
                 {60, "minutes"},           {1, "s"},        {1e-3, "ms"}};
    int k = 0;

    while (k < 5 && seconds < (k < 4 ? 1.95 : 0.95) * units[k].seconds)
        k++;
    const double count = seconds / units[k].seconds;
    const double digit = count >= 99.5 ? pow(10, floor(log10(count)) - 1) : 1;
    if (count >= 1e6 || count < 99.5)
        (void)snprintf(text, size, "%.2g %s", count, units[k].name);
    else
        (void)snprintf(text, size, "%.0f %s", digit * floor(count / digit + 0.5), units[k].name);
    return text;
}
