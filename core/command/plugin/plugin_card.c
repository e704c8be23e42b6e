/* plugin_card.c - gbees-plugin check, in the child: checks the descriptor (card) and its scenarios; see plugin.h. */
#include "command/run/command.h"
#include "plugin.h"
#include "results/run/provenance.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sends the description of the card to the parent, line by line. */
static void send_card(const gbees_probe *probe)
{
    const char *path = gbees_model_path(probe->model);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return;
    gbees_describe_print(out, probe->model, path, probe->options->subject);
    if (!fclose(out))
        for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
            *end = '\0';
            gbees_probe_report(probe, GBEES_PROBE_TEXT, "%s", line);
        }
    free(text);
}

/* Warns if the file is not called NAME.so, for which gbees-run looks first. */
static void check_name(const gbees_probe *probe)
{
    const char *path = gbees_model_path(probe->model), *slash = path ? strrchr(path, '/') : NULL;
    const char *file = slash ? slash + 1 : path, *name = probe->model->name;

    gbees_probe_report(probe, GBEES_PROBE_BEGIN, "name");
    if (file && (strncmp(file, name, strlen(name)) != 0 || strcmp(file + strlen(name), ".so") != 0))
        gbees_probe_report(probe, GBEES_PROBE_WARN, "the model '%s' is in the file %s: call it %s.so", name, file,
                           name);
    else
        gbees_probe_report(probe, GBEES_PROBE_OK, "%s", name);
}

static int is_blank(const char *text)
{
    return !text || !*text;
}

/* The first of a list without unit or text; NULL if all have both. */
static const char *find_blank(const gbees_quantity *list, int count, int *missing_unit)
{
    for (int k = 0; list && k < count; k++) {
        *missing_unit = is_blank(list[k].unit);
        if (*missing_unit || is_blank(list[k].text))
            return list[k].name;
    }
    return NULL;
}

static void check_units(const gbees_probe *probe)
{
    const gbees_model *m = probe->model;
    int unit = 0;
    const char *name = find_blank(m->states, m->dim_max, &unit);

    gbees_probe_report(probe, GBEES_PROBE_BEGIN, "units and texts");
    for (int k = 0; !name && k < m->parameter_count; k++) {
        const gbees_parameter *p = &m->parameters[k];

        name = find_blank(&(gbees_quantity){p->name, p->unit, p->text}, 1, &unit);
    }
    for (int k = 0; !name && k < m->measurement_count; k++)
        name = find_blank(m->measurements[k].components, m->measurements[k].size, &unit);
    if (!name && m->bound)
        name = find_blank(m->bound, 1, &unit);
    if (name)
        gbees_probe_report(probe, GBEES_PROBE_WARN,
                           unit ? "'%s' has no unit: write \"-\" for a pure number"
                                : "'%s' has no text: say in one line what it is",
                           name);
    else if (is_blank(m->title))
        gbees_probe_report(probe, GBEES_PROBE_WARN, "the model has no title: say in one line what it is");
    else
        gbees_probe_report(probe, GBEES_PROBE_OK, "all there");
}

/* ---- parameters ---- */

static int is_finite_at_mean(const gbees_problem *problem, const double *parameters)
{
    const double zero[1] = {0}, *offset[GBEES_MAX_DIM];
    double value[GBEES_MAX_DIM], *out[GBEES_MAX_DIM];
    int good = 1;

    for (int j = 0; j < problem->dimension; j++) {
        offset[j] = zero;
        out[j] = &value[j];
    }
    problem->functions->drift_d(1, problem->start, problem->mean, offset, parameters, out);
    for (int j = 0; j < problem->dimension; j++)
        good = good && isfinite(value[j]);
    return good;
}

/* Fails if a parameter is read that is not there, and warns of a range with values at which the drift is not finite.
 * The loader has checked that the default is in the range. */
