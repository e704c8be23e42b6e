/* test_registry.c - core/module: which folders are searched, and what a name means. */
#include "fixtures/module_fixture.h"
#include "fixtures/suite.h"

/* ---- folders ---- */

static size_t position(const char *folder)
{
    const char *const *folders = NULL;
    size_t count = 0;

    ck_assert_int_eq(gbees_registry_folders(registry, &folders, &count), GBEES_OK);
    for (size_t i = 0; i < count; i++) {
        ck_assert_int_eq(folders[i][0], '/');
        if (strcmp(folders[i], folder) == 0)
            return i;
    }
    return count;
}

START_TEST(folders_in_order)
{
    char path[LENGTH], list[LENGTH], folder[LENGTH], build[LENGTH];
    char searched[3 * LENGTH];
    const gbees_backend *backend = NULL;

    make_folder("one");
    print(path, sizeof path, "%s/none/such:%s/one:", top, top);
    print(list, sizeof list, "::%s/two:%s/one/../one", top, top);
    (void)setenv("GBEES_PLUGIN_PATH", list, 1);
    print(list, sizeof list, "%s/backends", top);
    (void)setenv("GBEES_BACKEND_PATH", list, 1);
    ck_assert_int_eq(gbees_registry_create(path, &registry, &error), GBEES_OK);
    print(folder, sizeof folder, "%s/none/such", top);
    ck_assert_uint_eq(position(folder), 0);
    print(folder, sizeof folder, "%s/one", top);
    ck_assert_uint_eq(position(folder), 1);
    print(folder, sizeof folder, "%s/two", top);
    ck_assert_uint_eq(position(folder), 2);
    print(folder, sizeof folder, "%s/.local/lib/gbees/plugins", top);
    ck_assert_uint_eq(position(folder), 3);
    ck_assert_ptr_nonnull(realpath(environment("GBEES_TOP_BUILD", "."), build));
    print(folder, sizeof folder, "%s/plugins/.libs", build); /* this test runs from the build tree */
    ck_assert_uint_eq(position(folder), 4);
    print(searched, sizeof searched, "(searched: %s/backends, %s/backends/.libs, ", top, build);
    ck_assert_int_eq(gbees_registry_backend(registry, "none", &backend, &error), GBEES_EBACKEND);
    ck_assert_msg(strstr(error.text, searched) != NULL, "\"%s\" does not say \"%s\"", error.text, searched);
}
END_TEST

START_TEST(relative_folders_are_those_of_the_start)
{
    make_folder("here");
    make_folder("here/plugins");
    copy("plugins", "lorenz63", "here/plugins/mine.so");
    copy("plugins", "lorenz63", "here/not_asked_for.so");
    char folder[LENGTH];
    print(folder, sizeof folder, "%s/here", top);
    ck_assert_int_eq(chdir(folder), 0);
    ck_assert_int_eq(gbees_registry_create("plugins:later", &registry, &error), GBEES_OK);
    ck_assert_int_eq(chdir("/"), 0);
    print(folder, sizeof folder, "%s/here/plugins", top);
    ck_assert_uint_eq(position(folder), 0);
    print(folder, sizeof folder, "%s/here/later", top);
    ck_assert_uint_eq(position(folder), 1);
    ck_assert_ptr_nonnull(scanned("here/plugins/mine.so").path);
    ck_assert_ptr_null(scanned("here/not_asked_for.so").path); /* nothing comes from the current folder unasked */
}
END_TEST

START_TEST(only_so_files_count)
{
    make_folder("a");
    copy("plugins", "lorenz63", "a/libtool.la");
    copy("plugins", "lorenz63", "a/versioned.so.1");
    copy("plugins", "lorenz63", "a/.hidden.so");
    write_text("a/.so", "");
    open_registry("a");
    ck_assert_ptr_null(scanned("a/libtool.la").path);
    ck_assert_ptr_null(scanned("a/versioned.so.1").path);
    ck_assert_ptr_null(scanned("a/.hidden.so").path);
    ck_assert_ptr_null(scanned("a/.so").path);
    refused_file("a/libtool.la", "not a model's file: those end in .so");
}
END_TEST

START_TEST(a_file_in_place_of_a_folder_is_reported)
{
    write_text("file", "");
    open_registry("file");
    scan_says("file", "can't list this folder: Not a directory");
    ck_assert_str_eq(found("lorenz63")->name, "lorenz63");
}
END_TEST

/* ---- names ---- */

START_TEST(finds_the_build_trees_models)
{
    open_registry("");
    const gbees_model *model = found("lorenz63");
    ck_assert_str_eq(model->name, "lorenz63");
    ck_assert_ptr_eq(found("lorenz63"), model);
    ck_assert_str_eq(found("lorenz96")->name, "lorenz96");
}
END_TEST

