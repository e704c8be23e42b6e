/* plugin_build.c - gbees-plugin build: from a source file to an installed plugin; see plugin.h. */
#include "base/no_memory.h"
#include "base/text.h"
#include "module/folders.h"
#include "plugin.h"
#include "results/folder/folder.h"
#include <argz.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The name without folder and ending; malloc()ed. */
static char *stem_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

    return strndup(name, (size_t)(strrchr(name, '.') - name));
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
    return l->name ? GBEES_OK : gbees_no_memory(error, "to build the plugin");
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
    return gbees_no_memory(error, "to build the plugin");
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
        return gbees_no_memory(error, "to build the plugin");
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
    int status = folder && !name.failed ? place(built, folder, name.data, path, error)
                                        : gbees_no_memory(error, "to build the plugin");
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
            status = gbees_no_memory(error, "to build the plugin");
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
        status = gbees_no_memory(error, "to build the plugin");
    if (!status)
        status = gbees_folder_make_all(folder, error);
    if (!status)
        status = place(built, folder, file.data, &path, error);
    if (!status && !(real = realpath(folder, NULL)))
        status = gbees_no_memory(error, "to build the plugin");
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
    gbees_text target = {0};
    look l = {0};
    char *path = NULL;

    gbees_text_add(&target, "%s/%s.so", folder, stem);
    int status = target.failed ? gbees_no_memory(error, "to build the plugin") : GBEES_OK;
    if (!status)
        status = gbees_plugin_compile(options->subject, target.data, error);
    if (!status)
        status = gbees_plugin_tell_divisions(options->subject, error);
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
    gbees_text_free(&target);
    free(l.name);
    free(path);
    return status;
}

int gbees_plugin_build(const gbees_plugin_options *options, FILE *out, gbees_error *error)
{
    const char *temporary = getenv("TMPDIR");
    gbees_text folder = {0};
    int status = gbees_plugin_check_source(options->subject, error);

    if (!status)
        status = check_output(options->output, error);
    if (status)
        return status;
    char *stem = stem_of(options->subject);
    gbees_text_add(&folder, "%s/gbees-plugin.XXXXXX", temporary && *temporary ? temporary : "/tmp");
    if (!stem || folder.failed)
        status = gbees_no_memory(error, "to build the plugin");
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
