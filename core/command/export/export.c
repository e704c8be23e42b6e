/* export.c - gbees-export: a results folder as text files. */
#include "command/crash.h"
#include "export_file.h"
#include "export_images.h"
#include "results/folder/folder.h"
#include "results/hdf5/hdf5_driver.h"
#include <argp.h>
#include <errno.h>
#include <gbees/gbees.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXIT_FAILED = 1, EXIT_BAD_USAGE = 2 };

/* ---- formats ---- */

/* A format: the name of a record's file in the output folder, and the function that writes it. */
typedef struct format {
    const char *name;
    const char *list; /* name of the list of all files, or NULL */
    void (*name_record)(const gbees_snapshot *record, char *name, size_t size);
    void (*write)(const gbees_snapshot *record, FILE *file); /* NULL: records are images (export_images.h) */
} format;

static double coordinate(const gbees_snapshot *record, int j, size_t i)
{
    return gbees_snapshot_centre(record, j, i);
}

/* The text files of the reference codes: P<leg>/pdf_<record>.txt. */
static void name_gbees(const gbees_snapshot *record, char *name, size_t size)
{
    (void)snprintf(name, size, "P%d/pdf_%d.txt", record->leg, record->number);
}

static void write_gbees(const gbees_snapshot *record, FILE *file)
{
    (void)fprintf(file, "%f\n", record->time);
    for (size_t i = 0; i < record->count; i++) {
        (void)fprintf(file, "%.10e", record->p[i]);
        for (int j = 0; j < record->dimension; j++)
            (void)fprintf(file, " %.10e", coordinate(record, j, i));
        (void)fputc('\n', file);
    }
}

static void name_csv(const gbees_snapshot *record, char *name, size_t size)
{
    (void)snprintf(name, size, "leg%d_record%d.csv", record->leg, record->number);
}

/* A field of a header: quoted where it must be. */
static void write_head(const char *name, const char *unit, FILE *file)
{
    int quote = strpbrk(name, ",\"") || strpbrk(unit, ",\"");
    int has_unit = *unit && strcmp(unit, "-") != 0;
    const char *parts[] = {name, has_unit ? " [" : "", has_unit ? unit : "", has_unit ? "]" : ""};

    if (quote)
        (void)fputc('"', file);
    for (int k = 0; k < 4; k++) {
        for (const char *c = parts[k]; *c; c++) {
            if (*c == '"')
                (void)fputc('"', file);
            (void)fputc(*c, file);
        }
    }
    if (quote)
        (void)fputc('"', file);
}

static void write_csv(const gbees_snapshot *record, FILE *file)
{
    for (int j = 0; j < record->dimension; j++) {
        write_head(record->name[j], record->unit[j], file);
        (void)fputc(',', file);
    }
    (void)fputs("p\n", file);
    for (size_t i = 0; i < record->count; i++) {
        for (int j = 0; j < record->dimension; j++)
            (void)fprintf(file, "%.17g,", coordinate(record, j, i));
        (void)fprintf(file, "%.17g\n", record->p[i]);
    }
}

static const format formats[] = {
    {"gbees", NULL, name_gbees, write_gbees},
    {"csv", "records.csv", name_csv, write_csv},
    {"vti", NULL, NULL, NULL},
};

static const format *find_format(const char *name)
{
    for (size_t k = 0; k < sizeof formats / sizeof formats[0]; k++)
        if (strcmp(formats[k].name, name) == 0)
            return &formats[k];
    return NULL;
}

/* ---- writing ---- */

typedef struct export_job {
    const format *format;
    const char *run, *out;
    int verify; /* check the files and write none */
} export_job;

/* Makes the folder of a leg, if the format has one. */
static int make_parent(const export_job *job, const char *path, gbees_error *error)
{
    size_t length = (size_t)(strrchr(path, '/') - path);
    char *folder = strndup(path, length);
    int status = 0;

    if (!folder)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the name of a folder");
    if (strcmp(folder, job->out) != 0 && mkdir(folder, 0777) && errno != EEXIST)
        status = gbees_error_set(error, GBEES_EIO, "can't make the folder %s: %s", folder, strerror(errno));
    free(folder);
    return status;
}

static int export_record(const export_job *job, const gbees_snapshot *record, const char *name, gbees_error *error)
{
    char *path = gbees_folder_join(job->out, name);
    if (!path)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the name of a file");
    int status = make_parent(job, path, error);
    FILE *file = status ? NULL : gbees_export_open(path, error);
    if (!file) {
        status = GBEES_EIO;
    } else {
        job->format->write(record, file);
        status = gbees_export_close(file, path, error);
    }
    free(path);
    return status;
}

/* A record's line in the list: where it is, and its ledger. */
static void write_line(const gbees_snapshot *record, const char *name, FILE *list)
{
    const gbees_ledger *total = &record->total;

    (void)fprintf(list, "%s,%d,%d,%.17g,%zu,%.17g,%.17g,%.17g,%.17g,%.17g\n", name, record->leg, record->number,
                  record->time, record->count, record->mass, total->clipped, total->outflow, total->pruned,
                  total->normalised);
}

