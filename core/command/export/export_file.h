/* export_file.h - the files that gbees-export writes. */
#ifndef GBEES_COMMAND_EXPORT_EXPORT_FILE_H
#define GBEES_COMMAND_EXPORT_EXPORT_FILE_H

#include <gbees/error.h>
#include <stdio.h>

/* Makes a file, which must not exist; NULL, and *error is set. */
FILE *gbees_export_open(const char *path, gbees_error *error);
/* Closes the file; a half-written one is removed. */
int gbees_export_close(FILE *file, const char *path, gbees_error *error);

#endif
