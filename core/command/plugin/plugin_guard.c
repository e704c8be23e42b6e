/* plugin_guard.c - gbees-plugin check: what the equations read and write beyond their arrays, and parameters that
 * they read and the card does not have; see plugin.h. A run has zeros there, so that a wrong index would be a wrong
 * drift without a word.
 *
 * Each equation is called at some points with arrays in the middle of larger ones. What it reads: one entry beyond an
 * array becomes NaN, and if a result changes it depends on that entry. What it writes: the results' array is filled
 * with a number that no equation gives. */
#include "plugin.h"
#include "results/run/provenance.h"
#include <dlfcn.h>
#include <math.h>
#include <string.h>

enum { N = GBEES_MAX_DIM, AROUND = 8, ENTRIES = N * N, IN = AROUND + N + AROUND, OUT = AROUND + ENTRIES + AROUND };

/* Arrays that an equation reads; of NOTHING no entry is poisoned. */
typedef enum array { OF_X, OF_Y, OF_P, NOTHING } array;

typedef int point_function(gbees_equation equation, int which, int n, double t, const double *x, const double *p,
                           const double *y, double *out);

/* An equation: of a measurement's function, if it has one. */
typedef struct subject {
    gbees_equation equation;
    const char *name, *result;
    int which, size;          /* entries of its result */
    const char *function;     /* its name, or NULL */
    int writes_all, measured; /* whether each entry must be written; components of the y that it reads, or 0 */
} subject;

typedef struct guard {
    const gbees_probe *probe;
    const gbees_problem *problem;
    point_function *point;
    int of_parameters; /* 1: parameters are looked at, and nothing else */
} guard;

/* No equation gives it. */
static double untouched(void)
{
    return -0x1.a5a5a5a5a5a5ap-777;
}

static int is_untouched(double value)
{
    const double mark = untouched();

    return memcmp(&value, &mark, sizeof mark) == 0;
}

/* The mean, and points halfway to the corners of the initial box, in the model's axes. */
static void place(const guard *g, int number, double *x)
{
    double y[N];

    for (int j = 0; j < g->problem->dimension; j++) {
        const double half = number == 0 ? 0 : (number - 1) >> j & 1 ? 0.5 : -0.5;

        y[j] = g->problem->mean[j] + half * g->problem->extent[j] * g->problem->width[j];
    }
    gbees_problem_point(g->problem, y, x);
}

/* Evaluates at a point; entry `poisoned` of an array, counted from the first, is NaN. */
static void evaluate(const guard *g, const subject *s, int number, array of, int poisoned, double *out)
{
    double x[IN], y[IN], p[GBEES_PARAMETER_VALUES];

    for (int i = 0; i < IN; i++)
        x[i] = y[i] = 0.5;
    place(g, number, x + AROUND);
    for (int i = g->problem->dimension; i < N; i++)
        x[AROUND + i] = 0.5;
    memcpy(p, g->problem->parameters, sizeof p);
    if (of != NOTHING)
        *(of == OF_P ? &p[poisoned] : of == OF_Y ? &y[AROUND + poisoned] : &x[AROUND + poisoned]) = NAN;
    for (int i = 0; i < OUT; i++)
        out[i] = untouched();
    (void)g->point(s->equation, s->which, g->problem->dimension, g->problem->start, x + AROUND, p, y + AROUND,
                   out + AROUND);
}

static void name_subject(const subject *s, char *text, size_t size)
{
    (void)snprintf(text, size, "%s()%s%s%s", s->name, s->function ? " of '" : "", s->function ? s->function : "",
                   s->function ? "'" : "");
}

/* Whether entries of an array beyond the first `count` change a result; reports the first. */
static int reads_beyond(const guard *g, const subject *s, array of, int count, int number)
{
    const char *name = of == OF_X ? "x" : s->equation == GBEES_EQUATION_JUMP ? "value" : "y";
    const int first = of == OF_P ? count : -AROUND, end = of == OF_P ? GBEES_MAX_PARAMETERS : N + AROUND;
    double before[OUT], after[OUT];
    char text[128];

    evaluate(g, s, number, NOTHING, 0, before);
    for (int i = first; i < end; i++) {
        if (i >= 0 && i < count)
            continue;
        evaluate(g, s, number, of, i, after);
        if (memcmp(before, after, sizeof before) == 0)
            continue;
        evaluate(g, s, number, NOTHING, 0, after);
        if (memcmp(before, after, sizeof before) != 0)
            return 0; /* it remembers something, which the check of batches says */
        if (of == OF_P) {
            gbees_probe_report(g->probe, GBEES_PROBE_FAILED,
                               "%s() reads p[%d], and the card has %d parameter%s: add one to the card, or mend the "
                               "index, which begins at 0",
                               s->name, i, count, count == 1 ? "" : "s");
            return 1;
        }
        name_subject(s, text, sizeof text);
        gbees_probe_report(g->probe, GBEES_PROBE_FAILED, "%s reads %s[%d], and there are %d, from %s[0] to %s[%d]",
                           text, name, i, count, name, name, count - 1);
        return 1;
    }
    return 0;
}

