/* accuracy - holds results folders against a Monte Carlo truth, or against each other; prints Markdown. */
#include "report.h"
#include <argp.h>
#include <math.h>
#include <stdlib.h>

typedef struct options {
    const char *plugin, *plugin_path, *scenario;
    gbees_montecarlo_options montecarlo;
    size_t kernel;
    double work;
    int l1;
    char **runs;
    int run_count;
} options;

enum { KEY_STEP = 256, KEY_SEED, KEY_KERNEL, KEY_WORK, KEY_THREADS, KEY_FULL, KEY_L1, KEY_PLUGIN_PATH };

static const struct argp_option table[] = {
    {"plugin", 'p', "NAME", 0, "the model (default: the one that the records name)", 0},
    {"plugin-path", KEY_PLUGIN_PATH, "DIRS", 0, "folders to search for it", 0},
    {"scenario", 's', "FILE", 0, "the scenario (default: scenario.yaml in RUN)", 0},
    {"samples", 'n', "N", 0, "Monte Carlo samples (default 1000000)", 0},
    {"step", KEY_STEP, "DT", 0, "their longest time step (default 8.3e-4)", 0},
    {"seed", KEY_SEED, "N", 0, "of their random numbers (default 1)", 0},
    {"full", KEY_FULL, NULL, 0, "start from the whole Gaussian, not from what the initial box holds of it", 0},
    {"kernel", KEY_KERNEL, "N", 0, "samples of the kernel estimate (default 100000; 0: leave it out)", 0},
    {"kernel-work", KEY_WORK, "N", 0, "leave it out where cells times samples exceed N (default 2e10)", 0},
    {"threads", KEY_THREADS, "N", 0, "0 (default): all", 0},
    {"l1", KEY_L1, NULL, 0, "print the L1 distance of two runs' records", 0},
    {0},
};

/* ---- options ---------------------------------------------------------------------------------------------- */

