/* module.c - loads a shared object by dlopen() and libltdl, a model's in a child process first; see module.h. */
#include "module.h"
#include "base/child.h"
#include "base/write_all.h"
#include "card.h"
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <ltdl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TRIAL_S = 5 }; /* longest time that loading may take in a child process, in seconds */

/* Guards libltdl, which is not thread-safe and has one list of modules for the whole process. */
static pthread_mutex_t ltdl_lock = PTHREAD_MUTEX_INITIALIZER;

static const char *const symbol_of[] = {"gbees_model_card", "gbees_backend_card", "gbees_parallel_card"};
const char *const gbees_module_word[GBEES_MODULE_KINDS] = {"model", "backend", "communicator"};

const char *gbees_module_name(const gbees_module *module)
{
    return module->model ? module->model->name : module->backend ? module->backend->name : module->parallel->name;
}

/* Returns the loader's text without "PATH: " in front, which our caller adds. */
static const char *without_path(const char *text, const char *path)
{
    size_t length = strlen(path);

    if (strncmp(text, path, length) == 0 && strncmp(text + length, ": ", 2) == 0)
        return text + length + 2;
    return text;
}

/* Opens the object with dlopen() before libltdl does, for two reasons: dlerror() tells why it fails, where libltdl
 * says "file not found" for every failure; and RTLD_NOW finds missing functions here. Backends and communicators are
 * never unloaded, as threads that they have started (OpenMP's) may outlive the registry. NULL on failure. */
static void *open_native(gbees_module_kind kind, const char *path, gbees_error *error)
{
    int flags = RTLD_NOW | RTLD_LOCAL | (kind == GBEES_MODULE_MODEL ? 0 : RTLD_NODELETE);
    struct stat file;

    int missing = stat(path, &file) != 0;
    if (missing || !S_ISREG(file.st_mode)) {
        (void)gbees_error_set(error, gbees_module_status(kind), "%s",
                              missing ? strerror(errno) : "not a regular file");
        return NULL;
    }
    void *native = dlopen(path, flags);
    if (!native) {
        const char *text = dlerror();

        (void)gbees_error_set(error, gbees_module_status(kind), "%s",
                              text ? without_path(text, path) : "can't be loaded");
    }
    return native;
}

/* Returns the size of the symbol at `address` by its file's symbol table, in bytes; 0: unknown. */
static size_t size_in_file(const void *address, const char *symbol)
{
    Dl_info info;
    void *entry = NULL;

    if (!dladdr1(address, &info, &entry, RTLD_DL_SYMENT) || !entry || !info.dli_sname ||
        strcmp(info.dli_sname, symbol) != 0)
        return 0;
    return ((const ElfW(Sym) *)entry)->st_size;
}

/* Whether the object at `address` is in the module `native` itself. libltdl also finds symbols of libraries that the
 * module is linked with; a card found there belongs to another module. */
static int is_own(void *native, const void *address)
{
    struct link_map *own = NULL;
    void *found = NULL;
    Dl_info info;

    return dlinfo(native, RTLD_DI_LINKMAP, &own) == 0 && dladdr1(address, &info, &found, RTLD_DL_LINKMAP) &&
           found == own;
}

/* Finds the card and checks it. */
static int take_card(gbees_module *module, void *native, gbees_error *error)
{
    gbees_module_kind kind = module->kind;
    const void *card = lt_dlsym(module->handle, symbol_of[kind]);

    if (!card || !is_own(native, card))
        return gbees_error_set(error, gbees_module_status(kind), "not a gbees %s: it has no symbol %s%s",
                               gbees_module_word[kind], symbol_of[kind],
                               card ? " of its own (a library that it is linked with has)" : "");
    size_t size = size_in_file(card, symbol_of[kind]);
    if (kind == GBEES_MODULE_MODEL) {
        module->model = card;
        return gbees_card_check_model(card, size, error);
    }
    if (kind == GBEES_MODULE_BACKEND) {
        module->backend = card;
        return gbees_card_check_backend(card, size, error);
    }
    module->parallel = card;
    return gbees_card_check_parallel(card, size, error);
}

