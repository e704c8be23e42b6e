/* test_module.c - core/module: what is loaded, and the true reason for what is not. */
#include "fixtures/module_fixture.h"
#include "fixtures/suite.h"

static const struct {
    const char *module, *reason;
} bad[] = {
    {"bad_abi", "made for model ABI 1000, this gbees has ABI 7: rebuild the plugin with this gbees's headers"},
    {"short_card", "its card says "},
    {"no_plugin", "not a gbees model: it has no symbol gbees_model_card"},
    {"undefined", "undefined symbol: gbees_test_missing_function"},
    {"bad_card", "its card has no scenario: set .scenarios"},
};

START_TEST(bad_modules)
{
    char file[LENGTH], name[LENGTH];

    make_folder("a");
    print(name, sizeof name, "%s", bad[_i].module);
    print(file, sizeof file, "a/%s.so", name);
    copy("tests", name, file);
    open_registry("a");
    refused_file(file, bad[_i].reason);
    refused(name, bad[_i].reason);
    scan_says(file, bad[_i].reason);
    ck_assert_str_eq(found("lorenz63")->name, "lorenz63"); /* the others can still be used */
}
END_TEST

START_TEST(bad_files)
{
    make_folder("a");
    make_folder("a/folder.so");
    write_text("a/empty.so", "");
    write_text("a/text.so", "this is a text, no shared object\n");
    copy("plugins", "lorenz63", "a/cut.so");
    char cut[LENGTH];
    print(cut, sizeof cut, "%s/a/cut.so", top);
    ck_assert_int_eq(truncate(cut, 8192), 0); /* a bus error when it is loaded all the same */
    char link[LENGTH];
    print(link, sizeof link, "%s/a/dangling.so", top);
    ck_assert_int_eq(symlink("nowhere", link), 0);
    open_registry("a");
    scan_says("a/folder.so", "not a regular file");
    scan_says("a/empty.so", "file too short");
    scan_says("a/text.so", "file too short");
    scan_says("a/cut.so", "it crashed (Bus error): the file is damaged");
    scan_says("a/dangling.so", "No such file or directory");
    refused("dangling", "a/dangling.so: No such file or directory");
}
END_TEST

/* Modules with dependencies, made here: a card found in a library is not the module's own. */
START_TEST(dependencies)
{
    char command[4 * LENGTH];
    const char *cc = environment("CC", "cc");

    make_folder("a");
    copy("tests", "nan", "library");
    write_text("empty.c", "int nothing;\n");
    print(command, sizeof command,
          "cd '%s' && %s -shared -fPIC empty.c -Wl,--no-as-needed ./library -Wl,-rpath,'%s' -o a/borrowed.so", top,
          cc, top);
    if (system(command) != 0)
        ck_abort_msg("no C compiler (set CC): %s", command);
    /* A library with a name of its own is looked for by that name, one without by the path given. */
    print(command, sizeof command, "cd '%s' && ln -s library nan.so", top);
    run(command);
    ck_assert_int_eq(chdir(top), 0);
    open_registry("a");
    scan_says("a/borrowed.so", "of its own (a library that it is linked with has)");
    refused("borrowed", "not a gbees model");
    gbees_registry_destroy(registry);
    registry = NULL;
    print(command, sizeof command, "rm '%s/library' '%s/nan.so'", top, top);
    run(command);
    open_registry("a");
    scan_says("a/borrowed.so", "cannot open shared object file: No such file or directory");
}
END_TEST

START_TEST(a_backend_by_its_name)
{
    const gbees_backend *backend = NULL, *again = NULL;
    char folder[LENGTH];

    make_folder("b");
    copy("tests", "fake_backend", "b/gbees_fake.so");
    copy("tests", "fake_backend", "b/other.so");
    print(folder, sizeof folder, "%s/b", top);
    (void)setenv("GBEES_BACKEND_PATH", folder, 1);
    open_registry("");
    ck_assert_msg(gbees_registry_backend(registry, "fake", &backend, &error) == GBEES_OK, "%s", error.text);
    ck_assert_str_eq(backend->name, "fake");
    ck_assert_ptr_eq(scanned("b/gbees_fake.so").backend, backend);
    scan_says("b/other.so", "hidden: the name 'fake' means ");
    open_registry(""); /* the code of a backend stays where it is: its threads may be about */
    ck_assert_int_eq(gbees_registry_backend(registry, "fake", &again, &error), GBEES_OK);
    ck_assert_ptr_eq(again, backend);
    refused("fake", "no model named 'fake'");
}
END_TEST

START_TEST(bad_backends)
{
    const gbees_backend *backend = NULL;
    char folder[LENGTH];

    make_folder("b");
    copy("plugins", "lorenz63", "b/gbees_model.so");
    write_text("b/gbees_broken.so",
               "this is long enough to be read as the head of a shared object, and is none.....\n");
    print(folder, sizeof folder, "%s/b", top);
    (void)setenv("GBEES_BACKEND_PATH", folder, 1);
    open_registry("");
    ck_assert_int_eq(gbees_registry_backend(registry, "broken", &backend, &error), GBEES_EBACKEND);
    ck_assert_ptr_nonnull(strstr(error.text, "/b/gbees_broken.so: invalid ELF header"));
    ck_assert_int_eq(gbees_registry_backend(registry, "brokn", &backend, &error), GBEES_EBACKEND);
    ck_assert_ptr_nonnull(strstr(error.text, "no backend named 'brokn': did you mean 'broken'? (searched: "));
    scan_says("b/gbees_model.so", "not a gbees backend: it has no symbol gbees_backend_card");
    ck_assert_ptr_null(backend);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("module");
    TCase *tcase = tcase_create("module");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, bad_modules, 0, (int)(sizeof bad / sizeof bad[0]));
    tcase_add_test(tcase, bad_files);
    tcase_add_test(tcase, dependencies);
    tcase_add_test(tcase, a_backend_by_its_name);
    tcase_add_test(tcase, bad_backends);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