/* Whether entries beyond the result are written at a point; marks those of the result in `written`. */
static int writes_beyond(const guard *g, const subject *s, int number, int *written)
{
    double out[OUT];
    char text[128];

    evaluate(g, s, number, NOTHING, 0, out);
    for (int i = -AROUND; i < ENTRIES + AROUND; i++) {
        const int is_set = !is_untouched(out[AROUND + i]);

        if (i >= 0 && i < s->size)
            written[i] |= is_set;
        else if (is_set) {
            name_subject(s, text, sizeof text);
            gbees_probe_report(g->probe, GBEES_PROBE_FAILED,
                               "%s writes %s[%d], and its size is %d: it writes %s[0] to %s[%d]", text, s->result, i,
                               s->size, s->result, s->result, s->size - 1);
            return 1;
        }
    }
    return 0;
}

/* Checks an equation at all points; returns 0 after a report. */
static int keeps_to(const guard *g, const subject *s)
{
    int written[ENTRIES] = {0};
    char text[128];

    for (int number = 0; number <= 1 << g->problem->dimension; number++)
        if (g->of_parameters ? reads_beyond(g, s, OF_P, g->problem->model->parameter_count, number)
                             : reads_beyond(g, s, OF_X, g->problem->dimension, number) ||
                                   (s->measured && reads_beyond(g, s, OF_Y, s->measured, number)) ||
                                   writes_beyond(g, s, number, written))
            return 0;
    for (int i = 0; i < s->size && s->writes_all && !g->of_parameters; i++)
        if (!written[i]) {
            name_subject(s, text, sizeof text);
            gbees_probe_report(g->probe, GBEES_PROBE_FAILED,
                               "%s never writes %s[%d]: it has %d component%s; look at its case, which = %d", text,
                               s->result, i, s->size, s->size == 1 ? "" : "s", s->which);
            return 0;
        }
    return 1;
}

/* Whether a function is measured in the problem, or would be sound to: a dimension may lack its state. */
static int must_work(const gbees_problem *problem, int function)
{
    int used = problem->dimension == problem->model->dim_max;

    for (int i = 0; i < problem->measurement_count; i++)
        used |= problem->measurements[i].function == function;
    return used;
}

static int check_all(const guard *g)
{
    const gbees_functions *functions = g->problem->functions;
    const gbees_model *model = g->problem->model;
    const int n = g->problem->dimension, full = model->diffusion == GBEES_FULL;
    const subject drift = {.equation = GBEES_EQUATION_DRIFT, .name = "drift", .result = "dxdt", .size = n},
                  bound = {.equation = GBEES_EQUATION_BOUND, .name = "bound", .result = "out", .size = 1},
                  diffusion = {.equation = GBEES_EQUATION_DIFFUSION,
                               .name = "diffusion",
                               .result = "Q",
                               .size = full ? n * n : n};
    int good = keeps_to(g, &drift) && (!functions->bound_d || keeps_to(g, &bound)) &&
               (!functions->diffusion_d || keeps_to(g, &diffusion));

    for (int k = 0; good && functions->target_d && k < model->target_count; k++) {
        const subject target = {GBEES_EQUATION_TARGET, "target", "out", k, 1, model->targets[k].name, 0, 0};

        good = keeps_to(g, &target);
    }
    for (int k = 0; good && functions->jump_d && k < model->jump_count; k++) {
        const gbees_jump_function *f = &model->jumps[k];
        const subject jump = {GBEES_EQUATION_JUMP, "jump", "to", k, n, f->name, 1, f->size};

        good = keeps_to(g, &jump);
    }
    for (int k = 0; good && k < model->measurement_count; k++) {
        const gbees_measurement_function *f = &model->measurements[k];
        const subject measure = {GBEES_EQUATION_MEASURE, "measure", "y", k, f->size, f->name, 1, 0},
                      likelihood = {
                          GBEES_EQUATION_LOG_LIKELIHOOD, "log_likelihood", "out", k, 1, f->name, 0, f->size};

        if (!must_work(g->problem, k))
            continue;
        good = (!functions->measure_d || keeps_to(g, &measure)) &&
               (!functions->log_likelihood_d || keeps_to(g, &likelihood));
    }
    return good;
}

/* Checks all equations. Returns 1, 0 after a report, or -1 if they can't be called at a point. */
static int guard_all(const gbees_probe *probe, const gbees_problem *problem, int of_parameters)
{
    guard g = {.probe = probe, .problem = problem, .of_parameters = of_parameters};
    void *plugin = dlopen(gbees_model_path(probe->model), RTLD_NOW | RTLD_LOCAL);
    void *found = plugin ? dlsym(plugin, "gbees_model_point") : NULL;
    int good = -1;

    if (found) {
        memcpy(&g.point, &found, sizeof found);
        good = check_all(&g);
    }
    if (plugin)
        (void)dlclose(plugin);
    return good;
}

int gbees_probe_beyond(const gbees_probe *probe, const gbees_problem *problem)
{
    return guard_all(probe, problem, 1) == 0;
}

int gbees_probe_guard(const gbees_probe *probe, const gbees_problem *problem, const char *name)
{
    gbees_probe_report(probe, GBEES_PROBE_BEGIN, "arrays, %s", name);
    const int good = guard_all(probe, problem, 0);
    if (good > 0)
        gbees_probe_report(probe, GBEES_PROBE_OK, "each equation keeps to them");
    else if (good < 0)
        gbees_probe_report(probe, GBEES_PROBE_NOTE,
                           "not checked: it was compiled by an earlier gbees: build it again");
    return good != 0;
}
