/* export_file.c - opens a file for writing and closes it; a failure is reported with its path. */
#include "export_file.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

int gbees_export_close(FILE *file, const char *path, gbees_error *error)
{
    int failed = fflush(file) || ferror(file);
    int reason = errno;

    if (fclose(file) && !failed) {
        failed = 1;
        reason = errno;
    }
    if (!failed)
        return 0;
    (void)unlink(path);
    return gbees_error_set(error, GBEES_EIO, "can't write the file %s: %s", path, strerror(reason));
}

FILE *gbees_export_open(const char *path, gbees_error *error)
{
    FILE *file = fopen(path, "wx");

    if (!file)
        (void)gbees_error_set(error, GBEES_EIO, "can't write the file %s: %s", path, strerror(errno));
    return file;
}
