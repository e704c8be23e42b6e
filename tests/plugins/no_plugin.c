/* no_plugin - a shared object that is no plugin: it has no card. */
int gbees_test_answer(void);

__attribute__((visibility("default"))) int gbees_test_answer(void)
{
    return 42;
}
