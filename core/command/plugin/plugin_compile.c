/* plugin_compile.c - gbees-plugin: compiles a file of C or C++ with a user's compiler; see plugin.h. */
#include "base/no_memory.h"
#include "base/text.h"
#include "module/folders.h"
#include "plugin.h"
#include <argz.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef GBEES_INCLUDE_DIR
#define GBEES_INCLUDE_DIR "/usr/local/include"
#endif
#ifndef GBEES_SOURCE_DIR
#define GBEES_SOURCE_DIR ""
#endif
#ifndef GBEES_CC
#define GBEES_CC "cc"
#endif

/* ---- the source ---- */

typedef enum language { LANGUAGE_NONE, LANGUAGE_C, LANGUAGE_CXX } language;

static language language_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    static const char *const cxx[] = {".cc", ".cpp", ".cxx", ".C"};

    if (!dot)
        return LANGUAGE_NONE;
    for (size_t i = 0; i < sizeof cxx / sizeof cxx[0]; i++)
        if (strcmp(dot, cxx[i]) == 0)
            return LANGUAGE_CXX;
    return strcmp(dot, ".c") == 0 ? LANGUAGE_C : LANGUAGE_NONE;
}

int gbees_plugin_check_source(const char *path, gbees_error *error)
{
    if (language_of(path) == LANGUAGE_NONE)
        return gbees_error_set(error, GBEES_EUSAGE, "%s: a source file ends in .c, or for C++ in .cc, .cpp or .cxx",
                               path);
    if (access(path, R_OK))
        return gbees_error_set(error, GBEES_EUSAGE, "%s: %s", path, strerror(errno));
    return GBEES_OK;
}

/* ---- the compiler ---- */

static int has_headers(const gbees_text *folder)
{
    gbees_text path = {0};

    gbees_text_add(&path, "%s/gbees/model.h", folder->data ? folder->data : "");
    int found = !folder->failed && !path.failed && access(path.data, R_OK) == 0;
    gbees_text_free(&path);
    return found;
}

/* Whether the headers are in the folder, which becomes *folder. */
static int is_headers(gbees_text *folder, const char *above, const char *name)
{
    gbees_text_free(folder);
    gbees_text_add(folder, "%s%s", above, name);
    return has_headers(folder);
}

/* The headers' folder: PREFIX/include of PREFIX/bin, or SOURCES/include of SOURCES/BUILD/.libs, wherever these have
 * been moved to; else that of the sources of a build folder elsewhere, or the installed one. */
static int find_headers(gbees_text *folder, gbees_error *error)
{
    char program[PATH_MAX] = "";
    char *slash = readlink("/proc/self/exe", program, sizeof program - 1) > 0 ? strrchr(program, '/') : NULL;

    for (int up = 0; slash && up < 3; up++, slash = strrchr(program, '/')) {
        *slash = '\0';
        if (is_headers(folder, program, "/include"))
            return GBEES_OK;
    }
    char *build = gbees_folders_build();
    const char *made_with = build ? GBEES_SOURCE_DIR "/include" : GBEES_INCLUDE_DIR;
    free(build);
    if (is_headers(folder, made_with, ""))
        return GBEES_OK;
    return gbees_error_set(
        error, GBEES_EIO,
        "gbees/model.h is neither in %s nor near this program: install gbees with its headers (make "
        "install)",
        made_with);
}

typedef struct command {
    char *words; /* argz */
    size_t length;
    int failed;
} command;

static void add_word(command *c, const char *word)
{
    c->failed |= argz_add(&c->words, &c->length, word) != 0;
}

/* A variable like CC or CFLAGS has words with blanks between them. */
static void add_words(command *c, const char *text)
{
    char *words = NULL;
    size_t length = 0;

    c->failed |= argz_create_sep(text, ' ', &words, &length) != 0;
    for (const char *word = NULL; (word = argz_next(words, length, word));)
        if (*word)
            add_word(c, word);
    free(words);
}

