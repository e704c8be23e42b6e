/* library.c - tries the files of a library in turn, each checked by the caller: those in the folders that variables
 * name, in the system's path, and in CUDA toolkits. */
#include "library.h"
#include "base/text.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef GBEES_CUDA_DIR
#define GBEES_CUDA_DIR "/usr/local/cuda"
#endif

/* A search for a library. */
typedef struct search {
    const char *const *names;
    int flags; /* of dlopen() */
    const library_test *test;
    gbees_text places; /* that were searched: "the system's library path, /usr/local/cuda/lib64" */
    gbees_text faults; /* of files that were found: "; FILE: why it can't be opened" */
} search;

/* The functions below return the first usable library that they find, or NULL, and note places and faults. */

/* A file, by its name or its path. */
static void *try_file(search *s, const char *file)
{
    void *library = dlopen(file, s->flags);

    if (!library) {
        const char *why = dlerror();

        /* Reports a file that exists and does not load. */
        if (why && !strstr(why, "No such file"))
            gbees_text_add(&s->faults, "; %s", why);
        return NULL;
    }
    if (!s->test || s->test->is_usable(s->test->context, library))
        return library;
    (void)dlclose(library);
    gbees_text_add(&s->faults, "; %s lacks functions, or is of another version", file);
    return NULL;
}

/* In a folder, whose name has `length` characters. */
static void *try_folder(search *s, const char *folder, size_t length)
{
    void *library = NULL;

    if (!length)
        return NULL;
    for (int i = 0; s->names[i] && !library; i++) {
        gbees_text path = {0};

        gbees_text_add(&path, "%.*s/%s", (int)length, folder, s->names[i]);
        if (!path.failed && access(path.data, F_OK) == 0)
            library = try_file(s, path.data);
        gbees_text_free(&path);
    }
    if (!library)
        gbees_text_add(&s->places, "%s%.*s", s->places.length ? ", " : "", (int)length, folder);
    return library;
}

/* In the folders of a list, "DIR:DIR". */
static void *try_folders(search *s, const char *list)
{
    void *library = NULL;

    while (*list && !library) {
        size_t length = strcspn(list, ":");

        library = try_folder(s, list, length);
        list += length + (list[length] == ':');
    }
    return library;
}

/* In the system's library path. */
static void *try_system(search *s)
{
    void *library = NULL;

    for (int i = 0; s->names[i] && !library; i++)
        library = try_file(s, s->names[i]);
    if (!library)
        gbees_text_add(&s->places, "%sthe system's library path", s->places.length ? ", " : "");
    return library;
}

/* In CUDA toolkits: each folder once, also if two variables name it. In a set-user-ID program variables name none. */
static void *try_toolkits(search *s)
{
    const char *toolkits[] = {secure_getenv("CUDA_HOME"), secure_getenv("CUDA_PATH"), GBEES_CUDA_DIR,
                              "/usr/local/cuda", "/opt/cuda"};
    const size_t count = sizeof toolkits / sizeof *toolkits;
    void *library = NULL;

    for (size_t i = 0; i < count && !library; i++) {
        gbees_text folders = {0};
        size_t seen = 0;

        while (seen < i && (!toolkits[i] || !toolkits[seen] || strcmp(toolkits[i], toolkits[seen]) != 0))
            seen++;
        if (!toolkits[i] || !toolkits[i][0] || seen < i)
            continue;
        gbees_text_add(&folders, "%s/lib64:%s/lib", toolkits[i], toolkits[i]);
        if (!folders.failed)
            library = try_folders(s, folders.data);
        gbees_text_free(&folders);
    }
    return library;
}

void *library_open(const char *const *names, library_kind kind, const library_test *test, gbees_error *error)
{
    const char *only = secure_getenv("GBEES_CUDA_LIBRARY_PATH");
    search s = {.names = names, .test = test, .flags = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE};
    void *library = NULL;

    if (only && only[0])
        library = try_folders(&s, only);
    else {
        library = try_system(&s);
        if (!library && kind == LIBRARY_TOOLKIT)
            library = try_toolkits(&s);
    }
    if (!library)
        (void)gbees_error_set(error, GBEES_EBACKEND, "%s was not found in %s%s", names[0],
                              s.places.data ? s.places.data : "any folder", s.faults.data ? s.faults.data : "");
    gbees_text_free(&s.places);
    gbees_text_free(&s.faults);
    return library;
}

const char *library_toolkit(void)
{
    return GBEES_CUDA_DIR;
}

void library_close(void *library)
{
    if (library)
        (void)dlclose(library);
}

void *library_symbol(void *library, const char *name)
{
    return dlsym(library, name);
}
