/* print.c - output whose write errors are reported; see command.h. */
#include "command.h"
#include <errno.h>
#include <jansson.h>
#include <string.h>

int gbees_print_flush(FILE *out, gbees_error *error)
{
    errno = 0;
    if (!fflush(out) && !ferror(out))
        return GBEES_OK;
    if (errno == EPIPE)
        return gbees_error_set(error, GBEES_ECANCELLED, "stopped: nobody reads the output any more");
    return gbees_error_set(error, GBEES_EIO, "the output can't be written: %s",
                           errno ? strerror(errno) : "some of it was lost");
}

const char *gbees_print_mode(gbees_mode mode)
{
    return mode == GBEES_MODE_PAPER ? "paper" : mode == GBEES_MODE_LEGACY ? "legacy" : "default";
}

const char *gbees_print_accuracy_of(gbees_accuracy_of of)
{
    return of == GBEES_ACCURACY_DENSITY ? "density" : of == GBEES_ACCURACY_MARGINALS ? "marginals" : "moments";
}

void gbees_print_numbers(FILE *out, const double *values, int count)
{
    for (int i = 0; i < count; i++)
        (void)fprintf(out, " %.6g", values[i]);
}

void gbees_print_warnings(FILE *out, unsigned warnings, const gbees_problem *problem, const gbees_totals *totals)
{
    char text[GBEES_WARNING_TEXT];

    for (int k = 0; k < GBEES_WARNING_COUNT; k++) {
        if (!(warnings & 1u << k))
            continue;
        gbees_warning_text((gbees_warning)(1 << k), problem, totals, text, sizeof text);
        (void)fprintf(out, "warning: %s\n", text);
    }
}

int gbees_print_json(FILE *out, struct json_t *line, gbees_error *error)
{
    int lost;

    if (!line)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a line of JSON");
    lost = json_dumpf(line, out, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(17));
    json_decref(line);
    if (!lost)
        (void)fputc('\n', out);
    return gbees_print_flush(out, error);
}
