/* certificate_text.c - a certificate as a line of text: for the report of gbees-run and the notes of gbees-plot. */
#include <gbees/gbees.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What a line is made of: the certificate, and the time of each figure (NULL: all have the same, which is not said).
 */
typedef struct line {
    const gbees_certificate *certificate;
    const double *time;
    char *text;
    size_t size;
} line;

__attribute__((format(printf, 2, 3))) static void add(const line *to, const char *format, ...)
{
    const size_t length = strlen(to->text);
    va_list list;

    va_start(list, format);
    (void)vsnprintf(to->text + length, to->size - length, format, list);
    va_end(list);
}

/* " at t = 1.5" */
static void add_time(const line *to, int figure)
{
    if (to->time)
        add(to, " at t = %.6g", to->time[figure]);
}

/* Appends ", std 0.012 σ", the largest bound along the axes. */
static void add_bound(const line *to, int figure, const char *name, double bound, const char *unit)
{
    add(to, "%s%s ", figure == GBEES_FIGURE_MEAN ? "" : ", ", name);
    if (isnan(bound))
        add(to, "not known");
    else
        add(to, "%.2g%s", bound, unit);
    add_time(to, figure);
}

static void write_line(const line *to, int dimension, int unicode)
{
    const char *const unit = unicode ? " \u03c3" : " std";
    const gbees_certificate *c = to->certificate;

    to->text[0] = 0;
    if (c->reason[0]) {
        if (to->time)
            add(to, "worst, at t = %.6g: ", to->time[0]);
        add(to, "%s", c->reason);
        return;
    }
    add(to, "%s", to->time ? "worst: " : "");
    add_bound(to, GBEES_FIGURE_MEAN, "mean", gbees_certificate_worst(c->mean, dimension, NULL).bound, unit);
    add_bound(to, GBEES_FIGURE_STD, "std", gbees_certificate_worst(c->std, dimension, NULL).bound, "");
    add_bound(to, GBEES_FIGURE_MARGINAL, "marginals", gbees_certificate_worst(c->marginal, dimension, NULL).bound,
              unit);
    if (c->uncompared > 0)
        add(to, ", density not compared (%.3g cells)", (double)c->uncompared);
    else if (c->points == 0 || !isnan(c->density.bound))
        add_bound(to, GBEES_FIGURE_DENSITY, unicode ? "density (1 \u2212 cosine)" : "density (1 - cosine)",
                  c->density.bound, "");
    if (c->points > 0)
        add(to, " (lattices of %llu points)", (unsigned long long)c->points);
    else
        add(to, " (%zu samples, %.0f effective%s)", c->samples, c->effective,
            c->instead ? "; points would cost too much" : "");
    if (c->variation > 0) {
        add(to, ", total variation some %.2g (an estimate)", c->variation);
        add_time(to, GBEES_FIGURE_VARIATION);
    }
}

void gbees_certificate_text(const gbees_certificate *certificate, int dimension, int unicode, char *text, size_t size)
{
    write_line(&(line){certificate, NULL, text, size}, dimension, unicode);
}

void gbees_worst_text(const gbees_worst *worst, int dimension, int unicode, char *text, size_t size)
{
    write_line(&(line){&worst->certificate, worst->time, text, size}, dimension, unicode);
}
