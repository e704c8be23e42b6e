/* plugin_new.c - gbees-plugin new: a model to begin with; see plugin.h. */
#include "base/text.h"
#include "command.h"
#include "plugin.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_NAME = 63 }; /* as a card has it */

/* Cells a standard deviation and what is dropped, so that each dimension runs at once. */
static const struct {
    const char *factor, *threshold;
} grids[GBEES_MAX_DIM] = {{"4", "1.0e-9"}, {"4", "1.0e-9"},   {"2", "1.0e-8"},   {"1", "1.0e-8"},
                          {"1", "1.0e-7"}, {"0.5", "1.0e-7"}, {"0.5", "1.0e-6"}, {"0.5", "1.0e-6"}};

/* ---- the text: @ stands for the model's name, $ for one more word ---- */

static const char head[] =
    "/* @ - a model for gbees: say here in one line what it is.\n"
    " *\n"
    " *     gbees-plugin build @.c     compiles it, and installs it where gbees-run finds it\n"
    " *     gbees-plugin check @       looks for mistakes\n"
    " *     gbees-run --plugin @       computes the scenario at the end of this file\n"
    " *     gbees-plot results/@       draws it\n"
    " *\n"
    " * It runs as it is. Make it yours from (1) to (5). The manual's page plugins.md has the whole contract.\n"
    " */\n"
    "#define GBEES_DIM $         /* states */\n"
    "#define GBEES_HAS_MEASURE 1 /* there is a function measure() below: take this out if there is none */\n"
    "#include <gbees/model.h>\n"
    "\n"
    "#ifdef GBEES_EQUATIONS /* ---- part 1: the equations, compiled for float, for double, and for a GPU ---- */\n"
    "\n"
    "/* (1) dx/dt = f(x). x: the states, p: the parameters, each in the order of its list below; t: the time.\n"
    " * `real` is float or double. sin, sqrt, pow ... are those of the right type; write constants as (real)0.5.\n"
    " * All components are written at each call; nothing is printed or remembered. */\n"
    "static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])\n"
    "{\n"
    "    const real damping = p[0], force = p[1];\n"
    "\n"
    "    (void)n, (void)t; /* not used here; says so to the compiler */\n";

static const char middle[] =
    "}\n"
    "\n"
    "/* Noise on the states, if there is any: what it adds to their variances in a unit of time. Put\n"
    " * #define GBEES_HAS_DIFFUSION GBEES_DIAGONAL above the #include; plugins.md says more.\n"
    " *\n"
    " * static inline void diffusion(int n, real t, const real x[], const real p[], real Q[])\n"
    " * {\n"
    " *     (void)n, (void)t, (void)x, (void)p;\n"
    " *     Q[0] = (real)0.01;\n"
    " * }\n"
    " */\n"
    "\n"
    "/* (2) y = h(x): what a measurement sees, without its noise. `which` is the function's number in the list\n"
    " * below, counted from 0; a function of several components writes y[0], y[1], ... */\n"
    "static inline void measure(int which, int n, real t, const real x[], const real p[], real y[])\n"
    "{\n"
    "    (void)n, (void)t, (void)p;\n"
    "    if (which == 0)\n"
    "        y[0] = x[0];\n"
    "    else\n"
    "        y[0] = fabs(x[0]);\n"
    "}\n"
    "\n"
    "#else /* ---- part 2: the card, which says what the model is ---- */\n"
    "\n"
    "/* (3) States, parameters, measurement functions: each list in the order that the equations number them in. */\n"
    "static const gbees_quantity states[] = {\n"
    "    /* name, unit (\"-\" for a pure number), what it is */\n";

