/* date.c - reads a date of ISO 8601 digit by digit, and counts its seconds. */
#include "date.h"

/* Reads so many digits of a number from `least` to `most`. */
static int read_digits(const char **text, int digits, int least, int most, int *value)
{
    *value = 0;
    for (int i = 0; i < digits; i++, (*text)++) {
        if (**text < '0' || **text > '9')
            return 0;
        *value = 10 * *value + (**text - '0');
    }
    return *value >= least && *value <= most;
}

static int read_sign(const char **text, const char *signs)
{
    for (const char *c = signs; *c; c++)
        if (**text == *c) {
            (*text)++;
            return 1;
        }
    return 0;
}

static int days_of_month(int year, int month)
{
    const int is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return month == 2 ? 28 + is_leap : 30 + (month + (month > 7)) % 2;
}

/* Days from 1970 to a day of the Gregorian calendar, in years that begin in March. */
static int64_t count_days(int year, int month, int day)
{
    const int64_t y = year - (month <= 2), m = (month + 9) % 12;

    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 719469;
}

/* Reads "12:00", "12:00:00" or "12:00:00.25". */
static int read_clock(const char **text, gbees_date *date)
{
    int hour, minute, second = 0;

    if (!read_digits(text, 2, 0, 23, &hour) || !read_sign(text, ":") || !read_digits(text, 2, 0, 59, &minute))
        return 0;
    if (read_sign(text, ":") && !read_digits(text, 2, 0, 60, &second))
        return 0;
    date->seconds += 3600 * hour + 60 * minute + second;
    if (!read_sign(text, ".,"))
        return 1;
    const char *first = *text;
    double part = 0.1;
    for (; **text >= '0' && **text <= '9'; (*text)++, part /= 10)
        date->fraction += part * (**text - '0');
    return *text > first;
}

/* Reads "Z", "+01:00", "+0100" or "+01", or nothing. */
static int read_zone(const char **text, gbees_date *date)
{
    const int sign = **text == '-' ? -1 : 1;
    int hours, minutes = 0;

    date->has_zone = **text != 0;
    if (!date->has_zone || read_sign(text, "Zz"))
        return 1;
    if (!read_sign(text, "+-") || !read_digits(text, 2, 0, 23, &hours))
        return 0;
    if (**text && ((void)read_sign(text, ":"), !read_digits(text, 2, 0, 59, &minutes)))
        return 0;
    date->seconds -= sign * (3600 * hours + 60 * minutes);
    return 1;
}

int gbees_date_read(const char *text, gbees_date *date)
{
    int year, month, day;

    *date = (gbees_date){0};
    if (!read_digits(&text, 4, 1, 9999, &year) || !read_sign(&text, "-") || !read_digits(&text, 2, 1, 12, &month) ||
        !read_sign(&text, "-") || !read_digits(&text, 2, 1, days_of_month(year, month), &day))
        return 0;
    date->seconds = 86400 * count_days(year, month, day);
    if (read_sign(&text, "Tt ") && !read_clock(&text, date))
        return 0;
    return read_zone(&text, date) && !*text;
}

double gbees_date_between(const gbees_date *from, const gbees_date *to)
{
    return (double)(to->seconds - from->seconds) + (to->fraction - from->fraction);
}
