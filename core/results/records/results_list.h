/* results_list.h - the records of a results folder, in files of their own or in run.h5, and its time series. */
#ifndef GBEES_RESULTS_RECORDS_RESULTS_LIST_H
#define GBEES_RESULTS_RECORDS_RESULTS_LIST_H

#include "results/folder/record_name.h"
#include <gbees/error.h>

typedef struct gbees_results_list {
    gbees_record_name *name; /* by leg, then number */
    size_t count, capacity;
    char lost[256]; /* how run.h5 is damaged, if an earlier list of its records had to be taken; else "" */
} gbees_results_list;

/* Adds the records of a folder whose handle this is; of files named `path` in messages. free(list->name). */
int gbees_results_list_read(int folder, const char *path, gbees_results_list *list, gbees_error *error);

/* *file: the path of a folder's time series, to be freed: moments.h5 while the run goes on, then a group of run.h5;
 * NULL if it has none yet. */
int gbees_results_moments(const char *folder, char **file, gbees_error *error);

#endif
