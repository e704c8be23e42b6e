/* keys.c - gbees-run --list-keys: the keys of a scenario, the values that each takes, and what it means. */
#include "command.h"
#include "results/run/json_util.h"
#include "scenario/schema.h"

enum { VALUES = 96 };

/* What a key takes beside the words of its `choices`, written to `text` where it is put together; NULL: nothing. */
static const char *values_of(const gbees_schema_key *key, char *text, size_t size)
{
    static const char *const values[] = {
        [GBEES_KIND_NUMBERS] = "a list of numbers",
        [GBEES_KIND_MEASURED] = "a list of numbers",
        [GBEES_KIND_MATRIX] = "a list of numbers, or of lists",
        [GBEES_KIND_RANGE] = "[low, high]",
        [GBEES_KIND_PARAMETERS] = "a map of numbers",
        [GBEES_KIND_TARGETS] = "for each target of a map",
        [GBEES_KIND_TABLES] = "a map of files, or of maps",
        [GBEES_KIND_NAME] = "a name",
        [GBEES_KIND_PATH] = "a file or folder",
        [GBEES_KIND_INITIAL] = "a list of maps, or a map",
        [GBEES_KIND_MEASUREMENTS] = "a list of maps, or a map",
        [GBEES_KIND_INSTANTS] = "a list of maps, or a map",
        [GBEES_KIND_REGRIDS] = "a list of maps",
        [GBEES_KIND_OUTPUT] = "a map",
    };

    if (key->kind == GBEES_KIND_NUMBER || key->kind == GBEES_KIND_INTEGER)
        return gbees_schema_range(key);
    if (key->kind != GBEES_KIND_BROADCAST)
        return values[key->kind];
    (void)snprintf(text, size, "%s, or a list of them", gbees_schema_range(key));
    return text;
}

static void print_key(FILE *out, const gbees_schema_key *key)
{
    char text[VALUES];
    const char *values = values_of(key, text, sizeof text);

    (void)fprintf(out, "  %-18s ", key->name);
    for (size_t i = 0; key->choices && key->choices[i]; i++)
        (void)fprintf(out, "%s%s", i ? "|" : "", key->choices[i]);
    (void)fprintf(out, "%s%s", key->choices && values ? " or " : "", values ? values : "");
    if (key->initial)
        (void)fprintf(out, "; default %s", key->initial);
    (void)fprintf(out, "\n  %-18s %s\n", "", key->text);
}

static json_t *json_key(const gbees_schema_key *key)
{
    char text[VALUES];
    json_t *choices = json_array();

    for (size_t i = 0; choices && key->choices && key->choices[i]; i++)
        (void)json_array_append_new(choices, json_string(key->choices[i]));
    return json_pack("{s:s, s:s, s:o, s:s?, s:s?, s:s}", "event", "key", "name", key->name, "choices", choices,
                     "values", values_of(key, text, sizeof text), "default", key->initial, "text", key->text);
}

int gbees_command_keys(const gbees_options *options, FILE *out, gbees_error *error)
{
    int status = GBEES_OK;

    if (!options->json)
        (void)fprintf(out, "Keys of a scenario (name, values, meaning; change one with --set KEY=VALUE)\n");
    for (const gbees_schema_key *key = gbees_schema_next(NULL); !status && key; key = gbees_schema_next(key)) {
        if (options->json)
            status = gbees_print_json(out, json_key(key), error);
        else
            print_key(out, key);
    }
    return status ? status : gbees_print_flush(out, error);
}
