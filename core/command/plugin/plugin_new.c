/* plugin_new.c - gbees-plugin new: writes a first model from the template; see plugin.h. */
#include "base/embed.h"
#include "base/text.h"
#include "command/run/command.h"
#include "plugin.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_NAME = 63 }; /* of a model, as the checks of the card have it */

/* The scenario's grid for 1 to 8 states: each runs in seconds, which in more than six states no accuracy is met in.
 */
static const struct {
    const char *factor, *quality;
} grids[GBEES_MAX_DIM] = {{"2", "accuracy: 0.05"},      {"4", "accuracy: 0.05"},     {"2", "accuracy: 0.05"},
                          {"1", "accuracy: 0.05"},      {"1", "accuracy: 0.05"},     {"0.5", "accuracy: 0.1"},
                          {"0.5", "threshold: 1.0e-6"}, {"0.5", "threshold: 1.0e-6"}};

/* ---- the text: plugins/template.c, a model of two states named "template" ---- */

GBEES_EMBED(gbees_plugin_template, "plugins/template.c")

static void write_equations(gbees_text *text, int dimension)
{
    for (int j = 0; j < dimension; j++)
        gbees_text_add(text, "    dxdt[%d] = force * sin(x[%d]) - damping * x[%d];\n", j, (j + 1) % dimension, j);
}

static void write_states(gbees_text *text, int dimension)
{
    for (int j = 0; j < dimension; j++)
        gbees_text_add(text, "    {\"x%d\", \"-\", \"state number %d\"},\n", j + 1, j + 1);
}

static int begins(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

/* Writes a line with `word` in place of each `old`. */
static void write_replaced(gbees_text *text, const char *line, size_t length, const char *old, const char *word)
{
    const char *end = line + length, *next;

    for (; (next = strstr(line, old)) && next < end; line = next + strlen(old))
        gbees_text_add(text, "%.*s%s", (int)(next - line), line, word);
    gbees_text_add(text, "%.*s", (int)(end - line), line);
}

/* Writes the template line by line; those that depend on the dimension are made anew. */
static void write_model(gbees_text *text, const char *name, int dimension)
{
    const char *line = gbees_plugin_template;
    char number[16];

    (void)snprintf(number, sizeof number, "%d", dimension);
    for (size_t length; *line; line += length) {
        length = strcspn(line, "\n") + 1;
        if (begins(line, "#define GBEES_DIM "))
            write_replaced(text, line, length, "2", number);
        else if (begins(line, "    dxdt[0]"))
            write_equations(text, dimension);
        else if (begins(line, "    {\"x1\""))
            write_states(text, dimension);
        else if (begins(line, "                \"factor:"))
            write_replaced(text, line, length, "4", grids[dimension - 1].factor);
        else if (begins(line, "                \"accuracy:"))
            write_replaced(text, line, length, "accuracy: 0.05", grids[dimension - 1].quality);
        else if (!begins(line, "    dxdt[") && !begins(line, "    {\"x"))
            write_replaced(text, line, length, "template", name);
    }
}

/* ---- the file ---- */

static int check_name(const char *name, gbees_error *error)
{
    size_t length = strlen(name);
    int good = length > 0 && length <= LONGEST_NAME && !isdigit((unsigned char)name[0]);

    for (size_t i = 0; good && i < length; i++)
        good = (isalnum((unsigned char)name[i]) || name[i] == '_') && (unsigned char)name[i] < 128;
    if (good)
        return GBEES_OK;
    return gbees_error_set(error, GBEES_EUSAGE,
                           "'%.80s' can't be a model's name: it is 1 to %d letters, digits or '_', no digit first, "
                           "without a folder and an ending",
                           name, LONGEST_NAME);
}

/* Fails if a plugin NAME.so exists. No plugin is loaded for that. */
static int check_taken(const char *name, gbees_error *error)
{
    gbees_registry *registry = NULL;
    const char *const *folders = NULL;
    size_t count = 0;
    int status = gbees_registry_create(NULL, &registry, error);

    if (!status)
        status = gbees_registry_folders(registry, &folders, &count);
    for (size_t i = 0; !status && i < count; i++) {
        gbees_text path = {0};

        gbees_text_add(&path, "%s/%s.so", folders[i], name);
        if (path.failed)
            status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the name of a file");
        else if (access(path.data, F_OK) == 0)
            status = gbees_error_set(error, GBEES_EUSAGE, "there is a plugin '%s' already, %s: choose another name",
                                     name, path.data);
        gbees_text_free(&path);
    }
    gbees_registry_destroy(registry);
    return status;
}

static int write_file(const char *path, const gbees_text *text, gbees_error *error)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");

    if (!file && errno == EEXIST)
        return gbees_error_set(error, GBEES_EUSAGE,
                               "%s is there already, and is not overwritten: choose another name", path);
    if (!file)
        return gbees_error_set(error, GBEES_EIO, "can't write the file %s: %s", path, strerror(errno));
    int lost = fwrite(text->data, 1, text->length, file) != text->length;
    int reason = errno;
    if (fclose(file) && !lost) {
        lost = 1;
        reason = errno;
    }
    if (!lost)
        return GBEES_OK;
    (void)unlink(path);
    return gbees_error_set(error, GBEES_EIO, "can't write the file %s: %s", path, strerror(reason));
}

int gbees_plugin_new(const gbees_plugin_options *options, FILE *out, gbees_error *error)
{
    char path[LONGEST_NAME + 3];
    gbees_text text = {0};
    int status = check_name(options->subject, error);

    if (!status)
        status = check_taken(options->subject, error);
    if (status)
        return status;
    (void)snprintf(path, sizeof path, "%s.c", options->subject);
    write_model(&text, options->subject, options->dimension);
    status = text.failed ? gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the model's text")
                         : write_file(path, &text, error);
    gbees_text_free(&text);
    if (!status)
        (void)fprintf(out, "%s is written; change it, then:  gbees-plugin build %s\n", path, path);
    return status;
}
