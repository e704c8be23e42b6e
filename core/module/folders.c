/* folders.c - folders of modules from options, environment, build tree and installation; see folders.h. */
#include "folders.h"
#include "base/no_memory.h"
#include "base/text.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#ifndef GBEES_PLUGIN_DIR
#define GBEES_PLUGIN_DIR "/usr/local/lib/gbees/plugins"
#endif
#ifndef GBEES_PARALLEL_DIR
#define GBEES_PARALLEL_DIR "/usr/local/lib/gbees/parallel"
#endif
#ifndef GBEES_BACKEND_DIR
#define GBEES_BACKEND_DIR "/usr/local/lib/gbees/backends"
#endif

static const char user_plugins[] = ".local/lib/gbees/plugins";

void gbees_folders_free(gbees_folders *folders)
{
    for (size_t i = 0; i < folders->count; i++)
        free(folders->path[i]);
    free(folders->path);
    *folders = (gbees_folders){0};
}

/* Owns `path`, also after a failure; NULL counts as out of memory. */
static int append(gbees_folders *folders, char *path, gbees_error *error)
{
    char **grown = path ? realloc(folders->path, (folders->count + 1) * sizeof *grown) : NULL;

    if (!grown) {
        free(path);
        return gbees_no_memory(error, "for the list of modules");
    }
    folders->path = grown;
    folders->path[folders->count++] = path;
    return GBEES_OK;
}

/* Returns the absolute path, with links resolved if it exists, else below the current folder as written. The caller
 * frees it. NULL: not enough memory. */
static char *absolute(const char *path)
{
    char *real = realpath(path, NULL);

    if (real || errno == ENOMEM)
        return real;
    if (path[0] == '/')
        return strdup(path);
    char *here = getcwd(NULL, 0);
    gbees_text text = {0};
    gbees_text_add(&text, "%s/%s", here ? here : "", path);
    free(here);
    return gbees_text_take(&text);
}

/* Appends a folder unless it is in the list. */
static int add(gbees_folders *folders, const char *path, gbees_error *error)
{
    char *folder = absolute(path);

    for (size_t i = 0; folder && i < folders->count; i++)
        if (strcmp(folders->path[i], folder) == 0) {
            free(folder);
            return GBEES_OK;
        }
    return append(folders, folder, error);
}

/* Appends a colon-separated list; NULL is an empty one. Empty entries are ignored, and do not mean the current folder
 * as in PATH. */
static int add_list(gbees_folders *folders, const char *list, gbees_error *error)
{
    while (list && *list) {
        size_t length = strcspn(list, ":");

        if (length) {
            char *entry = strndup(list, length);
            int status = entry ? add(folders, entry, error) : gbees_no_memory(error, "for the list of modules");

            free(entry);
            if (status)
                return status;
        }
        list += length + (list[length] == ':');
    }
    return GBEES_OK;
}

/* Appends "base/rest". */
static int add_below(gbees_folders *folders, const char *base, const char *rest, gbees_error *error)
{
    gbees_text text = {0};

    gbees_text_add(&text, "%s/%s", base, rest);
    int status = text.failed ? gbees_no_memory(error, "for the list of modules") : add(folders, text.data, error);
    gbees_text_free(&text);
    return status;
}

/* Sets `program` to the path of the running program's file, links resolved; returns 0 if that fails. Without /proc,
 * as in a bare chroot, it is found by the name that the program was started with. */