static void check_parameters(const gbees_probe *probe)
{
    const gbees_model *m = probe->model;
    gbees_problem *problem = NULL;
    int ranges = 0;

    gbees_probe_report(probe, GBEES_PROBE_BEGIN, "parameters");
    if (gbees_probe_problem(probe, 0, NULL, &problem, NULL))
        problem = NULL; /* check_scenarios() reports it */
    if (problem && gbees_probe_beyond(probe, problem)) {
        gbees_problem_destroy(problem);
        return;
    }
    for (int k = 0; k < m->parameter_count; k++) {
        const gbees_parameter *p = &m->parameters[k];
        const double ends[] = {p->min, p->max};

        if (p->min >= p->max)
            continue;
        ranges++;
        for (int end = 0; problem && end < 2; end++) {
            double values[GBEES_PARAMETER_VALUES];

            memcpy(values, problem->parameters, sizeof values);
            values[k] = ends[end];
            if (!isfinite(ends[end]) || is_finite_at_mean(problem, values) ||
                !is_finite_at_mean(problem, problem->parameters))
                continue;
            gbees_probe_report(
                probe, GBEES_PROBE_WARN,
                "with %s = %g, the %s of its range, the drift is not finite at the mean: make the range "
                "smaller",
                p->name, ends[end], end ? "end" : "start");
            gbees_problem_destroy(problem);
            return;
        }
    }
    gbees_problem_destroy(problem);
    gbees_probe_report(probe, GBEES_PROBE_OK, "%d, %d with a range", m->parameter_count, ranges);
}

/* ---- scenarios ---- */

static void check_scenario(const gbees_probe *probe, int number)
{
    static const char *const unbounded[] = {"bound=off", NULL};
    const char *name = probe->model->scenarios[number].name;
    gbees_problem *problem = NULL;
    gbees_error error = {0};
    double cells = 1;

    gbees_probe_report(probe, GBEES_PROBE_BEGIN, "scenario %s", name);
    int status = gbees_probe_problem(probe, number, NULL, &problem, &error);
    if (status && error.status == GBEES_ENUMERIC) /* plugin_drift.c reports a bound that is not finite */
        status = gbees_probe_problem(probe, number, unbounded, &problem, &error);
    if (status) {
        gbees_probe_report(probe, GBEES_PROBE_FAILED, "%s", error.text);
        return;
    }
    for (int j = 0; j < problem->dimension; j++)
        cells *= 2.0 * problem->extent[j] + 1;
    gbees_probe_report(probe, GBEES_PROBE_OK, "dimension %d, t = %g to %g, %.0f cells in the initial box",
                       problem->dimension, problem->start, problem->end, cells);
    if (gbees_probe_guard(probe, problem, name)) {
        gbees_probe_equations(probe, problem, name);
        gbees_probe_noise(probe, problem, name);
    }
    gbees_problem_destroy(problem);
}

/* The default scenario in the model's other dimensions, as far as it makes sense there. */
static void check_dimensions(const gbees_probe *probe)
{
    const gbees_model *m = probe->model;

    for (int n = m->dim_min; m->dim_min < m->dim_max && n <= m->dim_max; n++) {
        gbees_problem *problem = NULL;
        char change[32], name[32];
        const char *const changes[] = {change, NULL};

        (void)snprintf(change, sizeof change, "dimension=%d", n);
        (void)snprintf(name, sizeof name, "dimension %d", n);
        if (n == m->dim_default || gbees_probe_problem(probe, 0, changes, &problem, NULL))
            continue;
        gbees_probe_equations(probe, problem, name);
        gbees_probe_noise(probe, problem, name);
        gbees_problem_destroy(problem);
    }
}

void gbees_probe_run(gbees_probe *probe)
{
    gbees_error error = {0};

    gbees_probe_report(probe, GBEES_PROBE_BEGIN, "plugin");
    if (gbees_probe_open(probe, &error)) {
        gbees_probe_report(probe, GBEES_PROBE_FAILED, "%s", error.text);
        gbees_probe_report(probe, GBEES_PROBE_STOP, "%s", "");
        return;
    }
    send_card(probe);
    gbees_probe_report(probe, GBEES_PROBE_OK, "it can be loaded, and its card is whole");
    check_name(probe);
    check_units(probe);
    check_parameters(probe);
    for (int i = 0; i < probe->model->scenario_count; i++)
        check_scenario(probe, i);
    check_dimensions(probe);
    gbees_probe_close(probe);
}
