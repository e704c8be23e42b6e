/* plugin.c - gbees-plugin: models of one's own, from a first file to a checked plugin. */
#include "plugin.h"
#include "command/run/command.h"
#include <argp.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_FAILED = 1, EXIT_BAD_USAGE = 2 };

enum {
    KEY_DIMENSION = 'd',
    KEY_OUTPUT = 'o',
    KEY_VERSION = 'V',
    KEY_NO_INSTALL = 0x100,
    KEY_PLUGIN_PATH,
    KEY_BACKEND,
    KEY_ARCH,
    KEY_TRUST,
    KEY_STRICT,
    KEY_NO_STRICT,
    KEY_TIME_LIMIT
};

static const struct argp_option option_table[] = {
    {0, 0, 0, 0, "With new", 1},
    {"dimension", KEY_DIMENSION, "N", 0, "states of the model, 1 to 8 (default 2)", 0},
    {0, 0, 0, 0, "With build", 2},
    {"output", KEY_OUTPUT, "FILE.so", 0, "put the plugin there, too", 0},
    {"no-install", KEY_NO_INSTALL, 0, 0, "do not install it; without --output it is made in the current folder", 0},
    {0, 0, 0, 0, "With check", 3},
    {"plugin-path", KEY_PLUGIN_PATH, "DIR[:DIR...]", 0, "folders to search for plugins first", 0},
    {"trust", KEY_TRUST, 0, 0, "load a plugin that belongs to others, or that others may write to", 0},
    {"strict", KEY_STRICT, 0, 0, "a warning makes the exit status 1, as a failed check does: the default", 0},
    {"no-strict", KEY_NO_STRICT, 0, 0, "only failed checks make the exit status 1", 0},
    {"backend", KEY_BACKEND, "NAME", 0, "the backend to compare with the CPU's (default cuda)", 0},
    {"arch", KEY_ARCH, "sm_NN", 0, "compile for this GPU architecture (default: of the GPU here, else sm_90)", 0},
    {"time-limit", KEY_TIME_LIMIT, "S", 0, "seconds that one check may take (default 10)", 0},
    {0, 0, 0, 0, "Always", 4},
    {"version", KEY_VERSION, 0, 0, "print the version", 0},
    {0},
};

static const char help_text[] =
    "Make a model of your own for gbees: write a first version, compile and install it, look for mistakes.\v"
    "  new    writes NAME.c, a commented model that runs as it is, to the current folder\n"
    "  build  compiles a file of C (with CC) or C++ (.cc, .cpp, .cxx; with CXX) and installs the plugin in "
    "~/.local/lib/gbees/plugins, where gbees-run finds it\n"
    "  check  loads a plugin in a process of its own, prints its card, and says of each check: ok, a note that it "
    "was not made, a warning, or FAILED and what to do\n"
    "\n"
    "Examples:\n"
    "  gbees-plugin new mymodel\n"
    "  gbees-plugin build mymodel.c\n"
    "  gbees-plugin check mymodel\n"
    "  gbees-run --plugin mymodel\n"
    "\n"
    "Environment: CC, CFLAGS, CXX, CXXFLAGS; GBEES_PLUGIN_PATH and GBEES_BACKEND_PATH as for gbees-run.\n"
    "\n"
    "Exit status: 0 done; 1 the file was not compiled or is no plugin, or a check failed or, without "
    "--no-strict, has a warning; 2 wrong usage.\n";

typedef struct parsing {
    gbees_plugin_options *options;
    const char *dimension, *time_limit;
    const char *stray;
    int version;
    int given[3]; /* an option that goes with new, build, check */
} parsing;

static const char *const verbs[] = {"new", "build", "check"};

static int verb_number(const char *verb)
{
    int k = 0;

    while (k < 3 && strcmp(verb, verbs[k]) != 0)
        k++;
    return k;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    parsing *p = state->input;
    gbees_plugin_options *o = p->options;
    const char **place = key == KEY_DIMENSION     ? &p->dimension
                         : key == KEY_OUTPUT      ? &o->output
                         : key == KEY_PLUGIN_PATH ? &o->plugin_path
                         : key == KEY_BACKEND     ? &o->backend
                         : key == KEY_ARCH        ? &o->arch
                         : key == KEY_TIME_LIMIT  ? &p->time_limit
                         : key != ARGP_KEY_ARG    ? NULL
                         : !o->verb               ? &o->verb
                         : !o->subject            ? &o->subject
                                                  : &p->stray;

    if (key == KEY_VERSION)
        p->version = 1;
    else if (key == KEY_TRUST)
        o->trust = p->given[2] = 1;
    else if (key == KEY_STRICT || key == KEY_NO_STRICT) {
        o->lenient = key == KEY_NO_STRICT;
        p->given[2] = 1;
    } else if (key == KEY_NO_INSTALL)
        o->no_install = p->given[1] = 1;
    else if (!place)
        return ARGP_ERR_UNKNOWN;
    else {
        *place = text;
        if (key != ARGP_KEY_ARG)
            p->given[key == KEY_DIMENSION ? 0 : key == KEY_OUTPUT ? 1 : 2] = 1;
    }
    return 0;
}

