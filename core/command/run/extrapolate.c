/* extrapolate.c - extrapolates memory as a power of the cells' width, and the time left from what each third of the
 * part done has taken. */
#include "extrapolate.h"
#include <math.h>

/* ---- from trials ---- */

/* Exponents from trials on wide cells are too large: by about this part for each factor of two between the last
 * trial's width, less a factor 2^(1/2), and width 1 (doc/notes/forecast.md). */
static const double fall = 0.15;

/* Extrapolates a number that grows as a power of 1 / width to width 1, from its values at the last trial and at one
 * before it, whose widths are `octaves` factors of two apart; `left` factors of two remain to width 1. */
static double power_law(double last, double before, double left, double octaves)
{
    const double exponent = log2(last / before) / octaves;

    return last * exp2(left * exponent / (1 + fall * fmax(left - 0.5, 0)));
}

/* Extrapolates the cost of a cell to width 1. It falls towards a bound: half of the trend between the trials is
 * taken. */
static double cost_a_cell(double last, double before, double left, double octaves)
{
    return last * fmin(exp2(left * log2(last / before) / octaves / 2), 1);
}

double gbees_extrapolate_bytes(const gbees_trial *trial, int count)
{
    const gbees_trial *last = trial + count - 1, *before = trial + (count > 2 ? count - 3 : 0);

    if (!(before->cells > 0))
        return NAN;
    const double octaves = log2(before->width / last->width), left = log2(last->width);
    return power_law(last->cells, before->cells, left, octaves) *
           cost_a_cell(last->bytes / last->cells, before->bytes / before->cells, left, octaves);
}

/* ---- from the run so far ---- */

void gbees_history_add(gbees_history *history, double fraction, double seconds)
{
    int *count = &history->count;

    if (*count > 0 && !(fraction > history->fraction[*count - 1]))
        return;
    if (*count > 1 && fraction - history->fraction[*count - 2] < history->spacing)
        (*count)--; /* the last point makes room for this one */
    if (*count == GBEES_HISTORY_POINTS) {
        *count /= 2;
        history->spacing = 2 * (fraction - history->fraction[0]) / GBEES_HISTORY_POINTS;
        for (int k = 0; k < *count; k++) {
            history->fraction[k] = history->fraction[2 * k];
            history->seconds[k] = history->seconds[2 * k];
        }
    }
    history->fraction[*count] = fraction;
    history->seconds[(*count)++] = seconds;
}

/* The time at which a fraction was reached, by linear interpolation between points. */
static double seconds_at(const gbees_history *history, double fraction)
{
    int k = 1;

    while (k < history->count - 1 && history->fraction[k] < fraction)
        k++;
    const double part = (fraction - history->fraction[k - 1]) / (history->fraction[k] - history->fraction[k - 1]);
    return history->seconds[k - 1] + part * (history->seconds[k] - history->seconds[k - 1]);
}

/* Extrapolates the times r[0], r[1], r[2] that the three thirds of the done part took to further parts of that
 * length. Each takes longer than the one before by `more`, which changes by a constant factor from part to part: 1 if
 * the cost grows linearly, that of the cost if it grows exponentially. Beyond three times the done part the cost
 * stays. */
double gbees_history_left(const gbees_history *history)
{
    const int last = history->count - 1;
    double r[3], left = 0;

    if (last < 3)
        return -1;
    const double first = history->fraction[0], third = (history->fraction[last] - first) / 3;
    for (int k = 0; k < 3; k++)
        r[k] = seconds_at(history, first + (k + 1) * third) - seconds_at(history, first + k * third);
    double parts = (1 - history->fraction[last]) / third, part = r[2], more = fmax(r[2] - r[1], 0);
    const double growth = more > 0 && r[1] > r[0] ? fmin(more / (r[1] - r[0]), fmax(r[2] / r[1], 1)) : 1;

    for (int k = 0; k < 9 && parts > 0; k++, parts--) {
        more *= growth;
        part += more;
        /* The cost rises within a part: its beginning takes less than an even fraction. */
        left += parts < 1 ? parts * (part - more * (1 - parts) / 2) : part;
    }
    return left + fmax(parts, 0) * part;
}

double gbees_history_at_pace(const gbees_history *history)
{
    const int last = history->count - 1;

    return last < 1 ? -1
                    : (history->seconds[last] - history->seconds[0]) * (1 - history->fraction[last]) /
                          (history->fraction[last] - history->fraction[0]);
}
