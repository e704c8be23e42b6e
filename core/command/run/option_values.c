/* option_values.c - reads the text of each option's value by its kind, and refuses one that is no number or out of
 * its range. */
#include "option_values.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS_MOST = 4096, AUDIT_LEAST = 1000, AUDIT_MOST = 1000000000, SIMULATED_MOST = 1000000 };

int gbees_option_is_number(const char *text)
{
    char *end;
    const double value = strtod(text, &end);

    return end != text && !*end && isfinite(value);
}

/* Whether all of the text is one whole number within these limits. */
static int is_whole(const char *text, long least, long most, long *number)
{
    char *end;

    errno = 0;
    *number = strtol(text, &end, 10);
    return end != text && !*end && !errno && *number >= least && *number <= most;
}

/* A whole number >= 1 of an option; *count stays as it is without one. */
static int read_count(const char *option, const char *text, int most, int *count, gbees_error *error)
{
    long value;

    if (!text)
        return GBEES_OK;
    if (!is_whole(text, 1, most, &value))
        return gbees_error_set(error, GBEES_EUSAGE, "--%s wants a whole number from 1 to %d, not '%s'", option, most,
                               text);
    *count = (int)value;
    return GBEES_OK;
}

static int read_simulate(const gbees_option_values *values, gbees_options *options, gbees_error *error)
{
    const char *seed = values->simulate;
    char *end;

    if (values->simulate_count && !seed)
        return gbees_error_set(error, GBEES_EUSAGE, "--simulate-count goes with --simulate SEED");
    errno = 0;
    options->seed = seed ? strtoull(seed, &end, 10) : 0;
    if (seed && (end == seed || *end || errno || strchr(seed, '-')))
        return gbees_error_set(error, GBEES_EUSAGE, "--simulate wants a seed, a whole number >= 0, not '%s'", seed);
    return read_count("simulate-count", values->simulate_count, SIMULATED_MOST, &options->simulate_count, error);
}

const char *gbees_option_densities(const char *text)
{
    long number;

    if (!strcmp(text, "all") || !strcmp(text, "last") || !strcmp(text, "none") || text[0] == '[')
        return "";
    return is_whole(text, 1, GBEES_DENSITIES_EVERY_MOST, &number) ? "every " : NULL;
}

const char *gbees_option_files(const char *text)
{
    return !strcmp(text, "run") || !strcmp(text, "records") ? "" : NULL;
}

static int read_audit(const char *text, gbees_options *options, gbees_error *error)
{
    long value;

    options->audit = !text || strcmp(text, "off") != 0;
    if (!text || !strcmp(text, "auto") || !options->audit)
        return GBEES_OK;
    if (!is_whole(text, AUDIT_LEAST, AUDIT_MOST, &value))
        return gbees_error_set(error, GBEES_EUSAGE,
                               "--audit wants auto, off or a whole number from %d to %d, not '%s'", AUDIT_LEAST,
                               AUDIT_MOST, text);
    options->samples = (size_t)value;
    return GBEES_OK;
}

/* A positive number of an option; *number stays as it is without one. */
static int read_limit(const char *option, const char *text, double *number, gbees_error *error)
{
    if (!text)
        return GBEES_OK;
    if (!gbees_option_is_number(text) || !(strtod(text, NULL) > 0))
        return gbees_error_set(error, GBEES_EUSAGE, "--%s wants a number > 0, not '%s'", option, text);
    *number = strtod(text, NULL);
    return GBEES_OK;
}

static int read_every(const char *text, double *minutes, gbees_error *error)
{
    *minutes = 10;
    if (text && (!gbees_option_is_number(text) || strtod(text, NULL) < 0))
        return gbees_error_set(error, GBEES_EUSAGE,
                               "--checkpoint-every wants a number of minutes, 0 or more, not '%s'", text);
    *minutes = text ? strtod(text, NULL) : *minutes;
    return GBEES_OK;
}

static int read_progress(const char *text, gbees_options *options, gbees_error *error)
{
    if (!text || !strcmp(text, "auto"))
        options->progress = isatty(STDERR_FILENO) && !options->quiet ? GBEES_PROGRESS_BAR : GBEES_PROGRESS_NONE;
    else if (!strcmp(text, "bar"))
        options->progress = GBEES_PROGRESS_BAR;
    else if (!strcmp(text, "json"))
        options->progress = GBEES_PROGRESS_JSON;
    else if (!strcmp(text, "none"))
        options->progress = GBEES_PROGRESS_NONE;
    else
        return gbees_error_set(error, GBEES_EUSAGE, "--progress wants auto, bar, json or none, not '%s'", text);
    return GBEES_OK;
}

int gbees_option_values_read(const gbees_option_values *values, gbees_options *options, gbees_error *error)
{
    int status = read_count("threads", values->threads, THREADS_MOST, &options->threads, error);

    if (!status)
        status = read_count("ranks-per-gpu", values->ranks_per_gpu, THREADS_MOST, &options->ranks_per_gpu, error);
    if (!status)
        status = read_simulate(values, options, error);
    if (!status)
        status = read_audit(values->audit, options, error);
    if (!status)
        status = read_limit("max-time", values->max_time, &options->max_time, error);
    if (!status)
        status = read_limit("max-memory", values->max_memory, &options->max_memory, error);
    if (!status)
        status = read_every(values->every, &options->every, error);
    if (!status)
        status = read_progress(values->progress, options, error);
    return status;
}
