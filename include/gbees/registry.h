/** @file gbees/registry.h
 * The models and backends found on disk (core/module).
 */
#ifndef GBEES_REGISTRY_H
#define GBEES_REGISTRY_H

#include <gbees/backend.h>
#include <gbees/error.h>
#include <gbees/model.h>
#include <gbees/parallel.h>

GBEES_BEGIN

/** Finds plugins, backends and communicators in folders and loads them. It owns what it has loaded. */
typedef struct gbees_registry gbees_registry;

/** Creates a registry; nothing is loaded yet.
 *
 * Plugins are searched for in plugin_path, $GBEES_PLUGIN_PATH, ~/.local/lib/gbees/plugins, the build tree if the
 * program runs from it, and the installed folder, in this order; backends in $GBEES_BACKEND_PATH, the build tree, and
 * the installed folder.
 * In a set-user-ID program the caller must not choose its code: plugin_path, these variables and
 * gbees_registry_trust() have no effect there, and a module that is named by its file is refused.
 * @param plugin_path folders separated by colons, or NULL
 */
int gbees_registry_create(const char *plugin_path, gbees_registry **registry, gbees_error *error);
/** Allows files that belong to other users than root, the current user and the owner of this library, and files that
 * others can write to. They are refused by default, as a plugin's code runs with all rights of the user. */
void gbees_registry_trust(gbees_registry *registry);
/** Frees the registry and all that it has loaded; no model or backend may be in use. NULL is allowed. */
void gbees_registry_destroy(gbees_registry *registry);

/** Loads a model. GBEES_EMODEL: there is none of this name (the text suggests a similar one and lists the folders
 * searched), or the file can't be used.
 * @param name the model's name; or the path of a plugin, if it contains a '/'
 */
int gbees_registry_model(gbees_registry *registry, const char *name, const gbees_model **model, gbees_error *error);
/** Loads a backend by its name. GBEES_EBACKEND: there is none, or it can't be used. */
int gbees_registry_backend(gbees_registry *registry, const char *name, const gbees_backend **backend,
                           gbees_error *error);
/** Loads a backend by its name, and asks it whether it can be used on this machine. GBEES_EBACKEND: there is none, or
 * it can't; the text says why. */
int gbees_registry_usable_backend(gbees_registry *registry, const char *name, const gbees_backend **backend,
                                  gbees_error *error);

/** Loads a communicator by its name, from $GBEES_PARALLEL_PATH, the build tree, or the installed folder.
 * GBEES_EBACKEND: there is none, or it can't be used. */
int gbees_registry_parallel(gbees_registry *registry, const char *name, const gbees_parallel_module **module,
                            gbees_error *error);

/** A shared object in one of the folders. */
typedef struct gbees_module_info {
    const char *path;             /**< its file */
    const gbees_model *model;     /**< a plugin's card */
    const gbees_backend *backend; /**< a backend's card */
    const char *problem;          /**< why it can't be used; or the file of the same name that is found before it */
} gbees_module_info;

/** Loads every .so in the folders and lists them in order of search; exactly one of model, backend and problem of an
 * entry is set. The registry owns the list. */
int gbees_registry_list(gbees_registry *registry, const gbees_module_info **list, size_t *count, gbees_error *error);
/** Returns the folders searched for plugins, in order, whether or not they exist. The registry owns them. */
int gbees_registry_folders(gbees_registry *registry, const char *const **folders, size_t *count);

GBEES_END
#endif
