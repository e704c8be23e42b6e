/* gather.c - opens each selected record in turn, takes its marginals, joint densities and samples, and closes it;
 * chooses the pictured states and records. */
#include "gather.h"
#include "base/workers.h"
#include "region.h"
#include "ticks.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_PICTURED = 5, /* records of each group in one picture, unless --records names them */
    MOST_CELLS_1D = 1 << 20,
    MOST_CELLS_2D = 1 << 23,
    MOST_CELLS_3D = 1 << 25
};

const double gbees_surface_level[GBEES_SURFACES] = {0.011108996538242306, 0.1353352832366127, 0.6065306597126334};

size_t gbees_gallery_pick(size_t k, size_t most, size_t count)
{
    if (most >= count || most < 2)
        return k;
    return (k * (count - 1) + (most - 1) / 2) / (most - 1);
}

void gbees_gallery_span(const gbees_gallery *gallery, size_t first, size_t last, char *text, size_t size)
{
    const double range = gallery->shot[gallery->count - 1].time - gallery->shot[0].time;
    char from[64], to[64];

    gbees_ticks_time(gallery->shot[first].time, range, from, sizeof from);
    gbees_ticks_time(gallery->shot[last].time, range, to, sizeof to);
    if (strcmp(from, to) == 0)
        (void)snprintf(text, size, "t = %s", from);
    else
        (void)snprintf(text, size, "t = %s to %s", from, to);
}

/* Parses one item of --records at *text and moves on; `last` may be INT_MAX. */
static int parse_item(const char **text, long *leg, long *first, long *last)
{
    char *end;

    if (!isdigit((unsigned char)**text))
        return 0;
    *leg = strtol(*text, &end, 10);
    *first = 0;
    *last = 0x7fffffff;
    if (*end == ':') {
        if (!isdigit((unsigned char)end[1]))
            return 0;
        *first = *last = strtol(end + 1, &end, 10);
        if (*end == '-') {
            if (!isdigit((unsigned char)end[1]))
                return 0;
            *last = strtol(end + 1, &end, 10);
        }
    }
    if (*end != ',' && *end != '\0')
        return 0;
    *text = *end ? end + 1 : end;
    return *end == '\0' || **text != '\0';
}

int gbees_selection_valid(const char *text)
{
    long leg, first, last;

    if (!text)
        return 1;
    if (!*text)
        return 0;
    while (*text)
        if (!parse_item(&text, &leg, &first, &last))
            return 0;
    return 1;
}

static int is_selected(const char *text, int leg, int number)
{
    long l, first, last;

    if (!text)
        return 1;
    while (*text && parse_item(&text, &l, &first, &last))
        if (l == leg && first <= number && number <= last)
            return 1;
    return 0;
}

static int find_state(const gbees_gallery *gallery, const char *word)
{
    char *end;
    const long number = strtol(word, &end, 10);

    for (int d = 0; d < gallery->dimension; d++)
        if (strcmp(gallery->name[d], word) == 0)
            return d;
    return *word && !*end && number >= 1 && number <= gallery->dimension ? (int)number - 1 : -1;
}

static int choose_axes(gbees_gallery *gallery, const char *states, gbees_error *error)
{
    char copy[256], *rest = NULL;
    int count = 0;

    if (!states) {
        gallery->picture_dimension = gallery->dimension == 2 || gallery->dimension == 3 ? gallery->dimension : 0;
        for (int d = 0; d < gallery->picture_dimension; d++)
            gallery->picture_axis[d] = d;
        return GBEES_OK;
    }
    (void)snprintf(copy, sizeof copy, "%s", states);
    for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest), count++) {
        const int axis = find_state(gallery, word);

        if (axis < 0)
            return gbees_error_set(error, GBEES_EUSAGE,
                                   "--axes %s: there is no state '%s': give numbers from 1 to %d, or names", states,
                                   word, gallery->dimension);
        for (int d = 0; d < count && d < 3; d++)
            if (gallery->picture_axis[d] == axis)
                return gbees_error_set(error, GBEES_EUSAGE, "--axes %s: state '%s' is given twice", states, word);
        if (count < 3)
            gallery->picture_axis[count] = axis;
    }
    if (count != 2 && count != 3)
        return gbees_error_set(error, GBEES_EUSAGE, "--axes %s: give two or three states, for example 1,2,3", states);
    gallery->picture_dimension = count;
    return GBEES_OK;
}

static void describe(gbees_gallery *gallery, const gbees_snapshot *snapshot)
{
    gallery->dimension = snapshot->dimension;
    memcpy(gallery->model, snapshot->model, sizeof gallery->model);
    memcpy(gallery->name, snapshot->name, sizeof gallery->name);
    memcpy(gallery->unit, snapshot->unit, sizeof gallery->unit);
    for (int d = 0; d < gallery->dimension; d++)
        if (!gallery->name[d][0])
            (void)snprintf(gallery->name[d], sizeof gallery->name[d], "x%d", d + 1);
}

