/* kernel_fields.c - see kernel_fields.h.  Needs nothing but the kernels, the grid and the C library, so that it can
 * be built for another processor. */
#include "kernel_fields.h"
#include "base/sha256.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    VELOCITY = 0,
    RATE = 8,
    ROTATION = 16,
    HOLE_HALF = 19,
    BEND = 20,
    DIMENSION = 23
}; /* advect's; the last is the noise's */

extern const gbees_model gbees_model_card;

typedef struct fields {
    fields_case how;
    const kernel *kernel;
    FILE *out;
    grid g;
    kernel_context c;
    size_t real, cells;
    void *p, *s, *next;
    uint64_t *active, *flow, *inside;
    unsigned char *diverging;
    uint16_t *one_signed;
    double *rate;
    void *offsets[GBEES_MAX_DIM];
    float parameters_f[GBEES_PARAMETER_VALUES];
    double parameters_d[GBEES_PARAMETER_VALUES];
    kernel_scratch scratch;
    uint64_t seed;
} fields;

fields_case fields_case_of(int number)
{
    const int kind = number % 3;

    return (fields_case){1 + number / 3, 64, kind == 0, kind == 2, 0, 0};
}

/* The tests' own trouble. */
static void must(int ok)
{
    if (!ok) {
        (void)fprintf(stderr, "kernel_fields: no memory\n");
        abort();
    }
}

