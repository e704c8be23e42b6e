/* registry_private.h - the registry of a program that runs with other rights than its caller's. */
#ifndef GBEES_MODULE_REGISTRY_PRIVATE_H
#define GBEES_MODULE_REGISTRY_PRIVATE_H

#include <gbees/registry.h>

/* gbees_registry_create(), which passes whether the kernel says that the program is a set-user-ID one (is_secure).
 * Such a program must not load code that its caller chooses: plugin_path and gbees_registry_trust() have no effect
 * then, and a module that is named by its file is refused. */
int gbees_registry_create_for(int is_secure, const char *plugin_path, gbees_registry **registry, gbees_error *error);

#endif