static lt_dlhandle open_local(const char *path)
{
    lt_dladvise advise;
    lt_dlhandle handle = NULL;

    if (lt_dladvise_init(&advise) != 0)
        return NULL;
    if (lt_dladvise_local(&advise) == 0)
        handle = lt_dlopenadvise(path, advise);
    (void)lt_dladvise_destroy(&advise);
    return handle;
}

/* Loads module->path in this process. ltdl_lock is held. */
static int load(gbees_module *module, gbees_error *error)
{
    void *native = open_native(module->kind, module->path, error);

    if (!native)
        return (int)gbees_module_status(module->kind);
    module->handle = open_local(module->path);
    int status = module->handle
                     ? take_card(module, native, error)
                     : gbees_error_set(error, gbees_module_status(module->kind), "libltdl: %s", lt_dlerror());
    (void)dlclose(native); /* libltdl's handle keeps the object loaded */
    return status;
}

/* The child's job: loads the module, whose constructors run there, unloads it, and writes why it can't be loaded. */
static void load_and_tell(int descriptor, void *context)
{
    gbees_module *module = context;
    gbees_error told = {0};

    (void)load(module, &told);
    if (module->handle)
        (void)lt_dlclose(module->handle);
    (void)gbees_write_all(descriptor, &told, sizeof told);
}

/* Loads and unloads the module in a child process; returns what load() returned there, or an error if it crashed. */
static int try_to_load(gbees_module *module, gbees_error *error)
{
    const gbees_child_limits limits = {.cpu_s = TRIAL_S, .quiet_s = TRIAL_S};
    gbees_error told = {0};
    gbees_child child;
    char why[128];
    int status = gbees_child_start(&child, load_and_tell, module, &limits, error);

    if (status)
        return status;
    int failed = gbees_child_read(&child, &told, sizeof told);
    gbees_child_end(&child, why, sizeof why);
    if (failed)
        return gbees_error_set(error, gbees_module_status(module->kind),
                               "can't be loaded: a process tried to first, and %s: the file is damaged, or its "
                               "constructors do that",
                               why);
    told.text[sizeof told.text - 1] = '\0';
    return told.status ? gbees_error_set(error, told.status, "%s", told.text) : GBEES_OK;
}

/* Initialises libltdl, which counts that, and loads the module. ltdl_lock is held. */
static int start_and_load(gbees_module *module, gbees_error *error)
{
    if (lt_dlinit() != 0)
        return gbees_error_set(error, gbees_module_status(module->kind), "libltdl does not start: %s", lt_dlerror());
    int status = module->kind == GBEES_MODULE_MODEL ? try_to_load(module, error) : GBEES_OK;
    if (!status)
        status = load(module, error);
    if (status && module->handle)
        (void)lt_dlclose(module->handle);
    if (status)
        (void)lt_dlexit();
    return status;
}

int gbees_module_open(gbees_module_kind kind, const char *path, gbees_module **module, gbees_error *error)
{
    gbees_module *made = calloc(1, sizeof *made);

    if (!made || !(made->path = strdup(path))) {
        free(made);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to load it");
    }
    made->kind = kind;
    (void)pthread_mutex_lock(&ltdl_lock);
    int status = start_and_load(made, error);
    (void)pthread_mutex_unlock(&ltdl_lock);
    if (status) {
        free(made->path);
        free(made);
        return status;
    }
    *module = made;
    return GBEES_OK;
}

void gbees_module_close(gbees_module *module)
{
    if (!module)
        return;
    (void)pthread_mutex_lock(&ltdl_lock);
    (void)lt_dlclose(module->handle);
    (void)lt_dlexit(); /* one for each module's lt_dlinit() */
    (void)pthread_mutex_unlock(&ltdl_lock);
    free(module->path);
    free(module);
}