static int copy_samples(gbees_shot *shot, const gbees_snapshot *snapshot, gbees_error *error)
{
    const gbees_sample_list *list = &snapshot->samples;

    shot->samples = list->count;
    for (int d = 0; d < snapshot->dimension && list->count > 0; d++) {
        shot->sample[d] = malloc(list->count * sizeof *shot->sample[d]);
        if (!shot->sample[d])
            return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a record's samples");
        memcpy(shot->sample[d], list->x[d], list->count * sizeof *shot->sample[d]);
    }
    return GBEES_OK;
}

/* The record's own; in files without them those of what is drawn. */
static void set_moments(gbees_shot *shot, const gbees_snapshot *snapshot, int state)
{
    shot->mean[state] = snapshot->mean[state];
    shot->std[state] = sqrt(fmax(0, snapshot->covariance[state * snapshot->dimension + state]));
    if (isnan(snapshot->mean[state]))
        gbees_density_moments(shot->marginal[state], &shot->mean[state], &shot->std[state]);
}

static int add_shot(gbees_gallery *gallery, size_t place, const gbees_snapshot *snapshot, int with_samples,
                    gbees_error *error)
{
    gbees_shot *shot = &gallery->shot[gallery->count];

    if (gallery->count == 0)
        describe(gallery, snapshot);
    else if (snapshot->dimension != gallery->dimension)
        return gbees_error_set(error, GBEES_EINPUT, "leg %d, record %d has %d states, the records before it have %d",
                               snapshot->leg, snapshot->number, snapshot->dimension, gallery->dimension);
    gallery->count++;
    *shot = (gbees_shot){.place = place, .leg = snapshot->leg, .number = snapshot->number, .time = snapshot->time};
    shot->certified = snapshot->certified;
    shot->certificate = snapshot->certificate;
    for (int d = 0; d < gallery->dimension; d++) {
        const gbees_density_choice choice = {.dimension = 1, .axis = {d}, .factor = 8, .most = MOST_CELLS_1D};
        const int status = gbees_density_create(snapshot, &choice, &shot->marginal[d], error);

        if (status)
            return status;
        set_moments(shot, snapshot, d);
    }
    return with_samples ? copy_samples(shot, snapshot, error) : GBEES_OK;
}

static int read_marginals(gbees_gallery *gallery, const gbees_results *results, const gbees_choice *choice,
                          gbees_error *error)
{
    const char *folder = gallery->folder, *selection = choice->records;
    const size_t count = gbees_results_count(results);

    if (count == 0)
        return gbees_error_set(error, GBEES_EINPUT, "%s holds no records: run gbees-run --output %s first", folder,
                               folder);
    gallery->shot = calloc(count, sizeof *gallery->shot);
    if (!gallery->shot)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for %zu records", count);
    for (size_t k = 0; k < count; k++) {
        gbees_snapshot *snapshot;
        int status = gbees_results_read(results, k, &snapshot, error);

        if (status)
            return status;
        if (is_selected(selection, snapshot->leg, snapshot->number))
            status = add_shot(gallery, k, snapshot, choice->samples, error);
        gbees_snapshot_destroy(snapshot);
        if (status)
            return status;
    }
    if (gallery->count == 0)
        return gbees_error_set(error, GBEES_EUSAGE, "--records %s: %s has none of these", selection, folder);
    return GBEES_OK;
}

static int make_pairs(gbees_gallery *gallery, const gbees_snapshot *snapshot, gbees_error *error)
{
    for (int a = 0; a < gallery->dimension; a++)
        for (int b = a + 1; b < gallery->dimension; b++) {
            const gbees_density_choice choice = {.dimension = 2, .axis = {a, b}, .factor = 4, .most = MOST_CELLS_2D};
            const int status = gbees_density_create(snapshot, &choice, &gallery->pair[a][b], error);

            if (status)
                return status;
        }
    return GBEES_OK;
}

static void find_peak_place(const gbees_density *density, double peak[3])
{
    const size_t count = gbees_density_count(density);
    size_t best = 0;

    for (size_t i = 1; i < count; i++)
        if (density->value[i] > density->value[best])
            best = i;
    for (int d = 2; d >= 0; d--) {
        peak[d] = density->first[d] + density->width[d] * (double)(best % density->length[d]);
        best /= density->length[d];
    }
}

/* The surfaces of a density, which threads make side by side. */
typedef struct surfaces {
    const gbees_density *density;
    gbees_shot *shot;
    gbees_error failure[GBEES_SURFACES];
} surfaces;

static void make_surface(void *context, size_t k)
{
    surfaces *s = context;

    (void)gbees_mesh_add_isosurface(&s->shot->surface[k], s->density, gbees_surface_level[k] * s->density->peak,
                                    &s->failure[k]);
}

