/* cache_folder.h - the folder of the cache: paths of entries, and the limit on its size. */
#ifndef GBEES_CUDA_CACHE_FOLDER_H
#define GBEES_CUDA_CACHE_FOLDER_H

#include <stdint.h>

/* Returns the path of an entry, malloc()ed.  NULL: the cache is turned off, there is no home, or the folder is
 * missing (it is made if `make` is set) or not this user's own. */
char *cache_folder_path(const char *key, int make);

/* Removes the files used longest ago until the rest have at most so many bytes, and files that interrupted writers
 * have left. */
void cache_folder_trim(uint64_t bytes);

#endif
