/* output_size.c - adds up the sizes of records, time series and scenario. */
#include "output_size.h"
#include "record/instants.h"
#include <string.h>

/* Bytes of a record of one state without its cells: attributes, names of axes, marginals and its part of lists of
 * records; what each further state adds; of its samples along an axis; of a cell, and of its centre for ParaView.
 * Measured on runs in one to four and in six dimensions. */
static const double record_bytes = 5000, state_bytes = 9000, samples_bytes = 5000, cell_bytes = 3,
                    plotted_bytes = 1.5;

gbees_output_records gbees_output_records_of(const gbees_setup *setup)
{
    const gbees_problem *problem = setup->problem;
    const gbees_output *output = setup->output;
    const double a_leg = problem->records + 1.0;
    double legs = 1;
    int ends_with_one = 0;

    gbees_leg_start at = {0};

    while (gbees_leg_start_next(problem, &at)) {
        legs++;
        ends_with_one = at.time >= problem->end;
    }
    gbees_output_records records = {.all = legs * a_leg - (ends_with_one ? a_leg - 1 : 0)};
    records.written = output->densities == GBEES_DENSITIES_NONE       ? 0
                      : output->densities == GBEES_DENSITIES_LAST     ? 1 + ends_with_one
                      : output->densities == GBEES_DENSITIES_AT_TIMES ? (double)output->time_count
                      : output->every > 1                             ? records.all / output->every
                                                                      : records.all;
    return records;
}

double gbees_output_size(const gbees_setup *setup, int reached, double cells, int audit)
{
    const gbees_output_records records = gbees_output_records_of(setup);
    const double n = setup->problem->dimension, rows = records.all;
    const char *scenario = gbees_scenario_text(setup->scenario);
    const double text = scenario ? (double)strlen(scenario) : 0;
    const double row = 8 * (14 + n + n * n + (audit ? 8 * n + 4 : 0)), update = 8 * 12;
    const double a_cell = cell_bytes * (setup->problem->numerics.precision == GBEES_DOUBLE ? 2 : 1) +
                          (n == 2 || n == 3 ? plotted_bytes : 0);
    const double a_record = record_bytes + state_bytes * (n - 1) + (audit ? samples_bytes * n : 0) + a_cell * cells;

    return 2 * text + rows * row + reached * update + records.written * a_record;
}
