/* progress.c - measures the rates of steps and cells over the last moments, and shows them on a terminal's line or
 * as a line of JSON. */
#include "progress.h"
#include "base/seconds.h"
#include "command/units.h"
#include "results/run/jsonl.h"
#include <stdlib.h>
#include <string.h>

enum { BAR_WIDTH = 16 };
/* A run that would take more than a day says so, but not before it has run for this long, in seconds. */
static const double long_run = 86400, first_look = 1;

void gbees_progress_start(gbees_progress *progress, gbees_progress_kind kind, FILE *stream)
{
    const double now = gbees_seconds_now();

    *progress =
        (gbees_progress){.kind = kind, .stream = stream, .seen_s = now, .began_s = now, .first = -1, .left_s = -1};
}

/* Rates are those of the last moments: the number of cells grows, and with it the time of a step. The time left is
 * told by the mean pace: a single delay of the machine does not make much of it. */
static void measure(gbees_progress *p, double fraction, const gbees_totals *totals)
{
    const double now = gbees_seconds_now(), seconds = now - p->seen_s;
    const double updates = totals->cell_updates - p->seen_updates;
    const double steps = (double)totals->steps - p->seen_steps;

    if (seconds <= 0 || steps <= 0)
        return;
    p->cells = updates / steps;
    p->cells_per_s = updates / seconds;
    if (p->first < 0) {
        p->first = fraction;
        p->first_s = now;
    } else if (fraction > p->first)
        p->left_s = (now - p->first_s) * (1 - fraction) / (fraction - p->first);
    p->seen_s = now;
    p->seen_updates = totals->cell_updates;
    p->seen_steps = (double)totals->steps;
}

static void draw_bar(gbees_progress *p, double time, double fraction, const gbees_totals *totals)
{
    char cells[32], rate[32], eta[32] = "-", bar[BAR_WIDTH + 1];
    const int filled = (int)(fraction * BAR_WIDTH);

    memset(bar, ' ', BAR_WIDTH);
    memset(bar, '#', (size_t)filled);
    bar[BAR_WIDTH] = '\0';
    gbees_units_count(cells, sizeof cells, p->cells);
    gbees_units_count(rate, sizeof rate, p->cells_per_s);
    if (p->left_s >= 0)
        gbees_units_duration(eta, sizeof eta, p->left_s);
    (void)fprintf(p->stream, "\r[%s] %3d%%  t %.4g  %llu steps  %s cells  %s/s  ETA %s\033[K", bar,
                  (int)(100 * fraction), time, (unsigned long long)totals->steps, cells, rate, eta);
    (void)fflush(p->stream);
    p->drawn = 1;
}

static void print_json(const gbees_progress *p, double time, double fraction, const gbees_totals *totals)
{
    char *line = gbees_jsonl_progress(time, fraction, totals);

    if (line) /* progress that can't be printed does not end the run */
        (void)fprintf(p->stream, "%s\n", line);
    (void)fflush(p->stream);
    free(line);
}

void gbees_progress_clear(gbees_progress *progress)
{
    if (!progress->drawn)
        return;
    (void)fputs("\r\033[K", progress->stream);
    (void)fflush(progress->stream);
    progress->drawn = 0;
}

/* Says on standard error, once, that the run would take days. On a busy machine the last moments say little. */
static void warn_of_length(gbees_progress *p, double time)
{
    char left[32];

    if (p->has_warned || p->seen_s - p->began_s < first_look || p->left_s < long_run)
        return;
    p->has_warned = 1;
    gbees_progress_clear(p);
    (void)fprintf(stderr,
                  "gbees-run: warning: from t = %.4g on this run will take some %s: end it earlier (--until)\n", time,
                  gbees_units_rough(left, sizeof left, p->left_s));
}

void gbees_progress_show(gbees_progress *progress, double time, double fraction, const gbees_totals *totals)
{
    measure(progress, fraction, totals);
    warn_of_length(progress, time);
    if (progress->kind == GBEES_PROGRESS_NONE)
        return;
    if (progress->kind == GBEES_PROGRESS_BAR)
        draw_bar(progress, time, fraction, totals);
    else
        print_json(progress, time, fraction, totals);
}
