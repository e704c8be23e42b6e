/* folder.h - folders by their paths. Those that results are written to: store.h. */
#ifndef GBEES_RESULTS_FOLDER_FOLDER_H
#define GBEES_RESULTS_FOLDER_FOLDER_H

#include <gbees/error.h>

/* Makes the folder and its parents. It may exist if it is empty. */
int gbees_folder_make(const char *path, gbees_error *error);

/* Makes the folder and its parents; it may have files. A folder that is made can be written by its owner alone. */
int gbees_folder_make_all(const char *path, gbees_error *error);

/* folder/name, to be freed; NULL when there is no memory. */
char *gbees_folder_join(const char *folder, const char *name);

#endif
