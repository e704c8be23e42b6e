/* check.c - gbees-run --check: prints what is known of a run before it starts. */
#include "base/memory.h"
#include "command.h"
#include "command/units.h"
#include "forecast.h"
#include "output_size.h"
#include "ranks_expect.h"
#include "record/equations.h"
#include "record/instants.h"
#include "results/run/json_util.h"
#include "results/run/provenance.h"
#include <math.h>

typedef struct findings {
    double box_cells; /* in the initial box */
    double bytes;     /* that it takes, by the backend's estimate */
    double memory;    /* that the machine has; infinite: not known */
    double
        available; /* that is free of it, with the limits of control groups; infinite: not known, or it is a GPU's */
    int reached;   /* measurements up to the end */
    gbees_forecast forecast;
    int has_forecast; /* 0: it was not asked for */
    gbees_output_records records;
    double output_bytes; /* that will be written, about; 0: no files */
    int ranks;           /* that mpirun has started; 0: the process is alone, and `expected` is not set */
    gbees_ranks_forecast expected;
} findings;

static findings find(const gbees_setup *setup)
{
    const gbees_problem *problem = setup->problem;
    findings found = {.box_cells = gbees_problem_initial_cells(problem),
                      .bytes = gbees_solver_backend(problem, setup->backend)->estimate(problem, 0),
                      .memory = gbees_memory_of_machine(),
                      .available = setup->backend->capture ? INFINITY : gbees_memory_available()};

    while (found.reached < problem->measurement_count && problem->measurements[found.reached].time <= problem->end)
        found.reached++;
    return found;
}

/* Sets what will be written. The cells of a record are those of the initial box, or as many as the forecast of memory
 * is larger than what these take; about half of the cells in memory are above p*. */
static void find_output(const gbees_setup *setup, const gbees_options *options, findings *found)
{
    const double growth =
        isnan(found->forecast.bytes) || found->bytes <= 0 ? 1 : found->forecast.bytes / found->bytes;

    found->records = gbees_output_records_of(setup);
    found->output_bytes = setup->folder
                              ? gbees_output_size(setup, found->reached,
                                                  found->box_cells * (growth > 1 ? growth : 1) / 2, options->audit)
                              : 0;
}

/* Sets width[n] to the cell widths after a change of the grid. */
static void widths_after(const gbees_problem *problem, const gbees_regrid *regrid, double *width)
{
    for (int j = 0; j < problem->dimension; j++)
        width[j] = ldexp(problem->width[j], -regrid->level[j]);
}

static void print_regrids(FILE *out, const gbees_problem *problem)
{
    double width[GBEES_MAX_DIM];

    if (problem->regrid_auto)
        (void)fprintf(out, "\nregrid        before an update that would leave a deviation below 1.5 cells");
    for (int k = 0; k < problem->regrid_count; k++) {
        (void)fprintf(out, "\nregrid        from t = %.6g:", problem->regrids[k].time);
        widths_after(problem, &problem->regrids[k], width);
        gbees_print_numbers(out, width, problem->dimension);
    }
}

/* "auto", or a list of objects with a time and the widths from it on. */
static json_t *json_regrids(const gbees_problem *problem)
{
    json_t *list = problem->regrid_auto ? json_string("auto") : json_array();
    double width[GBEES_MAX_DIM];

    for (int k = 0; k < problem->regrid_count; k++) {
        widths_after(problem, &problem->regrids[k], width);
        (void)json_array_append_new(list, json_pack("{s:f, s:o}", "t", problem->regrids[k].time, "width",
                                                    gbees_json_vector(problem->dimension, width)));
    }
    return list;
}

/* The first jumps, and how many more there are. */
static void print_instants(FILE *out, const gbees_problem *problem)
{
    enum { LISTED = 5 };

    for (int k = 0; k < problem->instant_count && k < LISTED; k++) {
        const gbees_instant *instant = &problem->instants[k];

        (void)fprintf(out, "\ninstant       t = %.6g: %s", instant->time, gbees_instant_name(problem, instant));
        gbees_print_numbers(out, instant->value, instant->size);
        (void)fprintf(out, "%s", instant->has_error ? ", with an error" : "");
    }
    if (problem->instant_count > LISTED)
        (void)fprintf(out, "\ninstant       %d more", problem->instant_count - LISTED);
}

