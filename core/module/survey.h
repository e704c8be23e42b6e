/* survey.h - lists all modules in folders, and finds the one that a name means. */
#ifndef GBEES_MODULE_SURVEY_H
#define GBEES_MODULE_SURVEY_H

#include "folders.h"
#include "module.h"

/* The modules that a registry has loaded; they stay loaded until it is destroyed. */
typedef struct gbees_module_cache {
    gbees_module **module; /* [count] */
    size_t count;
    int trust; /* 1: load files whoever they belong to; 0: only those that gbees_trust_check() (trust.h) accepts */
} gbees_module_cache;

/* Returns the module at `path`, an absolute one, and loads it if it has not been loaded; arguments and errors are
 * those of gbees_module_open(). The cache owns the module. */
int gbees_module_cache_open(gbees_module_cache *cache, gbees_module_kind kind, const char *path,
                            const gbees_module **module, gbees_error *error);
/* Closes all modules and leaves an empty cache. */
void gbees_module_cache_free(gbees_module_cache *cache);

/* A file, or a folder that can't be listed. */
typedef struct gbees_survey_entry {
    char *path;
    const gbees_module *module; /* NULL if it can't be used */
    char *problem;              /* why it can't be used; else NULL */
    char *name; /* by its card, or, if it can't be used, by its file, so that a search for that name reports the
                 * problem and does not find another file. NULL for a folder */
    int exact;  /* whether the file is called after `name`; such files are found before others */
} gbees_survey_entry;

typedef struct gbees_survey {
    gbees_survey_entry *entry; /* [count], in order of search */
    size_t count;
} gbees_survey;

/* Arguments of a survey. */
typedef struct gbees_survey_source {
    gbees_module_kind kind;
    const gbees_folders *folders;
    gbees_module_cache *modules; /* loads the modules */
} gbees_survey_source;

/* Lists every .so in the folders. A file that can't be used is an entry and no failure. GBEES_ENOMEM. */
int gbees_survey_create(gbees_survey *survey, const gbees_survey_source *source, gbees_error *error);
/* Frees the entries, not the struct, and leaves an empty survey. */
void gbees_survey_free(gbees_survey *survey);
/* Returns the first entry whose file is called after `name`, or else the first whose card has it; NULL: none. */
const gbees_survey_entry *gbees_survey_find(const gbees_survey *survey, const char *name);

#endif
