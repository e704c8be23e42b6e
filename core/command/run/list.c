/* list.c - gbees-run --list: plugins and backends, and why some can't be used. */
#include "command.h"
#include "results/run/json_util.h"
#include <string.h>

enum { REASON = 512 };

/* "3", or "4-8" for a model of several dimensions. */
static const char *dimensions(const gbees_model *model, char *text, size_t size)
{
    if (model->dim_min == model->dim_max)
        (void)snprintf(text, size, "%d", model->dim_min);
    else
        (void)snprintf(text, size, "%d-%d", model->dim_min, model->dim_max);
    return text;
}

static int name_width(const gbees_module_info *list, size_t count)
{
    size_t width = 8;

    for (size_t i = 0; i < count; i++) {
        const char *name = list[i].model ? list[i].model->name : list[i].backend ? list[i].backend->name : "";

        if (strlen(name) > width)
            width = strlen(name);
    }
    return (int)width;
}

static int print_models(FILE *out, const gbees_module_info *list, size_t count, int width)
{
    int found = 0;

    for (size_t i = 0; i < count; i++) {
        char text[32];
        const gbees_model *model = list[i].model;

        if (!model)
            continue;
        if (!found++)
            (void)fprintf(out, "Plugins (name, dimension, title, file)\n");
        (void)fprintf(out, "  %-*s  %-4s %s\n  %*s       %s\n", width, model->name,
                      dimensions(model, text, sizeof text), model->title, width, "", list[i].path);
    }
    return found;
}

static void print_backends(FILE *out, const gbees_module_info *list, size_t count, int width)
{
    int found = 0;

    for (size_t i = 0; i < count; i++) {
        char text[REASON] = "";
        const gbees_backend *backend = list[i].backend;

        if (!backend)
            continue;
        if (!found++)
            (void)fprintf(out, "Backends (name, title, file)\n");
        (void)fprintf(out, "  %-*s       %s\n  %*s       %s\n", width, backend->name, backend->title, width, "",
                      list[i].path);
        if (backend->probe(text, sizeof text))
            (void)fprintf(out, "  %*s       can't be used here: %s\n", width, "", text);
        else if (text[0])
            (void)fprintf(out, "  %*s       uses %s\n", width, "", text);
    }
}

static void print_problems(FILE *out, const gbees_module_info *list, size_t count)
{
    int found = 0;

    for (size_t i = 0; i < count; i++) {
        if (!list[i].problem)
            continue;
        if (!found++)
            (void)fprintf(out, "Can't be used (file, reason)\n");
        (void)fprintf(out, "  %s\n    %s\n", list[i].path, list[i].problem);
    }
}

static void print_folders(FILE *out, gbees_registry *registry)
{
    const char *const *folders = NULL;
    size_t count = 0;

    (void)fprintf(out, "No plugins were found. Folders searched:\n");
    if (gbees_registry_folders(registry, &folders, &count))
        return;
    for (size_t i = 0; i < count; i++)
        (void)fprintf(out, "  %s\n", folders[i]);
}

static json_t *json_line(const gbees_module_info *info)
{
    const gbees_model *model = info->model;
    const gbees_backend *backend = info->backend;
    char text[REASON] = "";
    int unusable;

    if (model)
        return json_pack("{s:s, s:s, s:[i,i], s:i, s:s?, s:o}", "event", "plugin", "name", model->name, "dimension",
                         model->dim_min, model->dim_max, "default_dimension", model->dim_default, "title",
                         model->title, "path", gbees_json_text(info->path));
    if (!backend)
        return json_pack("{s:s, s:o, s:o}", "event", "unusable", "path", gbees_json_text(info->path), "reason",
                         gbees_json_text(info->problem));
    unusable = backend->probe(text, sizeof text);
    return json_pack("{s:s, s:s, s:s?, s:b, s:o, s:o, s:o}", "event", "backend", "name", backend->name, "title",
                     backend->title, "usable", !unusable, "uses", gbees_json_text(!unusable && text[0] ? text : NULL),
                     "reason", gbees_json_text(unusable ? text : NULL), "path", gbees_json_text(info->path));
}

int gbees_command_list(const gbees_options *options, gbees_registry *registry, FILE *out, gbees_error *error)
{
    const gbees_module_info *list = NULL;
    size_t count = 0;
    int status = gbees_registry_list(registry, &list, &count, error);

    if (status)
        return status;
    if (options->json) {
        for (size_t i = 0; !status && i < count; i++)
            status = gbees_print_json(out, json_line(&list[i]), error);
        return status;
    }
    const int width = name_width(list, count);
    if (!print_models(out, list, count, width))
        print_folders(out, registry);
    print_backends(out, list, count, width);
    print_problems(out, list, count);
    return gbees_print_flush(out, error);
}
