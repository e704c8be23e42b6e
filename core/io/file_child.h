/* file_child.h - a file that a stranger may have made, read by HDF5 in a child process with limits: what is damaged
 * or made to do harm is an error of the caller and no crash. */
#ifndef GBEES_IO_FILE_CHILD_H
#define GBEES_IO_FILE_CHILD_H

#include "base/child.h"

/* Takes what the child passes after its error, if that is GBEES_OK. Nothing of it is to be trusted. Returns 0, -1 if
 * the child has not passed what it should, 1 if there is no memory. */
typedef int gbees_file_take(gbees_child *child, void *result);

/* Has a child run the job, which writes a gbees_error first, and takes the rest. Limits go with the size of the file.
 * Returns the child's error, or that it has not ended in order. */
int gbees_file_child_read(const char *path, gbees_child_job *job, void *context, gbees_file_take *take, void *result,
                          gbees_error *error);

#endif
