/* options.c - the table of the options, from which all else follows: --help, and what becomes of each, a member of
 * gbees_options or a change of the scenario. */
#include "options.h"
#include "base/text.h"
#include "option_values.h"
#include <argp.h>
#include <argz.h>
#include <stdlib.h>
#include <string.h>

/* What has been read of the command line. */
typedef struct parsing {
    gbees_options *options;
    gbees_option_values values;
    const char *compare;
    const struct known_option *wrong; /* the first change of the scenario whose text is no value, and the text */
    const char *wrong_text;
    const char *stray;
    int memory, actions;
} parsing;

/* What an option does. */
typedef enum kind {
    HEADING, /* nothing: a line of --help */
    ACTION,  /* says what the command is to do */
    SEEDED,  /* the same; its value is a seed */
    FLAG,    /* sets an int of gbees_options to 1 */
    TEXT,    /* sets a text of gbees_options */
    VALUE,   /* sets a text of parsing, which is read later */
    CHANGE   /* changes the scenario */
} kind;

/* An option. All that depends on it follows from its row. */
typedef struct known_option {
    const char *name;
    int letter;        /* its short form; 0: none */
    const char *value; /* what --help calls its value; NULL: it has none */
    kind kind;
    size_t place;     /* the heading's number, the action, the offset of what it sets, or the place in `changes` */
    const char *text; /* of --help */
} known_option;

/* What comes before a text, "", in the scenario; NULL: it is not NAME=VALUE with something on the left. */
static const char *begin_assignment(const char *text)
{
    return text[0] && text[0] != '=' && strchr(text, '=') ? "" : NULL;
}

static const char *begin_number(const char *text)
{
    return gbees_option_is_number(text) ? "" : NULL;
}

/* The changes of the scenario: what each begins with, what comes before the text then, and the values it wants. */
enum { AS_SET, AS_PARAM, AS_UNTIL, AS_ACCURACY, AS_DENSITIES, AS_FILES };
static const struct {
    const char *prefix;
    const char *(*begin)(const char *text);
    const char *wants;
} changes[] = {{"", begin_assignment, "KEY=VALUE"},
               {"parameters.", begin_assignment, "NAME=VALUE"},
               {"end=", begin_number, "a number"},
               {"accuracy=", begin_number, "a number"},
               {"output.densities=", gbees_option_densities,
                "all, last, none, a whole number from 1 to 1000000 or a list of times, [T, ...]"},
               {"output.files=", gbees_option_files, "run or records"}};

