/* options.c - the table of options for argp, and the functions that turn each option into a member of gbees_options,
 * or into a change of the scenario. */
#include "options.h"
#include "base/text.h"
#include "option_values.h"
#include <argp.h>
#include <argz.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_PLUGIN = 'p',
    KEY_SCENARIO = 's',
    KEY_OUTPUT = 'o',
    KEY_QUIET = 'q',
    KEY_THREADS = 't',
    KEY_VERSION = 'V',
    KEY_LIST = 0x100,
    KEY_LIST_KEYS,
    KEY_DESCRIBE,
    KEY_CHECK,
    KEY_COMPILE,
    KEY_ARCH,
    KEY_SIMULATE,
    KEY_SIMULATE_COUNT,
    KEY_TRUTH,
    KEY_SET,
    KEY_PARAM,
    KEY_UNTIL,
    KEY_ACCURACY,
    KEY_MAX_TIME,
    KEY_MAX_MEMORY,
    KEY_MEASUREMENTS,
    KEY_FUNCTION,
    KEY_PLUGIN_PATH,
    KEY_BACKEND,
    KEY_DETERMINISTIC,
    KEY_AUDIT,
    KEY_COMPARE,
    KEY_STRICT,
    KEY_DENSITIES,
    KEY_FILES,
    KEY_NO_OUTPUT,
    KEY_NO_FORECAST,
    KEY_JSON,
    KEY_TRUST,
    KEY_PROGRESS,
    KEY_RESUME,
    KEY_EVERY,
    KEY_FORCE,
    KEY_RANKS,
    KEY_RANKS_PER_GPU
};

