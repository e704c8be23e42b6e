/* file_child.h - lets HDF5 read a file, which may be damaged or hostile, in a child process with limits, so that a
 * crash is an error of the caller. */
#ifndef GBEES_IO_FILE_CHILD_H
#define GBEES_IO_FILE_CHILD_H

#include "base/child.h"

/* Reads the child's data from the pipe, after its status GBEES_OK. No value may be trusted. Returns 0, -1 if the data
 * is incomplete or invalid, 1 if there is no memory. */
typedef int gbees_file_take(gbees_child *child, void *result);

/* Runs the job in a child, which writes a gbees_error first, and calls `take` for the rest. Its limits of memory and
 * time grow with the size of the file. Returns the child's status, or GBEES_EINPUT if it did not end in order. */
int gbees_file_child_read(const char *path, gbees_child_job *job, void *context, gbees_file_take *take, void *result,
                          gbees_error *error);

#endif
