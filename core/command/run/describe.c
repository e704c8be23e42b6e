/* describe.c - gbees-run --describe: a model's card for someone who has never seen it. */
#include "command.h"
#include "results/run/json_util.h"
#include "results/run/provenance.h"
#include <stdint.h>
#include <string.h>

enum { LINE = 96 };

/* How much of the line at `text` fits into `width`: up to a space, or one long word. */
static size_t fitting(const char *text, size_t width)
{
    size_t length = strcspn(text, "\n");

    if (length <= width)
        return length;
    for (length = width; length && text[length] != ' ';)
        length--;
    return length ? length : strcspn(text, " \n");
}

static void print_wrapped(FILE *out, const char *text, int indent, size_t width)
{
    while (*text) {
        const size_t length = fitting(text, width);

        (void)fprintf(out, "%*s%.*s\n", length ? indent : 0, "", (int)length, text);
        text += length;
        text += *text == ' ' || *text == '\n';
    }
}

static const char *or_nothing(const char *text)
{
    return text ? text : "";
}

static void print_quantity(FILE *out, const gbees_quantity *quantity)
{
    (void)fprintf(out, "  %-10s %-8s %s\n", quantity->name, or_nothing(quantity->unit), or_nothing(quantity->text));
}

/* What the card says of a state that is no line. */
static void print_range(FILE *out, const gbees_state_range *range)
{
    static const char *const words[] = {"", "", "reflects", "absorbs"};

    if (range->period > 0)
        (void)fprintf(out, "  %-10s %-8s on a circle: it has the period %.9g\n", "", "", range->period);
    for (int up = 0; up < 2; up++)
        if (range->at[up] >= GBEES_END_REFLECT)
            (void)fprintf(out, "  %-10s %-8s a wall at %.9g %s\n", "", "", up ? range->upper : range->lower,
                          words[range->at[up]]);
}

static void print_parameters(FILE *out, const gbees_model *model)
{
    if (model->parameter_count)
        (void)fprintf(out, "\nParameters (name, default, unit; change one with --param NAME=VALUE)\n");
    for (int k = 0; k < model->parameter_count; k++) {
        const gbees_parameter *p = &model->parameters[k];

        (void)fprintf(out, "  %-10s %-10.6g %-8s %s", p->name, p->value, or_nothing(p->unit), or_nothing(p->text));
        if (p->min < p->max)
            (void)fprintf(out, " (%.6g to %.6g)", p->min, p->max);
        (void)fprintf(out, "\n");
    }
}

/* A function of the model, and what its value or its components are. periods: NULL, or 0: none. */
static void print_function(FILE *out, const char *name, int size, const char *text, const gbees_quantity *parts,
                           const double *periods)
{
    (void)fprintf(out, "  %-10s %-8d %s\n", name, size, or_nothing(text));
    for (int i = 0; parts && i < size; i++) {
        (void)fprintf(out, "    %-10s %-6s %s", parts[i].name, or_nothing(parts[i].unit), or_nothing(parts[i].text));
        if (periods && periods[i] > 0)
            (void)fprintf(out, "; period %.6g", periods[i]);
        (void)fprintf(out, "\n");
    }
}

static void print_measurements(FILE *out, const gbees_model *model)
{
    if (model->measurement_count)
        (void)fprintf(out, "\nMeasurement functions (name, size)\n");
    for (int k = 0; k < model->measurement_count; k++) {
        const gbees_measurement_function *f = &model->measurements[k];
        const int is_alone = f->size == 1 && f->components && !strcmp(f->components->name, f->name);

        print_function(out, f->name, f->size, f->text, is_alone ? NULL : f->components, f->period);
    }
}

static void print_jumps(FILE *out, const gbees_model *model)
{
    if (model->jump_count)
        (void)fprintf(out, "\nJumps (name, size of the value)\n");
    for (int k = 0; k < model->jump_count; k++)
        print_function(out, model->jumps[k].name, model->jumps[k].size, model->jumps[k].text,
                       model->jumps[k].components, NULL);
}

static void print_scenarios(FILE *out, const gbees_model *model)
{
    for (int k = 0; k < model->scenario_count; k++) {
        if (k == 0)
            (void)fprintf(out, "\nScenario \"%s\" (what --scenario and --set change)\n", model->scenarios[k].name);
        else
            (void)fprintf(out, "\nScenario \"%s\" (--scenario %s)\n", model->scenarios[k].name,
                          model->scenarios[k].name);
        print_wrapped(out, model->scenarios[k].text, 2, SIZE_MAX); /* YAML: not a byte may change */
    }
}

static const char *diffusion_text(const gbees_model *model)
{
    return model->diffusion == GBEES_FULL ? "noise on the states, correlated between them: a full Q"
                                          : "noise on each state by itself: a diagonal Q";
}

