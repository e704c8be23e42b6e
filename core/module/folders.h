/* folders.h - the folders that are searched for modules, and the files in them. */
#ifndef GBEES_MODULE_FOLDERS_H
#define GBEES_MODULE_FOLDERS_H

#include <gbees/error.h>
#include <stddef.h>

/* A list of absolute paths, or of file names; all zero: empty. */
typedef struct gbees_folders {
    char **path;
    size_t count;
} gbees_folders;

/* Frees the entries, not the struct, and leaves an empty list. */
void gbees_folders_free(gbees_folders *folders);

/* Append the folders that are searched for plugins, backends and communicators, in order of search, as absolute
 * paths, each once (gbees_registry_create() in gbees/registry.h lists them). plugin_path: folders separated by
 * colons, or NULL. GBEES_ENOMEM. */
int gbees_folders_add_plugins(gbees_folders *folders, const char *plugin_path, gbees_error *error);
int gbees_folders_add_backends(gbees_folders *folders, gbees_error *error);
int gbees_folders_add_communicators(gbees_folders *folders, gbees_error *error);

/* Sets *folder to the folder of the user's own plugins, which the caller frees. GBEES_EUSAGE: HOME is not set. */
int gbees_folders_user(char **folder, gbees_error *error);
/* Returns the path of the build tree that the program's file is in, wherever that has been moved or copied to; the
 * caller frees it. NULL: it is in none, or there is not enough memory. */
char *gbees_folders_build(void);

/* Sets *names to the names in a folder that end in ".so", sorted by byte; none if the folder does not exist.
 * GBEES_EIO: the folder can't be read. */
int gbees_folders_list(const char *folder, gbees_folders *names, gbees_error *error);

#endif
