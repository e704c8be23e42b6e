/* registry.c - finds models, backends and communicators by name; see gbees/registry.h and doc/plugins.md.
 *
 * A name means the file NAME.so, or gbees_NAME.so of a backend, in the first folder that has it. Only if there is
 * none, or its card has another name, the cards of all files are searched. So a run usually loads one plugin only.
 */
#include "base/no_memory.h"
#include "base/text.h"
#include "registry_private.h"
#include "survey.h"
#include <errno.h>
#include <gbees/gbees.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

struct gbees_registry {
    gbees_folders folders[GBEES_MODULE_KINDS]; /* indexed by gbees_module_kind */
    gbees_module_cache cache;
    gbees_module_info *list; /* [list_count]: the list that was returned last */
    gbees_survey survey[2];  /* of models and of backends; they own the texts in `list` */
    char **hidden;           /* [list_count]: for a file whose name means another file, its `problem`; else NULL */
    size_t list_count;
    int is_secure; /* 1: the caller chooses no code; see registry_private.h */
};

static void free_list(gbees_registry *registry)
{
    for (size_t i = 0; registry->hidden && i < registry->list_count; i++)
        free(registry->hidden[i]);
    free(registry->hidden);
    free(registry->list);
    gbees_survey_free(&registry->survey[0]);
    gbees_survey_free(&registry->survey[1]);
    registry->hidden = NULL;
    registry->list = NULL;
    registry->list_count = 0;
}

void gbees_registry_destroy(gbees_registry *registry)
{
    if (!registry)
        return;
    free_list(registry);
    gbees_module_cache_free(&registry->cache);
    for (int kind = 0; kind < GBEES_MODULE_KINDS; kind++)
        gbees_folders_free(&registry->folders[kind]);
    free(registry);
}

int gbees_registry_create_for(int is_secure, const char *plugin_path, gbees_registry **registry, gbees_error *error)
{
    gbees_registry *made = calloc(1, sizeof *made);

    if (!made)
        return gbees_no_memory(error, "for the list of modules");
    made->is_secure = is_secure;
    int status = gbees_folders_add_plugins(&made->folders[GBEES_MODULE_MODEL], is_secure ? NULL : plugin_path, error);
    if (!status)
        status = gbees_folders_add_backends(&made->folders[GBEES_MODULE_BACKEND], error);
    if (!status)
        status = gbees_folders_add_communicators(&made->folders[GBEES_MODULE_PARALLEL], error);
    if (status) {
        gbees_registry_destroy(made);
        return status;
    }
    *registry = made;
    return GBEES_OK;
}

int gbees_registry_create(const char *plugin_path, gbees_registry **registry, gbees_error *error)
{
    return gbees_registry_create_for(getauxval(AT_SECURE) != 0, plugin_path, registry, error);
}

void gbees_registry_trust(gbees_registry *registry)
{
    registry->cache.trust = !registry->is_secure;
}

int gbees_registry_folders(gbees_registry *registry, const char *const **folders, size_t *count)
{
    const gbees_folders *plugins = &registry->folders[GBEES_MODULE_MODEL];

    *folders = (const char *const *)plugins->path;
    *count = plugins->count;
    return GBEES_OK;
}

/* ---- by name ---- */

/* Loads the file at an absolute path; an error's text is "PATH: reason". */
static int open_path(gbees_registry *registry, gbees_module_kind kind, const char *path, const gbees_module **module,
                     gbees_error *error)
{
    gbees_error reason;
    int status = gbees_module_cache_open(&registry->cache, kind, path, module, &reason);

    return status ? gbees_error_set(error, (gbees_status)status, "%s: %s", path, reason.text) : GBEES_OK;
}

/* Loads the file that a name with a '/' is the path of. */
static int open_file(gbees_registry *registry, gbees_module_kind kind, const char *name, const gbees_module **module,
                     gbees_error *error)
{
    size_t length = strlen(name);

    if (registry->is_secure)
        return gbees_error_set(error, gbees_module_status(kind),
                               "%s: not loaded: this program runs with other rights than yours (set-user-ID), and so "
                               "takes a %s by its name alone, not by its file",
                               name, gbees_module_word[kind]);
    /* A .la file is refused: libltdl would load the files that it names. */
    if (length < 4 || strcmp(name + length - 3, ".so") != 0)
        return gbees_error_set(error, gbees_module_status(kind), "%s: not a %s's file: those end in .so", name,
                               gbees_module_word[kind]);
    char *path = realpath(name, NULL);
    if (!path)
        return gbees_error_set(error, errno == ENOMEM ? GBEES_ENOMEM : gbees_module_status(kind), "%s: %s", name,
                               strerror(errno));
    int status = open_path(registry, kind, path, module, error);
    free(path);
    return status;
}

