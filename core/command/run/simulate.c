/* simulate.c - gbees-run --simulate: a truth drawn from the problem, and what is measured of it, as tables. */
#include "base/no_memory.h"
#include "command.h"
#include "results/run/json_util.h"
#include "scenario/yaml_tree.h"
#include "solver/problem/schedule.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct simulation {
    const gbees_options *options;
    gbees_problem problem; /* the run that the tables are for: with its measurements */
    gbees_measurement *measurements;
    int count;
    double *time; /* of the truth */
    size_t times;
    gbees_truth *truth;
    char *folder;
} simulation;

/* The scenario's measurements that are reached, or as many as are asked for, all like the first. */
static int make_measurements(simulation *s, const gbees_problem *problem, gbees_error *error)
{
    const int wanted = s->options->simulate_count;
    const double length = problem->end - problem->start;
    int reached = 0;

    while (reached < problem->measurement_count && problem->measurements[reached].time <= problem->end)
        reached++;
    if (problem->measurement_count == 0 || (reached == 0 && !wanted))
        return gbees_error_set(error, GBEES_EINPUT,
                               "the scenario has no measurement that --simulate could draw: give it one, with its "
                               "function and covariance (its value is not looked at)");
    s->count = wanted ? wanted : reached;
    s->measurements = calloc((size_t)s->count, sizeof *s->measurements);
    if (!s->measurements)
        return gbees_no_memory(error, "for the simulation");
    for (int i = 0; i < s->count; i++) {
        s->measurements[i] = problem->measurements[wanted ? 0 : i];
        if (wanted)
            s->measurements[i].time = i + 1 < wanted ? problem->start + (i + 1) * length / wanted : problem->end;
    }
    s->problem = *problem;
    s->problem.measurements = s->measurements;
    s->problem.measurement_count = s->count;
    return GBEES_OK;
}

/* All times that a run with these measurements has records at. */
static int make_times(simulation *s, gbees_error *error)
{
    gbees_schedule *schedule = NULL;
    int status = gbees_schedule_create(&s->problem, &schedule, error);

    if (status)
        return status;
    s->time = malloc(((size_t)schedule->leg_count * ((size_t)s->problem.records + 1)) * sizeof *s->time);
    for (int k = 0; s->time && k < schedule->leg_count; k++) {
        const gbees_leg *leg = &schedule->legs[k];

        for (int i = 0; i <= gbees_leg_records(leg, s->problem.records); i++) {
            const double time = gbees_leg_time(leg, gbees_leg_records(leg, s->problem.records), i);

            if (s->times == 0 || time > s->time[s->times - 1])
                s->time[s->times++] = time;
        }
    }
    gbees_schedule_destroy(schedule);
    return s->time ? GBEES_OK : gbees_no_memory(error, "for the simulation");
}

static int draw(simulation *s, gbees_error *error)
{
    const uint64_t seed = s->options->seed;
    int status = gbees_truth_simulate(&s->problem, s->times, s->time, seed, &s->truth, error);

    for (int i = 0; !status && i < s->count; i++)
        status = gbees_measurement_draw(&s->problem, &s->measurements[i],
                                        gbees_truth_at(s->truth, s->measurements[i].time), seed, (uint64_t)i, error);
    return status;
}

/* What a table can't say of its measurements, for the remark in it. */
static void describe_likelihood(const simulation *s, char *text, size_t size)
{
    const gbees_measurement *first = &s->measurements[0];

    text[0] = 0;
    if (first->likelihood == GBEES_LIKELIHOOD_STUDENT)
        (void)snprintf(text, size, "; likelihood: student-t, degrees_of_freedom: %g", first->degrees_of_freedom);
}

static int write_tables(simulation *s, gbees_error *error)
{
    char remark[256], likelihood[64];
    const gbees_simulation simulated = {.problem = &s->problem,
                                        .truth = s->truth,
                                        .measurements = s->measurements,
                                        .count = (size_t)s->count,
                                        .remark = remark};

    describe_likelihood(s, likelihood, sizeof likelihood);
    (void)snprintf(remark, sizeof remark, "gbees-run %s --plugin %s --simulate %llu%s", gbees_version(),
                   s->problem.model->name, (unsigned long long)s->options->seed, likelihood);
    return gbees_simulation_write(&simulated, s->folder, error);
}

static int print(const simulation *s, FILE *out, gbees_error *error)
{
    char end[GBEES_NUMBER_TEXT];

    if (s->options->json)
        return gbees_print_json(out,
                                json_pack("{s:s, s:o, s:o, s:i}", "event", "simulation", "output",
                                          gbees_json_text(s->folder), "times", gbees_json_unsigned(s->times),
                                          "measurements", s->count),
                                error);
    if (!s->options->quiet)
        (void)fprintf(out,
                      "%s/truth.csv         %zu times\n%s/measurements.csv  %d measurement%s\n"
                      "To run it, give in place of the options --simulate...: --measurements %s/measurements.csv "
                      "--truth %s/truth.csv --until %s\n",
                      s->folder, s->times, s->folder, s->count, s->count == 1 ? "" : "s", s->folder, s->folder,
                      gbees_number_write(s->problem.end, end));
    return gbees_print_flush(out, error);
}

int gbees_command_simulate(const gbees_options *options, gbees_registry *registry, FILE *out, gbees_error *error)
{
    simulation s = {.options = options};
    gbees_setup setup = {0};
    int status = gbees_setup_make_problem(&setup, options, registry, error);

    if (!status)
        status = make_measurements(&s, setup.problem, error);
    if (!status)
        status = gbees_output_choose(options->output, setup.model->name, !options->output, &s.folder, error);
    if (!status)
        status = make_times(&s, error);
    if (!status)
        status = draw(&s, error);
    if (!status)
        status = write_tables(&s, error);
    if (!status)
        status = print(&s, out, error);
    gbees_truth_destroy(s.truth);
    free(s.measurements);
    free(s.time);
    if (status && s.folder && !options->output)
        (void)rmdir(s.folder); /* it was made to keep its name */
    free(s.folder);
    gbees_setup_free(&setup);
    return status;
}
