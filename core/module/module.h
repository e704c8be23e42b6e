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
    GBEES_MODULE_KINDS     /* how many */
} gbees_module_kind;

typedef struct gbees_module {
    gbees_module_kind kind;
    char *path;
    void *handle;                          /* libltdl's */
    const gbees_model *model;              /* of a model, else NULL */
    const gbees_backend *backend;          /* of a backend, else NULL */
    const gbees_parallel_module *parallel; /* of a communicator, else NULL */
} gbees_module;

/* How a module is loaded, and how that went. */
typedef struct gbees_module_attempt {
    int trial;        /* 1: after a child process has done so without harm */
    int card_refused; /* set to 1 if it could be loaded, and its card is refused: another attempt ends so, too */
} gbees_module_attempt;

/* Loads an absolute path. The error's text is the reason alone, without the path. */
int gbees_module_open(gbees_module_kind kind, const char *path, gbees_module_attempt *attempt, gbees_module **module,
                      gbees_error *error);
void gbees_module_close(gbees_module *module);

/* The name on the card. */
const char *gbees_module_name(const gbees_module *module);

#endif
