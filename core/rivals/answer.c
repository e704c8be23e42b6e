/* answer.c - whether a grid is needed, in one sentence: see gbees_comparison_answer() in gbees/rivals.h. */
#include "comparison_private.h"
#include <math.h>
#include <stdio.h>

/* The grid's own error, as certified, above which the answer names it. */
static const double largest_silent = 0.1;

/* The record with the largest certain error of the grid, which *off receives; NULL if that is at most largest_silent.
 */
static const gbees_reference *find_wrong(const gbees_comparison *c, double *off)
{
    const gbees_reference *worst = NULL;

    *off = largest_silent;
    for (size_t i = 0; i < c->count; i++) {
        const gbees_rival_error *sure = &c->records[i].off;
        const double most = fmax(sure->mean, fmax(sure->std, sure->kolmogorov));

        if (most > *off) {
            *off = most;
            worst = &c->records[i];
        }
    }
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
    const gbees_reference *wrong = find_wrong(comparison, &off);

    if (wrong)
        (void)snprintf(
            text, size,
            "No answer whether a grid is needed: by its own certificate the grid is off by %.2g or more at "
            "t = %.6g; take a finer one.",
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
}
