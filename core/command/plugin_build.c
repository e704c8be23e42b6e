/* plugin_build.c - gbees-plugin build: from a source file to an installed plugin; see plugin.h. */
#include "base/text.h"
#include "io/folder.h"
#include "module/folders.h"
#include "plugin.h"
#include <argz.h>
#include <errno.h>
#include <fcntl.h>
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

static int no_memory(gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to build the plugin");
}

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

static int check_source(const char *path, gbees_error *error)
{
    if (language_of(path) == LANGUAGE_NONE)
        return gbees_error_set(error, GBEES_EUSAGE, "%s: a source file ends in .c, or for C++ in .cc, .cpp or .cxx",
                               path);
    if (access(path, R_OK))
        return gbees_error_set(error, GBEES_EUSAGE, "%s: %s", path, strerror(errno));
    return GBEES_OK;
}

/* The name without folder and ending; malloc()ed. */
static char *stem_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

    return strndup(name, (size_t)(strrchr(name, '.') - name));
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

static void make_command(command *c, const char *source, const char *headers, const char *target)
{
    const language of = language_of(source);
    const char *flags = variable(of == LANGUAGE_CXX ? "CXXFLAGS" : "CFLAGS");
    gbees_text include = {0};

    add_words(c, compiler_for(of));
    if (of == LANGUAGE_CXX)
        add_word(c, "-std=c++17");
    add_words(c, "-shared -fPIC -O3 -ffp-contract=off -fno-math-errno -Wall -I.");
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
static int compile(const char *source, const char *headers, const char *target, gbees_error *error)
{
    command c = {0};
    int code = 0, status;

    make_command(&c, source, headers, target);
    char **arguments = c.failed ? NULL : calloc(argz_count(c.words, c.length) + 1, sizeof *arguments);
    if (!arguments) {
        free(c.words);
        return no_memory(error);
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

/* ---- loading the result, in a child process ---- */

typedef struct look {
    const char *path;
    char *name;       /* the model's */
    gbees_error said; /* by the child */
} look;

static void load(void *context, FILE *say)
{
    const look *l = context;
    gbees_registry *registry = NULL;
    const gbees_model *model = NULL;
    gbees_error error = {0};
    int status = gbees_registry_create(NULL, &registry, &error);

    if (!status) { /* it has been made a moment ago, by this program */
        gbees_registry_trust(registry);
        status = gbees_registry_model(registry, l->path, &model, &error);
    }
    (void)fprintf(say, "%c%s\n", status ? 'f' : 'o', status ? error.text : model->name);
}

static void hear(void *context, const char *line)
{
    look *l = context;

    if (line[0] == 'o')
        l->name = strdup(line + 1);
    else
        (void)gbees_error_set(&l->said, GBEES_EMODEL, "%s", line + 1);
}

/* `source` names the file in errors, as its own name is temporary. */
static int look_at(look *l, const char *source, gbees_error *error)
{
    gbees_error why = {0};
    int status = gbees_child_run(load, hear, l, 20, &why);

    if (status)
        return gbees_error_set(error, (gbees_status)status, "%s was compiled, but can't be loaded: %s", source,
                               why.text);
    if (l->said.status) {
        const char *reason = strstr(l->said.text, ".so: ");

        return gbees_error_set(error, l->said.status, "%s was compiled, but is no plugin: %s", source,
                               reason ? reason + strlen(".so: ") : l->said.text);
    }
    return l->name ? GBEES_OK : no_memory(error);
}

/* ---- where it goes ---- */

static int cannot_write(const char *path, int reason, gbees_error *error)
{
    return gbees_error_set(error, GBEES_EIO, "can't write the file %s: %s", path,
                           reason == EEXIST ? "it is there already, and not this program's: remove it"
                                            : strerror(reason));
}

/* Creates a file that is not there yet: where others may write to the folder, what is there may be a link of theirs
 * to a file of the user's. */
static int create(const char *path, FILE **file, gbees_error *error)
{
    const int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);

    if (descriptor < 0)
        return cannot_write(path, errno, error);
    *file = fdopen(descriptor, "wb");
    if (*file)
        return GBEES_OK;
    (void)close(descriptor);
    (void)unlink(path);
    return no_memory(error);
}

/* Returns 0, or the errno of what failed. */
static int copy_bytes(FILE *in, FILE *out)
{
    char block[1 << 14];
    size_t got;

    errno = 0;
    while ((got = fread(block, 1, sizeof block, in)) > 0 && fwrite(block, 1, got, out) == got)
        ;
    return ferror(in) || ferror(out) ? errno : 0;
}

/* Copies a file to one that is not there yet. */
static int copy(const char *from, const char *to, gbees_error *error)
{
    FILE *in = fopen(from, "rb"), *out = NULL;

    if (!in)
        return gbees_error_set(error, GBEES_EIO, "can't read the file %s: %s", from, strerror(errno));
    int status = create(to, &out, error);
    if (!status) {
        int reason = copy_bytes(in, out);

        if (fclose(out) && !reason)
            reason = errno;
        if (reason) {
            status = cannot_write(to, reason, error);
            (void)unlink(to);
        }
    }
    (void)fclose(in);
    return status;
}

/* Installs by rename, so that a program that has loaded the old file keeps it. */
static int place(const char *from, const char *folder, const char *name, char **path, gbees_error *error)
{
    char *target = gbees_folder_join(folder, name);
    gbees_text hidden = {0};

    gbees_text_add(&hidden, "%s/.%s.%ld", folder, name, (long)getpid());
    if (!target || hidden.failed) {
        free(target);
        gbees_text_free(&hidden);
        return no_memory(error);
    }
    int status = copy(from, hidden.data, error);
    if (!status && rename(hidden.data, target)) {
        status = gbees_error_set(error, GBEES_EIO, "can't write the file %s: %s", target, strerror(errno));
        (void)unlink(hidden.data);
    }
    gbees_text_free(&hidden);
    if (status)
        free(target);
    else
        *path = target;
    return status;
}

/* To --output, or to the current folder. */
static int place_output(const gbees_plugin_options *options, const char *built, const char *stem, char **path,
                        gbees_error *error)
{
    const char *slash = options->output ? strrchr(options->output, '/') : NULL;
    gbees_text name = {0};

    gbees_text_add(&name, "%s%s",
                   slash             ? slash + 1
                   : options->output ? options->output
                                     : stem,
                   options->output ? "" : ".so");
    char *folder = !slash                     ? strdup(".")
                   : slash == options->output ? strdup("/")
                                              : strndup(options->output, (size_t)(slash - options->output));
    int status = folder && !name.failed ? place(built, folder, name.data, path, error) : no_memory(error);
    free(folder);
    gbees_text_free(&name);
    return status;
}

/* Reports which one gbees-run finds if there is another plugin of that name. */
static int tell_of_others(FILE *out, const char *folder, const char *name, gbees_error *error)
{
    gbees_registry *registry = NULL;
    const char *const *folders = NULL;
    size_t count = 0;
    int before = 1, status = gbees_registry_create(NULL, &registry, error);

    if (!status)
        status = gbees_registry_folders(registry, &folders, &count);
    for (size_t i = 0; !status && i < count; i++) {
        gbees_text path = {0};

        if (strcmp(folders[i], folder) == 0) {
            before = 0;
            continue;
        }
        gbees_text_add(&path, "%s/%s.so", folders[i], name);
        if (path.failed)
            status = no_memory(error);
        else if (access(path.data, F_OK) == 0)
            (void)fprintf(out, "note: %s is found %s it under this name\n", path.data, before ? "before" : "after");
        gbees_text_free(&path);
    }
    gbees_registry_destroy(registry);
    return status;
}

static int install(const char *built, const char *name, FILE *out, gbees_error *error)
{
    char *folder = NULL, *path = NULL, *real = NULL;
    gbees_text file = {0};
    int status = gbees_folders_user(&folder, error);

    gbees_text_add(&file, "%s.so", name);
    if (!status && file.failed)
        status = no_memory(error);
    if (!status)
        status = gbees_folder_make_all(folder, error);
    if (!status)
        status = place(built, folder, file.data, &path, error);
    if (!status && !(real = realpath(folder, NULL)))
        status = no_memory(error);
    if (!status) {
        (void)fprintf(out, "%s is installed: %s\n", name, path);
        status = tell_of_others(out, real, name, error);
    }
    if (!status)
        (void)fprintf(out, "next:  gbees-plugin check %s  or  gbees-run --plugin %s\n", name, name);
    gbees_text_free(&file);
    free(real);
    free(path);
    free(folder);
    return status;
}

/* ---- all of it ---- */

static int check_output(const char *output, gbees_error *error)
{
    size_t length = output ? strlen(output) : 0;

    if (!output || (length > 3 && strcmp(output + length - 3, ".so") == 0 && output[length - 4] != '/'))
        return GBEES_OK;
    return gbees_error_set(error, GBEES_EUSAGE, "--output wants a file that ends in .so, not '%s'", output);
}

static int build_in(const char *folder, const gbees_plugin_options *options, const char *stem, FILE *out,
                    gbees_error *error)
{
    gbees_text headers = {0}, target = {0};
    look l = {0};
    char *path = NULL;
    int status = find_headers(&headers, error);

    gbees_text_add(&target, "%s/%s.so", folder, stem);
    if (!status && target.failed)
        status = no_memory(error);
    if (!status)
        status = compile(options->subject, headers.data, target.data, error);
    l.path = target.data;
    if (!status)
        status = look_at(&l, options->subject, error);
    if (!status && (options->output || options->no_install))
        status = place_output(options, target.data, stem, &path, error);
    if (path)
        (void)fprintf(out, "%s is built: %s\n", l.name, path);
    if (!status && !options->no_install)
        status = install(target.data, l.name, out, error);
    if (target.data)
        (void)unlink(target.data);
    gbees_text_free(&headers);
    gbees_text_free(&target);
    free(l.name);
    free(path);
    return status;
}

int gbees_plugin_build(const gbees_plugin_options *options, FILE *out, gbees_error *error)
{
    const char *temporary = variable("TMPDIR");
    gbees_text folder = {0};
    int status = check_source(options->subject, error);

    if (!status)
        status = check_output(options->output, error);
    if (status)
        return status;
    char *stem = stem_of(options->subject);
    gbees_text_add(&folder, "%s/gbees-plugin.XXXXXX", temporary ? temporary : "/tmp");
    if (!stem || folder.failed)
        status = no_memory(error);
    else if (!mkdtemp(folder.data))
        status = gbees_error_set(error, GBEES_EIO, "can't make a folder for the compiler, %s: %s", folder.data,
                                 strerror(errno));
    if (!status) {
        status = build_in(folder.data, options, stem, out, error);
        (void)rmdir(folder.data);
    }
    gbees_text_free(&folder);
    free(stem);
    return status;
}
