/* fuzz_provenance.c - a run.json that a resumed run takes over, and writes again. */
#include "harness.h"
#include "results/run/provenance.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

const char fuzz_corpus[] = "provenance";

static const gbees_model model = {.name = "seen"};
static const gbees_problem problem = {.model = &model, .dimension = 2};
static const gbees_provenance provenance = {"/lib/seen.so", "end: 1\n", "cpu", NULL, "gbees-run --resume folder"};

/* The list has this resumption at its end. */
static void check_list(const char *text)
{
    json_t *list = text ? json_loads(text, 0, NULL) : NULL;

    fuzz_expect(json_array_size(list) > 0, "a resumed run has a list of resumptions");
    fuzz_expect(json_is_object(json_array_get(list, json_array_size(list) - 1)), "with this one at its end");
    json_decref(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static gbees_store store;
    gbees_run_info info;
    gbees_error error = {0};

    if (!store.path)
        fuzz_expect(gbees_store_reopen(fuzz_folder(), &store, NULL) == GBEES_OK, "there is a folder for results");
    char *path = fuzz_write("run.json", data, size);
    fuzz_expect(gbees_run_info_create(&problem, &provenance, &info, NULL) == GBEES_OK, "a run has a description");
    fuzz_expect(gbees_run_info_resume(&info, &store, 0, &error) == GBEES_OK, "whatever run.json says, a run goes on");
    check_list(info.resumed);
    fuzz_expect(gbees_run_info_write(&info, &store, "running", NULL, &error) == GBEES_OK, "and writes its own");
    gbees_run_info_free(&info);
    free(path);
    return 0;
}