/* Loads NAME.so from the first folder that has it. *module stays NULL if none has it, or if its card has another
 * name, which is then added to `remark` for an error's text. */
static int open_exact(gbees_registry *registry, gbees_module_kind kind, const char *name, const gbees_module **module,
                      gbees_text *remark, gbees_error *error)
{
    const gbees_folders *folders = &registry->folders[kind];

    for (size_t i = 0; i < folders->count; i++) {
        const gbees_module *found = NULL;
        gbees_text path = {0};
        struct stat file;
        int status = GBEES_OK;

        gbees_text_add(&path, "%s/%s%s.so", folders->path[i], kind == GBEES_MODULE_MODEL ? "" : "gbees_", name);
        if (path.failed)
            status = gbees_no_memory(error, "for the list of modules");
        else if (lstat(path.data, &file) == 0)
            status = open_path(registry, kind, path.data, &found, error);
        if (found && strcmp(gbees_module_name(found), name) == 0)
            *module = found;
        else if (found)
            gbees_text_add(remark, "; %s holds the %s '%s'", path.data, gbees_module_word[kind],
                           gbees_module_name(found));
        gbees_text_free(&path);
        if (status || *module)
            return status;
    }
    return GBEES_OK;
}

/* Surveys the folders of a kind. */
static int look(gbees_registry *registry, gbees_module_kind kind, gbees_survey *survey, gbees_error *error)
{
    const gbees_survey_source from = {kind, &registry->folders[kind], &registry->cache};

    return gbees_survey_create(survey, &from, error);
}

/* Appends a suggestion of what the name may mean. */
static void add_nearest(gbees_text *text, const char *name, const gbees_survey *survey)
{
    const char **names = calloc(survey->count + 1, sizeof *names);
    size_t count = 0, length = strlen(name);

    for (size_t i = 0; names && i < survey->count; i++)
        if (survey->entry[i].name)
            names[count++] = survey->entry[i].name;
    const char *nearest = names ? gbees_text_nearest(name, names, count) : NULL;
    if (nearest)
        gbees_text_add(text, ": did you mean '%s'?", nearest);
    else if (length > 3 && strcmp(name + length - 3, ".so") == 0)
        gbees_text_add(text, ": a file is given with its folder, as in ./%s", name);
    free(names);
}

/* Sets the error that no module has the name. */
static int unknown(const gbees_registry *registry, gbees_module_kind kind, const char *name,
                   const gbees_survey *survey, const char *remark, gbees_error *error)
{
    const gbees_folders *folders = &registry->folders[kind];
    gbees_text text = {0};

    gbees_text_add(&text, "no %s named '%s'", gbees_module_word[kind], name);
    add_nearest(&text, name, survey);
    gbees_text_add(&text, " (searched: ");
    for (size_t i = 0; i < folders->count; i++)
        gbees_text_add(&text, "%s%s", i ? ", " : "", folders->path[i]);
    gbees_text_add(&text, "%s; gbees-run --list shows all)", remark ? remark : "");
    int status = text.failed ? gbees_no_memory(error, "for the list of modules")
                             : gbees_error_set(error, gbees_module_status(kind), "%s", text.data);
    gbees_text_free(&text);
    return status;
}

/* Searches the cards of all files for the name. */
static int open_any(gbees_registry *registry, gbees_module_kind kind, const char *name, const gbees_module **module,
                    const char *remark, gbees_error *error)
{
    gbees_survey survey = {0};
    int status = look(registry, kind, &survey, error);

    if (status)
        return status;
    const gbees_survey_entry *entry = gbees_survey_find(&survey, name);
    if (entry && entry->module)
        *module = entry->module;
    else if (entry)
        status = gbees_error_set(error, gbees_module_status(kind), "%s: %s", entry->path, entry->problem);
    else
        status = unknown(registry, kind, name, &survey, remark, error);
    gbees_survey_free(&survey);
    return status;
}