static const struct argp_option option_table[] = {
    {0, 0, 0, 0, "What to do (default: run)", 1},
    {"list", KEY_LIST, 0, 0, "list plugins and backends, and those that can't be used with the reason", 0},
    {"list-keys", KEY_LIST_KEYS, 0, 0, "list the keys of a scenario, their values and what they mean", 0},
    {"describe", KEY_DESCRIBE, 0, 0, "describe the plugin: states, parameters, default scenario", 0},
    {"check", KEY_CHECK, 0, 0, "check all that can be known before computing, and forecast memory; make nothing", 0},
    {"compile-only", KEY_COMPILE, 0, 0, "compile the plugin's GPU kernels, and say what they take; needs no GPU", 0},
    {"simulate", KEY_SIMULATE, "SEED", 0,
     "draw a truth and its measurements, and write them as truth.csv and measurements.csv", 0},
    {"resume", KEY_RESUME, "DIR", 0,
     "go on with the run whose results are in DIR, from its last checkpoint: nothing else need be given", 0},
    {"version", KEY_VERSION, 0, 0, "print the version", 0},
    {0, 0, 0, 0, "What to compute", 2},
    {"plugin", KEY_PLUGIN, "NAME|FILE", 0, "the model: a name from --list, or a file (with a '/')", 0},
    {"scenario", KEY_SCENARIO, "FILE", 0,
     "YAML file, or the name of one of the model's own scenarios; what it lacks is taken from its default one", 0},
    {"measurements", KEY_MEASUREMENTS, "FILE|DIR", 0,
     "table of measurements (CSV, TSV), or a folder of measurement0.txt, measurement1.txt, ...", 0},
    {"measurement-function", KEY_FUNCTION, "NAME", 0,
     "what they measure (default: what the columns of the table say; of a folder the model's first)", 0},
    {"simulate-count", KEY_SIMULATE_COUNT, "N", 0,
     "with --simulate: N measurements like the scenario's first, at equal distances up to the end", 0},
    {"truth", KEY_TRUTH, "FILE", 0, "table of the true states: each record is compared with it", 0},
    {"set", KEY_SET, "KEY=VALUE", 0, "change a key of the scenario; may be repeated", 0},
    {"param", KEY_PARAM, "NAME=VALUE", 0, "change a parameter of the model; may be repeated", 0},
    {"until", KEY_UNTIL, "T", 0, "end at model time T: short for --set end=T", 0},
    {0, 0, 0, 0, "How to compute", 3},
    {"backend", KEY_BACKEND, "auto|cpu|cuda", 0, "default auto: a GPU if one can be used", 0},
    {"arch", KEY_ARCH, "sm_NN", 0, "with --compile-only: for this GPU architecture (default: of the GPU here)", 0},
    {"threads", KEY_THREADS, "N", 0, "default: OMP_NUM_THREADS, or as many as the machine has", 0},
    {"ranks", KEY_RANKS, "auto|mpi|off", 0,
     "share the run among the processes that mpirun has started (default auto: if it has)", 0},
    {"ranks-per-gpu", KEY_RANKS_PER_GPU, "N", 0, "so many of a machine's processes take one GPU (default 1)", 0},
    {"plugin-path", KEY_PLUGIN_PATH, "DIR[:DIR...]", 0, "folders to search for plugins first", 0},
    {"trust", KEY_TRUST, 0, 0, "load plugins and backends that belong to others, or that others may write to", 0},
    {"audit", KEY_AUDIT, "auto|N|off", 0,
     "samples of the model that each record is compared with, which bound its error (default auto: points that go "
     "with the flow, or 10000 with noise)",
     0},
    {"compare", KEY_COMPARE, "LIST", 0,
     "then run other filters on the same problem and compare them with the grid: of mc, ekf, ukf, enkf, pf; with a "
     "number of samples NAME:N",
     0},
    {"accuracy", KEY_ACCURACY, "A", 0,
     "run on finer and finer grids until no record's error is above A: short for --set accuracy=A", 0},
    {"checkpoint-every", KEY_EVERY, "MINUTES", 0,
     "keep what --resume goes on from; 0: only when the run is stopped (default 10)", 0},
    {"force", KEY_FORCE, 0, 0, "with --resume: go on although the plugin or the scenario has been changed", 0},
    {"max-time", KEY_MAX_TIME, "SECONDS", 0,
     "stop after so long, with a checkpoint; with an accuracy: begin no run that would end later", 0},
    {"max-memory", KEY_MAX_MEMORY, "GIB", 0,
     "stop before more memory is taken, with a checkpoint; with an accuracy: begin no run that would take more", 0},
    {"strict", KEY_STRICT, 0, 0, "a warning makes the exit status 1; records are kept", 0},
    {0, 0, 0, 0, "What to say", 4},
    {"output", KEY_OUTPUT, "DIR", 0, "new or empty folder for the results (default: results/NAME, -2, -3, ...)", 0},
    {"files", KEY_FILES, "run|records", 0,
     "one file for the run, run.h5 (default), or one for each record: short for --set output.files=...", 0},
    {"densities", KEY_DENSITIES, "all|N|last|none|[T,...]", 0,
     "records that are written: each (default), each N-th, those at the end, none, those at these times; the time "
     "series has all of them: short for --set output.densities=...",
     0},
    {"no-output", KEY_NO_OUTPUT, 0, 0, "write no files", 0},
    {"no-forecast", KEY_NO_FORECAST, 0, 0, "with --check: leave out the forecast, which takes up to two seconds", 0},
    {"json", KEY_JSON, 0, 0, "JSON Lines on standard output, and nothing else there", 0},
    {"progress", KEY_PROGRESS, "auto|bar|json|none", 0, "default auto: a bar if standard error is a terminal", 0},
    {"deterministic", KEY_DETERMINISTIC, 0, 0, "the same bits from the CPU and a GPU (doc/cuda.md)", 0},
    {"quiet", KEY_QUIET, 0, 0, "say nothing but errors (and JSON, if asked for)", 0},
    {0},
};

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

typedef struct parsing {
    gbees_options *options;
    gbees_option_values values;
    const char *compare;
    const char *until, *param, *set, *accuracy, *densities, *files; /* the first wrong one */
    const char *stray;
    int memory, actions;
} parsing;

static void change(parsing *p, const char *prefix, const char *text)
{
    gbees_options *o = p->options;
    char *joined = malloc(strlen(prefix) + strlen(text) + 1);

    if (joined)
        (void)stpcpy(stpcpy(joined, prefix), text);
    if (!joined || argz_add(&o->changes, &o->changes_length, joined))
        p->memory = 1;
    free(joined);
}

/* NAME=VALUE with something on the left. */
static int is_assignment(const char *text)
{
    return text[0] && text[0] != '=' && strchr(text, '=');
}

