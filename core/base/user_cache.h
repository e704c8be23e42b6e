/* user_cache.h - the user's cache folder, whose files save time and can be deleted at any moment: compiled kernels,
 * plugin cards. It is created with mode 0700; one that others can write to is not used. */
#ifndef GBEES_BASE_USER_CACHE_H
#define GBEES_BASE_USER_CACHE_H

#include <sys/uio.h>

/* Returns the folder's path, $XDG_CACHE_HOME/gbees or ~/.cache/gbees, which the caller frees. If `make` is set a
 * missing folder is created; a missing home is not. NULL: the cache is turned off by GBEES_CACHE=off, the folder does
 * not exist, it belongs to another user or others can write to it, the program is a set-user-ID one, whose caller
 * chooses these variables, or there is not enough memory. */
char *gbees_user_cache_folder(int make);
/* Returns the path of a file in the folder, which the caller frees, or NULL as above. */
char *gbees_user_cache_path(const char *name, int make);

/* Writes part[0 ... count - 1], one after the other, to the file `path`. It writes to a temporary file and renames
 * it, so that a reader sees the whole file or none. Returns 1 on success and 0 on failure, after which `path` is as
 * before. */
int gbees_user_cache_write(const char *path, const struct iovec *part, int count);

#endif
