/* watch.c - samples a target's function along a step, and finds its minima between the samples; see watch.h. */
#include "watch.h"
#include <gbees/record.h>
#include <math.h>

enum {
    SAMPLES = 8, /* of a step, beside its start: steps of order 8 are short enough that g has one minimum in a few */
    MOST = 60    /* evaluations of g for a minimum */
};

/* A minimum is found to this part of the distance between samples: g then is off by its square. */
static const double found_to = 1e-6;

/* A target's function along a step. */
typedef struct course {
    const gbees_watched_step *step;
    int target;
    double g[SAMPLES + 1];
} course;

static void values_at(const course *c, size_t count, const double *part, double *g)
{
    const gbees_watched_step *step = c->step;
    double x[GBEES_MAX_DIM][SAMPLES + 1];
    const double *column[GBEES_MAX_DIM] = {NULL};

    for (int j = 0; j < step->problem->dimension; j++) {
        column[j] = x[j];
        for (size_t i = 0; i < count; i++)
            x[j][i] = gbees_dormand_prince_dense_at(step->x[j], step->term[j], part[i]);
    }
    /* A function of the time, too: one point at a time. */
    for (size_t i = 0; i < count; i++) {
        const double *here[GBEES_MAX_DIM] = {NULL};

        for (int j = 0; j < step->problem->dimension; j++)
            here[j] = column[j] + i;
        gbees_target_values(step->problem, c->target, step->time + part[i] * step->length, 1, here, g + i);
    }
}

static double value_at(const course *c, double part)
{
    double g;

    values_at(c, 1, &part, &g);
    return g;
}

/* The least value between two parts of the step: by parabolas, and golden sections where these do not narrow it
 * (R. P. Brent, Algorithms for Minimization without Derivatives, 1973, chapter 5). */
static double find_minimum(const course *c, double low, double high)
{
    const double golden = 0.381966011250105, enough = found_to * (high - low);
    double x = low + golden * (high - low), w = x, v = x, step = 0, before = 0;
    double fx = value_at(c, x), fw = fx, fv = fx;

    for (int k = 0; k < MOST; k++) {
        const double middle = (low + high) / 2;
        double p = 0, q = 0;

        if (fabs(x - middle) <= 2 * enough - (high - low) / 2)
            break;
        if (fabs(before) > enough) {
            const double r = (x - w) * (fx - fv);

            q = (x - v) * (fx - fw);
            p = (x - v) * q - (x - w) * r;
            q = 2 * (q - r);
            p = q > 0 ? -p : p;
            q = fabs(q);
        }
        if (q > 0 && fabs(p) < fabs(q * before / 2) && p > q * (low - x) && p < q * (high - x)) {
            before = step;
            step = p / q;
        } else {
            before = x < middle ? high - x : low - x;
            step = golden * before;
        }
        const double u = x + (fabs(step) >= enough ? step : copysign(enough, step)), fu = value_at(c, u);
        if (fu <= fx) {
            *(u < x ? &high : &low) = x;
            v = w, fv = fw;
            w = x, fw = fx;
            x = u, fx = fu;
        } else {
            *(u < x ? &low : &high) = u;
            if (fu <= fw || w == x) {
                v = w, fv = fw;
                w = u, fw = fu;
            } else if (fu <= fv || v == x || v == w) {
                v = u, fv = fu;
            }
        }
    }
    return fx;
}

/* The least value about sample m, which is no larger than those beside it; only found if it may be below `least`. */
static double least_about(const course *c, int m, double least)
{
    const double here = c->g[m], apart = 1.0 / SAMPLES, at = m * apart;
    const double below = m > 0 ? c->g[m - 1] : here, above = m < SAMPLES ? c->g[m + 1] : here;
    const double hint = 1e-3 * apart;

    if (!(here - fmax(below - here, above - here) < least))
        return here;
    /* At an end g may as well go on to fall beyond it. */
    if ((m == 0 && value_at(c, hint) >= here) || (m == SAMPLES && value_at(c, 1 - hint) >= here))
        return here;
    return fmin(here, find_minimum(c, m > 0 ? at - apart : 0, m < SAMPLES ? at + apart : 1));
}

/* The least value in the part of the step about sample m, or that at the sample. */
static double lower(const course *c, int m, double least)
{
    const int falls = m > 0 && c->g[m - 1] < c->g[m], rises = m < SAMPLES && c->g[m + 1] < c->g[m];

    if (isnan(c->g[m]))
        return NAN;
    return falls || rises ? c->g[m] : least_about(c, m, least);
}

static int absorbs(const gbees_problem *problem, int k)
{
    return problem->targets[k].kind == GBEES_TARGET_ABSORB;
}

void gbees_watch_step(const gbees_watched_step *step, double *const *lowest, size_t number)
{
    const gbees_problem *problem = step->problem;
    double part[SAMPLES + 1];
    course way[GBEES_MAX_TARGETS];
    int entered = -1;

    for (int m = 0; m <= SAMPLES; m++)
        part[m] = (double)m / SAMPLES;
    for (int k = 0; k < problem->target_count; k++) {
        if (!absorbs(problem, k))
            continue;
        way[k].step = step;
        way[k].target = k;
        values_at(&way[k], SAMPLES + 1, part, way[k].g);
        entered = entered < 0 && lowest[k][number] < 0 ? k : entered;
    }
    for (int m = 0; m <= SAMPLES; m++)
        for (int k = 0; k < problem->target_count; k++) {
            if (!absorbs(problem, k) || (entered >= 0 && entered != k) || isnan(lowest[k][number]))
                continue;
            const double least = lower(&way[k], m, lowest[k][number]);

            if (!(least >= lowest[k][number]))
                lowest[k][number] = least;
            entered = entered < 0 && lowest[k][number] < 0 ? k : entered;
        }
}

void gbees_watch_begin(const gbees_problem *problem, double time, size_t count, double *const *x,
                       double *const *lowest)
{
    for (int k = 0; k < problem->target_count; k++)
        if (absorbs(problem, k))
            gbees_target_values(problem, k, time, count, (const double *const *)x, lowest[k]);
}