/* What a change of the scenario begins with, for the value of an option; NULL: the option has no such value. */
static const char *change_of(int key, const char *text)
{
    switch (key) {
    case KEY_SET:
        return is_assignment(text) ? "" : NULL;
    case KEY_PARAM:
        return is_assignment(text) ? "parameters." : NULL;
    case KEY_UNTIL:
        return gbees_option_is_number(text) ? "end=" : NULL;
    case KEY_ACCURACY:
        return gbees_option_is_number(text) ? "accuracy=" : NULL;
    case KEY_DENSITIES:
        return gbees_option_densities(text);
    default:
        return gbees_option_files(text);
    }
}

static int parse_change(int key, char *text, parsing *p)
{
    const char **wrong = key == KEY_SET         ? &p->set
                         : key == KEY_PARAM     ? &p->param
                         : key == KEY_UNTIL     ? &p->until
                         : key == KEY_DENSITIES ? &p->densities
                         : key == KEY_FILES     ? &p->files
                                                : &p->accuracy;
    const char *prefix = change_of(key, text);

    if (prefix)
        change(p, prefix, text);
    else if (!*wrong)
        *wrong = text;
    return 0;
}

static int parse_text(int key, char *text, parsing *p)
{
    gbees_options *o = p->options;
    const char **place = key == KEY_PLUGIN           ? &o->plugin
                         : key == KEY_PLUGIN_PATH    ? &o->plugin_path
                         : key == KEY_SCENARIO       ? &o->scenario
                         : key == KEY_MEASUREMENTS   ? &o->measurements
                         : key == KEY_FUNCTION       ? &o->measurement_function
                         : key == KEY_TRUTH          ? &o->truth
                         : key == KEY_SIMULATE_COUNT ? &p->values.simulate_count
                         : key == KEY_BACKEND        ? &o->backend
                         : key == KEY_ARCH           ? &o->arch
                         : key == KEY_RANKS          ? &o->ranks
                         : key == KEY_RANKS_PER_GPU  ? &p->values.ranks_per_gpu
                         : key == KEY_OUTPUT         ? &o->output
                         : key == KEY_THREADS        ? &p->values.threads
                         : key == KEY_AUDIT          ? &p->values.audit
                         : key == KEY_COMPARE        ? &p->compare
                         : key == KEY_RESUME         ? &o->resume
                         : key == KEY_EVERY          ? &p->values.every
                         : key == KEY_MAX_TIME       ? &p->values.max_time
                         : key == KEY_MAX_MEMORY     ? &p->values.max_memory
                         : key == KEY_PROGRESS       ? &p->values.progress
                                                     : NULL;

    if (!place)
        return ARGP_ERR_UNKNOWN;
    *place = text;
    return 0;
}

