/* accuracy - compares results folders with a Monte Carlo truth, or with each other; prints Markdown. */
#include "legs.h"
#include "report.h"
#include "row.h"
#include "study.h"
#include <argp.h>
#include <math.h>
#include <stdlib.h>

typedef struct options {
    gbees_study_options study;
    const char *row, *table, *samples; /* see row.h */
    int legs;                          /* `row` is the label of lines by legs.h */
    size_t sampling;                   /* see row.h */
    gbees_montecarlo_options montecarlo;
    size_t kernel;
    double work;
    int l1;
    char **runs;
    int run_count;
} options;

enum {
    KEY_STEP = 256,
    KEY_SEED,
    KEY_KERNEL,
    KEY_WORK,
    KEY_THREADS,
    KEY_FULL,
    KEY_L1,
    KEY_PLUGIN_PATH,
    KEY_ROW,
    KEY_LEGS,
    KEY_SAMPLING,
    KEY_TABLE,
    KEY_KEEP
};

static const struct argp_option table[] = {
    {"plugin", 'p', "NAME", 0, "the model (default: the one that the records name)", 0},
    {"plugin-path", KEY_PLUGIN_PATH, "DIRS", 0, "folders to search for it", 0},
    {"scenario", 's', "FILE", 0, "the scenario (default: scenario.yaml in RUN)", 0},
    {"samples", 'n', "N", 0, "Monte Carlo samples (default 1000000)", 0},
    {"step", KEY_STEP, "DT", 0, "their longest time step (default 8.3e-4)", 0},
    {"seed", KEY_SEED, "N", 0, "of their random numbers (default 1)", 0},
    {"full", KEY_FULL, NULL, 0, "start from the whole Gaussian, not from what the initial box holds of it", 0},
    {"kernel", KEY_KERNEL, "N", 0, "samples of the kernel estimate (default 100000; 0: leave it out)", 0},
    {"kernel-work", KEY_WORK, "N", 0, "of more than N cells times samples take a part of the cells (default 2e10)",
     0},
    {"threads", KEY_THREADS, "N", 0, "0 (default): all", 0},
    {"l1", KEY_L1, NULL, 0, "print the L1 distance and the Bhattacharyya coefficient of two runs' records", 0},
    {"row", KEY_ROW, "LABEL", 0, "print the last record of each run as a line of numbers after LABEL", 0},
    {"sampling", KEY_SAMPLING, "N", 0, "with --row: in place of the run take N samples of its problem, as a method",
     0},
    {"legs", KEY_LEGS, "LABEL", 0, "print the ends of each leg, a line of numbers after LABEL for each", 0},
    {"keep", KEY_KEEP, "DIR", 0, "with --row: keep samples in DIR, for the next time", 0},
    {"truth", KEY_TABLE, "FILE", 0, "with --row or --legs: true moments from a table, in place of samples", 0},
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
        chosen->study.plugin = text;
        return 0;
    case KEY_PLUGIN_PATH:
        chosen->study.plugin_path = text;
        return 0;
    case 's':
        chosen->study.scenario = text;
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
    case KEY_ROW:
    case KEY_LEGS:
        chosen->row = text;
        chosen->legs = key == KEY_LEGS;
        return 0;
    case KEY_SAMPLING:
        chosen->sampling = (size_t)number(state, "sampling", text, 128, 1e10);
        return 0;
    case KEY_TABLE:
        chosen->table = text;
        return 0;
    case KEY_KEEP:
        chosen->samples = text;
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

typedef struct run {
    gbees_study study;
    gbees_montecarlo *montecarlo;
} run;

static int measure_all(run *this, const options *chosen, gbees_accuracy *list, gbees_error *error)
{
    gbees_run_position position = {0};
    int status = GBEES_OK;

    for (size_t i = 0; i < gbees_results_count(this->study.results) && !status; i++) {
        gbees_reported reported;
        gbees_snapshot *snapshot;

        status = gbees_results_read(this->study.results, i, &snapshot, error);
        if (status)
            break;
        status = gbees_study_reported(&this->study, i, &reported, error);
        if (!status)
            status = gbees_study_advance(&this->study, &position, this->montecarlo, snapshot, error);
        if (!status)
            status = gbees_accuracy_measure(snapshot, &reported.moments, this->montecarlo, chosen->kernel,
                                            chosen->work, &list[i], error);
        gbees_snapshot_destroy(snapshot);
    }
    return status;
}

/* What the samples are drawn from. */
static const char *start_of(const gbees_problem *problem, int cut)
{
    if (problem->cells)
        return "initial record";
    if (problem->gaussian_count > 0)
        return cut ? "mixture cut at the initial boxes" : "whole mixture";
    return cut ? "Gaussian cut at the initial box" : "whole Gaussian";
}

static int report_run(const options *chosen, const char *folder, gbees_error *error)
{
    gbees_accuracy *list = NULL;
    run this = {.montecarlo = NULL};
    int status = gbees_study_open(folder, &chosen->study, &this.study, error);

    if (!status)
        status = gbees_montecarlo_create(this.study.problem, &chosen->montecarlo, &this.montecarlo, error);
    if (!status && !(list = calloc(gbees_results_count(this.study.results), sizeof *list)))
        status = gbees_error_set(error, GBEES_ENOMEM, "no memory for the table of %s", folder);
    if (!status)
        status = measure_all(&this, chosen, list, error);
    if (!status) {
        const size_t count = gbees_results_count(this.study.results);

        printf("%s, %s: %zu samples of the %s, Runge-Kutta steps of at most %g, seed %llu.\n\n", folder,
               this.study.problem->model->name, chosen->montecarlo.count,
               start_of(this.study.problem, chosen->montecarlo.cut), chosen->montecarlo.step,
               (unsigned long long)chosen->montecarlo.seed);
        gbees_accuracy_print(stdout, list, count);
        putchar('\n');
        gbees_accuracy_print_moments(stdout, list, count);
        putchar('\n');
    }
    free(list);
    gbees_montecarlo_destroy(this.montecarlo);
    gbees_study_close(&this.study);
    return status;
}

static int report_row(const options *chosen, const char *folder, gbees_error *error)
{
    const gbees_row_options row = {chosen->row, chosen->table, chosen->samples, chosen->sampling, chosen->montecarlo};
    gbees_study study;
    int status = gbees_study_open(folder, &chosen->study, &study, error);

    if (!status)
        status = (chosen->legs ? gbees_legs_print : gbees_row_print)(stdout, &study, &row, error);
    gbees_study_close(&study);
    return status;
}

/* ---- two runs --------------------------------------------------------------------------------------------- */

/* Of other cells the second record is taken to those of the first. */
static int compare_records(const gbees_snapshot *a, const gbees_snapshot *b, double *distance, double *coefficient,
                           gbees_error *error)
{
    gbees_snapshot *moved = NULL;
    int status = GBEES_OK, same = 1;

    for (int j = 0; j < a->dimension; j++)
        same = same && fabs(a->width[j] - b->width[j]) <= 1e-12 * a->width[j];
    if (!same)
        status = gbees_compare_transfer(b, a, &moved, error);
    if (!status)
        status = gbees_compare_l1(a, moved ? moved : b, distance, coefficient, error);
    gbees_snapshot_destroy(moved);
    return status;
}

static int l1_record(const gbees_results *const results[2], size_t number, gbees_error *error)
{
    gbees_snapshot *a = NULL, *b = NULL;
    double distance = 0, coefficient = 0;
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
        status = compare_records(a, b, &distance, &coefficient, error);
    if (!status)
        printf("| %d | %d | %.4g | %zu | %zu | %.4f | %.4f |\n", a->leg, a->number, a->time, a->count, b->count,
               distance, coefficient);
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
        printf("| leg | record | t | cells, %s | cells, %s | L1 | BC |\n"
               "| --: | --: | --: | --: | --: | --: | --: |\n",
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
        "RUN...\n--row LABEL RUN...\n--legs LABEL RUN...\n--l1 RUN_A RUN_B",
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
            status = chosen.row ? report_row(&chosen, chosen.runs[i], &error)
                                : report_run(&chosen, chosen.runs[i], &error);
    }
    if (status)
        fprintf(stderr, "accuracy: %s\n", error.text);
    return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