static int make_surfaces(const gbees_gallery *gallery, gbees_shot *shot, const gbees_snapshot *snapshot,
                         gbees_error *error)
{
    const int *axis = gallery->picture_axis;
    const gbees_density_choice choice = {
        .dimension = 3, .axis = {axis[0], axis[1], axis[2]}, .factor = 2, .most = MOST_CELLS_3D};
    gbees_density *density;
    int status = gbees_density_create(snapshot, &choice, &density, error);

    if (status)
        return status;
    surfaces all = {.density = density, .shot = shot};
    gbees_workers_run(0, GBEES_SURFACES, make_surface, &all);
    for (int k = 0; k < GBEES_SURFACES && !status; k++)
        if (all.failure[k].status)
            status = gbees_error_set(error, all.failure[k].status, "%s", all.failure[k].text);
    find_peak_place(density, shot->peak);
    gbees_density_destroy(density);
    return status;
}

static int make_joint(const gbees_gallery *gallery, gbees_shot *shot, const gbees_snapshot *snapshot,
                      gbees_error *error)
{
    const gbees_density_choice choice = {.dimension = 2,
                                         .axis = {gallery->picture_axis[0], gallery->picture_axis[1]},
                                         .factor = 4,
                                         .most = MOST_CELLS_2D};

    return gbees_density_create(snapshot, &choice, &shot->joint, error);
}

/* A few of the records before the first measurement, and a few of those after it. */
static void choose_pictured(gbees_gallery *gallery, int all)
{
    size_t before = 0;

    while (before < gallery->count && gallery->shot[before].leg == gallery->shot[0].leg)
        before++;
    for (int group = 0; group < 2; group++) {
        const size_t first = group ? before : 0, size = group ? gallery->count - before : before;
        const size_t shown = all || size < MOST_PICTURED ? size : MOST_PICTURED;

        for (size_t k = 0; k < shown; k++)
            gallery->shot[first + gbees_gallery_pick(k, shown, size)].pictured = 1;
    }
}

static int read_pictures(gbees_gallery *gallery, const gbees_results *results, gbees_error *error)
{
    for (size_t k = 0; k < gallery->count; k++) {
        gbees_shot *shot = &gallery->shot[k];
        const int wanted = gallery->picture_dimension && shot->pictured, is_last = k + 1 == gallery->count;
        gbees_snapshot *snapshot;
        int status;

        if (!wanted && !is_last)
            continue;
        status = gbees_results_read(results, shot->place, &snapshot, error);
        if (status)
            return status;
        if (wanted)
            status = gallery->picture_dimension == 3 ? make_surfaces(gallery, shot, snapshot, error)
                                                     : make_joint(gallery, shot, snapshot, error);
        if (!status && is_last)
            status = make_pairs(gallery, snapshot, error);
        gbees_snapshot_destroy(snapshot);
        if (status)
            return status;
    }
    return GBEES_OK;
}

static int fill(gbees_gallery *gallery, const gbees_results *results, const gbees_choice *choice, gbees_error *error)
{
    int status = read_marginals(gallery, results, choice, error);

    if (status || choice->is_plain)
        return status;
    status = choose_axes(gallery, choice->states, error);
    if (!status) {
        choose_pictured(gallery, choice->records != NULL);
        status = read_pictures(gallery, results, error);
    }
    return status;
}

int gbees_gallery_create(const char *folder, const gbees_choice *choice, gbees_gallery **gallery, gbees_error *error)
{
    gbees_gallery *made;
    gbees_results *results;
    int status = gbees_results_open(folder, &results, error);

    if (status)
        return status;
    made = calloc(1, sizeof *made);
    if (made)
        made->folder = strdup(folder);
    if (!made || !made->folder)
        status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory to read %s", folder);
    if (!status)
        status = fill(made, results, choice, error);
    gbees_results_destroy(results);
    if (!status)
        status = gbees_series_read(folder, made->dimension, (const char(*)[64])made->name, &made->series, error);
    if (status)
        gbees_gallery_destroy(made);
    else
        *gallery = made;
    return status;
}

static void free_shot(gbees_shot *shot)
{
    for (int d = 0; d < GBEES_MAX_DIM; d++) {
        gbees_density_destroy(shot->marginal[d]);
        free(shot->sample[d]);
    }
    for (int s = 0; s < GBEES_SURFACES; s++)
        gbees_mesh_free(&shot->surface[s]);
    gbees_density_destroy(shot->joint);
}

void gbees_gallery_destroy(gbees_gallery *gallery)
{
    if (!gallery)
        return;
    gbees_series_destroy(gallery->series);
    for (size_t k = 0; k < gallery->count; k++)
        free_shot(&gallery->shot[k]);
    for (int k = 0; k < GBEES_OTHERS_MOST; k++)
        gbees_gallery_destroy(gallery->run[k]);
    for (int a = 0; a < GBEES_MAX_DIM; a++)
        for (int b = 0; b < GBEES_MAX_DIM; b++)
            gbees_density_destroy(gallery->pair[a][b]);
    free(gallery->folder);
    free(gallery->shot);
    free(gallery);
}
