/* moments.c - appends each record's, step's and update's numbers to arrays that grow, and writes these as datasets
 * with named axes, or as a part of a checkpoint. */
#include "moments.h"
#include "results/folder/record_name.h"
#include "results/hdf5/hdf5_scale.h"
#include "results/records/run_file.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 4096, COUNTS = 5 /* numbers of a checkpoint beside the series */ };

/* The numbers of a row, an update or a record: one; one a state; values and bounds of each state; of the density; one
 * a target; one for each two states. */
typedef enum shape { ONE, STATES, BOUNDS, BOUND_OF_ALL, TARGETS, SQUARE } shape;
/* What a series is about. Steps and smoothed records have ROWS alone. */
typedef enum part { ROWS, ERRORS, OF_TARGETS, SCORES, UPDATES } part;

/* The series, in the order of a checkpoint. */
enum { TIME, ENTROPY, MASS, CLIPPED, OUTFLOW, PRUNED, NORMALISED, WALL, LEG, RECORD, STEP, CELLS, ABOVE };
enum { ERROR_MEAN = ABOVE + 1, ERROR_STD, ERROR_MARGINAL, ERROR_KOLMOGOROV, DENSITY, SAMPLES, EFFECTIVE };
enum { PROBABILITY = EFFECTIVE + 1, BOUND, RATE, STATE, RANK, RMSE, NEES, MEAN, COVARIANCE };
enum { UPDATE_TIME = COVARIANCE + 1, EVIDENCE, LIKELIHOOD, SAMPLED, SAMPLED_ERROR, UPDATE_NUMBER, SERIES };

static const struct {
    const char *name;
    part of;
    shape shape;
    int is_integer;
} about[SERIES] = {[TIME] = {"time", ROWS, ONE, 0},
                   [ENTROPY] = {"entropy", ROWS, ONE, 0},
                   [MASS] = {"mass", ROWS, ONE, 0},
                   [CLIPPED] = {"mass_clipped", ROWS, ONE, 0},
                   [OUTFLOW] = {"mass_outflow", ROWS, ONE, 0},
                   [PRUNED] = {"mass_pruned", ROWS, ONE, 0},
                   [NORMALISED] = {"mass_normalised", ROWS, ONE, 0},
                   [WALL] = {"wall_s", ROWS, ONE, 0},
                   [LEG] = {"leg", ROWS, ONE, 1},
                   [RECORD] = {"record", ROWS, ONE, 1},
                   [STEP] = {"step", ROWS, ONE, 1},
                   [CELLS] = {"cells", ROWS, ONE, 1},
                   [ABOVE] = {"cells_above", ROWS, ONE, 1},
                   [ERROR_MEAN] = {"error/mean", ERRORS, BOUNDS, 0},
                   [ERROR_STD] = {"error/std", ERRORS, BOUNDS, 0},
                   [ERROR_MARGINAL] = {"error/marginal", ERRORS, BOUNDS, 0},
                   [ERROR_KOLMOGOROV] = {"error/kolmogorov", ERRORS, BOUNDS, 0},
                   [DENSITY] = {"error/density", ERRORS, BOUND_OF_ALL, 0},
                   [SAMPLES] = {"error/samples", ERRORS, ONE, 0},
                   [EFFECTIVE] = {"error/effective", ERRORS, ONE, 0},
                   [PROBABILITY] = {"targets/probability", OF_TARGETS, TARGETS, 0},
                   [BOUND] = {"targets/bound", OF_TARGETS, TARGETS, 0},
                   [RATE] = {"targets/rate", OF_TARGETS, TARGETS, 0},
                   [STATE] = {"truth/state", SCORES, STATES, 0},
                   [RANK] = {"truth/rank", SCORES, STATES, 0},
                   [RMSE] = {"truth/rmse", SCORES, ONE, 0},
                   [NEES] = {"truth/nees", SCORES, ONE, 0},
                   [MEAN] = {"mean", ROWS, STATES, 0},
                   [COVARIANCE] = {"covariance", ROWS, SQUARE, 0},
                   [UPDATE_TIME] = {"updates/time", UPDATES, ONE, 0},
                   [EVIDENCE] = {"updates/log_evidence", UPDATES, ONE, 0},
                   [LIKELIHOOD] = {"updates/log_likelihood_max", UPDATES, ONE, 0},
                   [SAMPLED] = {"updates/log_evidence_sampled", UPDATES, ONE, 0},
                   [SAMPLED_ERROR] = {"updates/log_evidence_error", UPDATES, ONE, 0},
                   [UPDATE_NUMBER] = {"updates/number", UPDATES, ONE, 1}};