/* splitmix64. */
static uint64_t any(fields *f)
{
    uint64_t z = f->seed += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double uniform(fields *f)
{
    return (double)(any(f) >> 11) / 9007199254740992.0;
}

/* ---- the hashes ----------------------------------------------------------------------------------------------- */

/* Of a row a used brick, and of the sums.  What flows out is summed up in the order that cells have in planes, which
 * is the vectors': of that ten digits. */
static void print(fields *f, const char *name, const void *rows, size_t size, const kernel_sums *sums)
{
    const kernel_sums none = {0}, *s = sums ? sums : &none;
    const size_t length = f->g.count * size;
    char hex[GBEES_SHA256_HEX], *all = malloc(length);

    must(all != NULL);
    for (uint32_t k = 0; k < f->g.count; k++)
        memcpy(all + k * size, (const char *)rows + f->g.used[k] * size, size);
    gbees_sha256(all, length, hex);
    free(all);
    (void)fprintf(f->out, "n=%d cells=%d %s%s %-24s %.16s mass %a clipped %a outflow %.9e\n", f->how.n, f->how.cells,
                  f->how.f64 ? "double" : "float", f->how.drift_f64 ? "-wide" : "", name, hex, s->mass, s->clipped,
                  s->outflow);
}

static void print_rows(fields *f, const char *name, const void *rows, const kernel_sums *sums)
{
    print(f, name, rows, f->cells * f->real, sums);
}

static void print_moments(fields *f)
{
    kernel_moments m;

    f->kernel->moments(&f->c, f->p, 0, f->g.count, &m);
    (void)fprintf(f->out, "n=%d cells=%d %s moments mass %a log %a peak %a in %u at %d", f->how.n, f->how.cells,
                  f->how.f64 ? "double" : "float", m.mass, m.log, m.peak, m.peak_slot, m.peak_cell);
    for (int j = 0; j < f->how.n; j++)
        (void)fprintf(f->out, " %a", m.first[j]);
    for (int j = 0; j < f->how.n * (f->how.n + 1) / 2; j++)
        (void)fprintf(f->out, " %a", m.second[j]);
    (void)fprintf(f->out, "\n");
}

/* ---- grid and density ------------------------------------------------------------------------------------------ */

/* Seven bricks of ten of a box. */
static void make_grid(fields *f)
{
    const int n = f->how.n, most = 40;
    int edge = (int)pow(most, 1.0 / n) + 1;
    long bricks = 1;
    struct {
        void **data;
        size_t size;
    } rows[] = {{&f->p, f->cells * f->real},
                {&f->s, f->cells * f->real},
                {&f->next, f->cells * f->real},
                {(void **)&f->active, sizeof *f->active},
                {(void **)&f->flow, (size_t)(2 * n) * sizeof *f->flow},
                {(void **)&f->inside, sizeof *f->inside},
                {(void **)&f->diverging, sizeof *f->diverging},
                {(void **)&f->one_signed, sizeof *f->one_signed},
                {(void **)&f->rate, sizeof *f->rate}};

    must(!grid_create(&f->g, n, f->how.cells, NULL));
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        must(!grid_register(&f->g, rows[k].data, rows[k].size, 0, NULL));
    for (int j = 0; j < n; j++)
        bricks *= edge;
    must(!grid_reserve(&f->g, (uint64_t)bricks, NULL));
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        memset(*rows[k].data, 0, rows[k].size * f->g.capacity);
    for (long k = 0; k < bricks; k++) {
        int32_t key[GBEES_MAX_DIM];
        long rest = k;

        for (int j = 0; j < n; j++, rest /= edge)
            key[j] = (int32_t)(rest % edge) - edge / 2;
        if (uniform(f) < 0.7)
            f->inside[grid_insert(&f->g, key)] = any(f) | any(f) | any(f);
    }
}

/* Zeros, values of all magnitudes, and some that count for nothing. */
static void fill(fields *f)
{
    for (uint32_t k = 0; k < f->g.count; k++)
        for (size_t i = 0; i < f->cells; i++) {
            const size_t at = f->g.used[k] * f->cells + i;
            double x = uniform(f), kind = uniform(f);

            x = kind < 0.2 ? 0 : kind < 0.5 ? x : kind < 0.9 ? x * x * x * x * x * x * x * x * 1e-3 : x * 1e-32;
            if (f->how.f64)
                ((double *)f->p)[at] = x;
            else
                ((float *)f->p)[at] = (float)x;
        }
}

/* ---- the drift ------------------------------------------------------------------------------------------------- */

/* As backends/cpu/engine/setup.c does. */
static void make_points(fields *f, int axis)
{
    const gbees_shape *shape = &f->g.shape;
    const int edge = shape->edge[axis], lanes = shape->cells / edge, points = (edge + 3) * lanes;
    const size_t real = f->how.drift_f64 ? sizeof(double) : f->real;
    char *to = aligned_alloc(64, ((size_t)(points * f->how.n + edge + 3) * real + 63) / 64 * 64);

    must(to != NULL);
    f->offsets[axis] = to;
    for (int k = 0; k < f->how.n; k++) {
        double cells[64], planes[64];
        float narrow[64], split[64];

        for (int c = 0; c < shape->cells; c++)
            narrow[c] = (float)(cells[c] = gbees_shape_local(shape, c, k));
        f->kernel->to_planes(&f->g, axis, f->how.f64 ? (void *)cells : (void *)narrow,
                             f->how.f64 ? (void *)planes : (void *)split);
        for (int i = 0; i < points; i++) {
            double own = f->how.f64 ? planes[i % lanes] : (double)split[i % lanes];
            double x = f->c.geometry.width[k] * (k == axis ? i / lanes - 1.5 : own);

            if (real == sizeof(float))
                ((float *)(void *)to)[k * points + i] = (float)x;
            else
                ((double *)(void *)to)[k * points + i] = x;
        }
        f->c.drift.axis[axis].offset[k] = to + (size_t)(k * points) * real;
        f->c.drift.axis[axis].inner[k] = to + (size_t)(k * points + lanes) * real;
        f->c.drift.axis[axis].upper[k] = to + (size_t)(k * points + 2 * lanes) * real;
    }
    to += (size_t)(points * f->how.n) * real;
    f->c.drift.axis[axis].along = to;
    for (int i = 0; i < edge + 3; i++) {
        double x = f->c.geometry.width[axis] * (i - 1.5);

        if (real == sizeof(float))
            ((float *)(void *)to)[i] = (float)x;
        else
            ((double *)(void *)to)[i] = x;
    }
}

/* Q of a state: along each axis, and of either sign between two. */
static double noise_entry(int j, int k, const double *x, const double *p)
{
    return j == k ? 0.02 + 0.01 * x[j] * x[j] : 0.003 * p[VELOCITY + j] * p[VELOCITY + k] * (1 + x[j] * x[k]);
}

static void noise(size_t count, const double *origin, const double *const *offset, const double *p, int full,
                  double *const *out)
{
    const int n = (int)p[DIMENSION];

    for (size_t i = 0; i < count; i++) {
        double x[GBEES_MAX_DIM];

        for (int j = 0; j < n; j++)
            x[j] = origin[j] + offset[j][i];
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                if (full || j == k)
                    out[full ? j * n + k : j][i] = noise_entry(j, k, x, p);
    }
}

static void diagonal_noise(size_t count, double t, const double *origin, const double *const *offset, const double *p,
                           double *const *out)
{
    (void)t;
    noise(count, origin, offset, p, 0, out);
}

static void full_noise(size_t count, double t, const double *origin, const double *const *offset, const double *p,
                       double *const *out)
{
    (void)t;
    noise(count, origin, offset, p, 1, out);
}

static void make_context(fields *f)
{
    const gbees_functions *functions = &gbees_model_card.functions[f->how.n - gbees_model_card.dim_min];
    kernel_context *c = &f->c;

    for (int j = 0; j < f->how.n; j++) {
        f->parameters_d[VELOCITY + j] = (j % 2 ? -0.31 : 0.27) + 0.02 * j;
        f->parameters_d[RATE + j] = j % 3 == 0 && f->how.n > 1 ? -0.83 : 0.41;
    }
    f->parameters_d[ROTATION] = 0.77;
    f->parameters_d[BEND] = 0.53;
    f->parameters_d[HOLE_HALF] = -1;
    f->parameters_d[DIMENSION] = f->how.n;
    for (int k = 0; k < GBEES_PARAMETER_VALUES; k++)
        f->parameters_f[k] = (float)f->parameters_d[k];
    *c = (kernel_context){
        .g = &f->g,
        .n = f->how.n,
        .threshold = 1e-3,
        .drift = {.f64 = f->how.drift_f64, .parameters_d = f->parameters_d, .parameters_f = f->parameters_f},
        .scheme = {.order = 5},
        .rows = {.p = f->p, .s = f->s, .next = f->next, .active = f->active},
        .flow = {.leaving = f->flow, .rate = f->rate, .diverging = f->diverging, .one_signed = f->one_signed},
    };
    for (int d = 0; d < 2 * f->how.n; d++)
        for (int cell = 0; cell < f->how.cells; cell++)
            c->noise.beside[d][cell] = (unsigned char)gbees_shape_beside(&f->g.shape, cell, d);
    for (int j = 0; j < f->how.n; j++) {
        const int by_planes = f->g.shape.cells / f->g.shape.edge[j] % GBEES_LANES == 0 && !f->how.apart;

        c->geometry.origin[j] = 0.137 + 0.0613 * j;
        c->geometry.width[j] = 0.2 + 0.013 * j;
        c->noise.over_width[j] = 1 / c->geometry.width[j];
        c->geometry.brick_width[j] = c->geometry.width[j] * f->g.shape.edge[j];
        c->drift.axis[j] = (kernel_axis){.edge = f->g.shape.edge[j],
                                         .width = c->geometry.width[j],
                                         .component_f = functions->component_f[j],
                                         .component_d = functions->component_d[j],
                                         .planes_f = by_planes ? functions->planes_f[j] : NULL,
                                         .planes_d = by_planes ? functions->planes_d[j] : NULL};
    }
    for (int j = 0; j < f->how.n; j++)
        make_points(f, j);
}

/* ---- the kernels ----------------------------------------------------------------------------------------------- */

/* Also sets the step: this Courant number. */
static void inspect(fields *f, int rate_is_sum, double courant)
{
    double most = 0;

    f->c.scheme.rate_is_sum = rate_is_sum;
    f->kernel->inspect(&f->c, f->g.used, f->g.count);
    print(f, "inspect: flow", f->flow, (size_t)(2 * f->how.n) * sizeof *f->flow, NULL);
    print(f, "inspect: rate", f->rate, sizeof *f->rate, NULL);
    print(f, "inspect: diverging", f->diverging, sizeof *f->diverging, NULL);
    print(f, "inspect: one-signed", f->one_signed, sizeof *f->one_signed, NULL);
    for (uint32_t k = 0; k < f->g.count; k++) {
        const uint32_t slot = f->g.used[k];
        const size_t directions = (size_t)(2 * f->how.n);
        uint64_t flow[2 * GBEES_MAX_DIM];

        f->kernel->find_flow(&f->c, slot, flow);
        must(!memcmp(flow, f->flow + slot * directions, directions * sizeof *flow));
        most = fmax(most, f->rate[slot]);
    }
    f->c.step = courant / most;
}

static void run_ctu(fields *f)
{
    const uint32_t count = f->g.count;

    inspect(f, 1, 1);
    f->c.drift.time_dependent = f->how.blind;
    for (int bounded = 0; bounded < 2; bounded++) {
        kernel_sums sums = {0};

        f->c.rows.inside = bounded ? f->inside : NULL;
        f->kernel->transverse(&f->c, 0, count);
        print_rows(f, "ctu: S", f->s, NULL);
        f->kernel->update(&f->c, 0, count, &sums);
        print_rows(f, "ctu: P", f->next, &sums);
        print(f, "ctu: active", f->active, sizeof *f->active, NULL);
    }
}

static void run_split(fields *f, const char *name, int order, int preserving, int time_dependent)
{
    char text[64];
    uint32_t *first = malloc(f->g.count * sizeof *first);

    must(first != NULL);
    fill(f);
    inspect(f, 0, 1);
    f->c.scheme.order = order;
    f->c.scheme.preserving = preserving;
    f->c.drift.time_dependent = time_dependent;
    for (int axis = 0; axis < f->how.n; axis++) {
        kernel_sums sums = {0};
        int last = axis == f->how.n - 1;

        f->c.rows.inside = last && preserving ? f->inside : NULL;
        const kernel_pencils pencils = {axis, 1, last, 0, first, grid_pencils(&f->g, axis, 0, f->g.count, first)};

        must(!f->kernel->sweep(&f->c, &pencils, &f->scratch, &sums));
        (void)snprintf(text, sizeof text, "%s: axis %d", name, axis);
        print_rows(f, text, f->p, &sums);
    }
    free(first);
    print(f, "split: active", f->active, sizeof *f->active, NULL);
    f->c.rows.inside = NULL;
}

static void run_noise(fields *f, int full)
{
    kernel_sums first = {0}, last = {0};
    uint64_t above;
    double total;

    fill(f);
    f->c.noise.evaluate = full ? full_noise : diagonal_noise;
    f->c.noise.full = full;
    f->c.noise.step = 1e-4;
    f->c.noise.from = f->p;
    f->c.noise.to = f->next;
    f->kernel->diffuse(&f->c, KERNEL_NOISE_FIRST, 0, f->g.count, &first);
    print_rows(f, full ? "full Q: first half" : "diagonal Q: first half", f->next, &first);
    f->c.noise.from = f->next;
    f->c.noise.to = f->p;
    f->kernel->diffuse(&f->c, KERNEL_NOISE_LAST, 0, f->g.count, &last);
    print_rows(f, full ? "full Q: last half" : "diagonal Q: last half", f->p, &last);
    total = f->kernel->sum_rows(&f->c, f->p, 0, f->g.count);
    above = f->kernel->mark_rows(&f->c, f->p, 0.1, 0, f->g.count);
    print(f, "mark", f->active, sizeof *f->active, NULL);
    print_moments(f);
    (void)fprintf(f->out, "sum %a, %llu cells above\n", total, (unsigned long long)above);
}

void fields_write(FILE *out, const kernel_set *set, fields_case how)
{
    fields *f = calloc(1, sizeof *f);

    must(f != NULL);
    f->how = how;
    f->kernel = how.f64 ? set->f64 : set->f32;
    f->out = out;
    f->real = how.f64 ? sizeof(double) : sizeof(float);
    f->cells = (size_t)how.cells;
    make_grid(f);
    make_context(f);
    fill(f);
    run_ctu(f);
    run_split(f, "split5", 5, 0, 0);
    run_split(f, "split5, time-dependent", 5, 0, 1);
    run_split(f, "split5-mp", 5, 1, 0);
    run_split(f, "split7", 7, 0, 0);
    run_split(f, "split7, time-dependent", 7, 0, 1);
    run_split(f, "split7-mp", 7, 1, 0);
    run_split(f, "upwind", 1, 0, 0);
    run_noise(f, 0);
    if (how.n > 1 && how.n <= 6)
        run_noise(f, 1);
    for (int j = 0; j < how.n; j++)
        free(f->offsets[j]);
    for (int i = 0; i < 2; i++)
        free(f->scratch.pencil[i].storage);
    free(f->scratch.data);
    grid_destroy(&f->g);
    free(f);
}
