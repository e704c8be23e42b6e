/* export.c - gbees-export: a results folder as text files or images. */
#include "base/text.h"
#include "command/crash.h"
#include "export_formats.h"
#include "results/folder/folder.h"
#include "results/hdf5/hdf5_driver.h"
#include <argp.h>
#include <gbees/gbees.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_FAILED = 1, EXIT_BAD_USAGE = 2 };

static const char help_head[] =
    "Write the records of RUN, a folder of gbees-run, as text files or images to OUT, a new or empty folder.\v"
    "Formats:\n";
static const char help_tail[] =
    "\n"
    "With --verify, all records and the time series are checked against their checksums, and counted: a line "
    "for each that is damaged, and exit status 1.\n"
    "\n"
    "Exit status: 0 done; 1 a file could not be read or written, or is damaged; 2 wrong usage.\n";

/* A format, a row in the list below. */
typedef struct format {
    const char *name;
    const char *text; /* of --help */
    int (*write)(const char *out, const gbees_results *results, gbees_error *error);
} format;

/* The first is the default. */
static const format formats[] = {
    {"gbees",
     "OUT/P<leg>/pdf_<record>.txt: a line with the time, then for each cell its probability and its centre; what the "
     "codes before gbees-run wrote",
     gbees_export_gbees},
    {"csv",
     "OUT/leg<leg>_record<record>.csv: the centre of each cell and its probability, with a header of names and "
     "units; "
     "OUT/records.csv lists the files with their times",
     gbees_export_csv},
    {"vti",
     "OUT/leg<leg>_record<record>_<j>_<k>.vti, and ..._<j>_<k>_<l>.vti: the density of each two and three states as "
     "an "
     "image, for ParaView and VTK; OUT/states_<j>_<k>.pvd lists them with their times",
     gbees_export_vti},
};
enum { FORMATS = sizeof formats / sizeof *formats };

static const format *find_format(const char *name)
{
    for (size_t k = 0; k < FORMATS; k++)
        if (strcmp(formats[k].name, name) == 0)
            return &formats[k];
    return NULL;
}

/* "gbees|csv|vti", and the text of --help; with `failed` set without memory. */
static void describe_formats(gbees_text *names, gbees_text *help)
{
    gbees_text_add(help, "%s", help_head);
    for (size_t k = 0; k < FORMATS; k++) {
        gbees_text_add(names, "%s%s", k ? "|" : "", formats[k].name);
        gbees_text_add(help, "  %-5s  %s\n", formats[k].name, formats[k].text);
    }
    gbees_text_add(help, "%s", help_tail);
}

typedef struct export_job {
    const format *format;
    const char *names; /* of all formats */
    const char *run, *out;
    int verify; /* check the files and write none */
} export_job;

static int export_run(const export_job *job, gbees_error *error)
{
    gbees_results *results;
    int status = gbees_results_open(job->run, &results, error);

    if (status)
        return status;
    if (gbees_results_lost(results))
        (void)fprintf(stderr, "gbees-export: warning: %s\n", gbees_results_lost(results));
    status = gbees_folder_make(job->out, error);
    if (!status)
        status = job->format->write(job->out, results, error);
    gbees_results_destroy(results);
    return status;
}

/* ---- checking ---- */

typedef struct verdicts {
    size_t files, damaged, unsummed;
} verdicts;

static void report_file(void *context, const char *file, int summed, const gbees_error *problem)
{
    verdicts *all = context;

    if (problem)
        (void)fprintf(stderr, "gbees-export: %s\n", problem->text);
    else if (!summed)
        (void)printf("%s has no checksum that this version reads: an earlier one of gbees wrote it\n", file);
    all->files++;
    all->damaged += problem != NULL;
    all->unsummed += !problem && !summed;
}

static int verify_run(const export_job *job, gbees_error *error)
{
    verdicts all = {0};
    const int status = gbees_results_verify(job->run, report_file, &all, error);

    if (status)
        return status;
    if (all.damaged)
        return gbees_error_set(error, GBEES_EINPUT, "%zu of %zu files of %s are damaged", all.damaged, all.files,
                               job->run);
    (void)printf("%zu files of %s are as they were written", all.files - all.unsummed, job->run);
    if (all.unsummed)
        (void)printf(", %zu can't be told", all.unsummed);
    (void)printf("\n");
    return fflush(stdout) ? gbees_error_set(error, GBEES_EIO, "can't write to standard output") : GBEES_OK;
}

/* ---- command line ---- */

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    export_job *job = state->input;

    switch (key) {
    case 'f':
        job->format = find_format(text);
        if (!job->format)
            argp_error(state, "unknown format '%s': it is one of %s", text, job->names);
        return 0;
    case 'c':
        job->verify = 1;
        return 0;
    case 'V':
        (void)printf("gbees-export %s\n", gbees_version());
        exit(fflush(stdout) ? EXIT_FAILED : EXIT_SUCCESS);
    case ARGP_KEY_ARG:
        if (job->out)
            argp_error(state, "one argument too many: '%s'", text);
        else if (job->run)
            job->out = text;
        else
            job->run = text;
        return 0;
    case ARGP_KEY_END:
        if (!job->run)
            argp_error(state, "the results folder RUN is missing");
        else if (job->verify && job->out)
            argp_error(state, "one argument too many: '%s' (--verify writes nothing)", job->out);
        else if (!job->verify && !job->out)
            argp_error(state, "the output folder OUT is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    gbees_text names = {0}, help = {0};
    gbees_error error;
    static const gbees_crash_texts texts = {
        .crash = "gbees-export: the program crashed, in a library perhaps, for lack of memory\n",
        .hdf5 = "gbees-export: HDF5 crashed, as it does for lack of memory\n"};

    describe_formats(&names, &help);
    const struct argp_option options[] = {
        {"format", 'f', names.data, 0, "what to write (default gbees)", 1},
        {"verify", 'c', 0, 0, "check the files of RUN, and write nothing", 1},
        {"version", 'V', 0, 0, "print the version", 0},
        {0},
    };
    const struct argp parser = {
        .options = options, .parser = parse_option, .args_doc = "RUN OUT\n--verify RUN", .doc = help.data};
    export_job job = {.format = formats, .names = names.data};
    argp_err_exit_status = EXIT_BAD_USAGE;
    if (names.failed || help.failed || argp_parse(&parser, argc, argv, 0, NULL, &job)) {
        (void)fputs("gbees-export: not enough memory for the command line\n", stderr);
        return EXIT_FAILED;
    }
    gbees_crash_explain(&texts);
    gbees_text_free(&names);
    gbees_text_free(&help);
    if (gbees_hdf5_start(&error) || (job.verify ? verify_run(&job, &error) : export_run(&job, &error))) {
        (void)fprintf(stderr, "gbees-export: %s\n", error.text);
        return EXIT_FAILED;
    }
    return EXIT_SUCCESS;
}
