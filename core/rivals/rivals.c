/* rivals.c - the filters by name and by number: see rivals.h, and gbees_rivals_parse() in gbees/rivals.h. */
#include "rivals.h"
#include "base/text.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 10000, SAMPLES_LEAST = 128, WORD = 32 };

static const size_t samples_most = 1000000000;

static const struct {
    const char *name;
    size_t samples; /* unless a number is given; 0: it has none */
    const gbees_filter *filter;
} rivals[] = {
    [GBEES_RIVAL_MC] = {"mc", SAMPLES, &gbees_filter_mc}, [GBEES_RIVAL_EKF] = {"ekf", 0, &gbees_filter_ekf},
    [GBEES_RIVAL_UKF] = {"ukf", 0, &gbees_filter_ukf},    [GBEES_RIVAL_ENKF] = {"enkf", SAMPLES, &gbees_filter_enkf},
    [GBEES_RIVAL_PF] = {"pf", SAMPLES, &gbees_filter_pf},
};
enum { RIVALS = sizeof rivals / sizeof *rivals };

const char *gbees_rival_name(gbees_rival rival)
{
    return rivals[rival].name;
}

const gbees_filter *gbees_rival_filter(gbees_rival rival)
{
    return rivals[rival].filter;
}

/* ---- a list of them ----------------------------------------------------------------------------------------- */

/* Adds the filter of this name. */
static int add_name(const char *name, gbees_rivals *list, gbees_error *error)
{
    const char *names[RIVALS];

    for (int k = 0; k < RIVALS; k++) {
        names[k] = rivals[k].name;
        if (strcmp(name, rivals[k].name) != 0)
            continue;
        if (list->count == GBEES_RIVALS_MOST)
            return gbees_error_set(error, GBEES_EUSAGE, "a comparison has at most %d filters", GBEES_RIVALS_MOST);
        list->rival[list->count] = (gbees_rival)k;
        list->samples[list->count++] = rivals[k].samples;
        return GBEES_OK;
    }
    const char *nearest = gbees_text_nearest(name, names, RIVALS);
    return gbees_error_set(error, GBEES_EUSAGE, "there is no filter '%s'%s%s%s (mc, ekf, ukf, enkf, pf)", name,
                           nearest ? ": did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

/* Sets the number of samples of the last filter. */
static int set_samples(const char *text, gbees_rivals *list, gbees_error *error)
{
    size_t *samples = &list->samples[list->count - 1];
    const char *name = gbees_rival_name(list->rival[list->count - 1]);
    char *end;

    if (*samples == 0)
        return gbees_error_set(error, GBEES_EUSAGE, "%s has no samples: leave ':%s' out", name, text);
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (end == text || *end || errno || value < SAMPLES_LEAST || (size_t)value > samples_most)
        return gbees_error_set(error, GBEES_EUSAGE, "%s takes a whole number of samples from %d to %zu, not '%s'",
                               name, SAMPLES_LEAST, samples_most, text);
    *samples = (size_t)value;
    return GBEES_OK;
}

int gbees_rivals_parse(const char *text, gbees_rivals *list, gbees_error *error)
{
    gbees_rivals read = {0};
    int status = GBEES_OK;

    for (const char *at = text; !status;) {
        const size_t length = strcspn(at, ",");
        char word[WORD];

        if (length >= sizeof word)
            return gbees_error_set(error, GBEES_EUSAGE, "there is no filter '%.*s' (mc, ekf, ukf, enkf, pf)",
                                   (int)length, at);
        memcpy(word, at, length);
        word[length] = '\0';
        char *colon = strchr(word, ':');
        if (colon)
            *colon = '\0';
        status = add_name(word, &read, error);
        if (!status && colon)
            status = set_samples(colon + 1, &read, error);
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    if (!status)
        *list = read;
    return status;
}