struct gbees_moments {
    const gbees_problem *problem;
    size_t count[2], capacity[2];   /* rows: of records or steps; of updates */
    int certified, scored;          /* whether a record had a certificate, a score */
    double *series[SERIES];         /* of integers: int64_t */
    struct gbees_moments *smoothed; /* of the records given all measurements; NULL: there are none */
    struct gbees_moments *steps;    /* of the steps, without what records alone have; NULL: there are none */
};

/* Sets the sizes of a row along its axes. Returns their number. */
static int row_of(const gbees_moments *m, int k, hsize_t size[2])
{
    const hsize_t n = (hsize_t)m->problem->dimension;

    size[0] = about[k].shape == BOUND_OF_ALL ? 2 : about[k].shape == TARGETS ? (hsize_t)m->problem->target_count : n;
    size[1] = about[k].shape == BOUNDS ? 2 : n;
    return about[k].shape == ONE ? 0 : about[k].shape == BOUNDS || about[k].shape == SQUARE ? 2 : 1;
}

/* How many numbers a row has. */
static size_t width_of(const gbees_moments *m, int k)
{
    hsize_t size[2];
    const int rank = row_of(m, k, size);

    return (size_t)((rank > 0 ? size[0] : 1) * (rank > 1 ? size[1] : 1));
}

gbees_moments *gbees_moments_create(const gbees_problem *problem)
{
    gbees_moments *moments = calloc(1, sizeof *moments);

    if (moments)
        moments->problem = problem;
    return moments;
}

void gbees_moments_destroy(gbees_moments *moments)
{
    if (!moments)
        return;
    for (int k = 0; k < SERIES; k++)
        free(moments->series[k]);
    gbees_moments_destroy(moments->steps);
    gbees_moments_destroy(moments->smoothed);
    free(moments);
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

/* Makes room for a row of an update, or of a record. */
static int reserve(gbees_moments *m, int of_update, gbees_error *error)
{
    const size_t count = m->count[of_update], capacity = 2 * count + 16;

    for (int k = 0; k < SERIES && count == m->capacity[of_update]; k++) {
        double *grown = (about[k].of == UPDATES) == of_update
                            ? realloc(m->series[k], (capacity * width_of(m, k) + 1) * sizeof *grown)
                            : m->series[k];

        if (!grown && (about[k].of == UPDATES) == of_update)
            return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the time series of %zu %s", count + 1,
                                   of_update ? "updates" : "records");
        m->series[k] = grown;
    }
    if (count == m->capacity[of_update])
        m->capacity[of_update] = capacity;
    return 0;
}

/* Sets the row of a series that is being added; NULL: not numbers. */
static void put(gbees_moments *m, int k, const double *row)
{
    const size_t width = width_of(m, k);
    double *to = m->series[k] + m->count[about[k].of == UPDATES] * width;

    for (size_t i = 0; i < width; i++)
        to[i] = row ? row[i] : NAN;
}

static void put_one(gbees_moments *m, int k, double value)
{
    put(m, k, &value);
}

static void put_integer(gbees_moments *m, int k, int64_t value)
{
    memcpy(m->series[k] + m->count[about[k].of == UPDATES], &value, sizeof value);
}

