/* simulation_file.c - a simulated truth and its measurements as tables that can be read again: see gbees/truth.h.
 */
#include "base/text.h"
#include "results/folder/store.h"
#include "scenario/measurement_columns.h"
#include <gbees/gbees.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_number(gbees_text *out, double value)
{
    char text[GBEES_NUMBER_TEXT];

    gbees_text_add(out, ",%s", gbees_number_write(value, text));
}

static void add_time(gbees_text *out, double time)
{
    char text[GBEES_NUMBER_TEXT];

    gbees_text_add(out, "%s", gbees_number_write(time, text));
}

static void add_unit(gbees_text *out, const gbees_quantity *quantity)
{
    if (quantity->unit && quantity->unit[0] && strcmp(quantity->unit, "-") != 0)
        gbees_text_add(out, " [%s]", quantity->unit);
}

/* ---- the truth --------------------------------------------------------------------------------------------- */

static void add_truth(gbees_text *out, const gbees_model *model, const gbees_truth *truth)
{
    const size_t n = (size_t)truth->dimension;

    gbees_text_add(out, "time");
    for (size_t j = 0; j < n; j++) {
        gbees_text_add(out, ",%s", model->states[j].name);
        add_unit(out, &model->states[j]);
    }
    gbees_text_add(out, "\n");
    for (size_t i = 0; i < truth->count; i++) {
        add_time(out, truth->time[i]);
        for (size_t j = 0; j < n; j++)
            add_number(out, truth->x[i * n + j]);
        gbees_text_add(out, "\n");
    }
}

/* ---- measurements ------------------------------------------------------------------------------------------ */

/* What is written of a function's measurements. */
typedef struct usage {
    const gbees_measurement_function *function;
    int count, is_correlated;
} usage;

typedef struct writing {
    const gbees_model *model;
    const gbees_measurement *measurements;
    size_t count;
    usage *use; /* [model->measurement_count] */
    gbees_text out;
} writing;

static void find_use(writing *w)
{
    for (int f = 0; f < w->model->measurement_count; f++)
        w->use[f].function = &w->model->measurements[f];
    for (size_t i = 0; i < w->count; i++) {
        const gbees_measurement *m = &w->measurements[i];

        w->use[m->function].count++;
        for (int a = 0; a < m->size; a++)
            for (int b = 0; b < a; b++)
                w->use[m->function].is_correlated |= m->covariance[a * m->size + b] != 0;
    }
}

/* Whether another function of the model has a component of this name. */
static int is_shared(const writing *w, const gbees_measurement_function *function, const char *name)
{
    char text[GBEES_COMPONENT_TEXT];

    for (int f = 0; f < w->model->measurement_count; f++)
        for (int c = 0; &w->model->measurements[f] != function && c < w->model->measurements[f].size; c++)
            if (strcmp(gbees_component_name(&w->model->measurements[f], c, text), name) == 0 ||
                strcmp(w->model->measurements[f].name, name) == 0)
                return 1;
    return 0;
}

static void add_name(writing *w, const gbees_measurement_function *function, int component)
{
    char text[GBEES_COMPONENT_TEXT];
    const char *name = gbees_component_name(function, component, text);

    if (is_shared(w, function, name))
        gbees_text_add(&w->out, "%s.", function->name);
    gbees_text_add(&w->out, "%s", name);
}

static void add_header(writing *w)
{
    gbees_text_add(&w->out, "time");
    for (const usage *use = w->use; use < w->use + w->model->measurement_count; use++) {
        const int size = use->count ? use->function->size : 0;

        for (int c = 0; c < size; c++) {
            gbees_text_add(&w->out, ",");
            add_name(w, use->function, c);
            if (use->function->components)
                add_unit(&w->out, &use->function->components[c]);
        }
        for (int a = 0; a < size; a++) {
            for (int b = use->is_correlated ? 0 : a; b <= a; b++) {
                gbees_text_add(&w->out, use->is_correlated ? ",cov_" : ",sigma_");
                add_name(w, use->function, a);
                gbees_text_add(&w->out, use->is_correlated ? "_" : "");
                if (use->is_correlated)
                    add_name(w, use->function, b);
            }
        }
    }
    gbees_text_add(&w->out, "\n");
}

/* The cells of one function in a row: empty unless it was measured. */
static void add_cells(writing *w, const usage *use, const gbees_measurement *m)
{
    const int size = use->count ? use->function->size : 0,
              is_it = use->function == &w->model->measurements[m->function];

    for (int c = 0; c < size; c++) {
        if (is_it && !(m->missing >> c & 1))
            add_number(&w->out, m->value[c]);
        else
            gbees_text_add(&w->out, ",");
    }
    for (int a = 0; a < size; a++)
        for (int b = use->is_correlated ? 0 : a; b <= a; b++) {
            const double entry = is_it ? m->covariance[a * size + b] : 0;

            if (is_it)
                add_number(&w->out, use->is_correlated ? entry : sqrt(entry));
            else
                gbees_text_add(&w->out, ",");
        }
}

static void add_measurements(writing *w)
{
    find_use(w);
    add_header(w);
    for (size_t i = 0; i < w->count; i++) {
        add_time(&w->out, w->measurements[i].time);
        for (const usage *use = w->use; use < w->use + w->model->measurement_count; use++)
            add_cells(w, use, &w->measurements[i]);
        gbees_text_add(&w->out, "\n");
    }
}

/* ---- the folder -------------------------------------------------------------------------------------------- */

static int write_text(const gbees_store *store, const char *name, gbees_text *out, gbees_error *error)
{
    const size_t length = out->length;
    char *text = gbees_text_take(out);

    if (!text)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to write %s", name);
    const int status = gbees_store_write(store, name, text, length, error);
    free(text);
    return status;
}

static int write_files(const gbees_store *store, const gbees_simulation *simulation, gbees_error *error)
{
    const gbees_model *model = simulation->problem->model;
    writing w = {.model = model, .measurements = simulation->measurements, .count = simulation->count};
    gbees_text truth = {0};

    w.use = calloc((size_t)model->measurement_count + 1, sizeof *w.use);
    if (!w.use)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to write measurements");
    gbees_text_add(&truth, "# %s\n", simulation->remark);
    add_truth(&truth, model, simulation->truth);
    gbees_text_add(&w.out, "# %s\n", simulation->remark);
    add_measurements(&w);
    free(w.use);
    int status = write_text(store, "truth.csv", &truth, error);
    if (!status)
        status = write_text(store, "measurements.csv", &w.out, error);
    gbees_text_free(&truth);
    gbees_text_free(&w.out);
    return status;
}

int gbees_simulation_write(const gbees_simulation *simulation, const char *folder, gbees_error *error)
{
    gbees_store store;
    int status = gbees_store_open(folder, &store, error);

    if (status)
        return status;
    status = write_files(&store, simulation, error);
    gbees_store_close(&store);
    return status;
}