START_TEST(unknown_names_get_the_nearest)
{
    char text[LENGTH];

    make_folder("a");
    open_registry("a");
    print(text, sizeof text,
          "no model named 'lorens63': did you mean 'lorenz63'? (searched: %s/a, %s/.local/lib/gbees/plugins, ", top,
          top);
    refused("lorens63", text);
    refused("lorens63", "; gbees-run --list shows all)");
    refused("quaternion", "no model named 'quaternion' (searched: ");
    refused("oscillator.so", "a file is given with its folder, as in ./oscillator.so");
    ck_assert_int_eq(gbees_registry_model(registry, "", NULL, &error), GBEES_EUSAGE);
    ck_assert_int_eq(gbees_registry_model(registry, NULL, NULL, &error), GBEES_EUSAGE);
    ck_assert_ptr_nonnull(strstr(error.text, "gbees-run --list"));
}
END_TEST

START_TEST(a_file_by_its_path)
{
    char path[LENGTH];

    copy("plugins", "lorenz63", "any name.so");
    open_registry("");
    print(path, sizeof path, "%s/any name.so", top);
    ck_assert_str_eq(found(path)->name, "lorenz63");
    ck_assert_int_eq(chdir(top), 0);
    const gbees_model *model = found("./any name.so");
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_ptr_eq(model, found(path));
    refused_file("missing.so", "No such file or directory");
}
END_TEST

/* The file's name differs from the card's: found by the card's; asked for by the file's, the error says so. */
START_TEST(a_name_is_the_cards)
{
    char text[LENGTH];

    make_folder("a");
    copy("tests", "nan", "a/nan.so");
    open_registry("a");
    ck_assert_str_eq(found("nan_drift")->name, "nan_drift");
    ck_assert_str_eq(scanned("a/nan.so").model->name, "nan_drift");
    print(text, sizeof text, "%s/a/nan.so holds the model 'nan_drift'", top);
    refused("nan", text);
}
END_TEST

START_TEST(the_first_folder_wins)
{
    char text[LENGTH];

    make_folder("a");
    make_folder("b");
    copy("plugins", "lorenz63", "a/lorenz63.so");
    copy("plugins", "lorenz63", "b/lorenz63.so");
    open_registry("a:b");
    print(text, sizeof text, "hidden: the name 'lorenz63' means %s/a/lorenz63.so", top);
    scan_says("b/lorenz63.so", text);
    ck_assert_ptr_eq(scanned("a/lorenz63.so").model, found("lorenz63"));
    const gbees_model *in_a = found("lorenz63");
    print(text, sizeof text, "%s/b/lorenz63.so", top);
    ck_assert_ptr_ne(found(text), in_a);
}
END_TEST

/* A copy that was not renamed inside does not take the place of the file called after the name. */
START_TEST(a_file_called_after_the_name_wins)
{
    char text[LENGTH];

    make_folder("a");
    make_folder("b");
    copy("plugins", "lorenz63", "a/copied.so");
    copy("plugins", "lorenz63", "b/lorenz63.so");
    open_registry("a:b");
    print(text, sizeof text, "hidden: the name 'lorenz63' means %s/b/lorenz63.so", top);
    scan_says("a/copied.so", text);
    ck_assert_ptr_eq(scanned("b/lorenz63.so").model, found("lorenz63"));
}
END_TEST

/* A rebuilt plugin that does not load must not give way to an older one further on. */
START_TEST(a_broken_file_does_not_fall_through)
{
    char text[LENGTH];

    make_folder("a");
    write_text("a/lorenz63.so", "not a shared object\n");
    open_registry("a");
    print(text, sizeof text, "%s/a/lorenz63.so: ", top);
    refused("lorenz63", text);
    scan_says("a/lorenz63.so", "file too short");
}
END_TEST

START_TEST(registries_do_not_share)
{
    gbees_registry *other = NULL;

    make_folder("a");
    open_registry("a");
    const gbees_model *model = found("lorenz63");
    ck_assert_int_eq(gbees_registry_create(NULL, &other, &error), GBEES_OK);
    const gbees_model *same = NULL;
    ck_assert_int_eq(gbees_registry_model(other, "lorenz63", &same, &error), GBEES_OK);
    gbees_registry_destroy(other);
    ck_assert_str_eq(model->name, "lorenz63"); /* still there */
    ck_assert_int_eq(model->functions[0].n, 3);
    open_registry("a");
    ck_assert_str_eq(found("lorenz63")->name, "lorenz63");
    gbees_registry_destroy(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("registry");
    TCase *tcase = tcase_create("registry");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, folders_in_order);
    tcase_add_test(tcase, relative_folders_are_those_of_the_start);
    tcase_add_test(tcase, only_so_files_count);
    tcase_add_test(tcase, a_file_in_place_of_a_folder_is_reported);
    tcase_add_test(tcase, finds_the_build_trees_models);
    tcase_add_test(tcase, unknown_names_get_the_nearest);
    tcase_add_test(tcase, a_file_by_its_path);
    tcase_add_test(tcase, a_name_is_the_cards);
    tcase_add_test(tcase, the_first_folder_wins);
    tcase_add_test(tcase, a_file_called_after_the_name_wins);
    tcase_add_test(tcase, a_broken_file_does_not_fall_through);
    tcase_add_test(tcase, registries_do_not_share);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
