/* test_card_cache.c - a list of plugins loads those alone that have changed since the last one. */
#include "fixtures/module_fixture.h"
#include "fixtures/suite.h"
#include <dirent.h>
#include <fcntl.h>

static char counter[LENGTH]; /* a file with a byte for each load */

static off_t loads(void)
{
    struct stat facts;

    return stat(counter, &facts) ? 0 : facts.st_size;
}

static void set_up_counted(void)
{
    char text[LENGTH + 16];

    setup();
    print(counter, sizeof counter, "%s/loads", top);
    print(text, sizeof text, "count %s", counter);
    (void)setenv("GBEES_TEST_CONSTRUCTOR", text, 1);
    make_folder("a");
    copy("tests", "counted", "a/nan_drift.so");
}

static void tear_down_counted(void)
{
    (void)unsetenv("GBEES_TEST_CONSTRUCTOR");
    teardown();
}

/* What a list says of a file: of a registry that has loaded nothing. */
static gbees_module_info listed(const char *file)
{
    const gbees_module_info *list = NULL;
    size_t count = 0;
    char path[LENGTH];

    print(path, sizeof path, "%s/%s", top, file);
    open_registry("a");
    ck_assert_msg(gbees_registry_list(registry, &list, &count, &error) == GBEES_OK, "%s", error.text);
    for (size_t i = 0; i < count; i++) {
        ck_assert_int_eq((list[i].name != NULL) + (list[i].backend != NULL) + (list[i].problem != NULL), 1);
        if (strcmp(list[i].path, path) == 0)
            return list[i];
    }
    ck_abort_msg("%s is not in the list", file);
}

/* Lists the plugin, which must be loaded for it or must not. */
static void list_and_load(int loaded)
{
    const off_t before = loads();
    const gbees_module_info info = listed("a/nan_drift.so");

    ck_assert_msg(info.name && strcmp(info.name, "nan_drift") == 0, "%s", info.problem ? info.problem : "no name");
    ck_assert_ptr_nonnull(info.title);
    ck_assert_int_eq(info.dim_min, 2);
    ck_assert_int_eq(info.dim_max, 2);
    ck_assert_int_eq(info.dim_default, 2);
    ck_assert_msg((loads() > before) == loaded, "loaded %d times more", (int)(loads() - before));
    ck_assert_int_eq(info.model != NULL, loaded);
}

START_TEST(a_second_list_loads_nothing)
{
    list_and_load(1);
    for (int k = 0; k < 3; k++)
        list_and_load(0);
    const gbees_module_info info = listed("a/nan_drift.so");
    char *title = strdup(info.title);
    ck_assert_str_eq(scanned("a/nan_drift.so").model->title, title); /* a scan loads all */
    ck_assert_int_gt(loads(), 2);
    free(title);
}
END_TEST

START_TEST(nor_do_suggestions)
{
    list_and_load(1);
    copy("plugins", "lorenz63", "a/other.so");
    (void)listed("a/other.so");
    const off_t before = loads();
    open_registry("a");
    refused("nan_drif", "did you mean 'nan_drift'?");
    ck_assert_int_eq(loads(), before);
    /* A name that only a card bears is found, and its file alone is loaded. */
    copy("tests", "noise", "a/elsewhere.so");
    (void)listed("a/elsewhere.so");
    const char *name = listed("a/elsewhere.so").name;
    ck_assert_ptr_nonnull(name);
    char *kept = strdup(name);
    open_registry("a");
    ck_assert_str_eq(found(kept)->name, kept);
    ck_assert_int_eq(loads(), before);
    free(kept);
}
END_TEST

START_TEST(refusals_of_cards_are_kept)
{
    copy("tests", "constructor", "a/foreign.so");
    char *problem = strdup(listed("a/foreign.so").problem);
    const off_t before = loads();
    ck_assert_ptr_nonnull(strstr(problem, "not a gbees model"));
    ck_assert_str_eq(listed("a/foreign.so").problem, problem);
    ck_assert_int_eq(loads(), before);
    free(problem);
}
END_TEST

/* What happens when a file is loaded is not kept: it may be the environment's. */
START_TEST(failures_are_not_kept)
{
    char *text = strdup(getenv("GBEES_TEST_CONSTRUCTOR"));

    (void)setenv("GBEES_TEST_CONSTRUCTOR", "crash", 1);
    ck_assert_ptr_nonnull(strstr(listed("a/nan_drift.so").problem, "it crashed"));
    (void)setenv("GBEES_TEST_CONSTRUCTOR", text, 1);
    list_and_load(1);
    free(text);
}
END_TEST

/* ---- changes of the file --------------------------------------------------------------------------------------- */

static struct stat facts_of(const char *file)
{
    struct stat facts;
    char path[LENGTH];

    print(path, sizeof path, "%s/%s", top, file);
    ck_assert_int_eq(stat(path, &facts), 0);
    return facts;
}

static void set_time(const char *file, struct timespec time)
{
    const struct timespec both[2] = {time, time};
    char path[LENGTH];

    print(path, sizeof path, "%s/%s", top, file);
    ck_assert_int_eq(utimensat(AT_FDCWD, path, both, 0), 0);
}

