/* export_text.c - the records of a run as text files: the reference codes' and CSV. */
#include "export_file.h"
#include "export_formats.h"
#include "results/folder/folder.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static double coordinate(const gbees_snapshot *record, int j, size_t i)
{
    return gbees_snapshot_centre(record, j, i);
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

/* Opens a new file of a folder, whose path it sets; NULL: an error. */
static FILE *open_in(const char *folder, const char *name, char **path, gbees_error *error)
{
    *path = gbees_folder_join(folder, name);
    if (!*path)
        (void)gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the name of a file");
    return *path ? gbees_export_open(*path, error) : NULL;
}

/* Writes a record to a new file of a folder. */
static int export_record(const char *folder, const gbees_snapshot *record, const char *name,
                         void (*write)(const gbees_snapshot *record, FILE *file), gbees_error *error)
{
    char *path;
    FILE *file = open_in(folder, name, &path, error);
    int status = GBEES_EIO;

    if (file) {
        write(record, file);
        status = gbees_export_close(file, path, error);
    }
    free(path);
    return status;
}

/* Makes the folder P<leg>, unless it is there. */
static int make_leg(const char *out, const char *name, gbees_error *error)
{
    char *folder = gbees_folder_join(out, name);
    int status = GBEES_OK;

    if (!folder)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the name of a folder");
    if (mkdir(folder, 0777) && errno != EEXIST)
        status = gbees_error_set(error, GBEES_EIO, "can't make the folder %s: %s", folder, strerror(errno));
    free(folder);
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

/* Writes all records as tables, and a line on each to `list`; without one as the existing codes do. */
static int export_all(const char *out, const gbees_results *results, FILE *list, gbees_error *error)
{
    int status = GBEES_OK;

    for (size_t i = 0; i < gbees_results_count(results) && !status; i++) {
        gbees_snapshot *record;
        char name[96];

        status = gbees_results_read(results, i, &record, error);
        if (status)
            return status;
        if (list) {
            (void)snprintf(name, sizeof name, "leg%d_record%d.csv", record->leg, record->number);
            write_line(record, name, list);
        } else {
            (void)snprintf(name, sizeof name, "P%d", record->leg);
            status = make_leg(out, name, error);
            (void)snprintf(name, sizeof name, "P%d/pdf_%d.txt", record->leg, record->number);
        }
        if (!status)
            status = export_record(out, record, name, list ? write_csv : write_gbees, error);
        gbees_snapshot_destroy(record);
    }
    return status;
}

int gbees_export_gbees(const char *out, const gbees_results *results, gbees_error *error)
{
    return export_all(out, results, NULL, error);
}

int gbees_export_csv(const char *out, const gbees_results *results, gbees_error *error)
{
    char *path;
    FILE *list = open_in(out, "records.csv", &path, error);
    int status = GBEES_EIO;

    if (list) {
        (void)fputs("file,leg,record,time,cells,mass,mass_clipped,mass_outflow,mass_pruned,mass_normalised\n", list);
        status = export_all(out, results, list, error);
        const int closed = gbees_export_close(list, path, status ? NULL : error);

        status = status ? status : closed;
    }
    free(path);
    return status;
}