/* The mean of the initial density: cell 0 of an axis with walls is somewhere near it. */
static void find_mean(const gbees_problem *problem, double *mean)
{
    gbees_problem_point(problem, problem->mean, mean);
    for (int j = 0; j < problem->dimension; j++) {
        double sum = 0, weight = 0;

        if (gbees_problem_is_circle(problem, j))
            mean[j] += problem->width[j] * (1.0 + problem->range[j].first + problem->range[j].last) / 2;
        if (problem->range[j].end[0] < GBEES_END_REFLECT && problem->range[j].end[1] < GBEES_END_REFLECT)
            continue;
        for (int g = 0; g < problem->gaussian_count; g++) {
            sum += problem->gaussians[g].weight * problem->gaussians[g].mean[j];
            weight += problem->gaussians[g].weight;
        }
        mean[j] = weight > 0 ? sum / weight : mean[j];
    }
}

/* A line for each state that is no line, and what follows for its cells. */
static void print_ranges(FILE *out, const gbees_problem *problem)
{
    static const char *const walls[] = {"", "", "reflects", "absorbs"};

    for (int j = 0; j < problem->dimension; j++) {
        const gbees_axis_range *range = &problem->range[j];
        const char *name = problem->model->states[j].name;
        const int is_circle = gbees_problem_is_circle(problem, j);
        const int count = range->last - range->first + 1;

        if (problem->period[j] > 0 && !is_circle)
            (void)fprintf(out, "\ncircle        %s: points go on past the period, and records have the direction",
                          name);
        else if (problem->model->ranges && problem->model->ranges[j].period > 0 && !is_circle)
            (void)fprintf(out, "\nline          %s: a circle of the model, which this run has no grid for", name);
        if (is_circle)
            (void)fprintf(out,
                          "\ncircle        %s: %d cells around, as wide as the period and whole bricks make them",
                          name, count);
        for (int up = 0; up < 2; up++)
            if (range->end[up] >= GBEES_END_REFLECT)
                (void)fprintf(out, "\nwall          %s: %s at %.9g", name, walls[range->end[up]],
                              problem->mean[j] + problem->width[j] * (up ? range->last + 0.5 : range->first - 0.5));
        if (range->end[0] >= GBEES_END_REFLECT && range->end[1] >= GBEES_END_REFLECT)
            (void)fprintf(out, ": %d cells between, as wide as whole bricks make them", count);
    }
}

static void print_problem(FILE *out, const gbees_setup *setup, const findings *found)
{
    const gbees_problem *problem = setup->problem;
    const char *path = gbees_model_path(setup->model);
    const int n = problem->dimension;
    double sigma[GBEES_MAX_DIM], mean[GBEES_MAX_DIM];
    char cells[32];

    find_mean(problem, mean);
    for (int j = 0; j < n; j++) {
        double variance = problem->rotated ? 0 : problem->covariance[j * n + j];

        for (int k = 0; k < n && problem->rotated; k++)
            variance += problem->rotation[j * n + k] * problem->rotation[j * n + k] * problem->covariance[k * n + k];
        sigma[j] = sqrt(variance);
    }
    (void)fprintf(out, "plugin        %s (%s)\n", setup->model->name, path ? path : "file not known");
    (void)fprintf(out, "dimension     %d\n", problem->dimension);
    if (problem->gaussian_count > 0)
        (void)fprintf(out, "initial       %d Gaussians, together of\n", problem->gaussian_count);
    if (problem->cells)
        (void)fprintf(out, "initial       %zu cells of a record, on its grid; the grid's middle is\n",
                      problem->cells->count);
    (void)fprintf(out, "mean         ");
    gbees_print_numbers(out, mean, problem->dimension);
    (void)fprintf(out, "\nstd          ");
    gbees_print_numbers(out, sigma, problem->dimension);
    if (problem->moving) {
        (void)fprintf(out, "\ngrid          moves: %.3g cells a standard deviation, at most %.3g; at the start",
                      problem->frame_least, problem->frame_cells);
    } else {
        (void)fprintf(out, "\ncell width   ");
        gbees_print_numbers(out, problem->width, problem->dimension);
    }
    print_ranges(out, problem);
    print_regrids(out, problem);
    for (int k = 0; k < n && problem->rotated; k++) {
        double axis[GBEES_MAX_DIM];

        for (int j = 0; j < n; j++)
            axis[j] = problem->rotation[j * n + k];
        (void)fprintf(out, problem->moving ? "\ncell edge %d  " : "\ngrid axis %d  ", k + 1);
        gbees_print_numbers(out, axis, n);
    }
    if (problem->bounded)
        (void)fprintf(out, "\nbound         %s from %.9g to %.9g", setup->model->bound->name, problem->bound_low,
                      problem->bound_high);
    if (problem->mass_budget > 0)
        (void)fprintf(out, "\nmass budget   %.6g a unit of time\n", problem->mass_budget);
    else
        (void)fprintf(out, "\nthreshold     %.6g\n", problem->threshold);
    (void)fprintf(out, "time          %.6g to %.6g, %d records a leg\n", problem->start, problem->end,
                  problem->records);
    (void)fprintf(out, "measurements  %d", found->reached);
    if (found->reached < problem->measurement_count)
        (void)fprintf(out, " (%d more after the end: not reached)", problem->measurement_count - found->reached);
    print_instants(out, problem);
    (void)fprintf(out, "\nmode          %s\n", gbees_print_mode(problem->numerics.mode));
    (void)fprintf(out, "initial box   %s cells\n", gbees_units_count(cells, sizeof cells, found->box_cells));
}

