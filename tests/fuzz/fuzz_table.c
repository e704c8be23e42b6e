/* fuzz_table.c - a table of measurements: CSV, what its columns stand for, and the scenario that is made of it. */
#include "harness.h"
#include <gbees/gbees.h>
#include <gbees/model.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char fuzz_corpus[] = "table";

static const gbees_quantity sight[] = {{"range", "km", ""}, {"range_rate", "km/s", ""}};
static const gbees_quantity height = {"height", "-", ""};
static const gbees_measurement_function functions[] = {
    {"sight", "", 2, sight, NULL}, {"height", "", 1, &height, NULL}, {"pair", "", 2, NULL, NULL}};
static const gbees_model model = {.name = "seen", .measurement_count = 3, .measurements = functions};

/* What a scenario may say of all rows. */
static const char *const keys[] = {"", ", function: pair, covariance: [[1, 0], [0, 2]]",
                                   ", covariance: [9], likelihood: student-t, degrees_of_freedom: 4"};

static void check_text(gbees_scenario *scenario)
{
    const char *text = gbees_scenario_text(scenario);
    gbees_scenario *again = NULL;

    fuzz_expect(text != NULL, "a scenario with the rows of a table has a text");
    fuzz_expect(gbees_scenario_create(text, "text", &again, NULL) == GBEES_OK, "its text is a scenario");
    const char *second = gbees_scenario_text(again);
    fuzz_expect(second && strcmp(text, second) == 0, "and has the same text");
    gbees_scenario_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *path = fuzz_write("table.csv", data, size), yaml[8192];

    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        gbees_scenario *scenario = NULL;
        gbees_error error = {0};

        (void)snprintf(yaml, sizeof yaml, "measurements: {file: %s%s}\n", path, keys[k]);
        fuzz_expect(gbees_scenario_create(yaml, "f.yaml", &scenario, NULL) == GBEES_OK, "a table can be named");
        if (gbees_scenario_load(scenario, &model, &error))
            fuzz_expect(error.text[0] != '\0', "a refusal has a reason");
        else
            check_text(scenario);
        gbees_scenario_destroy(scenario);
    }
    free(path);
    return 0;
}
