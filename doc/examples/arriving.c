/* arriving.c - a filter: measurements of z arrive on standard input, one line each, while the program runs.
 *
 *     cc $(pkg-config --cflags gbees) arriving.c -o arriving $(pkg-config --libs gbees)
 *     printf '0.5 -12\n1.0 -8\n' | ./arriving FOLDER
 *
 * A line is a time and a value of Lorenz '63's z, with variance 1. A problem never changes once it is made. So each
 * measurement is a run of its own: from the last record of the run before, to the time of the measurement, which is
 * applied at the end. Run number k leaves its records in FOLDER/k, and that is where run k + 1 begins.
 */
#include <gbees/gbees.h>
#include <stdio.h>

typedef struct filter {
    const gbees_model *model;     /* owned by the registry */
    const gbees_backend *backend; /* likewise */
    const char *folder;           /* of all runs' records */
    gbees_writer *writer;         /* of the run under way */
} filter;

/* ---- what the solver reports: each record goes to the disk, each update to standard output ---- */

static int write_record(void *context, const gbees_record *record, gbees_error *error)
{
    const filter *f = context;

    return gbees_writer_record(f->writer, record, error);
}

static int print_update(void *context, const gbees_problem *problem, int number, double time,
                        const gbees_evidence *evidence, gbees_error *error)
{
    const filter *f = context;

    (void)problem;
    printf("t = %g: log evidence %.4f\n", time, evidence->log_evidence);
    return gbees_writer_update(f->writer, number, time, evidence, error);
}

/* ---- a run ---- */

/* The scenario of run `number`: the model's own, but from the last record of the run before to `time`, with one
 * measurement. */
static int make_scenario(const filter *f, int number, double time, double z, gbees_scenario **scenario,
                         gbees_error *error)
{
    gbees_scenario *defaults = NULL;
    char initial[512], text[256];

    (void)snprintf(initial, sizeof initial, "initial={file: '%s/%d'}", f->folder, number - 1);
    (void)snprintf(text, sizeof text,
                   "end: %.17g\nrecords: 1\n"
                   "measurements: [{time: %.17g, function: z, value: [%.17g], covariance: [1]}]\n",
                   time, time, z);
    int status = gbees_scenario_create(text, "the measurement", scenario, error);

    if (!status && number > 1)
        status = gbees_scenario_set(*scenario, initial, error);
    if (!status)
        status = gbees_scenario_create(f->model->scenarios[0].text, "the default scenario", &defaults, error);
    if (!status)
        status = gbees_scenario_merge(*scenario, defaults, error);
    gbees_scenario_destroy(defaults);
    return status;
}

/* Advances the density to `time`, and applies the measurement there. */
static int run(filter *f, int number, double time, double z, gbees_error *error)
{
    const gbees_observer observer = {.context = f, .record = write_record, .update = print_update};
    const gbees_engine_options options = {.threads = 0};
    gbees_provenance provenance = {.backend = f->backend->name, .command = "arriving"};
    gbees_scenario *scenario = NULL;
    gbees_problem *problem = NULL;
    gbees_solver *solver = NULL;
    gbees_summary summary;
    char folder[512];

    (void)snprintf(folder, sizeof folder, "%s/%d", f->folder, number);
    int status = make_scenario(f, number, time, z, &scenario, error);
    if (!status)
        status = gbees_problem_create(f->model, scenario, &problem, error);
    if (!status)
        status = gbees_solver_create(problem, f->backend, &options, &solver, error);
    if (!status) {
        provenance.scenario = gbees_scenario_text(scenario);
        status = gbees_writer_create(folder, problem, &provenance, &f->writer, error);
    }
    if (!status) {
        status = gbees_solver_run(solver, &observer, error);
        gbees_solver_summary(solver, &summary); /* valid after a failed run, too */
        if (status)
            (void)gbees_writer_finish(f->writer, "failed", &summary, NULL);
        else
            status = gbees_writer_finish(f->writer, "complete", &summary, error);
    }
    gbees_writer_destroy(f->writer);
    f->writer = NULL;
    gbees_solver_destroy(solver);
    gbees_problem_destroy(problem);
    gbees_scenario_destroy(scenario);
    return status;
}

int main(int argc, char **argv)
{
    filter f = {.folder = argc > 1 ? argv[1] : "arriving-results"};
    gbees_registry *registry = NULL;
    gbees_error error = {0};
    double time, z;
    int status = gbees_registry_create(NULL, &registry, &error);

    if (!status)
        status = gbees_registry_model(registry, "lorenz63", &f.model, &error);
    if (!status)
        status = gbees_registry_backend(registry, "cpu", &f.backend, &error);
    for (int number = 1; !status && scanf("%lf %lf", &time, &z) == 2; number++)
        status = run(&f, number, time, z, &error);
    if (status)
        fprintf(stderr, "arriving: %s\n", error.text);
    gbees_registry_destroy(registry);
    return status ? 1 : 0;
}