void gbees_describe_print(FILE *out, const gbees_model *model, const char *path, const char *plugin)
{
    (void)fprintf(out, "%s - %s\n", model->name, or_nothing(model->title));
    if (model->text) {
        (void)fprintf(out, "\n");
        print_wrapped(out, model->text, 2, LINE);
    }
    (void)fprintf(out, "\n");
    if (model->dim_min == model->dim_max)
        (void)fprintf(out, "  dimension  %d\n", model->dim_min);
    else
        (void)fprintf(out, "  dimension  %d to %d, default %d (change it with --set dimension=N)\n", model->dim_min,
                      model->dim_max, model->dim_default);
    if (model->flags & GBEES_TIME_DEPENDENT)
        (void)fprintf(out, "  drift      depends on time%s\n", model->diffusion ? ", or the diffusion does" : "");
    if (model->diffusion)
        (void)fprintf(out, "  diffusion  %s\n", diffusion_text(model));
    if (model->reference)
        (void)fprintf(out, "  reference  %s\n", model->reference);
    if (path)
        (void)fprintf(out, "  file       %s\n", path);
    (void)fprintf(out, "\nStates (name, unit)\n");
    for (int j = 0; j < model->dim_max; j++) {
        print_quantity(out, &model->states[j]);
        if (model->ranges)
            print_range(out, &model->ranges[j]);
    }
    print_parameters(out, model);
    print_measurements(out, model);
    print_jumps(out, model);
    if (model->bound) {
        (void)fprintf(out, "\nBound: cells outside the range that this has over the initial box are never made "
                           "(bound: off makes them)\n");
        print_quantity(out, model->bound);
    }
    if (model->target_count)
        (void)fprintf(out, "\nTargets: sets of states, inside of which this is below 0 (targets: {%s: count})\n",
                      model->targets[0].name);
    for (int k = 0; k < model->target_count; k++)
        print_quantity(out, &model->targets[k]);
    print_scenarios(out, model);
    (void)fprintf(out, "\nRun it:  gbees-run --plugin %s\n", plugin);
}

/* list: NULL, or `count` quantities. */
static json_t *json_quantities(int count, const gbees_quantity *list)
{
    json_t *made = json_array();

    for (int k = 0; list && k < count; k++)
        (void)json_array_append_new(
            made, json_pack("{s:s, s:s?, s:s?}", "name", list[k].name, "unit", list[k].unit, "text", list[k].text));
    return made;
}

static json_t *json_parameters(const gbees_model *model)
{
    json_t *list = json_array();

    for (int k = 0; k < model->parameter_count; k++) {
        const gbees_parameter *p = &model->parameters[k];
        json_t *range = p->min < p->max ? json_pack("[f,f]", p->min, p->max) : json_null();

        (void)json_array_append_new(list, json_pack("{s:s, s:s?, s:s?, s:f, s:o}", "name", p->name, "unit", p->unit,
                                                    "text", p->text, "default", p->value, "range", range));
    }
    return list;
}

static json_t *json_measurements(const gbees_model *model)
{
    json_t *list = json_array();

    for (int k = 0; k < model->measurement_count; k++) {
        const gbees_measurement_function *f = &model->measurements[k];
        json_t *periods = json_array();

        for (int i = 0; i < f->size; i++)
            (void)json_array_append_new(periods,
                                        f->period && f->period[i] > 0 ? json_real(f->period[i]) : json_null());
        (void)json_array_append_new(list, json_pack("{s:s, s:s?, s:i, s:o, s:o}", "name", f->name, "text", f->text,
                                                    "size", f->size, "components",
                                                    json_quantities(f->size, f->components), "periods", periods));
    }
    return list;
}

static json_t *json_jumps(const gbees_model *model)
{
    json_t *list = json_array();

    for (int k = 0; k < model->jump_count; k++) {
        const gbees_jump_function *f = &model->jumps[k];

        (void)json_array_append_new(list, json_pack("{s:s, s:s?, s:i, s:o}", "name", f->name, "text", f->text, "size",
                                                    f->size, "components", json_quantities(f->size, f->components)));
    }
    return list;
}

static json_t *json_scenarios(const gbees_model *model)
{
    json_t *list = json_array();

    for (int k = 0; k < model->scenario_count; k++)
        (void)json_array_append_new(
            list, json_pack("{s:s, s:s}", "name", model->scenarios[k].name, "text", model->scenarios[k].text));
    return list;
}

static json_t *json_card(const gbees_model *model, const char *path)
{
    return json_pack(
        "{s:s, s:s, s:s?, s:s?, s:s?, s:o, s:[i,i], s:i, s:b, s:s?, s:o, s:o, s:o, s:o, s:o}", "event", "model",
        "name", model->name, "title", model->title, "text", model->text, "reference", model->reference, "path",
        gbees_json_text(path), "dimension", model->dim_min, model->dim_max, "default_dimension", model->dim_default,
        "time_dependent", (model->flags & GBEES_TIME_DEPENDENT) != 0, "diffusion",
        model->diffusion == GBEES_FULL ? "full"
        : model->diffusion             ? "diagonal"
                                       : NULL,
        "states", json_quantities(model->dim_max, model->states), "parameters", json_parameters(model),
        "measurements", json_measurements(model), "jumps", json_jumps(model), "scenarios", json_scenarios(model));
}

int gbees_command_describe(const gbees_options *options, gbees_registry *registry, FILE *out, gbees_error *error)
{
    const gbees_model *model = NULL;
    int status = gbees_registry_model(registry, options->plugin, &model, error);

    if (status)
        return status;
    const char *path = gbees_model_path(model);
    if (options->json)
        return gbees_print_json(out, json_card(model, path), error);
    gbees_describe_print(out, model, path, options->plugin);
    return gbees_print_flush(out, error);
}
