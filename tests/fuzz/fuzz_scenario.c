/* fuzz_scenario.c - a scenario: YAML, the schema's checks, and the problem that is made of it. */
#include "harness.h"
#include <gbees/gbees.h>
#include <gbees/model.h>
#include <stdlib.h>
#include <string.h>

const char fuzz_corpus[] = "scenario";

extern const gbees_model gbees_model_card; /* of the plugin that is linked */

/* A scenario's text is a scenario, with the same text. */
static void check_text(gbees_scenario *scenario)
{
    const char *text = gbees_scenario_text(scenario);
    gbees_scenario *again = NULL;

    fuzz_expect(text != NULL, "a scenario has a text");
    fuzz_expect(gbees_scenario_create(text, "text", &again, NULL) == GBEES_OK, "its text is a scenario");
    const char *second = gbees_scenario_text(again);
    fuzz_expect(second && strcmp(text, second) == 0, "and has the same text");
    gbees_scenario_destroy(again);
}

static void make_problem(gbees_scenario *scenario)
{
    gbees_scenario *defaults = NULL;
    gbees_problem *problem = NULL;
    gbees_error error = {0};

    fuzz_expect(gbees_scenario_create(gbees_model_card.scenarios[0].text, "defaults", &defaults, NULL) == GBEES_OK,
                "the model's own scenario is one");
    fuzz_expect(gbees_scenario_merge(scenario, defaults, NULL) == GBEES_OK, "it fills what the scenario lacks");
    if (gbees_problem_create(&gbees_model_card, scenario, &problem, &error))
        fuzz_expect(error.text[0] != '\0', "a refusal has a reason");
    gbees_problem_destroy(problem);
    gbees_scenario_destroy(defaults);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *path = fuzz_write("scenario.yaml", data, size);
    gbees_scenario *scenario = NULL;
    gbees_error error = {0};

    if (gbees_scenario_read(path, &scenario, &error))
        fuzz_expect(error.text[0] != '\0', "a refusal has a reason");
    else {
        check_text(scenario);
        make_problem(scenario);
    }
    gbees_scenario_destroy(scenario);
    free(path);
    return 0;
}