/* Adds a row of the certificates; not numbers for a record without one. */
static void add_certificate(gbees_moments *m, const gbees_certificate *c)
{
    put(m, ERROR_MEAN, c ? &c->mean[0].value : NULL);
    put(m, ERROR_STD, c ? &c->std[0].value : NULL);
    put(m, ERROR_MARGINAL, c ? &c->marginal[0].value : NULL);
    put(m, ERROR_KOLMOGOROV, c ? &c->kolmogorov[0].value : NULL);
    put(m, DENSITY, c ? &c->density.value : NULL);
    put_one(m, SAMPLES, c ? (double)c->samples : 0);
    put_one(m, EFFECTIVE, c ? c->effective : 0);
    m->certified |= c != NULL;
}

static void add_targets(gbees_moments *m, const gbees_record *record)
{
    double row[3][GBEES_MAX_TARGETS];

    for (int k = 0; k < m->problem->target_count; k++) {
        row[0][k] = record->targets[k].probability;
        row[1][k] = record->targets[k].bound;
        row[2][k] = record->targets[k].rate;
    }
    for (int k = 0; k < 3; k++)
        put(m, PROBABILITY + k, row[k]);
}

/* Adds a row of the scores; not numbers for a record without one. */
static void add_score(gbees_moments *m, const gbees_score *score)
{
    put(m, STATE, score ? score->state : NULL);
    put(m, RANK, score ? score->rank : NULL);
    put(m, RMSE, score ? &score->rmse : NULL);
    put(m, NEES, score ? &score->nees : NULL);
    m->scored |= score != NULL;
}

int gbees_moments_add(gbees_moments *m, const gbees_record *record, gbees_error *error)
{
    const gbees_statistics *now = &record->statistics;
    const gbees_totals *totals = &record->totals;
    const int status = reserve(m, 0, error);

    if (status)
        return status;
    put_one(m, TIME, record->time);
    put_one(m, ENTROPY, now->entropy);
    put_one(m, MASS, now->mass);
    put_one(m, CLIPPED, totals->mass_clipped);
    put_one(m, OUTFLOW, totals->mass_outflow);
    put_one(m, PRUNED, totals->mass_pruned);
    put_one(m, NORMALISED, totals->mass_normalised);
    put_one(m, WALL, record->wall_s);
    put_integer(m, LEG, record->leg);
    put_integer(m, RECORD, record->number);
    put_integer(m, STEP, (int64_t)totals->steps);
    put_integer(m, CELLS, (int64_t)now->cells);
    put_integer(m, ABOVE, (int64_t)now->cells_above);
    add_certificate(m, record->certificate);
    add_targets(m, record);
    add_score(m, record->score);
    put(m, MEAN, now->mean);
    put(m, COVARIANCE, now->covariance);
    m->count[0]++;
    return 0;
}

/* Adds a row to a series of its own, which the first row makes. */
static int add_beside(gbees_moments *moments, gbees_moments **series, const gbees_record *record, gbees_error *error)
{
    if (!*series)
        *series = gbees_moments_create(moments->problem);
    return *series ? gbees_moments_add(*series, record, error)
                   : gbees_error_set(error, GBEES_ENOMEM, "not enough memory for another time series");
}

int gbees_moments_add_step(gbees_moments *moments, const gbees_record *record, gbees_error *error)
{
    return add_beside(moments, &moments->steps, record, error);
}

int gbees_moments_add_smoothed(gbees_moments *moments, const gbees_record *record, gbees_error *error)
{
    return add_beside(moments, &moments->smoothed, record, error);
}

size_t gbees_moments_count(const gbees_moments *moments)
{
    return moments->count[0];
}

double gbees_moments_time_before(const gbees_moments *moments, double time)
{
    size_t at = moments->count[0];

    while (at > 0 && moments->series[TIME][at - 1] >= time)
        at--;
    return at > 0 ? moments->series[TIME][at - 1] : -INFINITY;
}

int gbees_moments_add_update(gbees_moments *m, int number, double time, const gbees_evidence *evidence,
                             gbees_error *error)
{
    const int status = reserve(m, 1, error);

    if (status)
        return status;
    put_one(m, UPDATE_TIME, time);
    put_one(m, EVIDENCE, evidence->log_evidence);
    put_one(m, LIKELIHOOD, evidence->log_likelihood_max);
    put_one(m, SAMPLED, evidence->sampled);
    put_one(m, SAMPLED_ERROR, evidence->sampled_error);
    put_integer(m, UPDATE_NUMBER, number);
    m->count[1]++;
    return 0;
}

