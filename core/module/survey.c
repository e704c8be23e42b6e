/* survey.c - lists the modules in folders by their cards; see survey.h. */
#include "survey.h"
#include "base/no_memory.h"
#include "base/text.h"
#include "trust.h"
#include <stdlib.h>
#include <string.h>

int gbees_module_cache_open(gbees_module_cache *cache, gbees_module_kind kind, const char *path,
                            const gbees_module **module, gbees_error *error)
{
    for (size_t i = 0; i < cache->count; i++)
        if (cache->module[i]->kind == kind && strcmp(cache->module[i]->path, path) == 0) {
            *module = cache->module[i];
            return GBEES_OK;
        }
    const int refused = cache->trust ? GBEES_OK : gbees_trust_check(path, gbees_module_status(kind), error);
    if (refused)
        return refused;
    gbees_module **grown = realloc(cache->module, (cache->count + 1) * sizeof *grown);
    if (!grown)
        return gbees_no_memory(error, "for the list of modules");
    cache->module = grown;
    int status = gbees_module_open(kind, path, &cache->module[cache->count], error);
    if (!status)
        *module = cache->module[cache->count++];
    return status;
}

void gbees_module_cache_free(gbees_module_cache *cache)
{
    while (cache->count > 0)
        gbees_module_close(cache->module[--cache->count]);
    free(cache->module);
    *cache = (gbees_module_cache){.trust = cache->trust};
}

void gbees_survey_free(gbees_survey *survey)
{
    for (size_t i = 0; i < survey->count; i++) {
        free(survey->entry[i].path);
        free(survey->entry[i].problem);
        free(survey->entry[i].name);
    }
    free(survey->entry);
    *survey = (gbees_survey){0};
}

/* Appends an empty entry; NULL: not enough memory. */
static gbees_survey_entry *append(gbees_survey *survey)
{
    gbees_survey_entry *grown = realloc(survey->entry, (survey->count + 1) * sizeof *grown);

    if (!grown)
        return NULL;
    survey->entry = grown;
    grown[survey->count] = (gbees_survey_entry){0};
    return &grown[survey->count++];
}

/* Returns the name that a file is called after: "mine" for the model mine.so, "cpu" for the backend gbees_cpu.so. The
 * caller frees it. NULL: not enough memory. */
static char *name_of_file(gbees_module_kind kind, const char *file)
{
    const char *prefix = "gbees_";
    size_t skip = strlen(prefix);

    if (kind != GBEES_MODULE_MODEL && strncmp(file, prefix, skip) == 0 && strlen(file) > skip + 3)
        file += skip;
    return strndup(file, strlen(file) - 3);
}

/* Sets the entry's name, which is that of its file so far, to that of its card. */
static int set_name(gbees_survey_entry *entry, const char *name, gbees_error *error)
{
    entry->exact = strcmp(entry->name, name) == 0;
    if (!entry->exact) {
        free(entry->name);
        entry->name = strdup(name);
    }
    return entry->name ? GBEES_OK : gbees_no_memory(error, "for the list of modules");
}

static int set_problem(gbees_survey_entry *entry, const char *problem, gbees_error *error)
{
    entry->problem = strdup(problem);
    for (char *c = entry->problem; c && *c; c++)
        if ((unsigned char)*c < ' ') /* the loader's words may have names out of a damaged file */
            *c = '?';
    entry->exact = 1;
    return entry->problem ? GBEES_OK : gbees_no_memory(error, "for the list of modules");
}

/* Loads the file of an entry. */
static int load(const gbees_survey_source *from, gbees_survey_entry *entry, gbees_error *error)
{
    gbees_error reason;
    const int status = gbees_module_cache_open(from->modules, from->kind, entry->path, &entry->module, &reason);

    if (status == GBEES_ENOMEM)
        return gbees_no_memory(error, "for the list of modules");
    return status ? set_problem(entry, reason.text, error) : set_name(entry, gbees_module_name(entry->module), error);
}

static int survey_file(gbees_survey *survey, const gbees_survey_source *from, const char *folder, const char *file,
                       gbees_error *error)
{
    gbees_survey_entry *entry = append(survey);
    gbees_text path = {0};

    gbees_text_add(&path, "%s/%s", folder, file);
    if (!entry || path.failed) {
        gbees_text_free(&path);
        return gbees_no_memory(error, "for the list of modules");
    }
    entry->path = gbees_text_take(&path);
    entry->name = name_of_file(from->kind, file);
    if (!entry->name)
        return gbees_no_memory(error, "for the list of modules");
    return load(from, entry, error);
}

static int survey_folder(gbees_survey *survey, const gbees_survey_source *from, const char *folder,
                         gbees_error *error)
{
    gbees_folders files = {0};
    gbees_error reason;
    int status = gbees_folders_list(folder, &files, &reason);

    if (status == GBEES_EIO) { /* the path is no folder, or can't be read: an entry says so */
        gbees_survey_entry *entry = append(survey);

        if (!entry || !(entry->path = strdup(folder)) || !(entry->problem = strdup(reason.text)))
            return gbees_no_memory(error, "for the list of modules");
        return GBEES_OK;
    }
    if (status)
        return gbees_no_memory(error, "for the list of modules");
    for (size_t i = 0; i < files.count && !status; i++)
        status = survey_file(survey, from, folder, files.path[i], error);
    gbees_folders_free(&files);
    return status;
}

int gbees_survey_create(gbees_survey *survey, const gbees_survey_source *source, gbees_error *error)
{
    gbees_survey found = {0};
    int status = GBEES_OK;

    for (size_t i = 0; i < source->folders->count && !status; i++)
        status = survey_folder(&found, source, source->folders->path[i], error);
    if (status)
        gbees_survey_free(&found);
    else
        *survey = found;
    return status;
}

const gbees_survey_entry *gbees_survey_find(const gbees_survey *survey, const char *name)
{
    const gbees_survey_entry *found = NULL;

    for (size_t i = 0; i < survey->count; i++) {
        const gbees_survey_entry *entry = &survey->entry[i];

        if (!entry->name || strcmp(entry->name, name) != 0)
            continue;
        if (entry->exact)
            return entry;
        if (!found)
            found = entry;
    }
    return found;
}
