/* units.h - formats numbers for people: 12.3k, 48 MiB, 1:02:03. */
#ifndef GBEES_COMMAND_UNITS_H
#define GBEES_COMMAND_UNITS_H

#include <stddef.h>

/* Each writes to text[size] and returns it. */
char *gbees_units_count(char *text, size_t size, double value);
char *gbees_units_bytes(char *text, size_t size, double bytes);
char *gbees_units_duration(char *text, size_t size, double seconds);
/* "4 s", "12 days", "400 years": of two digits, for forecasts. */
char *gbees_units_rough(char *text, size_t size, double seconds);

#endif
