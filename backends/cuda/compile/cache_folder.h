/* cache_folder.h - where the cache's files are, and how many of them stay. */
#ifndef GBEES_CUDA_CACHE_FOLDER_H
#define GBEES_CUDA_CACHE_FOLDER_H

#include <stdint.h>

/* The path of an entry, malloc()ed. NULL: the cache is turned off, there is no home, or the folder is not there - it
 * is made if `make` is set - or not this user's own. */
char *cache_folder_path(const char *key, int make);

/* Removes the files used longest ago until all together have at most so many bytes, and what interrupted writers have
 * left. */
void cache_folder_trim(uint64_t bytes);

#endif