static const known_option table[] = {
    {NULL, 0, NULL, HEADING, 1, "What to do (default: run)"},
    {"list", 0, NULL, ACTION, GBEES_ACTION_LIST,
     "list plugins and backends, and those that can't be used with the reason"},
    {"list-keys", 0, NULL, ACTION, GBEES_ACTION_LIST_KEYS,
     "list the keys of a scenario, their values and what they mean"},
    {"describe", 0, NULL, ACTION, GBEES_ACTION_DESCRIBE, "describe the plugin: states, parameters, default scenario"},
    {"check", 0, NULL, ACTION, GBEES_ACTION_CHECK,
     "check all that can be known before computing, and forecast memory; make nothing"},
    {"compile-only", 0, NULL, ACTION, GBEES_ACTION_COMPILE,
     "compile the plugin's GPU kernels, and say what they take; needs no GPU"},
    {"simulate", 0, "SEED", SEEDED, GBEES_ACTION_SIMULATE,
     "draw a truth and its measurements, and write them as truth.csv and measurements.csv"},
    {"resume", 0, "DIR", TEXT, offsetof(gbees_options, resume),
     "go on with the run whose results are in DIR, from its last checkpoint: nothing else need be given"},
    {"version", 'V', NULL, ACTION, GBEES_ACTION_VERSION, "print the version"},
    {NULL, 0, NULL, HEADING, 2, "What to compute"},
    {"plugin", 'p', "NAME|FILE", TEXT, offsetof(gbees_options, plugin),
     "the model: a name from --list, or a file (with a '/')"},
    {"scenario", 's', "FILE", TEXT, offsetof(gbees_options, scenario),
     "YAML file, or the name of one of the model's own scenarios; what it lacks is taken from its default one"},
    {"measurements", 0, "FILE|DIR", TEXT, offsetof(gbees_options, measurements),
     "table of measurements (CSV, TSV), or a folder of measurement0.txt, measurement1.txt, ..."},
    {"measurement-function", 0, "NAME", TEXT, offsetof(gbees_options, measurement_function),
     "what they measure (default: what the columns of the table say; of a folder the model's first)"},
    {"simulate-count", 0, "N", VALUE, offsetof(parsing, values.simulate_count),
     "with --simulate: N measurements like the scenario's first, at equal distances up to the end"},
    {"truth", 0, "FILE", TEXT, offsetof(gbees_options, truth),
     "table of the true states: each record is compared with it"},
    {"set", 0, "KEY=VALUE", CHANGE, AS_SET, "change a key of the scenario; may be repeated"},
    {"param", 0, "NAME=VALUE", CHANGE, AS_PARAM, "change a parameter of the model; may be repeated"},
    {"until", 0, "T", CHANGE, AS_UNTIL, "end at model time T: short for --set end=T"},
    {NULL, 0, NULL, HEADING, 3, "How to compute"},
    {"backend", 0, "auto|cpu|cuda", TEXT, offsetof(gbees_options, backend), "default auto: a GPU if one can be used"},
    {"arch", 0, "sm_NN", TEXT, offsetof(gbees_options, arch),
     "with --compile-only: for this GPU architecture (default: of the GPU here)"},
    {"threads", 't', "N", VALUE, offsetof(parsing, values.threads),
     "default: OMP_NUM_THREADS, or as many as the machine has"},
    {"ranks", 0, "auto|mpi|off", TEXT, offsetof(gbees_options, ranks),
     "share the run among the processes that mpirun has started (default auto: if it has)"},
    {"ranks-per-gpu", 0, "N", VALUE, offsetof(parsing, values.ranks_per_gpu),
     "so many of a machine's processes take one GPU (default 1)"},
    {"plugin-path", 0, "DIR[:DIR...]", TEXT, offsetof(gbees_options, plugin_path),
     "folders to search for plugins first"},
    {"trust", 0, NULL, FLAG, offsetof(gbees_options, trust),
     "load plugins and backends that belong to others, or that others may write to"},
    {"audit", 0, "auto|N|off", VALUE, offsetof(parsing, values.audit),
     "samples of the model that each record is compared with, which bound its error (default auto: points that go "
     "with the flow, or 10000 with noise)"},
    {"compare", 0, "LIST", VALUE, offsetof(parsing, compare),
     "then run other filters on the same problem and compare them with the grid: of mc, ekf, ukf, enkf, pf; with a "
     "number of samples NAME:N"},
    {"accuracy", 0, "A", CHANGE, AS_ACCURACY,
     "run on finer and finer grids until no record's error is above A: short for --set accuracy=A"},
    {"checkpoint-every", 0, "MINUTES", VALUE, offsetof(parsing, values.every),
     "keep what --resume goes on from; 0: only when the run is stopped (default 10)"},
    {"force", 0, NULL, FLAG, offsetof(gbees_options, force),
     "with --resume: go on although the plugin or the scenario has been changed"},
    {"max-time", 0, "SECONDS", VALUE, offsetof(parsing, values.max_time),
     "stop after so long, with a checkpoint; with an accuracy: begin no run that would end later"},
    {"max-memory", 0, "GIB", VALUE, offsetof(parsing, values.max_memory),
     "stop before more memory is taken, with a checkpoint; with an accuracy: begin no run that would take more"},
    {"strict", 0, NULL, FLAG, offsetof(gbees_options, strict), "a warning makes the exit status 1; records are kept"},
    {NULL, 0, NULL, HEADING, 4, "What to say"},
    {"output", 'o', "DIR", TEXT, offsetof(gbees_options, output),
     "new or empty folder for the results (default: results/NAME, -2, -3, ...)"},
    {"files", 0, "run|records", CHANGE, AS_FILES,
     "one file for the run, run.h5 (default), or one for each record: short for --set output.files=..."},
    {"densities", 0, "all|N|last|none|[T,...]", CHANGE, AS_DENSITIES,
     "records that are written: each (default), each N-th, those at the end, none, those at these times; the time "
     "series has all of them: short for --set output.densities=..."},
    {"no-output", 0, NULL, FLAG, offsetof(gbees_options, no_output), "write no files"},
    {"no-forecast", 0, NULL, FLAG, offsetof(gbees_options, no_forecast),
     "with --check: leave out the forecast, which takes up to two seconds"},
    {"json", 0, NULL, FLAG, offsetof(gbees_options, json), "JSON Lines on standard output, and nothing else there"},
    {"progress", 0, "auto|bar|json|none", VALUE, offsetof(parsing, values.progress),
     "default auto: a bar if standard error is a terminal"},
    {"deterministic", 0, NULL, FLAG, offsetof(gbees_options, deterministic),
     "the same bits from the CPU and a GPU (doc/cuda.md)"},
    {"quiet", 'q', NULL, FLAG, offsetof(gbees_options, quiet), "say nothing but errors (and JSON, if asked for)"},
};
enum { OPTIONS = sizeof table / sizeof *table, FIRST_KEY = 0x100 };

