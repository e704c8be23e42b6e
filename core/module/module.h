/* module.h - one shared object, loaded through libltdl and checked: a model, a backend or a communicator. */
#ifndef GBEES_MODULE_MODULE_H
#define GBEES_MODULE_MODULE_H

#include <gbees/backend.h>
#include <gbees/error.h>
#include <gbees/model.h>
#include <gbees/parallel.h>

typedef enum gbees_module_kind {
    GBEES_MODULE_MODEL,
    GBEES_MODULE_BACKEND,
    GBEES_MODULE_PARALLEL, /* a communicator */
    GBEES_MODULE_KINDS     /* number of kinds */
} gbees_module_kind;

extern const char *const gbees_module_word[GBEES_MODULE_KINDS]; /* "model", ... */

/* The status of an error of a module. */
static inline gbees_status gbees_module_status(gbees_module_kind kind)
{
    return kind == GBEES_MODULE_MODEL ? GBEES_EMODEL : GBEES_EBACKEND;
}

/* A loaded module. Exactly one of the cards is set, according to its kind. */
typedef struct gbees_module {
    gbees_module_kind kind;
    char *path;
    void *handle; /* libltdl's lt_dlhandle */
    const gbees_model *model;
    const gbees_backend *backend;
    const gbees_parallel_module *parallel;
} gbees_module;

/* Loads the shared object at an absolute path and checks its card. Thread-safe. A child process loads a model first,
 * so that a damaged file can't crash the caller. *module is set on success; the caller closes it. GBEES_EMODEL for a
 * model, GBEES_EBACKEND for the others; the text is the reason, without the path. */
int gbees_module_open(gbees_module_kind kind, const char *path, gbees_module **module, gbees_error *error);
/* Unloads a module and frees it; NULL is allowed. Backends and communicators stay in memory (module.c). */
void gbees_module_close(gbees_module *module);

/* Returns the name on the module's card. */
const char *gbees_module_name(const gbees_module *module);

#endif
