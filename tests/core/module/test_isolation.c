/* test_isolation.c - modules that do harm when they are loaded, that are damaged, or that are somebody else's. */
#include "fixtures/module_fixture.h"
#include "fixtures/suite.h"
#include "module/registry_private.h"
#include <fcntl.h>
#include <sys/stat.h>

enum { DAMAGED = 200 };

/* ---- constructors ---- */

static void harmful(const char *what, const char *words)
{
    (void)setenv("GBEES_TEST_CONSTRUCTOR", what, 1);
    scan_says("a/mine.so", words);
    ck_assert_ptr_nonnull(scanned("a/lorenz63.so").model); /* the others are listed */
    refused("mine", words);
    refused_file("a/mine.so", "can't be loaded: ");
    (void)unsetenv("GBEES_TEST_CONSTRUCTOR");
}

static void set_up_constructor(void)
{
    setup();
    make_folder("a");
    copy("tests", "constructor", "a/mine.so");
    copy("plugins", "lorenz63", "a/lorenz63.so");
    open_registry("a");
}

START_TEST(constructors_that_end_the_program)
{
    harmful("crash", "it crashed (Segmentation fault)");
    /* While a module is opened ThreadSanitizer does not end a process with status 0. */
    harmful("exit", THREADS_CHECKED ? "it ended the process with status" : "it ended the process with status 0");
    scan_says("a/mine.so", "not a gbees model"); /* it does no harm otherwise */
}
END_TEST

START_TEST(constructors_that_do_not_end)
{
    (void)setenv("GBEES_TEST_CONSTRUCTOR", _i ? "wait" : "loop", 1);
    refused("mine", _i ? "it did not end within 5 s" : "it ");
}
END_TEST

/* ---- damage ---- */

static void damage(const char *file, unsigned char *bytes, size_t size, uint64_t number)
{
    char path[LENGTH];

    print(path, sizeof path, "%s/%s", top, file);
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    ck_assert_int_ge(descriptor, 0);
    for (int k = 0; k < 8; k++) {
        number = number * 6364136223846793005U + 1442695040888963407U;
        bytes[(number >> 20) % (k % 2 ? 4096 : size)] ^= (unsigned char)(1U << (number >> 60) % 8);
    }
    ck_assert_int_eq((int)write(descriptor, bytes, size), (int)size);
    (void)close(descriptor);
}

/* Texts of a card that lie nowhere crash the process that tries the file, not the one that lists it. */
START_TEST(texts_that_lie_nowhere)
{
    static const char *const lost[] = {"state", "scenario"};

    make_folder("c");
    copy("tests", "lost", "c/lost.so");
    open_registry("c");
    ck_assert_ptr_nonnull(scanned("c/lost.so").model);
    for (int k = 0; k < 2; k++) {
        open_registry("c"); /* what was loaded before stays loaded */
        (void)setenv("GBEES_TEST_LOST", lost[k], 1);
        scan_says("c/lost.so", "it crashed (Segmentation fault)");
        (void)unsetenv("GBEES_TEST_LOST");
    }
    copy("tests", "lost_title", "c/lost.so");
    open_registry("c");
    scan_says("c/lost.so", "it crashed (Segmentation fault)");
}
END_TEST

/* Each file is a model or a line; the list has all of them. */
START_TEST(damaged_files)
{
    const gbees_module_info *list = NULL;
    char path[LENGTH], name[32];
    struct stat about;
    size_t count = 0, usable = 0, crashed = 0, listed = 0;

    print(path, sizeof path, "%s/a/lorenz63.so", top);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(fstat(descriptor, &about), 0);
    size_t size = (size_t)about.st_size;
    unsigned char *whole = malloc(size), *bytes = malloc(size);
    ck_assert(whole && bytes);
    ck_assert_int_eq((int)read(descriptor, whole, size), (int)size);
    (void)close(descriptor);
    make_folder("b");
    for (int k = 0; k < DAMAGED; k++) {
        memcpy(bytes, whole, size);
        print(name, sizeof name, "b/m%d.so", k);
        damage(name, bytes, size, (uint64_t)k);
    }
    open_registry("b");
    ck_assert_msg(gbees_registry_list(registry, &list, &count, &error) == GBEES_OK, "%s", error.text);
    for (size_t i = 0; i < count; i++) {
        listed += strstr(list[i].path, "/b/m") != NULL;
        usable += list[i].model != NULL;
        crashed += list[i].problem && strstr(list[i].problem, "it crashed") != NULL;
        ck_assert(list[i].model || list[i].backend || (list[i].problem && !strchr(list[i].problem, '\n')));
    }
    ck_assert_uint_eq(listed, DAMAGED);
    ck_assert_msg(crashed > 0, "no file crashes the loader: nothing was tested");
    ck_assert_uint_lt(usable, count);
    free(whole);
    free(bytes);
}
END_TEST

/* ---- owners ---- */

static void mode_of(const char *name, mode_t mode)
{
    char path[LENGTH];

    print(path, sizeof path, "%s/%s", top, name);
    ck_assert_int_eq(chmod(path, mode), 0);
}

static void owner_of(const char *name, uid_t owner, gid_t group)
{
    char path[LENGTH];

    print(path, sizeof path, "%s/%s", top, name);
    ck_assert_int_eq(chown(path, owner, group), 0);
}

