/* module_fixture.h - for the tests of core/module: a folder of the test's own, filled with built modules under any
 * names, and a registry that searches it first. */
#ifndef GBEES_TESTS_MODULE_FIXTURE_H
#define GBEES_TESTS_MODULE_FIXTURE_H

#include <check.h>
#include <gbees/gbees.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LENGTH = 4096 };

static char *start;      /* the folder that the test was started in */
static char top[LENGTH]; /* a folder of the test's own, without links in its path */
static gbees_registry *registry;
static gbees_error error;

/* ---- helpers ---- */

__attribute__((format(printf, 3, 4))) static inline void print(char *text, size_t size, const char *pattern, ...)
{
    va_list arguments;

    va_start(arguments, pattern);
    ck_assert_int_lt(vsnprintf(text, size, pattern, arguments), (int)size);
    va_end(arguments);
}

static inline const char *environment(const char *name, const char *otherwise)
{
    const char *value = getenv(name);

    return value ? value : otherwise;
}

static inline void run(const char *command)
{
    ck_assert_msg(system(command) == 0, "failed: %s", command);
}

static inline void make_folder(const char *name)
{
    char path[LENGTH];

    print(path, sizeof path, "%s/%s", top, name);
    ck_assert_int_eq(mkdir(path, 0777), 0);
}

/* Copies a built module (tests/NAME, plugins/NAME) into a folder of the test's, under another name. */
static inline void copy(const char *part, const char *module, const char *to)
{
    char command[2 * LENGTH];

    print(command, sizeof command, "cp '%s/%s/.libs/%s.so' '%s/%s'", environment("GBEES_TOP_BUILD", "."), part,
          module, top, to);
    run(command);
}

static inline void write_text(const char *name, const char *text)
{
    char path[LENGTH];

    print(path, sizeof path, "%s/%s", top, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    (void)fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
}

static inline void setup(void)
{
    char pattern[] = "/tmp/gbees-test-XXXXXX";

    start = getcwd(NULL, 0);
    ck_assert_ptr_nonnull(start);
    ck_assert_ptr_nonnull(mkdtemp(pattern));
    ck_assert_ptr_nonnull(realpath(pattern, top));
    (void)setenv("HOME", top, 1);
    (void)unsetenv("GBEES_PLUGIN_PATH");
    (void)unsetenv("GBEES_BACKEND_PATH");
    registry = NULL;
    error = (gbees_error){GBEES_OK, ""};
}

static inline void teardown(void)
{
    char command[LENGTH + 16];

    gbees_registry_destroy(registry);
    ck_assert_int_eq(chdir(start), 0);
    free(start);
    print(command, sizeof command, "rm -rf '%s'", top);
    run(command);
}

/* Searches folders of the test's first: "A:B". */
static inline void open_registry(const char *folders)
{
    char path[LENGTH] = "", list[LENGTH];

    print(list, sizeof list, "%s", folders);
    for (char *rest = list, *folder = strtok_r(rest, ":", &rest); folder; folder = strtok_r(NULL, ":", &rest)) {
        size_t used = strlen(path);

        print(path + used, sizeof path - used, "%s/%s:", top, folder);
    }
    gbees_registry_destroy(registry);
    registry = NULL;
    ck_assert_msg(gbees_registry_create(path, &registry, &error) == GBEES_OK, "%s", error.text);
}

static inline const gbees_model *found(const char *name)
{
    const gbees_model *model = NULL;

    ck_assert_msg(gbees_registry_model(registry, name, &model, &error) == GBEES_OK, "%s", error.text);
    ck_assert_ptr_nonnull(model);
    return model;
}

/* The error, with the test's folder before it, begins with `text`. */
static inline void refused(const char *name, const char *text)
{
    const gbees_model *model = (const gbees_model *)&error;

    ck_assert_int_eq(gbees_registry_model(registry, name, &model, &error), GBEES_EMODEL);
    ck_assert_int_eq(error.status, GBEES_EMODEL);
    ck_assert_ptr_eq(model, &error); /* outputs are set on success only */
    ck_assert_msg(strstr(error.text, text) != NULL, "\"%s\" does not say \"%s\"", error.text, text);
    ck_assert_ptr_null(strchr(error.text, '\n'));
}

static inline void refused_file(const char *file, const char *reason)
{
    char path[LENGTH], text[2 * LENGTH];

    print(path, sizeof path, "%s/%s", top, file);
    print(text, sizeof text, "%s: %s", path, reason);
    refused(path, text);
    ck_assert_msg(strncmp(error.text, text, strlen(text)) == 0, "\"%s\" does not begin with \"%s\"", error.text,
                  text);
}

/* What the scan says of a file of the test's. */
static inline gbees_module_info scanned(const char *file)
{
    const gbees_module_info *list = NULL;
    size_t count = 0;
    char path[LENGTH];

    print(path, sizeof path, "%s/%s", top, file);
    ck_assert_msg(gbees_registry_scan(registry, &list, &count, &error) == GBEES_OK, "%s", error.text);
    for (size_t i = 0; i < count; i++) {
        ck_assert_int_eq((list[i].model != NULL) + (list[i].backend != NULL) + (list[i].problem != NULL), 1);
        if (strcmp(list[i].path, path) == 0)
            return list[i];
    }
    return (gbees_module_info){0};
}

static inline void scan_says(const char *file, const char *problem)
{
    gbees_module_info info = scanned(file);

    ck_assert_msg(info.path != NULL, "%s is not in the list", file);
    ck_assert_msg(info.problem != NULL, "%s has no problem", file);
    ck_assert_msg(strstr(info.problem, problem) != NULL, "\"%s\" does not say \"%s\"", info.problem, problem);
}

#endif