/* The last byte of the table of sections, which a loader does not read. */
static void change_byte(const char *file)
{
    char path[LENGTH];

    print(path, sizeof path, "%s/%s", top, file);
    const int descriptor = open(path, O_WRONLY | O_CLOEXEC);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq((int)pwrite(descriptor, "\1", 1, facts_of(file).st_size - 1), 1);
    (void)close(descriptor);
}

START_TEST(changed_files_are_loaded_again)
{
    list_and_load(1);
    struct timespec time = facts_of("a/nan_drift.so").st_mtim;
    change_byte("a/nan_drift.so"); /* of the same size and time: the content tells */
    set_time("a/nan_drift.so", time);
    list_and_load(1);
    list_and_load(0);
    time.tv_nsec = (time.tv_nsec + 1) % 1000000000;
    set_time("a/nan_drift.so", time);
    list_and_load(1);
    list_and_load(0);
    copy("tests", "noise", "a/nan_drift.so");
    for (int k = 0; k < 2; k++)
        ck_assert_str_eq(listed("a/nan_drift.so").name, "noise");
}
END_TEST

START_TEST(whose_file_it_is_is_looked_at_each_time)
{
    char path[LENGTH];

    list_and_load(1);
    print(path, sizeof path, "%s/a/nan_drift.so", top);
    ck_assert_int_eq(chmod(path, 0757), 0);
    ck_assert_ptr_nonnull(strstr(listed("a/nan_drift.so").problem, "others may write to it"));
    ck_assert_int_eq(chmod(path, 0755), 0);
    list_and_load(0);
}
END_TEST

/* ---- changes of the cache -------------------------------------------------------------------------------------- */

static const char cache[] = ".cache/gbees/plugins.json";

START_TEST(the_cache_is_private)
{
    char path[LENGTH];
    int files = 0;

    list_and_load(1);
    ck_assert_int_eq(facts_of(cache).st_mode & 0777, 0600);
    ck_assert_int_eq(facts_of(".cache/gbees").st_mode & 0777, 0700);
    print(path, sizeof path, "%s/.cache/gbees", top);
    DIR *folder = opendir(path);
    ck_assert_ptr_nonnull(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        files += entry->d_name[0] != '.';
    (void)closedir(folder);
    ck_assert_int_eq(files, 1); /* no temporary file is left */
    ck_assert_int_eq(chmod(path, 0777), 0);
    list_and_load(1); /* others may have written it */
    ck_assert_int_eq(chmod(path, 0700), 0);
    list_and_load(0);
    (void)setenv("GBEES_CACHE", "off", 1);
    list_and_load(1);
    (void)unsetenv("GBEES_CACHE");
}
END_TEST

START_TEST(a_missing_home_is_not_made)
{
    char path[LENGTH];
    struct stat facts;

    print(path, sizeof path, "%s/nobody", top);
    (void)setenv("HOME", path, 1);
    list_and_load(1);
    list_and_load(1);
    ck_assert_int_ne(stat(path, &facts), 0);
}
END_TEST

START_TEST(a_cache_that_is_no_cache)
{
    static const char *const texts[] = {"", "{", "[]", "{}", "{\"made_by\":{}, \"plugins\":{}}", "\xff\xfe"};
    char path[LENGTH], target[LENGTH];

    list_and_load(1);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        write_text(cache, texts[k]);
        list_and_load(1);
        list_and_load(0);
    }
    print(path, sizeof path, "%s/%s", top, cache);
    print(target, sizeof target, "%s/victim", top);
    ck_assert_int_eq(rename(path, target), 0);
    ck_assert_int_eq(symlink(target, path), 0);
    const off_t size = facts_of("victim").st_size;
    list_and_load(1); /* no link is followed, neither to read nor to write */
    ck_assert_int_eq(facts_of("victim").st_size, size);
    list_and_load(0);
}
END_TEST

/* Notes with a field less, or with one that no card can have. */
START_TEST(notes_that_are_no_notes)
{
    static const char *const edits[] = {
        "s/\"name\": \"nan_drift\",*//", "s/\"dim_min\": 2/\"dim_min\": 99/", "s/\"dim_max\": 2/\"dim_max\": \"2\"/",
        "s/\"title\": \"[^\"]*\"/\"title\": 1/", "s/\"sha256\": \"../\"sha256\": \"zz/"};
    char command[2 * LENGTH];

    list_and_load(1);
    for (size_t k = 0; k < sizeof edits / sizeof *edits; k++) {
        print(command, sizeof command, "sed -i '%s' '%s/%s'", edits[k], top, cache);
        run(command);
        list_and_load(1);
        list_and_load(0);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("card_cache");
    TCase *tests = tcase_create("card_cache");

    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up_counted, tear_down_counted);
    tcase_add_test(tests, a_second_list_loads_nothing);
    tcase_add_test(tests, nor_do_suggestions);
    tcase_add_test(tests, refusals_of_cards_are_kept);
    tcase_add_test(tests, failures_are_not_kept);
    tcase_add_test(tests, changed_files_are_loaded_again);
    tcase_add_test(tests, whose_file_it_is_is_looked_at_each_time);
    tcase_add_test(tests, the_cache_is_private);
    tcase_add_test(tests, a_missing_home_is_not_made);
    tcase_add_test(tests, a_cache_that_is_no_cache);
    tcase_add_test(tests, notes_that_are_no_notes);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
