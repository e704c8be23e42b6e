/* arriving.c - a filter: measurements of z arrive on standard input, one line each, while the program runs.
 *
 *     cc $(pkg-config --cflags gbees) arriving.c -o arriving $(pkg-config --libs gbees)
 *     printf '0.5 -12\n1.0 -8\n' | ./arriving FOLDER
 *
 * A line is a time and a value of Lorenz '63's z, with variance 1. The density stays in memory from line to line; the
 * records are in FOLDER, with a checkpoint, from which gbees_stream_resume() goes on. A second argument is a scenario
 * for what the model's own one does not say: './arriving FOLDER "frame: lagrangian"'.
 */
#include <gbees/gbees.h>
#include <stdio.h>

/* ---- what the stream reports: each record goes to the disk, each update to standard output ---- */

static int write_record(void *context, const gbees_record *record, gbees_error *error)
{
    return gbees_writer_record(context, record, error);
}

static int print_update(void *context, const gbees_problem *problem, int number, double time,
                        const gbees_evidence *evidence, gbees_error *error)
{
    (void)problem;
    printf("t = %g: log evidence %.4f\n", time, evidence->log_evidence);
    return gbees_writer_update(context, number, time, evidence, error);
}

/* ---- the stream ---- */

/* Takes the density through the measurements on standard input. */
static int filter(gbees_stream *stream, gbees_writer *writer, gbees_error *error)
{
    const gbees_observer observer = {.context = writer, .record = write_record, .update = print_update};
    gbees_measurement measurement;
    char text[256];
    double time, z;
    int status = GBEES_OK;

    while (!status && scanf("%lf %lf", &time, &z) == 2) {
        (void)snprintf(text, sizeof text, "{time: %.17g, function: z, value: [%.17g], covariance: [1]}", time, z);
        status = gbees_measurement_read(gbees_stream_problem(stream), text, &measurement, error);
        if (!status)
            status = gbees_stream_update(stream, &measurement, &observer, error);
        if (!status)
            status = gbees_stream_save(stream, writer, error);
    }
    return status;
}

/* Writes the results of a stream to a folder. */
static int write_results(gbees_stream *stream, const char *folder, const gbees_provenance *provenance,
                         gbees_error *error)
{
    gbees_writer *writer = NULL;
    gbees_summary summary;
    int status = gbees_writer_create(folder, gbees_stream_problem(stream), provenance, &writer, error);

    if (!status)
        status = filter(stream, writer, error);
    gbees_stream_summary(stream, &summary); /* valid after an error, too */
    if (writer && status)
        (void)gbees_writer_finish(writer, "failed", &summary, NULL);
    else if (writer)
        status = gbees_writer_finish(writer, "complete", &summary, error);
    gbees_writer_destroy(writer);
    return status;
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "arriving-results", *settings = argc > 2 ? argv[2] : "";
    gbees_registry *registry = NULL;
    gbees_scenario *scenario = NULL;
    gbees_problem *problem = NULL;
    gbees_stream *stream = NULL;
    const gbees_model *model = NULL;
    const gbees_backend *backend = NULL;
    gbees_error error = {0};
    int status = gbees_registry_create(NULL, &registry, &error);

    if (!status)
        status = gbees_registry_model(registry, "lorenz63", &model, &error);
    if (!status)
        status = gbees_registry_backend(registry, "cpu", &backend, &error);
    if (!status)
        status = gbees_scenario_create(settings, "the settings", &scenario, &error);
    if (!status)
        status = gbees_scenario_merge_own(scenario, model, NULL, &error);
    if (!status)
        status = gbees_problem_create(model, scenario, &problem, &error);
    if (!status)
        status = gbees_stream_create(problem, backend, NULL, &stream, &error);
    if (!status) {
        const gbees_provenance provenance = {
            .scenario = gbees_scenario_text(scenario), .backend = backend->name, .command = "arriving"};

        status = write_results(stream, folder, &provenance, &error);
    }
    if (status)
        fprintf(stderr, "arriving: %s\n", error.text);
    gbees_stream_destroy(stream);
    gbees_problem_destroy(problem);
    gbees_scenario_destroy(scenario);
    gbees_registry_destroy(registry);
    return status ? 1 : 0;
}