static void print_forecast(FILE *out, const gbees_setup *setup, const gbees_forecast *forecast)
{
    char bytes[32];

    if (forecast->steps > 0)
        (void)fprintf(out,
                      "forecast      not known: runs take long on wider cells, too: at their pace this one has some "
                      "%.1g steps or more, as the time is long or the drift fast somewhere in the density (stiff, "
                      "perhaps)\n",
                      forecast->steps);
    else if (isnan(forecast->bytes))
        (void)fprintf(out, "forecast      not known%s\n",
                      setup->problem->cells ? "" : ": runs take long on wider cells, too");
    else
        (void)fprintf(out, "forecast      some %s for %s, by runs %son wider cells (%.2g times as wide and more)\n",
                      gbees_units_bytes(bytes, sizeof bytes, forecast->bytes),
                      setup->problem->accuracy > 0 ? "the first run" : "the run",
                      setup->backend->capture ? "on the CPU " : "", forecast->width);
}

static void print_ranks(FILE *out, const findings *found)
{
    char bytes[32];

    if (found->ranks > 0)
        (void)fprintf(
            out, "ranks         %d, each with some %s; expected efficiency %.0f %% (%.0f ghosts for 100 bricks)\n",
            found->ranks, gbees_units_bytes(bytes, sizeof bytes, found->expected.bytes),
            100 * found->expected.efficiency, 100 * found->expected.ghosts);
}

static void print_machine(FILE *out, const gbees_setup *setup, const findings *found)
{
    char bytes[32], memory[32];

    (void)fprintf(out, "backend       %s", setup->backend->name);
    if (setup->why_no_gpu[0])
        (void)fprintf(out, " (%s)", setup->why_no_gpu);
    (void)fprintf(out, "\nmemory        %s are enough for the initial density",
                  gbees_units_bytes(bytes, sizeof bytes, found->bytes));
    if (isfinite(found->available))
        (void)fprintf(out, ", of %s that are free", gbees_units_bytes(memory, sizeof memory, found->available));
    (void)fprintf(out, "; it grows as the density spreads\n");
    if (found->has_forecast)
        print_forecast(out, setup, &found->forecast);
    print_ranks(out, found);
    if (setup->folder)
        (void)fprintf(out, "output        %s, some %s: %.0f records of %.0f, time series, scenario\n", setup->folder,
                      gbees_units_bytes(bytes, sizeof bytes, found->output_bytes), found->records.written,
                      found->records.all);
    else
        (void)fprintf(out, "output        none\n");
    gbees_print_warnings(out, gbees_warnings(setup->problem, NULL), setup->problem, NULL);
    (void)fprintf(out, "%s; nothing was computed\n",
                  gbees_warnings(setup->problem, NULL) ? "it can be run" : "all is well");
}