/* The key by which argp knows an option: its letter, or a number that is none. */
static int key_of(const known_option *o)
{
    return o->letter ? o->letter : FIRST_KEY + (int)(o - table);
}

static const char help_text[] =
    "Propagate a probability density through a model's dynamics and measurements (GBEES).\v"
    "Examples:\n"
    "  gbees-run --list\n"
    "  gbees-run --plugin lorenz63\n"
    "  gbees-run --plugin lorenz63 --param r=40 --set threshold=1e-6 --until 1\n"
    "  gbees-run --plugin ./mine.so --scenario mine.yaml --check\n"
    "  gbees-run --plugin lorenz63 --json --no-output | jq .mean\n"
    "  gbees-run --resume results/lorenz63\n"
    "\n"
    "A later one wins: the model's default scenario, --scenario, --measurements, then --set, --param and --until in "
    "the order given.\n"
    "\n"
    "Exit status: 0 done; 1 the run failed, records so far are kept; 2 a wrong option or bad input, nothing was "
    "computed; 128 + n stopped by signal n (130: Ctrl-C), records so far are kept, and --resume goes on. SIGUSR1: "
    "keep "
    "a checkpoint, and go on.\n";

static void change(parsing *p, const known_option *option, const char *text)
{
    gbees_options *o = p->options;
    const char *prefix = changes[option->place].prefix, *begin = changes[option->place].begin(text);
    char *joined;
    const int length = begin ? asprintf(&joined, "%s%s%s", prefix, begin, text) : 0;

    if (!begin) {
        p->wrong_text = p->wrong ? p->wrong_text : text;
        p->wrong = p->wrong ? p->wrong : option;
    } else if (length < 0 || argz_add(&o->changes, &o->changes_length, joined)) {
        p->memory = 1;
    }
    if (length > 0)
        free(joined);
}

