/* survey.h - all modules of a list of folders, and which of them has a name. */
#ifndef GBEES_MODULE_SURVEY_H
#define GBEES_MODULE_SURVEY_H

#include "card_cache.h"
#include "folders.h"
#include "module.h"

/* The modules that a registry has loaded, each once, until it is destroyed. */
typedef struct gbees_module_cache {
    gbees_module **module;
    size_t count;
    int trust; /* 1: files may be anybody's */
} gbees_module_cache;

int gbees_module_cache_open(gbees_module_cache *cache, gbees_module_kind kind, const char *path,
                            gbees_module_attempt *attempt, const gbees_module **module, gbees_error *error);
void gbees_module_cache_free(gbees_module_cache *cache);

/* One file. A file that can't be loaded has the name of its file: a search for that name must report the reason,
 * and not find another file. */
typedef struct gbees_survey_entry {
    char *path;
    const gbees_module *module; /* NULL if it was not loaded, or can't be used ... */
    char *problem;              /* ... for this reason */
    char *name;                 /* the model's or backend's name, or of a broken file its own; NULL for a folder
                                 * that can't be listed */
    int exact;                  /* the file is called after the name: such files come first */
    char *title;                /* of a model that can be used, else NULL */
    int dim_min, dim_max, dim_default;
} gbees_survey_entry;

typedef struct gbees_survey {
    gbees_survey_entry *entry; /* in search order */
    size_t count;
} gbees_survey;

/* Where a survey finds modules, and with what. */
typedef struct gbees_survey_source {
    gbees_module_kind kind;
    const gbees_folders *folders;
    gbees_module_cache *modules;
    gbees_card_cache *cards; /* of models: those that it knows are not loaded; NULL: all are */
} gbees_survey_source;

/* Takes every .so of the folders. */
int gbees_survey_create(gbees_survey *survey, const gbees_survey_source *source, gbees_error *error);
void gbees_survey_free(gbees_survey *survey);
/* The entry that `name` means, or NULL. */
const gbees_survey_entry *gbees_survey_find(const gbees_survey *survey, const char *name);

#endif