/* ---- the file ---------------------------------------------------------------------------------------------------
 */

/* Writes a series into a group; its axes are the time, and then states. */
static void put_series(const gbees_moments *m, gbees_hdf5 *file, int k, const char *group)
{
    static const char *const first_axis[] = {[STATES] = "state",
                                             [BOUNDS] = "state",
                                             [BOUND_OF_ALL] = "value_bound",
                                             [TARGETS] = "target",
                                             [SQUARE] = "state"};
    char name[64], scale[64];
    hsize_t size[3] = {m->count[about[k].of == UPDATES]};
    const int rank = 1 + row_of(m, k, size + 1);
    const char *const axes[] = {scale, first_axis[about[k].shape],
                                about[k].shape == BOUNDS ? "value_bound" : "other_state"};

    (void)snprintf(name, sizeof name, "%s%s", group, about[k].name);
    (void)snprintf(scale, sizeof scale, "%s%s", group, about[about[k].of == UPDATES ? UPDATE_TIME : TIME].name);
    gbees_hdf5_dataset(file, name, about[k].is_integer ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE, rank, size,
                       (hsize_t[]){CHUNK, size[1], size[2]}, m->series[k]);
    if (strcmp(name, scale) == 0)
        gbees_hdf5_scale_set(file, name);
    else
        gbees_hdf5_scale_attach(file, name, rank, axes);
    if (k == MEAN || k == COVARIANCE)
        gbees_hdf5_attribute_text(file, name, "coordinates", "state_name state_unit");
    if (k == WALL)
        gbees_hdf5_attribute_text(file, name, "units", "s");
    if (about[k].of == OF_TARGETS)
        gbees_hdf5_attribute_text(file, name, "coordinates", "target_name");
}

/* Writes all series of a part; the time comes first, as it is the others' scale. */
static void put_part(const gbees_moments *m, gbees_hdf5 *file, part which, const char *group)
{
    for (int k = 0; k < SERIES; k++)
        if (about[k].of == which && !(k == RECORD && strcmp(group, "steps/") == 0))
            put_series(m, file, k, group);
}

/* The targets' names and words. */
static void put_target_names(const gbees_problem *problem, gbees_hdf5 *file)
{
    const size_t count = (size_t)problem->target_count;
    const char *name[GBEES_MAX_TARGETS], *kind[GBEES_MAX_TARGETS];

    for (int k = 0; k < problem->target_count; k++) {
        name[k] = gbees_problem_target_name(problem, k);
        kind[k] = gbees_problem_target_word(problem, k);
    }
    gbees_hdf5_dimension(file, "target", count);
    gbees_hdf5_characters(file, "target_name", count, name, "target", "target_name_letter");
    gbees_hdf5_characters(file, "target_kind", count, kind, "target", "target_kind_letter");
}

/* Writes the series that are in groups of their own. */
static void put_groups(const gbees_moments *m, gbees_hdf5 *file)
{
    const struct {
        part part;
        const char *name;
        int is_there;
    } groups[] = {{ERRORS, "error", m->certified},
                  {OF_TARGETS, "targets", m->problem->target_count > 0},
                  {SCORES, "truth", m->scored},
                  {UPDATES, "updates", m->count[1] > 0}};

    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        if (!groups[g].is_there)
            continue;
        if (groups[g].part == OF_TARGETS)
            put_target_names(m->problem, file);
        gbees_hdf5_group(file, groups[g].name);
        if (groups[g].part == ERRORS)
            gbees_hdf5_dimension(file, "value_bound", 2);
        put_part(m, file, groups[g].part, "");
    }
}

