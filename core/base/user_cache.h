/* user_cache.h - the folder of files that only save time: a user's own, and readable by nobody else. */
#ifndef GBEES_BASE_USER_CACHE_H
#define GBEES_BASE_USER_CACHE_H

#include <sys/uio.h>

/* $XDG_CACHE_HOME/gbees or ~/.cache/gbees, malloc()ed. NULL: the cache is turned off (GBEES_CACHE=off), there is no
 * home, or the folder is missing (it is made in the home if `make` is set) or not this user's own. */
char *gbees_user_cache_folder(int make);
/* The path of a file in it, or NULL as above. */
char *gbees_user_cache_path(const char *name, int make);

/* Writes the parts of a file under another name, which is renamed: a reader sees the whole file or none, and of two
 * writers one wins. Returns 1, or 0 on failure. */
int gbees_user_cache_write(const char *path, const struct iovec *part, int count);

#endif