/* The images of all records, and their lists. */
static int export_images(const export_job *job, const gbees_results *results, gbees_error *error)
{
    gbees_image_lists lists = {0};
    int status = GBEES_OK;

    for (size_t i = 0; i < gbees_results_count(results) && !status; i++) {
        gbees_snapshot *record;

        status = gbees_results_read(results, i, &record, error);
        if (status)
            break;
        status = gbees_export_images(job->out, record, &lists, error);
        gbees_snapshot_destroy(record);
    }
    if (!status)
        status = gbees_export_image_lists(job->out, &lists, error);
    gbees_image_lists_free(&lists);
    return status;
}

/* All records; `list` (or NULL) takes a line on each. */
static int export_all(const export_job *job, const gbees_results *results, FILE *list, gbees_error *error)
{
    if (!job->format->write)
        return export_images(job, results, error);
    if (list)
        (void)fputs("file,leg,record,time,cells,mass,mass_clipped,mass_outflow,mass_pruned,mass_normalised\n", list);
    for (size_t i = 0; i < gbees_results_count(results); i++) {
        gbees_snapshot *record;
        char name[96];
        int status = gbees_results_read(results, i, &record, error);

        if (status)
            return status;
        job->format->name_record(record, name, sizeof name);
        status = export_record(job, record, name, error);
        if (list)
            write_line(record, name, list);
        gbees_snapshot_destroy(record);
        if (status)
            return status;
    }
    return 0;
}

static int export_run(const export_job *job, gbees_error *error)
{
    gbees_results *results;
    char *path = job->format->list ? gbees_folder_join(job->out, job->format->list) : NULL;
    FILE *list = NULL;
    int status;

    if (job->format->list && !path)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the name of a file");
    status = gbees_results_open(job->run, &results, error);
    if (status) {
        free(path);
        return status;
    }
    status = gbees_folder_make(job->out, error);
    if (!status && path) {
        list = gbees_export_open(path, error);
        status = list ? 0 : GBEES_EIO;
    }
    if (!status)
        status = export_all(job, results, list, error);
    if (list) {
        int closed = gbees_export_close(list, path, status ? NULL : error);

        status = status ? status : closed;
    }
    gbees_results_destroy(results);
    free(path);
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
    gbees_results *results;
    verdicts all = {0};
    int status = gbees_results_open(job->run, &results, error);

    if (status)
        return status;
    gbees_results_verify(results, report_file, &all);
    gbees_results_destroy(results);
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

static const struct argp_option option_table[] = {
    {"format", 'f', "gbees|csv|vti", 0, "what to write (default gbees)", 1},
    {"verify", 'c', 0, 0, "check the files of RUN, and write nothing", 1},
    {"version", 'V', 0, 0, "print the version", 0},
    {0},
};

static const char help_text[] =
    "Write the records of RUN, a folder of gbees-run, as text files or images to OUT, a new or empty folder.\v"
    "Formats:\n"
    "  gbees  OUT/P<leg>/pdf_<record>.txt: a line with the time, then for each cell its probability and its centre; "
    "what the codes before gbees-run wrote\n"
    "  csv    OUT/leg<leg>_record<record>.csv: the centre of each cell and its probability, with a header of names "
    "and units; OUT/records.csv lists the files with their times\n"
    "  vti    OUT/leg<leg>_record<record>_<j>_<k>.vti, and ..._<j>_<k>_<l>.vti: the density of each two and three "
    "states "
    "as an image, for ParaView and VTK; OUT/states_<j>_<k>.pvd lists them with their times\n"
    "\n"
    "With --verify, all files of the run are checked against their checksums and its list of files: a line for each "
    "that "
    "is damaged, missing or not of the run, and exit status 1.\n"
    "\n"
    "Exit status: 0 done; 1 a file could not be read or written, or is damaged; 2 wrong usage.\n";

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    export_job *job = state->input;

    switch (key) {
    case 'f':
        job->format = find_format(text);
        if (!job->format)
            argp_error(state, "unknown format '%s': it is gbees, csv or vti", text);
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
    const struct argp parser = {
        .options = option_table, .parser = parse_option, .args_doc = "RUN OUT\n--verify RUN", .doc = help_text};
    export_job job = {.format = &formats[0]};
    static const gbees_crash_texts texts = {
        .crash = "gbees-export: the program crashed, in a library perhaps, for lack of memory\n",
        .hdf5 = "gbees-export: HDF5 crashed, as it does for lack of memory\n"};
    gbees_error error;

    argp_err_exit_status = EXIT_BAD_USAGE;
    if (argp_parse(&parser, argc, argv, 0, NULL, &job)) {
        (void)fputs("gbees-export: not enough memory for the command line\n", stderr);
        return EXIT_FAILED;
    }
    gbees_crash_explain(&texts);
    if (gbees_hdf5_start(&error) || (job.verify ? verify_run(&job, &error) : export_run(&job, &error))) {
        (void)fprintf(stderr, "gbees-export: %s\n", error.text);
        return EXIT_FAILED;
    }
    return EXIT_SUCCESS;
}