static double number(struct argp_state *state, const char *name, const char *text, double least, double most)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !(value >= least && value <= most))
        argp_error(state, "--%s: '%s' is not a number between %g and %g", name, text, least, most);
    return value;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    options *chosen = state->input;

    switch (key) {
    case 'p':
        chosen->plugin = text;
        return 0;
    case KEY_PLUGIN_PATH:
        chosen->plugin_path = text;
        return 0;
    case 's':
        chosen->scenario = text;
        return 0;
    case 'n':
        chosen->montecarlo.count = (size_t)number(state, "samples", text, 128, 1e10);
        return 0;
    case KEY_STEP:
        chosen->montecarlo.step = number(state, "step", text, 1e-300, 1e300);
        return 0;
    case KEY_SEED:
        chosen->montecarlo.seed = (uint64_t)number(state, "seed", text, 0, 0x1p53);
        return 0;
    case KEY_FULL:
        chosen->montecarlo.cut = 0;
        return 0;
    case KEY_KERNEL:
        chosen->kernel = (size_t)number(state, "kernel", text, 0, 1e10);
        return 0;
    case KEY_WORK:
        chosen->work = number(state, "kernel-work", text, 0, 1e300);
        return 0;
    case KEY_THREADS:
        chosen->montecarlo.threads = (int)number(state, "threads", text, 0, 4096);
        return 0;
    case KEY_L1:
        chosen->l1 = 1;
        return 0;
    case ARGP_KEY_ARGS:
        chosen->runs = state->argv + state->next;
        chosen->run_count = state->argc - state->next;
        return 0;
    case ARGP_KEY_END:
        if (chosen->run_count < 1 || (chosen->l1 && chosen->run_count != 2))
            argp_error(state, chosen->l1 ? "--l1 takes two results folders" : "which results folder?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- one run beside the truth ----------------------------------------------------------------------------- */

/* What a run was of, made again from its folder. */
typedef struct run {
    gbees_results *results;
    gbees_registry *registry;
    gbees_scenario *scenario;
    gbees_problem *problem;
    gbees_montecarlo *montecarlo;
} run;

static void run_close(run *this)
{
    gbees_montecarlo_destroy(this->montecarlo);
    gbees_problem_destroy(this->problem);
    gbees_scenario_destroy(this->scenario);
    gbees_registry_destroy(this->registry);
    gbees_results_destroy(this->results);
}

static int scenario_open(run *this, const options *chosen, const char *folder, const gbees_model *model,
                         gbees_error *error)
{
    gbees_scenario *defaults = NULL;
    char *path = NULL;
    int status;

    if (!chosen->scenario && asprintf(&path, "%s/scenario.yaml", folder) < 0)
        return gbees_error_set(error, GBEES_ENOMEM, "no memory");
    status = gbees_scenario_read(chosen->scenario ? chosen->scenario : path, &this->scenario, error);
    free(path);
    if (!status && model->scenario_count > 0) {
        status = gbees_scenario_create(model->scenarios[0].text, model->name, &defaults, error);
        if (!status)
            status = gbees_scenario_merge(this->scenario, defaults, error);
        gbees_scenario_destroy(defaults);
    }
    return status;
}

static int run_open(run *this, const options *chosen, const char *folder, gbees_error *error)
{
    const gbees_model *model;
    gbees_snapshot *first = NULL;
    int status;

    *this = (run){.results = NULL};
    status = gbees_results_open(folder, &this->results, error);
    if (!status && gbees_results_count(this->results) == 0)
        status = gbees_error_set(error, GBEES_EINPUT, "%s: no records", folder);
    if (!status)
        status = gbees_results_read(this->results, 0, &first, error);
    if (!status)
        status = gbees_registry_create(chosen->plugin_path, &this->registry, error);
    if (!status)
        status = gbees_registry_model(this->registry, chosen->plugin ? chosen->plugin : first->model, &model, error);
    gbees_snapshot_destroy(first);
    if (!status)
        status = scenario_open(this, chosen, folder, model, error);
    if (!status)
        status = gbees_problem_create(model, this->scenario, &this->problem, error);
    if (!status)
        status = gbees_montecarlo_create(this->problem, &chosen->montecarlo, &this->montecarlo, error);
    return status;
}

/* Carries the samples to a record; *leg is the leg they are in, *next the first measurement not yet used. A leg opens
 * with all measurements of one time. */
static int carry(run *this, const gbees_snapshot *snapshot, int *leg, int *next, gbees_error *error)
{
    const gbees_problem *problem = this->problem;
    int status = GBEES_OK;

    for (; *leg < snapshot->leg && !status; ++*leg) {
        const double time = *next < problem->measurement_count ? problem->measurements[*next].time : NAN;

        if (isnan(time))
            return gbees_error_set(error, GBEES_EINPUT,
                                   "leg %d has no measurement in the scenario: is it the run's own?", snapshot->leg);
        status = gbees_montecarlo_advance(this->montecarlo, time, error);
        while (!status && *next < problem->measurement_count && problem->measurements[*next].time == time)
            status = gbees_montecarlo_update(this->montecarlo, &problem->measurements[(*next)++], error);
    }
    return status ? status : gbees_montecarlo_advance(this->montecarlo, snapshot->time, error);
}

static int measure_all(run *this, const options *chosen, gbees_accuracy *list, gbees_error *error)
{
    int status = GBEES_OK, leg = 0, next = 0;

    for (size_t i = 0; i < gbees_results_count(this->results) && !status; i++) {
        gbees_snapshot *snapshot;

        status = gbees_results_read(this->results, i, &snapshot, error);
        if (status)
            break;
        status = carry(this, snapshot, &leg, &next, error);
        if (!status)
            status =
                gbees_accuracy_measure(snapshot, this->montecarlo, chosen->kernel, chosen->work, &list[i], error);
        gbees_snapshot_destroy(snapshot);
    }
    return status;
}

static int report_run(const options *chosen, const char *folder, gbees_error *error)
{
    gbees_accuracy *list = NULL;
    run this;
    int status = run_open(&this, chosen, folder, error);

    if (!status && !(list = calloc(gbees_results_count(this.results), sizeof *list)))
        status = gbees_error_set(error, GBEES_ENOMEM, "no memory for the table of %s", folder);
    if (!status)
        status = measure_all(&this, chosen, list, error);
    if (!status) {
        const size_t count = gbees_results_count(this.results);

        printf("%s, %s: %zu samples of the %s, Runge-Kutta steps of at most %g, seed %llu.\n\n", folder,
               this.problem->model->name, chosen->montecarlo.count,
               chosen->montecarlo.cut ? "Gaussian cut at the initial box" : "whole Gaussian", chosen->montecarlo.step,
               (unsigned long long)chosen->montecarlo.seed);
        gbees_accuracy_print(stdout, list, count);
        putchar('\n');
        gbees_accuracy_print_moments(stdout, list, count);
        putchar('\n');
    }
    free(list);
    run_close(&this);
    return status;
}

/* ---- two runs --------------------------------------------------------------------------------------------- */

static int l1_record(const gbees_results *const results[2], size_t number, gbees_error *error)
{
    gbees_snapshot *a = NULL, *b = NULL;
    double distance = 0;
    int status = gbees_results_read(results[0], number, &a, error);

    if (!status)
        status = gbees_results_read(results[1], number, &b, error);
    if (!status &&
        (a->leg != b->leg || a->number != b->number || fabs(a->time - b->time) > 1e-9 * (1 + fabs(a->time))))
        status = gbees_error_set(error, GBEES_EUSAGE,
                                 "record %d of leg %d at t = %g stands beside record %d of leg %d at t = %g: compare "
                                 "runs with the same records",
                                 a->number, a->leg, a->time, b->number, b->leg, b->time);
    if (!status)
        status = gbees_compare_l1(a, b, &distance, error);
    if (!status)
        printf("| %d | %d | %.4g | %zu | %zu | %.4f |\n", a->leg, a->number, a->time, a->count, b->count, distance);
    gbees_snapshot_destroy(a);
    gbees_snapshot_destroy(b);
    return status;
}

static int report_l1(const options *chosen, gbees_error *error)
{
    gbees_results *results[2] = {NULL, NULL};
    int status = gbees_results_open(chosen->runs[0], &results[0], error);

    if (!status)
        status = gbees_results_open(chosen->runs[1], &results[1], error);
    if (!status && gbees_results_count(results[0]) != gbees_results_count(results[1]))
        status = gbees_error_set(error, GBEES_EUSAGE, "%s has %zu records, %s has %zu", chosen->runs[0],
                                 gbees_results_count(results[0]), chosen->runs[1], gbees_results_count(results[1]));
    if (!status)
        printf("| leg | record | t | cells, %s | cells, %s | L1 |\n| --: | --: | --: | --: | --: | --: |\n",
               chosen->runs[0], chosen->runs[1]);
    for (size_t i = 0; !status && i < gbees_results_count(results[0]); i++)
        status = l1_record((const gbees_results *const[2]){results[0], results[1]}, i, error);
    if (!status)
        putchar('\n');
    gbees_results_destroy(results[0]);
    gbees_results_destroy(results[1]);
    return status;
}

int main(int argc, char **argv)
{
    const struct argp parser = {
        table,
        parse,
        "RUN...\n--l1 RUN_A RUN_B",
        "Holds the records of results folders against a Monte Carlo truth, and prints tables in Markdown.",
        NULL,
        NULL,
        NULL};
    options chosen = {
        .montecarlo = {.count = 1000000, .step = 8.3e-4, .seed = 1, .cut = 1}, .kernel = 100000, .work = 2e10};
    gbees_error error;
    int status = GBEES_OK;

    argp_parse(&parser, argc, argv, 0, NULL, &chosen);
    if (chosen.l1)
        status = report_l1(&chosen, &error);
    else {
        for (int i = 0; i < chosen.run_count && !status; i++)
            status = report_run(&chosen, chosen.runs[i], &error);
    }
    if (status)
        fprintf(stderr, "accuracy: %s\n", error.text);
    return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
