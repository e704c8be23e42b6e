/* date.h - dates as ISO 8601 writes them: 2026-01-31, 2026-01-31T12:00, 2026-01-31 12:00:00.25+01:00. */
#ifndef GBEES_SCENARIO_DATE_H
#define GBEES_SCENARIO_DATE_H

#include <stdint.h>

/* Seconds since 1970 (days have 86,400), of which `fraction` is below 1; without a zone of whatever clock it is. */
typedef struct gbees_date {
    int64_t seconds;
    double fraction;
    int has_zone;
} gbees_date;

/* Returns 1 if the whole text is a date. */
int gbees_date_read(const char *text, gbees_date *date);

/* Seconds from one date to another. */
double gbees_date_between(const gbees_date *from, const gbees_date *to);

#endif