START_TEST(files_of_others)
{
    mode_of("a/lorenz63.so", 0757);
    refused_file("a/lorenz63.so", "not loaded: others may write to it (mode 0757)");
    scan_says("a/lorenz63.so", "--trust");
    mode_of("a/lorenz63.so", 0755);
    mode_of("a", 0777);
    refused_file("a/lorenz63.so", "not loaded: anybody may replace it");
    mode_of("a", 01777);
    ck_assert_ptr_nonnull(found("lorenz63"));
    if (geteuid() == 0) {
        open_registry("a");
        owner_of("a", 12345, 12345);
        refused("lorenz63", "not loaded: its folder belongs to another user (number 12345), who may replace it");
        owner_of("a", 0, 0);
        owner_of("a/lorenz63.so", 12345, 12345);
        refused("lorenz63", "not loaded: it belongs to another user (number 12345)");
        owner_of("a/lorenz63.so", 0, 12345);
        mode_of("a/lorenz63.so", 0775);
        refused("lorenz63", "others may write to it (mode 0775)");
        owner_of("a/lorenz63.so", 12345, 12345);
    }
    gbees_registry_trust(registry);
    ck_assert_ptr_nonnull(found("lorenz63"));
}
END_TEST

/* Whether the module is loaded from a folder, or is a file, of this group and mode, of root. */
static void group_may(const char *name, gid_t group, mode_t mode, const char *problem)
{
    open_registry("a");
    owner_of(name, 0, group);
    mode_of(name, mode);
    if (problem)
        refused_file("a/lorenz63.so", problem);
    else
        ck_assert_ptr_nonnull(found("lorenz63"));
    owner_of(name, 0, 0);
    mode_of(name, 0755);
}

/* Root's group and the user's own may write: Debian makes each user's group, and folders that it may write to. */
START_TEST(groups)
{
    const char *const replaced = "not loaded: a group (number 12345) may replace it, as it may write to its folder";

    if (geteuid() != 0)
        return;
    group_may("a", 12345, 0755, NULL);
    group_may("a", 12345, 0775, replaced);
    group_may("a", 12345, 02775, replaced);
    group_may("a", 12345, 01775, NULL); /* the sticky bit: only the owner may replace a file */
    group_may("a", 0, 0775, NULL);
    group_may("a/lorenz63.so", 0, 0775, NULL);
    group_may("a/lorenz63.so", 12345, 0775, "not loaded: others may write to it (mode 0775)");
    ck_assert_int_eq(setegid(12345), 0);
    group_may("a", 12345, 0775, NULL);
    group_may("a", 0, 0775, NULL);
    group_may("a", 12346, 0775, "not loaded: a group (number 12346) may replace it");
    group_may("a/lorenz63.so", 12345, 0775, NULL);
    group_may("a/lorenz63.so", 12346, 0775, "not loaded: others may write to it (mode 0775)");
    ck_assert_int_eq(setegid(0), 0);
}
END_TEST

/* ---- set-user-ID programs ---- */

static void open_secure_registry(int is_secure)
{
    char path[2 * LENGTH];

    print(path, sizeof path, "%s/a", top);
    gbees_registry_destroy(registry);
    registry = NULL;
    ck_assert_msg(gbees_registry_create_for(is_secure, path, &registry, &error) == GBEES_OK, "%s", error.text);
}

static int searches(const char *name)
{
    const char *const *folders = NULL;
    char path[2 * LENGTH];
    size_t count = 0;

    print(path, sizeof path, "%s/%s", top, name);
    ck_assert_int_eq(gbees_registry_folders(registry, &folders, &count), GBEES_OK);
    for (size_t i = 0; i < count; i++)
        if (strcmp(folders[i], path) == 0)
            return 1;
    return 0;
}

/* The caller of a set-user-ID program chooses neither folders nor files, and --trust has no effect. */
START_TEST(callers_with_less_rights)
{
    const gbees_model *model = NULL;
    char path[2 * LENGTH];

    print(path, sizeof path, "%s/a/lorenz63.so", top);
    open_secure_registry(0);
    ck_assert(searches("a"));
    ck_assert_int_eq(gbees_registry_model(registry, path, &model, &error), GBEES_OK);

    open_secure_registry(1);
    ck_assert(!searches("a"));
    refused_file("a/lorenz63.so", "not loaded: this program runs with other rights than yours");

    run("mkdir -p \"$HOME/.local/lib/gbees\"");
    make_folder(".local/lib/gbees/plugins");
    copy("plugins", "lorenz63", ".local/lib/gbees/plugins/lorenz63.so");
    mode_of(".local/lib/gbees/plugins/lorenz63.so", 0757);
    open_secure_registry(1);
    gbees_registry_trust(registry);
    refused("lorenz63", "plugins/lorenz63.so: not loaded: others may write to it (mode 0757)");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("isolation");
    TCase *tests = tcase_create("isolation");

    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up_constructor, teardown);
    tcase_add_test(tests, constructors_that_end_the_program);
    tcase_add_loop_test(tests, constructors_that_do_not_end, 0, 2);
    tcase_add_test(tests, texts_that_lie_nowhere);
    tcase_add_test(tests, damaged_files);
    tcase_add_test(tests, files_of_others);
    tcase_add_test(tests, groups);
    tcase_add_test(tests, callers_with_less_rights);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