static int parse_action(gbees_action action, parsing *p)
{
    p->actions += p->options->action != action;
    p->options->action = action;
    return 0;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    parsing *p = state->input;
    gbees_options *o = p->options;

    switch (key) {
    case KEY_LIST:
        return parse_action(GBEES_ACTION_LIST, p);
    case KEY_LIST_KEYS:
        return parse_action(GBEES_ACTION_LIST_KEYS, p);
    case KEY_DESCRIBE:
        return parse_action(GBEES_ACTION_DESCRIBE, p);
    case KEY_CHECK:
        return parse_action(GBEES_ACTION_CHECK, p);
    case KEY_COMPILE:
        return parse_action(GBEES_ACTION_COMPILE, p);
    case KEY_SIMULATE:
        p->values.simulate = text;
        return parse_action(GBEES_ACTION_SIMULATE, p);
    case KEY_VERSION:
        return parse_action(GBEES_ACTION_VERSION, p);
    case KEY_SET:
    case KEY_PARAM:
    case KEY_UNTIL:
    case KEY_ACCURACY:
    case KEY_DENSITIES:
    case KEY_FILES:
        return parse_change(key, text, p);
    case KEY_TRUST:
        o->trust = 1;
        return 0;
    case KEY_FORCE:
        o->force = 1;
        return 0;
    case KEY_NO_OUTPUT:
        o->no_output = 1;
        return 0;
    case KEY_NO_FORECAST:
        o->no_forecast = 1;
        return 0;
    case KEY_JSON:
        o->json = 1;
        return 0;
    case KEY_STRICT:
        o->strict = 1;
        return 0;
    case KEY_DETERMINISTIC:
        o->deterministic = 1;
        return 0;
    case KEY_QUIET:
        o->quiet = 1;
        return 0;
    case ARGP_KEY_ARG:
        if (!p->stray)
            p->stray = text;
        return 0;
    default:
        return parse_text(key, text, p);
    }
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
    if (p->set)
        return gbees_error_set(error, GBEES_EUSAGE, "--set wants KEY=VALUE, not '%s'", p->set);
    if (p->param)
        return gbees_error_set(error, GBEES_EUSAGE, "--param wants NAME=VALUE, not '%s'", p->param);
    if (p->accuracy)
        return gbees_error_set(error, GBEES_EUSAGE, "--accuracy wants a number, not '%s'", p->accuracy);
    if (p->until)
        return gbees_error_set(error, GBEES_EUSAGE, "--until wants a number, not '%s'", p->until);
    if (p->densities)
        return gbees_error_set(
            error, GBEES_EUSAGE,
            "--densities wants all, last, none, a whole number from 1 to %d or a list of times, [T, ...], not '%s'",
            GBEES_DENSITIES_EVERY_MOST, p->densities);
    if (p->files)
        return gbees_error_set(error, GBEES_EUSAGE, "--files wants run or records, not '%s'", p->files);
    if (o->measurement_function && !o->measurements)
        return gbees_error_set(error, GBEES_EUSAGE, "--measurement-function goes with --measurements FILE");
    if (o->output && !o->output[0])
        return gbees_error_set(error, GBEES_EUSAGE, "--output wants the name of a folder");
    if (o->no_output && o->action == GBEES_ACTION_SIMULATE)
        return gbees_error_set(error, GBEES_EUSAGE, "--simulate writes files: leave --no-output out");
    if (o->no_forecast && o->action != GBEES_ACTION_CHECK)
        return gbees_error_set(error, GBEES_EUSAGE, "--no-forecast goes with --check");
    if (o->truth && o->action != GBEES_ACTION_RUN)
        return gbees_error_set(error, GBEES_EUSAGE, "--truth goes with a run");
    if (o->rivals.count && o->action != GBEES_ACTION_RUN)
        return gbees_error_set(error, GBEES_EUSAGE, "--compare goes with a run");
    if (o->output && o->no_output)
        return gbees_error_set(error, GBEES_EUSAGE, "--output and --no-output exclude each other");
    if (o->resume)
        return check_resume(o, error);
    if (o->force)
        return gbees_error_set(error, GBEES_EUSAGE, "--force goes with --resume DIR");
    if (!o->plugin && o->action != GBEES_ACTION_LIST && o->action != GBEES_ACTION_LIST_KEYS &&
        o->action != GBEES_ACTION_VERSION)
        return gbees_error_set(error, GBEES_EUSAGE,
                               "name a model with --plugin NAME; gbees-run --list shows those that there are");
    return GBEES_OK;
}

/* ---- options that do not exist: argp would not say what may have been meant ---- */

/* The option that begins so: argp takes abbreviations. */
static const struct argp_option *option_of(const char *word, size_t length)
{
    for (const struct argp_option *o = option_table; o->name || o->doc; o++)
        if (o->name && !strncmp(o->name, word, length))
            return o;
    return NULL;
}

static int unknown_option(const char *word, size_t length, gbees_error *error)
{
    const char *names[sizeof option_table / sizeof *option_table], *nearest = NULL;
    char *name = strndup(word, length);
    size_t count = 0;

    if (!name)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the command line");
    for (const struct argp_option *o = option_table; o->name || o->doc; o++)
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
        for (const struct argp_option *o = option_table; o->name || o->doc; o++)
            if (o->name && o->key == *letters && o->arg)
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
        const struct argp_option *o = option_of(word, length);

        if (!o && strncmp("help", word, length) != 0 && strncmp("usage", word, length) != 0)
            return unknown_option(word, length, error);
        options->json |= o && o->key == KEY_JSON; /* so that a later error is reported as JSON */
        i += o && o->arg && !word[length];
    }
    return GBEES_OK;
}

int gbees_options_parse(int argc, char **argv, gbees_options *options, gbees_error *error)
{
    const struct argp argp = {.options = option_table, .parser = parse_option, .doc = help_text};
    parsing p = {.options = options};
    int status;

    *options = (gbees_options){.backend = "auto", .ranks = "auto"};
    status = check_names(argc, argv, options, error);
    if (status)
        return status;
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