static json_t *json_line(const gbees_setup *setup, const findings *found)
{
    const gbees_problem *problem = setup->problem;

    json_t *line = json_pack(
        "{s:s, s:s, s:o, s:i, s:o, s:o, s:i, s:i, s:i, s:s, s:s, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:I, s:I, "
        "s:I, s:o}",
        "event", "check", "model", setup->model->name, "plugin", gbees_json_text(gbees_model_path(setup->model)),
        "dimension", problem->dimension, "width", gbees_json_vector(problem->dimension, problem->width), "regrid",
        json_regrids(problem), "measurements", found->reached, "measurements_not_reached",
        problem->measurement_count - found->reached, "instants", problem->instant_count, "mode",
        gbees_print_mode(problem->numerics.mode), "backend", setup->backend->name, "box_cells", found->box_cells,
        "estimated_bytes", found->bytes, "machine_bytes", gbees_json_real(found->memory), "available_bytes",
        gbees_json_real(found->available), "output", gbees_json_text(setup->folder), "forecast_bytes",
        gbees_json_real(found->forecast.bytes), "forecast_steps", gbees_json_real(found->forecast.steps),
        "output_bytes", (json_int_t)found->output_bytes, "records", (json_int_t)found->records.all, "records_written",
        (json_int_t)found->records.written, "warnings",
        gbees_json_warnings(gbees_warnings(problem, NULL), problem, NULL));

    if (found->ranks > 0)
        (void)json_object_update_new(line, json_pack("{s:i, s:f, s:f, s:f}", "ranks", found->ranks, "bytes_a_rank",
                                                     found->expected.bytes, "ghosts", found->expected.ghosts,
                                                     "efficiency", found->expected.efficiency));
    return line;
}

int gbees_check_memory(const gbees_setup *setup, gbees_error *error)
{
    const findings found = find(setup);
    char bytes[32], memory[32];

    if (found.bytes <= found.available)
        return GBEES_OK;
    return gbees_error_set(error, GBEES_EINPUT,
                           "the initial density may take %s, and %s are free: make the cells wider "
                           "(factor, width) or the box smaller (extent)",
                           gbees_units_bytes(bytes, sizeof bytes, found.bytes),
                           gbees_units_bytes(memory, sizeof memory, found.available));
}

/* Forecasts a run. One on a GPU is forecast on the CPU, whose grid has as many bricks. */
static gbees_forecast forecast(const gbees_setup *setup, const gbees_options *options, gbees_registry *registry)
{
    gbees_setup on_cpu = *setup;
    gbees_error error = {GBEES_OK, ""};

    if (!setup->backend->capture)
        return gbees_forecast_make(setup, options);
    if (gbees_registry_backend(registry, "cpu", &on_cpu.backend, &error))
        return (gbees_forecast){NAN, NAN, NAN};
    gbees_forecast forecast = gbees_forecast_make(&on_cpu, options);
    const double a_brick = on_cpu.backend->estimate(setup->problem, 1);
    if (!isnan(forecast.bytes))
        forecast.bytes = setup->backend->estimate(setup->problem, forecast.bytes / a_brick);
    return forecast;
}

int gbees_command_check(const gbees_options *options, gbees_registry *registry, FILE *out, gbees_error *error)
{
    gbees_setup setup = {0};
    int status = gbees_setup_make(&setup, options, registry, error);

    if (status)
        return status;
    status = gbees_equations_check(setup.problem, error);
    if (!status)
        status = gbees_check_memory(&setup, error);
    if (status) {
        gbees_setup_free(&setup);
        return status;
    }
    findings found = find(&setup);
    found.forecast = (gbees_forecast){NAN, NAN, NAN};
    found.has_forecast = !options->no_forecast && (options->json || !options->quiet);
    gbees_options alone = *options;
    alone.parallel = NULL; /* rank 0 makes the trial runs */
    if (found.has_forecast)
        found.forecast = forecast(&setup, &alone, registry);
    find_output(&setup, options, &found);
    if (options->parallel) {
        found.ranks = options->parallel->ranks;
        found.expected = gbees_ranks_expect(setup.problem, found.ranks,
                                            isnan(found.forecast.bytes) ? found.bytes : found.forecast.bytes,
                                            found.box_cells, found.bytes);
    }
    if (options->json)
        status = gbees_print_json(out, json_line(&setup, &found), error);
    else if (!options->quiet) {
        print_problem(out, &setup, &found);
        print_machine(out, &setup, &found);
        status = gbees_print_flush(out, error);
    }
    gbees_setup_free(&setup);
    return status;
}