static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

static int is_program(const char *words)
{
    const size_t length = strcspn(words, " ");
    const char *path = memchr(words, '/', length) ? "" : variable("PATH");
    int found = 0;

    for (const char *next = path ? path : "/usr/bin"; !found;) {
        const int part = (int)strcspn(next, ":");
        gbees_text file = {0};

        gbees_text_add(&file, "%.*s%s%.*s", part, next, *path ? "/" : "", (int)length, words);
        found = !file.failed && access(file.data, X_OK) == 0;
        gbees_text_free(&file);
        if (!next[part])
            break;
        next += part + 1;
    }
    return found;
}

/* The compiler: $CC, else the first one found. */
static const char *compiler_for(language of)
{
    static const char *const known[][4] = {{GBEES_CC, "cc", "gcc", "clang"}, {"c++", "g++", "clang++", NULL}};
    const char *const *list = known[of == LANGUAGE_CXX];
    const char *chosen = variable(of == LANGUAGE_CXX ? "CXX" : "CC");

    for (int i = 0; !chosen && i < 4 && list[i]; i++)
        if (is_program(list[i]))
            chosen = list[i];
    return chosen ? chosen : list[0];
}

/* The options of build, and those of a quick look for warnings. */
static const char *const build_options =
    "-O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -DGBEES_VECTOR_MATH";
static const char *const look_options = "-O2 -DGBEES_NO_CLONES -fno-tree-vectorize";

static void make_command(command *c, const char *source, const char *headers, const char *options, const char *target)
{
    const language of = language_of(source);
    const char *flags = variable(of == LANGUAGE_CXX ? "CXXFLAGS" : "CFLAGS");
    gbees_text include = {0};

    add_words(c, compiler_for(of));
    if (of == LANGUAGE_CXX)
        add_word(c, "-std=c++17");
    add_words(c, "-shared -fPIC -Wall -Wextra -Wno-unused-parameter -I.");
    add_words(c, options);
    gbees_text_add(&include, "-I%s", headers);
    c->failed |= include.failed;
    add_word(c, include.data ? include.data : "");
    if (flags)
        add_words(c, flags);
    add_word(c, source);
    add_word(c, "-o");
    add_word(c, target);
    add_words(c, "-Wl,-z,defs -lm");
    gbees_text_free(&include);
}

/* The compiler inherits standard error. */
static int compile(const char *source, const char *headers, const char *options, const char *target,
                   gbees_error *error)
{
    command c = {0};
    int code = 0, status;

    make_command(&c, source, headers, options, target);
    char **arguments = c.failed ? NULL : calloc(argz_count(c.words, c.length) + 1, sizeof *arguments);
    if (!arguments) {
        free(c.words);
        return gbees_no_memory(error, "to build the plugin");
    }
    argz_extract(c.words, c.length, arguments);
    status = gbees_child_execute(arguments, &code, error);
    if (!status && code == 127)
        status =
            gbees_error_set(error, GBEES_EUSAGE, "there is no compiler '%s': install one (gcc, clang), or set %s",
                            arguments[0], language_of(source) == LANGUAGE_CXX ? "CXX" : "CC");
    else if (!status && code)
        status = gbees_error_set(error, GBEES_EMODEL, "%s was not compiled: the messages of %s are above", source,
                                 arguments[0]);
    free(arguments);
    free(c.words);
    return status;
}

static int compile_with(const char *options, const char *source, const char *target, gbees_error *error)
{
    gbees_text headers = {0};
    int status = find_headers(&headers, error);

    if (!status)
        status = compile(source, headers.data, options, target, error);
    gbees_text_free(&headers);
    return status;
}

int gbees_plugin_compile(const char *source, const char *target, gbees_error *error)
{
    return compile_with(build_options, source, target, error);
}

int gbees_plugin_look(const char *source, const char *target, gbees_error *error)
{
    return compile_with(look_options, source, target, error);
}