int gbees_moments_write(const gbees_moments *moments, const gbees_store *store, gbees_run_file *run,
                        gbees_error *error)
{
    gbees_hdf5 file;
    int status = run ? gbees_run_file_append(run, "moments", &file, error)
                     : gbees_hdf5_create(store, GBEES_MOMENTS_FILE, &file, error);

    if (status)
        return status;
    file.spread = run != NULL;
    file.temporary.unsynced = 1;
    gbees_hdf5_attribute_text(&file, "/", "format", "gbees-moments");
    gbees_hdf5_attribute(&file, "/", "format_version", H5T_NATIVE_INT, 0, NULL, &(int){1});
    gbees_hdf5_attribute_text(&file, "/", "gbees_version", gbees_version());
    gbees_hdf5_states(&file, moments->problem->model->states, (size_t)moments->problem->dimension);
    gbees_hdf5_dimension(&file, "other_state", (hsize_t)moments->problem->dimension);
    put_part(moments, &file, ROWS, "");
    if (moments->steps) {
        gbees_hdf5_group(&file, "steps");
        put_part(moments->steps, &file, ROWS, "steps/");
    }
    if (moments->smoothed) {
        gbees_hdf5_group(&file, "smoothed");
        put_part(moments->smoothed, &file, ROWS, "smoothed/");
    }
    put_groups(moments, &file);
    gbees_moments_put_measured(&file, moments->problem);
    gbees_moments_put_instants(&file, moments->problem);
    return gbees_hdf5_commit(&file, error);
}

/* ---- a checkpoint ---------------------------------------------------------------------------------------------- */

static const char *name_of(const char *what, int number, char text[GBEES_CHECKPOINT_NAME])
{
    (void)snprintf(text, GBEES_CHECKPOINT_NAME, "%s%d", what, number);
    return text;
}

static int save(const gbees_moments *m, const char *what, gbees_checkpoint *checkpoint, gbees_error *error)
{
    const uint64_t counts[COUNTS] = {m->count[0], m->count[1], (uint64_t)m->certified, (uint64_t)m->scored,
                                     m->steps != NULL};
    char name[GBEES_CHECKPOINT_NAME];
    int bad = gbees_checkpoint_add(checkpoint, what, sizeof *counts, COUNTS, counts);

    for (int k = 0; k < SERIES; k++)
        bad |= gbees_checkpoint_add(checkpoint, name_of(what, k, name), sizeof(double),
                                    counts[about[k].of == UPDATES] * width_of(m, k), m->series[k]);
    return bad ? gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a checkpoint of the time series") : 0;
}

int gbees_moments_save(const gbees_moments *moments, gbees_checkpoint *checkpoint, gbees_error *error)
{
    const int status = save(moments, "moments", checkpoint, error);

    return status || !moments->steps ? status : save(moments->steps, "steps", checkpoint, error);
}

static int load(gbees_moments *m, const char *what, const gbees_checkpoint *checkpoint, gbees_error *error)
{
    uint64_t counts[COUNTS];
    char name[GBEES_CHECKPOINT_NAME];
    int status = gbees_checkpoint_copy(checkpoint, what, sizeof *counts, COUNTS, counts, error);

    for (int k = 0; k < SERIES && !status; k++) {
        const uint64_t items = counts[about[k].of == UPDATES] * width_of(m, k);

        free(m->series[k]);
        if (!(m->series[k] = malloc(sizeof(double) * (items + 1))))
            return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the time series of a checkpoint");
        status =
            gbees_checkpoint_copy(checkpoint, name_of(what, k, name), sizeof(double), items, m->series[k], error);
    }
    if (status)
        return status;
    for (int k = 0; k < 2; k++)
        m->count[k] = m->capacity[k] = counts[k];
    m->certified = counts[2] != 0;
    m->scored = counts[3] != 0;
    if (!counts[4])
        return GBEES_OK;
    m->steps = gbees_moments_create(m->problem);
    return m->steps ? load(m->steps, "steps", checkpoint, error)
                    : gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the time series of the steps");
}

int gbees_moments_load(gbees_moments *moments, const gbees_checkpoint *checkpoint, gbees_error *error)
{
    return load(moments, "moments", checkpoint, error);
}