static int find_program(char program[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", program, PATH_MAX - 1);

    if (length > 0) {
        program[length] = '\0';
        return 1;
    }
    const char *name = (const char *)getauxval(AT_EXECFN);
    return name && realpath(name, program);
}

char *gbees_folders_build(void)
{
    static const char made_there[] = "/core/gbees.pc"; /* in no other tree, and never installed so */
    char path[PATH_MAX + sizeof made_there];
    char *slash = find_program(path) ? strrchr(path, '/') : NULL;

    for (; slash && slash != path; slash = strrchr(path, '/')) {
        memcpy(slash, made_there, sizeof made_there);
        const int found = access(path, F_OK) == 0;
        *slash = '\0';
        if (found)
            return strdup(path);
    }
    return NULL;
}

static const char *user_home(void)
{
    const char *home = secure_getenv("HOME");

    return home && home[0] == '/' ? home : NULL;
}

/* Appends the folders of a kind of module: those of the environment's variable, `built` in the build tree if the
 * program runs from it, the installed one, and `beside` in the folder that holds this library. It is found there
 * after an installed tree, such as a Python package, has been moved. */
static int add_kind(gbees_folders *folders, const char *variable, const char *user, const char *built,
                    const char *installed, const char *beside, gbees_error *error)
{
    char path[PATH_MAX], *slash = NULL, *build = gbees_folders_build();
    Dl_info info;
    int status = add_list(folders, secure_getenv(variable), error);

    if (dladdr((const void *)user_plugins, &info) && info.dli_fname && realpath(info.dli_fname, path))
        slash = strrchr(path, '/');
    if (!status && user && user_home())
        status = add_below(folders, user_home(), user, error);
    if (!status && build)
        status = add_below(folders, build, built, error);
    if (!status)
        status = add(folders, installed, error);
    if (!status && slash) {
        *slash = '\0';
        status = add_below(folders, path, beside, error);
    }
    free(build);
    return status;
}

int gbees_folders_user(char **folder, gbees_error *error)
{
    gbees_text text = {0};

    if (!user_home())
        return gbees_error_set(error, GBEES_EUSAGE,
                               "the environment variable HOME is not an absolute path: there is no folder for a "
                               "user's plugins");
    gbees_text_add(&text, "%s/%s", user_home(), user_plugins);
    char *path = gbees_text_take(&text);
    if (!path)
        return gbees_no_memory(error, "for the list of modules");
    *folder = path;
    return GBEES_OK;
}

int gbees_folders_add_plugins(gbees_folders *folders, const char *plugin_path, gbees_error *error)
{
    const int status = add_list(folders, plugin_path, error);

    return status ? status
                  : add_kind(folders, "GBEES_PLUGIN_PATH", user_plugins, "plugins/.libs", GBEES_PLUGIN_DIR,
                             "gbees/plugins", error);
}

int gbees_folders_add_backends(gbees_folders *folders, gbees_error *error)
{
    return add_kind(folders, "GBEES_BACKEND_PATH", NULL, "backends/.libs", GBEES_BACKEND_DIR, "gbees/backends",
                    error);
}

int gbees_folders_add_communicators(gbees_folders *folders, gbees_error *error)
{
    return add_kind(folders, "GBEES_PARALLEL_PATH", NULL, "backends/mpi/.libs", GBEES_PARALLEL_DIR, "gbees/parallel",
                    error);
}

static int is_module(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return entry->d_name[0] != '.' && length > 3 && strcmp(entry->d_name + length - 3, ".so") == 0;
}

/* Compares by byte, as the order of alphasort() depends on the user's locale. */
static int compare(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

int gbees_folders_list(const char *folder, gbees_folders *names, gbees_error *error)
{
    struct dirent **entry = NULL;
    gbees_folders found = {0};
    int status = GBEES_OK, count = scandir(folder, &entry, is_module, compare);

    if (count < 0 && errno != ENOENT)
        return gbees_error_set(error, errno == ENOMEM ? GBEES_ENOMEM : GBEES_EIO, "can't list this folder: %s",
                               strerror(errno));
    for (int i = 0; i < count; i++) {
        if (!status)
            status = append(&found, strdup(entry[i]->d_name), error);
        free(entry[i]);
    }
    free(entry);
    if (status)
        gbees_folders_free(&found);
    else
        *names = found;
    return status;
}
