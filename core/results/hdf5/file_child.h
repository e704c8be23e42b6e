/* file_child.h - lets HDF5 read a file, which may be damaged or hostile, in a child process with limits, so that a
 * crash is an error of the caller. */
#ifndef GBEES_RESULTS_HDF5_FILE_CHILD_H
#define GBEES_RESULTS_HDF5_FILE_CHILD_H

#include <gbees/error.h>
#include <stddef.h>

/* What is read goes from the child to the caller through this; both sides call the functions in the same order. They
 * return 0, -1 if the other side has ended or the data is invalid, 1 if there is no memory. */
typedef struct gbees_file_pipe gbees_file_pipe;

/* Whether this is the caller's side, where no value may be trusted. */
int gbees_file_is_taken(const gbees_file_pipe *pipe);
/* Passes `size` bytes. */
int gbees_file_pass(gbees_file_pipe *pipe, void *data, size_t size);
/* Passes count items of `size` bytes at *data, which the caller's side allocates, with a zero behind them, also for
 * none. */
int gbees_file_pass_array(gbees_file_pipe *pipe, void *data, size_t size, size_t count);

/* Reads the file into `result`, which is the caller's as it was; in the child. Returns a gbees_status. */
typedef int gbees_file_load(const char *path, void *result, gbees_error *error);
/* Passes all of the result, on both sides. */
typedef int gbees_file_layout(gbees_file_pipe *pipe, void *result);

/* Has a child load the file, and takes over its result. The child's limits of memory and time grow with the size of
 * the file. Returns its status, or GBEES_EINPUT if it did not end in order. */
int gbees_file_child_read(const char *path, gbees_file_load *load, gbees_file_layout *pass, void *result,
                          gbees_error *error);

#endif
