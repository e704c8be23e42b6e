/* export_formats.h - the formats of gbees-export: what each writes to the folder OUT, which is there and empty. To
 * add one: its function, here, and its row in `formats` of export.c. */
#ifndef GBEES_COMMAND_EXPORT_FORMATS_H
#define GBEES_COMMAND_EXPORT_FORMATS_H

#include <gbees/gbees.h>

/* The text files of the reference codes. */
int gbees_export_gbees(const char *out, const gbees_results *results, gbees_error *error);
/* A table a record, and a list of them. */
int gbees_export_csv(const char *out, const gbees_results *results, gbees_error *error);
/* An image of each marginal and record, and lists of them. */
int gbees_export_vti(const char *out, const gbees_results *results, gbees_error *error);

#endif