/* Finds a module by its name or path; *module is set on success. */
static int find(gbees_registry *registry, gbees_module_kind kind, const char *name, const gbees_module **module,
                gbees_error *error)
{
    gbees_text remark = {0};

    if (!name || !name[0])
        return gbees_error_set(error, GBEES_EUSAGE, "no name of a %s given (gbees-run --list shows all)",
                               gbees_module_word[kind]);
    if (strchr(name, '/'))
        return open_file(registry, kind, name, module, error);
    int status = open_exact(registry, kind, name, module, &remark, error);
    if (!status && !*module)
        status = open_any(registry, kind, name, module, remark.data, error);
    gbees_text_free(&remark);
    return status;
}

int gbees_registry_model(gbees_registry *registry, const char *name, const gbees_model **model, gbees_error *error)
{
    const gbees_module *module = NULL;
    int status = find(registry, GBEES_MODULE_MODEL, name, &module, error);

    if (!status)
        *model = module->model; /* NOLINT(clang-analyzer-core.NullDereference): find() sets it, or fails */
    return status;
}

int gbees_registry_backend(gbees_registry *registry, const char *name, const gbees_backend **backend,
                           gbees_error *error)
{
    const gbees_module *module = NULL;
    int status = find(registry, GBEES_MODULE_BACKEND, name, &module, error);

    if (!status)
        *backend = module->backend; /* NOLINT(clang-analyzer-core.NullDereference): find() sets it, or fails */
    return status;
}

int gbees_registry_usable_backend(gbees_registry *registry, const char *name, const gbees_backend **backend,
                                  gbees_error *error)
{
    const gbees_backend *found = NULL;
    char why[512] = "";
    const int status = gbees_registry_backend(registry, name, &found, error);

    if (status)
        return status;
    if (found->probe(why, sizeof why))
        return gbees_error_set(error, GBEES_EBACKEND, "the backend '%s' can't be used here: %s", name, why);
    *backend = found;
    return GBEES_OK;
}

int gbees_registry_parallel(gbees_registry *registry, const char *name, const gbees_parallel_module **module,
                            gbees_error *error)
{
    const gbees_module *found = NULL;
    int status = find(registry, GBEES_MODULE_PARALLEL, name, &found, error);

    if (!status)
        *module = found->parallel; /* NOLINT(clang-analyzer-core.NullDereference): find() sets it, or fails */
    return status;
}

/* ---- all of them ---- */

/* Sets *info to an entry of the survey, and *hidden to the text that the name means another file, if so. Returns 1,
 * or 0 if there is not enough memory. */
static int describe(const gbees_survey *survey, const gbees_survey_entry *entry, gbees_module_info *info,
                    char **hidden)
{
    const gbees_survey_entry *winner = entry->name ? gbees_survey_find(survey, entry->name) : NULL;

    info->path = entry->path;
    info->problem = entry->problem;
    if (entry->problem)
        return 1;
    if (winner && winner != entry) {
        gbees_text text = {0};

        gbees_text_add(&text, "hidden: the name '%s' means %s", entry->name, winner->path);
        info->problem = *hidden = gbees_text_take(&text);
        return *hidden != NULL;
    }
    info->model = entry->module ? entry->module->model : NULL;
    info->backend = entry->module ? entry->module->backend : NULL;
    return 1;
}

static int make_list(gbees_registry *registry, gbees_error *error)
{
    free_list(registry);
    for (int kind = 0; kind < 2; kind++) {
        int status = look(registry, (gbees_module_kind)kind, &registry->survey[kind], error);
        if (status)
            return status;
    }
    size_t total = registry->survey[0].count + registry->survey[1].count;
    registry->list = calloc(total + 1, sizeof *registry->list);
    registry->hidden = calloc(total + 1, sizeof *registry->hidden);
    if (!registry->list || !registry->hidden)
        return gbees_no_memory(error, "for the list of modules");
    registry->list_count = total;
    for (size_t kind = 0, k = 0; kind < 2; kind++)
        for (size_t i = 0; i < registry->survey[kind].count; i++, k++)
            if (!describe(&registry->survey[kind], &registry->survey[kind].entry[i], &registry->list[k],
                          &registry->hidden[k]))
                return gbees_no_memory(error, "for the list of modules");
    return GBEES_OK;
}

int gbees_registry_list(gbees_registry *registry, const gbees_module_info **list, size_t *count, gbees_error *error)
{
    const int status = make_list(registry, error);

    if (status)
        return status;
    *list = registry->list;
    *count = registry->list_count;
    return GBEES_OK;
}