static int read_numbers(const parsing *p, gbees_plugin_options *options, gbees_error *error)
{
    char *end;

    if (p->dimension) {
        const long value = strtol(p->dimension, &end, 10);

        if (end == p->dimension || *end || value < 1 || value > GBEES_MAX_DIM)
            return gbees_error_set(error, GBEES_EUSAGE, "--dimension wants a whole number from 1 to %d, not '%s'",
                                   GBEES_MAX_DIM, p->dimension);
        options->dimension = (int)value;
    }
    if (p->time_limit) {
        options->time_limit = strtod(p->time_limit, &end);
        if (end == p->time_limit || *end || !(options->time_limit > 0 && options->time_limit <= 86400))
            return gbees_error_set(error, GBEES_EUSAGE, "--time-limit wants a number of seconds, not '%s'",
                                   p->time_limit);
    }
    return GBEES_OK;
}

static int check_usage(const parsing *p, gbees_error *error)
{
    static const char *const subjects[] = {"the model's NAME", "a source file, FILE.c",
                                           "a plugin, FILE.so or its NAME"};
    const gbees_plugin_options *o = p->options;
    const int verb = o->verb ? verb_number(o->verb) : 3;

    if (!o->verb)
        return gbees_error_set(error, GBEES_EUSAGE, "say what to do: new, build or check (--help says more)");
    if (verb == 3)
        return gbees_error_set(error, GBEES_EUSAGE, "'%s' is nothing that it does: new, build or check", o->verb);
    if (!o->subject)
        return gbees_error_set(error, GBEES_EUSAGE, "%s wants %s", o->verb, subjects[verb]);
    if (p->stray)
        return gbees_error_set(error, GBEES_EUSAGE, "one argument too many: '%s'", p->stray);
    for (int k = 0; k < 3; k++)
        if (p->given[k] && k != verb)
            return gbees_error_set(error, GBEES_EUSAGE, "an option of %s does not go with %s (--help says which)",
                                   verbs[k], o->verb);
    return GBEES_OK;
}

static int run_verb(const gbees_plugin_options *options, int *failed, gbees_error *error)
{
    switch (verb_number(options->verb)) {
    case 0:
        return gbees_plugin_new(options, stdout, error);
    case 1:
        return gbees_plugin_build(options, stdout, error);
    default:
        return gbees_plugin_check(options, stdout, failed, error);
    }
}

int main(int argc, char **argv)
{
    const struct argp parser = {.options = option_table,
                                .parser = parse_option,
                                .args_doc = "new NAME\nbuild FILE.c\ncheck FILE.so|NAME",
                                .doc = help_text};
    gbees_plugin_options options = {.dimension = 2, .time_limit = 10, .backend = "cuda"};
    parsing p = {.options = &options};
    gbees_error error = {0};
    char name[] = "gbees-plugin"; /* libtool's wrapper may have another name */
    int failed = 0;

    (void)setlocale(LC_CTYPE, "");
    if (argc > 0)
        argv[0] = name;
    argp_err_exit_status = EXIT_BAD_USAGE;
    if (argp_parse(&parser, argc, argv, 0, NULL, &p)) {
        (void)fputs("gbees-plugin: not enough memory for the command line\n", stderr);
        return EXIT_FAILED;
    }
    if (p.version) {
        (void)printf("gbees-plugin %s\n", gbees_version());
        return gbees_print_flush(stdout, &error) ? EXIT_FAILED : EXIT_SUCCESS;
    }
    int status = check_usage(&p, &error);
    if (!status)
        status = read_numbers(&p, &options, &error);
    if (!status)
        status = run_verb(&options, &failed, &error);
    if (!status)
        status = gbees_print_flush(stdout, &error);
    if (status)
        (void)fprintf(stderr, "gbees-plugin: %s\n", error.text);
    return status == GBEES_EUSAGE ? EXIT_BAD_USAGE : status || failed ? EXIT_FAILED : EXIT_SUCCESS;
}
