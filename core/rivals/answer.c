/* answer.c - whether a grid is needed, in one sentence: see gbees_comparison_answer() in gbees/rivals.h. */
#include "comparison_private.h"
#include "record/certificate.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The record with the largest certain error of a mean or a standard deviation of the grid, which *off receives; NULL
 * if that is not worth a warning. */
static const gbees_reference *find_wrong(const gbees_comparison *c, double *off)
{
    const gbees_reference *worst = NULL;

    *off = gbees_largest_silent(c->problem->accuracy);
    for (size_t i = 0; i < c->count; i++) {
        const double most = fmax(c->records[i].off.mean, c->records[i].off.std);

        if (most > *off) {
            *off = most;
            worst = &c->records[i];
        }
    }
    return worst;
}

/* The record whose marginals are certainly off by most, among those whose marginals judge no filter; NULL: all do. */
static const gbees_reference *find_unjudged(const gbees_comparison *c)
{
    const gbees_reference *worst = NULL;

    for (size_t i = 0; i < c->count; i++)
        if (isinf(c->records[i].limit.kolmogorov) && (!worst || c->records[i].off.kolmogorov > worst->off.kolmogorov))
            worst = &c->records[i];
    return worst;
}

/* The fastest filter whose errors are within their limits; NULL: there is none. */
static const gbees_rival_result *find_enough(const gbees_comparison *c)
{
    const gbees_rival_result *best = NULL;

    for (int k = 0; k < c->options.rivals.count; k++) {
        const gbees_rival_result *r = &c->results[k];

        if (!r->failure.status && r->ratio <= 1 && (!best || r->seconds < best->seconds))
            best = r;
    }
    return best;
}

/* Whether the error of a filter that has not failed is unknown, as the grid has no marginal of some record. */
static int is_unknown(const gbees_comparison *c)
{
    for (int k = 0; k < c->options.rivals.count; k++)
        if (!c->results[k].failure.status && isnan(c->results[k].ratio))
            return 1;
    return 0;
}

/* The filter with the least error; NULL: all have failed, or their errors are not known. */
static const gbees_rival_result *find_nearest(const gbees_comparison *c)
{
    const gbees_rival_result *best = NULL;

    for (int k = 0; k < c->options.rivals.count; k++) {
        const gbees_rival_result *r = &c->results[k];

        if (!r->failure.status && !isnan(r->ratio) && (!best || r->ratio < best->ratio))
            best = r;
    }
    return best;
}

enum { NAME = 64 };

/* "ekf", "pf with 10000 samples" */
static const char *name_of(const gbees_rival_result *result, char text[NAME])
{
    const char *name = gbees_rival_name(result->rival);

    if (result->samples)
        (void)snprintf(text, NAME, "%s with %zu samples", name, result->samples);
    else
        (void)snprintf(text, NAME, "%s", name);
    return text;
}

void gbees_comparison_answer(const gbees_comparison *comparison, char *text, size_t size)
{
    const gbees_rival_result *enough = find_enough(comparison), *nearest = find_nearest(comparison);
    const double grid = comparison->grid_seconds;
    char name[NAME];
    double off;
    const gbees_reference *wrong = find_wrong(comparison, &off), *unjudged = find_unjudged(comparison);

    if (wrong)
        (void)snprintf(text, size,
                       "No answer whether a grid is needed: by its own certificate a mean or a standard deviation of "
                       "the grid is "
                       "off by %.2g or more at t = %.6g; take a finer one.",
                       off, wrong->time);
    else if (enough && enough->seconds <= grid)
        (void)snprintf(text, size,
                       "No grid is needed here: %s is as good at all records, and takes %.2g s in place of %.2g s.",
                       name_of(enough, name), enough->seconds, grid);
    else if (enough)
        (void)snprintf(text, size,
                       "The grid is the cheapest here: of the others %s is as good at all records, and takes %.2g s "
                       "in place of %.2g s.",
                       name_of(enough, name), enough->seconds, grid);
    else if (nearest)
        (void)snprintf(text, size,
                       "A grid is needed here: the nearest other is %s, with an error of %.2g times its limit at t = "
                       "%.6g.",
                       name_of(nearest, name), nearest->ratio, nearest->ratio_time);
    else if (is_unknown(comparison))
        (void)snprintf(text, size, "No answer whether a grid is needed: the marginals of a record are not known.");
    else
        (void)snprintf(
            text, size,
            "A grid is needed here: no other filter has come to the end with a density that can be compared.");
    if (!wrong && unjudged)
        (void)snprintf(text + strlen(text), size - strlen(text),
                       " At t = %.6g means and standard deviations alone say so: the grid's own marginals are off by "
                       "%.2g there (Kolmogorov's distance, by its certificate).",
                       unjudged->time, unjudged->off.kolmogorov);
}
