/* plot_child.h - draws in a child process, so that what goes wrong in a library that draws (a crash, or an endless
 * loop, as they come for lack of memory) ends with a sentence, too. */
#ifndef GBEES_COMMAND_PLOT_PLOT_CHILD_H
#define GBEES_COMMAND_PLOT_PLOT_CHILD_H

#include <gbees/error.h>

/* Draws, and tells of each file by gbees_plot_child_tell(). */
typedef int gbees_plot_job(void *context, int descriptor, gbees_error *error);

/* Runs the job in a child, prints each path that it tells of to standard output, and returns the job's error. A child
 * that ends otherwise is GBEES_EIO, and one that tells of nothing for five minutes. */
int gbees_plot_child_run(gbees_plot_job *job, void *context, gbees_error *error);

/* For the job: tells the caller of a file that has been written. */
int gbees_plot_child_tell(int descriptor, const char *path, gbees_error *error);

#endif
