/* folders.h - the folders that are searched for modules, and what lies in them. */
#ifndef GBEES_MODULE_FOLDERS_H
#define GBEES_MODULE_FOLDERS_H

#include <gbees/error.h>
#include <stddef.h>

/* Some names or absolute paths; starts as {0}. */
typedef struct gbees_folders {
    char **path;
    size_t count;
} gbees_folders;

void gbees_folders_free(gbees_folders *folders);

/* Appends the folders for plugins (see gbees_registry_create), or for backends: absolute, each once. */
int gbees_folders_add_plugins(gbees_folders *folders, const char *plugin_path, gbees_error *error);
int gbees_folders_add_backends(gbees_folders *folders, gbees_error *error);
/* The same, for communicators. */
int gbees_folders_add_communicators(gbees_folders *folders, gbees_error *error);

/* The folder for a user's own plugins, which is searched before those of gbees itself; malloc()ed. */
int gbees_folders_user(char **folder, gbees_error *error);
/* The build tree that the program runs from, or NULL. */
const char *gbees_folders_build(void);

/* The names in a folder that end in ".so", sorted by byte. A folder that does not exist has none. */
int gbees_folders_list(const char *folder, gbees_folders *names, gbees_error *error);

#endif
