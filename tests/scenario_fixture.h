/* scenario_fixture.h - a scenario of the paper, and how tests make one and look at it. */
#ifndef GBEES_TESTS_SCENARIO_FIXTURE_H
#define GBEES_TESTS_SCENARIO_FIXTURE_H

#include "io/scenario.h"
#include <check.h>

static const char lorenz63[] = "# Hanson et al., Comput. Phys. Commun. 317 (2025) 109819, section 5.1.1\n"
                               "mean: [-11.5, -10.0, 9.5]\n"
                               "covariance: [1, 1, 1]\n"
                               "threshold: 5.0e-6\n"
                               "end: 2.0\n"
                               "records: 4\n"
                               "measurements:\n"
                               "  - {time: 1.0, function: z, value: [-8], covariance: [1]}\n";

static inline gbees_scenario *make(const char *text, const char *name)
{
    gbees_scenario *scenario = NULL;
    gbees_error error = {0};

    ck_assert_msg(gbees_scenario_create(text, name, &scenario, &error) == GBEES_OK, "%s", error.text);
    ck_assert_ptr_nonnull(scenario);
    return scenario;
}

static inline double number(const gbees_scenario *scenario, const char *key)
{
    const gbees_node *node = gbees_scenario_find(scenario, key);

    ck_assert_msg(node != NULL, "%s is missing", key);
    return gbees_node_number(node);
}

#endif
