/* survey.c - see survey.h. */
#include "survey.h"
#include "base/text.h"
#include "trust.h"
#include <stdlib.h>
#include <string.h>

static int no_memory(gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the list of modules");
}

int gbees_module_cache_open(gbees_module_cache *cache, gbees_module_kind kind, const char *path, int trial,
                            const gbees_module **module, gbees_error *error)
{
    for (size_t i = 0; i < cache->count; i++)
        if (cache->module[i]->kind == kind && strcmp(cache->module[i]->path, path) == 0) {
            *module = cache->module[i];
            return GBEES_OK;
        }
    if (!cache->trust && gbees_trust_check(path, kind == GBEES_MODULE_MODEL ? GBEES_EMODEL : GBEES_EBACKEND, error))
        return kind == GBEES_MODULE_MODEL ? GBEES_EMODEL : GBEES_EBACKEND;
    gbees_module **grown = realloc(cache->module, (cache->count + 1) * sizeof *grown);
    if (!grown)
        return no_memory(error);
    cache->module = grown;
    int status = gbees_module_open(kind, path, trial, &cache->module[cache->count], error);
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

/* An empty entry at the end, or NULL. */
static gbees_survey_entry *append(gbees_survey *survey)
{
    gbees_survey_entry *grown = realloc(survey->entry, (survey->count + 1) * sizeof *grown);

    if (!grown)
        return NULL;
    survey->entry = grown;
    grown[survey->count] = (gbees_survey_entry){0};
    return &grown[survey->count++];
}

/* "mine" of "mine.so", "cpu" of "gbees_cpu.so"; NULL if memory ran out. */
static char *name_of_file(gbees_module_kind kind, const char *file)
{
    const char *prefix = "gbees_";
    size_t skip = strlen(prefix);

    if (kind == GBEES_MODULE_BACKEND && strncmp(file, prefix, skip) == 0 && strlen(file) > skip + 3)
        file += skip;
    return strndup(file, strlen(file) - 3);
}

static int survey_file(gbees_survey *survey, gbees_module_cache *cache, gbees_module_kind kind, const char *folder,
                       const char *file, gbees_error *error)
{
    gbees_survey_entry *entry = append(survey);
    gbees_text path = {0};
    gbees_error reason;

    gbees_text_add(&path, "%s/%s", folder, file);
    if (!entry || path.failed) {
        gbees_text_free(&path);
        return no_memory(error);
    }
    entry->path = gbees_text_take(&path);
    entry->name = name_of_file(kind, file);
    int status = gbees_module_cache_open(cache, kind, entry->path, 1, &entry->module, &reason);
    if (status)
        entry->problem = strdup(reason.text);
    if (status == GBEES_ENOMEM || !entry->name || (status && !entry->problem))
        return no_memory(error);
    entry->exact = status || strcmp(entry->name, gbees_module_name(entry->module)) == 0;
    if (!entry->exact) {
        free(entry->name);
        entry->name = strdup(gbees_module_name(entry->module));
    }
    return entry->name ? GBEES_OK : no_memory(error);
}

static int survey_folder(gbees_survey *survey, gbees_module_cache *cache, gbees_module_kind kind, const char *folder,
                         gbees_error *error)
{
    gbees_folders files = {0};
    gbees_error reason;
    int status = gbees_folders_list(folder, &files, &reason);

    if (status == GBEES_EIO) { /* to be reported: a folder that is a file, or is not readable */
        gbees_survey_entry *entry = append(survey);

        if (!entry || !(entry->path = strdup(folder)) || !(entry->problem = strdup(reason.text)))
            return no_memory(error);
        return GBEES_OK;
    }
    if (status)
        return no_memory(error);
    for (size_t i = 0; i < files.count && !status; i++)
        status = survey_file(survey, cache, kind, folder, files.path[i], error);
    gbees_folders_free(&files);
    return status;
}

int gbees_survey_create(gbees_survey *survey, gbees_module_cache *cache, gbees_module_kind kind,
                        const gbees_folders *folders, gbees_error *error)
{
    gbees_survey found = {0};
    int status = GBEES_OK;

    for (size_t i = 0; i < folders->count && !status; i++)
        status = survey_folder(&found, cache, kind, folders->path[i], error);
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