/* Does what an option says, with the text of its value. */
static void apply(parsing *p, const known_option *o, const char *text)
{
    char *const options = (char *)p->options;

    switch (o->kind) {
    case HEADING:
        break;
    case SEEDED:
        p->values.simulate = text;
        /* fall through */
    case ACTION:
        p->actions += p->options->action != (gbees_action)o->place;
        p->options->action = (gbees_action)o->place;
        break;
    case FLAG:
        *(int *)(void *)(options + o->place) = 1;
        break;
    case TEXT:
        *(const char **)(void *)(options + o->place) = text;
        break;
    case VALUE:
        *(const char **)(void *)((char *)p + o->place) = text;
        break;
    case CHANGE:
        change(p, o, text);
        break;
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    parsing *p = state->input;

    if (key == ARGP_KEY_ARG) {
        p->stray = p->stray ? p->stray : text;
        return 0;
    }
    for (const known_option *o = table; o < table + OPTIONS; o++)
        if (o->name && key == key_of(o)) {
            apply(p, o, text);
            return 0;
        }
    return ARGP_ERR_UNKNOWN;
}

/* What a run is to do is decided when it begins. */
static int check_resume(const gbees_options *o, gbees_error *error)
{
    const char *stray = o->action != GBEES_ACTION_RUN ? "--list, --check and their like"
                        : o->scenario                 ? "--scenario"
                        : o->measurements             ? "--measurements"
                        : o->changes_length           ? "--set, --param, --until, --accuracy, --densities and --files"
                        : o->output                   ? "--output"
                        : o->no_output                ? "--no-output"
                        : o->truth                    ? "--truth"
                        : o->rivals.count             ? "--compare"
                                                      : NULL;

    return stray ? gbees_error_set(error, GBEES_EUSAGE, "--resume goes on with the run as it was begun: leave out %s",
                                   stray)
                 : GBEES_OK;
}

static int check_words(const parsing *p, gbees_error *error)
{
    const gbees_options *o = p->options;
    const int runs = o->action == GBEES_ACTION_RUN;
    const int none = o->action == GBEES_ACTION_LIST || o->action == GBEES_ACTION_LIST_KEYS ||
                     o->action == GBEES_ACTION_VERSION; /* needs no model */
    const struct {
        int wrong;
        const char *words;
    } rules[] = {
        {o->measurement_function && !o->measurements, "--measurement-function goes with --measurements FILE"},
        {o->output && !o->output[0], "--output wants the name of a folder"},
        {o->no_output && o->action == GBEES_ACTION_SIMULATE, "--simulate writes files: leave --no-output out"},
        {o->no_forecast && o->action != GBEES_ACTION_CHECK, "--no-forecast goes with --check"},
        {o->truth && !runs, "--truth goes with a run"},
        {o->rivals.count && !runs, "--compare goes with a run"},
        {o->output && o->no_output, "--output and --no-output exclude each other"},
        {o->force && !o->resume, "--force goes with --resume DIR"},
        {!o->resume && !o->plugin && !none,
         "name a model with --plugin NAME; gbees-run --list shows those that there are"},
    };

    if (p->memory)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the command line");
    if (p->stray)
        return gbees_error_set(error, GBEES_EUSAGE, "what is '%s' for? name a model with --plugin NAME", p->stray);
    if (p->actions > 1)
        return gbees_error_set(
            error, GBEES_EUSAGE,
            "--list, --list-keys, --describe, --check, --compile-only, --simulate and --version exclude each other");
    if (o->arch && o->action != GBEES_ACTION_COMPILE)
        return gbees_error_set(error, GBEES_EUSAGE, "--arch goes with --compile-only");
    if (p->wrong)
        return gbees_error_set(error, GBEES_EUSAGE, "--%s wants %s, not '%s'", p->wrong->name,
                               changes[p->wrong->place].wants, p->wrong_text);
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
        if (rules[k].wrong)
            return gbees_error_set(error, GBEES_EUSAGE, "%s", rules[k].words);
    return o->resume ? check_resume(o, error) : GBEES_OK;
}

/* ---- options that do not exist: argp would not say what may have been meant ---- */

/* The option that begins so: argp takes abbreviations. */
static const known_option *option_of(const char *word, size_t length)
{
    for (const known_option *o = table; o < table + OPTIONS; o++)
        if (o->name && !strncmp(o->name, word, length))
            return o;
    return NULL;
}

static int unknown_option(const char *word, size_t length, gbees_error *error)
{
    const char *names[OPTIONS], *nearest = NULL;
    char *name = strndup(word, length);
    size_t count = 0;

    if (!name)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the command line");
    for (const known_option *o = table; o < table + OPTIONS; o++)
        if (o->name)
            names[count++] = o->name;
    nearest = gbees_text_nearest(name, names, count);
    (void)gbees_error_set(error, GBEES_EUSAGE, "unrecognized option '--%s'%s%s%s (gbees-run --help lists all)", name,
                          nearest ? ": did you mean '--" : "", nearest ? nearest : "", nearest ? "'?" : "");
    free(name);
    return GBEES_EUSAGE;
}

/* Whether the value of one of the short options in "qp" is the next word. */
static int takes_next(const char *letters)
{
    for (; *letters; letters++)
        for (const known_option *o = table; o < table + OPTIONS; o++)
            if (o->letter == *letters && o->value)
                return !letters[1];
    return 0;
}

static int check_names(int argc, char **argv, gbees_options *options, gbees_error *error)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *word = argv[i] + 2;

        if (strncmp(argv[i], "--", 2) != 0) {
            i += argv[i][0] == '-' && takes_next(argv[i] + 1);
            continue;
        }
        const size_t length = strcspn(word, "=");
        const known_option *o = option_of(word, length);

        if (!o && strncmp("help", word, length) != 0 && strncmp("usage", word, length) != 0)
            return unknown_option(word, length, error);
        options->json |= o && !strcmp(o->name, "json"); /* so that a later error is reported as JSON */
        i += o && o->value && !word[length];
    }
    return GBEES_OK;
}

int gbees_options_parse(int argc, char **argv, gbees_options *options, gbees_error *error)
{
    struct argp_option shown[OPTIONS + 1] = {{0}};
    const struct argp argp = {.options = shown, .parser = parse_option, .doc = help_text};
    parsing p = {.options = options};
    int status;

    *options = (gbees_options){.backend = "auto", .ranks = "auto"};
    status = check_names(argc, argv, options, error);
    if (status)
        return status;
    for (int k = 0; k < OPTIONS; k++) {
        const known_option *o = &table[k];

        shown[k] =
            (struct argp_option){o->name, o->name ? key_of(o) : 0, o->value, 0, o->text, o->name ? 0 : (int)o->place};
    }
    argp_err_exit_status = 2;
    if (argp_parse(&argp, argc, argv, 0, NULL, &p))
        return gbees_error_set(error, GBEES_EUSAGE, "the command line can't be read; see gbees-run --help");
    status = p.compare ? gbees_rivals_parse(p.compare, &options->rivals, error) : GBEES_OK;
    if (!status)
        status = check_words(&p, error);
    if (!status)
        status = gbees_option_values_read(&p.values, options, error);
    return status;
}

void gbees_options_free(gbees_options *options)
{
    free(options->changes);
    options->changes = NULL;
}