static const char lists[] =
    "};\n"
    "\n"
    "static const gbees_parameter parameters[] = {\n"
    "    /* name, unit, what it is, default, smallest and largest value (0, 0: any) */\n"
    "    {\"damping\", \"1/s\", \"rate at which each state dies away\", 0.2, 0, 10},\n"
    "    {\"force\", \"1/s\", \"of each state on the one before it, at most\", 1.0, 0, 0},\n"
    "};\n"
    "\n"
    "static const gbees_measurement_function measurements[] = {\n"
    "    /* name, what it is, number of components, the components (or NULL), their periods (or\n"
    "     * NULL: none is an angle) */\n"
    "    {\"first\", \"the first state\", 1, &states[0], NULL},\n"
    "    {\"size\", \"the first state without its sign\", 1, NULL, NULL},\n"
    "};\n"
    "\n"
    "/* (4) What `gbees-run --plugin @` computes. YAML, each line ends in \\n; the manual's page scenario.md\n"
    " * lists the keys. `gbees-run --set threshold=1e-7` changes a key for one run. */\n"
    "static const gbees_model_scenario scenarios[] = {\n"
    "    {\"default\", \"mean: [0, ...]\\n\" /* of the initial Gaussian; ... repeats the last number */\n"
    "                \"covariance: [0.09, ...]\\n\" /* variances, or a whole matrix */\n"
    "                \"factor: $\\n\" /* a standard deviation is this many cells, times two */\n";

static const char rest[] =
    "                \"threshold: $\\n\" /* cells with less probability are not kept */\n"
    "                \"scheme: split5\\n\"\n"
    "                \"end: 4.0\\n\" /* the run goes from time 0 to this */\n"
    "                \"records: 4\\n\" /* densities written from one measurement to the next */\n"
    "                \"measurements:\\n\"\n"
    "                \"  - {time: 2.0, function: first, value: [1.0], covariance: [0.25]}\\n\"},\n"
    "};\n"
    "\n"
    "/* (5) The fields in this order. */\n"
    "GBEES_MODEL = {\n"
    "    GBEES_MODEL_HEAD,\n"
    "    .name = \"@\", /* as the file's name */\n"
    "    .title = \"states that push each other around a ring\",\n"
    "    .text = NULL,      /* a paragraph more, if you like */\n"
    "    .reference = NULL, /* where the equations are from */\n"
    "    .flags = 0,        /* GBEES_TIME_DEPENDENT if drift() or diffusion() uses t */\n"
    "    .dim_default = GBEES_DIM,\n"
    "    .states = states,\n"
    "    .parameter_count = GBEES_COUNT(parameters),\n"
    "    .parameters = parameters,\n"
    "    .measurement_count = GBEES_COUNT(measurements),\n"
    "    .measurements = measurements,\n"
    "    .bound = NULL, /* a constant of the motion: see plugins.md */\n"
    "    .scenario_count = GBEES_COUNT(scenarios),\n"
    "    .scenarios = scenarios,\n"
    "};\n"
    "\n"
    "#endif\n";

static void add(gbees_text *text, const char *part, const char *name, const char *word)
{
    while (*part) {
        const size_t length = strcspn(part, "@$");
        const char mark = part[length];

        gbees_text_add(text, "%.*s%s", (int)length, part, mark == '@' ? name : mark ? word : "");
        part += length + (mark != '\0');
    }
}

static void write_model(gbees_text *text, const char *name, int dimension)
{
    char word[16];

    (void)snprintf(word, sizeof word, "%d", dimension);
    add(text, head, name, word);
    for (int j = 0; j < dimension; j++)
        gbees_text_add(text, "    dxdt[%d] = force * sin(x[%d]) - damping * x[%d];\n", j, (j + 1) % dimension, j);
    add(text, middle, name, "");
    for (int j = 0; j < dimension; j++)
        gbees_text_add(text, "    {\"x%d\", \"-\", \"state number %d\"},\n", j + 1, j + 1);
    add(text, lists, name, grids[dimension - 1].factor);
    add(text, rest, name, grids[dimension - 1].threshold);
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

/* By its file, so that nothing is loaded for it. */
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
