/** @file gbees/registry.h
 * The models and backends found on disk (core/module).
 */
#ifndef GBEES_REGISTRY_H
#define GBEES_REGISTRY_H

#include <gbees/backend.h>
#include <gbees/error.h>
#include <gbees/model.h>
#include <gbees/parallel.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The modules of a list of folders. It owns the models and backends that it loads. */
typedef struct gbees_registry gbees_registry;

/** Makes a registry; loads nothing yet.
 *
 * Folders of plugins, in order of search: plugin_path, $GBEES_PLUGIN_PATH, ~/.local/lib/gbees/plugins, that of the
 * build tree if the program runs from it, the installed one. Of backends: $GBEES_BACKEND_PATH, the build tree's, the
 * installed one.
 * @param plugin_path folders separated by colons, or NULL
 */
int gbees_registry_create(const char *plugin_path, gbees_registry **registry, gbees_error *error);
/** Has the registry load files that belong to other users (than root, the present one, and the owner of this library)
 * and files that others may write to. These are refused as a rule: their code has all rights of the user. */
void gbees_registry_trust(gbees_registry *registry);
/** Frees the registry, its models and its backends. */
void gbees_registry_destroy(gbees_registry *registry);

/** Loads a model. GBEES_EMODEL if it is unknown: the text names the nearest name and the folders searched.
 * @param name the model's name, or the path of a plugin: it contains a '/'
 */
int gbees_registry_model(gbees_registry *registry, const char *name, const gbees_model **model, gbees_error *error);
/** Loads a backend by its name. GBEES_EBACKEND if it is unknown. */
int gbees_registry_backend(gbees_registry *registry, const char *name, const gbees_backend **backend,
                           gbees_error *error);

/** Loads a communicator by its name. GBEES_EBACKEND if it is unknown. Folders, in order of search:
 * $GBEES_PARALLEL_PATH, the build tree's, the installed one. */
int gbees_registry_parallel(gbees_registry *registry, const char *name, const gbees_parallel_module **module,
                            gbees_error *error);

/** A shared object of the folders. */
typedef struct gbees_module_info {
    const char *path;             /**< its file */
    const gbees_model *model;     /**< what a plugin exports; NULL also where it was not loaded */
    const gbees_backend *backend; /**< what a backend exports */
    const char *problem;          /**< why it can't be used, or the file of the same name that is found before it */
    const char *name;             /**< of a model that can be used, else NULL */
    const char *title;            /**< of such a model */
    int dim_min;                  /**< its least dimension */
    int dim_max;                  /**< its largest dimension */
    int dim_default;              /**< that of its default scenario */
} gbees_module_info;

/** Loads every .so of the folders, in order of search: exactly one of model, backend and problem is set. The registry
 * owns the list. */
int gbees_registry_scan(gbees_registry *registry, const gbees_module_info **list, size_t *count, gbees_error *error);
/** Gives the same list, and loads no plugin that has been listed before and has not changed since: what its card says
 * is in the user's cache folder. `model` may be NULL where `name` is set. */
int gbees_registry_list(gbees_registry *registry, const gbees_module_info **list, size_t *count, gbees_error *error);
/** The folders of plugins in order of search, whether or not they exist. The registry owns them. */
int gbees_registry_folders(gbees_registry *registry, const char *const **folders, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
