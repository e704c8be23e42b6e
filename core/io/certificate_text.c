/* certificate_text.c - a certificate as a line of text: for the report of gbees-run and the notes of gbees-plot. */
#include <gbees/gbees.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Appends "mean 0.012 σ, ", the largest bound along the axes, to the text. */
static void add_bound(char *text, size_t size, const char *name, double bound, const char *unit)
{
    const size_t length = strlen(text);

    if (isnan(bound))
        (void)snprintf(text + length, size - length, "%s not known, ", name);
    else
        (void)snprintf(text + length, size - length, "%s %.2g%s, ", name, bound, unit);
}

void gbees_certificate_text(const gbees_certificate *certificate, int dimension, int unicode, char *text, size_t size)
{
    const gbees_certificate *c = certificate;
    const char *const unit = unicode ? " \u03c3" : " std";
    char bounds[160] = "";

    if (c->reason[0]) {
        (void)snprintf(text, size, "%s", c->reason);
        return;
    }
    add_bound(bounds, sizeof bounds, "mean", gbees_certificate_worst(c->mean, dimension, NULL).bound, unit);
    add_bound(bounds, sizeof bounds, "std", gbees_certificate_worst(c->std, dimension, NULL).bound, "");
    add_bound(bounds, sizeof bounds, "marginals", gbees_certificate_worst(c->marginal, dimension, NULL).bound, unit);
    if (c->uncompared > 0)
        (void)snprintf(bounds + strlen(bounds), sizeof bounds - strlen(bounds), "density not compared (%.3g cells), ",
                       (double)c->uncompared);
    else if (c->points == 0 || !isnan(c->density.bound))
        add_bound(bounds, sizeof bounds, "density", c->density.bound, "");
    bounds[strlen(bounds) - 2] = 0; /* the last ", " */
    if (c->points > 0)
        (void)snprintf(text, size, "%s (lattices of %llu points)", bounds, (unsigned long long)c->points);
    else
        (void)snprintf(text, size, "%s (%zu samples, %.0f effective)", bounds, c->samples, c->effective);
    if (c->variation > 0) {
        const size_t length = strlen(text);

        (void)snprintf(text + length, size - length, ", total variation some %.2g (an estimate)", c->variation);
    }
}
